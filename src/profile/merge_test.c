// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include "base/test.h"

#include <stdio.h>

/* A batch of one profile with one type; sample i has the stack (root, `prefix`i), i from `first` to `last`, value 1. */
struct recipe {
    const char *type, *unit;
    int first, last;
    int64_t start_ns, duration_ns, value;
    enum value_nature nature;
    const char *label; /* of each sample, or NULL */
    const char *service;
};

static void build(const struct recipe *recipe, struct batch *batch)
{
    struct builder *b;
    struct profile *profile;
    struct error err;
    struct label label = { 0 }, service = { 0 };
    uint32_t labels = 0;

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    profile = builder_profile(b);
    profile->start_ns = recipe->start_ns;
    profile->duration_ns = recipe->duration_ns;
    if (recipe->service) {
        service.key = builder_string(b, SLICE("service.name"));
        service.text = builder_string(b, slice_from(recipe->service));
        profile->resource = builder_label_set(b, &service, 1);
    }
    if (recipe->label) {
        label.key = builder_string(b, SLICE("key"));
        label.text = builder_string(b, slice_from(recipe->label));
        labels = builder_label_set(b, &label, 1);
    }
    builder_type(b, (struct value_type){ .type = builder_string(b, slice_from(recipe->type)),
                                         .unit = builder_string(b, slice_from(recipe->unit)),
                                         .nature = recipe->nature });
    for (int i = recipe->first; i < recipe->last; i++) {
        struct function function;
        struct line line = { .line = 1 };
        uint32_t frames[2];
        char name[32];

        snprintf(name, sizeof(name), "f%d", i);
        function = (struct function){ .name = builder_string(b, slice_from(name)) };
        line.function = builder_function(b, &function);
        frames[0] = builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);
        function.name = builder_string(b, SLICE("root"));
        line.function = builder_function(b, &function);
        frames[1] = builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);
        builder_sample(b, builder_stack(b, frames, 2), labels, 0, &recipe->value, 1);
    }
    CHECK_OK(builder_finish(b, batch, &err), &err);
    builder_free(b);
}

static void merge_recipes(const struct merge_options *options, const struct recipe *recipes, size_t n,
                          struct batch *result)
{
    struct merge *merge;
    struct error err;

    batch_init(result, NULL);
    CHECK_OK(merge_new(options, &merge, &err), &err);
    for (size_t i = 0; i < n; i++) {
        struct batch batch;

        build(&recipes[i], &batch);
        CHECK_OK(merge_add(merge, &batch, &err), &err);
        batch_done(&batch);
    }
    CHECK_OK(merge_finish(merge, result, &err), &err);
    CHECK_OK(batch_check(result, &err), &err);
    merge_free(merge);
}

TEST(merge_adds_equal_stacks_and_unites_the_rest)
{
    struct recipe recipes[] = {
        { "cpu", "nanoseconds", .last = 10, .value = 1, .start_ns = 200, .duration_ns = 10 },
        { "cpu", "nanoseconds", .first = 5, .last = 20, .value = 2, .start_ns = 100, .duration_ns = 10 },
    };
    struct batch result;

    merge_recipes(NULL, recipes, 2, &result);
    CHECK_EQ(result.profiles[0].n_samples, 20);
    CHECK_EQ(profile_total(&result.profiles[0], 0), 10 + 30);
    CHECK_EQ(profile_values(&result.profiles[0], 0)[7], 3);
    CHECK_EQ(result.profiles[0].counts[7], 2);
    CHECK_EQ(result.profiles[0].start_ns, 100);
    CHECK_EQ(result.profiles[0].duration_ns, 20);
    batch_done(&result);
}

TEST(merge_of_nothing_is_an_empty_profile)
{
    struct batch result;

    merge_recipes(NULL, NULL, 0, &result);
    CHECK_EQ(result.n_profiles, 1);
    CHECK_EQ(result.profiles[0].n_samples, 0);
    batch_done(&result);
}

