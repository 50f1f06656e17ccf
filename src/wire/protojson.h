// SPDX-License-Identifier: Apache-2.0
/* JSON that stands for protobuf messages, as OTLP has it, made into protobuf by tables of fields: so that there is one reader
 * for what it all means. Keys may be lowerCamelCase or snake_case; those that no table has, and null, are passed over.
 * 64-bit integers are numbers or strings. The same tables tell the stories of protobuf that is damaged. */
#pragma once

#include "wire/json_reader.h"
#include "wire/protobuf.h"

enum protojson_kind {
    PROTOJSON_INT,     /* a varint; enums too */
    PROTOJSON_UINT,    /* a varint */
    PROTOJSON_SINT,    /* a varint with the sign in its lowest bit: sint32 and sint64 */
    PROTOJSON_BOOL,    /* a varint */
    PROTOJSON_FIXED32, /* unsigned */
    PROTOJSON_FIXED64, /* unsigned */
    PROTOJSON_SFIXED64,
    PROTOJSON_DOUBLE,
    PROTOJSON_TEXT,
    PROTOJSON_BASE64,
    PROTOJSON_HEX, /* ids */
    PROTOJSON_MESSAGE,
};

/* A table of fields ends with a row without a name. */
struct protojson_field {
    const char *name; /* snake_case */
    uint32_t number;
    enum protojson_kind kind;
    bool is_repeated;
    const struct protojson_field *fields; /* of PROTOJSON_MESSAGE */
};

/* Whether the key of an object is `name`, in snake_case or in lowerCamelCase. */
bool protojson_is_key_of(struct slice key, const char *name);

/* Reads the object that comes next and appends it as a message; one that is repeated may come as a single value. What is wrong
 * is noted in the reader (json_reader_check) and in `out` (buffer_check). Nesting is bounded by the reader. */
void protojson_read(struct json_reader *reader, const struct protojson_field *fields, struct buffer *out);

/* Reads a text of hexadecimal digits of either case, or of base64, as field `number`. */
void protojson_read_hex(struct json_reader *reader, uint32_t number, struct buffer *out);
void protojson_read_base64(struct json_reader *reader, uint32_t number, struct buffer *out);

/* As protobuf_explain, with these tables. */
int protojson_explain(const char *format, const struct protojson_field *fields, struct slice whole,
                      const struct protobuf_reader *failed, struct error *err);
