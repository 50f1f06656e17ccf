// SPDX-License-Identifier: Apache-2.0
#include "flame/diff.h"

#include "flame/top.h"
#include "flame/trim.h"
#include "profile/random_profile_test.h"

#include <math.h>
#include <stdlib.h>

static uint32_t function_called(const struct graph *graph, struct slice name)
{
    for (uint32_t f = 0; f < graph->n_functions; f++)
        if (slice_equal(graph_name(graph, f), name))
            return f;
    return UINT32_MAX;
}

/* One side of the diff equals the table of that profile alone. */
static void check_side(const struct diff *diff, bool is_after, const struct profile *profile)
{
    const uint32_t cpu = 1;
    struct top *top;
    struct error err;

    CHECK_OK(top_new(profile, &cpu, 1, SYMBOL_FUNCTION, TOP_BY_SELF, &top, &err), &err);
    for (uint32_t i = 0; i < diff->n_functions; i++) {
        uint32_t f = diff->functions[i], alone = function_called(top->graph, graph_name(diff->graph, f));
        struct diff_value self = diff_function_self(diff, f), total = diff_function_total(diff, f);

        CHECK_EQ(is_after ? self.after : self.before, alone == UINT32_MAX ? 0 : graph_self(top->graph, 0, alone));
        CHECK_EQ(is_after ? total.after : total.before, alone == UINT32_MAX ? 0 : graph_total(top->graph, 0, alone));
        CHECK_EQ(self.delta, self.after - self.before);
        CHECK_EQ(total.delta, total.after - total.before);
    }
    for (uint32_t i = 0; i < top->n; i++)
        CHECK(function_called(diff->graph, graph_name(top->graph, top->functions[i])) != UINT32_MAX);
    top_free(top);
}

static void check_finite(struct diff_value value)
{
    CHECK(isfinite(value.percent) && isfinite(value.share_before) && isfinite(value.share_after) &&
          isfinite(value.error));
}

static void check_order(const struct diff *diff, enum diff_order order)
{
    for (uint32_t i = 0; i < diff->n_functions; i++) {
        struct diff_value now = order == DIFF_BY_SELF ? diff_function_self(diff, diff->functions[i])
                                                      : diff_function_total(diff, diff->functions[i]);
        struct diff_value before = now;

        if (i > 0)
            before = order == DIFF_BY_SELF ? diff_function_self(diff, diff->functions[i - 1])
                                           : diff_function_total(diff, diff->functions[i - 1]);
        CHECK(llabs(before.delta) >= llabs(now.delta));
        check_finite(now);
    }
}

TEST(diff_sides_equal_the_profiles_alone)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct random_options before_shape = random_shape(seed), after_shape = random_shape(seed + 1000);
        struct batch before, after;
        struct error err;

        batch_init(&before, NULL);
        batch_init(&after, NULL);
        random_batch(&before, &before_shape);
        random_batch(&after, &after_shape);
        for (enum diff_scaling scaling = DIFF_ABSOLUTE; scaling <= DIFF_EQUAL_DURATIONS; scaling++) {
            struct diff_options options = { .scaling = scaling, .order = seed % 2 ? DIFF_BY_SELF : DIFF_BY_TOTAL };
            struct diff *diff;

            CHECK_OK(diff_new(&before.profiles[0], 1, &after.profiles[0], 1, &options, &diff, &err), &err);
            if (scaling != DIFF_EQUAL_TOTALS) { /* the durations are equal */
                check_side(diff, false, &before.profiles[0]);
                check_side(diff, true, &after.profiles[0]);
            }
            check_order(diff, options.order);
            CHECK_EQ(diff_node_total(diff, diff->flame, 0).before, profile_total(&before.profiles[0], 1));
            for (uint32_t node = 0; node < diff->flame->n_nodes; node++)
                check_finite(diff_node_self(diff, diff->flame, node));
            diff_free(diff);
        }
        batch_done(&before);
        batch_done(&after);
    }
}

