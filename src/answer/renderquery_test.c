// SPDX-License-Identifier: Apache-2.0
#include "answer/renderquery.h"

#include "answer/asked_test.h"

#define CPU    "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define SECOND CLOCK_NS_PER_SECOND

static const struct renderquery_names names = { "query", "from", "until" };

struct reading {
    struct asked asked;
    struct arena arena;
    struct query base;
    struct urlquery url;
    struct renderquery query;
};

/* Profiles at 12:00 today, and of a service that was heard of at 9:00 alone. */
static void begin(struct reading *reading)
{
    static const struct store_sample_profile profiles[] = {
        { .at = "15T12:00", .service = "api", .samples = "main 1 10" },
        { .at = "15T12:00", .service = "api.v2", .samples = "main 1 10" },
        { .at = "15T09:00", .service = "night", .samples = "main 1 10" },
    };

    *reading = (struct reading){ 0 };
    asked_begin(&reading->asked);
    store_sample_write_as(&reading->asked.sample, NULL, profiles, ARRAY_LEN(profiles));
    arena_init(&reading->arena, 0);
}

static void end(struct reading *reading)
{
    renderquery_done(&reading->query);
    arena_done(&reading->arena);
    asked_end(&reading->asked);
}

static int read_with(struct reading *reading, const char *text,
                     int (*read)(const struct renderquery_request *, const struct renderquery_names *,
                                 struct renderquery *, struct error *),
                     struct error *err)
{
    struct renderquery_request request = { &reading->asked.answer, &reading->base, &reading->url, clock_now_ns(),
                                           &reading->arena };

    renderquery_done(&reading->query);
    CHECK_OK(urlquery_parse(slice_from(text), &reading->arena, &reading->url, err), err);
    return read(&request, &names, &reading->query, err);
}

static int read_query(struct reading *reading, const char *text, struct error *err)
{
    return read_with(reading, text, renderquery_read, err);
}

/* The canonical form of what was read. */
static struct slice meaning(struct reading *reading)
{
    struct buffer *text = store_sample_text(&reading->asked.sample);

    selector_text(reading->query.query.selector, text);
    return buffer_slice(text);
}

TEST(renderquery_reads_full_types_and_names_of_services)
{
    static const struct {
        const char *url, *meaning;
    } cases[] = {
        { "query=" CPU "{}", CPU "{}" },
        { "query=" CPU "%7Benv%3D%22prod%22%7D", CPU "{env=\"prod\"}" },
        { "query=" CPU ":delta{env=\"a\"}", CPU "{env=\"a\"}" },
        { "query=x:y:z:a:b{service_name=\"nobody\"}", "x:y:z:a:b{service_name=\"nobody\"}" },
        { "query=api.cpu{env=production}", CPU "{service_name=\"api\", env=\"production\"}" },
        { "query=api.cpu{version=1.2.3,env=\"a b\"}", CPU "{service_name=\"api\", version=\"1.2.3\", env=\"a b\"}" },
        { "query=api.cpu%7Bversion=1.2.3%7D", CPU "{service_name=\"api\", version=\"1.2.3\"}" },
        { "query=api.cpu", CPU "{service_name=\"api\"}" },
        { "query=api", CPU "{service_name=\"api\"}" },
        { "query=api.v2{}", CPU "{service_name=\"api.v2\"}" },
        { "query=night.cpu{}", CPU "{service_name=\"night\"}" },
        { "query={__profile_type__=\"" CPU "\",a=\"b\"}", CPU "{a=\"b\"}" },
    };
    struct reading reading;
    struct error err;

    begin(&reading);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_OK(read_query(&reading, cases[i].url, &err), &err);
        CHECK_TEXT(meaning(&reading), cases[i].meaning);
        CHECK(reading.query.query.sums_levels);
    }
    end(&reading);
}

TEST(renderquery_says_what_is_wrong_with_a_query)
{
    static const struct {
        const char *url;
        enum error_code code;
        const char *words;
    } cases[] = {
        { "", ERR_INVALID, "query: missing; give a profile type and labels" },
        { "query=", ERR_INVALID, "query: missing" },
        { "query={}", ERR_INVALID, "query: no profile type is named" },
        { "query={service_name=\"api\"}", ERR_INVALID, "query: no profile type is named" },
        { "query=a:b:c{}", ERR_INVALID, "'a:b:c' is no profile type" },
        { "query=" CPU "{env=\"x}", ERR_INVALID, "a quote that is never closed" },
        { "query=" CPU "{env=~\"(\"}", ERR_INVALID, "query: " },
        { "query=apy.cpu{}", ERR_NOT_FOUND, "no service 'apy.cpu'; nearest: 'api'" },
        { "query=api.alloc_space{}", ERR_NOT_FOUND, "service 'api' has no profiles of type 'alloc_space'" },
        { "query=api.cpu{service_name=\"web\"}", ERR_INVALID, "refuses it" },
    };
    struct reading reading;
    struct error err;

    begin(&reading);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_ERROR(read_query(&reading, cases[i].url, &err), &err, cases[i].code);
        CHECK_HAS(err.text, cases[i].words);
    }
    end(&reading);
}