TEST(merge_brings_units_of_one_family_to_the_finer_one)
{
    struct recipe recipes[] = {
        { "cpu", "milliseconds", .last = 2, .value = 3 },
        { "cpu", "ns", .last = 2, .value = 5 },
        { "cpu", "microseconds", .last = 2, .value = 7 },
    };
    struct batch result;

    merge_recipes(NULL, recipes, 3, &result);
    CHECK_EQ(result.profiles[0].n_types, 1);
    CHECK_TEXT(tables_string(&result.tables, result.profiles[0].types[0].unit), "ns");
    CHECK_EQ(profile_values(&result.profiles[0], 0)[0], 3000000 + 5 + 7000);
    batch_done(&result);
}

TEST(merge_keeps_types_that_do_not_fit_together_as_columns)
{
    struct recipe recipes[] = { { "cpu", "nanoseconds", .last = 3, .value = 1 },
                                { "alloc", "bytes", .first = 1, .last = 4, .value = 9 },
                                { "cpu", "widgets", .last = 1, .value = 4 } };
    struct batch result;

    merge_recipes(NULL, recipes, 3, &result);
    CHECK_EQ(result.profiles[0].n_types, 3);
    CHECK_EQ(result.profiles[0].n_samples, 4);
    CHECK_EQ(profile_total(&result.profiles[0], 0), 3);
    CHECK_EQ(profile_total(&result.profiles[0], 1), 27);
    CHECK_EQ(profile_total(&result.profiles[0], 2), 4);
    batch_done(&result);
}

