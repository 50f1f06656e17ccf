// SPDX-License-Identifier: Apache-2.0
#include "profile/framematch_internal.h"

#include "profile/random_profile_test.h"

/* Frames of a small table: a function in a file, an unnamed frame of a library, nothing at all. */
struct fixture {
    struct slice strings[4];
    struct mapping mappings[2];
    struct function functions[2];
    struct line lines[2];
    struct frame frames[4];
    struct tables tables;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){
        .strings = { SLICE(""), SLICE("work"), SLICE("/src/a.c"), SLICE("/lib/libc.so.6") },
        .mappings = { { 0 }, { .file = 3 } },
        .functions = { { 0 }, { .name = 1, .file = 2 } },
        .lines = { { .function = 1 }, { .function = 0 } },
        .frames = { { 0 }, { .n_lines = 1 }, { .mapping = 1 }, { .first_line = 1, .n_lines = 1 } },
    };
    f->tables = (struct tables){ .strings = f->strings,
                                 .mappings = f->mappings,
                                 .functions = f->functions,
                                 .lines = f->lines,
                                 .frames = f->frames,
                                 .n_strings = ARRAY_LEN(f->strings) };
}

/* Which of the frames 1 to 3 match. */
static const char *matches(const char *text)
{
    static char result[4];
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct framematch match;
    struct fixture f;
    struct arena arena;
    struct error err;

    fixture_init(&f);
    arena_init(&arena, 0);
    CHECK_OK(pattern_new(slice_from(text), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(framematch_init(&match, pattern, scratch, &f.tables, "focus", &arena, &err), &err);
    for (int round = 0; round < 2; round++) {
        for (uint32_t frame = 1; frame < 4; frame++) {
            bool is_match;

            CHECK_OK(framematch_frame(&match, &f.frames[frame], &is_match, &err), &err);
            result[frame - 1] = is_match ? 'y' : 'n';
        }
    }
    arena_done(&arena);
    return result;
}

TEST(framematch_looks_at_function_file_and_mapping)
{
    CHECK_TEXT(matches("wor"), "ynn");
    CHECK_TEXT(matches("\\.c$"), "ynn");
    CHECK_TEXT(matches("libc"), "nyn");
    CHECK_TEXT(matches("o"), "yyn");
    CHECK_TEXT(matches(""), "yyn");
    CHECK_TEXT(matches("x"), "nnn");
}

TEST(framematch_names_the_option_in_errors)
{
    char name[64];
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct framematch match;
    struct fixture f;
    struct arena arena;
    struct error err;
    bool is_match;

    fixture_init(&f);
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '!';
    f.strings[1] = slice_of(name, sizeof(name));
    arena_init(&arena, 0);
    CHECK_OK(pattern_new(SLICE("^(a+)+$"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(framematch_init(&match, pattern, scratch, &f.tables, "focus", &arena, &err), &err);
    CHECK_ERROR(framematch_frame(&match, &f.frames[1], &is_match, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "focus: regular expression '^(a+)+$'");
    arena_done(&arena);
}
