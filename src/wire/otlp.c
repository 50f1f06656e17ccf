// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp.h"

#include "wire/otlp_read_internal.h"
#include "wire/otlp_write_internal.h"

#define FRAME_HEADER_BYTES 4

/* --- the file: one request, or several behind their lengths --- */

/* A request begins with a tag, and no tag is below 8; a length of less than 128 MiB does. */
static bool is_framed(struct slice bytes)
{
    return bytes.len >= FRAME_HEADER_BYTES && (uint8_t)bytes.ptr[0] < 8;
}

static bool next_frame(struct slice *rest, struct slice *ret_request)
{
    uint32_t len;

    if (rest->len < FRAME_HEADER_BYTES)
        return false;
    len = bytes_get_be32(rest->ptr);
    if (len > rest->len - FRAME_HEADER_BYTES)
        return false;
    *ret_request = slice_of(rest->ptr + FRAME_HEADER_BYTES, len);
    *rest = slice_of(ret_request->ptr + len, rest->len - FRAME_HEADER_BYTES - len);
    return true;
}

int otlp_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    struct slice rest = bytes, request;
    struct otlp_document *documents;
    uint32_t n = 1;

    if (is_framed(bytes)) {
        for (n = 0; next_frame(&rest, &request);)
            n++;
        if (rest.len > 0)
            return error_set(err, ERR_CORRUPT, "OTLP: request %u at byte %zu: its length reaches past the end", n,
                             (size_t)(rest.ptr - bytes.ptr));
    }
    documents = arena_alloc_array(&batch->arena, n, sizeof(*documents), err);
    if (!documents)
        return -1;
    rest = bytes;
    for (uint32_t i = 0; i < n; i++) {
        documents[i] = (struct otlp_document){ .bytes = bytes };
        if (is_framed(bytes) && next_frame(&rest, &request))
            documents[i].bytes = request;
    }
    return otlp_read(documents, n, batch, err);
}

/* --- writing --- */

int otlp_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                struct error *err)
{
    AUTO(buffer_done) struct buffer plain;

    buffer_init(&plain, batch->limits.max_memory_bytes);
    if (options->plain || options->pack == PACK_NONE)
        return otlp_write(batch, out, err);
    if (otlp_write(batch, &plain, err) < 0)
        return -1;
    return otlp_write_packed(buffer_slice(&plain), options, out, err);
}

/* --- recognising --- */

/* A message that has fields from 1 to `highest` and no others, all of them bytes; those numbered `inner` are messages of
 * the `next` shape. */
struct shape {
    uint32_t highest;
    uint32_t inner;
    const struct shape *next;
};

static const struct shape scope_shape = { .highest = 3 };
static const struct shape resource_shape = { .highest = 3, .inner = 2, .next = &scope_shape };

/* How many messages of the innermost shape there are, or -1 where something does not fit. */
static int count_shapes(struct slice message, const struct shape *shape)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    uint32_t tag;
    int n = shape->next ? 0 : 1;

    while (protobuf_next(&r, &tag)) {
        struct slice value;
        int inner = 0;

        if (PROTOBUF_WIRE(tag) != PROTOBUF_BYTES || PROTOBUF_FIELD(tag) == 0 || PROTOBUF_FIELD(tag) > shape->highest)
            return -1;
        value = protobuf_bytes(&r);
        if (shape->next && PROTOBUF_FIELD(tag) == shape->inner)
            inner = count_shapes(value, shape->next);
        if (inner < 0)
            return -1;
        n = MIN(n + inner, INT32_MAX / 2);
    }
    return r.bad ? -1 : n;
}

static bool is_dictionary(struct slice message)
{
    static const struct shape dictionary_shape = { .highest = 7 };

    return message.len > 0 && count_shapes(message, &dictionary_shape) > 0;
}

static int recognise_request(struct slice bytes)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    bool has_scopes = false, has_dictionary = false, has_tables = false;
    uint32_t tag;

    if (bytes.len == 0)
        return 0;
    while (protobuf_next(&r, &tag)) {
        struct slice value;

        if (PROTOBUF_WIRE(tag) != PROTOBUF_BYTES || PROTOBUF_FIELD(tag) == 0 || PROTOBUF_FIELD(tag) > 8)
            return 0;
        value = protobuf_bytes(&r);
        if (PROTOBUF_FIELD(tag) == OTLP_REQUEST_RESOURCE_PROFILES) {
            int n_scopes = count_shapes(value, &resource_shape);

            if (n_scopes < 0)
                return 0;
            has_scopes |= n_scopes > 0;
        } else if (PROTOBUF_FIELD(tag) == OTLP_REQUEST_DICTIONARY) {
            has_dictionary |= is_dictionary(value);
        } else {
            has_tables = true; /* L6, which has profiles beside them */
        }
    }
    if (r.bad || (has_tables && !has_scopes))
        return 0;
    return has_scopes || has_dictionary ? 95 : 40;
}

int otlp_recognise(struct slice bytes)
{
    struct slice request;
    int score = 0;

    if (!is_framed(bytes))
        return recognise_request(bytes);
    while (next_frame(&bytes, &request)) {
        int own = recognise_request(request);

        if (own == 0)
            return 0;
        score = MAX(score, own);
    }
    return bytes.len == 0 ? score : 0;
}
