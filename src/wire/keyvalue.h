// SPDX-License-Identifier: Apache-2.0
/* Attributes as OpenTelemetry writes them in traces and metrics: KeyValue messages with AnyValues, in protobuf. (Profiles have
 * indexes into a dictionary, too; otlp_attributes.c reads those.)
 *
 * A KeyValue is read without allocating. Lists and maps are given as bytes, and become JSON by keyvalue_to_json. */
#pragma once

#include "base/arena.h"
#include "wire/protobuf.h"
#include "wire/protojson.h"

enum keyvalue_kind {
    KEYVALUE_EMPTY,
    KEYVALUE_TEXT,
    KEYVALUE_BOOL,
    KEYVALUE_INT,
    KEYVALUE_DOUBLE,
    KEYVALUE_BYTES,
    KEYVALUE_LIST,
    KEYVALUE_MAP,
};

struct keyvalue {
    struct slice key;
    enum keyvalue_kind kind;
    union {
        struct slice text; /* of texts and bytes; of lists and maps the message */
        int64_t integer;   /* of integers, and 0 or 1 of booleans */
        double real;
    };
};

/* Reads a KeyValue message to its end; what is wrong with it is noted in the reader. Key and texts are borrowed, and may be
 * no UTF-8. Of several values the last counts. Thread: any. */
struct keyvalue keyvalue_read(struct protobuf_reader *r);

/* Lists and maps inside each other are read so deep; what is deeper becomes null. */
#define KEYVALUE_MAX_DEPTH 16

/* A list or map as JSON, of at most `max_bytes`, from `arena`; what is longer becomes the text null. Bytes become base64;
 * numbers that JSON does not have become the texts NaN, Infinity and -Infinity. What is wrong with the bytes is noted in `r`,
 * which read the value. Errors: ERR_MEMORY, ERR_LIMIT (of the arena). */
MUST_CHECK int keyvalue_to_json(const struct keyvalue *value, size_t max_bytes, struct arena *arena,
                                struct protobuf_reader *r, struct slice *ret_text, struct error *err);

/* A text as it can be kept: what is no UTF-8 becomes U+FFFD, and what is longer than `max_bytes` is cut where a character
 * ends. Borrows `text` where nothing had to be mended, else it is from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int keyvalue_mend(struct slice text, size_t max_bytes, struct arena *arena, struct slice *ret_text,
                             struct error *err);

/* Appends field `field` with a KeyValue. Lists and maps are written as the bytes they have. */
void keyvalue_put(struct buffer *out, uint32_t field, const struct keyvalue *value);

/* The same with a value that is JSON: lists and objects become lists and maps, and whole numbers integers. What is no JSON is
 * written as a text. */
void keyvalue_put_json(struct buffer *out, uint32_t field, struct slice key, struct slice text);

/* The fields of messages that all signals share, for protojson.h. */
extern const struct protojson_field keyvalue_any_fields[];
extern const struct protojson_field keyvalue_fields[];
extern const struct protojson_field keyvalue_resource_fields[];
extern const struct protojson_field keyvalue_scope_fields[];
