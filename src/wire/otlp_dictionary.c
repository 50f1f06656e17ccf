// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_walk_internal.h"

/* --- room for the tables --- */

int otlp_dictionary_allocate(struct otlp_decoder *d, const struct otlp_document *documents, uint32_t n,
                             struct error *err)
{
    uint64_t totals[OTLP_TABLE_COUNT] = { 0 }, n_stack_frames = 0;
    struct tables *t = d->tables;
    struct arena *arena = d->arena;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++)
            totals[table] += documents[i].tables[table].n;
        n_stack_frames += documents[i].n_stack_frames;
    }
    for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++)
        if (MAX(totals[table], n_stack_frames) >= INT32_MAX)
            return error_set(err, ERR_LIMIT, "OTLP: a dictionary table has more than %d entries", INT32_MAX);
    if (totals[OTLP_DICTIONARY_STRINGS] > d->batch->limits.max_strings)
        return error_set(err, ERR_LIMIT, "OTLP: string_table has %llu entries, more than the %u allowed",
                         (unsigned long long)totals[OTLP_DICTIONARY_STRINGS], d->batch->limits.max_strings);
    if (tables_init_empty(t, arena, err) < 0)
        return -1;

    /* One more than there are, for the "none" entries; starts have one more still. Most locations have one line,
     * but code that was inlined is common. */
    d->capacity.strings = (uint32_t)totals[OTLP_DICTIONARY_STRINGS] + 1;
    d->capacity.stacks = (uint32_t)totals[OTLP_DICTIONARY_STACKS] + 2;
    d->capacity.stack_frames = (uint32_t)n_stack_frames;
    d->capacity.lines = (uint32_t)(totals[OTLP_DICTIONARY_LOCATIONS] + totals[OTLP_DICTIONARY_LOCATIONS] / 4);
    d->capacity.label_sets = 16;
    t->strings = ARENA_ARRAY(arena, struct slice, d->capacity.strings, err);
    t->mappings = t->strings ? ARENA_ARRAY(arena, struct mapping, totals[OTLP_DICTIONARY_MAPPINGS] + 1, err) : NULL;
    t->functions = t->mappings ? ARENA_ARRAY(arena, struct function, totals[OTLP_DICTIONARY_FUNCTIONS] + 1, err) : NULL;
    t->frames = t->functions ? ARENA_ARRAY(arena, struct frame, totals[OTLP_DICTIONARY_LOCATIONS] + 1, err) : NULL;
    t->links = t->frames ? ARENA_ARRAY(arena, struct link, totals[OTLP_DICTIONARY_LINKS] + 1, err) : NULL;
    t->stack_frames = t->links ? ARENA_ARRAY(arena, uint32_t, d->capacity.stack_frames, err) : NULL;
    t->stack_starts = t->stack_frames ? ARENA_ARRAY(arena, uint32_t, d->capacity.stacks, err) : NULL;
    t->label_set_starts = t->stack_starts ? ARENA_ARRAY(arena, uint32_t, d->capacity.label_sets, err) : NULL;
    t->lines = t->label_set_starts ? ARENA_ARRAY(arena, struct line, d->capacity.lines, err) : NULL;
    if (!t->lines)
        return -1;
    t->strings[0] = SLICE("");
    t->mappings[0] = (struct mapping){ 0 };
    t->functions[0] = (struct function){ 0 };
    t->frames[0] = (struct frame){ 0 };
    t->links[0] = (struct link){ { 0 }, { 0 } };
    t->stack_starts[0] = t->stack_starts[1] = 0;
    t->label_set_starts[0] = t->label_set_starts[1] = 0;
    return 0;
}

/* --- strings --- */

static int read_strings(struct otlp_decoder *d, struct error *err)
{
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_STRINGS, true);
    struct tables *t = d->tables;
    struct protobuf_reader entry;

    d->strings = otlp_walk_index(d, OTLP_DICTIONARY_STRINGS, t->n_strings, true);
    /* Texts of earlier requests may have taken the room of these. */
    if (OTLP_RESERVE(d, t->strings, strings, (uint64_t)t->n_strings + d->strings.n, err) < 0)
        return -1;
    while (otlp_walk_next(&walk, &entry)) {
        struct slice text = slice_of(entry.at, (size_t)(entry.end - entry.at));

        if (UNLIKELY(otlp_walk_is_none(&walk))) {
            if (text.len > 0)
                otlp_walk_report_not_empty(d, "string_table");
            continue;
        }
        t->strings[t->n_strings++] = text;
    }
    return otlp_walk_end(d, &walk, err);
}

/* --- mappings --- */

