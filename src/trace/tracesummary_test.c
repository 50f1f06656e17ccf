// SPDX-License-Identifier: Apache-2.0
#include "trace/tracesummary.h"

#include "trace/tracesample_test.h"

#include <stdio.h>

#define N_SPANS 60

static void make_items(struct span *spans, struct tracemerge_item *items)
{
    for (size_t i = 0; i < N_SPANS; i++) {
        spans[i] = tracesample_span(1, i + 1, i == 5 ? 0 : 99, 1000 + (int64_t)i * 10, i == 7 ? 5000 : 20);
        spans[i].status = i % 10 == 0 ? SPAN_ERROR : SPAN_OK;
        spans[i].resource = &tracesample_resources[i % 4 == 0 ? 1 : i % 2];
        items[i] = (struct tracemerge_item){ &spans[i], i >= 7 && i < 20 };
    }
}

TEST(tracesummary_tells_the_whole_of_a_trace)
{
    struct span spans[N_SPANS];
    struct tracemerge_item items[N_SPANS];
    struct tracestore_found found;
    struct arena arena;
    struct error err;
    bool is_found;

    arena_init(&arena, 1 << 20);
    make_items(spans, items);
    CHECK_OK(tracesummary_make(items, N_SPANS, TRACESTORE_NEWEST, &arena, &found, &is_found, &err), &err);
    CHECK(is_found);
    CHECK_EQ(found.n_spans, N_SPANS);
    CHECK_EQ(found.n_errors, 6);
    CHECK_EQ(found.n_matched, 13);
    CHECK_EQ(found.start_ns, 1000);
    CHECK_EQ(found.duration_ns, 70 + 5000);
    CHECK_EQ(memcmp(found.matched.span_id, spans[19].span_id, SPAN_ID_BYTES), 0);
    CHECK_EQ(memcmp(found.root.span_id, spans[5].span_id, SPAN_ID_BYTES), 0);
    CHECK_EQ(found.n_services, 2);
    CHECK_TEXT(found.services[0].name, "stock");
    CHECK_EQ(found.services[0].n_spans, 45);
    CHECK_EQ(found.services[0].n_errors, 3);
    CHECK_TEXT(found.services[1].name, "shop");
    CHECK_EQ(found.services[1].n_spans, 15);
    CHECK_EQ(found.services[1].n_errors, 3);
    CHECK_OK(tracesummary_make(items, N_SPANS, TRACESTORE_SLOWEST, &arena, &found, &is_found, &err), &err);
    CHECK_EQ(memcmp(found.matched.span_id, spans[7].span_id, SPAN_ID_BYTES), 0);
    arena_done(&arena);
}

TEST(tracesummary_without_a_root_takes_the_first_and_without_a_match_none)
{
    struct span span = tracesample_span(1, 4, 3, 1000, INT64_MAX);
    struct tracemerge_item item = { &span, true };
    struct tracestore_found found;
    struct arena arena;
    struct error err;
    bool is_found;

    arena_init(&arena, 1 << 20);
    CHECK_OK(tracesummary_make(&item, 1, TRACESTORE_NEWEST, &arena, &found, &is_found, &err), &err);
    CHECK(is_found);
    CHECK_EQ(memcmp(found.root.span_id, span.span_id, SPAN_ID_BYTES), 0);
    CHECK_EQ(found.duration_ns, INT64_MAX - 1000);
    item.is_taken = false;
    CHECK_OK(tracesummary_make(&item, 1, TRACESTORE_NEWEST, &arena, &found, &is_found, &err), &err);
    CHECK(!is_found);
    arena_done(&arena);
}

static int make_many_services(void *context, struct error *err)
{
    struct span_resource resources[40];
    char names[40][16];
    struct span spans[40];
    struct tracemerge_item items[40];
    struct tracestore_found found;
    struct arena arena;
    bool is_found;
    int result;

    (void)context;
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof(names[i]), "s%d", i);
        resources[i] = (struct span_resource){ .service = slice_from(names[i]) };
        spans[i] = tracesample_span(1, (uint64_t)i + 1, 0, 1000 + i, 5);
        spans[i].resource = &resources[i];
        items[i] = (struct tracemerge_item){ &spans[i], true };
    }
    result = tracesummary_make(items, 40, TRACESTORE_NEWEST, &arena, &found, &is_found, err);
    if (result == 0)
        CHECK_EQ(found.n_services, 40);
    arena_done(&arena);
    return result;
}

TEST(tracesummary_survives_failing_allocations)
{
    test_each_allocation_failing(make_many_services, NULL);
}
