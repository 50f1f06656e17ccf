// SPDX-License-Identifier: Apache-2.0
#include "answer/querier_asked_test.h"

#define SELECT "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\""

/* The answer with every time as minutes from 11:40: easier to read. */
static struct slice with_minutes(struct asked *asked)
{
    static char text[16384];
    struct slice body = asked_body(asked);
    char *to = text;

    while (body.len > 0) {
        struct slice digits = slice_sub(body, 1, 13);
        int64_t ms;

        if (body.ptr[0] == '"' && body.len > 15 && body.ptr[14] == '"' && slice_to_i64(digits, &ms)) {
            to += sprintf(to, "%lldm", (long long)(ms - querier_asked_ms("15T11:40")) / 60000);
            body = slice_sub(body, 15, SIZE_MAX);
        } else {
            *to++ = body.ptr[0];
            body = slice_sub(body, 1, SIZE_MAX);
        }
        CHECK(to - text < (ptrdiff_t)sizeof(text) - 32);
    }
    return slice_of(text, (size_t)(to - text));
}

TEST(querier_series_have_points_at_the_end_of_each_step)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":600"), 200);
    /* 11:50 is in (11:40, 11:50], 11:55 and 12:00 are in (11:50, 12:00]. */
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"points\":[{\"value\":30,\"timestamp\":10m},"
                                     "{\"value\":92,\"timestamp\":20m}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":500"), 200);
    /* The last point is at 16:40 after: what comes behind it is left out. */
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"points\":[{\"value\":72,\"timestamp\":16m}]}]}");
    asked_end(&asked);
}

TEST(querier_series_are_grouped_and_the_largest_come_first)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(
        querier_ask(&asked, querier_select_series, SELECT ",\"step\":1200,\"groupBy\":[\"service_name\",\"__unit__\"]"),
        200);
    CHECK_TEXT(
        with_minutes(&asked),
        "{\"series\":[{\"labels\":[{\"name\":\"__unit__\",\"value\":\"nanoseconds\"},{\"name\":\"service_name\","
        "\"value\":\"api\"}],"
        "\"points\":[{\"value\":72,\"timestamp\":20m}]},"
        "{\"labels\":[{\"name\":\"__unit__\",\"value\":\"nanoseconds\"},{\"name\":\"service_name\",\"value\":\"web\"}],"
        "\"points\":[{\"value\":50,\"timestamp\":20m}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_select_series,
                         SELECT ",\"step\":1200,\"groupBy\":[\"service.name\",\"service_name\"],\"limit\":1"),
             200);
    /* One label, however it is written. */
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"labels\":[{\"name\":\"service_name\",\"value\":\"api\"}],"
                                     "\"points\":[{\"value\":72,\"timestamp\":20m}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1200,\"groupBy\":[\"zone\"],\"limit\":1"),
             200);
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"points\":[{\"value\":50,\"timestamp\":20m}]}]}");
    asked_end(&asked);
}

TEST(querier_series_add_levels_up)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(
        querier_ask(
            &asked, querier_select_series,
            "\"profileTypeID\":\"memory:inuse_space:bytes:inuse_space:bytes\",\"labelSelector\":\"{}\",\"step\":1200"),
        200);
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"points\":[{\"value\":200,\"timestamp\":20m}]}]}");
    asked_end(&asked);
}

TEST(querier_series_have_exemplars_if_asked)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_series,
                         SELECT
                         ",\"step\":1200,\"groupBy\":[\"service_name\"],\"exemplarType\":\"EXEMPLAR_TYPE_INDIVIDUAL\""),
             200);
    CHECK_HAS(with_minutes(&asked),
              "{\"value\":72,\"timestamp\":20m,\"exemplars\":[{\"timestamp\":15m,\"profileId\":\"");
    CHECK_HAS(with_minutes(&asked), "\"value\":\"42\",\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
                                    "{\"name\":\"zone\",\"value\":\"us\"}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1200,\"exemplarType\":3"), 501);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1200,\"exemplarType\":4"), 400);
    asked_end(&asked);
}

