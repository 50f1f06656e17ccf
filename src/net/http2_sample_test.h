// SPDX-License-Identifier: Apache-2.0
/* Connections of HTTP/2 to clients of nghttp2, in memory: their bytes are carried by hand. */
#pragma once

#include "base/base64.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/test.h"
#include "net/loop_internal.h"
#include "net/rpc.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_STREAMS 512

/* What the client saw of a stream. */
struct seen {
    int status;
    bool has_trailers, is_closed, is_one_frame; /* the answer came as one HEADERS frame */
    uint32_t close_code;
    char headers[1024]; /* "name=value\n" each */
    struct buffer body;
};

struct world {
    struct httpserver server;
    struct loop loop;
    struct connection connection;
    nghttp2_session *client;
    struct seen seen[MAX_STREAMS];
    uint32_t goaway_code;
    bool has_goaway, is_over;
    char goaway_text[64];
    size_t n_to_client;
};

/* A body that the client sends. */
struct upload {
    size_t left;
    bool waits; /* when there is nothing left, it may go on */
};

static _Atomic int n_handled;

/* --- routes --- */

static inline void handle_hello(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    char text[256];

    snprintf(text, sizeof(text), "%.*s %.*s ?%.*s @%.*s h2=%d", SLICE_ARG(request->method_text),
             SLICE_ARG(request->path), SLICE_ARG(request->query), SLICE_ARG(request->authority),
             request->version == HTTP_2);
    exchange_answer(exchange, 200, "text/plain", slice_from(text));
    exchange_header_text(exchange, "X-Odd", "two\r\nlines");
    exchange_header_text(exchange, "connection", "close");
}

static inline void handle_count(struct exchange *exchange)
{
    char text[64];
    size_t wrong = 0;

    for (size_t i = 0; i < exchange->request.body.len; i++)
        wrong += exchange->request.body.ptr[i] != 'x';
    snprintf(text, sizeof(text), "%zu bytes, %zu wrong", exchange->request.body.len, wrong);
    exchange_answer(exchange, 200, "text/plain", slice_from(text));
}

static inline void handle_large(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain", SLICE(""));
    for (int i = 0; i < 1 << 16; i++)
        buffer_append_text(&exchange->response.body, "0123456789abcdef0123456789abcdef");
}

static inline void handle_call(struct exchange *exchange)
{
    struct rpc_call call;

    if (rpc_open(exchange, &call) == 0)
        rpc_answer(exchange, &call, call.message);
}

static inline void handle_slow(struct exchange *exchange)
{
    while (!atomic_load(&exchange->is_gone) && slice_is(exchange->request.query, "wait"))
        usleep(1000);
    atomic_fetch_add(&n_handled, 1);
    exchange_answer(exchange, 200, "text/plain", SLICE("slow"));
}

static const struct route routes[] = {
    { .method = HTTP_GET, .path = "/hello", .handler = handle_hello, .is_quick = true },
    { .method = HTTP_GET, .path = "/hello world", .handler = handle_hello, .is_quick = true },
    { .method = HTTP_POST, .path = "/count", .handler = handle_count, .is_quick = true },
    { .method = HTTP_POST, .path = "/small", .handler = handle_count, .is_quick = true, .max_body_bytes = 1000 },
    { .method = HTTP_GET, .path = "/large", .handler = handle_large, .is_quick = true },
    { .method = HTTP_POST, .path = "/call", .handler = handle_call, .is_quick = true, .is_procedure = true },
    { .method = HTTP_GET, .path = "/slow", .handler = handle_slow },
};

/* --- the client --- */

static inline struct seen *seen_of(struct world *world, int32_t id)
{
    ASSERT(id / 2 < MAX_STREAMS);
    return &world->seen[id / 2];
}

