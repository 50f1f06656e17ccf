// SPDX-License-Identifier: Apache-2.0
/* Against clients of nghttp2, in memory: a connection whose bytes are carried by hand. */
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

static void handle_hello(struct exchange *exchange)
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

static void handle_count(struct exchange *exchange)
{
    char text[64];
    size_t wrong = 0;

    for (size_t i = 0; i < exchange->request.body.len; i++)
        wrong += exchange->request.body.ptr[i] != 'x';
    snprintf(text, sizeof(text), "%zu bytes, %zu wrong", exchange->request.body.len, wrong);
    exchange_answer(exchange, 200, "text/plain", slice_from(text));
}

static void handle_large(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain", SLICE(""));
    for (int i = 0; i < 1 << 16; i++)
        buffer_append_text(&exchange->response.body, "0123456789abcdef0123456789abcdef");
}

static void handle_call(struct exchange *exchange)
{
    struct rpc_call call;

    if (rpc_open(exchange, &call) == 0)
        rpc_answer(exchange, &call, call.message);
}

static void handle_slow(struct exchange *exchange)
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

static struct seen *seen_of(struct world *world, int32_t id)
{
    ASSERT(id / 2 < MAX_STREAMS);
    return &world->seen[id / 2];
}

static int on_client_header(nghttp2_session *session UNUSED, const nghttp2_frame *frame, const uint8_t *name,
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

static int on_client_data(nghttp2_session *session UNUSED, uint8_t flags UNUSED, int32_t id, const uint8_t *bytes,
                          size_t len, void *context)
{
    buffer_append(&seen_of(context, id)->body, bytes, len);
    return 0;
}

static int on_client_frame(nghttp2_session *session UNUSED, const nghttp2_frame *frame, void *context)
{
    struct world *world = context;
    bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_RESPONSE)
        seen_of(world, frame->hd.stream_id)->is_one_frame = is_end;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_HEADERS && is_end)
        seen_of(world, frame->hd.stream_id)->has_trailers = true;
    return 0;
}

static int on_client_close(nghttp2_session *session UNUSED, int32_t id, uint32_t code, void *context)
{
    struct seen *seen = seen_of(context, id);

    seen->is_closed = true;
    seen->close_code = code;
    return 0;
}

static ssize_t read_upload(nghttp2_session *session UNUSED, int32_t id UNUSED, uint8_t *to, size_t len,
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

static void make_client(struct world *world)
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

static void finished(void *context, struct exchange *exchange)
{
    struct loop *loop = context;

    exchange->queue_next = loop->finished_first;
    __atomic_store_n(&loop->finished_first, exchange, __ATOMIC_RELEASE);
}

/* A server without sockets; its connection never moves bytes by itself, since it believes that somebody does. */
static void make_server(struct world *world)
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

static struct world *new_world(void)
{
    struct world *world = calloc(1, sizeof(*world)); /* not of the memory that tests make fail */

    CHECK(world);
    make_server(world);
    for (size_t i = 0; i < MAX_STREAMS; i++)
        buffer_init(&world->seen[i].body, 0);
    return world;
}

static void free_world(struct world *world)
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

static void free_worldp(struct world **world)
{
    free_world(*world);
}

/* Looks for the server's goodbye. A client that was made to break the rules would not read it. */
static void look_for_goaway(struct world *world)
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
static bool carry_to_client(struct world *world)
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

static void give_to_server(struct world *world, const void *bytes, size_t len)
{
    if (!world->is_over && !world->connection.is_closing &&
        world->connection.protocol->input(&world->connection, slice_of(bytes, len)) < 0)
        world->is_over = true;
}

static bool carry_to_server(struct world *world)
{
    const uint8_t *bytes;
    ssize_t n = nghttp2_session_mem_send(world->client, &bytes);

    CHECK(n >= 0);
    if (n > 0)
        give_to_server(world, bytes, (size_t)n);
    return n > 0;
}

/* Carries bytes until nobody has any. */
static void talk(struct world *world)
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

static struct world *connected(void)
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

static int32_t ask(struct world *world, const char *method, const char *path, const nghttp2_nv *more, size_t n_more,
                   struct upload *upload)
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

static int32_t get(struct world *world, const char *path)
{
    return ask(world, "GET", path, NULL, 0, NULL);
}

static struct slice body_of(struct world *world, int32_t id)
{
    return buffer_slice(&seen_of(world, id)->body);
}

/* --- requests and answers --- */

TEST(http2_serves_a_request_by_prior_knowledge)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/hello%20world?a=%41&b");

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "GET /hello world ?a=%41&b @there:4040 h2=1");
    CHECK_HAS(seen_of(world, id)->headers, "content-type=text/plain\n");
    CHECK_HAS(seen_of(world, id)->headers, "content-length=42\n");
    CHECK_HAS(seen_of(world, id)->headers, " GMT\n");
    CHECK(seen_of(world, id)->is_closed);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
}

