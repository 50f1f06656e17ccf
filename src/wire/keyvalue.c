// SPDX-License-Identifier: Apache-2.0
#include "wire/keyvalue.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/memory.h"
#include "wire/otlp_json_internal.h"

#define REPLACEMENT "\xef\xbf\xbd"

enum { KEY = 1, VALUE };
enum { VALUE_TEXT = 1, VALUE_BOOL, VALUE_INT, VALUE_DOUBLE, VALUE_LIST, VALUE_MAP, VALUE_BYTES };
enum { LIST_VALUES = 1 };

static const struct protojson_field list_fields[] = {
    { "values", LIST_VALUES, PROTOJSON_MESSAGE, true, keyvalue_any_fields },
    { 0 },
};

static const struct protojson_field map_fields[] = {
    { "values", LIST_VALUES, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { 0 },
};

const struct protojson_field keyvalue_any_fields[] = {
    { "string_value", VALUE_TEXT, PROTOJSON_TEXT, false, NULL },
    { "bool_value", VALUE_BOOL, PROTOJSON_BOOL, false, NULL },
    { "int_value", VALUE_INT, PROTOJSON_INT, false, NULL },
    { "double_value", VALUE_DOUBLE, PROTOJSON_DOUBLE, false, NULL },
    { "array_value", VALUE_LIST, PROTOJSON_MESSAGE, false, list_fields },
    { "kvlist_value", VALUE_MAP, PROTOJSON_MESSAGE, false, map_fields },
    { "bytes_value", VALUE_BYTES, PROTOJSON_BASE64, false, NULL },
    { 0 },
};

const struct protojson_field keyvalue_fields[] = {
    { "key", KEY, PROTOJSON_TEXT, false, NULL },
    { "value", VALUE, PROTOJSON_MESSAGE, false, keyvalue_any_fields },
    { 0 },
};

const struct protojson_field keyvalue_resource_fields[] = {
    { "attributes", 1, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "dropped_attributes_count", 2, PROTOJSON_UINT, false, NULL },
    { 0 },
};

const struct protojson_field keyvalue_scope_fields[] = {
    { "name", 1, PROTOJSON_TEXT, false, NULL },
    { "version", 2, PROTOJSON_TEXT, false, NULL },
    { "attributes", 3, PROTOJSON_MESSAGE, true, keyvalue_fields },
    { "dropped_attributes_count", 4, PROTOJSON_UINT, false, NULL },
    { 0 },
};

/* --- reading --- */

static void read_value(struct protobuf_reader *r, struct keyvalue *kv)
{
    uint64_t number;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(VALUE_TEXT, PROTOBUF_BYTES):
            kv->kind = KEYVALUE_TEXT;
            kv->text = protobuf_bytes(r);
            break;
        case PROTOBUF_TAG(VALUE_BOOL, PROTOBUF_VARINT):
            kv->kind = KEYVALUE_BOOL;
            kv->integer = protobuf_varint(r) != 0;
            break;
        case PROTOBUF_TAG(VALUE_INT, PROTOBUF_VARINT):
            kv->kind = KEYVALUE_INT;
            kv->integer = (int64_t)protobuf_varint(r);
            break;
        case PROTOBUF_TAG(VALUE_DOUBLE, PROTOBUF_FIXED64):
            kv->kind = KEYVALUE_DOUBLE;
            number = protobuf_fixed64(r);
            memcpy(&kv->real, &number, sizeof(number));
            break;
        case PROTOBUF_TAG(VALUE_LIST, PROTOBUF_BYTES):
            kv->kind = KEYVALUE_LIST;
            kv->text = protobuf_bytes(r);
            break;
        case PROTOBUF_TAG(VALUE_MAP, PROTOBUF_BYTES):
            kv->kind = KEYVALUE_MAP;
            kv->text = protobuf_bytes(r);
            break;
        case PROTOBUF_TAG(VALUE_BYTES, PROTOBUF_BYTES):
            kv->kind = KEYVALUE_BYTES;
            kv->text = protobuf_bytes(r);
            break;
        default: protobuf_skip_unknown(r, tag, VALUE_BYTES);
        }
    }
}

static void read_nested_value(struct protobuf_reader *r, struct keyvalue *kv)
{
    struct protobuf_reader inner = protobuf_message(r);

    read_value(&inner, kv);
    protobuf_leave(r, &inner);
}

struct keyvalue keyvalue_read(struct protobuf_reader *r)
{
    struct keyvalue kv = { .kind = KEYVALUE_EMPTY };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(KEY, PROTOBUF_BYTES): kv.key = protobuf_bytes(r); break;
        case PROTOBUF_TAG(VALUE, PROTOBUF_BYTES): read_nested_value(r, &kv); break;
        default: protobuf_skip_unknown(r, tag, VALUE);
        }
    }
    return kv;
}

/* --- lists and maps as JSON --- */

/* One value being made into text. */
struct json_value {
    struct json json;
    struct protobuf_reader failed; /* what was wrong with the bytes */
};

static void put_json(struct json_value *v, const struct keyvalue *value, uint32_t depth);

