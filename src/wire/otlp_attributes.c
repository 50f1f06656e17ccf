// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"
#include "base/map.h"
#include "wire/otlp_json_internal.h"
#include "wire/otlp_read_internal.h"

/* Lists and maps inside each other; what is deeper is dropped. */
#define MAX_VALUE_DEPTH 16

static const char outside[] = "attribute index outside the attribute table; dropped";
static const char too_large[] = "attribute with lists nested too deeply or too long; dropped";
static const char too_many[] = "more labels than the limit; the last were dropped";

/* Keys that mean something to us; the first of a meaning is the one we write. */
static const struct {
    const char *key;
    enum otlp_meaning meaning;
} known_keys[] = {
    { "profile.frame.type", OTLP_FRAME_TYPE },
    { "pprof.location.is_folded", OTLP_IS_FOLDED },
    { "process.executable.build_id.gnu", OTLP_BUILD_ID_GNU },
    { "process.executable.build_id.go", OTLP_BUILD_ID_GO },
    { "process.executable.build_id.htlhash", OTLP_BUILD_ID_HASH },
    { "process.executable.build_id.profiling", OTLP_BUILD_ID_HASH },
    { "pprof.mapping.has_functions", OTLP_HAS_FUNCTIONS },
    { "pprof.mapping.has_filenames", OTLP_HAS_FILENAMES },
    { "pprof.mapping.has_line_numbers", OTLP_HAS_LINE_NUMBERS },
    { "pprof.mapping.has_inline_frames", OTLP_HAS_INLINE_FRAMES },
    { "pprof.profile.comment", OTLP_COMMENT },
    { "pprof.profile.drop_frames", OTLP_DROP_FRAMES },
    { "pprof.profile.keep_frames", OTLP_KEEP_FRAMES },
    { "pprof.profile.doc_url", OTLP_DOC_URL },
    { "pprof.scope.default_sample_type", OTLP_DEFAULT_SAMPLE_TYPE },
    { "pprof.scope.sample_type_order", OTLP_SAMPLE_TYPE_ORDER },
};

const char *otlp_attributes_key(enum otlp_meaning meaning)
{
    for (size_t i = 0; i < ARRAY_LEN(known_keys); i++)
        if (known_keys[i].meaning == meaning)
            return known_keys[i].key;
    return "";
}

static enum otlp_meaning meaning_of(struct slice key)
{
    if (key.len == 0 || key.ptr[0] != 'p') /* as all known ones do */
        return OTLP_PLAIN;
    for (size_t i = 0; i < ARRAY_LEN(known_keys); i++)
        if (slice_is(key, known_keys[i].key))
            return known_keys[i].meaning;
    /* Some write each comment under a key of its own: pprof.profile.comment.0, and so on. */
    return slice_starts_with(key, SLICE("pprof.profile.comment.")) ? OTLP_COMMENT : OTLP_PLAIN;
}

/* --- values --- */

/* An AnyValue: which of its fields is set (0 = none), and what it holds. */
struct value {
    uint32_t field;
    uint64_t number;
    struct slice bytes;
};

static struct value read_value(struct protobuf_reader *r)
{
    struct value value = { 0 };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_VALUE_STRING, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_VALUE_ARRAY, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_VALUE_MAP, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_VALUE_BYTES, PROTOBUF_BYTES): value.bytes = protobuf_bytes(r); break;
        case PROTOBUF_TAG(OTLP_VALUE_BOOL, PROTOBUF_VARINT):
        case PROTOBUF_TAG(OTLP_VALUE_INT, PROTOBUF_VARINT):
        case PROTOBUF_TAG(OTLP_VALUE_STRING_INDEX, PROTOBUF_VARINT): value.number = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_VALUE_DOUBLE, PROTOBUF_FIXED64): value.number = protobuf_fixed64(r); break;
        default: protobuf_skip_unknown(r, tag, OTLP_VALUE_STRING_INDEX); continue;
        }
        value.field = PROTOBUF_FIELD(tag);
    }
    return value;
}