TEST(http2_writes_headers_as_it_must_whatever_handlers_call_them)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/hello");

    world->server.options.cors_origin = "*";
    talk(world);
    CHECK_HAS(seen_of(world, id)->headers, "x-odd=two  lines\n");
    CHECK_HAS(seen_of(world, id)->headers, "access-control-allow-origin=*\n");
    CHECK(!strstr(seen_of(world, id)->headers, "connection="));
}

TEST(http2_answers_head_with_a_length_and_no_body)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = ask(world, "HEAD", "/hello", NULL, 0, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_HAS(seen_of(world, id)->headers, "content-length=30\n");
    CHECK_EQ(body_of(world, id).len, 0);
    CHECK(seen_of(world, id)->is_closed);
}

TEST(http2_takes_requests_byte_by_byte)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10 };
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);
    const uint8_t *bytes;
    ssize_t n;

    while ((n = nghttp2_session_mem_send(world->client, &bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            give_to_server(world, bytes + i, 1);
    talk(world);
    CHECK_TEXT(body_of(world, id), "10 bytes, 0 wrong");
}

TEST(http2_takes_bodies_larger_than_its_windows)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload known = { .left = 3 << 20 }, unknown = { .left = 3000001 };
    nghttp2_nv length = NV("content-length", "3145728");
    int32_t first = ask(world, "POST", "/count", &length, 1, &known);
    int32_t second = ask(world, "POST", "/count", NULL, 0, &unknown);

    talk(world);
    CHECK_TEXT(body_of(world, first), "3145728 bytes, 0 wrong");
    CHECK_TEXT(body_of(world, second), "3000001 bytes, 0 wrong");
    CHECK_EQ(world->server.inflight_bytes, 0);
}

TEST(http2_tells_those_who_ask_that_they_may_send_the_body)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .waits = true };
    nghttp2_nv expect = NV("expect", "100-continue");
    int32_t id = ask(world, "POST", "/count", &expect, 1, &upload);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 100);
    upload = (struct upload){ .left = 5 };
    CHECK_EQ(nghttp2_session_resume_data(world->client, id), 0);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "5 bytes, 0 wrong");
}

TEST(http2_ignores_trailers_of_requests)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 4, .waits = true };
    nghttp2_nv trailer = NV("x-sum", "1");
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

    talk(world);
    CHECK_EQ(nghttp2_submit_trailer(world->client, id, &trailer, 1), 0);
    talk(world);
    CHECK_TEXT(body_of(world, id), "4 bytes, 0 wrong");
}

TEST(http2_keeps_output_short_until_the_peer_reads)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 64 << 20 };
    const size_t large = (size_t)32 << 16;
    int32_t id;

    CHECK_EQ(nghttp2_submit_settings(world->client, NGHTTP2_FLAG_NONE, &window, 1), 0);
    CHECK_EQ(nghttp2_session_set_local_window_size(world->client, NGHTTP2_FLAG_NONE, 0, 64 << 20), 0);
    id = get(world, "/large");
    while (carry_to_server(world))
        ;
    CHECK(world->connection.out.len > 200 << 10);
    CHECK(world->connection.out.len < 300 << 10);
    CHECK_EQ(world->connection.wait, CONNECTION_WORK); /* the deadline is the socket's */
    talk(world);
    CHECK_EQ(body_of(world, id).len, large);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
}

