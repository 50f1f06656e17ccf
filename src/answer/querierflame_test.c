// SPDX-License-Identifier: Apache-2.0
#include "answer/querier_asked_test.h"

#define SELECT "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{service_name=\\\"api\\\"}\""
#define API                                                                                                            \
    "{\"flamegraph\":{\"names\":[\"total\",\"main\",\"work\"],\"levels\":[{\"values\":[\"0\",\"72\",\"0\",\"0\"]},"    \
    "{\"values\":[\"0\",\"72\",\"20\",\"1\"]},{\"values\":[\"20\",\"52\",\"52\",\"2\"]}],\"total\":\"72\","            \
    "\"maxSelf\":\"52\"}}"
#define NOTHING "{\"flamegraph\":{\"names\":[\"total\"],\"levels\":[{\"values\":[\"0\",\"0\",\"0\",\"0\"]}]}}"

TEST(querier_merges_stacks_to_a_flame_graph)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT), 200);
    CHECK_TEXT(asked_body(&asked), API);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"format\":\"PROFILE_FORMAT_FLAMEGRAPH\""), 200);
    CHECK_TEXT(asked_body(&asked), API);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"format\":\"PROFILE_FORMAT_TREE\""), 200);
    CHECK_TEXT(asked_body(&asked), "{\"tree\":\"AAABBG1haW4UAQR3b3JrNAA=\"}");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"format\":\"PROFILE_FORMAT_DOT\""), 200);
    CHECK_HAS(asked_body(&asked), "{\"dot\":\"digraph");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"format\":7"), 400);
    CHECK_HAS(asked_body(&asked), "format is 7; it can be PROFILE_FORMAT_FLAMEGRAPH");
    asked_end(&asked);
}

TEST(querier_of_a_type_that_is_nowhere_is_empty)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, "\"profileTypeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\""),
             200);
    CHECK_TEXT(asked_body(&asked), NOTHING);
    CHECK_EQ(querier_ask(&asked, querier_merge_profile, "\"profileTypeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\""),
             200);
    asked_end(&asked);
}

TEST(querier_adds_levels_up)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces,
                         "\"profile_typeID\":\"memory:inuse_space:bytes:inuse_space:bytes\",\"label_selector\":\"{}\""),
             200);
    CHECK_HAS(asked_body(&asked), "\"total\":\"200\"");
    asked_end(&asked);
}

TEST(querier_trims_to_max_nodes)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"maxNodes\":1"), 200);
    CHECK_HAS(asked_body(&asked), "\"names\":[\"total\",\"main\",\"other\"]");
    CHECK_HAS(asked_body(&asked), "\"total\":\"72\"");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"max_nodes\":\"1048577\""), 400);
    CHECK_HAS(asked_body(&asked), "max_nodes is 1048577");
    asked_end(&asked);
}

TEST(querier_selects_spans_traces_and_profiles)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_span_profile, SELECT ",\"spanSelector\":[\"0100000000000000\"]"), 200);
    CHECK_HAS(asked_body(&asked), "\"total\":\"10\"");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces,
                         SELECT ",\"traceIdSelector\":[\"0a000000000000000000000000000000\"]"),
             200);
    CHECK_HAS(asked_body(&asked), "\"total\":\"12\"");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"spanSelector\":[\"01\"]"), 400);
    CHECK_HAS(asked_body(&asked), "span_selector: '01' is no id of a span");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"profileIdSelector\":[\"x\"]"), 400);
    CHECK_HAS(asked_body(&asked), "profile_id_selector: ");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces,
                         SELECT ",\"spanSelector\":[\"0100000000000000\"],"
                                "\"traceIdSelector\":[\"0a000000000000000000000000000000\"]"),
             400);
    CHECK_HAS(asked_body(&asked), "are both given");
    asked_end(&asked);
}

TEST(querier_keeps_what_begins_at_a_call_site)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces,
                         SELECT ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"},{\"name\":\"work\"}]}"),
             200);
    CHECK_HAS(asked_body(&asked), "\"total\":\"52\"");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces,
                         SELECT ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"work\"}]}"),
             200);
    CHECK_TEXT(asked_body(&asked), NOTHING);
    asked_end(&asked);
}

