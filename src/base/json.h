// SPDX-License-Identifier: Apache-2.0
/* Writes JSON (RFC 8259) into a buffer, value by value, in the order of the calls.
 *
 *     json_init(&json, &buffer, JSON_COMPACT);
 *     json_object_begin(&json);
 *     json_key(&json, "name");
 *     json_string(&json, name);
 *     json_object_end(&json);
 *     json_done(&json);
 *
 * Commas and line breaks are the writer's business. Calling in an order that is not JSON (a key without a value, an end
 * that matches no begin) is a bug of ours and asserted in debug builds. Failures of the buffer stay in the buffer. */
#pragma once

#include "base/buffer.h"

/* A tree of 4,096 levels as nested objects with arrays of children takes twice that; deeper fails the buffer:
 * ERR_LIMIT. */
#define JSON_MAX_DEPTH 8448

enum json_layout {
    JSON_COMPACT,
    JSON_INDENTED, /* a line for each value, 2 spaces a level */
};

struct json {
    struct buffer *buffer;
    enum json_layout layout;
    size_t depth;
    bool has_key;                            /* a key waits for its value */
    bool has_value;                          /* something was written at the outermost level */
    uint64_t is_object[JSON_MAX_DEPTH / 64]; /* one bit for each open level */
    uint64_t has_items[JSON_MAX_DEPTH / 64];
};

/* Starts one JSON text at the end of `buffer`, which stays the caller's. */
void json_init(struct json *json, struct buffer *buffer, enum json_layout layout);
/* Asserts in debug builds that exactly one whole value was written. An indented text gets its last line break. */
void json_done(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_key_slice(struct json *json, struct slice key);

/* Bytes that are not well-formed UTF-8 become U+FFFD, one each. */
void json_string(struct json *json, struct slice text);
void json_text(struct json *json, const char *text);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
/* NaN and infinities, which JSON does not have, become null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
/* `text` is itself JSON: one whole value, written as it is. */
void json_raw(struct json *json, struct slice text);

#define JSON_NUMBER_BYTES 32
/* Writes the digits of a finite number, as few as read back to the same value ("0.1", "1e+300", "12"), whatever the
 * locale, and a NUL. Returns the length. */
size_t json_number(double value, char ret_text[static JSON_NUMBER_BYTES]);

#define JSON_ESCAPE_BYTES 8
/* How the first character of `text` (not empty) is written inside quotes: fills `ret_escaped` with `ret_len` bytes and
 * returns how many bytes of `text` that character has. */
size_t json_escape(struct slice text, char ret_escaped[static JSON_ESCAPE_BYTES], size_t *ret_len);
