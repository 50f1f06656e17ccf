// SPDX-License-Identifier: Apache-2.0
#include "answer/rpcmessage.h"

#include "pack/snappy.h"
#include "pack/unpacker.h"
#include "wire/json_reader.h"
#include "wire/protobuf.h"

/* What both ways of reading share. */
struct reading {
    struct arena *arena;
    struct error *err;
    struct json_reader json;
};

static void *place(void *value, const struct rpcmessage_field *field)
{
    return (char *)value + field->offset;
}

/* --- lists --- */

static int grow(struct reading *reading, const struct rpcmessage_field *field, void **items, uint32_t n,
                uint32_t *capacity, size_t item_bytes)
{
    uint32_t more = *capacity ? 2 * *capacity : 4;
    void *moved;

    if (n < *capacity)
        return 0;
    if (n >= RPCMESSAGE_MAX_ITEMS)
        return error_set(reading->err, ERR_LIMIT, "%s has more than %d items", field->name, RPCMESSAGE_MAX_ITEMS);
    moved = *items ? arena_resize(reading->arena, *items, *capacity * item_bytes, more * item_bytes, reading->err)
                   : arena_alloc_array(reading->arena, more, item_bytes, reading->err);
    if (!moved)
        return -1;
    *items = moved;
    *capacity = more;
    return 0;
}

static int add_text(struct reading *reading, const struct rpcmessage_field *field, struct rpcmessage_texts *texts,
                    struct slice text)
{
    void *items = texts->items;

    if (grow(reading, field, &items, texts->n, &texts->capacity, sizeof(*texts->items)) < 0)
        return -1;
    texts->items = items;
    texts->items[texts->n++] = text;
    return 0;
}

/* A new struct for a nested message, NULL on failure. */
static void *add_message(struct reading *reading, const struct rpcmessage_field *field, void *value)
{
    void *nested = arena_alloc_zero(reading->arena, field->message->size_bytes, reading->err);
    struct rpcmessage_list *list = place(value, field);
    void *items;

    if (!nested || field->kind == RPCMESSAGE_MESSAGE) {
        if (nested)
            *(void **)place(value, field) = nested;
        return nested;
    }
    items = list->items;
    if (grow(reading, field, &items, list->n, &list->capacity, sizeof(*list->items)) < 0)
        return NULL;
    list->items = items;
    list->items[list->n++] = nested;
    return nested;
}

/* --- protobuf --- */

static enum protobuf_wire wire_of(enum rpcmessage_kind kind)
{
    switch (kind) {
    case RPCMESSAGE_TEXT:
    case RPCMESSAGE_TEXTS:
    case RPCMESSAGE_MESSAGE:
    case RPCMESSAGE_MESSAGES: return PROTOBUF_BYTES;
    case RPCMESSAGE_DOUBLE: return PROTOBUF_FIXED64;
    case RPCMESSAGE_INT64:
    case RPCMESSAGE_BOOL:
    case RPCMESSAGE_ENUM: break;
    }
    return PROTOBUF_VARINT;
}

static int read_proto(struct reading *reading, const struct rpcmessage *message, struct protobuf_reader *r,
                      void *value);

static int read_proto_text(struct reading *reading, const struct rpcmessage_field *field, struct protobuf_reader *r,
                           struct slice *ret_text)
{
    *ret_text = protobuf_bytes(r);
    if (!slice_is_utf8(*ret_text))
        return error_set(reading->err, ERR_CORRUPT, "%s is not UTF-8", field->name);
    return 0;
}