static inline int on_client_header(nghttp2_session *session UNUSED, const nghttp2_frame *frame, const uint8_t *name,
                                   size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags UNUSED,
                                   void *context)
{
    struct seen *seen = seen_of(context, frame->hd.stream_id);
    size_t len = strlen(seen->headers);
    int64_t status;

    if (slice_is(slice_of(name, name_len), ":status")) {
        CHECK(slice_to_i64(slice_of(value, value_len), &status));
        seen->status = (int)status;
        return 0;
    }
    snprintf(seen->headers + len, sizeof(seen->headers) - len, "%.*s=%.*s\n", (int)name_len, (const char *)name,
             (int)value_len, (const char *)value);
    return 0;
}

static inline int on_client_data(nghttp2_session *session UNUSED, uint8_t flags UNUSED, int32_t id,
                                 const uint8_t *bytes, size_t len, void *context)
{
    buffer_append(&seen_of(context, id)->body, bytes, len);
    return 0;
}

static inline int on_client_frame(nghttp2_session *session UNUSED, const nghttp2_frame *frame, void *context)
{
    struct world *world = context;
    bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_RESPONSE)
        seen_of(world, frame->hd.stream_id)->is_one_frame = is_end;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_HEADERS && is_end)
        seen_of(world, frame->hd.stream_id)->has_trailers = true;
    return 0;
}

static inline int on_client_close(nghttp2_session *session UNUSED, int32_t id, uint32_t code, void *context)
{
    struct seen *seen = seen_of(context, id);

    seen->is_closed = true;
    seen->close_code = code;
    return 0;
}

static inline ssize_t read_upload(nghttp2_session *session UNUSED, int32_t id UNUSED, uint8_t *to, size_t len,
                                  uint32_t *ret_flags, nghttp2_data_source *source, void *context UNUSED)
{
    struct upload *upload = source->ptr;
    size_t n = MIN(len, upload->left);

    if (n == 0 && upload->waits)
        return NGHTTP2_ERR_DEFERRED;
    memset(to, 'x', n);
    upload->left -= n;
    if (upload->left == 0 && !upload->waits)
        *ret_flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static inline void make_client(struct world *world)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;

    CHECK_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
    CHECK_EQ(nghttp2_option_new(&options), 0);
    nghttp2_option_set_peer_max_concurrent_streams(options, 1000); /* until it is told */
    nghttp2_option_set_max_send_header_block_length(options, 1 << 20);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_client_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_client_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_client_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_client_close);
    CHECK_EQ(nghttp2_session_client_new2(&world->client, callbacks, world, options), 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    CHECK_EQ(nghttp2_submit_settings(world->client, NGHTTP2_FLAG_NONE, NULL, 0), 0);
}

/* --- the world --- */

static inline void finished(void *context, struct exchange *exchange)
{
    struct loop *loop = context;

    exchange->queue_next = loop->finished_first;
    __atomic_store_n(&loop->finished_first, exchange, __ATOMIC_RELEASE);
}

/* A server without sockets; its connection never moves bytes by itself, since it believes that somebody does. */
static inline void make_server(struct world *world)
{
    world->server.options = (struct httpserver_options){
        .routes = { routes, ARRAY_LEN(routes) },
        .max_body_bytes = 4 << 20,
        .max_inflight_bytes = 16 << 20,
        .head_timeout_ns = 1,
        .body_timeout_ns = 2,
        .idle_timeout_ns = 3,
        .write_timeout_ns = 4,
    };
    world->loop.server = &world->server;
    world->connection.loop = &world->loop;
    world->connection.is_pumping = true;
    buffer_init(&world->connection.in, 0);
    buffer_init(&world->connection.out, 0);
}

static inline struct world *new_world(void)
{
    struct world *world = calloc(1, sizeof(*world)); /* not of the memory that tests make fail */

    CHECK(world);
    make_server(world);
    for (size_t i = 0; i < MAX_STREAMS; i++)
        buffer_init(&world->seen[i].body, 0);
    return world;
}

static inline void free_world(struct world *world)
{
    if (world->connection.protocol)
        world->connection.protocol->close(&world->connection);
    while (world->connection.exchanges)
        exchange_free(world->connection.exchanges);
    pool_free(world->server.pool);
    for (struct exchange *exchange = world->loop.finished_first, *next; exchange; exchange = next) {
        next = exchange->queue_next;
        connection_answer(exchange);
    }
    CHECK_EQ(world->server.inflight_bytes, 0);
    nghttp2_session_del(world->client);
    for (size_t i = 0; i < MAX_STREAMS; i++)
        buffer_done(&world->seen[i].body);
    buffer_done(&world->connection.in);
    buffer_done(&world->connection.out);
    free(world);
}

