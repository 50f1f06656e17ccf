// SPDX-License-Identifier: Apache-2.0
#include "trace/operationtable.h"

#include "trace/spanbuckets.h"
#include "trace/tracesample_test.h"

TEST(operationtable_sums_up_by_service_most_time_first)
{
    struct spanblock_bucket buckets[] = { { spanbuckets_find(1000), 3 }, { spanbuckets_find(9000), 1 } };
    struct spanblock_operation block = { .service = SLICE("shop"),
                                         .name = SLICE("sum"),
                                         .n_spans = 4,
                                         .n_errors = 2,
                                         .max_duration_ns = 9000,
                                         .total_ns = 12000,
                                         .buckets = buckets,
                                         .n_buckets = 2 };
    struct operationtable table;
    struct tracestore_operations operations;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    operationtable_init(&table, &arena);
    CHECK_OK(operationtable_add_span(&table, SLICE("shop"), SLICE("get"), 99, false, &err), &err);
    CHECK_OK(operationtable_add_span(&table, SLICE("pay"), SLICE("sum"), 5, true, &err), &err);
    CHECK_OK(operationtable_add_operation(&table, &block, &err), &err);
    CHECK_OK(operationtable_add_span(&table, SLICE("shop"), SLICE("sum"), 1000, false, &err), &err);
    CHECK_OK(operationtable_finish(&table, &operations, &err), &err);
    CHECK_EQ(operations.n, 3);
    CHECK(!operations.is_cut);
    CHECK_TEXT(operations.items[0].service, "pay");
    CHECK_EQ(operations.items[0].n_errors, 1);
    CHECK_EQ(operations.items[0].p99_ns, 5);
    CHECK_TEXT(operations.items[1].name, "sum");
    CHECK_EQ(operations.items[1].n_spans, 5);
    CHECK_EQ(operations.items[1].n_errors, 2);
    CHECK_EQ(operations.items[1].total_ns, 13000);
    CHECK_EQ(operations.items[1].max_ns, 9000);
    CHECK_NEAR((double)operations.items[1].p50_ns, 1000, 32);
    CHECK_NEAR((double)operations.items[1].p95_ns, 9000, 290);
    CHECK_TEXT(operations.items[2].name, "get");
    operationtable_done(&table);
    arena_done(&arena);
}

TEST(operationtable_percentiles_are_within_a_few_percent)
{
    struct operationtable table;
    struct tracestore_operations operations;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    operationtable_init(&table, &arena);
    for (int64_t i = 1; i <= 10000; i++)
        CHECK_OK(operationtable_add_span(&table, SLICE("s"), SLICE("n"), i * 1000, false, &err), &err);
    CHECK_OK(operationtable_finish(&table, &operations, &err), &err);
    CHECK_NEAR((double)operations.items[0].p50_ns, 5e6, 5e6 * 0.033);
    CHECK_NEAR((double)operations.items[0].p95_ns, 9.5e6, 9.5e6 * 0.033);
    CHECK_NEAR((double)operations.items[0].p99_ns, 9.9e6, 9.9e6 * 0.033);
    operationtable_done(&table);
    arena_done(&arena);
}

TEST(operationtable_says_when_there_are_too_many_and_totals_stay_at_the_edge)
{
    struct operationtable table;
    struct tracestore_operations operations;
    struct arena arena;
    struct error err;
    char name[4];

    arena_init(&arena, 0);
    operationtable_init(&table, &arena);
    for (uint32_t i = 0; i <= TRACESTORE_MAX_OPERATIONS; i++) {
        bytes_put_le32(name, i);
        CHECK_OK(operationtable_add_span(&table, SLICE("s"), slice_of(name, 4), INT64_MAX, false, &err), &err);
    }
    bytes_put_le32(name, 0);
    CHECK_OK(operationtable_add_span(&table, SLICE("s"), slice_of(name, 4), INT64_MAX, false, &err), &err);
    CHECK_OK(operationtable_finish(&table, &operations, &err), &err);
    CHECK_EQ(operations.n, TRACESTORE_MAX_OPERATIONS);
    CHECK(operations.is_cut);
    CHECK_EQ(operations.items[0].total_ns, INT64_MAX);
    operationtable_done(&table);
    arena_done(&arena);
}

static int fill(void *context, struct error *err)
{
    struct operationtable table;
    struct tracestore_operations operations;
    struct arena arena;
    int result = 0;

    (void)context;
    arena_init(&arena, 1 << 20);
    operationtable_init(&table, &arena);
    for (int i = 0; result == 0 && i < 100; i++)
        result = operationtable_add_span(&table, SLICE("s"), slice_of(&"abcdefgh"[i % 8], 1), i * 100, false, err);
    if (result == 0)
        result = operationtable_finish(&table, &operations, err);
    if (result == 0)
        CHECK_EQ(operations.n, 8);
    operationtable_done(&table);
    arena_done(&arena);
    return result;
}

TEST(operationtable_survives_failing_allocations)
{
    test_each_allocation_failing(fill, NULL);
}
