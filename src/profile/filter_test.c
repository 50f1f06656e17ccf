// SPDX-License-Identifier: Apache-2.0
#include "profile/filter.h"

#include "profile/random_profile_test.h"

/* What a filter leaves of these samples, as text. */
static void check_filter(const struct filter_spec *spec, const char *wanted)
{
    static const char *const stacks[] = { "abc", "abd", "a(bc)d", "xLy", "", "b" };
    static const int64_t values[] = { 1, 2, 4, 8, 16, 32 };
    AUTO(filter_freep) struct filter *filter = NULL;
    AUTO(buffer_done) struct buffer text;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    buffer_init(&text, 0);
    letter_batch(&in, stacks, values, ARRAY_LEN(values));
    CHECK_OK(filter_new(spec, &filter, &err), &err);
    CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
    CHECK_OK(batch_check(&out, &err), &err);
    CHECK_EQ(report_total(&out.report), 0);
    letter_print(&out, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    batch_done(&in);
    batch_done(&out);
}

TEST(filter_of_nothing_keeps_everything)
{
    check_filter(&(struct filter_spec){ .focus = { NULL, 0 } }, "abc=1 abd=2 a(bc)d=4 xLy=8 =16 b=32");
}

TEST(filter_focus_keeps_samples_with_a_match)
{
    check_filter(&(struct filter_spec){ .focus = SLICE("^c$") }, "abc=1 a(bc)d=4");
    check_filter(&(struct filter_spec){ .focus = SLICE("LIB/L") }, "xLy=8");
    check_filter(&(struct filter_spec){ .focus = SLICE("a|y") }, "abc=1 abd=2 a(bc)d=4 xLy=8");
}

TEST(filter_ignore_leaves_out_samples_with_a_match)
{
    check_filter(&(struct filter_spec){ .ignore = SLICE("c") }, "abd=2 xLy=8 b=32");
    check_filter(&(struct filter_spec){ .ignore = SLICE("LIB") }, "abc=1 abd=2 a(bc)d=4 b=32");
    check_filter(&(struct filter_spec){ .ignore = SLICE("c"), .focus = SLICE("d") }, "abd=2");
    check_filter(&(struct filter_spec){ .ignore = SLICE("[cd]"), .focus = SLICE("b") }, "b=32");
}

TEST(filter_hide_takes_functions_out_of_stacks)
{
    check_filter(&(struct filter_spec){ .hide = SLICE("b") }, "ac=1 ad=2 acd=4 xLy=8");
    check_filter(&(struct filter_spec){ .hide = SLICE("[bc]") }, "a=1 ad=6 xLy=8");
    check_filter(&(struct filter_spec){ .hide = SLICE("LIB|x") }, "abc=1 abd=2 a(bc)d=4 y=8 b=32");
    check_filter(&(struct filter_spec){ .hide = SLICE("a"), .focus = SLICE("a") }, "bc=1 bd=2 (bc)d=4");
}

TEST(filter_show_keeps_only_matching_functions)
{
    check_filter(&(struct filter_spec){ .show = SLICE("[ac]") }, "ac=5 a=2");
    check_filter(&(struct filter_spec){ .show = SLICE("x|LIB") }, "x=8");
    check_filter(&(struct filter_spec){ .show = SLICE("[bcd]"), .hide = SLICE("b") }, "c=1 d=2 cd=4");
}

TEST(filter_show_from_cuts_the_callers)
{
    check_filter(&(struct filter_spec){ .show_from = SLICE("b") }, "bc=1 bd=2 (bc)d=4 b=32");
    check_filter(&(struct filter_spec){ .show_from = SLICE("c") }, "c=1 cd=4");
    check_filter(&(struct filter_spec){ .show_from = SLICE("LIB") }, "Ly=8");
    check_filter(&(struct filter_spec){ .show_from = SLICE("[bd]"), .hide = SLICE("b") }, "d=6");
}

TEST(filter_call_site_keeps_stacks_that_begin_with_it)
{
    const struct slice a_b[] = { SLICE("a"), SLICE("b") }, x_l[] = { SLICE("x"), SLICE("[L]") };
    const struct slice a_b_c[] = { SLICE("a"), SLICE("b"), SLICE("c") };

    check_filter(&(struct filter_spec){ .call_site = a_b, .n_call_site = 1 }, "abc=1 abd=2 a(bc)d=4");
    check_filter(&(struct filter_spec){ .call_site = a_b, .n_call_site = 2 }, "abc=1 abd=2 a(bc)d=4");
    check_filter(&(struct filter_spec){ .call_site = a_b_c, .n_call_site = 3 }, "abc=1 a(bc)d=4");
    check_filter(&(struct filter_spec){ .call_site = a_b + 1, .n_call_site = 1 }, "b=32");
    check_filter(&(struct filter_spec){ .call_site = x_l, .n_call_site = 2 }, "xLy=8");
    /* Names as they were, whatever is hidden. */
    check_filter(&(struct filter_spec){ .call_site = a_b, .n_call_site = 2, .hide = SLICE("a") }, "bc=1 bd=2 (bc)d=4");
}

TEST(filter_show_from_starts_at_the_match_nearest_the_root)
{
    static const char *const stacks[] = { "abcb", "c(xbyb)z" };
    static const int64_t values[] = { 1, 2 };
    AUTO(filter_freep) struct filter *filter = NULL;
    AUTO(buffer_done) struct buffer text;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    buffer_init(&text, 0);
    letter_batch(&in, stacks, values, 2);
    CHECK_OK(filter_new(&(struct filter_spec){ .show_from = SLICE("b") }, &filter, &err), &err);
    CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
    letter_print(&out, &text);
    CHECK_TEXT(buffer_slice(&text), "bcb=1 (byb)z=2");
    batch_done(&in);
    batch_done(&out);
}

TEST(filter_tells_which_pattern_matched_nothing)
{
    static const char *const stacks[] = { "ab" };
    static const int64_t values[] = { 1 };
    struct filter_spec spec = { .focus = SLICE("zzz"), .hide = SLICE("yyy"), .tag_ignore = SLICE("www") };
    AUTO(filter_freep) struct filter *filter = NULL;
    struct batch in, out;
    struct error err;

    batch_init(&in, NULL);
    batch_init(&out, NULL);
    letter_batch(&in, stacks, values, 1);
    report_add(&in.report, "something about the input", 1, "here");
    CHECK_OK(filter_new(&spec, &filter, &err), &err);
    CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
    CHECK_EQ(report_count(&out.report, "focus matches no frame"), 1);
    CHECK_EQ(report_count(&out.report, "hide matches no frame"), 1);
    CHECK_EQ(report_count(&out.report, "tagignore matches no sample"), 1);
    CHECK_EQ(report_count(&out.report, "something about the input"), 1);
    CHECK_EQ(out.n_profiles, 1);
    CHECK_EQ(out.profiles[0].n_samples, 0);
    CHECK_EQ(out.profiles[0].n_types, 1);
    batch_done(&in);
    batch_done(&out);
}

TEST(filter_names_the_pattern_that_is_wrong)
{
    struct filter *filter = NULL;
    struct slice label = SLICE("thread");
    struct error err;

    CHECK_ERROR(filter_new(&(struct filter_spec){ .show_from = SLICE("a(") }, &filter, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "show-from: regular expression 'a('");
    CHECK_ERROR(filter_new(&(struct filter_spec){ .tag_focus = SLICE("x=(") }, &filter, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "tagfocus: ");
    CHECK_ERROR(filter_new(&(struct filter_spec){ .labels = &label, .n_labels = 1 }, &filter, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "label selection 'thread'");
    CHECK(filter == NULL);
}

/* Sum of the cpu column over samples whose thread label is `text` (NULL = any). */
static int64_t sum_of_thread(const struct profile *p, const char *text)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < p->n_samples; i++) {
        const struct label *label = tables_find_label(p->tables, profile_label_set(p, i), SLICE("thread"));
        struct slice thread = label ? tables_string(p->tables, label->text) : SLICE("");

        if (!text || slice_is(thread, text))
            sum += profile_values(p, 1)[i];
    }
    return sum;
}

TEST(filter_by_labels_keeps_exact_sums)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct random_options shape = random_shape(seed);
        struct slice label = SLICE("thread=t1");
        struct filter_spec specs[] = {
            { .labels = &label, .n_labels = 1 },
            { .tag_focus = SLICE("thread=^t1$") },
            { .tag_ignore = SLICE("thread:t1") },
        };
        struct batch in;
        struct error err;

        shape.has_labels = true;
        batch_init(&in, NULL);
        random_batch(&in, &shape);
        for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
            struct filter *filter;
            struct batch out;
            int64_t all = sum_of_thread(&in.profiles[0], NULL), t1 = sum_of_thread(&in.profiles[0], "t1");

            batch_init(&out, NULL);
            CHECK_OK(filter_new(&specs[i], &filter, &err), &err);
            CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
            CHECK_OK(batch_check(&out, &err), &err);
            CHECK_EQ(profile_total(&out.profiles[0], 1), i == 2 ? all - t1 : t1);
            CHECK_EQ(sum_of_thread(&out.profiles[0], "t1"), i == 2 ? 0 : t1);
            filter_free(filter);
            batch_done(&out);
        }
        batch_done(&in);
    }
}