TEST(http2_gives_the_room_of_a_request_back_before_its_answer_is_read)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    struct upload upload = { .left = 1 << 20 };
    int32_t id;

    CHECK_EQ(nghttp2_submit_settings(world->client, NGHTTP2_FLAG_NONE, &window, 1), 0);
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_EQ(body_of(world, id).len, 0);
    CHECK_EQ(world->connection.n_exchanges, 1);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    CHECK_EQ(world->server.inflight_bytes, 0);
    CHECK(!world->connection.exchanges->body.data);
}

TEST(http2_waits_for_windows_that_the_peer_keeps_shut)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/large");
    const uint8_t *bytes;

    while (carry_to_server(world))
        ;
    for (int i = 0; i < 10; i++) {
        CHECK(nghttp2_session_mem_recv(world->client, (const uint8_t *)world->connection.out.data,
                                       world->connection.out.len) >= 0);
        buffer_clear(&world->connection.out);
        http2_protocol.output(&world->connection);
    }
    CHECK_EQ(body_of(world, id).len, 65535);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    CHECK(world->connection.wait_until_mono_ns < INT64_MAX);
    while (nghttp2_session_mem_send(world->client, &bytes) > 0) /* its windows are thrown away */
        ;
    CHECK_EQ(world->connection.n_exchanges, 1);
}

/* --- calls --- */

static int32_t call(struct world *world, struct upload *upload, const char *encoding)
{
    nghttp2_nv headers[] = { NV("content-type", "application/grpc"), NV("te", "trailers"),
                             NV("grpc-encoding", encoding) };

    return ask(world, "POST", "/call", headers, ARRAY_LEN(headers), upload);
}

static ssize_t read_frame(nghttp2_session *session UNUSED, int32_t id UNUSED, uint8_t *to, size_t len UNUSED,
                          uint32_t *ret_flags, nghttp2_data_source *source UNUSED, void *context UNUSED)
{
    memcpy(to, "\0\0\0\0\2ab", 7);
    *ret_flags |= NGHTTP2_DATA_FLAG_EOF;
    return 7;
}

TEST(http2_sends_the_outcome_of_a_call_behind_its_message)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_data_provider body = { .read_callback = read_frame };
    nghttp2_nv headers[] = { NV(":method", "POST"), NV(":scheme", "http"), NV(":authority", "there"),
                             NV(":path", "/any/thing/call"), NV("content-type", "application/grpc") };
    int32_t id = nghttp2_submit_request(world->client, NULL, headers, ARRAY_LEN(headers), &body, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK(slice_equal(body_of(world, id), slice_of("\0\0\0\0\2ab", 7)));
    CHECK(seen_of(world, id)->has_trailers);
    CHECK_HAS(seen_of(world, id)->headers, "grpc-status=0\n");
    CHECK(!strstr(seen_of(world, id)->headers, "content-length"));
}

TEST(http2_sends_a_failed_call_as_one_frame)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 7 };
    int32_t id = call(world, &upload, "lzma");

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK(seen_of(world, id)->is_one_frame);
    CHECK_HAS(seen_of(world, id)->headers, "grpc-status=12\n");
    CHECK_HAS(seen_of(world, id)->headers, "grpc-message=grpc-encoding 'lzma' is not known here");
}

/* --- refusals --- */

TEST(http2_answers_before_the_body_and_stops_the_upload)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload nowhere = { .left = 3 << 20, .waits = true }, too_long = { .left = 2000, .waits = true };
    struct upload claimed = { .left = 10, .waits = true };
    nghttp2_nv length = NV("content-length", "1001");
    int32_t ids[] = { ask(world, "POST", "/nowhere", NULL, 0, &nowhere),
                      ask(world, "POST", "/small", NULL, 0, &too_long),
                      ask(world, "POST", "/small", &length, 1, &claimed) };

    talk(world);
    CHECK_EQ(seen_of(world, ids[0])->status, 404);
    CHECK_EQ(seen_of(world, ids[1])->status, 413);
    CHECK_EQ(seen_of(world, ids[2])->status, 413);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        CHECK(seen_of(world, ids[i])->is_closed);
        CHECK_EQ(seen_of(world, ids[i])->close_code, NGHTTP2_NO_ERROR);
        CHECK_HAS(body_of(world, ids[i]), "\"message\":");
    }
    CHECK(nowhere.left >= 2 << 20);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK(!world->is_over);
}

