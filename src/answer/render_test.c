// SPDX-License-Identifier: Apache-2.0
#include "answer/asked_test.h"
#include "wire/format.h"

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

/* It is 12:00. */
static void begin(struct asked *asked)
{
    asked_begin(asked);
    STORE_SAMPLE_WRITE(
        &asked->sample,
        { .at = "15T11:50", .service = "api", .labels = "env=prod;version=1", .samples = "main 2 20 | main;work 1 10" },
        { .at = "15T11:55", .service = "api", .labels = "env=prod;version=2", .samples = "main;work 4 40" },
        { .at = "15T12:00", .service = "web", .samples = "idle 5 50" },
        { .at = "15T11:50",
          .service = "heap",
          .types = "inuse_objects/count inuse_space/bytes",
          .samples = "main 1 100" },
        { .at = "15T11:51",
          .service = "heap",
          .types = "inuse_objects/count inuse_space/bytes",
          .samples = "main 1 100" });
}

/* What follows "KEY": up to its end, for values without commas in them. */
static struct slice member(const struct asked *asked, const char *key)
{
    struct slice body = asked_body(asked);
    char quoted[64];
    ptrdiff_t at, end;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = slice_find(body, slice_from(quoted));
    if (at < 0)
        return SLICE("");
    body = slice_sub(body, (size_t)at + strlen(quoted), SIZE_MAX);
    end = slice_find_byte(body, ',');
    return end < 0 ? body : slice_sub(body, 0, (size_t)end);
}

TEST(render_gives_the_flame_graph_of_a_query)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu{env=prod}&from=now-1h&until=now"), 200);
    CHECK_HAS(asked_body(&asked), "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"work\"],"
                                  "\"levels\":[[0,70,0,0],[0,70,20,1],[20,50,50,2]],\"numTicks\":70,\"maxSelf\":50},"
                                  "\"metadata\":{\"format\":\"single\",\"spyName\":\"\",\"sampleRate\":1000000000,"
                                  "\"units\":\"samples\",\"name\":\"cpu\"},\"timeline\":{\"startTime\":");
    CHECK_HAS(asked_body(&asked), "],\"durationDelta\":15,\"watermarks\":null},\"groups\":null,\"heatmap\":null}");
    CHECK_TEXT(http_header(&asked.exchange->response.headers, "content-type"), "application/json");
    asked_end(&asked);
}

TEST(render_of_a_type_that_is_nowhere_is_empty)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=a:b:c:d:e{}"), 200);
    CHECK_HAS(asked_body(&asked), "\"names\":[\"total\"],\"levels\":[[0,0,0,0]],\"numTicks\":0,\"maxSelf\":0}");
    asked_end(&asked);
}

TEST(render_ranges_have_both_their_ends)
{
    static const struct {
        const char *range, *ticks;
    } cases[] = {
        { "from=now&until=now", "50" },
        { "from=now-1m&until=now", "50" },
        { "from=now-1m&until=now-1s", "0" },
        { "from=1794744000&until=1794744000", "50" },
        { "from=1794744001&until=1794744002", "0" },
    };
    struct asked asked;
    char query[200];

    begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(query, sizeof(query), "query=" CPU "{service_name=\"web\"}&%s", cases[i].range);
        CHECK_EQ(asked_get(&asked, render_handle, query), 200);
        CHECK_TEXT(member(&asked, "numTicks"), cases[i].ticks);
    }
    asked_end(&asked);
}

TEST(render_adds_levels_up_over_time)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=heap.inuse_space"), 200);
    CHECK_TEXT(member(&asked, "numTicks"), "200");
    CHECK_TEXT(member(&asked, "units"), "\"bytes\"");
    CHECK_TEXT(member(&asked, "sampleRate"), "100");
    CHECK_EQ(asked_get(&asked, render_handle, "query=heap.inuse_objects"), 200);
    CHECK_TEXT(member(&asked, "numTicks"), "2");
    CHECK_TEXT(member(&asked, "units"), "\"objects\"");
    asked_end(&asked);
}

TEST(render_has_values_over_time)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&from=1794743385&until=1794743415"), 200);
    CHECK_HAS(asked_body(&asked), "\"timeline\":{\"startTime\":1794743385,\"samples\":[0,30],\"durationDelta\":15,");
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&from=1794743399&until=1794743406"), 200);
    CHECK_HAS(asked_body(&asked), "\"timeline\":{\"startTime\":1794743385,\"samples\":[0],");
    asked_end(&asked);
}