static struct value read_nested_value(struct protobuf_reader *r)
{
    struct protobuf_reader inner = protobuf_message(r);
    struct value value = read_value(&inner);

    protobuf_leave(r, &inner);
    return value;
}

/* A KeyValue: the key as bytes or as a string id, and the value. */
struct key_value {
    struct slice key;
    uint32_t key_id; /* 0 = the key is in `key` */
    bool has_key;    /* false: its index is out of range */
    struct value value;
};

static struct key_value read_key_value(struct otlp_decoder *d, struct protobuf_reader *r)
{
    struct key_value kv = { .has_key = true };
    uint64_t index = 0;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_KEY_VALUE_KEY, PROTOBUF_BYTES): kv.key = protobuf_bytes(r); break;
        case PROTOBUF_TAG(OTLP_KEY_VALUE_VALUE, PROTOBUF_BYTES): kv.value = read_nested_value(r); break;
        case PROTOBUF_TAG(OTLP_KEY_VALUE_KEY_INDEX, PROTOBUF_VARINT): index = protobuf_varint(r); break;
        default: protobuf_skip_unknown(r, tag, OTLP_KEY_VALUE_KEY_INDEX);
        }
    }
    if (!otlp_index_find(&d->strings, index, &kv.key_id)) {
        kv.has_key = false;
        report_add(d->report, "attribute whose key is outside the string table; dropped", 1, "string %lld of %u",
                   (long long)index, d->strings.n);
    }
    return kv;
}

static struct slice key_text(const struct otlp_decoder *d, const struct key_value *kv)
{
    return kv->key_id ? tables_string(d->tables, kv->key_id) : kv->key;
}

/* --- lists and maps as JSON --- */

/* One value being made into text. */
struct json_value {
    struct otlp_decoder *decoder;
    struct json json;
    struct protobuf_reader failed; /* what was wrong with the bytes */
    struct error failure;          /* of memory; code ERR_OK while all is well */
    bool is_too_large;
};

static void put_json(struct json_value *v, const struct value *value, uint32_t depth);

static bool is_json_ended(const struct json_value *v)
{
    return v->is_too_large || v->failed.bad || v->failure.code != ERR_OK || v->decoder->text.failure.code != ERR_OK;
}

static void put_json_items(struct json_value *v, struct slice list, bool is_map, uint32_t depth)
{
    struct protobuf_reader r = protobuf_reader_of(list);
    uint32_t tag;

    while (!is_json_ended(v) && protobuf_next(&r, &tag)) {
        struct key_value kv;

        if (tag != PROTOBUF_TAG(OTLP_LIST_VALUES, PROTOBUF_BYTES)) {
            protobuf_skip_unknown(&r, tag, OTLP_LIST_VALUES);
            continue;
        }
        if (is_map) {
            struct protobuf_reader inner = protobuf_message(&r);

            kv = read_key_value(v->decoder, &inner);
            protobuf_leave(&r, &inner);
            json_key_slice(&v->json, key_text(v->decoder, &kv));
        } else {
            kv.value = read_nested_value(&r);
        }
        put_json(v, &kv.value, depth);
    }
    protobuf_leave(&v->failed, &r);
}

static void put_json_list(struct json_value *v, const struct value *value, uint32_t depth)
{
    if (depth == MAX_VALUE_DEPTH) {
        v->is_too_large = true;
        json_null(&v->json);
    } else if (value->field == OTLP_VALUE_MAP) {
        json_object_begin(&v->json);
        put_json_items(v, value->bytes, true, depth + 1);
        json_object_end(&v->json);
    } else {
        json_array_begin(&v->json);
        put_json_items(v, value->bytes, false, depth + 1);
        json_array_end(&v->json);
    }
}

