// SPDX-License-Identifier: Apache-2.0
#include "profile/symbolset.h"

#define SYMBOLS_MAX ((size_t)1 << 30)
#define NAMES_MAX   ((size_t)1 << 31) /* of all frames of one import */

/* One import: each string is hashed and copied once. */
struct import {
    struct symbolset *set;
    const struct tables *tables;
    struct hash128 *hashes; /* of strings; b is 0 until known */
    struct slice *copies;   /* of strings; ptr is NULL until copied */
    struct buffer text;
};

void symbolset_init(struct symbolset *set, enum symbol_granularity granularity)
{
    /* Where we lie in memory is another place in every run, so nobody can prepare names that collide. */
    *set = (struct symbolset){ .granularity = granularity, .seed = hash_mix64((uintptr_t)set) };
    hash_set_init(&set->hashes, 0);
    arena_init(&set->text, 0);
}

void symbolset_done(struct symbolset *set)
{
    hash_set_done(&set->hashes);
    VEC_DONE(&set->symbols);
    arena_done(&set->text);
}

void symbolset_frames_done(struct symbolset_frames *frames)
{
    memory_free(frames->starts);
    memory_free(frames->ids);
    *frames = (struct symbolset_frames){ 0 };
}

/* The symbol of a hash; a new one is empty. */
static int add_symbol(struct symbolset *set, struct hash128 hash, uint32_t *ret_id, bool *ret_is_new, struct error *err)
{
    if (VEC_RESERVE(&set->symbols, 1, SYMBOLS_MAX, err) < 0 ||
        hash_set_add(&set->hashes, hash, ret_id, ret_is_new, err) < 0)
        return -1;
    if (*ret_is_new)
        set->symbols.items[set->symbols.n++] = (struct symbol){ 0 };
    return 0;
}

/* Undoes the newest add_symbol. Returns -1. */
static int take_back(struct symbolset *set)
{
    hash_set_pop(&set->hashes);
    set->symbols.n--;
    return -1;
}

static struct hash128 string_hash(struct import *import, uint32_t id)
{
    if (!import->hashes[id].b)
        import->hashes[id] = hash_bytes(tables_string(import->tables, id), import->set->seed);
    return import->hashes[id];
}

static struct slice string_copy(struct import *import, uint32_t id, struct error *err)
{
    if (!import->copies[id].ptr)
        import->copies[id] = arena_copy(&import->set->text, tables_string(import->tables, id), err);
    return import->copies[id];
}

static struct hash128 fold(struct hash128 function, struct hash128 file, struct hash128 module, uint64_t address,
                           uint32_t line)
{
    struct hash128 hash = hash_fold(function, file.a, file.b);

    return hash_fold(hash_fold(hash, module.a, module.b), address, line);
}

static struct hash128 name_hash(struct import *import, const struct symbolname *name)
{
    return fold(string_hash(import, name->function), string_hash(import, name->file), string_hash(import, name->module),
                name->address, name->line);
}

/* The text is the function's own where they are equal, as they mostly are. */
static int fill_text(struct import *import, const struct symbolname *name, struct symbol *symbol, struct error *err)
{
    buffer_clear(&import->text);
    symbolname_print(import->tables, name, &import->text);
    if (buffer_check(&import->text, err) < 0)
        return -1;
    symbol->text = symbol->function;
    if (!slice_equal(buffer_slice(&import->text), symbol->function))
        symbol->text = arena_copy(&import->set->text, buffer_slice(&import->text), err);
    return symbol->text.ptr ? 0 : -1;
}

static int fill_symbol(struct import *import, uint32_t frame_id, uint32_t index, const struct symbolname *name,
                       struct symbol *symbol, struct error *err)
{
    const struct tables *t = import->tables;
    const struct frame *frame = &t->frames[frame_id];
    struct function function = { 0 };

    if (index < frame->n_lines)
        function = t->functions[t->lines[frame->first_line + index].function];
    symbol->function = string_copy(import, name->function, err);
    symbol->file = string_copy(import, function.file, err);
    symbol->module = string_copy(import, t->mappings[frame->mapping].file, err);
    if (!symbol->function.ptr || !symbol->file.ptr || !symbol->module.ptr)
        return -1;
    symbol->line = name->line ? name->line : function.start_line;
    symbol->kind = frame->kind;
    symbol->is_kernel = symbolname_is_kernel(t, frame_id);
    return fill_text(import, name, symbol, err);
}

