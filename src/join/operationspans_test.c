// SPDX-License-Identifier: Apache-2.0
#include "join/operationspans.h"

#include "base/hash.h"
#include "base/memory.h"
#include "join/trace_sample_test.h"

#include <stdlib.h>

static struct operationspans_query query_of(const struct trace_sample *sample)
{
    return (struct operationspans_query){ .traces = sample->traces,
                                          .tenant = SLICE("anonymous"),
                                          .service = SLICE("shop"),
                                          .operation = SLICE("GET"),
                                          .from_ns = SPAN_SAMPLE_NS,
                                          .until_ns = SPAN_SAMPLE_NS + 60 * CLOCK_NS_PER_SECOND };
}

TEST(operationspans_are_those_of_the_operation_in_the_range)
{
    struct trace_sample sample;
    struct span_sample spans;
    struct operationspans_query query;
    struct operationspans got;
    struct spanids ids;
    struct error err;

    trace_sample_begin(&sample);
    SPAN_SAMPLE(&spans, "01<00 shop GET 0+10", "02<01 shop PUT 1+10", "03<01 pay GET 2+10", "04<00 shop GET 59999+7",
                "05<00 shop GET 60000+7", "06<00 shop GETS 5+7");
    trace_sample_write(&sample, spans.spans, spans.n);
    query = query_of(&sample);
    CHECK_OK(operationspans_read(&query, &got, &err), &err);
    CHECK_EQ(got.n, 2);
    CHECK(!got.is_cut);
    spanids_init(&ids, 10);
    CHECK_OK(operationspans_ids(&got, 0, got.n, &ids, &err), &err);
    CHECK(spanids_has(&ids, (const uint8_t[8]){ 1 }) && spanids_has(&ids, (const uint8_t[8]){ 4 }));
    spanids_done(&ids);
    operationspans_done(&got);
    query.tenant = SLICE("other");
    CHECK_OK(operationspans_read(&query, &got, &err), &err);
    CHECK_EQ(got.n, 0);
    operationspans_done(&got);
    trace_sample_end(&sample);
}

TEST(operationspans_are_the_newest_where_there_are_too_many)
{
    enum { MANY = 100 };
    struct trace_sample sample;
    struct span_resource resource = { .service = SLICE("shop") };
    struct operationspans_query query;
    struct operationspans got;
    struct error err;

    trace_sample_begin(&sample);
    for (uint32_t i = 0; i < MANY; i++) { /* in no order */
        struct span span = { .trace_id = { 1 },
                             .span_id = { (uint8_t)(i + 1) },
                             .start_ns = SPAN_SAMPLE_NS + i * 37 % MANY * 1000000,
                             .duration_ns = i,
                             .name = SLICE("GET"),
                             .resource = &resource };

        trace_sample_write(&sample, &span, 1);
    }
    query = query_of(&sample);
    query.max = 10;
    CHECK_OK(operationspans_read(&query, &got, &err), &err);
    CHECK_EQ(got.n, 10);
    CHECK(got.is_cut);
    for (size_t i = 0; i < got.n; i++)
        CHECK(got.items[i].start_ns >= SPAN_SAMPLE_NS + (MANY - 10) * 1000000);
    operationspans_done(&got);
    /* So is what has no room in memory, of which a span takes 84 bytes of a third. */
    query.max = 0;
    query.asker.max_bytes = (size_t)3 * 84 * 20;
    CHECK_OK(operationspans_read(&query, &got, &err), &err);
    CHECK_EQ(got.n, 20);
    CHECK(got.is_cut);
    for (size_t i = 0; i < got.n; i++)
        CHECK(got.items[i].start_ns >= SPAN_SAMPLE_NS + (MANY - 20) * 1000000);
    operationspans_done(&got);
    query.asker.max_bytes = (size_t)3 * 84 * MANY;
    CHECK_OK(operationspans_read(&query, &got, &err), &err);
    CHECK_EQ(got.n, MANY);
    CHECK(!got.is_cut);
    operationspans_done(&got);
    trace_sample_end(&sample);
}

/* --- slow and fast --- */

static int slowest_first(const void *a, const void *b)
{
    const struct operationspan *x = a, *y = b;

    if (x->duration_ns != y->duration_ns)
        return x->duration_ns < y->duration_ns ? 1 : -1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? 1 : -1;
    return memcmp(x->id, y->id, SPAN_ID_BYTES);
}

TEST(operationspans_split_is_exact)
{
    static const struct {
        size_t n;
        double share;
        size_t wanted;
    } cases[] = { { 1, 0.05, 1 },     { 2, 0.05, 1 },  { 19, 0.05, 1 },  { 20, 0.05, 1 },
                  { 39, 0.05, 1 },    { 40, 0.05, 2 }, { 100, 0.07, 7 }, { 100, 0.29, 29 },
                  { 1000, 0.001, 1 }, { 3, 0.9, 2 },   { 2, 0.9, 1 },    { 10, 0.9, 9 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err;
        struct operationspan *items = memory_alloc_zero(2 * cases[i].n * sizeof(*items), &err);
        struct operationspans spans = { items, cases[i].n, cases[i].n, false };

        for (size_t k = 0; k < cases[i].n; k++) {
            uint64_t chance = hash_mix64(i * 1000 + k + 1);

            items[k] = (struct operationspan){ { (uint8_t)k, (uint8_t)(k >> 8) }, chance % 3, chance >> 32 & 15 };
        }
        memcpy(items + cases[i].n, items, cases[i].n * sizeof(*items));
        qsort(items + cases[i].n, cases[i].n, sizeof(*items), slowest_first);
        CHECK_EQ(operationspans_split(&spans, cases[i].share), cases[i].wanted);
        CHECK(memcmp(items, items + cases[i].n, cases[i].n * sizeof(*items)) == 0);
        memory_free(items);
    }
    CHECK_EQ(operationspans_split(&(struct operationspans){ 0 }, 0.05), 0);
}
