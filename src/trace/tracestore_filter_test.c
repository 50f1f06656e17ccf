// SPDX-License-Identifier: Apache-2.0
#include "trace/tracestore.h"

#include "profile/spanids.h"
#include "trace/tracesample_test.h"

TEST(tracestore_filter_asks_nothing_of_what_is_empty)
{
    struct tracestore_filter filter = { 0 };
    struct span span = tracesample_span(1, 1, 2, TRACESAMPLE_DAY, 0);

    CHECK(tracestore_filter_takes(&filter, &span));
}

TEST(tracestore_filter_takes_starts_from_the_first_moment_to_before_the_last)
{
    struct tracestore_filter filter = { .from_ns = 100, .until_ns = 200 };
    struct span span = tracesample_span(1, 1, 2, 99, 1000);

    CHECK(!tracestore_filter_takes(&filter, &span));
    span.start_ns = 100;
    CHECK(tracestore_filter_takes(&filter, &span));
    span.start_ns = 199;
    CHECK(tracestore_filter_takes(&filter, &span));
    span.start_ns = 200;
    CHECK(!tracestore_filter_takes(&filter, &span));
}

TEST(tracestore_filter_takes_durations_of_both_ends)
{
    struct tracestore_filter filter = { .min_duration_ns = 10, .max_duration_ns = 20 };
    struct span span = tracesample_span(1, 1, 2, 99, 9);

    CHECK(!tracestore_filter_takes(&filter, &span));
    span.duration_ns = 10;
    CHECK(tracestore_filter_takes(&filter, &span));
    span.duration_ns = 20;
    CHECK(tracestore_filter_takes(&filter, &span));
    span.duration_ns = 21;
    CHECK(!tracestore_filter_takes(&filter, &span));
}

TEST(tracestore_filter_asks_names_status_parents_and_ids)
{
    struct tracestore_filter filter = { .service = SLICE("shop"), .operation = SLICE("GET /") };
    struct span span = tracesample_span(1, 5, 2, 99, 9);
    struct spanids ids;
    struct error err;

    CHECK(tracestore_filter_takes(&filter, &span));
    span.resource = &tracesample_resources[1];
    CHECK(!tracestore_filter_takes(&filter, &span));
    filter.service = SLICE("stoc");
    CHECK(!tracestore_filter_takes(&filter, &span));
    filter = (struct tracestore_filter){ .operation = SLICE("GET /x") };
    CHECK(!tracestore_filter_takes(&filter, &span));
    filter = (struct tracestore_filter){ .is_error = true };
    CHECK(!tracestore_filter_takes(&filter, &span));
    span.status = SPAN_ERROR;
    CHECK(tracestore_filter_takes(&filter, &span));
    filter.is_root = true;
    CHECK(!tracestore_filter_takes(&filter, &span));
    memset(span.parent_id, 0, sizeof(span.parent_id));
    CHECK(tracestore_filter_takes(&filter, &span));
    spanids_init(&ids, 10);
    filter.ids = &ids;
    CHECK(!tracestore_filter_takes(&filter, &span));
    CHECK_OK(spanids_add(&ids, span.span_id, &err), &err);
    CHECK(tracestore_filter_takes(&filter, &span));
    spanids_done(&ids);
}

static bool takes(const struct span *span, const char *key, const char *value)
{
    struct span_attribute wanted = { slice_from(key), { SPAN_VALUE_TEXT, .text = slice_from(value) } };
    struct tracestore_filter filter = { .attributes = &wanted, .n_attributes = 1 };

    return tracestore_filter_takes(&filter, span);
}

TEST(tracestore_filter_finds_attributes_of_the_span_and_then_of_its_resource)
{
    struct span_attribute attributes[] = { { SLICE("host"), { SPAN_VALUE_TEXT, .text = SLICE("own") } },
                                           { SLICE("none"), { SPAN_VALUE_EMPTY, .integer = 0 } } };
    struct span span = tracesample_span(1, 5, 2, 99, 9);

    CHECK(takes(&span, "host", "a"));
    CHECK(takes(&span, "host", ""));
    CHECK(takes(&span, "cores", "8"));
    CHECK(!takes(&span, "cores", "9"));
    span.attributes = (struct span_attributes){ attributes, 2, 0 };
    CHECK(takes(&span, "host", "own"));
    CHECK(!takes(&span, "host", "a"));
    CHECK(takes(&span, "none", ""));
    CHECK(!takes(&span, "none", "x"));
    CHECK(!takes(&span, "other", ""));
}

TEST(tracestore_values_are_compared_by_what_they_look_like)
{
    struct span_value text = { SPAN_VALUE_TEXT, .text = SLICE("200") };
    struct span_value integer = { SPAN_VALUE_INT, .integer = -200 };
    struct span_value real = { SPAN_VALUE_DOUBLE, .real = 1.5 };
    struct span_value is_so = { SPAN_VALUE_BOOL, .integer = 1 };
    struct span_value bytes = { SPAN_VALUE_BYTES, .text = SLICE("\1\2\377") };
    struct span_value list = { SPAN_VALUE_JSON, .text = SLICE("[1,2]") };

    CHECK(tracestore_value_is(&text, SLICE("200")) && !tracestore_value_is(&text, SLICE("2e2")));
    CHECK(tracestore_value_is(&integer, SLICE("-200")) && !tracestore_value_is(&integer, SLICE("200")));
    CHECK(!tracestore_value_is(&integer, SLICE("x")));
    CHECK(tracestore_value_is(&real, SLICE("1.5")) && tracestore_value_is(&real, SLICE("1.50")));
    CHECK(!tracestore_value_is(&real, SLICE("1")));
    CHECK(tracestore_value_is(&is_so, SLICE("true")) && !tracestore_value_is(&is_so, SLICE("1")));
    CHECK(tracestore_value_is(&bytes, SLICE("AQL/")) && tracestore_value_is(&bytes, SLICE("AQL_")));
    CHECK(!tracestore_value_is(&bytes, SLICE("AQL!")) && !tracestore_value_is(&bytes, SLICE("AQI=")));
    CHECK(tracestore_value_is(&list, SLICE("[1,2]")));
}
