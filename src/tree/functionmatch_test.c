// SPDX-License-Identifier: Apache-2.0
#include "tree/functionmatch.h"

#include "store/store_sample_test.h"

struct sample {
    struct symbolset set;
    struct symbolplaces places;
    struct pattern_scratch *scratch;
    struct arena arena;
};

static void open_sample(struct sample *sample)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct symbolset_frames frames = { 0 };
    struct batch batch;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    store_sample_types(b, STORE_SAMPLE_TYPES);
    builder_sample(b, store_sample_stack(b, SLICE("main@m.c;copy@a.c;copy@b.c#x.so;~1f#x.so")), 0, 0,
                   (int64_t[]){ 1, 1 }, 0);
    batch_init(&batch, NULL);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    symbolset_init(&sample->set, SYMBOL_FUNCTION);
    symbolplaces_init(&sample->places);
    arena_init(&sample->arena, 0);
    CHECK_OK(symbolset_import(&sample->set, &batch.tables, &frames, &err), &err);
    CHECK_OK(symbolplaces_import(&sample->places, &sample->set, &batch.tables, &frames, NULL, &err), &err);
    CHECK_OK(pattern_scratch_new(&sample->scratch, &err), &err);
    symbolset_frames_done(&frames);
    batch_done(&batch);
}

static void close_sample(struct sample *sample)
{
    symbolset_done(&sample->set);
    symbolplaces_done(&sample->places);
    pattern_scratch_free(sample->scratch);
    arena_done(&sample->arena);
}

static enum functionmatch_verdict verdict_of(struct sample *sample, const char *text, const char *name)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct functionmatch match = {
        .scratch = sample->scratch, .option = "focus", .symbols = &sample->set, .places = &sample->places
    };
    enum functionmatch_verdict verdict, again;
    uint32_t symbol = 0;
    struct error err;

    CHECK_OK(pattern_new(slice_from(text), PATTERN_SEARCH, &pattern, &err), &err);
    match.pattern = pattern;
    while (!slice_is(symbolset_get(&sample->set, symbol)->text, name))
        CHECK(++symbol < sample->set.symbols.n);
    CHECK_OK(functionmatch_start(&match, &sample->arena, &err), &err);
    CHECK_OK(functionmatch_test(&match, symbol, &verdict, &err), &err);
    CHECK_OK(functionmatch_test(&match, symbol, &again, &err), &err);
    CHECK_EQ(again, verdict);
    return verdict;
}

TEST(functionmatch_looks_at_name_file_and_binary)
{
    struct sample sample;

    open_sample(&sample);
    CHECK_EQ(verdict_of(&sample, "^ma", "main"), FUNCTIONMATCH_YES);
    CHECK_EQ(verdict_of(&sample, "m\\.c", "main"), FUNCTIONMATCH_YES);
    CHECK_EQ(verdict_of(&sample, "x\\.so", "main"), FUNCTIONMATCH_NO);
    CHECK_EQ(verdict_of(&sample, "x\\.so", "[x.so]"), FUNCTIONMATCH_YES);
    /* A frame without a function has no name, not even an empty one. */
    CHECK_EQ(verdict_of(&sample, "^$", "[x.so]"), FUNCTIONMATCH_NO);
    close_sample(&sample);
}

TEST(functionmatch_depends_on_the_place_where_functions_of_one_name_differ)
{
    struct sample sample;

    open_sample(&sample);
    CHECK_EQ(verdict_of(&sample, "copy", "copy"), FUNCTIONMATCH_YES);
    CHECK_EQ(verdict_of(&sample, "\\.c", "copy"), FUNCTIONMATCH_YES);
    CHECK_EQ(verdict_of(&sample, "a\\.c", "copy"), FUNCTIONMATCH_DEPENDS);
    CHECK_EQ(verdict_of(&sample, "x\\.so", "copy"), FUNCTIONMATCH_DEPENDS);
    CHECK_EQ(verdict_of(&sample, "m\\.c", "copy"), FUNCTIONMATCH_NO);
    close_sample(&sample);
}

TEST(functionmatch_names_the_option_whose_pattern_takes_too_long)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct functionmatch match = { .option = "ignore" };
    enum functionmatch_verdict verdict;
    struct sample sample;
    struct error err;
    uint32_t symbol;
    char name[41];

    open_sample(&sample);
    memset(name, 'a', sizeof(name));
    name[40] = '!';
    CHECK_OK(symbolset_add_text(&sample.set, slice_of(name, sizeof(name)), &symbol, &err), &err);
    CHECK_OK(pattern_new(SLICE("^(a+)+$|b"), PATTERN_SEARCH, &pattern, &err), &err);
    match.pattern = pattern;
    match.scratch = sample.scratch;
    match.symbols = &sample.set;
    match.places = &sample.places;
    CHECK_OK(functionmatch_start(&match, &sample.arena, &err), &err);
    CHECK_ERROR(functionmatch_test(&match, symbol, &verdict, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "ignore: ");
    close_sample(&sample);
}
