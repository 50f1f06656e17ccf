// SPDX-License-Identifier: Apache-2.0
#include "flame/noise.h"

#include "base/hash.h"
#include "base/test.h"

#include <math.h>

/* A profile of one or two rows, with types written as "name/unit". */
struct fixture {
    struct slice strings[16];
    struct tables tables;
    struct value_type types[4];
    int64_t values[4 * 2];
    uint64_t counts[2];
    struct profile profile;
};

static uint32_t intern(struct fixture *f, struct slice text)
{
    f->strings[f->tables.n_strings] = text;
    return f->tables.n_strings++;
}

static struct value_type make_type(struct fixture *f, const char *name_and_unit)
{
    struct slice text = slice_from(name_and_unit);
    ptrdiff_t slash = slice_find_byte(text, '/');

    CHECK(slash > 0);
    return (struct value_type){ .type = intern(f, slice_sub(text, 0, (size_t)slash)),
                                .unit = intern(f, slice_sub(text, (size_t)slash + 1, text.len)) };
}

static void fixture_init(struct fixture *f, const char *period_type, int64_t period)
{
    *f = (struct fixture){ .profile = { .stride = 2, .n_samples = 2, .period = period } };
    f->tables.strings = f->strings;
    intern(f, SLICE(""));
    f->profile.tables = &f->tables;
    f->profile.types = f->types;
    f->profile.values = f->values;
    f->profile.period_type = make_type(f, period_type);
}

static uint32_t add_type(struct fixture *f, const char *name_and_unit, int64_t first, int64_t second)
{
    uint32_t type = f->profile.n_types++;

    f->types[type] = make_type(f, name_and_unit);
    f->values[type * 2] = first;
    f->values[type * 2 + 1] = second;
    return type;
}

TEST(noise_prefers_explicit_counts)
{
    struct fixture f;
    struct noise_source source;
    uint32_t cpu;

    fixture_init(&f, "cpu/nanoseconds", 10000000);
    add_type(&f, "samples/count", 5, 7);
    cpu = add_type(&f, "cpu/nanoseconds", 50000000, 70000000);
    f.counts[0] = 3;
    f.profile.counts = f.counts;
    source = noise_source_find(&f.profile, cpu);
    CHECK_EQ(source.kind, NOISE_SOURCE_COUNTS);
    CHECK_NEAR(noise_count(&source, 0), 3, 0);
    CHECK_NEAR(noise_count(&source, 1), 0, 0);
}

TEST(noise_counts_samples_of_a_cpu_profile)
{
    struct fixture f;
    struct noise_source source;
    uint32_t samples, cpu;

    fixture_init(&f, "cpu/nanoseconds", 10000000);
    samples = add_type(&f, "samples/count", 5, 7);
    cpu = add_type(&f, "cpu/nanoseconds", 50000000, 70000000);
    source = noise_source_find(&f.profile, cpu);
    CHECK_EQ(source.kind, NOISE_SOURCE_SAMPLES);
    CHECK_NEAR(noise_count(&source, 1), 7, 0);
    source = noise_source_find(&f.profile, samples);
    CHECK_EQ(source.kind, NOISE_SOURCE_SAMPLES);
    CHECK_NEAR(noise_count(&source, 0), 5, 0);
}

TEST(noise_divides_by_a_period_in_any_unit_of_the_family)
{
    struct fixture f;
    struct noise_source source;
    uint32_t cpu;

    fixture_init(&f, "cpu/milliseconds", 10);
    cpu = add_type(&f, "cpu/nanoseconds", 50000000, -70000000);
    source = noise_source_find(&f.profile, cpu);
    CHECK_EQ(source.kind, NOISE_SOURCE_PERIOD);
    CHECK_NEAR(noise_count(&source, 0), 5, 1e-9);
    CHECK_NEAR(noise_count(&source, 1), 7, 1e-9);
}

TEST(noise_undoes_the_scaling_of_heap_profiles)
{
    struct fixture f;
    struct noise_source source;
    uint32_t space;
    /* 4 raw samples of 1 kB, scaled up as Go does it. */
    double scale = 1 / (1 - exp(-1024.0 / 524288));

    fixture_init(&f, "space/bytes", 524288);
    add_type(&f, "inuse_objects/count", llround(4 * scale), 0);
    space = add_type(&f, "inuse_space/bytes", llround(4 * scale * 1024), 0);
    source = noise_source_find(&f.profile, space);
    CHECK_EQ(source.kind, NOISE_SOURCE_HEAP);
    CHECK_NEAR(noise_count(&source, 0), 4, 0.01);
    CHECK_NEAR(noise_count(&source, 1), 0, 0);
    /* One large object is one sample, however many periods it spans. */
    f.values[0] = 1;
    f.values[2] = 100 << 20;
    CHECK_NEAR(noise_count(&source, 0), 1, 1e-6);
}

TEST(noise_of_contentions_knows_the_mutex_fraction)
{
    struct fixture f;
    struct noise_source source;
    uint32_t delay;

    fixture_init(&f, "contentions/count", 5);
    add_type(&f, "contentions/count", 50, 0);
    delay = add_type(&f, "delay/nanoseconds", 123456, 0);
    source = noise_source_find(&f.profile, delay);
    CHECK_EQ(source.kind, NOISE_SOURCE_SAMPLES);
    CHECK_NEAR(noise_count(&source, 0), 10, 0);
    f.profile.period = 1;
    source = noise_source_find(&f.profile, delay);
    CHECK_NEAR(noise_count(&source, 0), 50, 0);
    f.profile.period = 10000;
    source = noise_source_find(&f.profile, delay);
    CHECK_EQ(source.kind, NOISE_SOURCE_NONE);
    CHECK_NEAR(noise_count(&source, 0), 0, 0);
}

