// SPDX-License-Identifier: Apache-2.0
#include "wire/json_reader.h"
#include "wire/otlp_write_internal.h"

static void note_failure(struct otlp_writer *w, const struct error *err)
{
    if (w->failure.code == ERR_OK)
        w->failure = *err;
}

/* The index of an entry in its table; it is added if it is new. */
static uint32_t add_entry(struct otlp_writer *w, uint32_t table, struct slice entry)
{
    struct otlp_writer_table *out = &w->out[table];
    struct error err;
    uint32_t index;
    bool is_new;

    if (w->failure.code != ERR_OK)
        return 0;
    if (hash_set_add(&out->hashes, hash_bytes(entry, 0), &index, &is_new, &err) < 0) {
        note_failure(w, &err);
        return 0;
    }
    if (is_new)
        protobuf_put_bytes_always(&out->fields, table, entry);
    return index;
}

static uint32_t add_scratch_entry(struct otlp_writer *w, uint32_t table)
{
    struct error err;

    if (buffer_check(&w->entry, &err) < 0)
        note_failure(w, &err);
    return add_entry(w, table, buffer_slice(&w->entry));
}

static uint32_t *new_indexes(struct otlp_writer *w, uint32_t n, struct error *err)
{
    uint32_t *indexes = ARENA_ARRAY(&w->arena, uint32_t, n, err);

    if (indexes)
        memset(indexes, 0xff, n * sizeof(*indexes)); /* OTLP_NOT_MET */
    return indexes;
}

int otlp_writer_init(struct otlp_writer *w, const struct batch *batch, struct error *err)
{
    const struct tables *t = &batch->tables;
    size_t max_bytes = batch->limits.max_memory_bytes;

    *w = (struct otlp_writer){ .tables = t, .failure = { .code = ERR_OK } };
    arena_init(&w->arena, max_bytes);
    buffer_init(&w->text, max_bytes);
    buffer_init(&w->value, max_bytes);
    buffer_init(&w->indexes, max_bytes);
    buffer_init(&w->entry, max_bytes);
    for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++) {
        buffer_init(&w->out[table].fields, max_bytes);
        hash_set_init(&w->out[table].hashes, INT32_MAX);
    }
    if (!(w->strings = new_indexes(w, t->n_strings, err)) || !(w->mappings = new_indexes(w, t->n_mappings, err)) ||
        !(w->functions = new_indexes(w, t->n_functions, err)) || !(w->frames = new_indexes(w, t->n_frames, err)) ||
        !(w->stacks = new_indexes(w, t->n_stacks, err)) || !(w->links = new_indexes(w, t->n_links, err)))
        return -1;
    w->label_sets = arena_alloc_array(&w->arena, t->n_label_sets, sizeof(*w->label_sets), err);
    if (!w->label_sets)
        return -1;
    if (t->n_label_sets > 0)
        memset(w->label_sets, 0, t->n_label_sets * sizeof(*w->label_sets));
    /* Entry 0 of every table is the empty one. */
    for (uint32_t table = OTLP_DICTIONARY_MAPPINGS; table <= OTLP_DICTIONARY_STACKS; table++)
        (void)add_entry(w, table, SLICE(""));
    return 0;
}

void otlp_writer_done(struct otlp_writer *w)
{
    for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++) {
        buffer_done(&w->out[table].fields);
        hash_set_done(&w->out[table].hashes);
    }
    buffer_done(&w->text);
    buffer_done(&w->value);
    buffer_done(&w->indexes);
    buffer_done(&w->entry);
    arena_done(&w->arena);
}

int otlp_writer_check(const struct otlp_writer *w, struct error *err)
{
    if (w->failure.code != ERR_OK) {
        *err = w->failure;
        return -1;
    }
    for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++)
        if (buffer_check(&w->out[table].fields, err) < 0)
            return -1;
    return 0;
}

