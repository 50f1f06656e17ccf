// SPDX-License-Identifier: Apache-2.0
#include "tree/symbolplaces.h"

#include "store/store_sample_test.h"

struct growing {
    struct symbolset set;
    struct symbolplaces places;
    const struct tables *tables;
};

static int import(void *context, struct error *err)
{
    struct growing *growing = context;
    struct symbolset_frames frames = { 0 };
    int result = symbolset_import(&growing->set, growing->tables, &frames, err);

    if (result == 0)
        result = symbolplaces_import(&growing->places, &growing->set, growing->tables, &frames, NULL, err);
    symbolset_frames_done(&frames);
    return result;
}

/* "file|module" of all places of the symbol of this name, "-" for none. */
static void check_places(const struct growing *growing, const char *name, const char *const *wanted, uint32_t n_wanted)
{
    uint32_t symbol = 0, n = 0;

    while (!slice_is(symbolset_get(&growing->set, symbol)->text, name))
        CHECK(++symbol < growing->set.symbols.n);
    for (const struct symbolplace *place = symbolplaces_first(&growing->places, symbol); place;
         place = symbolplaces_next(&growing->places, place)) {
        char text[64];
        bool is_found = false;

        snprintf(text, sizeof(text), "%.*s|%.*s",
                 SLICE_ARG(place->file ? growing->places.strings.items[place->file - 1] : SLICE("-")),
                 SLICE_ARG(place->module ? growing->places.strings.items[place->module - 1] : SLICE("-")));
        for (uint32_t i = 0; i < n_wanted; i++)
            is_found |= strcmp(text, wanted[i]) == 0;
        CHECK(is_found);
        n++;
    }
    CHECK_EQ(n, n_wanted);
}

TEST(symbolplaces_know_each_file_and_binary_of_a_function_once)
{
    static const char *const stacks[] = { "main;copy@a.c;copy@b.c#x.so", "copy@a.c;run@r.c+step", "~1f#x.so;main" };
    AUTO(builder_freep) struct builder *b = NULL;
    struct growing growing;
    struct batch batch;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    store_sample_types(b, STORE_SAMPLE_TYPES);
    for (size_t i = 0; i < ARRAY_LEN(stacks); i++)
        builder_sample(b, store_sample_stack(b, slice_from(stacks[i])), 0, 0, (int64_t[]){ 1, 1 }, 0);
    batch_init(&batch, NULL);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    symbolset_init(&growing.set, SYMBOL_FUNCTION);
    symbolplaces_init(&growing.places);
    growing.tables = &batch.tables;
    /* Again and again, over a set that grows through failures. */
    test_each_allocation_failing(import, &growing);
    CHECK_OK(import(&growing, &err), &err);
    check_places(&growing, "copy", (const char *[]){ "a.c|-", "b.c|x.so" }, 2);
    check_places(&growing, "main", (const char *[]){ "|-" }, 1);
    check_places(&growing, "step", (const char *[]){ "|-" }, 1);
    check_places(&growing, "[x.so]", (const char *[]){ "-|x.so" }, 1);
    CHECK(symbolplaces_bytes(&growing.places) > 0);
    symbolset_done(&growing.set);
    symbolplaces_done(&growing.places);
    batch_done(&batch);
}
