// SPDX-License-Identifier: Apache-2.0
/* Rows made of random numbers, for the tests of this room. The same seed makes the same row. */
#pragma once

#include "base/hash.h"
#include "base/test.h"
#include "block/headrow.h"

enum row_values {
    ROW_COUNTS,    /* small counts, type by type different ones */
    ROW_RATIO,     /* every further type a multiple of the first, as in CPU profiles */
    ROW_DIVISIBLE, /* multiples of ten million */
    ROW_NOISE,     /* any 64 bits */
    ROW_EXTREMES,  /* the ends of the range, and 0 */
    ROW_ZERO,
};
#define ROW_VALUES_COUNT (ROW_ZERO + 1)

struct row_options {
    uint64_t seed;
    uint32_t n_types;
    uint32_t n_samples;
    uint32_t n_stacks; /* how many different ones; few of them make samples that differ by labels alone */
    enum row_values values;
    bool has_label_sets;
    bool has_links;
    bool has_counts;
};

static inline uint64_t row_random(uint64_t *state)
{
    return hash_mix64(*state += 0x9e3779b97f4a7c15u);
}

static inline int64_t row_random_value(enum row_values kind, uint32_t type, const int64_t *first, uint64_t *state)
{
    static const int64_t extremes[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX };
    uint64_t number = row_random(state);

    switch (kind) {
    case ROW_COUNTS: return (int64_t)(number % 7 + type);
    case ROW_RATIO: return type == 0 ? (int64_t)(number % 5 + 1) : *first * (type % 2 ? 10000000 : -3);
    case ROW_DIVISIBLE: return (int64_t)(number % 9) * 10000000 - 20000000;
    case ROW_NOISE: return (int64_t)number;
    case ROW_EXTREMES: return extremes[number % ARRAY_LEN(extremes)];
    case ROW_ZERO: return 0;
    }
    return 0;
}

#define ROW_LINKS 5u

/* A row as a writer fills it: not sorted, samples may occur twice. Its arrays come from `arena`. */
static inline struct headrow row_make(struct row_options options, struct arena *arena)
{
    uint32_t n = options.n_samples, stride = n + 3;
    uint64_t state = options.seed * 1000 + 1;
    struct error err;
    struct headrow row = {
        .start_ns = 1790000000000000000 + (int64_t)options.seed * 10000000000,
        .sequence = (uint32_t)options.seed * 200 + 7,
        .label_set = (uint32_t)(options.seed % 3),
        .duration_ns = (int64_t)(10000000000 + options.seed % 5),
        .period = 10000000,
        .n_types = options.n_types,
        .n_samples = n,
        .stride = stride,
        .stacks = ARENA_ARRAY(arena, uint32_t, n, &err),
        .values = ARENA_ARRAY(arena, int64_t, (size_t)stride * options.n_types, &err),
        .label_sets = options.has_label_sets ? ARENA_ARRAY(arena, uint32_t, n, &err) : NULL,
        .links = options.has_links ? ARENA_ARRAY(arena, uint32_t, n, &err) : NULL,
        .link_table = options.has_links ? ARENA_ARRAY(arena, struct link, ROW_LINKS, &err) : NULL,
        .n_links = options.has_links ? ROW_LINKS : 0,
        .counts = options.has_counts ? ARENA_ARRAY(arena, uint64_t, n, &err) : NULL,
    };

    for (uint32_t i = 0; i < n; i++) {
        row.stacks[i] = (uint32_t)(row_random(&state) % options.n_stacks) * 5 + 2;
        for (uint32_t type = 0; type < options.n_types; type++)
            row.values[(size_t)type * stride + i] = row_random_value(options.values, type, &row.values[i], &state);
        if (row.label_sets)
            row.label_sets[i] = (uint32_t)(row_random(&state) % 4);
        if (row.links)
            row.links[i] = (uint32_t)(row_random(&state) % (ROW_LINKS + 1));
        if (row.counts)
            row.counts[i] = row_random(&state) >> (row_random(&state) % 64);
    }
    for (uint32_t i = 0; i < row.n_links; i++)
        memset(&row.link_table[i], (int)(options.seed * 16 + i + 1), sizeof(row.link_table[i]));
    return row;
}

/* A row as it is kept. */
static inline struct headrow row_make_sorted(struct row_options options, struct arena *arena)
{
    struct headrow row = row_make(options, arena);
    uint64_t saturated = 0;
    struct error err;

    CHECK_OK(headrow_sort(&row, arena, &saturated, &err), &err);
    return row;
}

/* That two rows say the same. A column of zeros says what no column says, and links count by what they are. */
static inline void row_check_equal(const struct headrow *got, const struct headrow *wanted)
{
    CHECK_EQ(got->start_ns, wanted->start_ns);
    CHECK_EQ(got->sequence, wanted->sequence);
    CHECK_EQ(got->label_set, wanted->label_set);
    CHECK_EQ(got->duration_ns, wanted->duration_ns);
    CHECK_EQ(got->period, wanted->period);
    CHECK_EQ(got->n_types, wanted->n_types);
    CHECK_EQ(got->n_samples, wanted->n_samples);
    for (uint32_t i = 0; i < wanted->n_samples; i++) {
        uint32_t got_link = got->links ? got->links[i] : 0, wanted_link = wanted->links ? wanted->links[i] : 0;

        CHECK_EQ(got->stacks[i], wanted->stacks[i]);
        for (uint32_t type = 0; type < wanted->n_types; type++)
            CHECK_EQ(got->values[(size_t)type * got->stride + i], wanted->values[(size_t)type * wanted->stride + i]);
        CHECK_EQ(got->label_sets ? got->label_sets[i] : 0, wanted->label_sets ? wanted->label_sets[i] : 0);
        CHECK_EQ(got->counts ? got->counts[i] : 0, wanted->counts ? wanted->counts[i] : 0);
        CHECK_EQ(got_link == 0, wanted_link == 0);
        if (wanted_link != 0) {
            CHECK(got_link <= got->n_links);
            CHECK_EQ(memcmp(&got->link_table[got_link - 1], &wanted->link_table[wanted_link - 1], sizeof(struct link)),
                     0);
        }
    }
}