/* A profile of samples/count and cpu/nanoseconds; values[i] is the number of samples of stacks[i], 10 ms each. */
static void cpu_batch(struct batch *batch, const char *unit, int64_t per_sample, int64_t duration_ns,
                      const char *const *stacks, const int64_t *samples, uint32_t n)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct profile *profile;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    profile = builder_profile(b);
    profile->duration_ns = duration_ns;
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("samples")),
                                         .unit = builder_string(b, SLICE("count")) });
    builder_type(
        b, (struct value_type){ .type = builder_string(b, SLICE("cpu")), .unit = builder_string(b, slice_from(unit)) });
    for (uint32_t i = 0; i < n; i++)
        builder_sample(b, letter_stack(b, stacks[i]), 0, 0, (int64_t[]){ samples[i], samples[i] * per_sample }, 0);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

struct example {
    struct batch before, after;
    struct diff *diff;
};

static const char *const stacks[] = { "ab", "ac", "ad", "ae" };
static const int64_t samples_before[] = { 1000, 500, 100, 0 };
static const int64_t samples_after[] = { 2000, 1000, 500, 20 };

static void example_init_with(struct example *e, const struct diff_options *options)
{
    struct error err;

    batch_init(&e->before, NULL);
    batch_init(&e->after, NULL);
    cpu_batch(&e->before, "nanoseconds", 10000000, 20000000000, stacks, samples_before, 4);
    cpu_batch(&e->after, "ms", 10, 40000000000, stacks, samples_after, 4);
    CHECK_OK(diff_new(&e->before.profiles[0], 1, &e->after.profiles[0], 1, options, &e->diff, &err), &err);
    CHECK_TEXT(e->diff->unit, "nanoseconds");
    CHECK_NEAR(e->diff->before.samples, 1600, 1e-9);
    CHECK_NEAR(e->diff->after.samples, 3520, 1e-9);
}

static void example_init(struct example *e, enum diff_scaling scaling)
{
    example_init_with(e, &(struct diff_options){ .scaling = scaling });
}

static void example_done(struct example *e)
{
    diff_free(e->diff);
    batch_done(&e->before);
    batch_done(&e->after);
}

static struct diff_value self_of(const struct diff *diff, const char *name)
{
    uint32_t function = function_called(diff->graph, slice_from(name));

    CHECK(function != UINT32_MAX);
    return diff_function_self(diff, function);
}

TEST(diff_compares_values_as_they_are)
{
    struct example e;
    struct diff_value b, node;

    example_init(&e, DIFF_ABSOLUTE);
    b = self_of(e.diff, "b");
    CHECK_EQ(b.before, 10000000000);
    CHECK_EQ(b.after, 20000000000);
    CHECK_EQ(b.delta, 10000000000);
    CHECK_NEAR(b.percent, 100, 1e-9);
    CHECK_NEAR(b.share_before, 0.625, 1e-9);
    CHECK_EQ(b.mark, DIFF_BOTH);
    CHECK_EQ(b.verdict, NOISE_SIGNIFICANT);
    CHECK_NEAR(b.error, 1e7 * sqrt(3000), 1);
    CHECK_EQ(self_of(e.diff, "e").mark, DIFF_NEW);
    CHECK(!self_of(e.diff, "e").has_percent);
    CHECK_EQ(self_of(e.diff, "a").mark, DIFF_NEITHER);
    CHECK_EQ(self_of(e.diff, "a").verdict, NOISE_UNKNOWN);
    node = diff_node_total(e.diff, e.diff->flame, 1);
    CHECK_TEXT(flame_name(e.diff->flame, 1), "a");
    CHECK_EQ(node.before, 16000000000);
    CHECK_EQ(node.after, 35200000000);
    CHECK_TEXT(graph_name(e.diff->graph, e.diff->functions[0]), "b");
    example_done(&e);
}