/* Whether some frame of the sample matches: f1 in the name of a function, 1.c in that of a file, or libc. */
static bool is_hit(const struct tables *t, uint32_t stack)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(t, stack, &depth);

    for (uint32_t i = 0; i < depth; i++) {
        const struct frame *frame = &t->frames[frames[i]];

        if (slice_find(tables_string(t, t->mappings[frame->mapping].file), SLICE("libc")) >= 0)
            return true;
        for (uint32_t j = 0; j < frame->n_lines; j++) {
            const struct function *function = &t->functions[t->lines[frame->first_line + j].function];

            if (slice_find(tables_string(t, function->name), SLICE("f1")) >= 0 ||
                slice_find(tables_string(t, function->file), SLICE("1.c")) >= 0)
                return true;
        }
    }
    return false;
}

TEST(filter_focus_and_ignore_split_a_profile_in_two)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch in;
        struct error err;
        int64_t hits = 0, misses = 0;

        batch_init(&in, NULL);
        random_batch(&in, &shape);
        for (uint32_t i = 0; i < in.profiles[0].n_samples; i++) {
            const struct profile *p = &in.profiles[0];

            if (is_hit(p->tables, p->stacks[i]))
                hits += profile_values(p, 1)[i];
            else if (p->stacks[i] != 0)
                misses += profile_values(p, 1)[i];
        }
        for (int is_ignore = 0; is_ignore < 2; is_ignore++) {
            struct filter_spec spec = { 0 };
            struct filter *filter;
            struct batch out;

            *(is_ignore ? &spec.ignore : &spec.focus) = SLICE("f1|1\\.c|libc");
            batch_init(&out, NULL);
            CHECK_OK(filter_new(&spec, &filter, &err), &err);
            CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
            CHECK_EQ(profile_total(&out.profiles[0], 1), is_ignore ? misses : hits);
            filter_free(filter);
            batch_done(&out);
        }
        batch_done(&in);
    }
}