TEST(querier_gives_pprof)
{
    struct asked asked;
    char wanted[96];

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_merge_profile, SELECT), 200);
    CHECK_HAS(asked_body(&asked), "{\"sampleType\":[{");
    CHECK_HAS(asked_body(&asked), "\"period\":\"1000000000\"");
    CHECK_HAS(asked_body(&asked), "\"value\":[\"52\"]");
    snprintf(wanted, sizeof(wanted), "\"timeNanos\":\"%lld000000\",\"durationNanos\":\"1200000000000\"",
             querier_asked_ms("15T12:00"));
    CHECK_HAS(asked_body(&asked), wanted);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"format\":4"), 200);
    CHECK_HAS(asked_body(&asked), "{\"pprof\":{\"profile\":{\"sampleType\":[{");
    CHECK_EQ(querier_ask(&asked, querier_merge_profile,
                         SELECT ",\"stackTraceSelector\":{\"goPgo\":{\"keepLocations\":1,\"aggregateCallees\":true}}"),
             200);
    CHECK_HAS(asked_body(&asked), "\"locationId\":[\"1\"]");
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"async\":{\"type\":1}"), 501);
    CHECK_EQ(querier_ask(&asked, querier_merge_stacktraces, SELECT ",\"async\":{}"), 200);
    asked_end(&asked);
}

/* Both sides with the same range; `left` and `right` are their other fields. */
static int ask_diff(struct asked *asked, const char *left, const char *right)
{
    static char request[4096];
    long long start = querier_asked_ms("15T11:40"), end = querier_asked_ms("15T12:00");

    snprintf(request, sizeof(request),
             "{\"left\":{\"start\":%lld,\"end\":%lld,%s},\"right\":{\"start\":%lld,\"end\":%lld,%s}}", start, end, left,
             start, end, right);
    return asked_call(asked, querier_diff, "application/json", slice_from(request));
}

TEST(querier_compares_two_selections)
{
    static const char all[] = "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"";
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(ask_diff(&asked, SELECT, all), 200);
    CHECK_TEXT(
        asked_body(&asked),
        "{\"flamegraph\":{\"names\":[\"total\",\"idle\",\"main\",\"work\"],\"levels\":["
        "{\"values\":[\"0\",\"72\",\"0\",\"0\",\"122\",\"0\",\"0\"]},"
        "{\"values\":[\"0\",\"0\",\"0\",\"0\",\"50\",\"50\",\"1\",\"0\",\"72\",\"20\",\"0\",\"72\",\"20\",\"2\"]},"
        "{\"values\":[\"20\",\"52\",\"52\",\"70\",\"52\",\"52\",\"3\"]}],"
        "\"total\":\"194\",\"maxSelf\":\"52\",\"leftTicks\":\"72\",\"rightTicks\":\"122\"}}");
    CHECK_EQ(ask_diff(&asked, SELECT, "\"profileTypeID\":\"" CPU ":delta\",\"labelSelector\":\"{}\""), 200);
    CHECK_EQ(ask_diff(&asked, SELECT, "\"profileTypeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\""), 400);
    CHECK_HAS(asked_body(&asked), "different profile types");
    CHECK_EQ(ask_diff(&asked, SELECT, "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{x\""), 400);
    CHECK_HAS(asked_body(&asked), "right: label_selector: ");
    CHECK_EQ(asked_call(&asked, querier_diff, "application/json", SLICE("{}")), 400);
    CHECK_HAS(asked_body(&asked), "left is missing; a diff has two sides");
    CHECK_EQ(ask_diff(&asked, SELECT ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"}]}", SELECT), 501);
    CHECK_HAS(asked_body(&asked), "different call sites");
    asked_end(&asked);
}

static int ask_once(void *context, struct error *err)
{
    struct asked *asked = context;
    int status = querier_ask(asked, querier_merge_stacktraces, SELECT ",\"format\":4");

    return status == 200
               ? 0
               : error_set(err, status == 503 || status == 500 ? ERR_MEMORY : ERR_INVALID, "status %d", status);
}

TEST(querier_survives_each_allocation_failing)
{
    struct asked asked;

    querier_asked_begin(&asked);
    test_each_allocation_failing(ask_once, &asked);
    asked_end(&asked);
}