void otlp_writer_put_dictionary(const struct otlp_writer *w, struct buffer *out)
{
    for (uint32_t table = 1; table < OTLP_TABLE_COUNT; table++)
        buffer_append_slice(out, buffer_slice(&w->out[table].fields));
}

/* --- texts --- */

/* The text itself if it is UTF-8, else a copy in scratch with every byte that is wrong replaced. */
static struct slice repair(struct otlp_writer *w, struct slice text)
{
    struct error err;

    if (slice_is_utf8(text))
        return text;
    buffer_clear(&w->text);
    while (text.len > 0) {
        size_t step = slice_utf8_len(text);

        if (step > 0)
            buffer_append(&w->text, text.ptr, step);
        else
            buffer_append_text(&w->text, UTF8_REPLACEMENT);
        text = slice_sub(text, MAX(step, 1), SIZE_MAX);
    }
    if (buffer_check(&w->text, &err) < 0)
        note_failure(w, &err);
    return buffer_slice(&w->text);
}

uint32_t otlp_writer_string(struct otlp_writer *w, uint32_t id)
{
    if (w->strings[id] == OTLP_NOT_MET)
        w->strings[id] = add_entry(w, OTLP_DICTIONARY_STRINGS, repair(w, tables_string(w->tables, id)));
    return w->strings[id];
}

void otlp_writer_put_text(struct otlp_writer *w, struct buffer *out, uint32_t field, struct slice text)
{
    protobuf_put_bytes_always(out, field, repair(w, text));
}

/* --- attribute values, without the tag and length around them --- */

void otlp_writer_put_key(struct otlp_writer *w, struct buffer *out, struct slice key)
{
    if (w->uses_indexes)
        protobuf_put_uint(out, OTLP_KEY_VALUE_KEY_INDEX, add_entry(w, OTLP_DICTIONARY_STRINGS, repair(w, key)));
    else
        otlp_writer_put_text(w, out, OTLP_KEY_VALUE_KEY, key);
}

void otlp_writer_put_string(struct otlp_writer *w, struct buffer *out, struct slice text)
{
    if (w->uses_indexes)
        protobuf_put_uint_always(out, OTLP_VALUE_STRING_INDEX, add_entry(w, OTLP_DICTIONARY_STRINGS, repair(w, text)));
    else
        otlp_writer_put_text(w, out, OTLP_VALUE_STRING, text);
}

static void put_json_value(struct otlp_writer *w, struct buffer *out, struct json_reader *r);

static void put_json_list(struct otlp_writer *w, struct buffer *out, struct json_reader *r)
{
    size_t list = protobuf_begin(out, OTLP_VALUE_ARRAY);

    json_reader_enter_array(r);
    while (json_reader_next_item(r)) {
        size_t item = protobuf_begin(out, OTLP_LIST_VALUES);

        put_json_value(w, out, r);
        protobuf_end(out, item);
    }
    protobuf_end(out, list);
}

static void put_json_map(struct otlp_writer *w, struct buffer *out, struct json_reader *r)
{
    size_t list = protobuf_begin(out, OTLP_VALUE_MAP);
    struct slice key;

    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        size_t item = protobuf_begin(out, OTLP_LIST_VALUES), value;

        otlp_writer_put_key(w, out, key);
        value = protobuf_begin(out, OTLP_KEY_VALUE_VALUE);
        put_json_value(w, out, r);
        protobuf_end(out, value);
        protobuf_end(out, item);
    }
    protobuf_end(out, list);
}

static void put_double(struct buffer *out, double real)
{
    uint64_t bits;

    memcpy(&bits, &real, sizeof(bits));
    protobuf_put_fixed64_always(out, OTLP_VALUE_DOUBLE, bits);
}