TEST(filter_stacks_tells_which_samples_stay)
{
    static const struct filter_spec specs[] = {
        { .focus = { "f1|libc", 7 } }, { .ignore = { "1\\.c", 4 } },    { .hide = { "f", 1 } },
        { .show = { "f[2-5]", 6 } },   { .show_from = { "f[12]", 5 } }, { .focus = { "f", 1 }, .ignore = { "f3", 2 } },
        { .focus = { NULL, 0 } },
    };
    struct batch in;
    struct error err;

    batch_init(&in, NULL);
    random_batch(&in,
                 &(struct random_options){
                     .seed = 3, .n_functions = 9, .n_frames = 20, .n_stacks = 20, .max_depth = 4, .n_samples = 60 });
    for (size_t k = 0; k < ARRAY_LEN(specs); k++) {
        const struct profile *p = &in.profiles[0];
        AUTO(filter_freep) struct filter *filter = NULL;
        bool stays[64];
        int64_t sum = 0;
        struct batch out;

        CHECK(in.tables.n_stacks <= ARRAY_LEN(stays));
        batch_init(&out, NULL);
        CHECK_OK(filter_new(&specs[k], &filter, &err), &err);
        CHECK_OK(filter_apply(filter, &in, &out, &err), &err);
        CHECK_OK(filter_stacks(filter, &in.tables, stays, &err), &err);
        for (uint32_t i = 0; i < p->n_samples; i++)
            sum += stays[p->stacks[i]] ? profile_values(p, 1)[i] : 0;
        CHECK_EQ(profile_total(&out.profiles[0], 1), sum);
        batch_done(&out);
    }
    batch_done(&in);
}

static int run_filter(void *context, struct error *err)
{
    struct slice label = SLICE("thread=~t.");
    struct filter_spec spec = { .focus = SLICE("f"),
                                .hide = SLICE("f3"),
                                .show_from = SLICE("f[12]"),
                                .tag_focus = SLICE("t"),
                                .labels = &label,
                                .n_labels = 1 };
    AUTO(filter_freep) struct filter *filter = NULL;
    struct batch out;
    int result;

    const struct batch *in = context;
    bool stays[64];

    CHECK(in->tables.n_stacks <= ARRAY_LEN(stays));
    batch_init(&out, NULL);
    result = filter_new(&spec, &filter, err) < 0 ? -1 : filter_apply(filter, in, &out, err);
    batch_done(&out);
    return result < 0 ? -1 : filter_stacks(filter, &in->tables, stays, err);
}

TEST(filter_survives_any_failing_allocation)
{
    struct batch in;

    batch_init(&in, NULL);
    random_batch(
        &in,
        &(struct random_options){
            .n_functions = 9, .n_frames = 20, .n_stacks = 20, .max_depth = 9, .n_samples = 30, .has_labels = true });
    test_each_allocation_failing(run_filter, &in);
    batch_done(&in);
}