static int read_proto_message(struct reading *reading, const struct rpcmessage_field *field, struct protobuf_reader *r,
                              void *value)
{
    void *nested = add_message(reading, field, value);
    struct protobuf_reader inner;
    int result;

    if (!nested)
        return -1;
    inner = protobuf_message(r);
    result = read_proto(reading, field->message, &inner, nested);
    protobuf_leave(r, &inner);
    return result;
}

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static int read_proto_field(struct reading *reading, const struct rpcmessage_field *field, struct protobuf_reader *r,
                            void *value)
{
    void *to = place(value, field);
    struct slice text;

    switch (field->kind) {
    case RPCMESSAGE_TEXT: return read_proto_text(reading, field, r, to);
    case RPCMESSAGE_TEXTS:
        return read_proto_text(reading, field, r, &text) < 0 ? -1 : add_text(reading, field, to, text);
    case RPCMESSAGE_INT64: *(int64_t *)to = (int64_t)protobuf_varint(r); return 0;
    case RPCMESSAGE_DOUBLE: *(double *)to = double_of(protobuf_fixed64(r)); return 0;
    case RPCMESSAGE_BOOL: *(bool *)to = protobuf_varint(r) != 0; return 0;
    case RPCMESSAGE_ENUM: *(int32_t *)to = (int32_t)protobuf_varint(r); return 0;
    case RPCMESSAGE_MESSAGE:
    case RPCMESSAGE_MESSAGES: return read_proto_message(reading, field, r, value);
    }
    return 0;
}

static int read_proto(struct reading *reading, const struct rpcmessage *message, struct protobuf_reader *r, void *value)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        const struct rpcmessage_field *field = message->fields;

        while (field->name && tag != PROTOBUF_TAG(field->number, wire_of(field->kind)))
            field++;
        if (!field->name)
            protobuf_skip(r, tag);
        else if (read_proto_field(reading, field, r, value) < 0)
            return -1;
    }
    return 0;
}

static int read_proto_whole(struct reading *reading, const struct rpcmessage *message, struct slice bytes, void *value)
{
    static const struct protobuf_field no_names[] = { { .name = NULL } };
    struct protobuf_reader r = protobuf_reader_of(bytes);

    if (read_proto(reading, message, &r, value) < 0)
        return error_wrap(reading->err, "%s", message->name);
    return r.bad ? protobuf_explain(message->name, no_names, bytes, &r, reading->err) : 0;
}

/* --- JSON --- */

/* Whether `key` is the name, or what lowerCamelCase makes of it. */
static bool is_called(struct slice key, const char *name)
{
    size_t at = 0;

    if (slice_is(key, name))
        return true;
    for (; *name; name++, at++) {
        bool is_raised = *name == '_';
        char letter = is_raised ? *++name : *name;

        if (is_raised && letter >= 'a' && letter <= 'z')
            letter = (char)(letter - 'a' + 'A');
        if (letter == '\0' || at >= key.len || key.ptr[at] != letter)
            return false;
    }
    return at == key.len;
}

static int read_json(struct reading *reading, const struct rpcmessage *message, void *value);

static int32_t read_json_enum(struct json_reader *r, const struct rpcmessage_field *field)
{
    struct slice text;

    if (json_reader_peek(r) != JSON_STRING) {
        int64_t number = json_reader_i64(r);

        if (number != (int32_t)number)
            json_reader_fail(r, "%s is %lld, which no enum can be", field->name, (long long)number);
        return (int32_t)number;
    }
    text = json_reader_text(r);
    for (int32_t i = 0; field->names[i]; i++)
        if (slice_is(text, field->names[i]))
            return i;
    json_reader_fail(r, "%s is '%.*s', but it can be %s and the like", field->name, SLICE_ARG(slice_sub(text, 0, 64)),
                     field->names[0]);
    return 0;
}

static int read_json_value(struct reading *reading, const struct rpcmessage_field *field, void *value)
{
    struct json_reader *r = &reading->json;
    void *to = place(value, field), *nested;

    switch (field->kind) {
    case RPCMESSAGE_TEXT: *(struct slice *)to = json_reader_text(r); return 0;
    case RPCMESSAGE_TEXTS: return add_text(reading, field, to, json_reader_text(r));
    case RPCMESSAGE_INT64: *(int64_t *)to = json_reader_i64(r); return 0;
    case RPCMESSAGE_DOUBLE: *(double *)to = json_reader_double(r); return 0;
    case RPCMESSAGE_BOOL: *(bool *)to = json_reader_bool(r); return 0;
    case RPCMESSAGE_ENUM: *(int32_t *)to = read_json_enum(r, field); return 0;
    case RPCMESSAGE_MESSAGE:
    case RPCMESSAGE_MESSAGES:
        nested = add_message(reading, field, value);
        return nested ? read_json(reading, field->message, nested) : -1;
    }
    return 0;
}