static void put_json_value(struct otlp_writer *w, struct buffer *out, struct json_reader *r)
{
    struct slice number;
    int64_t whole;
    double real;

    switch (json_reader_peek(r)) {
    case JSON_STRING: otlp_writer_put_string(w, out, json_reader_text(r)); break;
    case JSON_BOOL: protobuf_put_uint_always(out, OTLP_VALUE_BOOL, json_reader_bool(r)); break;
    case JSON_NUMBER:
        number = json_reader_number(r);
        if (slice_to_i64(number, &whole))
            protobuf_put_uint_always(out, OTLP_VALUE_INT, (uint64_t)whole);
        else if (slice_to_double(number, &real))
            put_double(out, real);
        else
            otlp_writer_put_string(w, out, number);
        break;
    case JSON_ARRAY: put_json_list(w, out, r); break;
    case JSON_OBJECT: put_json_map(w, out, r); break;
    case JSON_NULL:
    case JSON_NOTHING: json_reader_skip(r); break;
    }
}

/* The JSON of a list or map as such; text that turns out to be none stays text. */
static void put_json(struct otlp_writer *w, struct buffer *out, struct slice json)
{
    size_t start = out->len;
    struct json_reader r;
    struct error err;

    json_reader_init(&r, json, &w->arena, JSON_READER_MAX_DEPTH);
    put_json_value(w, out, &r);
    json_reader_end(&r);
    if (json_reader_check(&r, &err) == 0)
        return;
    if (err.code != ERR_CORRUPT && err.code != ERR_LIMIT)
        note_failure(w, &err);
    if (out->failure.code == ERR_OK)
        buffer_truncate(out, start);
    otlp_writer_put_string(w, out, json);
}

static void put_value(struct otlp_writer *w, struct buffer *out, const struct label *label)
{
    struct slice text = tables_string(w->tables, label->text);

    switch ((enum label_kind)label->kind) {
    case LABEL_STRING: otlp_writer_put_string(w, out, text); break;
    case LABEL_NUMBER: protobuf_put_uint_always(out, OTLP_VALUE_INT, (uint64_t)label->number); break;
    case LABEL_BOOL: protobuf_put_uint_always(out, OTLP_VALUE_BOOL, label->number != 0); break;
    case LABEL_DOUBLE: protobuf_put_fixed64_always(out, OTLP_VALUE_DOUBLE, (uint64_t)label->number); break;
    case LABEL_BYTES: protobuf_put_bytes_always(out, OTLP_VALUE_BYTES, text); break;
    case LABEL_JSON: put_json(w, out, text); break;
    }
}

static bool have_same_key(const struct otlp_writer *w, const struct label *a, const struct label *b)
{
    return a->key == b->key || slice_equal(tables_string(w->tables, a->key), tables_string(w->tables, b->key));
}

/* Whether a label before `i` has its key already: then it was written with that one. */
static bool is_written(const struct otlp_writer *w, const struct label *labels, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (have_same_key(w, &labels[j], &labels[i]))
            return true;
    return false;
}

/* The value of label `i`; where others behind it have its key, a list of all. A key may occur once only. */
static void put_values_of_key(struct otlp_writer *w, struct buffer *out, const struct label *labels, uint32_t n,
                              uint32_t i)
{
    uint32_t n_same = 0;
    size_t list;

    for (uint32_t j = i; j < n; j++)
        n_same += have_same_key(w, &labels[i], &labels[j]);
    if (n_same == 1) {
        put_value(w, out, &labels[i]);
        return;
    }
    list = protobuf_begin(out, OTLP_VALUE_ARRAY);
    for (uint32_t j = i; j < n; j++) {
        size_t item;

        if (!have_same_key(w, &labels[i], &labels[j]))
            continue;
        item = protobuf_begin(out, OTLP_LIST_VALUES);
        put_value(w, out, &labels[j]);
        protobuf_end(out, item);
    }
    protobuf_end(out, list);
}