static void apply_to_mapping(struct otlp_decoder *d, struct mapping *m, uint32_t i, uint64_t index)
{
    const struct otlp_attribute *attribute = otlp_attributes_get(d, index, "mapping");
    const struct label *label;

    if (!attribute || attribute->n == 0)
        return;
    label = otlp_attributes_label(d, attribute);
    switch (attribute->meaning) {
    case OTLP_BUILD_ID_GNU: m->build_id = label->text; break;
    case OTLP_BUILD_ID_GO: m->build_id_go = label->text; break;
    case OTLP_BUILD_ID_HASH: m->build_id_hash = label->text; break;
    case OTLP_HAS_FUNCTIONS: m->flags |= label->number ? MAPPING_HAS_FUNCTIONS : 0; break;
    case OTLP_HAS_FILENAMES: m->flags |= label->number ? MAPPING_HAS_FILENAMES : 0; break;
    case OTLP_HAS_LINE_NUMBERS: m->flags |= label->number ? MAPPING_HAS_LINE_NUMBERS : 0; break;
    case OTLP_HAS_INLINE_FRAMES: m->flags |= label->number ? MAPPING_HAS_INLINE_FRAMES : 0; break;
    default: otlp_walk_report_no_place(d, "mapping", i, label);
    }
}

static struct mapping read_mapping(struct otlp_decoder *d, uint32_t i, struct protobuf_reader *r)
{
    struct mapping m = { 0 };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_MAPPING_START, PROTOBUF_VARINT): m.start = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_MAPPING_LIMIT, PROTOBUF_VARINT): m.limit = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_MAPPING_OFFSET, PROTOBUF_VARINT): m.offset = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_MAPPING_FILE, PROTOBUF_VARINT): m.file = otlp_read_string(d, protobuf_varint(r)); break;
        case PROTOBUF_TAG(OTLP_MAPPING_ATTRIBUTES, PROTOBUF_VARINT):
            apply_to_mapping(d, &m, i, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_MAPPING_ATTRIBUTES, PROTOBUF_BYTES): {
            struct protobuf_reader packed = protobuf_message(r);

            while (protobuf_more(&packed))
                apply_to_mapping(d, &m, i, protobuf_varint(&packed));
            protobuf_leave(r, &packed);
            break;
        }
        case PROTOBUF_TAG(OTLP_MAPPING_HAS_FUNCTIONS, PROTOBUF_VARINT):
            m.flags |= protobuf_varint(r) ? MAPPING_HAS_FUNCTIONS : 0;
            break;
        case PROTOBUF_TAG(OTLP_MAPPING_HAS_FILENAMES, PROTOBUF_VARINT):
            m.flags |= protobuf_varint(r) ? MAPPING_HAS_FILENAMES : 0;
            break;
        case PROTOBUF_TAG(OTLP_MAPPING_HAS_LINE_NUMBERS, PROTOBUF_VARINT):
            m.flags |= protobuf_varint(r) ? MAPPING_HAS_LINE_NUMBERS : 0;
            break;
        case PROTOBUF_TAG(OTLP_MAPPING_HAS_INLINE_FRAMES, PROTOBUF_VARINT):
            m.flags |= protobuf_varint(r) ? MAPPING_HAS_INLINE_FRAMES : 0;
            break;
        default: protobuf_skip_unknown(r, tag, OTLP_MAPPING_ATTRIBUTES);
        }
    }
    return m;
}

static int read_mappings(struct otlp_decoder *d, bool has_none, struct error *err)
{
    static const struct mapping none;
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_MAPPINGS, has_none);
    struct protobuf_reader entry;

    d->mappings = otlp_walk_index(d, OTLP_DICTIONARY_MAPPINGS, d->tables->n_mappings, has_none);
    while (otlp_walk_next(&walk, &entry)) {
        struct mapping mapping = read_mapping(d, walk.i, &entry);

        protobuf_leave(&walk.reader, &entry);
        if (!otlp_walk_is_none(&walk))
            d->tables->mappings[d->tables->n_mappings++] = mapping;
        else if (memcmp(&mapping, &none, sizeof(none)) != 0)
            otlp_walk_report_not_empty(d, "mapping_table");
    }
    return otlp_walk_end(d, &walk, err);
}

/* --- functions --- */

static struct function read_function(struct otlp_decoder *d, uint32_t i, struct protobuf_reader *r)
{
    struct function f = { 0 };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_FUNCTION_NAME, PROTOBUF_VARINT): f.name = otlp_read_string(d, protobuf_varint(r)); break;
        case PROTOBUF_TAG(OTLP_FUNCTION_SYSTEM_NAME, PROTOBUF_VARINT):
            f.system_name = otlp_read_string(d, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_FUNCTION_FILE, PROTOBUF_VARINT): f.file = otlp_read_string(d, protobuf_varint(r)); break;
        case PROTOBUF_TAG(OTLP_FUNCTION_START_LINE, PROTOBUF_VARINT):
            f.start_line = otlp_walk_line_number(d, "function", i, protobuf_varint(r));
            break;
        default: protobuf_skip_unknown(r, tag, OTLP_FUNCTION_START_LINE);
        }
    }
    return f;
}