TEST(http2_resets_an_answered_upload_only_when_the_answer_was_read)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10, .waits = true };
    int32_t id = ask(world, "POST", "/nowhere", NULL, 0, &upload);

    while (carry_to_server(world))
        ;
    carry_to_client(world); /* the answer and a PING */
    CHECK_EQ(seen_of(world, id)->status, 404);
    CHECK(!seen_of(world, id)->is_closed);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    talk(world);
    CHECK(seen_of(world, id)->is_closed);
    for (int i = 0; i < 300; i++) { /* PINGs that were asked for are no nuisance */
        ask(world, "POST", "/nowhere", NULL, 0, &upload);
        talk(world);
    }
    CHECK(!world->is_over);
}

TEST(http2_refuses_heads_with_too_many_or_too_long_headers)
{
    AUTO(free_worldp) struct world *world = connected();
    static char names[130][8], value[40000];
    nghttp2_nv headers[130];
    int32_t many, just_enough, long_ones;

    memset(value, 'v', sizeof(value) - 1);
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        snprintf(names[i], sizeof(names[i]), "x-%zu", i);
        headers[i] = NV(names[i], "1");
    }
    many = ask(world, "GET", "/hello", headers, HTTP_MAX_HEADERS + 1, NULL);
    just_enough = ask(world, "GET", "/hello", headers, HTTP_MAX_HEADERS, NULL);
    headers[0] = NV("x-0", value);
    headers[1] = NV("x-1", value);
    talk(world);
    long_ones = ask(world, "GET", "/hello", headers, 2, NULL);
    talk(world);
    CHECK_EQ(seen_of(world, many)->status, 431);
    CHECK_HAS(body_of(world, many), "128 headers");
    CHECK_EQ(seen_of(world, just_enough)->status, 200);
    CHECK_EQ(seen_of(world, long_ones)->status, 431);
}

TEST(http2_refuses_bodies_of_another_length_than_they_said)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10 };
    nghttp2_nv length = NV("content-length", "11");
    int32_t id = ask(world, "POST", "/count", &length, 1, &upload);

    talk(world);
    CHECK_EQ(seen_of(world, id)->close_code, NGHTTP2_PROTOCOL_ERROR);
    CHECK_EQ(seen_of(world, id)->status, 0);
    CHECK_EQ(world->connection.n_exchanges, 0);
}

TEST(http2_refuses_connect)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_nv headers[] = { NV(":method", "CONNECT"), NV(":authority", "elsewhere:443") };
    int32_t id = nghttp2_submit_request(world->client, NULL, headers, ARRAY_LEN(headers), NULL, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 501);
}

TEST(http2_refuses_more_streams_at_a_time_than_it_said)
{
    AUTO(free_worldp) struct world *world = connected();
    static struct upload uploads[130];
    int32_t ids[130];
    size_t n_refused = 0;

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        uploads[i] = (struct upload){ .left = 1, .waits = true };
        ids[i] = ask(world, "POST", "/count", NULL, 0, &uploads[i]);
    }
    while (carry_to_server(world)) /* before the client knows the limit */
        ;
    CHECK_EQ(world->connection.n_exchanges, 128);
    talk(world);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        n_refused += seen_of(world, ids[i])->is_closed && seen_of(world, ids[i])->close_code == NGHTTP2_REFUSED_STREAM;
    CHECK_EQ(n_refused, 2);
}

TEST(http2_ends_what_is_not_http2)
{
    AUTO(free_worldp) struct world *world = connected();

    give_to_server(world, "GET / HTTP/1.1\r\n\r\n", 18);
    CHECK(world->is_over);
}

