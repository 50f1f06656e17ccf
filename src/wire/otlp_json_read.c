// SPDX-License-Identifier: Apache-2.0
/* JSON becomes protobuf with canonical field numbers, by the schema, and is then read as such: so the dictionary may
 * stand before or behind the profiles, and there is one reader for what it all means. */
#include "base/vec.h"
#include "wire/json_reader.h"
#include "wire/otlp_layout_internal.h"
#include "wire/otlp_read_internal.h"
#include "wire/protojson.h"

#define RECOGNISE_MEMORY_BYTES (64 << 10)

/* One document of the text, made into a message. */
struct json_document {
    size_t end; /* in the bytes made so far; it begins where the one before ends */
    bool is_old;
};

struct json_transcoder {
    struct json_reader reader;
    struct buffer out;
    VEC(struct json_document) documents;
    bool has_old, has_new; /* fields that only L7, or only L8 and newer have */
    bool has_refused;      /* tables where L4 or L6 has them */
    enum otlp_layout refused;
};

/* --- single values --- */

static uint64_t read_number(struct json_reader *r, enum otlp_kind kind)
{
    double real;
    uint64_t number;

    switch (kind) {
    case OTLP_BOOL: return json_reader_bool(r);
    case OTLP_DOUBLE:
        real = json_reader_double(r);
        memcpy(&number, &real, sizeof(number));
        return number;
    case OTLP_INT32:
    case OTLP_INT64: return (uint64_t)json_reader_i64(r);
    default: return json_reader_u64(r);
    }
}

static bool is_number(enum otlp_kind kind)
{
    return otlp_schema_wire(kind) != PROTOBUF_BYTES;
}

/* --- messages --- */

static void read_message(struct json_transcoder *t, enum otlp_message message);

static void read_value(struct json_transcoder *t, const struct otlp_field *field)
{
    size_t begin;

    if (json_reader_peek(&t->reader) == JSON_NULL) {
        json_reader_null(&t->reader);
        return;
    }
    switch ((enum otlp_kind)field->kind) {
    case OTLP_STRING: protobuf_put_bytes_always(&t->out, field->number, json_reader_text(&t->reader)); break;
    case OTLP_HEX: protojson_read_hex(&t->reader, field->number, &t->out); break;
    case OTLP_BASE64: protojson_read_base64(&t->reader, field->number, &t->out); break;
    case OTLP_MESSAGE:
        begin = protobuf_begin(&t->out, field->number);
        read_message(t, field->message);
        protobuf_end(&t->out, begin);
        break;
    case OTLP_FIXED64:
    case OTLP_DOUBLE: protobuf_put_fixed64_always(&t->out, field->number, read_number(&t->reader, field->kind)); break;
    default: protobuf_put_uint_always(&t->out, field->number, read_number(&t->reader, field->kind));
    }
}

static void read_packed(struct json_transcoder *t, const struct otlp_field *field)
{
    size_t begin = protobuf_begin(&t->out, field->number);

    json_reader_enter_array(&t->reader);
    while (json_reader_next_item(&t->reader)) {
        uint64_t number = read_number(&t->reader, field->kind);

        if (otlp_schema_wire(field->kind) == PROTOBUF_FIXED64)
            buffer_append(&t->out, &number, sizeof(number));
        else
            protobuf_put_varint(&t->out, number);
    }
    protobuf_end(&t->out, begin);
}

/* Keeps in mind what a field says about the layout. */
static void note_layout(struct json_transcoder *t, enum otlp_message message, const struct otlp_field *field,
                        struct slice key)
{
    if (field->number == 0) {
        t->has_refused = true;
        t->refused = message == OTLP_PROFILE ? OTLP_L4 : OTLP_L6;
    }
    switch (message) {
    case OTLP_PROFILE:
        t->has_old |=
            field->number == OTLP_PROFILE_LOCATION_INDICES || slice_is(key, "timeNanos") || slice_is(key, "time_nanos");
        break;
    case OTLP_SAMPLE:
        t->has_old |= field->number == OTLP_SAMPLE_LOCATIONS_START || field->number == OTLP_SAMPLE_LOCATIONS_LENGTH;
        break;
    case OTLP_DICTIONARY:
        t->has_old |= field->number == OTLP_DICTIONARY_UNITS;
        t->has_new |= field->number == OTLP_DICTIONARY_STACKS;
        break;
    case OTLP_ATTRIBUTE: t->has_old |= field->kind == OTLP_STRING; break;
    default: break;
    }
}

