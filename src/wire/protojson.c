// SPDX-License-Identifier: Apache-2.0
#include "wire/protojson.h"

#include "base/base64.h"
#include "pack/varint.h"

/* --- names --- */

bool protojson_is_key_of(struct slice key, const char *name)
{
    size_t i = 0;

    if (slice_is(key, name))
        return true;
    for (; *name; name++, i++) {
        bool is_word_start = *name == '_';

        name += is_word_start;
        if (i == key.len || key.ptr[i] != (is_word_start ? *name - 'a' + 'A' : *name))
            return false;
    }
    return i == key.len;
}

static const struct protojson_field *find_field(const struct protojson_field *fields, struct slice key)
{
    for (const struct protojson_field *field = fields; field->name; field++)
        if (protojson_is_key_of(key, field->name))
            return field;
    return NULL;
}

static enum protobuf_wire wire_of(enum protojson_kind kind)
{
    switch (kind) {
    case PROTOJSON_INT:
    case PROTOJSON_UINT:
    case PROTOJSON_SINT:
    case PROTOJSON_BOOL: return PROTOBUF_VARINT;
    case PROTOJSON_FIXED32: return PROTOBUF_FIXED32;
    case PROTOJSON_FIXED64:
    case PROTOJSON_SFIXED64:
    case PROTOJSON_DOUBLE: return PROTOBUF_FIXED64;
    case PROTOJSON_TEXT:
    case PROTOJSON_BASE64:
    case PROTOJSON_HEX:
    case PROTOJSON_MESSAGE: break;
    }
    return PROTOBUF_BYTES;
}

/* --- single values --- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void protojson_read_hex(struct json_reader *reader, uint32_t number, struct buffer *out)
{
    struct slice text = json_reader_text(reader);
    size_t begin = protobuf_begin(out, number);

    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]), low = hex_digit(text.ptr[i + 1]);

        if (high < 0 || low < 0) {
            json_reader_fail(reader, "expected an id in hexadecimal digits, found '%.*s' before",
                             (int)MIN(text.len, 64u), text.ptr);
            break;
        }
        buffer_append_byte(out, (char)(high << 4 | low));
    }
    if (text.len % 2 != 0)
        json_reader_fail(reader, "expected an id of whole bytes, found %zu hexadecimal digits before", text.len);
    protobuf_end(out, begin);
}

void protojson_read_base64(struct json_reader *reader, uint32_t number, struct buffer *out)
{
    struct slice text = json_reader_text(reader);
    size_t begin = protobuf_begin(out, number), len, bad_at;
    char *to = buffer_reserve(out, BASE64_DECODED_BYTES(text.len));

    if (to && base64_decode(text, to, &len, &bad_at))
        buffer_commit(out, len);
    else if (to)
        json_reader_fail(reader, "expected base64 before");
    protobuf_end(out, begin);
}

static uint64_t read_number(struct json_reader *reader, enum protojson_kind kind)
{
    double real;
    uint64_t number;

    switch (kind) {
    case PROTOJSON_BOOL: return json_reader_bool(reader);
    case PROTOJSON_DOUBLE:
        real = json_reader_double(reader);
        memcpy(&number, &real, sizeof(number));
        return number;
    case PROTOJSON_INT:
    case PROTOJSON_SFIXED64: return (uint64_t)json_reader_i64(reader);
    case PROTOJSON_SINT: return varint_zigzag(json_reader_i64(reader));
    case PROTOJSON_FIXED32:
        number = json_reader_u64(reader);
        if (number > UINT32_MAX)
            json_reader_fail(reader, "expected a number of 32 bits, found a larger one before");
        return number;
    case PROTOJSON_UINT:
    case PROTOJSON_FIXED64:
    case PROTOJSON_TEXT:
    case PROTOJSON_BASE64:
    case PROTOJSON_HEX:
    case PROTOJSON_MESSAGE: break;
    }
    return json_reader_u64(reader);
}

static void put_number(uint64_t number, enum protobuf_wire wire, struct buffer *out)
{
    switch (wire) {
    case PROTOBUF_FIXED32: buffer_append(out, &number, sizeof(uint32_t)); break;
    case PROTOBUF_FIXED64: buffer_append(out, &number, sizeof(number)); break;
    case PROTOBUF_VARINT: protobuf_put_varint(out, number); break;
    case PROTOBUF_BYTES: break;
    }
}

/* --- messages --- */

