// SPDX-License-Identifier: Apache-2.0
/* Translating ids of foreign tables into a builder's. Each entry is translated once and remembered by its id. */
#include "profile/builder_internal.h"

struct builder_import {
    struct builder *builder;
    const struct tables *tables;
    const struct content *content; /* hashes of the tables, or NULL: then each is made when it is needed */
    /* id in the builder plus one, 0 = not met yet */
    uint32_t *strings, *mappings, *functions, *frames, *stacks, *label_sets, *links;
    uint32_t *scratch; /* frames of one stack */
    uint32_t ids[];
};

struct builder_import *builder_import_new(struct builder *b, const struct tables *t)
{
    size_t n = (size_t)t->n_strings + t->n_mappings + t->n_functions + t->n_frames + t->n_stacks + t->n_label_sets +
               t->n_links;
    struct builder_import *import;
    uint32_t *ids;

    if (builder_has_failed(b))
        return NULL;
    import = memory_alloc_zero(sizeof(*import) + (n + CONTENT_MAX_DEPTH) * sizeof(uint32_t), &b->failure);
    if (!import)
        return NULL;
    import->builder = b;
    import->tables = t;
    ids = import->ids;
    import->strings = ids;
    import->mappings = ids += t->n_strings;
    import->functions = ids += t->n_mappings;
    import->frames = ids += t->n_functions;
    import->stacks = ids += t->n_frames;
    import->label_sets = ids += t->n_stacks;
    import->links = ids += t->n_label_sets;
    import->scratch = ids + t->n_links;
    return import;
}

void builder_import_use(struct builder_import *import, const struct content *content)
{
    if (import)
        import->content = content;
}

/* Most things are known already: with the hash at hand that is one look, and nothing below needs to be imported. */
static bool is_known(const struct hash_set *set, const struct hash128 *hashes, uint32_t id, uint32_t *ret_translated)
{
    uint32_t found = hash_set_find(set, hashes[id]);

    if (found == HASH_NONE)
        return false;
    *ret_translated = found + 1;
    return true;
}

void builder_import_free(struct builder_import *import)
{
    memory_free(import);
}

uint32_t builder_import_string(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->strings[id] == 0 && !(import->content && is_known(&import->builder->string_set,
                                                                  import->content->strings, id, &import->strings[id])))
        import->strings[id] = builder_string(import->builder, import->tables->strings[id]) + 1;
    return import->strings[id] - 1;
}

uint32_t builder_import_mapping(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->mappings[id] == 0) {
        struct mapping mapping = import->tables->mappings[id];

        mapping.file = builder_import_string(import, mapping.file);
        mapping.build_id = builder_import_string(import, mapping.build_id);
        mapping.build_id_go = builder_import_string(import, mapping.build_id_go);
        mapping.build_id_hash = builder_import_string(import, mapping.build_id_hash);
        import->mappings[id] = builder_mapping(import->builder, &mapping) + 1;
    }
    return import->mappings[id] - 1;
}

uint32_t builder_import_function(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->functions[id] == 0 &&
        !(import->content &&
          is_known(&import->builder->function_set, import->content->functions, id, &import->functions[id]))) {
        struct function function = import->tables->functions[id];

        function.name = builder_import_string(import, function.name);
        function.system_name = builder_import_string(import, function.system_name);
        function.file = builder_import_string(import, function.file);
        import->functions[id] = builder_function(import->builder, &function) + 1;
    }
    return import->functions[id] - 1;
}

/* The same binary stands elsewhere in every process: the address moves to where the builder's mapping has it. */
static uint64_t rebase(const struct mapping *from, const struct mapping *to, uint64_t address)
{
    return address - from->start + from->offset + to->start - to->offset;
}

#define FEW_LINES 16