static void read_message(struct json_transcoder *t, enum otlp_message message)
{
    struct json_reader *r = &t->reader;
    struct slice key;

    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        const struct otlp_field *field = otlp_schema_find_key(message, key);

        if (field)
            note_layout(t, message, field, key);
        if (!field || field->number == 0) {
            json_reader_skip(r);
        } else if (json_reader_peek(r) != JSON_ARRAY) {
            read_value(t, field);
        } else if (is_number(field->kind)) {
            read_packed(t, field);
        } else {
            json_reader_enter_array(r);
            while (json_reader_next_item(r))
                read_value(t, field);
        }
    }
}

/* --- documents --- */

static int transcode(struct json_transcoder *t, struct arena *scratch, struct error *err)
{
    while (json_reader_next_document(&t->reader)) {
        struct json_document *document;

        arena_reset(scratch);
        t->has_old = t->has_new = false;
        read_message(t, OTLP_REQUEST);
        if (json_reader_check(&t->reader, err) < 0)
            return error_wrap(err, "OTLP JSON");
        if (t->has_refused)
            return otlp_layout_refuse(t->refused, err);
        document = VEC_PUSH(&t->documents, INT32_MAX, err);
        if (!document)
            return -1;
        *document = (struct json_document){ .end = t->out.len, .is_old = t->has_old && !t->has_new };
    }
    if (json_reader_check(&t->reader, err) < 0)
        return error_wrap(err, "OTLP JSON");
    return buffer_check(&t->out, err);
}

/* Reads the messages, which move into the arena of the batch since its strings point there. */
static int read_transcoded(const struct json_transcoder *t, struct batch *batch, struct error *err)
{
    uint32_t n = (uint32_t)t->documents.n;
    struct otlp_document *documents = arena_alloc_array(&batch->arena, n, sizeof(*documents), err);
    struct slice bytes = documents ? arena_copy(&batch->arena, buffer_slice(&t->out), err) : (struct slice){ NULL, 0 };
    size_t start = 0;

    if (!bytes.ptr)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct json_document *document = &t->documents.items[i];

        documents[i] = (struct otlp_document){ .bytes = slice_of(bytes.ptr + start, document->end - start),
                                               .numbering = otlp_schema_canonical(document->is_old) };
        start = document->end;
    }
    return otlp_read(documents, n, batch, err);
}

int otlp_json_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    struct json_transcoder t = { .has_refused = false };
    struct arena scratch;
    int result;

    arena_init(&scratch, batch->limits.max_memory_bytes);
    buffer_init(&t.out, batch->limits.max_memory_bytes);
    json_reader_init(&t.reader, bytes, &scratch, JSON_READER_MAX_DEPTH);
    result = transcode(&t, &scratch, err);
    if (result == 0)
        result = read_transcoded(&t, batch, err);
    VEC_DONE(&t.documents);
    buffer_done(&t.out);
    arena_done(&scratch);
    return result;
}

int otlp_json_recognise(struct slice bytes)
{
    struct json_reader r;
    struct arena arena;
    struct slice key;
    int score = 0;

    arena_init(&arena, RECOGNISE_MEMORY_BYTES);
    json_reader_init(&r, bytes, &arena, JSON_READER_MAX_DEPTH);
    if (json_reader_peek(&r) == JSON_OBJECT)
        json_reader_enter_object(&r);
    while (score == 0 && r.depth == 1 && json_reader_next_key(&r, &key)) {
        if (otlp_schema_find_key(OTLP_REQUEST, key))
            score = 95;
        else
            json_reader_skip(&r);
    }
    arena_done(&arena);
    return score;
}
