// SPDX-License-Identifier: Apache-2.0
#include "answer/querier_asked_test.h"

TEST(querier_profile_types_are_those_of_the_range)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_profile_types, ""), 200);
    CHECK_HAS(asked_body(&asked),
              "{\"ID\":\"" CPU "\",\"name\":\"process_cpu\",\"sampleType\":\"cpu\","
              "\"sampleUnit\":\"nanoseconds\",\"periodType\":\"cpu\",\"periodUnit\":\"nanoseconds\"}");
    CHECK_HAS(asked_body(&asked), "\"sampleType\":\"inuse_space\"");
    CHECK_EQ(asked_call(&asked, querier_profile_types, "application/json", SLICE("{}")), 200);
    CHECK_HAS(asked_body(&asked), CPU);
    CHECK_EQ(asked_call(&asked, querier_profile_types, "application/proto", SLICE("\x08\xe8\x07\x10\xa0\x1f")), 200);
    CHECK_TEXT(asked_body(&asked), "");
    CHECK_EQ(asked_call(&asked, querier_profile_types, "application/json", SLICE("{\"start\":2,\"end\":1}")), 400);
    asked_end(&asked);
}

TEST(querier_label_names_have_those_of_types)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_label_names, ""), 200);
    CHECK_TEXT(
        asked_body(&asked),
        "{\"names\":[\"__name__\",\"__period_type__\",\"__period_unit__\",\"__profile_type__\",\"__service_name__\","
        "\"__type__\",\"__unit__\",\"service_name\",\"zone\"]}");
    CHECK_EQ(querier_ask(&asked, querier_label_names, "\"matchers\":[\"{service_name=\\\"nobody\\\"}\"]"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    asked_end(&asked);
}

TEST(querier_label_values_are_of_what_matches)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_label_values, "\"name\":\"service_name\""), 200);
    CHECK_TEXT(asked_body(&asked), "{\"names\":[\"api\",\"heap\",\"web\"]}");
    CHECK_EQ(
        querier_ask(&asked, querier_label_values, "\"name\":\"service.name\",\"matchers\":[\"{zone=~\\\".+\\\"}\"]"),
        200);
    CHECK_TEXT(asked_body(&asked), "{\"names\":[\"api\"]}");
    CHECK_EQ(
        querier_ask(&asked, querier_label_values, "\"name\":\"__type__\",\"matchers\":[\"{__unit__=\\\"bytes\\\"}\"]"),
        200);
    CHECK_TEXT(asked_body(&asked), "{\"names\":[\"inuse_space\"]}");
    CHECK_EQ(querier_ask(&asked, querier_label_values, ""), 400);
    CHECK_HAS(asked_body(&asked), "name is empty");
    asked_end(&asked);
}

TEST(querier_series_are_distinct_and_sorted)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_series, "\"labelNames\":[\"zone\",\"service_name\"]"), 200);
    CHECK_TEXT(asked_body(&asked),
               "{\"labelsSet\":[{\"labels\":[{\"name\":\"service_name\",\"value\":\"api\"},{\"name\":\"zone\","
               "\"value\":\"eu\"}]},"
               "{\"labels\":[{\"name\":\"service_name\",\"value\":\"api\"},{\"name\":\"zone\",\"value\":\"us\"}]},"
               "{\"labels\":[{\"name\":\"service_name\",\"value\":\"heap\"}]},"
               "{\"labels\":[{\"name\":\"service_name\",\"value\":\"web\"}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_series,
                         "\"label_names\":[\"__type__\"],\"matchers\":[\"{__unit__=\\\"bytes\\\"}\"]"),
             200);
    CHECK_TEXT(asked_body(&asked),
               "{\"labelsSet\":[{\"labels\":[{\"name\":\"__type__\",\"value\":\"inuse_space\"}]}]}");
    CHECK_EQ(querier_ask(&asked, querier_series, "\"matchers\":[\"{zone=\\\"eu\\\",__type__=\\\"cpu\\\"}\"]"), 200);
    CHECK_HAS(asked_body(&asked), "{\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
                                  "{\"name\":\"__period_type__\",\"value\":\"cpu\"}");
    CHECK_EQ(querier_ask(&asked, querier_series, "\"labelNames\":[\"nothing\"]"), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    asked_end(&asked);
}

TEST(querier_stats_say_from_when_to_when)
{
    char wanted[160];
    struct asked asked;

    asked_begin(&asked);
    CHECK_EQ(asked_call(&asked, querier_profile_stats, "application/json", SLICE("{}")), 200);
    CHECK_TEXT(asked_body(&asked), "{}");
    asked_end(&asked);
    querier_asked_begin(&asked);
    STORE_SAMPLE_WRITE(&asked.sample, { .at = "14T03:00", .service = "old", .samples = "main 1 1" });
    snprintf(wanted, sizeof(wanted),
             "{\"dataIngested\":true,\"oldestProfileTime\":\"%lld\",\"newestProfileTime\":\"%lld\"}",
             querier_asked_ms("14T03:00"), querier_asked_ms("15T12:00"));
    CHECK_EQ(asked_call(&asked, querier_profile_stats, "application/json", SLICE("{}")), 200);
    CHECK_TEXT(asked_body(&asked), wanted);
    asked_end(&asked);
}

TEST(querier_analyzes_what_a_query_would_look_at)
{
    struct asked asked;

    querier_asked_begin(&asked);
    CHECK_EQ(querier_ask(&asked, querier_analyze_query, "\"query\":\"" CPU "{service_name=\\\"api\\\"}\""), 200);
    CHECK_HAS(asked_body(&asked), "\"seriesCount\":\"2\"");
    CHECK_HAS(asked_body(&asked), "\"totalQueriedSeries\":\"2\"");
    CHECK_EQ(querier_ask(&asked, querier_analyze_query, "\"query\":\"{x\""), 400);
    CHECK_HAS(asked_body(&asked), "query: ");
    CHECK_EQ(querier_ask(&asked, querier_analyze_query, ""), 200);
    asked_end(&asked);
}