/* --- waiting for room --- */

TEST(http2_holds_windows_back_until_there_is_room)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 3 << 20 };
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

    world->server.inflight_bytes = 16 << 20;
    talk(world);
    CHECK_EQ(upload.left, 2 << 20); /* a window of 1 MiB */
    CHECK_EQ(seen_of(world, id)->status, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_BODY);
    world->server.inflight_bytes = 0;
    exchange_feed_starving(&world->loop);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "3145728 bytes, 0 wrong");
}

TEST(http2_hands_a_whole_body_on_when_its_room_comes)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 5000 };
    nghttp2_nv length = NV("content-length", "5000");
    int32_t id = ask(world, "POST", "/count", &length, 1, &upload);

    world->server.inflight_bytes = 16 << 20;
    talk(world);
    CHECK_EQ(upload.left, 0);
    CHECK_EQ(seen_of(world, id)->status, 0);
    world->server.inflight_bytes = 0;
    exchange_feed_starving(&world->loop);
    talk(world);
    CHECK_TEXT(body_of(world, id), "5000 bytes, 0 wrong");
}

TEST(http2_gives_the_connection_back_what_a_reset_stream_held)
{
    AUTO(free_worldp) struct world *world = connected();

    world->server.inflight_bytes = 16 << 20;
    for (int i = 0; i < 20; i++) { /* together more than the connection's window */
        struct upload upload = { .left = 1 << 20, .waits = true };
        int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

        talk(world);
        CHECK_EQ(upload.left, 0);
        CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
        talk(world);
    }
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK(!world->loop.starving);
    world->server.inflight_bytes = 0;
}

/* --- workers --- */

static void start_pool(struct world *world)
{
    struct pool_options options = { .n_workers = 1, .context = &world->loop, .done = finished };
    struct error err;

    CHECK_OK(pool_new(&options, &world->server.pool, &err), &err);
}

static struct exchange *wait_for_worker(struct world *world)
{
    struct exchange *exchange;

    while (!(exchange = __atomic_load_n(&world->loop.finished_first, __ATOMIC_ACQUIRE)))
        usleep(1000);
    world->loop.finished_first = NULL;
    return exchange;
}

TEST(http2_sends_answers_that_workers_give_later)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t slow, quick;

    start_pool(world);
    slow = get(world, "/slow");
    quick = get(world, "/hello");
    talk(world);
    CHECK_EQ(seen_of(world, quick)->status, 200);
    CHECK_EQ(seen_of(world, slow)->status, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_WORK);
    connection_answer(wait_for_worker(world));
    talk(world);
    CHECK_EQ(seen_of(world, slow)->status, 200);
    CHECK_TEXT(body_of(world, slow), "slow");
}

TEST(http2_tells_a_worker_that_the_peer_gave_up)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id;

    start_pool(world);
    id = get(world, "/slow?wait");
    talk(world);
    CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
    talk(world);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
    connection_answer(wait_for_worker(world)); /* frees it, and answers nobody */
    CHECK_EQ(seen_of(world, id)->status, 0);
}

TEST(http2_lets_a_worker_finish_when_the_connection_ends)
{
    AUTO(free_worldp) struct world *world = connected();

    start_pool(world);
    atomic_store(&n_handled, 0);
    get(world, "/slow?wait");
    talk(world);
    world->connection.protocol->close(&world->connection);
    world->connection.protocol = NULL;
    while (world->connection.exchanges)
        exchange_free(world->connection.exchanges);
    connection_answer(wait_for_worker(world));
    CHECK_EQ(n_handled, 1);
}

/* --- the end --- */

TEST(http2_drains_by_finishing_what_runs)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t slow, late;

    start_pool(world);
    slow = get(world, "/slow");
    talk(world);
    http2_protocol.drain(&world->connection);
    CHECK(!world->connection.is_closing);
    late = get(world, "/hello"); /* on its way when the goodbye is sent */
    while (carry_to_server(world))
        ;
    talk(world);
    CHECK(world->has_goaway);
    CHECK_EQ(world->goaway_code, NGHTTP2_NO_ERROR);
    CHECK_EQ(seen_of(world, late)->close_code, NGHTTP2_REFUSED_STREAM);
    connection_answer(wait_for_worker(world));
    carry_to_client(world);
    CHECK_EQ(seen_of(world, slow)->status, 200);
    CHECK(world->connection.is_closing);
}