static void put_json_bytes(struct json_value *v, struct slice bytes)
{
    struct buffer base64;

    buffer_init(&base64, OTLP_MAX_JSON_BYTES);
    base64_encode(bytes, true, &base64);
    if (base64.failure.code == ERR_LIMIT)
        v->is_too_large = true;
    else
        v->failure = base64.failure;
    json_string(&v->json, buffer_slice(&base64));
    buffer_done(&base64);
}

static void put_json(struct json_value *v, const struct value *value, uint32_t depth)
{
    struct otlp_decoder *d = v->decoder;
    double real;

    switch (value->field) {
    case OTLP_VALUE_STRING: json_string(&v->json, value->bytes); break;
    case OTLP_VALUE_STRING_INDEX:
        json_string(&v->json, tables_string(d->tables, otlp_read_string(d, value->number)));
        break;
    case OTLP_VALUE_BOOL: json_bool(&v->json, value->number != 0); break;
    case OTLP_VALUE_INT: json_int(&v->json, (int64_t)value->number); break;
    case OTLP_VALUE_DOUBLE:
        memcpy(&real, &value->number, sizeof(real));
        otlp_json_double(&v->json, real);
        break;
    case OTLP_VALUE_BYTES: put_json_bytes(v, value->bytes); break;
    case OTLP_VALUE_ARRAY:
    case OTLP_VALUE_MAP: put_json_list(v, value, depth); break;
    default: json_null(&v->json);
    }
}

/* The text of a list or map; 0 if it is too deep or too long, which is reported. */
static int json_to_string(struct otlp_decoder *d, const struct value *value, uint32_t *ret_text, struct error *err)
{
    struct json_value v = { .decoder = d, .failure = { .code = ERR_OK } };
    struct slice text;

    *ret_text = 0;
    buffer_clear(&d->text);
    json_init(&v.json, &d->text, JSON_COMPACT);
    put_json(&v, value, 0);
    json_done(&v.json);
    if (v.failed.bad)
        return otlp_read_failed(d, v.failed, err);
    if (v.failure.code != ERR_OK) {
        *err = v.failure;
        return -1;
    }
    if (v.is_too_large || d->text.failure.code == ERR_LIMIT) {
        report_add(d->report, too_large, 1, "limits: depth %d, %d bytes", MAX_VALUE_DEPTH, OTLP_MAX_JSON_BYTES);
        return 0;
    }
    if (buffer_check(&d->text, err) < 0)
        return -1;
    text = arena_copy(d->arena, buffer_slice(&d->text), err);
    return text.ptr ? otlp_read_add_string(d, text, ret_text, err) : -1;
}

/* --- labels --- */

/* Fills kind, text and number of a label. False in `ret_is_kept` if it cannot be kept. */
static int value_to_label(struct otlp_decoder *d, const struct value *value, struct label *label, bool *ret_is_kept,
                          struct error *err)
{
    *ret_is_kept = true;
    switch (value->field) {
    case OTLP_VALUE_STRING: label->kind = LABEL_STRING; return otlp_read_add_string(d, value->bytes, &label->text, err);
    case OTLP_VALUE_STRING_INDEX:
        label->kind = LABEL_STRING;
        label->text = otlp_read_string(d, value->number);
        return 0;
    case OTLP_VALUE_BOOL:
        label->kind = LABEL_BOOL;
        label->number = value->number != 0;
        return 0;
    case OTLP_VALUE_INT:
        label->kind = LABEL_NUMBER;
        label->number = (int64_t)value->number;
        return 0;
    case OTLP_VALUE_DOUBLE:
        label->kind = LABEL_DOUBLE;
        label->number = (int64_t)value->number;
        return 0;
    case OTLP_VALUE_BYTES: label->kind = LABEL_BYTES; return otlp_read_add_string(d, value->bytes, &label->text, err);
    case OTLP_VALUE_ARRAY:
    case OTLP_VALUE_MAP:
        label->kind = LABEL_JSON;
        if (json_to_string(d, value, &label->text, err) < 0)
            return -1;
        *ret_is_kept = label->text != 0;
        return 0;
    default: label->kind = LABEL_STRING; return 0;
    }
}