TEST(render_has_averages_over_time_if_asked_to)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=" CPU "{}&from=now-1d&until=now&aggregation=avg"), 200);
    CHECK_HAS(asked_body(&asked), ",30,0,0,0,0,40,0,0,0,0],\"durationDelta\":60,");
    asked_end(&asked);
}

TEST(render_has_a_timeline_for_each_value_of_a_label)
{
    struct asked asked;
    const char *query = "query=" CPU "{}&from=now-12m&until=now-2m&groupBy=version";
    struct slice groups;

    begin(&asked);
    STORE_SAMPLE_WRITE(&asked.sample, { .at = "15T11:52", .service = "web", .samples = "idle 5 50" });
    CHECK_EQ(asked_get(&asked, render_handle, query), 200);
    groups = slice_sub(asked_body(&asked), (size_t)slice_find(asked_body(&asked), SLICE("\"groups\":{")), SIZE_MAX);
    CHECK_HAS(groups, "\"1\":{\"startTime\":");
    CHECK_HAS(groups, "\"2\":{\"startTime\":");
    CHECK_HAS(groups, "\"*\":{\"startTime\":");
    CHECK_HAS(groups, ",50,");
    /* The timeline of all is of one group, or of none. */
    CHECK_HAS(asked_body(&asked),
              "\"samples\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
              "0,0,0,0],\"durationDelta\":15,\"watermarks\":null},\"groups\":{");
    asked_end(&asked);
}

TEST(render_groups_by_what_the_profile_type_says)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=" CPU "{}&from=now-12m&until=now-2m&groupBy=__profile_type__"),
             200);
    CHECK_HAS(asked_body(&asked), "\"groups\":{\"" CPU "\":{\"startTime\":");
    CHECK_EQ(asked_get(&asked, render_handle, "query=" CPU "{}&from=now-12m&until=now-2m&groupBy=__unit__"), 200);
    CHECK_HAS(asked_body(&asked), "\"groups\":{\"nanoseconds\":{\"startTime\":");
    asked_end(&asked);
}

TEST(render_keeps_to_max_nodes)
{
    static const struct {
        const char *query;
        int status;
        const char *words;
    } cases[] = {
        { "query=api.cpu&max-nodes=1", 200, "\"other\"" },
        { "query=api.cpu&maxNodes=1", 200, "\"other\"" },
        { "query=api.cpu&max-nodes=2", 200, "\"work\"" },
        { "query=api.cpu&max-nodes=0", 200, "\"work\"" },
        { "query=api.cpu&max-nodes=many", 200, "\"work\"" },
        { "query=api.cpu&max-nodes=1048577", 400, "1048576" },
        { "query=api.cpu&max-nodes=-1", 400, "-1" },
        { "query=api.cpu&max-nodes=-1&format=dot", 400, "-1" },
        { "leftQuery=api.cpu&rightQuery=api.cpu&max-nodes=1048577", 400, "1048576" },
    };
    struct asked asked;

    begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool is_diff = cases[i].query[0] == 'l';

        CHECK_EQ(asked_get(&asked, is_diff ? render_handle_diff : render_handle, cases[i].query), cases[i].status);
        CHECK_HAS(asked_body(&asked), cases[i].words);
    }
    asked_end(&asked);
}

TEST(render_can_draw_a_graph)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&format=dot"), 200);
    CHECK_HAS(asked_body(&asked), "digraph \"cpu\" {\n");
    CHECK_HAS(asked_body(&asked), "main\\n20ns (28.6%)\\nof 70ns (100%)");
    CHECK_HAS(asked_body(&asked), "N1 -> N2 [");
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&format=dot&max-nodes=1"), 200);
    CHECK_HAS(asked_body(&asked), "Showing 1 of 2 functions");
    CHECK_EQ(asked_get(&asked, render_handle, "query=a:b:c:d:e{}&format=dot"), 200);
    CHECK_TEXT(asked_body(&asked), "");
    asked_end(&asked);
}

TEST(render_can_give_pprof)
{
    struct unpacker *unpacker;
    const struct format *format;
    struct asked asked;
    struct batch batch;
    struct error err;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&format=pprof"), 200);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    batch_init(&batch, NULL);
    CHECK_OK(format_read(asked_body(&asked), NULL, unpacker, &batch, &format, &err), &err);
    CHECK_TEXT(format->name, "pprof");
    CHECK_EQ(profile_total(&batch.profiles[0], profile_default_type(&batch.profiles[0])), 70);
    batch_done(&batch);
    unpacker_free(unpacker);
    CHECK_TEXT(http_header(&asked.exchange->response.headers, "content-type"), "application/octet-stream");
    CHECK_EQ(asked_get(&asked, render_handle, "query=a:b:c:d:e{}&format=pprof"), 200);
    asked_end(&asked);
}