TEST(http2_ends_an_idle_connection_at_once_when_it_drains)
{
    AUTO(free_worldp) struct world *world = connected();

    talk(world);
    http2_protocol.drain(&world->connection);
    CHECK(world->connection.is_closing);
    carry_to_client(world);
    CHECK(world->has_goaway);
}

TEST(http2_answers_a_peer_that_closed_its_side)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id;

    start_pool(world);
    talk(world);
    CHECK_EQ(http2_protocol.end(&world->connection), -1);
    id = get(world, "/slow");
    talk(world);
    world->connection.has_ended = true;
    CHECK_EQ(http2_protocol.end(&world->connection), 0);
    connection_answer(wait_for_worker(world));
    CHECK(world->connection.is_closing);
    carry_to_client(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
}

TEST(http2_says_goodbye_to_slow_peers)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .waits = true };

    ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    http2_protocol.timeout(&world->connection);
    carry_to_client(world);
    CHECK(world->has_goaway);
    CHECK_TEXT(world->goaway_text, "too slow");
}

/* --- upgrades --- */

static struct exchange *upgrading_exchange(struct world *world)
{
    struct exchange *exchange = exchange_new(&world->connection);

    CHECK(exchange);
    exchange->request.method = HTTP_GET;
    exchange->request.method_text = SLICE("GET");
    exchange->request.path = SLICE("/hello");
    CHECK(exchange_begin(exchange, 0));
    return exchange;
}

TEST(http2_answers_the_request_that_asked_for_the_upgrade)
{
    AUTO(free_worldp) struct world *world = new_world();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100 };
    struct exchange *exchange = upgrading_exchange(world);
    struct buffer text;
    uint8_t payload[64];
    ssize_t n = nghttp2_pack_settings_payload(payload, sizeof(payload), &window, 1);
    int32_t second;

    make_client(world);
    buffer_init(&text, 0);
    base64_encode(slice_of(payload, (size_t)n), false, &text);
    CHECK_EQ(nghttp2_session_upgrade2(world->client, payload, (size_t)n, 0, NULL), 0);
    CHECK_EQ(http2_open(&world->connection, buffer_slice(&text), exchange), 0);
    exchange_is_complete(exchange);
    second = get(world, "/hello");
    talk(world);
    CHECK_EQ(seen_of(world, 1)->status, 200);
    CHECK_HAS(body_of(world, 1), "h2=1");
    CHECK_EQ(seen_of(world, second)->status, 200);
    buffer_done(&text);
}

TEST(http2_refuses_upgrades_with_settings_that_are_none)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct exchange *exchange = upgrading_exchange(world);

    CHECK_EQ(http2_open(&world->connection, SLICE("!"), exchange), -1);
    CHECK_EQ(http2_open(&world->connection, SLICE("AAAA"), exchange), -1);
    CHECK(!world->connection.protocol);
}

/* --- floods --- */

/* Gives `n` times the same frame and returns whether the connection ended for it. */
static bool is_flooded_by(const char *frame, size_t len, int n, const char *words)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 1, .waits = true };

    clock_fake_set(0);
    ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    for (int i = 0; i < n; i++) {
        give_to_server(world, frame, len);
        if (!world->is_over)
            carry_to_client(world);
    }
    carry_to_client(world);
    clock_fake_stop();
    if (!world->is_over)
        return false;
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    CHECK_HAS(world->goaway_text, words);
    return true;
}

