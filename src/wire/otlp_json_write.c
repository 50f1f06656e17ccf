// SPDX-License-Identifier: Apache-2.0
/* JSON is printed from the protobuf that otlp_encode makes, by the schema: what one can say the other says too. */
#include "base/base64.h"
#include "wire/otlp_json_internal.h"
#include "wire/otlp_schema_internal.h"
#include "wire/otlp_write_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- values --- */

void otlp_json_double(struct json *json, double value)
{
    char text[JSON_NUMBER_BYTES + 2];

    if (!isfinite(value)) {
        json_text(json, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    json_number(value, text);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    json_raw(json, slice_from(text));
}

/* --- messages --- */

/* The text being written, and room for values that are made into text first. */
struct printer {
    struct json json;
    struct buffer scratch;
};

static void put_message(struct printer *printer, struct slice message, enum otlp_message type);

/* A name of the schema, snake_case, as a key in lowerCamelCase. */
static void put_key(struct printer *printer, const char *name)
{
    buffer_clear(&printer->scratch);
    for (; *name; name++) {
        if (*name == '_')
            buffer_append_byte(&printer->scratch, (char)(*++name - 'a' + 'A'));
        else
            buffer_append_byte(&printer->scratch, *name);
    }
    json_key_slice(&printer->json, buffer_slice(&printer->scratch));
}

/* 64-bit integers are strings: JSON numbers are doubles to many. */
static void put_number(struct printer *printer, enum otlp_kind kind, uint64_t number)
{
    struct json *json = &printer->json;
    char text[24];
    double real;

    switch (kind) {
    case OTLP_INT32: json_int(json, (int32_t)number); break;
    case OTLP_UINT32: json_uint(json, (uint32_t)number); break;
    case OTLP_BOOL: json_bool(json, number != 0); break;
    case OTLP_DOUBLE:
        memcpy(&real, &number, sizeof(real));
        otlp_json_double(json, real);
        break;
    default: snprintf(text, sizeof(text), kind == OTLP_INT64 ? "%" PRId64 : "%" PRIu64, number); json_text(json, text);
    }
}

static uint64_t read_number(struct protobuf_reader *r, enum otlp_kind kind)
{
    return otlp_schema_wire(kind) == PROTOBUF_FIXED64 ? protobuf_fixed64(r) : protobuf_varint(r);
}

static void put_base64(struct printer *printer, struct slice bytes)
{
    buffer_clear(&printer->scratch);
    base64_encode(bytes, true, &printer->scratch);
    json_string(&printer->json, buffer_slice(&printer->scratch));
}

static void put_hex(struct printer *printer, struct slice bytes)
{
    buffer_clear(&printer->scratch);
    for (size_t i = 0; i < bytes.len; i++)
        buffer_printf(&printer->scratch, "%02x", (unsigned char)bytes.ptr[i]);
    json_string(&printer->json, buffer_slice(&printer->scratch));
}

static void put_value(struct printer *printer, struct protobuf_reader *r, const struct otlp_field *field)
{
    switch ((enum otlp_kind)field->kind) {
    case OTLP_STRING: json_string(&printer->json, protobuf_bytes(r)); break;
    case OTLP_BASE64: put_base64(printer, protobuf_bytes(r)); break;
    case OTLP_HEX: put_hex(printer, protobuf_bytes(r)); break;
    case OTLP_MESSAGE: put_message(printer, protobuf_bytes(r), field->message); break;
    default: put_number(printer, field->kind, read_number(r, field->kind));
    }
}

static void put_packed(struct printer *printer, struct protobuf_reader *r, enum otlp_kind kind)
{
    struct protobuf_reader packed = protobuf_message(r);

    while (protobuf_more(&packed))
        put_number(printer, kind, read_number(&packed, kind));
}

/* A run of fields of the same number: our encoder never parts them. */
static void put_run(struct printer *printer, struct protobuf_reader *r, const struct otlp_field *field, uint32_t tag)
{
    struct protobuf_reader ahead;
    uint32_t next = tag;

    while (next == tag) {
        put_value(printer, r, field);
        ahead = *r;
        next = 0;
        if (protobuf_next(&ahead, &next) && next == tag)
            *r = ahead;
    }
}

static void put_message(struct printer *printer, struct slice message, enum otlp_message type)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    uint32_t tag;

    json_object_begin(&printer->json);
    while (protobuf_next(&r, &tag)) {
        const struct otlp_field *field = otlp_schema_find_number(type, PROTOBUF_FIELD(tag));

        ASSERT(field); /* we wrote it */
        put_key(printer, field->name);
        if (!field->is_repeated) {
            put_value(printer, &r, field);
            continue;
        }
        json_array_begin(&printer->json);
        if (otlp_schema_wire(field->kind) != PROTOBUF_BYTES)
            put_packed(printer, &r, field->kind);
        else
            put_run(printer, &r, field, tag);
        json_array_end(&printer->json);
    }
    json_object_end(&printer->json);
}

/* Appends the JSON of a request and a newline. */
static int print_request(struct slice request, size_t max_bytes, struct buffer *out, struct error *err)
{
    struct printer printer;
    int result;

    buffer_init(&printer.scratch, max_bytes);
    json_init(&printer.json, out, JSON_COMPACT);
    put_message(&printer, request, OTLP_REQUEST);
    json_done(&printer.json);
    buffer_append_byte(out, '\n');
    result = buffer_check(&printer.scratch, err);
    buffer_done(&printer.scratch);
    return result < 0 ? -1 : buffer_check(out, err);
}

int otlp_json_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                     struct error *err)
{
    size_t max_bytes = batch->limits.max_memory_bytes;
    AUTO(buffer_done) struct buffer message, text;

    buffer_init(&message, max_bytes);
    buffer_init(&text, max_bytes);
    if (otlp_write(batch, &message, err) < 0 || print_request(buffer_slice(&message), max_bytes, &text, err) < 0)
        return -1;
    return otlp_write_packed(buffer_slice(&text), options, out, err);
}