TEST(renderquery_ranges_have_both_their_ends)
{
    static const struct {
        const char *url;
        int64_t from_s, until_s; /* from now */
    } cases[] = {
        { "", -3600, 0 },
        { "&from=&until=", -3600, 0 },
        { "&from=now-2h", -7200, 0 },
        { "&until=now-1d", -90000, -86400 },
        { "&from=now-30m&until=now-10m", -1800, -600 },
        { "&from=now&until=now", 0, 0 },
        { "&from=now%2D1h30m", -5400, 0 },
    };
    struct reading reading;
    struct error err;
    int64_t now_ns;
    char url[200];

    begin(&reading);
    now_ns = clock_now_ns();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(url, sizeof(url), "query=" CPU "%s", cases[i].url);
        CHECK_OK(read_query(&reading, url, &err), &err);
        CHECK_EQ(reading.query.range.from_ns, now_ns + cases[i].from_s * SECOND);
        CHECK_EQ(reading.query.range.until_ns, now_ns + cases[i].until_s * SECOND);
        CHECK_EQ(reading.query.query.from_ns, reading.query.range.from_ns);
        CHECK_EQ(reading.query.query.until_ns, reading.query.range.until_ns + 1);
    }
    end(&reading);
}

TEST(renderquery_reads_digits_by_their_number)
{
    static const char *const times[] = { "from=1794744000&until=1794744001", "from=1794744000000&until=1794744001000",
                                         "from=1794744000000000&until=1794744001000000",
                                         "from=1794744000000000000&until=1794744001000000000" };
    struct reading reading;
    struct error err;
    char url[200];

    begin(&reading);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        snprintf(url, sizeof(url), "query=" CPU "&%s", times[i]);
        CHECK_OK(read_query(&reading, url, &err), &err);
        CHECK_EQ(reading.query.range.from_ns, 1794744000 * SECOND);
        CHECK_EQ(reading.query.range.until_ns, 1794744001 * SECOND);
    }
    end(&reading);
}

TEST(renderquery_says_what_is_wrong_with_a_range)
{
    static const struct {
        const char *url, *words;
    } cases[] = {
        { "query=" CPU "&from=0", "from: '0' is not after 1970; leave it out" },
        { "query=" CPU "&until=0", "until: '0' is not after 1970" },
        { "query=" CPU "&from=soon", "from: time 'soon'" },
        { "query=" CPU "&until=now-1parsec", "until: time 'now-1parsec'" },
        { "query=" CPU "&from=now&until=now-1h",
          "the range from 2026-11-15T12:00:00.000Z until 2026-11-15T11:00:00.000Z ends before it begins" },
    };
    struct reading reading;
    struct error err;

    begin(&reading);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_ERROR(read_query(&reading, cases[i].url, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, cases[i].words);
    }
    end(&reading);
}

TEST(renderquery_of_labels_need_not_name_a_type)
{
    struct reading reading;
    struct error err;

    begin(&reading);
    CHECK_OK(read_with(&reading, "", renderquery_read_labels, &err), &err);
    CHECK(!reading.query.query.selector);
    CHECK_OK(read_with(&reading, "query={env=\"a\"}", renderquery_read_labels, &err), &err);
    CHECK_TEXT(meaning(&reading), "{env=\"a\"}");
    CHECK_EQ(reading.query.query.type.len, 0);
    CHECK_OK(read_with(&reading, "query=api.cpu{env=a}", renderquery_read_labels, &err), &err);
    CHECK_TEXT(meaning(&reading), CPU "{service_name=\"api\", env=\"a\"}");
    CHECK_ERROR(read_with(&reading, "query={env", renderquery_read_labels, &err), &err, ERR_INVALID);
    end(&reading);
}

static int read_once(void *context, struct error *err)
{
    struct reading *reading = context;
    struct renderquery_request request = { &reading->asked.answer, &reading->base, &reading->url, clock_now_ns(),
                                           &reading->arena };
    struct renderquery query;

    if (renderquery_read(&request, &names, &query, err) < 0)
        return -1;
    renderquery_done(&query);
    return 0;
}

TEST(renderquery_says_so_when_memory_runs_out)
{
    struct reading reading;
    struct error err;

    begin(&reading);
    CHECK_OK(urlquery_parse(SLICE("query=api.cpu{env=production}"), &reading.arena, &reading.url, &err), &err);
    test_each_allocation_failing(read_once, &reading);
    end(&reading);
}

TEST(renderquery_knows_the_parts_of_a_type)
{
    struct slice type, unit;

    renderquery_type_parts(SLICE(CPU), &type, &unit);
    CHECK_TEXT(type, "cpu");
    CHECK_TEXT(unit, "nanoseconds");
    renderquery_type_parts(SLICE("a"), &type, &unit);
    CHECK_TEXT(type, "");
    CHECK_TEXT(unit, "");
}
