// SPDX-License-Identifier: Apache-2.0
#include "trace/tracetop.h"

#include "trace/tracesample_test.h"

static struct traceplace place_of(uint64_t trace, uint64_t id, int64_t start_ns, int64_t duration_ns)
{
    struct span span = tracesample_span(trace, id, 0, start_ns, duration_ns);

    return traceplace_of(&span);
}

TEST(tracetop_keeps_the_best_place_of_each_of_the_best_traces)
{
    struct tracetop top;
    struct error err;
    uint64_t state = 1;

    tracetop_init(&top, TRACESTORE_NEWEST, 10, NULL);
    CHECK(tracetop_may_take(&top, 0, 0));
    for (unsigned i = 0; i < 50000; i++) {
        int64_t start_ns = (int64_t)tracesample_below(&state, 1000);
        struct traceplace place = place_of((uint64_t)start_ns / 10, 1 + tracesample_below(&state, 5), start_ns, 1);

        CHECK_OK(tracetop_add(&top, &place, &err), &err);
    }
    tracetop_settle(&top);
    CHECK_EQ(top.places.n, 10);
    for (size_t i = 0; i < 10; i++)
        CHECK_EQ(top.places.items[i].start_ns, 999 - (int64_t)i * 10);
    CHECK(tracetop_may_take(&top, 909, 0));
    CHECK(!tracetop_may_take(&top, 908, INT64_MAX));
    tracetop_done(&top);
}

TEST(tracetop_leaves_out_traces_of_earlier_pages)
{
    struct traceplace after = place_of(5, 1, 50, 500);
    struct traceplace places[] = { place_of(1, 1, 10, 900), place_of(1, 2, 10, 400), place_of(5, 2, 10, 300), after,
                                   place_of(2, 1, 10, 499), place_of(3, 1, 49, 500) };
    struct tracetop top;
    struct error err;

    tracetop_init(&top, TRACESTORE_SLOWEST, 3, &after);
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        CHECK_OK(tracetop_add(&top, &places[i], &err), &err);
    tracetop_settle(&top);
    CHECK_EQ(top.places.n, 2);
    CHECK_EQ(traceplace_compare(TRACESTORE_SLOWEST, &top.places.items[0], &places[5]), 0);
    CHECK_EQ(traceplace_compare(TRACESTORE_SLOWEST, &top.places.items[1], &places[4]), 0);
    CHECK(!top.has_cut);
    tracetop_done(&top);
}

static int fill(void *context, struct error *err)
{
    struct traceplace after = place_of(0, 1, 5, 50);
    struct tracetop top;
    int result = 0;

    (void)context;
    tracetop_init(&top, TRACESTORE_SLOWEST, 3, &after);
    for (uint64_t i = 1; result == 0 && i < 200; i++) {
        struct traceplace place = place_of(i, 1, 5, (int64_t)i);

        result = tracetop_add(&top, &place, err);
    }
    tracetop_settle(&top);
    if (result == 0)
        CHECK_EQ(top.places.items[0].duration_ns, 50);
    tracetop_done(&top);
    return result;
}

TEST(tracetop_survives_failing_allocations)
{
    test_each_allocation_failing(fill, NULL);
}
