// SPDX-License-Identifier: Apache-2.0
#include "profile/builder.h"

#include "base/test.h"

#include <stdio.h>

static uint32_t frame_named(struct builder *b, const char *name)
{
    struct function function = { .name = builder_string(b, slice_from(name)) };
    struct line line = { .function = builder_function(b, &function), .line = 7 };

    return builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);
}

/* A stack from names, leaf first. */
static uint32_t stack_of(struct builder *b, const char *leaf, const char *root)
{
    uint32_t frames[] = { frame_named(b, leaf), frame_named(b, root) };

    return builder_stack(b, frames, 2);
}

static void start_cpu_profile(struct builder *b)
{
    builder_profile(b);
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("cpu")),
                                         .unit = builder_string(b, SLICE("nanoseconds")) });
}

TEST(builder_starts_with_the_none_entries_and_finishes_empty)
{
    struct builder *b;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_EQ(batch.n_profiles, 1);
    CHECK_EQ(batch.profiles[0].n_samples, 0);
    CHECK_EQ(batch.tables.n_strings, 1);
    CHECK_EQ(batch.tables.n_stacks, 1);
    builder_free(b);
    batch_done(&batch);
}

TEST(builder_gives_equal_things_one_id)
{
    struct builder *b;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    CHECK_EQ(builder_string(b, SLICE("")), 0);
    CHECK_EQ(builder_string(b, SLICE("x")), builder_string(b, SLICE("x")));
    CHECK(builder_string(b, SLICE("x")) != builder_string(b, SLICE("y")));
    CHECK_EQ(stack_of(b, "leaf", "root"), stack_of(b, "leaf", "root"));
    CHECK(stack_of(b, "leaf", "root") != stack_of(b, "root", "leaf"));
    CHECK_EQ(builder_stack(b, NULL, 0), 0);
    CHECK_EQ(builder_label_set(b, NULL, 0), 0);
    CHECK_EQ(builder_link(b, &(struct link){ 0 }), 0);
    builder_free(b);
}

TEST(builder_adds_equal_samples_and_keeps_others_apart)
{
    struct builder *b;
    struct batch batch;
    struct error err;
    int64_t ten = 10;
    struct label label;
    uint32_t set, link, stack;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    start_cpu_profile(b);
    stack = stack_of(b, "leaf", "root");
    label = (struct label){ .key = builder_string(b, SLICE("k")), .text = builder_string(b, SLICE("v")) };
    set = builder_label_set(b, &label, 1);
    link = builder_link(b, &(struct link){ .span_id = { 1 } });
    for (int i = 0; i < 3; i++) {
        builder_sample(b, stack, 0, 0, &ten, 1);
        builder_sample(b, stack, set, 0, &ten, 2);
        builder_sample(b, stack, set, link, &ten, 3);
    }
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_EQ(batch.profiles[0].n_samples, 3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(profile_values(&batch.profiles[0], 0)[i], 30);
        CHECK_EQ(batch.profiles[0].counts[i], 3 * (i + 1));
    }
    CHECK_EQ(profile_total(&batch.profiles[0], 0), 90);
    builder_free(b);
    batch_done(&batch);
}

TEST(builder_gives_older_rows_zero_in_a_type_added_later)
{
    struct builder *b;
    struct batch batch;
    struct error err;
    int64_t values[] = { 1, 2 };

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    start_cpu_profile(b);
    builder_sample(b, stack_of(b, "a", "root"), 0, 0, values, 0);
    CHECK_EQ(builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("wall")) }), 1);
    builder_sample(b, stack_of(b, "b", "root"), 0, 0, values, 0);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_EQ(profile_values(&batch.profiles[0], 1)[0], 0);
    CHECK_EQ(profile_values(&batch.profiles[0], 1)[1], 2);
    CHECK(batch.profiles[0].counts == NULL);
    builder_free(b);
    batch_done(&batch);
}

TEST(builder_saturates_sums_and_says_so)
{
    struct builder *b;
    struct batch batch;
    struct error err;
    int64_t huge = INT64_MAX - 1;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    start_cpu_profile(b);
    builder_sample(b, stack_of(b, "a", "root"), 0, 0, &huge, 0);
    builder_sample(b, stack_of(b, "a", "root"), 0, 0, &huge, 0);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_EQ(profile_values(&batch.profiles[0], 0)[0], INT64_MAX);
    CHECK_EQ(report_total(&batch.report), 1);
    builder_free(b);
    batch_done(&batch);
}

TEST(builder_cuts_stacks_that_are_too_deep_at_the_root_end)
{
    struct builder_options options = { .limits = profile_default_limits };
    struct builder *b;
    struct error err;
    uint32_t frames[3];

    options.limits.max_depth = 2;
    CHECK_OK(builder_new(&options, &b, &err), &err);
    frames[0] = frame_named(b, "leaf");
    frames[1] = frame_named(b, "middle");
    frames[2] = frame_named(b, "root");
    CHECK_EQ(builder_stack(b, frames, 3), builder_stack(b, frames, 2));
    CHECK_EQ(report_total(builder_report(b)), 1);
    builder_free(b);
}

/* Samples with ever new stacks under a small memory limit. */
static void fill_past_the_limit(struct builder *b)
{
    int64_t one = 1;

    start_cpu_profile(b);
    for (int i = 0; i < 20000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "function_%d", i);
        builder_sample(b, stack_of(b, name, "root"), 0, 0, &one, 1);
    }
}

TEST(builder_counts_what_does_not_fit_as_overflow_and_keeps_totals_exact)
{
    struct builder_options options = { .limits = profile_default_limits, .overflow = true };
    struct builder *b;
    struct batch batch;
    struct error err;

    options.limits.max_memory_bytes = 1u << 20;
    batch_init(&batch, NULL);
    CHECK_OK(builder_new(&options, &b, &err), &err);
    fill_past_the_limit(b);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_EQ(profile_total(&batch.profiles[0], 0), 20000);
    CHECK(batch.profiles[0].n_samples < 20000);
    CHECK(batch.report.n == 1);
    builder_free(b);
    batch_done(&batch);
}

TEST(builder_without_overflow_fails_at_its_limit_with_a_reason)
{
    struct builder_options options = { .limits = profile_default_limits };
    struct builder *b;
    struct batch batch;
    struct error err;

    options.limits.max_memory_bytes = 1u << 20;
    batch_init(&batch, NULL);
    CHECK_OK(builder_new(&options, &b, &err), &err);
    fill_past_the_limit(b);
    CHECK_ERROR(builder_finish(b, &batch, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "1048576");
    builder_free(b);
    batch_done(&batch);
}

static int build_something(void *context, struct error *err)
{
    struct builder *b;
    struct batch batch;
    int64_t one = 1;
    int result;

    if (builder_new(NULL, &b, err) < 0)
        return -1;
    batch_init(&batch, NULL);
    start_cpu_profile(b);
    for (int i = 0; i < 200; i++) {
        struct label label;
        char name[32];
        uint32_t stack;

        snprintf(name, sizeof(name), "f%d", i);
        stack = stack_of(b, name, "root");
        label = (struct label){ .key = builder_string(b, SLICE("k")), .text = builder_string(b, slice_from(name)) };
        builder_sample(b, stack, builder_label_set(b, &label, 1), builder_link(b, &(struct link){ .span_id = { 1 } }),
                       &one, 1);
    }
    builder_profile(b);
    result = builder_finish(b, &batch, err);
    builder_free(b);
    batch_done(&batch);
    return result;
}

TEST(builder_survives_any_failing_allocation)
{
    test_each_allocation_failing(build_something, NULL);
}