/* A function whose fields are all as they should be. False if something is unusual; then it is read with care. */
static inline bool read_function_quickly(const struct otlp_decoder *d, const struct protobuf_reader *entry,
                                         struct function *ret_function)
{
    const uint8_t *at = entry->at, *end = entry->end, *before = NULL;
    uint64_t name = 0, system_name = 0, file = 0, start_line = 0;

    if (UNLIKELY(!protobuf_has_margin(end, d->document->bytes)))
        return false;
    while (at < end) {
        if (UNLIKELY(at == before))
            return false; /* a field that is none of these */
        before = at;
        OTLP_TAKE_VARINT(at, end, OTLP_FUNCTION_NAME, name);
        OTLP_TAKE_VARINT(at, end, OTLP_FUNCTION_SYSTEM_NAME, system_name);
        OTLP_TAKE_VARINT(at, end, OTLP_FUNCTION_FILE, file);
        OTLP_TAKE_VARINT(at, end, OTLP_FUNCTION_START_LINE, start_line);
    }
    if (UNLIKELY(at != end || !otlp_index_find(&d->strings, name, &ret_function->name) ||
                 !otlp_index_find(&d->strings, system_name, &ret_function->system_name) ||
                 !otlp_index_find(&d->strings, file, &ret_function->file) || start_line > UINT32_MAX))
        return false;
    ret_function->start_line = (uint32_t)start_line;
    return true;
}

static int read_functions(struct otlp_decoder *d, bool has_none, struct error *err)
{
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_FUNCTIONS, has_none);
    struct tables *t = d->tables;
    struct protobuf_reader entry;

    d->functions = otlp_walk_index(d, OTLP_DICTIONARY_FUNCTIONS, t->n_functions, has_none);
    while (otlp_walk_next(&walk, &entry)) {
        struct function *function = &t->functions[t->n_functions];

        if (UNLIKELY(!read_function_quickly(d, &entry, function))) {
            struct protobuf_reader again = entry;

            *function = read_function(d, walk.i, &again);
            protobuf_leave(&walk.reader, &again);
        }
        t->n_functions += !otlp_walk_is_none(&walk);
        if (otlp_walk_is_none(&walk) &&
            (function->name || function->system_name || function->file || function->start_line))
            otlp_walk_report_not_empty(d, "function_table");
    }
    return otlp_walk_end(d, &walk, err);
}

/* --- links --- */

static void read_id(struct otlp_decoder *d, struct slice bytes, uint8_t *id, size_t len, uint32_t i)
{
    if (bytes.len == len)
        memcpy(id, bytes.ptr, len);
    else if (bytes.len > 0)
        report_add(d->report, "trace or span id of the wrong length; left out", 1, "link %u: %zu bytes, not %zu", i,
                   bytes.len, len);
}

static struct link read_link(struct otlp_decoder *d, uint32_t i, struct protobuf_reader *r)
{
    struct link link = { { 0 }, { 0 } };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_LINK_TRACE_ID, PROTOBUF_BYTES):
            read_id(d, protobuf_bytes(r), link.trace_id, sizeof(link.trace_id), i);
            break;
        case PROTOBUF_TAG(OTLP_LINK_SPAN_ID, PROTOBUF_BYTES):
            read_id(d, protobuf_bytes(r), link.span_id, sizeof(link.span_id), i);
            break;
        default: protobuf_skip_unknown(r, tag, OTLP_LINK_SPAN_ID);
        }
    }
    return link;
}

static int read_links(struct otlp_decoder *d, bool has_none, struct error *err)
{
    static const struct link none;
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_LINKS, has_none);
    struct protobuf_reader entry;

    d->links = otlp_walk_index(d, OTLP_DICTIONARY_LINKS, d->tables->n_links, has_none);
    while (otlp_walk_next(&walk, &entry)) {
        struct link link = read_link(d, walk.i, &entry);

        protobuf_leave(&walk.reader, &entry);
        if (!otlp_walk_is_none(&walk))
            d->tables->links[d->tables->n_links++] = link;
        else if (memcmp(&link, &none, sizeof(none)) != 0)
            otlp_walk_report_not_empty(d, "link_table");
    }
    return otlp_walk_end(d, &walk, err);
}

/* --- all of it --- */

int otlp_dictionary_read(struct otlp_decoder *d, struct error *err)
{
    bool has_none = !d->document->numbering->is_old;

    d->attribute_index = otlp_walk_index(d, OTLP_DICTIONARY_ATTRIBUTES, has_none ? 1 : 0, has_none);
    if (read_strings(d, err) < 0 || otlp_attributes_read(d, err) < 0 || read_mappings(d, has_none, err) < 0 ||
        read_functions(d, has_none, err) < 0 || read_links(d, has_none, err) < 0 ||
        otlp_frames_read(d, has_none, err) < 0)
        return -1;
    return otlp_stacks_read(d, has_none, err);
}
