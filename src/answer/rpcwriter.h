// SPDX-License-Identifier: Apache-2.0
/* Writes a message of a remote procedure call, field by field, as protobuf or as its JSON: whoever answers says things once.
 *
 *     rpcwriter_init(&writer, codec, &out);
 *     rpcwriter_int64(&writer, 3, "total", total);
 *     rpcwriter_list_begin(&writer, "levels");
 *     rpcwriter_begin(&writer, 2, NULL);        a message in a list has no name of its own
 *     rpcwriter_int64s(&writer, 1, "values", values, n);
 *     rpcwriter_end(&writer);
 *     rpcwriter_list_end(&writer);
 *     rpcwriter_done(&writer);
 *
 * W1  Values that are zero, false or empty are left out, and so are lists without items, as long as nobody begins one.
 * W2  JSON has names in lowerCamelCase, which the caller gives so, 64-bit numbers as texts and bytes in base64.
 * W3  Texts that are not UTF-8 are written with U+FFFD for each bad byte, since clients refuse a whole message for one.
 * What went wrong, if anything, says buffer_check. */
#pragma once

#include "base/json.h"
#include "net/rpc.h"

#define RPCWRITER_MAX_DEPTH 8

struct rpcwriter {
    enum rpc_codec codec;
    struct buffer *out;
    size_t begins[RPCWRITER_MAX_DEPTH]; /* of open messages, protobuf */
    uint32_t depth;
    struct json json;
};

/* Starts a message at the end of `out`, which stays the caller's. */
void rpcwriter_init(struct rpcwriter *writer, enum rpc_codec codec, struct buffer *out);
void rpcwriter_done(struct rpcwriter *writer);

void rpcwriter_text(struct rpcwriter *writer, uint32_t number, const char *name, struct slice text);
void rpcwriter_bytes(struct rpcwriter *writer, uint32_t number, const char *name, struct slice bytes);
void rpcwriter_int64(struct rpcwriter *writer, uint32_t number, const char *name, int64_t value);
void rpcwriter_double(struct rpcwriter *writer, uint32_t number, const char *name, double value);
void rpcwriter_bool(struct rpcwriter *writer, uint32_t number, const char *name, bool value);

/* A nested message, there even when it is empty; `name` is NULL in a list. */
void rpcwriter_begin(struct rpcwriter *writer, uint32_t number, const char *name);
void rpcwriter_end(struct rpcwriter *writer);
/* A nested message that is written already, in the same codec. */
void rpcwriter_message(struct rpcwriter *writer, uint32_t number, const char *name, struct slice message);

/* A list of messages or texts. */
void rpcwriter_list_begin(struct rpcwriter *writer, const char *name);
void rpcwriter_list_end(struct rpcwriter *writer);
void rpcwriter_text_item(struct rpcwriter *writer, uint32_t number, struct slice text);

/* Lists of numbers. */
void rpcwriter_int64s(struct rpcwriter *writer, uint32_t number, const char *name, const int64_t *values, size_t n);
void rpcwriter_int32s(struct rpcwriter *writer, uint32_t number, const char *name, const int32_t *values, size_t n);
void rpcwriter_doubles(struct rpcwriter *writer, uint32_t number, const char *name, const double *values, size_t n);
/* A list of texts. */
void rpcwriter_texts(struct rpcwriter *writer, uint32_t number, const char *name, const struct slice *texts, size_t n);