static int push_label(struct otlp_decoder *d, const struct label *label, struct error *err)
{
    struct tables *t = d->tables;

    if (OTLP_RESERVE(d, t->labels, labels, (uint64_t)t->n_labels + 1, err) < 0)
        return -1;
    t->labels[t->n_labels++] = *label;
    return 0;
}

/* Makes a label set of the labels pushed since the last one; no labels are set 0. */
static int end_set(struct otlp_decoder *d, uint32_t *ret_set, struct error *err)
{
    struct tables *t = d->tables;

    *ret_set = 0;
    if (t->label_set_starts[t->n_label_sets] == t->n_labels)
        return 0;
    if (OTLP_RESERVE(d, t->label_set_starts, label_sets, (uint64_t)t->n_label_sets + 2, err) < 0)
        return -1;
    *ret_set = t->n_label_sets++;
    t->label_set_starts[t->n_label_sets] = t->n_labels;
    return 0;
}

/* Whether the set being made has room for one more; if not, that is reported. */
static bool has_room(struct otlp_decoder *d)
{
    uint32_t n = d->tables->n_labels - d->tables->label_set_starts[d->tables->n_label_sets];

    if (LIKELY(n < d->batch->limits.max_labels_per_sample))
        return true;
    report_add(d->report, too_many, 1, "limit %u", d->batch->limits.max_labels_per_sample);
    return false;
}

/* --- the attribute table --- */

/* Whether all items of a list are texts or whole numbers, so that each can be a label. */
static bool is_plain_list(struct slice list)
{
    struct protobuf_reader r = protobuf_reader_of(list);
    uint32_t tag, n = 0;

    while (protobuf_next(&r, &tag)) {
        struct value item;

        if (tag != PROTOBUF_TAG(OTLP_LIST_VALUES, PROTOBUF_BYTES))
            return false;
        item = read_nested_value(&r);
        if (item.field != OTLP_VALUE_STRING && item.field != OTLP_VALUE_STRING_INDEX && item.field != OTLP_VALUE_INT)
            return false;
        n++;
    }
    return n > 0 && !r.bad;
}

static int add_attribute_label(struct otlp_decoder *d, struct otlp_attribute *attribute, struct label label,
                               const struct value *value, struct error *err)
{
    bool is_kept;

    if (value_to_label(d, value, &label, &is_kept, err) < 0)
        return -1;
    if (!is_kept)
        return 0;
    if (OTLP_RESERVE(d, d->attribute_labels, attribute_labels, (uint64_t)d->n_attribute_labels + 1, err) < 0)
        return -1;
    d->attribute_labels[d->n_attribute_labels++] = label;
    attribute->n++;
    return 0;
}

static int read_attribute(struct otlp_decoder *d, struct otlp_attribute *attribute, struct protobuf_reader *r,
                          struct error *err)
{
    struct label label = { 0 };
    struct slice key = { NULL, 0 };
    struct value value = { 0 };
    uint32_t tag;