TEST(querier_steps_are_within_reason)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT), 400);
    CHECK_HAS(asked_body(&asked), "step is 0; it is in seconds, from 0.001");
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":\"NaN\""), 400);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1e300"), 400);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":-1"), 400);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":0.001"), 400);
    CHECK_HAS(asked_body(&asked), "that makes 1200001 points, at most 11000 are given; a step of 1 would do");
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1"), 200);
    CHECK_EQ(querier_ask(&asked, querier_select_series, SELECT ",\"step\":1e9"), 200);
    asked_end(&asked);
}

TEST(querier_heatmaps_count_profiles_in_twenty_buckets)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap, SELECT ",\"step\":600,\"queryType\":1"), 200);
    CHECK_TEXT(
        with_minutes(&asked),
        "{\"series\":[{\"slots\":[{\"timestamp\":10m,\"yMin\":[30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,"
        "47,48,49],\"counts\":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},"
        "{\"timestamp\":20m,\"yMin\":[30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49],"
        "\"counts\":[0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,1]}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap,
                         SELECT ",\"step\":1200,\"queryType\":1,\"exemplarType\":2,\"groupBy\":[\"service_name\"]"),
             200);
    CHECK_HAS(
        with_minutes(&asked),
        "{\"labels\":[{\"name\":\"service_name\",\"value\":\"web\"}],\"slots\":[{\"timestamp\":20m,\"yMin\":[30,");
    CHECK_HAS(with_minutes(&asked),
              "\"counts\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],\"exemplars\":[{\"timestamp\":20m,");
    asked_end(&asked);
}

TEST(querier_heatmaps_count_spans)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(
        querier_ask(&asked, querier_select_heatmap,
                    SELECT
                    ",\"step\":1200,\"queryType\":\"HEATMAP_QUERY_TYPE_SPAN\",\"exemplarType\":\"EXEMPLAR_TYPE_SPAN\""),
        200);
    CHECK_HAS(asked_body(&asked), "\"yMin\":[2,2,2,3,3,4,4,4,5,5,6,6,6,7,7,8,8,8,9,9],"
                                  "\"counts\":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]");
    CHECK_HAS(asked_body(&asked), "\"spanId\":\"0200000000000000\",\"value\":\"2\"");
    CHECK_HAS(asked_body(&asked), "\"traceId\":\"0a000000000000000000000000000000\"");
    asked_end(&asked);
}

TEST(querier_heatmaps_refuse_what_does_not_fit)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap, SELECT ",\"step\":600,\"queryType\":2,\"exemplarType\":2"),
             400);
    CHECK_HAS(asked_body(&asked), "exemplar_type is 2, but with this query_type it can be 3");
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap, SELECT ",\"step\":600,\"queryType\":9"), 400);
    CHECK_EQ(asked_call(&asked, querier_select_heatmap, "application/json",
                        SLICE("{\"start\":5,\"end\":5,\"step\":1," SELECT "}")),
             400);
    CHECK_HAS(asked_body(&asked), "start and end are both 5");
    CHECK_EQ(asked_call(&asked, querier_select_heatmap, "application/json",
                        SLICE("{\"start\":5,\"end\":6,\"step\":1," SELECT "}")),
             200);
    CHECK_TEXT(asked_body(&asked), "{}");
    asked_end(&asked);
}

static int ask_between(struct asked *asked, void (*handler)(struct exchange *exchange), const char *start,
                       const char *end, const char *step)
{
    static char request[1024];

    snprintf(request, sizeof(request), "{\"start\":\"%s\",\"end\":\"%s\",\"step\":%s," SELECT "}", start, end, step);
    return asked_call(asked, handler, "application/json", slice_from(request));
}