static inline void free_worldp(struct world **world)
{
    free_world(*world);
}

/* Looks for the server's goodbye. A client that was made to break the rules would not read it. */
static inline void look_for_goaway(struct world *world)
{
    struct slice rest = buffer_slice(&world->connection.out);

    while (rest.len >= 9) {
        size_t len = bytes_get_be32(rest.ptr) >> 8;

        if (rest.ptr[3] == NGHTTP2_GOAWAY) {
            world->has_goaway = true;
            world->goaway_code = bytes_get_be32(rest.ptr + 13);
            snprintf(world->goaway_text, sizeof(world->goaway_text), "%.*s", (int)len - 8, rest.ptr + 17);
        }
        rest = slice_sub(rest, 9 + len, SIZE_MAX);
    }
}

/* What the server put out goes to the client. */
static inline bool carry_to_client(struct world *world)
{
    struct connection *connection = &world->connection;
    size_t len = connection->out.len;
    struct error err;
    ssize_t n = 0;

    if (buffer_check(&connection->out, &err) < 0) {
        world->is_over = true;
        len = 0;
    }
    look_for_goaway(world);
    if (len > 0 && world->client)
        n = nghttp2_session_mem_recv(world->client, (const uint8_t *)connection->out.data, len);
    CHECK(n >= 0);
    world->n_to_client += len;
    buffer_clear(&connection->out);
    if (!world->is_over && !connection->is_closing && connection->protocol)
        connection->protocol->output(connection);
    return len > 0;
}

static inline void give_to_server(struct world *world, const void *bytes, size_t len)
{
    if (!world->is_over && !world->connection.is_closing &&
        world->connection.protocol->input(&world->connection, slice_of(bytes, len)) < 0)
        world->is_over = true;
}

static inline bool carry_to_server(struct world *world)
{
    const uint8_t *bytes;
    ssize_t n = nghttp2_session_mem_send(world->client, &bytes);

    CHECK(n >= 0);
    if (n > 0)
        give_to_server(world, bytes, (size_t)n);
    return n > 0;
}

/* Carries bytes until nobody has any. */
static inline void talk(struct world *world)
{
    bool has_moved = true;

    while (has_moved) {
        has_moved = false;
        while (carry_to_server(world))
            has_moved = true;
        while (carry_to_client(world))
            has_moved = true;
    }
}

static inline struct world *connected(void)
{
    struct world *world = new_world();

    make_client(world);
    CHECK_EQ(http2_open(&world->connection, SLICE(""), NULL), 0);
    return world;
}

#define NV(name, value)                                                                                                \
    (nghttp2_nv)                                                                                                       \
    {                                                                                                                  \
        (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE                       \
    }

static inline int32_t ask(struct world *world, const char *method, const char *path, const nghttp2_nv *more,
                          size_t n_more, struct upload *upload)
{
    nghttp2_data_provider body = { .source.ptr = upload, .read_callback = read_upload };
    nghttp2_nv headers[200] = { NV(":method", method), NV(":scheme", "http"), NV(":authority", "there:4040"),
                                NV(":path", path) };
    int32_t id;

    ASSERT(n_more <= ARRAY_LEN(headers) - 4);
    if (n_more > 0)
        memcpy(headers + 4, more, n_more * sizeof(*more));
    id = nghttp2_submit_request(world->client, NULL, headers, 4 + n_more, upload ? &body : NULL, NULL);
    CHECK(id > 0);
    return id;
}

static inline int32_t get(struct world *world, const char *path)
{
    return ask(world, "GET", path, NULL, 0, NULL);
}

static inline struct slice body_of(struct world *world, int32_t id)
{
    return buffer_slice(&seen_of(world, id)->body);
}