void otlp_writer_put_key_values(struct otlp_writer *w, struct buffer *out, uint32_t field, uint32_t label_set)
{
    uint32_t n;
    const struct label *labels = tables_label_set(w->tables, label_set, &n);

    w->uses_indexes = true;
    for (uint32_t i = 0; i < n; i++) {
        size_t begin, value;

        if (is_written(w, labels, i))
            continue;
        begin = protobuf_begin(out, field);
        otlp_writer_put_key(w, out, tables_string(w->tables, labels[i].key));
        value = protobuf_begin(out, OTLP_KEY_VALUE_VALUE);
        put_values_of_key(w, out, labels, n, i);
        protobuf_end(out, value);
        protobuf_end(out, begin);
    }
    w->uses_indexes = false;
}

/* --- the attribute table --- */

/* An attribute with the value in scratch. */
static uint32_t add_attribute(struct otlp_writer *w, uint32_t key_index, uint32_t unit_index)
{
    struct error err;

    if (buffer_check(&w->value, &err) < 0)
        note_failure(w, &err);
    buffer_clear(&w->entry);
    protobuf_put_uint(&w->entry, OTLP_ATTRIBUTE_KEY, key_index);
    protobuf_put_bytes_always(&w->entry, OTLP_ATTRIBUTE_VALUE, buffer_slice(&w->value));
    protobuf_put_uint(&w->entry, OTLP_ATTRIBUTE_UNIT_INDEX, unit_index);
    return add_scratch_entry(w, OTLP_DICTIONARY_ATTRIBUTES);
}

static uint32_t add_known_attribute(struct otlp_writer *w, enum otlp_meaning meaning)
{
    return add_attribute(w, add_entry(w, OTLP_DICTIONARY_STRINGS, slice_from(otlp_attributes_key(meaning))), 0);
}

static uint32_t add_true_attribute(struct otlp_writer *w, enum otlp_meaning meaning)
{
    buffer_clear(&w->value);
    protobuf_put_uint_always(&w->value, OTLP_VALUE_BOOL, 1);
    return add_known_attribute(w, meaning);
}

uint32_t otlp_writer_text_attribute(struct otlp_writer *w, enum otlp_meaning meaning, uint32_t string)
{
    buffer_clear(&w->value);
    otlp_writer_put_text(w, &w->value, OTLP_VALUE_STRING, tables_string(w->tables, string));
    return add_known_attribute(w, meaning);
}

uint32_t otlp_writer_list_attribute(struct otlp_writer *w, enum otlp_meaning meaning, const uint32_t *strings,
                                    uint32_t n)
{
    size_t list;

    buffer_clear(&w->value);
    list = protobuf_begin(&w->value, OTLP_VALUE_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        size_t item = protobuf_begin(&w->value, OTLP_LIST_VALUES);

        otlp_writer_put_text(w, &w->value, OTLP_VALUE_STRING, tables_string(w->tables, strings[i]));
        protobuf_end(&w->value, item);
    }
    protobuf_end(&w->value, list);
    return add_known_attribute(w, meaning);
}

struct slice otlp_writer_label_set(struct otlp_writer *w, uint32_t id)
{
    uint32_t n;
    const struct label *labels = tables_label_set(w->tables, id, &n);
    struct error err;

    if (w->label_sets[id].ptr)
        return w->label_sets[id];
    buffer_clear(&w->indexes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t key, unit; /* each in its own step: C leaves the order of arguments open */

        if (is_written(w, labels, i))
            continue;
        key = otlp_writer_string(w, labels[i].key);
        unit = otlp_writer_string(w, labels[i].unit);
        buffer_clear(&w->value);
        put_values_of_key(w, &w->value, labels, n, i);
        protobuf_put_varint(&w->indexes, add_attribute(w, key, unit));
    }
    if (buffer_check(&w->indexes, &err) < 0) {
        note_failure(w, &err);
        return SLICE("");
    }
    w->label_sets[id] = arena_copy(&w->arena, buffer_slice(&w->indexes), &err);
    if (!w->label_sets[id].ptr) {
        note_failure(w, &err);
        return SLICE("");
    }
    return w->label_sets[id];
}