TEST(merge_makes_columns_of_profiles_that_tell_one_window_by_several_types)
{
    struct batch batch, result;
    struct builder *b;
    struct merge *merge;
    struct error err;
    int64_t value = 1;

    batch_init(&batch, NULL);
    batch_init(&result, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    for (int i = 0; i < 2; i++) {
        struct profile *profile = builder_profile(b);

        profile->start_ns = 5;
        profile->duration_ns = 10;
        builder_type(b, (struct value_type){ .type = builder_string(b, i ? SLICE("cpu") : SLICE("samples")) });
        builder_sample(b, 0, 0, 0, &value, 4);
    }
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(merge_new(NULL, &merge, &err), &err);
    CHECK_OK(merge_add(merge, &batch, &err), &err);
    CHECK_OK(merge_finish(merge, &result, &err), &err);
    CHECK_EQ(result.profiles[0].n_types, 2);
    CHECK_EQ(result.profiles[0].n_samples, 1);
    CHECK_EQ(result.profiles[0].duration_ns, 10);
    CHECK_EQ(result.profiles[0].counts[0], 4);
    CHECK_EQ(profile_default_type(&result.profiles[0]), 0);
    merge_free(merge);
    builder_free(b);
    batch_done(&batch);
    batch_done(&result);
}

TEST(merge_averages_levels_only_when_asked)
{
    struct recipe recipes[] = { { "inuse_space", "bytes", .last = 1, .value = 100, .nature = VALUE_LEVEL },
                                { "inuse_space", "bytes", .last = 1, .value = 301, .nature = VALUE_LEVEL } };
    struct merge_options options = { .average_levels = true };
    struct batch result;

    merge_recipes(NULL, recipes, 2, &result);
    CHECK_EQ(profile_total(&result.profiles[0], 0), 401);
    batch_done(&result);
    merge_recipes(&options, recipes, 2, &result);
    CHECK_EQ(profile_total(&result.profiles[0], 0), 201);
    batch_done(&result);
}

TEST(merge_averages_levels_that_are_at_the_edge_without_wrapping)
{
    struct recipe recipes[] = { { "inuse_space", "bytes", .last = 1, .value = INT64_MAX, .nature = VALUE_LEVEL },
                                { "inuse_space", "bytes", .last = 1, .value = -1, .nature = VALUE_LEVEL },
                                { "inuse_space", "bytes", .last = 1, .value = 0, .nature = VALUE_LEVEL } };
    struct merge_options options = { .average_levels = true };
    struct batch result;

    merge_recipes(&options, recipes, 3, &result);
    CHECK_EQ(profile_total(&result.profiles[0], 0), (INT64_MAX - 1) / 3);
    batch_done(&result);
}

TEST(merge_keeps_labels_apart_unless_told_to_drop_them)
{
    struct recipe recipes[] = { { "cpu", "ns", .last = 5, .value = 1, .label = "a" },
                                { "cpu", "ns", .last = 5, .value = 1, .label = "b" } };
    struct merge_options options = { .drop_labels = true };
    struct batch result;

    merge_recipes(NULL, recipes, 2, &result);
    CHECK_EQ(result.profiles[0].n_samples, 10);
    batch_done(&result);
    merge_recipes(&options, recipes, 2, &result);
    CHECK_EQ(result.profiles[0].n_samples, 5);
    CHECK(result.profiles[0].label_sets == NULL);
    batch_done(&result);
}

TEST(merge_keeps_only_the_labels_that_all_profiles_have)
{
    struct recipe same[] = { { "cpu", "ns", .last = 1, .value = 1, .service = "shop" },
                             { "cpu", "ns", .last = 1, .value = 1, .service = "shop" } };
    struct recipe other[] = { same[0], { "cpu", "ns", .last = 1, .value = 1, .service = "bank" } };
    struct batch result;

    merge_recipes(NULL, same, 2, &result);
    CHECK(tables_find_label(&result.tables, result.profiles[0].resource, SLICE("service.name")) != NULL);
    batch_done(&result);
    merge_recipes(NULL, other, 2, &result);
    CHECK_EQ(result.profiles[0].resource, 0);
    batch_done(&result);
}

TEST(merge_holds_its_memory_limit_and_keeps_totals_exact)
{
    struct recipe recipes[] = { { "cpu", "ns", .last = 20000, .value = 1 },
                                { "cpu", "ns", .first = 10000, .last = 40000, .value = 1 } };
    struct merge_options options = { .limits = profile_default_limits };
    struct batch result;

    options.limits.max_memory_bytes = 2u << 20;
    merge_recipes(&options, recipes, 2, &result);
    CHECK_EQ(profile_total(&result.profiles[0], 0), 50000);
    CHECK(result.profiles[0].n_samples < 40000);
    CHECK(report_total(&result.report) > 0);
    batch_done(&result);
}

TEST(merge_saturates_and_reports)
{
    struct recipe recipes[] = { { "cpu", "ns", .last = 1, .value = INT64_MAX },
                                { "cpu", "ns", .last = 1, .value = 1 } };
    struct batch result;

    merge_recipes(NULL, recipes, 2, &result);
    CHECK_EQ(profile_total(&result.profiles[0], 0), INT64_MAX);
    CHECK_EQ(report_total(&result.report), 1);
    batch_done(&result);
}

static int merge_two(void *context, struct error *err)
{
    struct batch *inputs = context;
    struct batch result;
    struct merge *merge;
    int status;

    if (merge_new(NULL, &merge, err) < 0)
        return -1;
    batch_init(&result, NULL);
    status = merge_add(merge, &inputs[0], err);
    if (status == 0)
        status = merge_add(merge, &inputs[1], err);
    if (status == 0)
        status = merge_finish(merge, &result, err);
    merge_free(merge);
    batch_done(&result);
    return status;
}

TEST(merge_survives_any_failing_allocation)
{
    struct batch inputs[2];

    build(&(struct recipe){ "cpu", "ns", .last = 100, .value = 1, .label = "a", .service = "shop" }, &inputs[0]);
    build(&(struct recipe){ "cpu", "ms", .first = 50, .last = 150, .value = 1, .service = "bank" }, &inputs[1]);
    test_each_allocation_failing(merge_two, inputs);
    batch_done(&inputs[0]);
    batch_done(&inputs[1]);
}
