// SPDX-License-Identifier: Apache-2.0
#include "trace/tracemerge.h"

#include "trace/tracesample_test.h"

TEST(tracemerge_leaves_out_what_comes_twice_and_nothing_else)
{
    struct span spans[] = {
        tracesample_span(2, 1, 0, 100, 50), tracesample_span(1, 2, 1, 120, 10), tracesample_span(1, 1, 0, 100, 50),
        tracesample_span(1, 2, 1, 120, 10), tracesample_span(1, 2, 1, 120, 11), tracesample_span(1, 2, 9, 120, 10),
        tracesample_span(1, 2, 1, 121, 10), tracesample_span(1, 2, 1, 120, 10),
    };
    struct tracemerge_item items[ARRAY_LEN(spans)];
    size_t n;

    spans[7].kind = SPAN_CLIENT;
    for (size_t i = 0; i < ARRAY_LEN(spans); i++)
        items[i] = (struct tracemerge_item){ &spans[i], i == 3 };
    n = tracemerge_sort(items, ARRAY_LEN(items));
    CHECK_EQ(n, 7);
    for (size_t i = 1; i < n; i++)
        CHECK(tracemerge_compare(items[i - 1].span, items[i].span) < 0);
    CHECK(items[0].span == &spans[2]);
    CHECK(items[n - 1].span == &spans[0]);
    for (size_t i = 0; i < n; i++)
        CHECK(items[i].is_taken == (tracemerge_compare(items[i].span, &spans[3]) == 0));
}

TEST(tracemerge_tells_spans_apart_by_status_and_name)
{
    struct span a = tracesample_span(1, 1, 0, 100, 50), b = a;

    CHECK_EQ(tracemerge_compare(&a, &b), 0);
    b.status = SPAN_ERROR;
    CHECK(tracemerge_compare(&a, &b) < 0);
    b = a;
    b.name = SLICE("another");
    CHECK(tracemerge_compare(&a, &b) != 0);
    CHECK_EQ(tracemerge_sort(NULL, 0), 0);
}
