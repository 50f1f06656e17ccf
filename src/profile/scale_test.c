// SPDX-License-Identifier: Apache-2.0
#include "profile/scale.h"

#include "profile/random_profile_test.h"

/* One row each of samples/count and cpu/nanoseconds. */
static void fill_batch(struct batch *batch, int64_t cpu)
{
    AUTO(builder_freep) struct builder *b = NULL;
    int64_t values[] = { 3, cpu };
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("samples")),
                                         .unit = builder_string(b, SLICE("count")) });
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("cpu")),
                                         .unit = builder_string(b, SLICE("nanoseconds")) });
    builder_sample(b, letter_stack(b, "ab"), 0, 0, values, 2);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

static const char rounding[] = "values did not divide evenly into the new unit; rounded";
static const char edge[] = "a value went past 64 bits and stays at the edge";

static void check(int64_t cpu, const char *type, const char *unit, int64_t wanted, uint64_t rounded, uint64_t saturated)
{
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    fill_batch(&in, cpu);
    CHECK_OK(scale_unit(&in, slice_from(type), slice_from(unit), &out, &err), &err);
    CHECK_OK(batch_check(&out, &err), &err);
    CHECK_EQ(profile_values(&out.profiles[0], 1)[0], wanted);
    CHECK_TEXT(tables_string(&out.tables, out.profiles[0].types[1].unit), unit);
    CHECK_EQ(profile_values(&out.profiles[0], 0)[0], 3);
    CHECK_TEXT(tables_string(&out.tables, out.profiles[0].types[0].unit), "count");
    CHECK_EQ(out.profiles[0].counts[0], 2);
    CHECK_EQ(report_count(&out.report, rounding), rounded);
    CHECK_EQ(report_count(&out.report, edge), saturated);
    batch_done(&in);
    batch_done(&out);
}

TEST(scale_is_exact_where_it_can_be)
{
    check(5000000, "cpu", "ms", 5, 0, 0);
    check(5000000, "cpu/nanoseconds", "microseconds", 5000, 0, 0);
    check(5000000, "", "ns", 5000000, 0, 0);
    check(-7200000000000, "cpu", "hours", -2, 0, 0);
}

TEST(scale_rounds_and_says_so)
{
    check(1499999, "cpu", "ms", 1, 1, 0);
    check(1500000, "cpu", "ms", 2, 1, 0);
    check(-1500000, "cpu", "ms", -2, 1, 0);
    check(INT64_MIN, "cpu", "us", -9223372036854776, 1, 0);
}

TEST(scale_stays_at_the_edge_and_says_so)
{
    struct batch in, seconds, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&seconds, NULL);
    batch_init(&out, NULL);
    fill_batch(&in, INT64_MAX);
    in.profiles[0].types[1].unit = in.profiles[0].types[0].unit; /* pretend it is a count ... */
    CHECK_ERROR(scale_unit(&in, SLICE("cpu"), SLICE("s"), &seconds, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "values of 'cpu' are in 'count', which cannot be converted to 's'");
    batch_done(&in);
    batch_init(&in, NULL);
    fill_batch(&in, 9000000000);
    CHECK_OK(scale_unit(&in, SLICE("cpu"), SLICE("s"), &seconds, &err), &err);
    seconds.profiles[0].values[1] = INT64_MAX / 2; /* ... or has grown */
    CHECK_OK(scale_unit(&seconds, SLICE("cpu"), SLICE("ns"), &out, &err), &err);
    CHECK_EQ(profile_values(&out.profiles[0], 1)[0], INT64_MAX);
    CHECK_EQ(report_count(&out.report, edge), 1);
    batch_done(&in);
    batch_done(&seconds);
    batch_done(&out);
}

TEST(scale_needs_a_type_it_can_convert)
{
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    fill_batch(&in, 1);
    CHECK_ERROR(scale_unit(&in, SLICE("wall"), SLICE("ms"), &out, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no value type called 'wall' can be converted to 'ms'");
    CHECK_ERROR(scale_unit(&in, SLICE(""), SLICE("bytes"), &out, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no value type can be converted to 'bytes'");
    batch_done(&in);
    batch_done(&out);
}

static int scale(void *context, struct error *err)
{
    struct batch out;
    int result;

    batch_init(&out, NULL);
    result = scale_unit(context, SLICE(""), SLICE("ms"), &out, err);
    batch_done(&out);
    return result;
}

TEST(scale_survives_any_failing_allocation)
{
    struct batch in;

    batch_init(&in, NULL);
    random_batch(&in, &(struct random_options){
                          .n_functions = 9, .n_frames = 20, .n_stacks = 20, .max_depth = 9, .n_samples = 30 });
    test_each_allocation_failing(scale, &in);
    batch_done(&in);
}