    *attribute = (struct otlp_attribute){ .first = d->n_attribute_labels };
    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_ATTRIBUTE_KEY, PROTOBUF_VARINT):
            label.key = otlp_read_string(d, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_ATTRIBUTE_KEY, PROTOBUF_BYTES): key = protobuf_bytes(r); break;
        case PROTOBUF_TAG(OTLP_ATTRIBUTE_VALUE, PROTOBUF_BYTES): value = read_nested_value(r); break;
        case PROTOBUF_TAG(OTLP_ATTRIBUTE_UNIT_INDEX, PROTOBUF_VARINT):
            label.unit = otlp_read_string(d, protobuf_varint(r));
            break;
        default: protobuf_skip_unknown(r, tag, OTLP_ATTRIBUTE_UNIT_INDEX);
        }
    }
    if (r->bad)
        return 0;
    if (key.len > 0 && otlp_read_add_string(d, key, &label.key, err) < 0)
        return -1;
    attribute->meaning = meaning_of(tables_string(d->tables, label.key));
    if (value.field == OTLP_VALUE_ARRAY && is_plain_list(value.bytes)) {
        struct protobuf_reader items = protobuf_reader_of(value.bytes);

        while (protobuf_next(&items, &tag)) {
            struct value item = read_nested_value(&items);

            if (add_attribute_label(d, attribute, label, &item, err) < 0)
                return -1;
        }
        return 0;
    }
    if (add_attribute_label(d, attribute, label, &value, err) < 0)
        return -1;
    if (attribute->meaning == OTLP_FRAME_TYPE && attribute->n > 0)
        attribute->frame_kind = frame_kind_find(tables_string(d->tables, otlp_attributes_label(d, attribute)->text));
    return 0;
}

/* L7: units stand in a table of their own, by key. */
static int read_units(struct otlp_decoder *d, struct map *units, struct error *err)
{
    const struct otlp_range *range = &d->document->tables[OTLP_DICTIONARY_UNITS];
    struct protobuf_reader r = otlp_range_reader(range), entry;

    while (otlp_range_next(range, &r, &entry)) {
        uint32_t tag, key = 0, unit = 0;

        while (protobuf_next(&entry, &tag)) {
            if (tag == PROTOBUF_TAG(OTLP_UNIT_KEY, PROTOBUF_VARINT))
                key = otlp_read_string(d, protobuf_varint(&entry));
            else if (tag == PROTOBUF_TAG(OTLP_UNIT_UNIT, PROTOBUF_VARINT))
                unit = otlp_read_string(d, protobuf_varint(&entry));
            else
                protobuf_skip_unknown(&entry, tag, OTLP_UNIT_UNIT);
        }
        protobuf_leave(&r, &entry);
        if (map_set(units, hash_bytes64(tables_string(d->tables, key), 0), unit, err) < 0)
            return -1;
    }
    return r.bad ? otlp_read_failed(d, r, err) : 0;
}

static int apply_units(struct otlp_decoder *d, struct error *err)
{
    struct map units;
    int result;

    if (d->document->tables[OTLP_DICTIONARY_UNITS].n == 0)
        return 0;
    map_init(&units, 0);
    result = read_units(d, &units, err);
    for (uint32_t i = 0; result == 0 && i < d->n_attribute_labels; i++) {
        struct label *label = &d->attribute_labels[i];
        const uint32_t *unit = map_find(&units, hash_bytes64(tables_string(d->tables, label->key), 0));

        if (unit && label->kind == LABEL_NUMBER)
            label->unit = *unit;
    }
    map_done(&units);
    return result;
}

int otlp_attributes_read(struct otlp_decoder *d, struct error *err)
{
    const struct otlp_range *range = &d->document->tables[OTLP_DICTIONARY_ATTRIBUTES];
    struct protobuf_reader r = otlp_range_reader(range), entry;

    d->n_attribute_labels = 0;
    d->attributes = ARENA_ARRAY(d->arena, struct otlp_attribute, range->n, err);
    if (!d->attributes || OTLP_RESERVE(d, d->attribute_labels, attribute_labels, range->n, err) < 0)
        return -1;
    for (uint32_t i = 0; otlp_range_next(range, &r, &entry); i++) {
        if (read_attribute(d, &d->attributes[i], &entry, err) < 0)
            return -1;
        protobuf_leave(&r, &entry);
    }
    return r.bad ? otlp_read_failed(d, r, err) : apply_units(d, err);
}