TEST(noise_is_unknown_without_any_source)
{
    struct fixture f;
    uint32_t type;

    fixture_init(&f, "cpu/nanoseconds", 10000000);
    type = add_type(&f, "widgets/count", 5, 7);
    CHECK_EQ(noise_source_find(&f.profile, type).kind, NOISE_SOURCE_NONE);
    f.profile.period = 0;
    type = add_type(&f, "cpu/nanoseconds", 5, 7);
    CHECK_EQ(noise_source_find(&f.profile, type).kind, NOISE_SOURCE_NONE);
}

TEST(noise_relative_error_is_that_of_poisson)
{
    CHECK_NEAR(noise_relative_error(100), 0.1, 1e-12);
    CHECK_NEAR(noise_relative_error(1), 1, 1e-12);
    CHECK_NEAR(noise_relative_error(0), 0, 0);
}

static enum noise_verdict compare(double a, double b)
{
    return noise_compare((struct noise_side){ a, a, 1 }, (struct noise_side){ b, b, 1 }, 0);
}

TEST(noise_compare_needs_three_standard_errors)
{
    CHECK_EQ(compare(100, 110), NOISE_WITHIN);
    CHECK_EQ(compare(100, 143), NOISE_WITHIN);
    CHECK_EQ(compare(100, 148), NOISE_SIGNIFICANT);
    CHECK_EQ(compare(148, 100), NOISE_SIGNIFICANT);
    CHECK_EQ(compare(10000, 10300), NOISE_WITHIN);
    CHECK_EQ(compare(10000, 10450), NOISE_SIGNIFICANT);
    CHECK_EQ(compare(0, 9), NOISE_WITHIN);
    CHECK_EQ(compare(0, 10), NOISE_SIGNIFICANT);
    CHECK_EQ(compare(5, 5), NOISE_WITHIN);
}

TEST(noise_compare_knows_how_long_each_side_looked)
{
    /* One minute against ten, per minute: 30 samples in ten minutes are 3 in one, where seeing none is no surprise. */
    struct noise_side none_in_one = { 0, 0, 1 };
    struct noise_side thirty_in_ten = { 3, 30, 0.1 };
    struct noise_side none_in_ten = { 0, 0, 0.1 };
    struct noise_side five_in_one = { 5, 5, 1 };

    CHECK_EQ(noise_compare(none_in_one, thirty_in_ten, 0), NOISE_WITHIN);
    CHECK_EQ(noise_compare(none_in_ten, five_in_one, 0), NOISE_SIGNIFICANT);
}

TEST(noise_of_a_few_samples_is_no_change)
{
    /* Nothing in nineteen parts, something in the twentieth: by chance one of twenty functions seen once is there. */
    struct noise_side none = { 0, 0, 1 };
    struct noise_side one = { 19, 1, 19 }, two = { 38, 2, 19 }, four = { 76, 4, 19 };

    CHECK_EQ(noise_compare(none, one, 0), NOISE_WITHIN);
    CHECK(noise_difference_error(none, one, 0) > 19 / 2.0);
    CHECK_EQ(noise_compare(none, two, 0), NOISE_WITHIN);
    CHECK_EQ(noise_compare(none, four, 0), NOISE_SIGNIFICANT);
    /* As many as there are where they are expected. */
    CHECK_EQ(noise_compare((struct noise_side){ 19, 19, 1 }, one, 0), NOISE_WITHIN);
    CHECK_EQ(noise_compare((struct noise_side){ 3, 3, 1 }, one, 0), NOISE_WITHIN);
}

TEST(noise_with_few_samples_is_finite)
{
    struct noise_side none = { 0, 0, 1 }, half = { 0.5, 0.5, 1 }, weightless = { 0, 3, 1 };

    CHECK(isfinite(noise_difference_error(none, half, 0)));
    CHECK(isfinite(noise_difference_error(half, none, 1)));
    CHECK(isfinite(noise_difference_error(half, weightless, 0)));
}

TEST(noise_of_shares_shrinks_as_they_near_the_whole)
{
    struct noise_side a = { 9800, 9800, 1 }, b = { 9900, 9900, 1 };

    CHECK_EQ(noise_compare(a, b, 0), NOISE_WITHIN);
    CHECK_EQ(noise_compare(a, b, 0.985), NOISE_SIGNIFICANT);
    CHECK_EQ(noise_compare(a, a, 1), NOISE_WITHIN);
}

TEST(noise_compare_says_when_it_cannot_know)
{
    CHECK_EQ(noise_compare((struct noise_side){ 5, -1, 1 }, (struct noise_side){ 9, 9, 1 }, 0), NOISE_UNKNOWN);
    CHECK_EQ(noise_compare((struct noise_side){ 5, 5, 1 }, (struct noise_side){ 9, -1, 1 }, 0), NOISE_UNKNOWN);
    CHECK_EQ(compare(0, 0), NOISE_UNKNOWN);
    CHECK_TEXT(noise_verdict_name(NOISE_WITHIN), "within noise");
}

/* A Poisson number with mean 50, as the number of hits of many rare chances. */
static uint32_t poisson_50(uint64_t *state)
{
    uint32_t n = 0;

    for (int i = 0; i < 50000; i++)
        n += hash_mix64(++*state) % 1000 == 0;
    return n;
}

TEST(noise_seldom_calls_chance_significant)
{
    uint64_t state = 12345;
    int false_alarms = 0;

    for (int round = 0; round < 200; round++)
        false_alarms += compare(poisson_50(&state), poisson_50(&state)) == NOISE_SIGNIFICANT;
    CHECK(false_alarms <= 4);
}