TEST(querier_series_take_any_times_that_64_bits_can_say)
{
    static const char first[] = "-9223372036854775808", last[] = "9223372036854775807";
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(ask_between(&asked, querier_select_series, first, last, "1e9"), 200);
    CHECK_HAS(asked_body(&asked), "\"value\":122,");
    CHECK_EQ(ask_between(&asked, querier_select_heatmap, first, last, "1e9"), 200);
    CHECK_HAS(asked_body(&asked), "\"counts\":[1,");
    CHECK_EQ(ask_between(&asked, querier_select_series, first, "-1", "15"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    CHECK_EQ(ask_between(&asked, querier_select_series, last, last, "1e9"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    CHECK_EQ(ask_between(&asked, querier_select_series, first, last, "15"), 400);
    CHECK_HAS(asked_body(&asked), "at most 11000 are given");
    /* From 1969 on, points stay where they are counted from. */
    CHECK_EQ(ask_between(&asked, querier_select_series, "-1", "9000000000000", "1e9"), 200);
    CHECK_HAS(asked_body(&asked), "\"timestamp\":\"1999999999999\"");
    asked_end(&asked);
}

TEST(querier_steps_keep_their_milliseconds)
{
    char start[32], end[32];
    struct asked asked;

    querier_asked_begin(&asked);
    snprintf(start, sizeof(start), "%lld", querier_asked_ms("15T11:50") - 2900);
    snprintf(end, sizeof(end), "%lld", querier_asked_ms("15T11:50"));
    /* As a product of doubles, 0.029 s are 28.999 ms. The hundredth step ends where the profiles are. */
    CHECK_EQ(ask_between(&asked, querier_select_series, start, end, "0.029"), 200);
    CHECK_TEXT(with_minutes(&asked), "{\"series\":[{\"points\":[{\"value\":30,\"timestamp\":10m}]}]}");
    asked_end(&asked);
}

/* Pyroscope's canary sends a profile of now, and asks for a range that begins at the whole millisecond of now. */
TEST(querier_series_count_profiles_by_whole_milliseconds)
{
    char request[512];
    struct asked asked;

    asked_begin(&asked);
    STORE_SAMPLE_WRITE(&asked.sample, { .at = "2026-11-15T11:50:00.0004Z", .service = "api", .samples = "main 2 20" });
    snprintf(request, sizeof(request),
             "{\"start\":%lld,\"end\":%lld,\"step\":1000,\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"}",
             querier_asked_ms("15T11:50"), querier_asked_ms("15T11:50") + 5000);
    CHECK_EQ(asked_call(&asked, querier_select_series, "application/json", slice_from(request)), 200);
    CHECK_HAS(asked_body(&asked), "\"value\":20");
    asked_end(&asked);
}

TEST(querier_says_how_many_labels_can_be_grouped_by)
{
    struct buffer fields;
    struct asked asked;

    querier_asked_begin(&asked);
    buffer_init(&fields, 0);
    buffer_printf(&fields, SELECT ",\"step\":600,\"groupBy\":[\"l0\"");
    for (int i = 1; i < 33; i++)
        buffer_printf(&fields, ",\"l%d\"", i);
    buffer_printf(&fields, "]%c", '\0');
    CHECK_EQ(querier_ask(&asked, querier_select_series, (const char *)fields.data), 400);
    CHECK_HAS(asked_body(&asked), "group_by has 33 labels; at most 32 are allowed");
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap, (const char *)fields.data), 400);
    CHECK_HAS(asked_body(&asked), "group_by has 33 labels; at most 32 are allowed");
    buffer_done(&fields);
    asked_end(&asked);
}

TEST(querier_exemplars_of_heatmaps_keep_the_largest_values)
{
    struct asked asked;

    querier_asked_begin(&asked);
    STORE_SAMPLE_WRITE(&asked.sample, { .at = "15T11:52", .service = "huge", .samples = "main 1 9223372036854775807" });
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap,
                         "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{service_name=\\\"huge\\\"}\","
                         "\"step\":1200,\"exemplarType\":2"),
             200);
    CHECK_HAS(asked_body(&asked), "\"value\":\"9223372036854775807\"");
    asked_end(&asked);
}

TEST(querier_heatmaps_refuse_a_negative_limit)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_select_heatmap, SELECT ",\"step\":600,\"limit\":-1"), 400);
    CHECK_HAS(asked_body(&asked), "limit is -1; it is the number of heatmaps");
    asked_end(&asked);
}