/* --- mappings, functions, frames, stacks, links --- */

static uint32_t add_mapping(struct otlp_writer *w, uint32_t id)
{
    static const struct {
        uint32_t flag;
        enum otlp_meaning meaning;
    } flags[] = {
        { MAPPING_HAS_FUNCTIONS, OTLP_HAS_FUNCTIONS },
        { MAPPING_HAS_FILENAMES, OTLP_HAS_FILENAMES },
        { MAPPING_HAS_LINE_NUMBERS, OTLP_HAS_LINE_NUMBERS },
        { MAPPING_HAS_INLINE_FRAMES, OTLP_HAS_INLINE_FRAMES },
    };
    const struct mapping *m = &w->tables->mappings[id];
    uint32_t attributes[3 + ARRAY_LEN(flags)], n = 0, file = otlp_writer_string(w, m->file);

    if (m->build_id)
        attributes[n++] = otlp_writer_text_attribute(w, OTLP_BUILD_ID_GNU, m->build_id);
    if (m->build_id_go)
        attributes[n++] = otlp_writer_text_attribute(w, OTLP_BUILD_ID_GO, m->build_id_go);
    if (m->build_id_hash)
        attributes[n++] = otlp_writer_text_attribute(w, OTLP_BUILD_ID_HASH, m->build_id_hash);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (m->flags & flags[i].flag)
            attributes[n++] = add_true_attribute(w, flags[i].meaning);
    buffer_clear(&w->entry);
    protobuf_put_uint(&w->entry, OTLP_MAPPING_START, m->start);
    protobuf_put_uint(&w->entry, OTLP_MAPPING_LIMIT, m->limit);
    protobuf_put_uint(&w->entry, OTLP_MAPPING_OFFSET, m->offset);
    protobuf_put_uint(&w->entry, OTLP_MAPPING_FILE, file);
    protobuf_put_packed(&w->entry, OTLP_MAPPING_ATTRIBUTES, attributes, n);
    return add_scratch_entry(w, OTLP_DICTIONARY_MAPPINGS);
}

static uint32_t write_mapping(struct otlp_writer *w, uint32_t id)
{
    if (w->mappings[id] == OTLP_NOT_MET)
        w->mappings[id] = id ? add_mapping(w, id) : 0;
    return w->mappings[id];
}

static uint32_t add_function(struct otlp_writer *w, uint32_t id)
{
    const struct function *f = &w->tables->functions[id];
    uint32_t name = otlp_writer_string(w, f->name), system_name = otlp_writer_string(w, f->system_name);
    uint32_t file = otlp_writer_string(w, f->file);

    if (!name && !system_name && !file)
        return 0; /* the format wants at least one of them */
    buffer_clear(&w->entry);
    protobuf_put_uint(&w->entry, OTLP_FUNCTION_NAME, name);
    protobuf_put_uint(&w->entry, OTLP_FUNCTION_SYSTEM_NAME, system_name);
    protobuf_put_uint(&w->entry, OTLP_FUNCTION_FILE, file);
    protobuf_put_uint(&w->entry, OTLP_FUNCTION_START_LINE, f->start_line);
    return add_scratch_entry(w, OTLP_DICTIONARY_FUNCTIONS);
}

static uint32_t write_function(struct otlp_writer *w, uint32_t id)
{
    if (w->functions[id] == OTLP_NOT_MET)
        w->functions[id] = add_function(w, id);
    return w->functions[id];
}

static uint32_t add_frame_type(struct otlp_writer *w, enum frame_kind kind)
{
    buffer_clear(&w->value);
    protobuf_put_bytes_always(&w->value, OTLP_VALUE_STRING, slice_from(frame_kind_name(kind)));
    return add_known_attribute(w, OTLP_FRAME_TYPE);
}