static void put_items(struct json_value *v, struct slice list, bool is_map, uint32_t depth)
{
    struct protobuf_reader r = protobuf_reader_of(list);
    uint32_t tag;

    while (v->json.buffer->failure.code == ERR_OK && protobuf_next(&r, &tag)) {
        struct keyvalue item = { .kind = KEYVALUE_EMPTY };

        if (tag != PROTOBUF_TAG(LIST_VALUES, PROTOBUF_BYTES)) {
            protobuf_skip_unknown(&r, tag, LIST_VALUES);
            continue;
        }
        if (is_map) {
            struct protobuf_reader inner = protobuf_message(&r);

            item = keyvalue_read(&inner);
            protobuf_leave(&r, &inner);
            json_key_slice(&v->json, item.key);
        } else {
            read_nested_value(&r, &item);
        }
        put_json(v, &item, depth);
    }
    protobuf_leave(&v->failed, &r);
}

static void put_json_bytes(struct json_value *v, struct slice bytes)
{
    struct buffer base64;

    buffer_init(&base64, v->json.buffer->max_bytes);
    base64_encode(bytes, true, &base64);
    if (base64.failure.code == ERR_OK)
        json_string(&v->json, buffer_slice(&base64));
    else
        v->json.buffer->failure = base64.failure;
    buffer_done(&base64);
}

static void put_json_list(struct json_value *v, const struct keyvalue *value, uint32_t depth)
{
    if (depth == KEYVALUE_MAX_DEPTH) {
        json_null(&v->json);
    } else if (value->kind == KEYVALUE_MAP) {
        json_object_begin(&v->json);
        put_items(v, value->text, true, depth + 1);
        json_object_end(&v->json);
    } else {
        json_array_begin(&v->json);
        put_items(v, value->text, false, depth + 1);
        json_array_end(&v->json);
    }
}

static void put_json(struct json_value *v, const struct keyvalue *value, uint32_t depth)
{
    switch (value->kind) {
    case KEYVALUE_EMPTY: json_null(&v->json); break;
    case KEYVALUE_TEXT: json_string(&v->json, value->text); break;
    case KEYVALUE_BOOL: json_bool(&v->json, value->integer != 0); break;
    case KEYVALUE_INT: json_int(&v->json, value->integer); break;
    case KEYVALUE_DOUBLE: otlp_json_double(&v->json, value->real); break;
    case KEYVALUE_BYTES: put_json_bytes(v, value->text); break;
    case KEYVALUE_LIST:
    case KEYVALUE_MAP: put_json_list(v, value, depth); break;
    }
}

int keyvalue_to_json(const struct keyvalue *value, size_t max_bytes, struct arena *arena, struct protobuf_reader *r,
                     struct slice *ret_text, struct error *err)
{
    AUTO(memory_freep) struct json_value *v = NULL; /* too large for the stack of a deep call */
    AUTO(buffer_done) struct buffer text = { 0 };

    buffer_init(&text, max_bytes);
    v = MEMORY_NEW(struct json_value, err);
    if (!v)
        return -1;
    json_init(&v->json, &text, JSON_COMPACT);
    put_json(v, value, 0);
    protobuf_leave(r, &v->failed);
    if (text.failure.code == ERR_LIMIT) {
        *ret_text = SLICE("null");
        return 0;
    }
    if (buffer_check(&text, err) < 0)
        return -1;
    json_done(&v->json);
    *ret_text = arena_copy(arena, buffer_slice(&text), err);
    return ret_text->ptr ? 0 : -1;
}

/* --- texts --- */

/* Whether no byte has its top bit set: texts are ASCII nearly always. */
static bool is_ascii(struct slice text)
{
    const char *at = text.ptr;
    size_t left = text.len;
    uint64_t bits = 0;

    for (; left >= 8; at += 8, left -= 8)
        bits |= bytes_get_le64(at);
    for (; left > 0; at++, left--)
        bits |= (uint64_t)(unsigned char)*at;
    return (bits & 0x8080808080808080u) == 0;
}

/* Copies what is well-formed and replaces each byte that is not. */
static int replace(struct slice text, size_t max_bytes, struct arena *arena, struct slice *ret_text, struct error *err)
{
    size_t room = MIN(text.len * (sizeof(REPLACEMENT) - 1), max_bytes), len = 0;
    char *to = arena_alloc(arena, room, err);

    if (!to)
        return -1;
    while (text.len > 0) {
        size_t step = slice_utf8_len(text);
        struct slice piece = step ? slice_of(text.ptr, step) : SLICE(REPLACEMENT);

        if (len + piece.len > room)
            break;
        memcpy(to + len, piece.ptr, piece.len);
        len += piece.len;
        text = slice_sub(text, MAX(step, (size_t)1), SIZE_MAX);
    }
    *ret_text = slice_of(to, len);
    return 0;
}

/* At most `max_bytes`, and no part of a character at the end. */
static struct slice cut(struct slice text, size_t max_bytes)
{
    size_t len = max_bytes;

    if (text.len <= max_bytes)
        return text;
    for (int i = 0; i < 3 && len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80; i++)
        len--;
    return slice_of(text.ptr, len);
}

