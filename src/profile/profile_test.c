// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include "base/test.h"
#include "profile/builder.h"

/* A batch with one profile of types alloc/bytes and cpu/nanoseconds and one sample. */
static void build(struct batch *batch)
{
    struct builder *b;
    struct error err;
    int64_t values[] = { 3, 5 };

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    builder_type(
        b, (struct value_type){ .type = builder_string(b, SLICE("alloc")), .unit = builder_string(b, SLICE("bytes")) });
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("cpu")),
                                         .unit = builder_string(b, SLICE("nanoseconds")) });
    builder_sample(b, 0, 0, 0, values, 0);
    CHECK_OK(builder_finish(b, batch, &err), &err);
    builder_free(b);
}

TEST(profile_types_are_found_by_name_and_by_name_with_unit)
{
    struct batch batch;
    struct profile *profile;

    build(&batch);
    profile = &batch.profiles[0];
    CHECK_EQ(profile_find_type(profile, SLICE("alloc")), 0);
    CHECK_EQ(profile_find_type(profile, SLICE("cpu")), 1);
    CHECK_EQ(profile_find_type(profile, SLICE("cpu/nanoseconds")), 1);
    CHECK_EQ(profile_find_type(profile, SLICE("cpu/bytes")), PROFILE_NO_TYPE);
    CHECK_EQ(profile_find_type(profile, SLICE("cp")), PROFILE_NO_TYPE);
    CHECK_EQ(profile_find_type(profile, SLICE("")), PROFILE_NO_TYPE);
    batch_done(&batch);
}

TEST(profile_default_type_is_the_chosen_one_else_the_last)
{
    struct batch batch;
    struct profile *profile;

    build(&batch);
    profile = &batch.profiles[0];
    CHECK_EQ(profile_default_type(profile), 1);
    profile->default_type = 0;
    CHECK_EQ(profile_default_type(profile), 0);
    profile->n_types = 0;
    CHECK_EQ(profile_default_type(profile), PROFILE_NO_TYPE);
    batch_done(&batch);
}

TEST(value_sums_and_products_saturate_at_both_edges)
{
    uint64_t saturated = 0;

    CHECK_EQ(value_add(INT64_MAX, 1, &saturated), INT64_MAX);
    CHECK_EQ(value_add(INT64_MIN, -1, &saturated), INT64_MIN);
    CHECK_EQ(value_multiply(INT64_MAX, 2, &saturated), INT64_MAX);
    CHECK_EQ(value_multiply(INT64_MIN, 2, &saturated), INT64_MIN);
    CHECK_EQ(value_multiply(INT64_MIN, -2, &saturated), INT64_MAX);
    CHECK_EQ(saturated, 5);
    CHECK_EQ(value_subtract(INT64_MIN, INT64_MIN, &saturated), 0);
    CHECK_EQ(saturated, 5);
    CHECK_EQ(value_subtract(INT64_MIN, 1, &saturated), INT64_MIN);
    CHECK_EQ(value_subtract(0, INT64_MIN, &saturated), INT64_MAX);
    CHECK_EQ(saturated, 7);
    saturated = 5;
    CHECK_EQ(value_add(1, 2, &saturated), 3);
    CHECK_EQ(value_multiply(-3, 7, &saturated), -21);
    CHECK_EQ(saturated, 5);
}

TEST(profile_total_is_exact_unless_the_result_itself_does_not_fit)
{
    struct batch batch;
    int64_t values[] = { INT64_MAX, INT64_MAX, -INT64_MAX, -1 };

    build(&batch);
    batch.profiles[0].values = values;
    batch.profiles[0].n_samples = 4;
    batch.profiles[0].stride = 4;
    CHECK_EQ(profile_total(&batch.profiles[0], 0), INT64_MAX - 1);
    batch.profiles[0].n_samples = 2;
    CHECK_EQ(profile_total(&batch.profiles[0], 0), INT64_MAX);
    batch_done(&batch);
}

TEST(batch_check_finds_ids_outside_their_tables)
{
    struct batch batch;
    struct error err;

    build(&batch);
    CHECK_OK(batch_check(&batch, &err), &err);
    batch.profiles[0].stacks[0] = 9;
    CHECK_ERROR(batch_check(&batch, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "profile 0 sample 0: stack 9 of 1");
    batch.profiles[0].stacks[0] = 0;
    batch.profiles[0].doc_url = 99;
    CHECK_ERROR(batch_check(&batch, &err), &err, ERR_CORRUPT);
    batch_done(&batch);
}

TEST(batch_reset_empties_and_can_be_used_again)
{
    struct batch batch;
    struct error err;

    build(&batch);
    report_add(&batch.report, "x", 1, "y");
    batch_reset(&batch);
    CHECK_EQ(batch.n_profiles, 0);
    CHECK_EQ(report_total(&batch.report), 0);
    CHECK_OK(tables_init_empty(&batch.tables, &batch.arena, &err), &err);
    batch_done(&batch);
}