static int add_name(struct import *import, uint32_t frame, uint32_t index, uint32_t *ret_id, struct error *err)
{
    struct symbolset *set = import->set;
    struct symbolname name = symbolname_get(import->tables, frame, index, set->granularity);
    struct symbol *symbol;
    bool is_new;

    if (add_symbol(set, name_hash(import, &name), ret_id, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    symbol = &set->symbols.items[*ret_id];
    return fill_symbol(import, frame, index, &name, symbol, err) < 0 ? take_back(set) : 0;
}

static int allocate(struct import *import, struct symbolset_frames *frames, struct error *err)
{
    const struct tables *t = import->tables;
    size_t n = 0;

    for (uint32_t i = 0; i < t->n_frames; i++)
        n += symbolname_count(&t->frames[i]);
    if (n > NAMES_MAX)
        return error_set(err, ERR_LIMIT, "%zu names of frames are more than the %zu that fit", n, NAMES_MAX);
    import->hashes = memory_alloc_zero(t->n_strings * sizeof(*import->hashes), err);
    import->copies = import->hashes ? memory_alloc_zero(t->n_strings * sizeof(*import->copies), err) : NULL;
    frames->ids = import->copies ? memory_alloc(n * sizeof(*frames->ids), err) : NULL;
    frames->starts = frames->ids ? memory_alloc(((size_t)t->n_frames + 1) * sizeof(*frames->starts), err) : NULL;
    return frames->starts ? 0 : -1;
}

static int import_frames(struct import *import, const struct patience *patience, struct symbolset_frames *frames,
                         struct error *err)
{
    const struct tables *t = import->tables;
    uint32_t n = 0;

    for (uint32_t frame = 0; frame < t->n_frames; frame++) {
        uint32_t names = symbolname_count(&t->frames[frame]);

        if (patience_check_at(patience, frame, err) < 0)
            return -1;
        frames->starts[frame] = n;
        for (uint32_t index = 0; index < names; index++)
            if (add_name(import, frame, index, &frames->ids[n++], err) < 0)
                return -1;
    }
    frames->starts[t->n_frames] = n;
    return 0;
}

int symbolset_import(struct symbolset *set, const struct tables *tables, struct symbolset_frames *ret_frames,
                     struct error *err)
{
    return symbolset_import_while(set, tables, NULL, ret_frames, err);
}

int symbolset_import_while(struct symbolset *set, const struct tables *tables, const struct patience *patience,
                           struct symbolset_frames *ret_frames, struct error *err)
{
    struct import import = { .set = set, .tables = tables };
    struct symbolset_frames frames = { 0 };
    int result;

    buffer_init(&import.text, 0);
    result = allocate(&import, &frames, err);
    if (result == 0)
        result = import_frames(&import, patience, &frames, err);
    buffer_done(&import.text);
    memory_free(import.hashes);
    memory_free(import.copies);
    if (result == 0)
        *ret_frames = frames;
    else
        symbolset_frames_done(&frames);
    return result;
}

int symbolset_add_text(struct symbolset *set, struct slice text, uint32_t *ret_id, struct error *err)
{
    struct hash128 none = hash_bytes(SLICE(""), set->seed);
    struct hash128 hash = fold(hash_bytes(text, set->seed), none, none, 0, 0);
    struct symbol *symbol;
    bool is_new;

    if (add_symbol(set, hash, ret_id, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    symbol = &set->symbols.items[*ret_id];
    symbol->text = symbol->function = arena_copy(&set->text, text, err);
    symbol->file = symbol->module = SLICE("");
    return symbol->text.ptr ? 0 : take_back(set);
}

int symbolset_add_copy(struct symbolset *set, const struct symbolset *other, uint32_t from, uint32_t *ret_id,
                       struct error *err)
{
    const struct symbol *source = symbolset_get(other, from);
    struct symbol *symbol;
    bool is_new;

    /* The other set's number tells its symbols apart as well as their names do. */
    if (add_symbol(set, hash_fold((struct hash128){ set->seed, from }, from, other->seed), ret_id, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    symbol = &set->symbols.items[*ret_id];
    *symbol = *source;
    symbol->function = arena_copy(&set->text, source->function, err);
    symbol->text =
        slice_equal(source->text, source->function) ? symbol->function : arena_copy(&set->text, source->text, err);
    symbol->file = arena_copy(&set->text, source->file, err);
    symbol->module = arena_copy(&set->text, source->module, err);
    return symbol->function.ptr && symbol->text.ptr && symbol->file.ptr && symbol->module.ptr ? 0 : take_back(set);
}
