// SPDX-License-Identifier: Apache-2.0
#include "block/stacksum.h"

#include "base/test.h"

enum { MAX_BYTES = 1 << 20 };

static struct rollup of(uint32_t n_types, uint32_t n, uint32_t *stacks, int64_t *sums)
{
    return (struct rollup){ .n_types = n_types, .n_stacks = n, .stacks = stacks, .sums = sums };
}

static uint32_t add(struct stacksum *sum, const struct rollup *rollup)
{
    uint32_t at = 0;
    struct error err;

    CHECK_OK(stacksum_add(sum, rollup, &at, &err), &err);
    return at;
}

static struct rollup take(struct stacksum *sum, struct arena *arena)
{
    struct rollup rollup = { .n_rows = 7 };
    struct error err;

    CHECK_OK(stacksum_take(sum, arena, &rollup, &err), &err);
    CHECK_EQ(rollup.n_rows, 7);
    return rollup;
}

TEST(stacksum_adds_up_by_stack_and_gives_stacks_in_order)
{
    static uint32_t first[] = { 3, 64, 1000000 }, second[] = { 0, 3, 65 };
    static int64_t first_sums[] = { 1, 2, 3, 10, 20, 30 }, second_sums[] = { 4, 5, 6, 40, 50, 60 };
    struct rollup a = of(2, 3, first, first_sums), b = of(2, 3, second, second_sums), sums;
    AUTO(stacksum_done) struct stacksum sum;
    AUTO(arena_done) struct arena arena;

    arena_init(&arena, 0);
    stacksum_init(&sum, 2, MAX_BYTES);
    CHECK_EQ(add(&sum, &a), 3);
    CHECK_EQ(add(&sum, &b), 3);
    sums = take(&sum, &arena);
    CHECK_EQ(sums.n_types, 2);
    CHECK_EQ(sums.n_stacks, 5);
    CHECK(memcmp(sums.stacks, (uint32_t[]){ 0, 3, 64, 65, 1000000 }, sizeof(uint32_t) * 5) == 0);
    CHECK(memcmp(sums.sums, (int64_t[]){ 4, 6, 2, 6, 3, 40, 60, 20, 60, 30 }, sizeof(int64_t) * 10) == 0);
    CHECK_EQ(take(&sum, &arena).n_stacks, 0);
    CHECK_EQ(add(&sum, &b), 3);
    sums = take(&sum, &arena);
    CHECK_EQ(sums.n_stacks, 3);
    CHECK_EQ(sums.sums[1], 5);
}

TEST(stacksum_keeps_stacks_whose_sum_is_zero)
{
    static uint32_t stacks[] = { 9 };
    static int64_t plus[] = { 5 }, minus[] = { -5 };
    struct rollup a = of(1, 1, stacks, plus), b = of(1, 1, stacks, minus), sums;
    AUTO(stacksum_done) struct stacksum sum;
    AUTO(arena_done) struct arena arena;

    arena_init(&arena, 0);
    stacksum_init(&sum, 1, MAX_BYTES);
    CHECK_EQ(add(&sum, &a), 1);
    CHECK_EQ(add(&sum, &b), 1);
    sums = take(&sum, &arena);
    CHECK_EQ(sums.n_stacks, 1);
    CHECK_EQ(sums.sums[0], 0);
}

/* The sums of the stack stay as they are in all types, so that what is left can be handed on. */
TEST(stacksum_stops_where_a_sum_would_pass_64_bits)
{
    static uint32_t stacks[] = { 1, 2, 3 };
    static int64_t most[] = { 1, 1, 1, 1, INT64_MAX, 1 }, more[] = { 1, 1, 1, 1, 1, 1 };
    struct rollup a = of(2, 3, stacks, most), b = of(2, 3, stacks, more), sums;
    AUTO(stacksum_done) struct stacksum sum;
    AUTO(arena_done) struct arena arena;

    arena_init(&arena, 0);
    stacksum_init(&sum, 2, MAX_BYTES);
    CHECK_EQ(add(&sum, &a), 3);
    CHECK_EQ(add(&sum, &b), 1);
    CHECK_EQ(add(&sum, &b), 1); /* and again: nothing is done half */
    sums = take(&sum, &arena);
    CHECK_EQ(sums.sums[0], 3);
    CHECK_EQ(sums.sums[1], 1);
    CHECK_EQ(sums.sums[4], INT64_MAX);
    CHECK_EQ(add(&sum, &b), 3);
}