const struct otlp_attribute *otlp_attributes_get(struct otlp_decoder *d, uint64_t index, const char *where)
{
    uint32_t i;

    if (UNLIKELY(!otlp_index_find(&d->attribute_index, index, &i))) {
        report_add(d->report, outside, 1, "%s: attribute %lld of %u", where, (long long)index, d->attribute_index.n);
        return NULL;
    }
    return index == 0 && d->attribute_index.has_none ? NULL : &d->attributes[i];
}

/* --- sets --- */

static int push_attribute(struct otlp_decoder *d, const struct otlp_attribute *attribute, struct error *err)
{
    for (uint32_t i = 0; i < attribute->n; i++) {
        if (!has_room(d))
            return 0;
        if (push_label(d, &d->attribute_labels[attribute->first + i], err) < 0)
            return -1;
    }
    return 0;
}

/* All of 1 to 8 bytes in one word; with the length, no two are alike. */
static uint64_t word_of(const uint8_t *ptr, size_t len)
{
    if (len >= 4)
        return bytes_get_le32(ptr) | (uint64_t)bytes_get_le32(ptr + len - 4) << 32;
    return ptr[0] | (uint32_t)ptr[len / 2] << 8 | (uint32_t)ptr[len - 1] << 16;
}

/* The label set of a list that was not met lately. */
static int find_set(struct otlp_decoder *d, const struct otlp_packed *indexes, uint32_t *ret_set, struct error *err)
{
    struct protobuf_reader r = otlp_packed_reader(indexes);
    uint32_t known;
    bool is_new;

    if (hash_set_add(&d->set_hashes, hash_bytes(slice_of(indexes->ptr, indexes->len), 0), &known, &is_new, err) < 0)
        return -1;
    if (!is_new) {
        *ret_set = d->known_sets[known];
        return 0;
    }
    if (OTLP_RESERVE(d, d->known_sets, known_sets, (uint64_t)known + 1, err) < 0)
        return -1;
    while (protobuf_more(&r)) {
        const struct otlp_attribute *attribute = otlp_attributes_get(d, protobuf_varint(&r), "sample");

        if (attribute && push_attribute(d, attribute, err) < 0)
            return -1;
    }
    if (r.bad)
        return otlp_read_failed(d, r, err);
    if (end_set(d, ret_set, err) < 0)
        return -1;
    d->known_sets[known] = *ret_set;
    return 0;
}

int otlp_attributes_set(struct otlp_decoder *d, const struct otlp_packed *indexes, uint32_t *ret_set, struct error *err)
{
    struct otlp_set_memo *memo;
    uint64_t word;

    if (indexes->len == 0 || indexes->len > 8)
        return find_set(d, indexes, ret_set, err);
    word = word_of(indexes->ptr, indexes->len);
    memo = &d->memo[hash_mix64(word) % OTLP_SET_MEMOS];
    if (UNLIKELY(memo->bytes != word || memo->len != indexes->len)) {
        uint32_t set;

        if (find_set(d, indexes, &set, err) < 0)
            return -1;
        *memo = (struct otlp_set_memo){ .bytes = word, .len = (uint32_t)indexes->len, .set = set };
    }
    *ret_set = memo->set;
    return 0;
}

/* Takes the items of a list of whole numbers. */
static int read_order(struct otlp_decoder *d, struct otlp_scope_hints *hints, const struct value *value,
                      struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(value->bytes);
    uint32_t tag;

    hints->n_order = 0;
    if (value->field != OTLP_VALUE_ARRAY)
        return 0;
    while (protobuf_next(&r, &tag)) {
        if (tag != PROTOBUF_TAG(OTLP_LIST_VALUES, PROTOBUF_BYTES))
            protobuf_skip_unknown(&r, tag, OTLP_LIST_VALUES);
        else if (hints->n_order < PROFILE_MAX_TYPES)
            hints->order[hints->n_order++] = (int64_t)read_nested_value(&r).number;
        else
            protobuf_skip(&r, tag);
    }
    return r.bad ? otlp_read_failed(d, r, err) : 0;
}

