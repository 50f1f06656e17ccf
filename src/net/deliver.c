// SPDX-License-Identifier: Apache-2.0
#include "net/deliver_internal.h"

#include "base/hash.h"
#include "net/etag.h"
#include "net/loop_internal.h"
#include "net/rpc.h"
#include "pack/packer.h"

#include <stdio.h>

#define TAG_BYTES 33 /* 32 digits of a hash, and a NUL */

static const struct encoding {
    const char *name;
    enum pack_kind kind;
    int level; /* quick ones: the asker waits for the whole of it */
} encodings[] = {
    { "zstd", PACK_ZSTD, 1 },
    { "gzip", PACK_GZIP, 3 },
};

/* --- tags --- */

static bool has_tag(const struct exchange *exchange)
{
    enum http_method method = exchange->request.method;

    return exchange->route && exchange->route->scope == ROUTE_READ && (method == HTTP_GET || method == HTTP_HEAD) &&
           exchange->response.status == 200 && !http_header(&exchange->response.headers, "etag").ptr;
}

static void write_tag(struct slice body, char ret_tag[static TAG_BYTES])
{
    struct hash128 hash = hash_bytes(body, 0);

    snprintf(ret_tag, TAG_BYTES, "%016llx%016llx", (unsigned long long)hash.a, (unsigned long long)hash.b);
}

static void put_tag(struct exchange *exchange, const char *tag, const struct encoding *encoding)
{
    char text[TAG_BYTES + 16];

    snprintf(text, sizeof(text), "\"%s%s%s\"", tag, encoding ? "-" : "", encoding ? encoding->name : "");
    exchange_header_text(exchange, "etag", text);
    if (!http_header(&exchange->response.headers, "cache-control").ptr)
        exchange_header_text(exchange, "cache-control", "no-cache");
}

/* --- compression --- */

static bool is_packable_type(struct slice type)
{
    static const char *const types[] = {
        "application/json",  "application/x-ndjson", "application/javascript",      "application/x-protobuf",
        "application/proto", "image/svg+xml",        "application/vnd.hearth.flame"
    };

    if (slice_starts_with(type, SLICE("text/")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (slice_equal_nocase(type, slice_from(types[i])))
            return true;
    return false;
}

static bool is_packable(const struct response *response)
{
    return response->body.len > DELIVER_MIN_PACKED_BYTES && !http_header(&response->headers, "content-encoding").ptr &&
           is_packable_type(http_media_type(http_header(&response->headers, "content-type")));
}

/* The one that the asker likes best; NULL = it takes none. */
static const struct encoding *choose_encoding(const struct exchange *exchange)
{
    const struct encoding *best = NULL;
    double best_quality = 0;

    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        double quality = http_header_quality(&exchange->request.headers, "accept-encoding", encodings[i].name);

        if (quality > best_quality) {
            best = &encodings[i];
            best_quality = quality;
        }
    }
    return best;
}

/* Replaces the body by its compressed form. Without memory for that, the plain one will do. */
static bool pack(struct exchange *exchange, const struct encoding *encoding)
{
    struct packer **packer = &exchange->loop->server->packers[exchange->worker];
    struct buffer *body = &exchange->response.body, packed;
    struct error ignored;

    if (!*packer && packer_new(packer, &ignored) < 0)
        return false;
    buffer_init(&packed, 0);
    if (packer_pack(*packer, encoding->kind, encoding->level, buffer_slice(body), &packed, &ignored) < 0 ||
        packed.len >= body->len) {
        buffer_done(&packed);
        return false;
    }
    buffer_done(body);
    *body = packed;
    exchange_header_text(exchange, "content-encoding", encoding->name);
    return true;
}

/* --- delivering --- */

static void count(struct exchange *exchange)
{
    struct httpserver *server = exchange->loop->server;
    uint64_t bytes = exchange->response.body.len;

    if (bytes <= DELIVER_FREE_BYTES)
        return;
    if (httpserver_reserve_answer(server, bytes)) {
        exchange->answer_bytes = bytes;
        return;
    }
    buffer_done(&exchange->response.body);
    buffer_init(&exchange->response.body, 0);
    rpc_shape_failure(exchange, 503,
                      "answers that others have not read yet take all the memory there is for them; try again in a "
                      "moment",
                      CLOCK_NS_PER_SECOND);
}

static bool is_whole(struct exchange *exchange)
{
    struct error err;

    if (buffer_check(&exchange->response.body, &err) == 0)
        return true;
    exchange_fail(exchange, &err);
    return false;
}

void deliver_prepare(struct exchange *exchange)
{
    struct response *response = &exchange->response;
    bool is_tagged = has_tag(exchange), may_pack = is_packable(response);
    const struct encoding *encoding = may_pack ? choose_encoding(exchange) : NULL;
    char tag[TAG_BYTES];

    if (!is_whole(exchange))
        return;
    if (is_tagged)
        write_tag(buffer_slice(&response->body), tag);
    if (is_tagged && etag_is_known(&exchange->request.headers, tag))
        exchange_answer(exchange, 304, NULL, SLICE(""));
    else if (encoding && !pack(exchange, encoding))
        encoding = NULL;
    if (may_pack)
        exchange_header_text(exchange, "vary", "accept-encoding");
    if (is_tagged)
        put_tag(exchange, tag, encoding);
    count(exchange);
}

void deliver_quick(struct exchange *exchange)
{
    if (is_whole(exchange))
        count(exchange);
}