TEST(diff_scaled_to_equal_durations_compares_rates)
{
    struct example e;

    example_init(&e, DIFF_EQUAL_DURATIONS);
    CHECK_EQ(self_of(e.diff, "b").after, 10000000000);
    CHECK_EQ(self_of(e.diff, "b").delta, 0);
    CHECK_EQ(self_of(e.diff, "b").verdict, NOISE_WITHIN);
    CHECK_EQ(self_of(e.diff, "d").delta, 1500000000);
    CHECK_EQ(self_of(e.diff, "d").verdict, NOISE_SIGNIFICANT);
    CHECK_EQ(self_of(e.diff, "e").delta, 100000000);
    CHECK_EQ(self_of(e.diff, "e").mark, DIFF_NEW);
    CHECK_TEXT(graph_name(e.diff->graph, e.diff->functions[0]), "d");
    example_done(&e);
}

TEST(diff_scaled_to_equal_counts_compares_what_one_costs)
{
    struct diff_options options = { .scaling = DIFF_EQUAL_COUNTS, .counts = { 30, 10 } };
    struct example e;

    example_init_with(&e, &options);
    CHECK_NEAR(e.diff->factor, 3e6, 1e-3); /* after is in milliseconds */
    CHECK_EQ(e.diff->before.count, 30);
    CHECK_EQ(e.diff->after.count, 10);
    CHECK_EQ(self_of(e.diff, "b").after, 60000000000);
    CHECK_TEXT(diff_scaling_name(DIFF_EQUAL_COUNTS), "equal counts");
    example_done(&e);
    options.counts[1] = 0;
    example_init_with(&e, &options);
    CHECK_NEAR(e.diff->factor, 1e6, 1e-3);
    example_done(&e);
}

TEST(diff_scaled_to_equal_totals_compares_shares)
{
    struct example e;
    struct diff_value whole, d;

    example_init(&e, DIFF_EQUAL_TOTALS);
    whole = diff_node_total(e.diff, e.diff->flame, 0);
    CHECK_EQ(whole.before, whole.after);
    CHECK_EQ(whole.verdict, NOISE_WITHIN);
    d = self_of(e.diff, "d");
    CHECK_EQ(d.after, llround(500 * 1e7 * 1600 / 3520));
    CHECK_NEAR(d.share_after, 500.0 / 3520, 1e-9);
    CHECK_EQ(d.verdict, NOISE_SIGNIFICANT);
    CHECK_EQ(self_of(e.diff, "c").verdict, NOISE_WITHIN);
    example_done(&e);
}

TEST(diff_of_a_profile_with_itself_is_nothing)
{
    struct batch batch;
    AUTO(diff_freep) struct diff *diff = NULL;
    struct error err;

    batch_init(&batch, NULL);
    random_batch(&batch,
                 &(struct random_options){
                     .seed = 5, .n_functions = 9, .n_frames = 30, .n_stacks = 50, .max_depth = 9, .n_samples = 90 });
    CHECK_OK(diff_new(&batch.profiles[0], 1, &batch.profiles[0], 1, NULL, &diff, &err), &err);
    CHECK(diff->n_functions > 0);
    for (uint32_t i = 0; i < diff->n_functions; i++) {
        struct diff_value total = diff_function_total(diff, diff->functions[i]);

        CHECK_EQ(total.delta, 0);
        CHECK_EQ(total.mark, DIFF_BOTH);
        CHECK_EQ(total.verdict, NOISE_WITHIN);
    }
    batch_done(&batch);
}

