// SPDX-License-Identifier: Apache-2.0
#include "profile/prune.h"

#include "profile/random_profile_test.h"

TEST(prune_looks_at_names_without_their_arguments)
{
    CHECK_TEXT(prune_simple_name(SLICE("main.work")), "main.work");
    CHECK_TEXT(prune_simple_name(SLICE(".main")), "main");
    CHECK_TEXT(prune_simple_name(SLICE("std::sort(int*, int*)")), "std::sort");
    CHECK_TEXT(prune_simple_name(SLICE("(anonymous namespace)::f(int)")), "(anonymous namespace)::f");
    CHECK_TEXT(prune_simple_name(SLICE("A::operator()(int)")), "A::operator()");
    CHECK_TEXT(prune_simple_name(SLICE("A::operator()::{lambda()#1}")), "A::operator()::{lambda");
    CHECK_TEXT(prune_simple_name(SLICE("")), "");
    CHECK_TEXT(prune_simple_name(SLICE("(x)")), "");
}

/* Two profiles of the same samples; the second has no patterns. */
static void fill_batch(struct batch *batch, const char *const *stacks, uint32_t n, const char *drop, const char *keep)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    for (int round = 0; round < 2; round++) {
        struct profile *profile = builder_profile(b);

        if (round == 0) {
            profile->drop_frames = builder_string(b, slice_from(drop));
            profile->keep_frames = builder_string(b, slice_from(keep));
        }
        builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("widgets")) });
        for (uint32_t i = 0; i < n; i++) {
            int64_t value = 1 << i;

            builder_sample(b, letter_stack(b, stacks[i]), 0, 0, &value, 0);
        }
    }
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

static void check_pruned(const char *const *stacks, uint32_t n, const char *drop, const char *keep, const char *wanted)
{
    AUTO(buffer_done) struct buffer text;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    buffer_init(&text, 0);
    fill_batch(&in, stacks, n, drop, keep);
    CHECK(prune_is_needed(&in));
    CHECK_OK(prune_apply(&in, &out, &err), &err);
    CHECK_OK(batch_check(&out, &err), &err);
    letter_print(&out, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    CHECK_EQ(out.n_profiles, 2);
    CHECK_EQ(out.profiles[1].n_samples, n);
    CHECK_EQ(profile_total(&out.profiles[0], 0), profile_total(&out.profiles[1], 0));
    batch_done(&in);
    batch_done(&out);
}

TEST(prune_drops_what_matches_and_all_it_called)
{
    static const char *const stacks[] = { "abm", "abmn", "amn", "ab" };

    check_pruned(stacks, 4, "m", "", "ab=11 a=4");
    check_pruned(stacks, 4, "[mb]", "b", "ab=11 a=4");
    check_pruned(stacks, 4, "x", "", "abm=1 abmn=2 amn=4 ab=8");
    check_pruned(stacks, 4, "m", "m", "abm=1 abmn=2 amn=4 ab=8");
}

TEST(prune_leaves_what_stands_before_the_first_ordinary_function)
{
    static const char *const stacks[] = { "mab", "mm", "mamb" };

    check_pruned(stacks, 3, "m", "", "mab=1 mm=2 ma=4");
}

TEST(prune_cuts_through_inlined_functions)
{
    static const char *const stacks[] = { "a(bmc)d", "(bmc)d" };

    /* The inlined lines go wherever the frame stands, even where nothing else is dropped. */
    check_pruned(stacks, 2, "m", "", "ab=1 bd=2");
}

TEST(prune_tells_of_patterns_it_cannot_read)
{
    static const char *const stacks[] = { "ab" };
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    fill_batch(&in, stacks, 1, "b(", "");
    CHECK_OK(prune_apply(&in, &out, &err), &err);
    CHECK_EQ(report_count(&out.report, "drop_frames or keep_frames cannot be read; no frames dropped"), 1);
    CHECK_EQ(profile_total(&out.profiles[0], 0), 1);
    CHECK_TEXT(tables_string(&out.tables, out.profiles[0].drop_frames), "b(");
    batch_done(&in);
    batch_done(&out);
}

static int prune(void *context, struct error *err)
{
    struct batch out;
    int result;

    batch_init(&out, NULL);
    result = prune_apply(context, &out, err);
    batch_done(&out);
    return result;
}

TEST(prune_survives_any_failing_allocation)
{
    static const char *const stacks[] = { "a(bmc)d", "abm" };
    struct batch in;

    batch_init(&in, NULL);
    fill_batch(&in, stacks, 2, "m", "c");
    test_each_allocation_failing(prune, &in);
    batch_done(&in);
}