static int read_json_field(struct reading *reading, const struct rpcmessage_field *field, void *value)
{
    struct json_reader *r = &reading->json;

    if (json_reader_peek(r) == JSON_NULL) {
        json_reader_null(r);
        return 0;
    }
    if (field->kind != RPCMESSAGE_TEXTS && field->kind != RPCMESSAGE_MESSAGES)
        return read_json_value(reading, field, value);
    json_reader_enter_array(r);
    while (json_reader_next_item(r))
        if (read_json_value(reading, field, value) < 0)
            return -1;
    return 0;
}

static int read_json(struct reading *reading, const struct rpcmessage *message, void *value)
{
    struct slice key;

    json_reader_enter_object(&reading->json);
    while (json_reader_next_key(&reading->json, &key)) {
        const struct rpcmessage_field *field = message->fields;

        while (field->name && !is_called(key, field->name))
            field++;
        if (!field->name)
            json_reader_skip(&reading->json);
        else if (read_json_field(reading, field, value) < 0)
            return -1;
    }
    return 0;
}

static int read_json_whole(struct reading *reading, const struct rpcmessage *message, struct slice bytes, void *value)
{
    json_reader_init(&reading->json, bytes, reading->arena, JSON_READER_MAX_DEPTH);
    if (read_json(reading, message, value) < 0)
        return error_wrap(reading->err, "%s", message->name);
    json_reader_end(&reading->json);
    return json_reader_check(&reading->json, reading->err) < 0 ? error_wrap(reading->err, "%s", message->name) : 0;
}

/* --- both --- */

int rpcmessage_read(const struct rpcmessage *message, enum rpc_codec codec, struct slice bytes, struct arena *arena,
                    void **ret_value, struct error *err)
{
    struct reading reading = { .arena = arena, .err = err };
    void *value = arena_alloc_zero(arena, message->size_bytes, err);

    if (!value || (codec == RPC_JSON ? read_json_whole : read_proto_whole)(&reading, message, bytes, value) < 0)
        return -1;
    *ret_value = value;
    return 0;
}

static int unpack_snappy(struct slice packed, struct arena *arena, struct slice *ret_plain, struct error *err)
{
    AUTO(buffer_done) struct buffer plain;

    buffer_init(&plain, RPCMESSAGE_MAX_BYTES);
    if (snappy_unpack(packed, RPCMESSAGE_MAX_BYTES, &plain, err) < 0)
        return -1;
    *ret_plain = arena_copy(arena, buffer_slice(&plain), err);
    return ret_plain->ptr ? 0 : -1;
}

static int unpack(const struct rpc_call *call, struct arena *arena, struct slice *ret_plain, struct error *err)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    enum pack_kind kind = slice_is(call->encoding, "zstd") ? PACK_ZSTD : PACK_GZIP;
    struct slice plain;

    if (call->encoding.len == 0) {
        *ret_plain = call->message;
        return 0;
    }
    if (slice_is(call->encoding, "snappy"))
        return unpack_snappy(call->message, arena, ret_plain, err);
    if (unpacker_new(&unpacker, err) < 0 ||
        unpacker_unpack(unpacker, kind, call->message, RPCMESSAGE_MAX_BYTES, &plain, err) < 0)
        return -1;
    *ret_plain = arena_copy(arena, plain, err);
    return ret_plain->ptr ? 0 : -1;
}

int rpcmessage_read_call(const struct rpcmessage *message, const struct rpc_call *call, struct arena *arena,
                         void **ret_value, struct error *err)
{
    struct slice plain;

    if (unpack(call, arena, &plain, err) < 0)
        return error_wrap(err, "%s", message->name);
    return rpcmessage_read(message, call->codec, plain, arena, ret_value, err);
}
