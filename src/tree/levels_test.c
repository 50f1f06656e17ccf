// SPDX-License-Identifier: Apache-2.0
#include "tree/levels.h"

#include "base/clock.h"

#include "base/test.h"

TEST(levels_round_so_that_small_ones_are_not_lost)
{
    struct levels_rounding sums = { 0 };
    int64_t whole = 0;

    for (unsigned i = 0; i < 40; i++) {
        int64_t value = levels_round(&sums, 0.25);

        CHECK(value == 0 || value == 1);
        whole += value;
    }
    CHECK_EQ(whole, 10);
}

TEST(levels_round_whole_numbers_to_themselves)
{
    struct levels_rounding sums = { 0 };

    CHECK_EQ(levels_round(&sums, 3), 3);
    CHECK_EQ(levels_round(&sums, 0.75), 1);
    CHECK_EQ(levels_round(&sums, 3), 3);
    CHECK_EQ(levels_round(&sums, -7), -7);
    CHECK_EQ(levels_round(&sums, 0), 0);
}

TEST(levels_round_what_is_too_large_to_the_edge)
{
    struct levels_rounding sums = { 0 };

    CHECK_EQ(levels_round(&sums, 1e30), (int64_t)1 << 62);
    CHECK_EQ(levels_round(&sums, -2e30), -((int64_t)1 << 62) * 2);
}

/* --- weights --- */

static const struct seriesinfo *series_of(char name)
{
    static struct series_type types[1];
    static struct series_label labels[26][3];
    static struct seriesinfo series[26];
    static char texts[26][2];
    unsigned i = (unsigned)(name - 'a');

    types[0] = (struct series_type){ .type = SLICE("inuse_objects"), .unit = SLICE("count") };
    texts[i][0] = name;
    labels[i][0] = (struct series_label){ SLICE("__name__"), SLICE("memory") };
    labels[i][1] = (struct series_label){ SLICE("instance"), slice_of(texts[i], 1) };
    labels[i][2] = (struct series_label){ SLICE("service_name"), SLICE("api") };
    series[i] = (struct seriesinfo){ .labels = labels[i], .n_labels = 3, .types = types, .n_types = 1 };
    return &series[i];
}

/* Rows of a series, one each `pace_s`, from `from_s` on. */
static void add_rows(struct levels *levels, char name, int64_t from_s, uint32_t n, int64_t pace_s)
{
    int64_t starts_ns[100];
    struct windows windows = { .n_types = 1, .n_rows = n, .starts_ns = starts_ns };
    struct error err;

    for (uint32_t i = 0; i < n; i++)
        starts_ns[i] = (from_s + i * pace_s) * CLOCK_NS_PER_SECOND;
    CHECK_OK(levels_add(levels, series_of(name), &windows, &err), &err);
}

static double weight_of(struct levels *levels, char name, int64_t at_s)
{
    int64_t at_ns = at_s * CLOCK_NS_PER_SECOND;

    return levels_weight(levels, series_of(name), at_ns) + levels_correction(levels, series_of(name), at_ns);
}

TEST(levels_weigh_rows_by_how_many_their_series_has_in_five_minutes)
{
    struct levels levels;
    const int64_t *hours;
    struct error err;
    size_t n;

    levels_init(&levels, SLICE("memory:inuse_objects:count::"), 1 << 20);
    add_rows(&levels, 'a', 7200, 20, 15);
    add_rows(&levels, 'b', 7200, 20, 15);
    add_rows(&levels, 'c', 7200, 10, 30);
    add_rows(&levels, 'd', 7200, 1, 1);
    add_rows(&levels, 'd', 7210, 1, 1); /* of another closing */
    add_rows(&levels, 'a', 86400, 4, 60);
    add_rows(&levels, 'b', 86400, 4, 60);
    add_rows(&levels, 'c', -300, 3, 60); /* before 1970, too */
    CHECK_OK(levels_settle(&levels, &err), &err);
    /* Three times five minutes have rows. */
    CHECK_NEAR(weight_of(&levels, 'a', 7200), 1 / 20.0 / 3, 1e-12);
    CHECK_NEAR(weight_of(&levels, 'b', 7499), 1 / 20.0 / 3, 1e-12);
    CHECK_NEAR(weight_of(&levels, 'c', 7200), 1 / 10.0 / 3, 1e-12);
    CHECK_NEAR(weight_of(&levels, 'd', 7200), 1 / 2.0 / 3, 1e-12);
    CHECK_NEAR(weight_of(&levels, 'a', 86400), 1 / 4.0 / 3, 1e-12);
    CHECK_NEAR(weight_of(&levels, 'c', -1), 1 / 3.0 / 3, 1e-12);
    CHECK(weight_of(&levels, 'a', 7500) == 0);
    CHECK(weight_of(&levels, 'd', 86400) > 0); /* that of its group: it has no rows there */
    /* Rows of those that most agree with need no correction, nor does an hour in which all do. */
    CHECK(levels_correction(&levels, series_of('a'), 7200 * CLOCK_NS_PER_SECOND) == 0);
    hours = levels_odd_hours(&levels, &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(hours[0], 7200 * CLOCK_NS_PER_SECOND);
    CHECK(levels_is_odd(&levels, series_of('c'), hours[0]));
    CHECK(levels_is_odd(&levels, series_of('d'), hours[0]));
    CHECK(!levels_is_odd(&levels, series_of('a'), hours[0]));
    CHECK(!levels_is_odd(&levels, series_of('e'), hours[0]));
    levels_done(&levels);
}

TEST(levels_say_which_memory_their_counts_need)
{
    int64_t start_ns = 0;
    struct windows windows = { .n_types = 1, .n_rows = 1, .starts_ns = &start_ns };
    struct levels levels;
    struct error err;

    levels_init(&levels, SLICE("memory:inuse_objects:count::"), 1000);
    CHECK_ERROR(levels_add(&levels, series_of('a'), &windows, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "ask for less time or fewer series, or raise --query-memory");
    levels_done(&levels);
}

static int count_and_settle(void *context, struct error *err)
{
    int64_t starts_ns[] = { 0, 1 };
    struct windows windows = { .n_types = 1, .n_rows = 2, .starts_ns = starts_ns };
    struct levels levels;
    int result;

    levels_init(&levels, SLICE("memory:inuse_objects:count::"), 1 << 20);
    result = levels_add(&levels, series_of('a'), &windows, err);
    windows.n_rows = 1;
    if (!result)
        result = levels_add(&levels, series_of('b'), &windows, err);
    if (!result)
        result = levels_settle(&levels, err);
    levels_done(&levels);
    return result;
}

TEST(levels_survive_failing_allocations)
{
    test_each_allocation_failing(count_and_settle, NULL);
}
