// SPDX-License-Identifier: Apache-2.0
#include "profile/symbolset.h"

#include "profile/random_profile_test.h"

static void check_import(const struct symbolset *set, const struct symbolset_frames *frames,
                         const struct tables *tables)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    for (uint32_t frame = 0; frame < tables->n_frames; frame++) {
        CHECK_EQ(frames->starts[frame + 1] - frames->starts[frame], symbolname_count(&tables->frames[frame]));
        for (uint32_t at = frames->starts[frame]; at < frames->starts[frame + 1]; at++) {
            struct symbolname name = symbolname_get(tables, frame, at - frames->starts[frame], set->granularity);

            buffer_clear(&text);
            symbolname_print(tables, &name, &text);
            CHECK_TEXT(symbolset_get(set, frames->ids[at])->text, buffer_slice(&text));
        }
    }
}

TEST(symbolset_numbers_equal_names_alike_across_tables)
{
    for (enum symbol_granularity granularity = SYMBOL_FUNCTION; granularity <= SYMBOL_ADDRESS; granularity++) {
        struct symbolset set;
        struct symbolset_frames first = { 0 }, second = { 0 };
        struct batch a, b;
        struct error err;

        batch_init(&a, NULL);
        batch_init(&b, NULL);
        symbolset_init(&set, granularity);
        random_batch(
            &a, &(struct random_options){
                    .seed = 1, .n_functions = 9, .n_frames = 40, .n_stacks = 10, .max_depth = 9, .n_samples = 20 });
        random_batch(
            &b, &(struct random_options){
                    .seed = 2, .n_functions = 9, .n_frames = 40, .n_stacks = 10, .max_depth = 9, .n_samples = 20 });
        CHECK_OK(symbolset_import(&set, &a.tables, &first, &err), &err);
        CHECK_OK(symbolset_import(&set, &b.tables, &second, &err), &err);
        check_import(&set, &first, &a.tables);
        check_import(&set, &second, &b.tables);
        /* Below the address all names are made of the same few words, so no text may appear twice. */
        for (size_t i = 0; granularity != SYMBOL_ADDRESS && i < set.symbols.n; i++)
            for (size_t j = 0; j < i; j++)
                CHECK(!slice_equal(set.symbols.items[i].text, set.symbols.items[j].text));
        symbolset_frames_done(&first);
        symbolset_frames_done(&second);
        batch_done(&a);
        batch_done(&b);
        CHECK(symbolset_get(&set, 0)->text.len > 0); /* the texts are its own */
        symbolset_done(&set);
    }
}

TEST(symbolset_knows_where_a_function_is)
{
    struct symbolset set;
    struct symbolset_frames frames = { 0 };
    AUTO(builder_freep) struct builder *b = NULL;
    struct function function = { .start_line = 40 };
    struct frame frame = { .n_lines = 1, .kind = FRAME_KERNEL };
    struct mapping mapping = { 0 };
    struct line line = { .line = 44 };
    struct error err;
    const struct symbol *symbol;
    uint32_t id, again;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    function.name = builder_string(b, SLICE("vfs_read"));
    function.file = builder_string(b, SLICE("fs/read_write.c"));
    mapping.file = builder_string(b, SLICE("[kernel.kallsyms]"));
    line.function = builder_function(b, &function);
    frame.mapping = builder_mapping(b, &mapping);
    id = builder_frame(b, &frame, &line);
    symbolset_init(&set, SYMBOL_FUNCTION);
    CHECK_OK(symbolset_import(&set, builder_tables(b), &frames, &err), &err);
    symbol = symbolset_get(&set, frames.ids[frames.starts[id]]);
    CHECK_TEXT(symbol->text, "vfs_read");
    CHECK_TEXT(symbol->function, "vfs_read");
    CHECK_TEXT(symbol->file, "fs/read_write.c");
    CHECK_TEXT(symbol->module, "[kernel.kallsyms]");
    CHECK_EQ(symbol->line, 40);
    CHECK_EQ(symbol->kind, FRAME_KERNEL);
    CHECK(symbol->is_kernel);
    CHECK_OK(symbolset_add_text(&set, SLICE("[overflow]"), &id, &err), &err);
    CHECK_OK(symbolset_add_text(&set, SLICE("[overflow]"), &again, &err), &err);
    CHECK_EQ(id, again);
    CHECK_TEXT(symbolset_get(&set, id)->text, "[overflow]");
    CHECK_OK(symbolset_add_text(&set, SLICE("vfs_read"), &again, &err), &err);
    CHECK_EQ(again, frames.ids[frames.starts[1]]);
    symbolset_frames_done(&frames);
    symbolset_done(&set);
}

static int import(void *context, struct error *err)
{
    struct symbolset set;
    struct symbolset_frames frames = { 0 };
    uint32_t id;
    int result;

    symbolset_init(&set, SYMBOL_LINE);
    result = symbolset_import(&set, context, &frames, err);
    if (result == 0)
        result = symbolset_add_text(&set, SLICE("[overflow]"), &id, err);
    symbolset_frames_done(&frames);
    symbolset_done(&set);
    return result;
}

TEST(symbolset_survives_any_failing_allocation)
{
    struct batch batch;

    batch_init(&batch, NULL);
    random_batch(&batch,
                 &(struct random_options){
                     .seed = 3, .n_functions = 20, .n_frames = 60, .n_stacks = 10, .max_depth = 9, .n_samples = 20 });
    test_each_allocation_failing(import, &batch.tables);
    batch_done(&batch);
}

/* One set through all failures: what is in it stays right. */
struct growing {
    struct symbolset set;
    const struct tables *tables;
};

static int import_again(void *context, struct error *err)
{
    struct growing *growing = context;
    struct symbolset_frames frames = { 0 };
    int result = symbolset_import(&growing->set, growing->tables, &frames, err);

    if (result == 0)
        check_import(&growing->set, &frames, growing->tables);
    symbolset_frames_done(&frames);
    return result;
}

TEST(symbolset_can_be_used_after_a_failed_import)
{
    struct growing growing;
    struct batch batch;

    batch_init(&batch, NULL);
    random_batch(&batch,
                 &(struct random_options){
                     .seed = 5, .n_functions = 90, .n_frames = 200, .n_stacks = 10, .max_depth = 9, .n_samples = 20 });
    symbolset_init(&growing.set, SYMBOL_LINE);
    growing.tables = &batch.tables;
    test_each_allocation_failing(import_again, &growing);
    symbolset_done(&growing.set);
    batch_done(&batch);
}