int keyvalue_mend(struct slice text, size_t max_bytes, struct arena *arena, struct slice *ret_text, struct error *err)
{
    text = cut(text, max_bytes);
    if (LIKELY(is_ascii(text)) || slice_is_utf8(text)) {
        *ret_text = text;
        return 0;
    }
    return replace(text, max_bytes, arena, ret_text, err);
}

/* --- writing --- */

static void put_value(struct buffer *out, const struct keyvalue *value)
{
    uint64_t number;

    switch (value->kind) {
    case KEYVALUE_EMPTY: break;
    case KEYVALUE_TEXT: protobuf_put_bytes_always(out, VALUE_TEXT, value->text); break;
    case KEYVALUE_BOOL: protobuf_put_uint_always(out, VALUE_BOOL, value->integer != 0); break;
    case KEYVALUE_INT: protobuf_put_uint_always(out, VALUE_INT, (uint64_t)value->integer); break;
    case KEYVALUE_DOUBLE:
        memcpy(&number, &value->real, sizeof(number));
        protobuf_put_fixed64_always(out, VALUE_DOUBLE, number);
        break;
    case KEYVALUE_BYTES: protobuf_put_bytes_always(out, VALUE_BYTES, value->text); break;
    case KEYVALUE_LIST: protobuf_put_bytes_always(out, VALUE_LIST, value->text); break;
    case KEYVALUE_MAP: protobuf_put_bytes_always(out, VALUE_MAP, value->text); break;
    }
}

/* --- JSON as values --- */

static void put_json_value(struct buffer *out, struct json_reader *reader);

static void put_json_array(struct buffer *out, struct json_reader *reader)
{
    size_t begin = protobuf_begin(out, VALUE_LIST);

    json_reader_enter_array(reader);
    while (json_reader_next_item(reader)) {
        size_t begin_item = protobuf_begin(out, LIST_VALUES);

        put_json_value(out, reader);
        protobuf_end(out, begin_item);
    }
    protobuf_end(out, begin);
}

static void put_json_object(struct buffer *out, struct json_reader *reader)
{
    size_t begin = protobuf_begin(out, VALUE_MAP);
    struct slice key;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        size_t begin_item = protobuf_begin(out, LIST_VALUES), begin_value;

        protobuf_put_bytes(out, KEY, key);
        begin_value = protobuf_begin(out, VALUE);
        put_json_value(out, reader);
        protobuf_end(out, begin_value);
        protobuf_end(out, begin_item);
    }
    protobuf_end(out, begin);
}

static void put_json_number(struct buffer *out, struct slice number)
{
    struct keyvalue value = { .kind = KEYVALUE_INT };

    if (!slice_to_i64(number, &value.integer)) {
        value.kind = KEYVALUE_DOUBLE;
        if (!slice_to_double(number, &value.real))
            value = (struct keyvalue){ .kind = KEYVALUE_TEXT, .text = number };
    }
    put_value(out, &value);
}

static void put_json_value(struct buffer *out, struct json_reader *reader)
{
    switch (json_reader_peek(reader)) {
    case JSON_BOOL: protobuf_put_uint_always(out, VALUE_BOOL, json_reader_bool(reader)); break;
    case JSON_NUMBER: put_json_number(out, json_reader_number(reader)); break;
    case JSON_STRING: protobuf_put_bytes_always(out, VALUE_TEXT, json_reader_text(reader)); break;
    case JSON_ARRAY: put_json_array(out, reader); break;
    case JSON_OBJECT: put_json_object(out, reader); break;
    case JSON_NULL: json_reader_null(reader); break;
    case JSON_NOTHING: json_reader_skip(reader); break; /* notes what is wrong */
    }
}

void keyvalue_put_json(struct buffer *out, uint32_t field, struct slice key, struct slice text)
{
    size_t before = out->len, begin = protobuf_begin(out, field), begin_value;
    struct json_reader reader;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    json_reader_init(&reader, text, &arena, JSON_READER_MAX_DEPTH);
    protobuf_put_bytes(out, KEY, key);
    begin_value = protobuf_begin(out, VALUE);
    put_json_value(out, &reader);
    json_reader_end(&reader);
    protobuf_end(out, begin_value);
    protobuf_end(out, begin);
    if (json_reader_check(&reader, &err) < 0 && out->failure.code == ERR_OK) {
        struct keyvalue plain = { .key = key, .kind = KEYVALUE_TEXT, .text = text };

        if (err.code == ERR_MEMORY) {
            out->failure = err;
        } else {
            buffer_truncate(out, before);
            keyvalue_put(out, field, &plain);
        }
    }
    arena_done(&arena);
}

void keyvalue_put(struct buffer *out, uint32_t field, const struct keyvalue *value)
{
    size_t begin = protobuf_begin(out, field), begin_value;

    protobuf_put_bytes(out, KEY, value->key);
    begin_value = protobuf_begin(out, VALUE);
    put_value(out, value);
    protobuf_end(out, begin_value);
    protobuf_end(out, begin);
}