static void read_value(struct json_reader *reader, const struct protojson_field *field, struct buffer *out)
{
    size_t begin;

    if (json_reader_peek(reader) == JSON_NULL) {
        json_reader_null(reader);
        return;
    }
    switch (field->kind) {
    case PROTOJSON_TEXT: protobuf_put_bytes_always(out, field->number, json_reader_text(reader)); break;
    case PROTOJSON_HEX: protojson_read_hex(reader, field->number, out); break;
    case PROTOJSON_BASE64: protojson_read_base64(reader, field->number, out); break;
    case PROTOJSON_MESSAGE:
        begin = protobuf_begin(out, field->number);
        protojson_read(reader, field->fields, out);
        protobuf_end(out, begin);
        break;
    case PROTOJSON_INT:
    case PROTOJSON_UINT:
    case PROTOJSON_SINT:
    case PROTOJSON_BOOL:
    case PROTOJSON_FIXED32:
    case PROTOJSON_FIXED64:
    case PROTOJSON_SFIXED64:
    case PROTOJSON_DOUBLE:
        protobuf_put_tag(out, field->number, wire_of(field->kind));
        put_number(read_number(reader, field->kind), wire_of(field->kind), out);
        break;
    }
}

static void read_packed(struct json_reader *reader, const struct protojson_field *field, struct buffer *out)
{
    size_t begin = protobuf_begin(out, field->number);

    json_reader_enter_array(reader);
    while (json_reader_next_item(reader))
        put_number(read_number(reader, field->kind), wire_of(field->kind), out);
    protobuf_end(out, begin);
}

static void read_list(struct json_reader *reader, const struct protojson_field *field, struct buffer *out)
{
    if (wire_of(field->kind) != PROTOBUF_BYTES) {
        read_packed(reader, field, out);
        return;
    }
    json_reader_enter_array(reader);
    while (json_reader_next_item(reader))
        read_value(reader, field, out);
}

void protojson_read(struct json_reader *reader, const struct protojson_field *fields, struct buffer *out)
{
    struct slice key;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        const struct protojson_field *field = find_field(fields, key);

        if (!field)
            json_reader_skip(reader);
        else if (field->is_repeated && json_reader_peek(reader) == JSON_ARRAY)
            read_list(reader, field, out);
        else
            read_value(reader, field, out);
    }
}

/* --- stories --- */

#define MAX_TABLES 32
#define MAX_ROWS   256

/* The tables that protobuf_explain reads, made when something went wrong. */
struct names {
    const struct protojson_field *tables[MAX_TABLES];
    struct protobuf_field *first[MAX_TABLES]; /* where the rows of each begin */
    size_t n_tables, n_rows;
    struct protobuf_field rows[MAX_ROWS];
};

static size_t find_table(struct names *names, const struct protojson_field *fields)
{
    for (size_t i = 0; i < names->n_tables; i++)
        if (names->tables[i] == fields)
            return i;
    ASSERT(names->n_tables < MAX_TABLES);
    names->tables[names->n_tables] = fields;
    return names->n_tables++;
}

/* Messages refer to each other, and even to themselves: the first time the tables are found and get their places, the second
 * time references are filled in. */
static void add_rows(struct names *names)
{
    names->n_rows = 0;
    for (size_t i = 0; i < names->n_tables; i++) {
        const struct protojson_field *field = names->tables[i];

        names->first[i] = &names->rows[names->n_rows];
        for (;; field++) {
            struct protobuf_field *row = &names->rows[names->n_rows++];

            ASSERT(names->n_rows <= MAX_ROWS);
            *row = (struct protobuf_field){ .name = field->name };
            if (!field->name)
                break;
            row->number = field->number;
            row->wire = wire_of(field->kind);
            row->is_repeated = field->is_repeated;
            if (field->kind == PROTOJSON_MESSAGE)
                row->fields = names->first[find_table(names, field->fields)];
        }
    }
}

int protojson_explain(const char *format, const struct protojson_field *fields, struct slice whole,
                      const struct protobuf_reader *failed, struct error *err)
{
    struct names names = { .n_tables = 0 };

    (void)find_table(&names, fields);
    add_rows(&names);
    add_rows(&names);
    return protobuf_explain(format, names.first[0], whole, failed, err);
}