/* Whether a scope attribute was a hint, which is not kept as a label. */
static int take_hint(struct otlp_decoder *d, const struct key_value *kv, struct otlp_scope_hints *hints,
                     bool *ret_is_hint, struct error *err)
{
    struct label label = { 0 };
    bool is_kept;

    *ret_is_hint = true;
    switch (meaning_of(key_text(d, kv))) {
    case OTLP_DEFAULT_SAMPLE_TYPE:
        if (value_to_label(d, &kv->value, &label, &is_kept, err) < 0)
            return -1;
        hints->default_type = label.text;
        return 0;
    case OTLP_SAMPLE_TYPE_ORDER: return read_order(d, hints, &kv->value, err);
    default: *ret_is_hint = false; return 0;
    }
}

static int push_key_value(struct otlp_decoder *d, const struct key_value *kv, struct error *err)
{
    struct label label = { .key = kv->key_id };
    bool is_kept;

    if (!has_room(d))
        return 0;
    if (kv->key_id == 0 && otlp_read_add_string(d, kv->key, &label.key, err) < 0)
        return -1;
    if (value_to_label(d, &kv->value, &label, &is_kept, err) < 0)
        return -1;
    return is_kept ? push_label(d, &label, err) : 0;
}

int otlp_attributes_of(struct otlp_decoder *d, struct slice message, uint32_t field, struct otlp_scope_hints *hints,
                       uint32_t *ret_set, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        struct protobuf_reader inner;
        struct key_value kv;
        bool is_hint = false;

        if (tag != PROTOBUF_TAG(field, PROTOBUF_BYTES)) {
            protobuf_skip(&r, tag);
            continue;
        }
        inner = protobuf_message(&r);
        kv = read_key_value(d, &inner);
        protobuf_leave(&r, &inner);
        if (r.bad || !kv.has_key)
            continue;
        if (hints && take_hint(d, &kv, hints, &is_hint, err) < 0)
            return -1;
        if (!is_hint && push_key_value(d, &kv, err) < 0)
            return -1;
    }
    return r.bad ? otlp_read_failed(d, r, err) : end_set(d, ret_set, err);
}

/* --- attributes of a profile --- */

static int add_comments(struct otlp_decoder *d, const struct otlp_attribute *attribute, struct profile *profile,
                        struct error *err)
{
    size_t old_bytes = profile->n_comments * sizeof(uint32_t);
    uint32_t *grown =
        arena_resize(d->arena, profile->comments, old_bytes, old_bytes + attribute->n * sizeof(uint32_t), err);

    if (!grown)
        return -1;
    profile->comments = grown;
    for (uint32_t i = 0; i < attribute->n; i++)
        profile->comments[profile->n_comments++] = d->attribute_labels[attribute->first + i].text;
    return 0;
}

int otlp_attributes_of_profile(struct otlp_decoder *d, const struct otlp_packed *indexes, struct profile *profile,
                               struct error *err)
{
    struct protobuf_reader r = otlp_packed_reader(indexes);

    while (protobuf_more(&r)) {
        const struct otlp_attribute *attribute = otlp_attributes_get(d, protobuf_varint(&r), "profile");
        uint32_t text;
        int result = 0;

        if (!attribute || attribute->n == 0)
            continue;
        text = otlp_attributes_label(d, attribute)->text;
        switch (attribute->meaning) {
        case OTLP_COMMENT: result = add_comments(d, attribute, profile, err); break;
        case OTLP_DROP_FRAMES: profile->drop_frames = text; break;
        case OTLP_KEEP_FRAMES: profile->keep_frames = text; break;
        case OTLP_DOC_URL: profile->doc_url = text; break;
        default: result = push_attribute(d, attribute, err); break;
        }
        if (result < 0)
            return -1;
    }
    return r.bad ? otlp_read_failed(d, r, err) : end_set(d, &profile->attributes, err);
}