TEST(render_of_a_format_that_is_not_known_is_json)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&format=json"), 200);
    CHECK_TEXT(member(&asked, "numTicks"), "70");
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu&format=xml"), 200);
    CHECK_TEXT(member(&asked, "numTicks"), "70");
    asked_end(&asked);
}

TEST(render_diff_has_both_sides)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle_diff, "leftQuery=api.cpu{version=1}&rightQuery=api.cpu{version=2}"), 200);
    CHECK_TEXT(
        asked_body(&asked),
        "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"work\"],"
        "\"levels\":[[0,30,0,0,40,0,0],[0,30,20,0,40,0,1],[20,10,10,0,40,40,2]],\"numTicks\":70,\"maxSelf\":40},"
        "\"metadata\":{\"format\":\"double\",\"spyName\":\"\",\"sampleRate\":1000000000,\"units\":\"samples\","
        "\"name\":\"cpu\"},\"timeline\":null,\"groups\":null,\"heatmap\":null,\"leftTicks\":30,\"rightTicks\":40}");
    asked_end(&asked);
}

TEST(render_diff_sides_have_their_own_ranges)
{
    struct asked asked;

    begin(&asked);
    CHECK_EQ(asked_get(&asked, render_handle_diff,
                       "leftQuery=api.cpu&leftFrom=now-11m&leftUntil=now-9m&rightQuery=api.cpu&rightFrom=now-1m"),
             200);
    CHECK_TEXT(member(&asked, "leftTicks"), "30}");
    CHECK_TEXT(member(&asked, "rightTicks"), "");
    asked_end(&asked);
}

TEST(render_refuses_in_sentences)
{
    static const struct {
        const char *query;
        bool is_diff;
        int status;
        const char *words;
    } cases[] = {
        { "", false, 400, "query: missing" },
        { "query=nobody", false, 404, "no service 'nobody'" },
        { "query=a:b{}", false, 400, "is no profile type" },
        { "query=api.cpu&from=now&until=now-1h", false, 400, "ends before it begins" },
        { "query=api.cpu&from=x", false, 400, "from: time 'x'" },
        { "leftQuery=api.cpu", true, 400, "rightQuery: missing" },
        { "rightQuery=api.cpu", true, 400, "leftQuery: missing" },
        { "leftQuery=api.cpu&rightQuery=heap.inuse_space", true, 400, "both must be of one" },
        { "leftQuery=api.cpu&rightQuery=api.cpu&rightUntil=x", true, 400, "rightUntil: time 'x'" },
    };
    struct asked asked;

    begin(&asked);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(asked_get(&asked, cases[i].is_diff ? render_handle_diff : render_handle, cases[i].query),
                 cases[i].status);
        CHECK_HAS(asked_body(&asked), "{\"code\":\"");
        CHECK_HAS(asked_body(&asked), cases[i].words);
    }
    asked_end(&asked);
}

TEST(render_ends_when_nobody_waits_or_it_takes_too_long)
{
    struct asked asked;
    struct exchange *exchange;

    begin(&asked);
    asked.answer.timeout_ns = -1; /* it is over already */
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu"), 504);
    asked.answer.timeout_ns = 0;
    exchange = asked_exchange(&asked, HTTP_GET);
    exchange->request.query = SLICE("query=api.cpu");
    atomic_store(&exchange->is_gone, true);
    render_handle(exchange);
    CHECK_EQ(exchange->response.status, 499);
    asked_end(&asked);
}

TEST(render_shows_tenants_their_own)
{
    struct asked asked;
    struct exchange *exchange;

    begin(&asked);
    asked.answer.is_multi_tenant = true;
    STORE_SAMPLE_WRITE_AS(&asked.sample, "red", { .at = "15T11:50", .service = "api", .samples = "main 2 7" });
    CHECK_EQ(asked_get(&asked, render_handle, "query=api.cpu"), 401);
    exchange = asked_exchange(&asked, HTTP_GET);
    exchange->request.query = SLICE("query=api.cpu");
    exchange->request.headers.items[exchange->request.headers.n++] =
        (struct http_header){ SLICE("x-scope-orgid"), SLICE("red") };
    render_handle(exchange);
    CHECK_EQ(exchange->response.status, 200);
    CHECK_TEXT(member(&asked, "numTicks"), "7");
    asked_end(&asked);
}
