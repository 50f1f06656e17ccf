// SPDX-License-Identifier: Apache-2.0
#include "trace/operationtable.h"

#include "trace/spanbuckets.h"

#include <stdlib.h>

#define MAX_COUNTS (TRACESTORE_MAX_OPERATIONS * SPANBUCKETS_COUNT)

void operationtable_init(struct operationtable *table, struct arena *arena)
{
    *table = (struct operationtable){ .arena = arena };
    hash_set_init(&table->known, TRACESTORE_MAX_OPERATIONS);
    map_init(&table->places, MAX_COUNTS);
}

void operationtable_done(struct operationtable *table)
{
    hash_set_done(&table->known);
    VEC_DONE(&table->operations);
    map_done(&table->places);
    VEC_DONE(&table->counts);
}

static int64_t add_times(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int add_new(struct operationtable *table, struct hash128 hash, struct slice service, struct slice name,
                   uint32_t *ret_id, struct error *err)
{
    struct tracestore_operation made = { .service = arena_copy(table->arena, service, err) };
    struct tracestore_operation *operation;
    bool is_new;

    if (!made.service.ptr)
        return -1;
    made.name = arena_copy(table->arena, name, err);
    if (!made.name.ptr || VEC_RESERVE(&table->operations, 1, TRACESTORE_MAX_OPERATIONS, err) < 0 ||
        hash_set_add(&table->known, hash, ret_id, &is_new, err) < 0)
        return -1;
    operation = VEC_PUSH(&table->operations, TRACESTORE_MAX_OPERATIONS, err);
    if (!operation)
        return -1;
    *operation = made;
    return 0;
}

/* The number of an operation; HASH_NONE when there are too many already. */
static int find(struct operationtable *table, struct slice service, struct slice name, uint32_t *ret_id,
                struct error *err)
{
    struct hash128 hash = hash_bytes(service, 0), more = hash_bytes(name, 0);

    hash = hash_fold(hash, more.a, more.b);
    *ret_id = hash_set_find(&table->known, hash);
    if (*ret_id != HASH_NONE)
        return 0;
    if (table->known.n == TRACESTORE_MAX_OPERATIONS) {
        table->is_cut = true;
        return 0;
    }
    return add_new(table, hash, service, name, ret_id, err);
}

static int count(struct operationtable *table, uint32_t operation, uint32_t bucket, uint64_t n, struct error *err)
{
    uint64_t key = (uint64_t)operation << 16 | bucket;
    uint32_t *known = map_find(&table->places, key);
    struct operationtable_count *made;

    if (known) {
        table->counts.items[*known].n += n;
        return 0;
    }
    if (VEC_RESERVE(&table->counts, 1, MAX_COUNTS, err) < 0 ||
        map_set(&table->places, key, (uint32_t)table->counts.n, err) < 0)
        return -1;
    made = VEC_PUSH(&table->counts, MAX_COUNTS, err);
    if (!made)
        return -1;
    *made = (struct operationtable_count){ operation, bucket, n };
    return 0;
}

int operationtable_add_span(struct operationtable *table, struct slice service, struct slice name, int64_t duration_ns,
                            bool is_error, struct error *err)
{
    struct tracestore_operation *operation;
    uint32_t id;

    if (find(table, service, name, &id, err) < 0)
        return -1;
    if (id == HASH_NONE)
        return 0;
    operation = &table->operations.items[id];
    operation->n_spans++;
    operation->n_errors += is_error;
    operation->total_ns = add_times(operation->total_ns, duration_ns);
    operation->max_ns = MAX(operation->max_ns, duration_ns);
    return count(table, id, spanbuckets_find(duration_ns), 1, err);
}

int operationtable_add_operation(struct operationtable *table, const struct spanblock_operation *added,
                                 struct error *err)
{
    struct tracestore_operation *operation;
    uint32_t id;

    if (find(table, added->service, added->name, &id, err) < 0)
        return -1;
    if (id == HASH_NONE)
        return 0;
    operation = &table->operations.items[id];
    operation->n_spans += added->n_spans;
    operation->n_errors += added->n_errors;
    operation->total_ns = add_times(operation->total_ns, added->total_ns);
    operation->max_ns = MAX(operation->max_ns, added->max_duration_ns);
    for (uint32_t i = 0; i < added->n_buckets; i++)
        if (count(table, id, MIN(added->buckets[i].bucket, SPANBUCKETS_COUNT - 1), added->buckets[i].n, err) < 0)
            return -1;
    return 0;
}

static int compare_counts(const void *a, const void *b)
{
    const struct operationtable_count *x = a, *y = b;

    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* The duration below which a share of the spans stays: the middle of the bucket where the count gets there. */
static int64_t percentile(const struct operationtable_count *counts, size_t n, uint64_t percent,
                          const struct tracestore_operation *operation)
{
    uint64_t total = 0, seen = 0;
    __uint128_t rank;

    for (size_t i = 0; i < n; i++)
        total += counts[i].n;
    rank = ((__uint128_t)total * percent + 99) / 100;
    for (size_t i = 0; i < n; i++) {
        seen += counts[i].n;
        if (seen >= rank)
            return MIN(spanbuckets_middle(counts[i].bucket), operation->max_ns);
    }
    return operation->max_ns;
}

static void set_percentiles(struct operationtable *table)
{
    const struct operationtable_count *counts = table->counts.items;
    size_t n = table->counts.n;

    if (n == 0)
        return;
    qsort(table->counts.items, n, sizeof(*table->counts.items), compare_counts);
    for (size_t first = 0, end; first < n; first = end) {
        struct tracestore_operation *operation = &table->operations.items[counts[first].operation];

        for (end = first; end < n && counts[end].operation == counts[first].operation;)
            end++;
        operation->p50_ns = percentile(counts + first, end - first, 50, operation);
        operation->p95_ns = percentile(counts + first, end - first, 95, operation);
        operation->p99_ns = percentile(counts + first, end - first, 99, operation);
    }
}

static int compare_operations(const void *a, const void *b)
{
    const struct tracestore_operation *x = a, *y = b;
    int by_service = slice_compare(x->service, y->service);

    if (by_service != 0)
        return by_service;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return slice_compare(x->name, y->name);
}

int operationtable_finish(struct operationtable *table, struct tracestore_operations *ret_operations, struct error *err)
{
    struct tracestore_operation *items =
        ARENA_ARRAY(table->arena, struct tracestore_operation, table->operations.n, err);

    if (!items)
        return -1;
    set_percentiles(table);
    if (table->operations.n > 0) {
        qsort(table->operations.items, table->operations.n, sizeof(*items), compare_operations);
        memcpy(items, table->operations.items, table->operations.n * sizeof(*items));
    }
    *ret_operations =
        (struct tracestore_operations){ .items = items, .n = table->operations.n, .is_cut = table->is_cut };
    return 0;
}