TEST(diff_with_an_empty_side_has_no_infinities)
{
    for (enum diff_scaling scaling = DIFF_ABSOLUTE; scaling <= DIFF_EQUAL_TOTALS; scaling++) {
        struct diff_options options = { .scaling = scaling };
        struct batch before, after;
        struct diff *diff;
        struct error err;

        batch_init(&before, NULL);
        batch_init(&after, NULL);
        cpu_batch(&before, "nanoseconds", 10, 0, NULL, NULL, 0);
        cpu_batch(&after, "nanoseconds", 10, 0, stacks, samples_after, 4);
        CHECK_OK(diff_new(&before.profiles[0], 1, &after.profiles[0], 1, &options, &diff, &err), &err);
        CHECK_EQ(diff->n_functions, 5);
        for (uint32_t i = 0; i < diff->n_functions; i++) {
            struct diff_value value = diff_function_total(diff, diff->functions[i]);

            check_finite(value);
            CHECK_EQ(value.mark, DIFF_NEW);
            CHECK_EQ(value.verdict, NOISE_SIGNIFICANT);
        }
        diff_free(diff);
        batch_done(&before);
        batch_done(&after);
    }
}

TEST(diff_can_be_trimmed)
{
    struct example e;
    AUTO(flame_freep) struct flame *trimmed = NULL;
    struct diff_value other;
    struct error err;
    uint32_t a;

    example_init(&e, DIFF_ABSOLUTE);
    CHECK_OK(
        trim_flame(e.diff->flame, &(struct trim_options){ .max_nodes = 4, .column = TRIM_ALL_COLUMNS }, &trimmed, &err),
        &err);
    a = flame_find_child(trimmed, 0, SLICE("a"));
    other = diff_node_total(e.diff, trimmed, flame_find_child(trimmed, a, SLICE("other")));
    CHECK_EQ(other.before, 1000000000);
    CHECK_EQ(other.after, 5200000000);
    flame_free(TAKE(trimmed));
    example_done(&e);
}

TEST(diff_refuses_what_does_not_compare)
{
    struct batch before, after;
    struct diff *diff = NULL;
    struct error err;

    batch_init(&before, NULL);
    batch_init(&after, NULL);
    cpu_batch(&before, "bytes", 10, 0, stacks, samples_before, 4);
    cpu_batch(&after, "ms", 10, 0, stacks, samples_after, 4);
    CHECK_ERROR(diff_new(&before.profiles[0], 1, &after.profiles[0], 1, NULL, &diff, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "before are in 'bytes' and after in 'ms'");
    CHECK_ERROR(diff_new(&after.profiles[0], 1, &after.profiles[0], 1,
                         &(struct diff_options){ .scaling = DIFF_EQUAL_DURATIONS }, &diff, &err),
                &err, ERR_INVALID);
    CHECK_HAS(err.text, "the profile before does not say how long it took");
    CHECK(diff == NULL);
    CHECK_TEXT(diff_scaling_name(DIFF_EQUAL_TOTALS), "equal totals");
    CHECK_TEXT(diff_mark_name(DIFF_GONE), "gone");
    batch_done(&before);
    batch_done(&after);
}

TEST(diff_with_nothing_on_one_side_needs_no_duration)
{
    struct batch before, after;
    struct diff *diff = NULL;
    struct error err;

    batch_init(&before, NULL);
    batch_init(&after, NULL);
    cpu_batch(&before, "ms", 10, 0, stacks, samples_before, 0);
    cpu_batch(&after, "ms", 10, 0, stacks, samples_after, 4);
    CHECK_OK(diff_new(&before.profiles[0], 1, &after.profiles[0], 1,
                      &(struct diff_options){ .scaling = DIFF_EQUAL_DURATIONS }, &diff, &err),
             &err);
    CHECK(diff->factor == 1);
    CHECK_EQ(diff->before.total, 0);
    CHECK(diff->after.total > 0);
    diff_free(diff);
    batch_done(&before);
    batch_done(&after);
}

static int compare(void *context, struct error *err)
{
    struct example *e = context;
    struct diff *diff;

    if (diff_new(&e->before.profiles[0], 1, &e->after.profiles[0], 1, NULL, &diff, err) < 0)
        return -1;
    diff_free(diff);
    return 0;
}

TEST(diff_survives_any_failing_allocation)
{
    struct example e;

    example_init(&e, DIFF_ABSOLUTE);
    test_each_allocation_failing(compare, &e);
    example_done(&e);
}