uint32_t builder_import_frame(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->frames[id] == 0 &&
        !(import->content && is_known(&import->builder->frame_set, import->content->frames, id, &import->frames[id]))) {
        struct builder *b = import->builder;
        struct frame frame = import->tables->frames[id];
        const struct line *lines = import->tables->lines + frame.first_line;
        struct line few[FEW_LINES];
        struct line *translated = few;
        uint32_t mapping = builder_import_mapping(import, frame.mapping);

        if (builder_has_failed(b))
            return 0;
        if (frame.n_lines > FEW_LINES) {
            translated = memory_alloc(frame.n_lines * sizeof(*translated), &b->failure);
            if (!translated)
                return 0;
        }
        for (uint32_t i = 0; i < frame.n_lines; i++) {
            translated[i] = lines[i];
            translated[i].function = builder_import_function(import, lines[i].function);
        }
        frame.address =
            frame.mapping ? rebase(&import->tables->mappings[frame.mapping], &b->mappings.items[mapping], frame.address)
                          : frame.address;
        frame.mapping = mapping;
        import->frames[id] = builder_frame(b, &frame, translated) + 1;
        if (translated != few)
            memory_free(translated);
    }
    return import->frames[id] - 1;
}

uint32_t builder_import_stack(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->stacks[id] == 0) {
        uint32_t depth;
        const uint32_t *frames = tables_stack(import->tables, id, &depth);

        depth = MIN(depth, (uint32_t)CONTENT_MAX_DEPTH);
        for (uint32_t i = 0; i < depth; i++)
            import->scratch[i] = builder_import_frame(import, frames[i]);
        import->stacks[id] = builder_stack(import->builder, import->scratch, depth) + 1;
    }
    return import->stacks[id] - 1;
}

uint32_t builder_import_label_set(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->label_sets[id] == 0) {
        struct builder *b = import->builder;
        uint32_t n;
        const struct label *labels = tables_label_set(import->tables, id, &n);
        AUTO(memory_freep) struct label *translated = NULL;

        if (builder_has_failed(b))
            return 0;
        translated = memory_alloc(n * sizeof(*translated), &b->failure);
        if (!translated)
            return 0;
        for (uint32_t i = 0; i < n; i++) {
            translated[i] = labels[i];
            translated[i].key = builder_import_string(import, labels[i].key);
            translated[i].text = builder_import_string(import, labels[i].text);
            translated[i].unit = builder_import_string(import, labels[i].unit);
        }
        import->label_sets[id] = builder_label_set(b, translated, n) + 1;
    }
    return import->label_sets[id] - 1;
}

uint32_t builder_import_link(struct builder_import *import, uint32_t id)
{
    if (!import)
        return 0;
    if (import->links[id] == 0)
        import->links[id] = builder_link(import->builder, &import->tables->links[id]) + 1;
    return import->links[id] - 1;
}

static struct value_type import_type(struct builder_import *import, struct value_type type)
{
    type.type = builder_import_string(import, type.type);
    type.unit = builder_import_string(import, type.unit);
    return type;
}

struct profile *builder_import_header(struct builder_import *import, const struct profile *from)
{
    struct builder *b;
    struct profile *profile;

    if (!import) {
        static _Thread_local struct profile nothing;

        return &nothing;
    }
    b = import->builder;
    profile = builder_profile(b);
    /* The first mapping is the program itself, by custom; it stays even where no sample is left in it. */
    if (import->tables->n_mappings > 1)
        builder_import_mapping(import, 1);
    profile->default_type = from->default_type;
    profile->period = from->period;
    profile->start_ns = from->start_ns;
    profile->duration_ns = from->duration_ns;
    memcpy(profile->profile_id, from->profile_id, sizeof(profile->profile_id));
    profile->period_type = import_type(import, from->period_type);
    profile->resource = builder_import_label_set(import, from->resource);
    profile->scope = builder_import_label_set(import, from->scope);
    profile->attributes = builder_import_label_set(import, from->attributes);
    profile->scope_name = builder_import_string(import, from->scope_name);
    profile->scope_version = builder_import_string(import, from->scope_version);
    profile->drop_frames = builder_import_string(import, from->drop_frames);
    profile->keep_frames = builder_import_string(import, from->keep_frames);
    profile->doc_url = builder_import_string(import, from->doc_url);
    if (!builder_has_failed(b) && from->n_comments) {
        profile->comments = memory_alloc(from->n_comments * sizeof(*profile->comments), &b->failure);
        profile->n_comments = profile->comments ? from->n_comments : 0;
        for (uint32_t i = 0; i < profile->n_comments; i++)
            profile->comments[i] = builder_import_string(import, from->comments[i]);
    }
    for (uint32_t i = 0; i < from->n_types; i++)
        builder_append_type(b, import_type(import, from->types[i]));
    return profile;
}