static uint32_t add_frame(struct otlp_writer *w, uint32_t id)
{
    const struct frame *f = &w->tables->frames[id];
    uint32_t attributes[2], n = 0, mapping = write_mapping(w, f->mapping);

    if (f->kind != FRAME_UNKNOWN)
        attributes[n++] = add_frame_type(w, f->kind);
    if (f->flags & FRAME_IS_FOLDED)
        attributes[n++] = add_true_attribute(w, OTLP_IS_FOLDED);
    for (uint32_t i = 0; i < f->n_lines; i++)
        (void)write_function(w, w->tables->lines[f->first_line + i].function);
    buffer_clear(&w->entry);
    protobuf_put_uint(&w->entry, OTLP_LOCATION_MAPPING, mapping);
    protobuf_put_uint(&w->entry, OTLP_LOCATION_ADDRESS, f->address);
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const struct line *line = &w->tables->lines[f->first_line + i];
        size_t begin;

        if (w->functions[line->function] == 0 && line->line == 0 && line->column == 0)
            continue; /* says nothing, and would be read as nothing */
        begin = protobuf_begin(&w->entry, OTLP_LOCATION_LINES);
        protobuf_put_uint(&w->entry, OTLP_LINE_FUNCTION, w->functions[line->function]);
        protobuf_put_uint(&w->entry, OTLP_LINE_LINE, line->line);
        protobuf_put_uint(&w->entry, OTLP_LINE_COLUMN, line->column);
        protobuf_end(&w->entry, begin);
    }
    protobuf_put_packed(&w->entry, OTLP_LOCATION_ATTRIBUTES, attributes, n);
    return add_scratch_entry(w, OTLP_DICTIONARY_LOCATIONS);
}

static uint32_t write_frame(struct otlp_writer *w, uint32_t id)
{
    if (w->frames[id] == OTLP_NOT_MET)
        w->frames[id] = add_frame(w, id);
    return w->frames[id];
}

static uint32_t add_stack(struct otlp_writer *w, uint32_t id)
{
    uint32_t depth, n = 0;
    const uint32_t *frames = tables_stack(w->tables, id, &depth);
    size_t begin;

    for (uint32_t i = 0; i < depth; i++)
        n += write_frame(w, frames[i]) != 0;
    if (n == 0)
        return 0;
    buffer_clear(&w->entry);
    begin = protobuf_begin(&w->entry, OTLP_STACK_LOCATIONS);
    for (uint32_t i = 0; i < depth; i++)
        if (w->frames[frames[i]] != 0) /* a frame of which nothing is known has no place: location 0 means none */
            protobuf_put_varint(&w->entry, w->frames[frames[i]]);
    protobuf_end(&w->entry, begin);
    return add_scratch_entry(w, OTLP_DICTIONARY_STACKS);
}

uint32_t otlp_writer_stack(struct otlp_writer *w, uint32_t id)
{
    if (w->stacks[id] == OTLP_NOT_MET)
        w->stacks[id] = add_stack(w, id);
    return w->stacks[id];
}

static uint32_t add_link(struct otlp_writer *w, uint32_t id)
{
    static const struct link none;
    const struct link *link = &w->tables->links[id];

    if (memcmp(link, &none, sizeof(none)) == 0)
        return 0;
    buffer_clear(&w->entry);
    protobuf_put_bytes_always(&w->entry, OTLP_LINK_TRACE_ID, slice_of(link->trace_id, sizeof(link->trace_id)));
    protobuf_put_bytes_always(&w->entry, OTLP_LINK_SPAN_ID, slice_of(link->span_id, sizeof(link->span_id)));
    return add_scratch_entry(w, OTLP_DICTIONARY_LINKS);
}

uint32_t otlp_writer_link(struct otlp_writer *w, uint32_t id)
{
    if (w->links[id] == OTLP_NOT_MET)
        w->links[id] = add_link(w, id);
    return w->links[id];
}