TEST(stacksum_stops_at_its_memory_and_takes_one_stack_at_least)
{
    static uint32_t stacks[1000];
    static int64_t values[1000];
    struct rollup all = of(1, 1000, stacks, values), sums;
    AUTO(stacksum_done) struct stacksum sum;
    AUTO(arena_done) struct arena arena;
    uint32_t at = 0, n_times = 0;
    struct error err;

    for (uint32_t i = 0; i < 1000; i++) {
        stacks[i] = i * 4000000 + i % 7;
        values[i] = i;
    }
    arena_init(&arena, 0);
    stacksum_init(&sum, 1, 0);
    for (uint32_t before = 0; at < all.n_stacks; before = at, n_times++) {
        CHECK_OK(stacksum_add(&sum, &all, &at, &err), &err);
        CHECK(at > before);
        sums = take(&sum, &arena);
        CHECK_EQ(sums.n_stacks, at - before);
        CHECK_EQ(sums.stacks[0], stacks[before]);
        CHECK_EQ(sums.sums[0], before);
    }
    CHECK_EQ(n_times, 1000);
}

TEST(stacksum_equals_a_plain_array_for_any_number_of_types)
{
    static uint32_t stacks[400];
    static int64_t values[400 * 5], wanted[5][5000];
    static bool has[5000];
    uint64_t random = 88172645463325252u;

    for (uint32_t n_types = 1; n_types <= 5; n_types++) {
        AUTO(stacksum_done) struct stacksum sum;
        AUTO(arena_done) struct arena arena;
        struct rollup sums;
        uint32_t n_wanted = 0, at = 0;

        memset(wanted, 0, sizeof(wanted));
        memset(has, 0, sizeof(has));
        arena_init(&arena, 0);
        stacksum_init(&sum, n_types, MAX_BYTES);
        for (int round = 0; round < 20; round++) {
            struct rollup rollup = of(n_types, 400, stacks, values);

            for (uint32_t i = 0; i < 400; i++) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                stacks[i] = i * 12 + (uint32_t)(random % 12);
                has[stacks[i]] = true;
                for (uint32_t type = 0; type < n_types; type++) {
                    values[type * 400 + i] = (int64_t)(random >> (10 + type)) % 1000 - 300;
                    wanted[type][stacks[i]] += values[type * 400 + i];
                }
            }
            CHECK_EQ(add(&sum, &rollup), 400);
        }
        sums = take(&sum, &arena);
        for (uint32_t stack = 0; stack < 5000; stack++) {
            n_wanted += has[stack];
            if (!has[stack])
                continue;
            CHECK_EQ(sums.stacks[at], stack);
            for (uint32_t type = 0; type < n_types; type++)
                CHECK_EQ(sums.sums[type * sums.n_stacks + at], wanted[type][stack]);
            at++;
        }
        CHECK_EQ(sums.n_stacks, n_wanted);
    }
}

static int add_and_take(void *context, struct error *err)
{
    static uint32_t stacks[] = { 1, 100, 100000 };
    static int64_t values[] = { 1, 2, 3 };
    struct rollup rollup = of(1, 3, stacks, values), sums = { 0 };
    AUTO(stacksum_done) struct stacksum sum;
    AUTO(arena_done) struct arena arena;
    uint32_t at = 0;

    arena_init(&arena, 0);
    stacksum_init(&sum, 1, MAX_BYTES);
    return stacksum_add(&sum, &rollup, &at, err) < 0 || stacksum_take(&sum, &arena, &sums, err) < 0 ? -1 : 0;
}

TEST(stacksum_survives_any_failing_allocation)
{
    test_each_allocation_failing(add_and_take, NULL);
}
