// SPDX-License-Identifier: Apache-2.0
#include "profile/transform.h"

#include "profile/random_profile_test.h"

static const char *const stacks[] = { "abc", "aabbc", "a(bbc)c", "xLLy", "", "aba", "LM" };
static const int64_t values[] = { 1, 2, 4, 8, 16, 32, 64 };

enum what { RENAME, DROP, INVERT, COLLAPSE, LEAVES, MERGED_LEAVES };

static int run(enum what what, const struct batch *in, const struct pattern *pattern, struct slice replacement,
               struct batch *out, struct error *err)
{
    switch (what) {
    case RENAME: return transform_rename(in, pattern, replacement, out, err);
    case DROP: return transform_drop(in, pattern, out, err);
    case INVERT: return transform_invert(in, out, err);
    case COLLAPSE: return transform_collapse_recursion(in, out, err);
    case LEAVES: return transform_keep_leaves(in, 2, false, out, err);
    case MERGED_LEAVES: return transform_keep_leaves(in, 1, true, out, err);
    }
    return -1;
}

static void check(enum what what, const char *pattern_text, const char *replacement, const char *wanted)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(buffer_done) struct buffer text;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    buffer_init(&text, 0);
    letter_batch(&in, stacks, values, ARRAY_LEN(values));
    CHECK_OK(pattern_new(slice_from(pattern_text), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(run(what, &in, pattern, slice_from(replacement), &out, &err), &err);
    CHECK_OK(batch_check(&out, &err), &err);
    CHECK_EQ(profile_total(&out.profiles[0], 0), profile_total(&in.profiles[0], 0));
    letter_print(&out, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    batch_done(&in);
    batch_done(&out);
}

TEST(transform_renames_functions)
{
    check(RENAME, "b", "a", "aac=1 aaaac=2 a(aac)c=4 xLLy=8 =16 aaa=32 LM=64");
    check(RENAME, "(.)", "<$1>", "<a><b><c>=1 <a><a><b><b><c>=2 <a>(<b><b><c>)<c>=4 <x>LL<y>=8 =16 <a><b><a>=32 LM=64");
    check(RENAME, "a", "", "abc=1 aabbc=2 a(bbc)c=4 xLLy=8 =16 aba=32 LM=64");
    check(RENAME, "[xy]", "w", "abc=1 aabbc=2 a(bbc)c=4 wLLw=8 =16 aba=32 LM=64");
}

TEST(transform_rename_refuses_a_bad_replacement)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    letter_batch(&in, stacks, values, ARRAY_LEN(values));
    CHECK_OK(pattern_new(SLICE("a"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_ERROR(transform_rename(&in, pattern, SLICE("$7"), &out, &err), &err, ERR_INVALID);
    batch_done(&in);
    batch_done(&out);
}

TEST(transform_rename_takes_equal_system_names_along)
{
    AUTO(builder_freep) struct builder *b = NULL;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct function function = { 0 };
    struct line line = { 0 };
    struct batch in, out;
    struct error err;
    int64_t value = 1;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    builder_type(b, (struct value_type){ 0 });
    for (int i = 0; i < 2; i++) {
        function.name = function.system_name = builder_string(b, i ? SLICE("worker1") : SLICE("worker2"));
        line.function = builder_function(b, &function);
        builder_sample(b, builder_stack(b, (uint32_t[]){ builder_frame(b, &(struct frame){ .n_lines = 1 }, &line) }, 1),
                       0, 0, &value, 0);
    }
    CHECK_OK(builder_finish(b, &in, &err), &err);
    CHECK_EQ(in.profiles[0].n_samples, 2);
    CHECK_OK(pattern_new(SLICE("[0-9]+$"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(transform_rename(&in, pattern, SLICE("#"), &out, &err), &err);
    CHECK_EQ(out.profiles[0].n_samples, 1);
    CHECK_EQ(profile_values(&out.profiles[0], 0)[0], 2);
    batch_done(&in);
    batch_done(&out);
}

TEST(transform_drops_functions_and_keeps_samples)
{
    check(DROP, "b", "", "ac=1 aac=2 acc=4 xLLy=8 =16 aa=32 LM=64");
    check(DROP, "[abc]", "", "=55 xLLy=8 LM=64");
    check(DROP, "LIB/L", "", "abc=1 aabbc=2 a(bbc)c=4 xy=8 =16 aba=32 M=64");
}

TEST(transform_inverts_stacks)
{
    check(INVERT, "", "", "cba=1 cbbaa=2 c(cbb)a=4 yLLx=8 =16 aba=32 ML=64");
}

TEST(transform_collapses_direct_recursion)
{
    check(COLLAPSE, "", "", "abc=3 a(bc)=4 xLy=8 =16 aba=32 LM=64");
}

/* The collapsed profile gives the tree that collapsing in the tree gives, and inverting twice changes nothing. */
struct failing {
    const struct batch *in;
    enum what what;
};

static int run_failing(void *context, struct error *err)
{
    struct failing *failing = context;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct batch out;
    int result;

    batch_init(&out, NULL);
    result = pattern_new(SLICE("b"), PATTERN_SEARCH, &pattern, err) < 0
                 ? -1
                 : run(failing->what, failing->in, pattern, SLICE("xyz"), &out, err);
    batch_done(&out);
    return result;
}

TEST(transform_survives_any_failing_allocation)
{
    struct batch in;

    batch_init(&in, NULL);
    letter_batch(&in, stacks, values, ARRAY_LEN(values));
    for (enum what what = RENAME; what <= COLLAPSE; what++)
        test_each_allocation_failing(run_failing, &(struct failing){ &in, what });
    batch_done(&in);
}

TEST(transform_keeps_the_frames_nearest_the_leaf)
{
    check(LEAVES, "", "", "bc=3 (bbc)c=4 Ly=8 =16 ba=32 LM=64");
    check(MERGED_LEAVES, "", "", "c=7 y=8 =16 a=32 M=64");
}