TEST(http2_ends_connections_that_are_only_a_nuisance)
{
    static const char ping[] = "\0\0\x08\6\0\0\0\0\0abcdefgh", settings[] = "\0\0\0\4\0\0\0\0\0";
    static const char empty[] = "\0\0\0\0\0\0\0\0\1", priority[] = "\0\0\5\2\0\0\0\0\3\0\0\0\0\1";

    CHECK(!is_flooded_by(ping, 17, 200, ""));
    CHECK(is_flooded_by(ping, 17, 201, "too many PING frames"));
    CHECK(!is_flooded_by(settings, 9, 38, "")); /* the client had its own, and acknowledged ours */
    CHECK(is_flooded_by(settings, 9, 39, "too many SETTINGS frames"));
    CHECK(!is_flooded_by(empty, 9, 200, ""));
    CHECK(is_flooded_by(empty, 9, 201, "too many empty DATA frames"));
    CHECK(is_flooded_by(priority, 14, 1001, "too many meaningless frames"));
}

TEST(http2_forgives_a_nuisance_with_time)
{
    static const char ping[] = "\0\0\x08\6\0\0\0\0\0abcdefgh";
    AUTO(free_worldp) struct world *world = connected();

    clock_fake_set(0);
    talk(world);
    for (int i = 0; i < 1000; i++) {
        give_to_server(world, ping, 17);
        carry_to_client(world);
        clock_fake_advance(CLOCK_NS_PER_SECOND / 20);
    }
    clock_fake_stop();
    CHECK(!world->is_over);
}

TEST(http2_ends_connections_that_open_streams_to_reset_them)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 1, .waits = true };
    int n = 0;

    while (n < 500 && !world->is_over) {
        int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

        talk(world);
        CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
        talk(world);
        n++;
    }
    CHECK(world->is_over);
    CHECK(n >= 400 && n < 450);
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(http2_ends_heads_that_never_end)
{
    AUTO(free_worldp) struct world *world = connected();
    static const char head[] = "\0\0\1\1\0\0\0\0\1\x82", more[] = "\0\0\1\x09\0\0\0\0\1\x86";

    talk(world);
    give_to_server(world, head, 10);
    for (int i = 0; i < 100 && !world->is_over; i++)
        give_to_server(world, more, 10);
    CHECK(world->is_over);
    carry_to_client(world);
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(http2_ends_peers_that_ask_and_never_read)
{
    AUTO(free_worldp) struct world *world = connected();
    static const char refused[] = "\0\0\4\1\5\0\0\0\0\x82\x86\x84\x88"; /* a response's header in a request */
    size_t n = 0;

    while (carry_to_server(world)) /* it has not heard of the limit of streams, or says so */
        ;
    for (int32_t id = 1; n < 200000 && !world->is_over; id += 2, n++) {
        char frame[13];

        memcpy(frame, refused, sizeof(frame));
        frame[5] = (char)(id >> 24), frame[6] = (char)(id >> 16), frame[7] = (char)(id >> 8), frame[8] = (char)id;
        give_to_server(world, frame, sizeof(frame));
    }
    CHECK(world->is_over);
    CHECK(world->connection.out.len < 300 << 10);
}

/* --- memory --- */

/* Of our own; nghttp2 has some 25 kB for itself. */
TEST(http2_keeps_little_of_an_idle_connection)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct upload upload = { .left = 1, .waits = true };
    uint64_t before = memory_used_bytes();
    int32_t id;

    make_client(world);
    CHECK_EQ(http2_open(&world->connection, SLICE(""), NULL), 0);
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    CHECK_EQ(world->connection.n_exchanges, 1);
    CHECK(memory_used_bytes() - before < 40 << 10);
    CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
    talk(world);
    buffer_done(&world->connection.out);
    CHECK(memory_used_bytes() - before < 512);
}

static int serve_once(void *context UNUSED, struct error *err)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct upload upload = { .left = 200000 };
    int32_t id;

    make_client(world);
    if (http2_open(&world->connection, SLICE(""), NULL) < 0)
        return error_set(err, ERR_MEMORY, "not opened");
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    http2_protocol.drain(&world->connection);
    if (seen_of(world, id)->status != 200 || !slice_is(body_of(world, id), "200000 bytes, 0 wrong"))
        return error_set(err, ERR_MEMORY, "answered %d", seen_of(world, id)->status);
    return 0;
}

TEST(http2_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(serve_once, NULL);
}
