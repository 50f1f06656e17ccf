// SPDX-License-Identifier: Apache-2.0
#include "tree/latenames.h"

#include "base/vec.h"

/* The lines that were found, in order of their frames. */
struct naming {
    const struct latenames *source;
    struct tables *tables;
    struct arena *arena;
    bool *is_open;
    VEC(struct found {
        uint32_t frame;
        struct latenames_line line;
    })
    found;
};

static struct slice build_id_of(const struct tables *tables, const struct mapping *mapping)
{
    uint32_t string = mapping->build_id      ? mapping->build_id
                      : mapping->build_id_go ? mapping->build_id_go
                                             : mapping->build_id_hash;

    return tables_string(tables, string);
}

static uint64_t offset_of(const struct frame *frame, const struct mapping *mapping)
{
    bool is_within = frame->address >= mapping->start && frame->address < mapping->limit;

    return is_within ? frame->address - mapping->start + mapping->offset : frame->address;
}

static int find_frame(struct naming *naming, uint32_t number, struct error *err)
{
    const struct frame *frame = &naming->tables->frames[number];
    const struct mapping *mapping = &naming->tables->mappings[frame->mapping];
    struct slice build_id = build_id_of(naming->tables, mapping);
    struct latenames_line *lines = NULL;
    uint32_t n = 0;

    if (frame->n_lines || !frame->mapping || !build_id.len)
        return 0;
    if (naming->source && naming->source->find(naming->source->context, build_id, offset_of(frame, mapping),
                                               naming->arena, &lines, &n, err) < 0)
        return -1;
    naming->is_open[number] = n == 0;
    for (uint32_t i = 0; i < n && i < UINT16_MAX; i++) {
        struct found *found = VEC_PUSH(&naming->found, UINT32_MAX / 4, err);

        if (!found)
            return -1;
        *found = (struct found){ number, lines[i] };
    }
    return 0;
}

static void *extend(struct arena *arena, const void *items, size_t n, size_t more, size_t item_bytes, struct error *err)
{
    void *longer = arena_alloc_array(arena, n + more, item_bytes, err);

    if (longer && n)
        memcpy(longer, items, n * item_bytes);
    return longer;
}

/* A function and a line for each that was found; equal names are one by content when they are numbered. */
static int add_found(struct naming *naming, struct error *err)
{
    struct tables *t = naming->tables;
    struct arena *arena = naming->arena;
    size_t n = naming->found.n;
    struct slice *strings = extend(arena, t->strings, t->n_strings, 2 * n, sizeof(*strings), err);
    struct function *functions = extend(arena, t->functions, t->n_functions, n, sizeof(*functions), err);
    struct line *lines = extend(arena, t->lines, t->n_lines, n, sizeof(*lines), err);

    if (!strings || !functions || !lines)
        return -1;
    t->strings = strings;
    t->functions = functions;
    t->lines = lines;
    for (size_t i = 0; i < n; i++) {
        const struct found *found = &naming->found.items[i];
        struct frame *frame = &t->frames[found->frame];
        uint32_t name = t->n_strings++, file = found->line.file.len ? t->n_strings++ : 0;

        strings[name] = found->line.function;
        if (file)
            strings[file] = found->line.file;
        functions[t->n_functions] = (struct function){ .name = name, .file = file };
        if (frame->n_lines++ == 0)
            frame->first_line = t->n_lines;
        lines[t->n_lines++] = (struct line){ .function = t->n_functions++, .line = found->line.line };
    }
    return 0;
}

int latenames_resolve(const struct latenames *source, struct tables *tables, struct arena *arena, bool **ret_is_open,
                      struct error *err)
{
    struct naming naming = { .source = source, .tables = tables, .arena = arena };
    int result = 0;

    naming.is_open = arena_alloc_zero(arena, tables->n_frames * sizeof(bool), err);
    if (!naming.is_open)
        return -1;
    for (uint32_t i = 1; !result && i < tables->n_frames; i++)
        result = find_frame(&naming, i, err);
    if (!result && naming.found.n)
        result = add_found(&naming, err);
    VEC_DONE(&naming.found);
    if (!result)
        *ret_is_open = naming.is_open;
    return result;
}

bool latenames_is_open(const struct tables *tables, uint32_t stack, const bool *is_open)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(tables, stack, &depth);

    for (uint32_t i = 0; i < depth; i++)
        if (is_open[frames[i]])
            return true;
    return false;
}
