// SPDX-License-Identifier: Apache-2.0
#include "answer/rpcwriter.h"

#include "base/base64.h"
#include "wire/protobuf.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_json(const struct rpcwriter *writer)
{
    return writer->codec == RPC_JSON;
}

void rpcwriter_init(struct rpcwriter *writer, enum rpc_codec codec, struct buffer *out)
{
    writer->codec = codec;
    writer->out = out;
    writer->depth = 0;
    if (is_json(writer)) {
        json_init(&writer->json, out, JSON_COMPACT);
        json_object_begin(&writer->json);
    }
}

void rpcwriter_done(struct rpcwriter *writer)
{
    ASSERT(writer->depth == 0);
    if (is_json(writer)) {
        json_object_end(&writer->json);
        json_done(&writer->json);
    }
}

/* --- single values --- */

static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void put_text(struct buffer *out, uint32_t number, struct slice text)
{
    size_t begin;

    if (slice_is_utf8(text)) {
        protobuf_put_bytes_always(out, number, text);
        return;
    }
    begin = protobuf_begin(out, number);
    while (text.len > 0) {
        size_t n = slice_utf8_len(text);

        buffer_append_slice(out, n ? slice_sub(text, 0, n) : SLICE("\xef\xbf\xbd"));
        text = slice_sub(text, MAX(n, (size_t)1), SIZE_MAX);
    }
    protobuf_end(out, begin);
}

void rpcwriter_text(struct rpcwriter *writer, uint32_t number, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    if (is_json(writer))
        json_key(&writer->json, name);
    rpcwriter_text_item(writer, number, text);
}

void rpcwriter_text_item(struct rpcwriter *writer, uint32_t number, struct slice text)
{
    if (is_json(writer))
        json_string(&writer->json, text);
    else
        put_text(writer->out, number, text);
}

void rpcwriter_bytes(struct rpcwriter *writer, uint32_t number, const char *name, struct slice bytes)
{
    struct buffer text;

    if (bytes.len == 0)
        return;
    if (!is_json(writer)) {
        protobuf_put_bytes(writer->out, number, bytes);
        return;
    }
    buffer_init(&text, 0);
    base64_encode(bytes, true, &text);
    json_key(&writer->json, name);
    json_string(&writer->json, buffer_slice(&text));
    if (text.failure.code != ERR_OK)
        writer->out->failure = text.failure;
    buffer_done(&text);
}

static void put_json_int64(struct rpcwriter *writer, int64_t value)
{
    char text[24];

    json_string(&writer->json, slice_of(text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value)));
}

void rpcwriter_int64(struct rpcwriter *writer, uint32_t number, const char *name, int64_t value)
{
    if (value == 0)
        return;
    if (is_json(writer)) {
        json_key(&writer->json, name);
        put_json_int64(writer, value);
    } else {
        protobuf_put_uint(writer->out, number, (uint64_t)value);
    }
}

void rpcwriter_double(struct rpcwriter *writer, uint32_t number, const char *name, double value)
{
    if (value == 0)
        return;
    if (is_json(writer)) {
        json_key(&writer->json, name);
        json_double(&writer->json, value);
    } else {
        protobuf_put_fixed64(writer->out, number, bits_of(value));
    }
}

void rpcwriter_bool(struct rpcwriter *writer, uint32_t number, const char *name, bool value)
{
    if (!value)
        return;
    if (is_json(writer)) {
        json_key(&writer->json, name);
        json_bool(&writer->json, true);
    } else {
        protobuf_put_uint(writer->out, number, 1);
    }
}

/* --- messages --- */

void rpcwriter_begin(struct rpcwriter *writer, uint32_t number, const char *name)
{
    ASSERT(writer->depth < RPCWRITER_MAX_DEPTH);
    if (is_json(writer)) {
        if (name)
            json_key(&writer->json, name);
        json_object_begin(&writer->json);
    } else {
        writer->begins[writer->depth] = protobuf_begin(writer->out, number);
    }
    writer->depth++;
}

void rpcwriter_end(struct rpcwriter *writer)
{
    ASSERT(writer->depth > 0);
    writer->depth--;
    if (is_json(writer))
        json_object_end(&writer->json);
    else
        protobuf_end(writer->out, writer->begins[writer->depth]);
}

void rpcwriter_message(struct rpcwriter *writer, uint32_t number, const char *name, struct slice message)
{
    if (!is_json(writer)) {
        protobuf_put_bytes_always(writer->out, number, message);
        return;
    }
    if (name)
        json_key(&writer->json, name);
    json_raw(&writer->json, message);
}

/* --- lists --- */

void rpcwriter_list_begin(struct rpcwriter *writer, const char *name)
{
    if (!is_json(writer))
        return;
    json_key(&writer->json, name);
    json_array_begin(&writer->json);
}

void rpcwriter_list_end(struct rpcwriter *writer)
{
    if (is_json(writer))
        json_array_end(&writer->json);
}

void rpcwriter_int64s(struct rpcwriter *writer, uint32_t number, const char *name, const int64_t *values, size_t n)
{
    size_t begin;

    if (n == 0)
        return;
    if (is_json(writer)) {
        rpcwriter_list_begin(writer, name);
        for (size_t i = 0; i < n; i++)
            put_json_int64(writer, values[i]);
        rpcwriter_list_end(writer);
        return;
    }
    begin = protobuf_begin(writer->out, number);
    for (size_t i = 0; i < n; i++)
        protobuf_put_varint(writer->out, (uint64_t)values[i]);
    protobuf_end(writer->out, begin);
}

void rpcwriter_int32s(struct rpcwriter *writer, uint32_t number, const char *name, const int32_t *values, size_t n)
{
    size_t begin;

    if (n == 0)
        return;
    if (is_json(writer)) {
        rpcwriter_list_begin(writer, name);
        for (size_t i = 0; i < n; i++)
            json_int(&writer->json, values[i]);
        rpcwriter_list_end(writer);
        return;
    }
    begin = protobuf_begin(writer->out, number);
    for (size_t i = 0; i < n; i++)
        protobuf_put_varint(writer->out, (uint64_t)(int64_t)values[i]);
    protobuf_end(writer->out, begin);
}

void rpcwriter_doubles(struct rpcwriter *writer, uint32_t number, const char *name, const double *values, size_t n)
{
    size_t begin;

    if (n == 0)
        return;
    if (is_json(writer)) {
        rpcwriter_list_begin(writer, name);
        for (size_t i = 0; i < n; i++)
            json_double(&writer->json, values[i]);
        rpcwriter_list_end(writer);
        return;
    }
    begin = protobuf_begin(writer->out, number);
    for (size_t i = 0; i < n; i++) {
        char bytes[8];

        bytes_put_le64(bytes, bits_of(values[i]));
        buffer_append(writer->out, bytes, sizeof(bytes));
    }
    protobuf_end(writer->out, begin);
}

void rpcwriter_texts(struct rpcwriter *writer, uint32_t number, const char *name, const struct slice *texts, size_t n)
{
    if (n == 0)
        return;
    rpcwriter_list_begin(writer, name);
    for (size_t i = 0; i < n; i++)
        rpcwriter_text_item(writer, number, texts[i]);
    rpcwriter_list_end(writer);
}
