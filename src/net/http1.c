// SPDX-License-Identifier: Apache-2.0
/* HTTP/1.1 and 1.0 on a connection: one request at a time; what a peer sends ahead of its answers waits. */
#include "base/memory.h"
#include "net/connection_internal.h"
#include "net/http1head.h"
#include "net/loop_internal.h"
#include "net/rpc.h"

#include <string.h>

#define HTTP1_BODY_STEP                                                                                                \
    (1 << 20) /* a longer body's buffer grows by this or doubles, so that claims alone cost nothing */
#define HTTP1_DROP_BYTES (256 << 10) /* of a body that nobody wants: up to this it is read, else the connection ends */

enum http1_state {
    HTTP1_HEAD,   /* between requests, or in a head */
    HTTP1_BODY,   /* of known length */
    HTTP1_CHUNKS, /* of a body */
    HTTP1_WORK,   /* the handler has it */
    HTTP1_DROP,   /* the rest of a body that nobody wants */
};

struct http1 {
    enum http1_state state;
    size_t scanned;
    struct exchange *exchange;
    struct http1_framing framing;
    struct http1_chunks chunks;
    uint64_t left;    /* HTTP1_BODY, HTTP1_DROP */
    uint64_t granted; /* HTTP1_CHUNKS: bytes that were waited for and are reserved now, but not yet taken */
};

static struct http1 *state_of(struct connection *connection)
{
    struct error err;

    if (!connection->state)
        connection->state = MEMORY_NEW(struct http1, &err);
    return connection->state;
}

/* --- answers --- */

static void write_header(struct buffer *out, struct slice name, struct slice value)
{
    buffer_append_slice(out, name);
    buffer_append(out, ": ", 2);
    for (size_t i = 0; i < value.len; i++) /* nobody's text ends a line here */
        buffer_append_byte(out, value.ptr[i] == '\r' || value.ptr[i] == '\n' ? ' ' : value.ptr[i]);
    buffer_append(out, "\r\n", 2);
}

/* An answer with trailers, which gRPC has, is one chunk. HTTP/1.0 knows neither. */
static bool is_chunked(const struct exchange *exchange)
{
    return exchange->response.trailers.n > 0 && exchange->request.version == HTTP_1_1;
}

/* Puts the body into its chunk, with the trailers behind it. */
static void make_chunk(struct exchange *exchange)
{
    struct response *response = &exchange->response;
    struct buffer chunked;

    buffer_init(&chunked, 0);
    if (response->body.len > 0) {
        buffer_printf(&chunked, "%zx\r\n", response->body.len);
        buffer_append_slice(&chunked, buffer_slice(&response->body));
        buffer_append(&chunked, "\r\n", 2);
    }
    buffer_append_text(&chunked, "0\r\n");
    for (uint32_t i = 0; i < response->trailers.n; i++)
        write_header(&chunked, response->trailers.items[i].name, response->trailers.items[i].value);
    buffer_append(&chunked, "\r\n", 2);
    buffer_done(&response->body);
    response->body = chunked;
}

static void write_answer(struct connection *connection, struct exchange *exchange, bool keeps_alive)
{
    const struct response *response = &exchange->response;
    const char *origin = connection->loop->server->options.cors_origin;
    struct buffer *out = connection_out(connection);
    char date[HTTP_DATE_BYTES];
    bool has_body = response->status >= 200 && response->status != 204 && response->status != 304;

    buffer_printf(out, "HTTP/1.1 %d %s\r\n", response->status, http_reason(response->status));
    write_header(out, SLICE("date"), slice_from(http_date(clock_now_ns(), date)));
    for (uint32_t i = 0; i < response->headers.n; i++)
        write_header(out, response->headers.items[i].name, response->headers.items[i].value);
    if (origin)
        write_header(out, SLICE("access-control-allow-origin"), slice_from(origin));
    if (has_body && is_chunked(exchange))
        buffer_append_text(out, "transfer-encoding: chunked\r\n");
    else if (has_body)
        buffer_printf(out, "content-length: %zu\r\n", response->body.len);
    if (!keeps_alive)
        buffer_append_text(out, "connection: close\r\n");
    else if (exchange->request.version == HTTP_1_0)
        buffer_append_text(out, "connection: keep-alive\r\n");
    buffer_append(out, "\r\n", 2);
    if (has_body && exchange->request.method != HTTP_HEAD)
        connection_take_body(connection, exchange);
}

/* Whether what is left of the request's body is better read than answered with the end of the connection. */
static bool is_short_rest(const struct http1 *http1)
{
    return http1->state == HTTP1_BODY && http1->left <= HTTP1_DROP_BYTES;
}

static void respond(struct connection *connection, struct exchange *exchange)
{
    struct http1 *http1 = connection->state;
    bool has_rest =
        !exchange->is_complete && (http1->state == HTTP1_CHUNKS || (http1->state == HTTP1_BODY && http1->left > 0));
    bool keeps_alive = http1->framing.keeps_alive && !exchange->response.must_close && !connection->is_draining &&
                       (!has_rest || is_short_rest(http1)) && !connection->has_ended;
    struct error err;

    if (is_chunked(exchange))
        make_chunk(exchange);
    if (buffer_check(&exchange->response.body, &err) < 0) {
        exchange->response.trailers.n = 0;
        exchange_answer(exchange, 503, NULL, SLICE(""));
    }
    httpserver_answered(exchange, exchange->response.body.len);
    write_answer(connection, exchange, keeps_alive);
    exchange_free(exchange);
    http1->exchange = NULL;
    http1->scanned = 0;
    http1->granted = 0;
    if (keeps_alive && has_rest) {
        http1->state = HTTP1_DROP;
        connection_wait_for(connection, CONNECTION_BODY);
    } else {
        http1->state = HTTP1_HEAD;
        connection_wait_for(connection, CONNECTION_IDLE);
    }
    if (!keeps_alive)
        connection_end(connection, true);
    else if (connection->is_paused)
        connection_continue(connection);
}

/* Answers a request that could not even be read, and ends the connection. */
static void respond_badly(struct connection *connection, struct exchange *exchange, int status, const struct error *err)
{
    atomic_fetch_add_explicit(&connection->loop->server->n_bad_requests, 1, memory_order_relaxed);
    exchange->response.must_close = true;
    rpc_shape_failure(exchange, status, err->text, 0);
    exchange->response.must_close = true;
    respond(connection, exchange);
}

/* --- heads --- */

/* Goes on with HTTP/2 behind the request at hand, whose answer is the first of it. False: its settings make no sense, and
 * nothing has changed; an upgrade may be ignored. */
static bool switch_to_http2(struct connection *connection, struct http1 *http1)
{
    struct exchange *exchange = http1->exchange;
    struct buffer *out = connection_out(connection);
    size_t len = out->len;

    buffer_append_text(out, "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n");
    if (http2_open(connection, http1->framing.h2c_settings, exchange) < 0) {
        buffer_truncate(out, len);
        exchange->request.version = HTTP_1_1;
        exchange->stream = 0;
        return false;
    }
    memory_free(http1);
    return true;
}

static void finish_request(struct connection *connection, struct http1 *http1)
{
    struct exchange *exchange = http1->exchange;

    /* HTTP/2 writes to `out`, which must be what comes next. */
    if (http1->framing.wants_h2c && !connection->is_draining && connection->tail.len == 0 &&
        switch_to_http2(connection, http1)) {
        exchange_is_complete(exchange);
        return;
    }
    http1->state = HTTP1_WORK;
    connection_pause(connection);
    exchange_is_complete(exchange);
}

/* Room for a body of known length. False: it is not there yet, or the exchange was answered. */
static bool make_body_room(struct connection *connection, struct http1 *http1)
{
    int room = exchange_reserve(http1->exchange, http1->left);

    if (room < 0) {
        respond(connection, http1->exchange);
        return false;
    }
    if (room == 0) {
        connection_pause(connection);
        connection_wait_for(connection, CONNECTION_BODY);
        return false;
    }
    return true;
}

static void begin_body(struct connection *connection, struct http1 *http1, bool has_bytes)
{
    http1->left = (uint64_t)MAX(http1->framing.body_bytes, 0);
    http1->state = http1->framing.body_bytes < 0 ? HTTP1_CHUNKS : HTTP1_BODY;
    http1_chunks_init(&http1->chunks);
    if (!exchange_begin(http1->exchange, http1->framing.body_bytes)) {
        /* Who waits for leave to send its body does not get it, and may or may not send it then: nobody can tell. */
        if (http1->framing.wants_continue && http1->framing.body_bytes != 0)
            http1->framing.keeps_alive = false;
        respond(connection, http1->exchange);
        return;
    }
    if (http1->framing.body_bytes == 0) {
        finish_request(connection, http1);
        return;
    }
    if (http1->framing.wants_continue && !has_bytes)
        buffer_append_text(connection_out(connection), "HTTP/1.1 100 Continue\r\n\r\n");
    connection_wait_for(connection, CONNECTION_BODY);
    if (http1->state == HTTP1_BODY)
        IGNORE(make_body_room(connection, http1), "what follows looks at the state");
}

static ptrdiff_t take_head(struct connection *connection, struct http1 *http1, struct slice bytes)
{
    size_t skipped = 0, end;
    struct exchange *exchange;
    struct error err;
    int status;

    while (skipped < bytes.len && (bytes.ptr[skipped] == '\r' || bytes.ptr[skipped] == '\n'))
        skipped++;
    if (skipped > 0)
        return (ptrdiff_t)skipped; /* some send an empty line behind their bodies */
    connection_wait_for(connection, CONNECTION_HEAD);
    end = http1_head_end(bytes, &http1->scanned);
    if (end == 0 && bytes.len <= HTTP1_MAX_HEAD && http_is_token(slice_sub(bytes, 0, 1)))
        return 0;
    exchange = exchange_new(connection);
    if (!exchange)
        return -1;
    http1->exchange = exchange;
    http1->framing = (struct http1_framing){ 0 };
    if (!http_is_token(slice_sub(bytes, 0, 1))) {
        error_set(&err, ERR_INVALID, "this is no HTTP; is it TLS? Nothing else than http:// is spoken here");
        respond_badly(connection, exchange, 400, &err);
        return (ptrdiff_t)bytes.len;
    }
    if (end == 0 || end > HTTP1_MAX_HEAD) {
        error_set(&err, ERR_INVALID, "the head of the request is longer than 64 KiB");
        respond_badly(connection, exchange, slice_find_byte(bytes, '\n') < 0 ? 414 : 431, &err);
        return (ptrdiff_t)bytes.len;
    }
    if (http1_parse_head(slice_sub(bytes, 0, end), &exchange->arena, &exchange->request, &http1->framing, &status,
                         &err) < 0) {
        respond_badly(connection, exchange, status, &err);
        return (ptrdiff_t)end;
    }
    http1->scanned = 0;
    begin_body(connection, http1, bytes.len > end);
    return (ptrdiff_t)end;
}

/* --- bodies --- */

static char *body_room(struct connection *connection, size_t *ret_len)
{
    struct http1 *http1 = connection->state;
    struct buffer *body;
    char *room;
    size_t step;

    if (!http1 || http1->state != HTTP1_BODY || http1->left == 0)
        return NULL;
    body = &http1->exchange->body;
    step = (size_t)MIN(http1->left, (uint64_t)HTTP1_BODY_STEP);
    if (body->len == 0 || body->capacity - body->len < MIN(step, (size_t)4096)) {
        room = buffer_reserve(body, step);
        if (!room)
            return NULL;
    }
    *ret_len = (size_t)MIN(http1->left, (uint64_t)(body->capacity - body->len));
    return body->data + body->len;
}

static void count_body(struct connection *connection, struct http1 *http1, size_t len)
{
    http1->left -= len;
    if (http1->left == 0)
        finish_request(connection, http1);
    else
        connection_wait_for(connection, CONNECTION_BODY);
}

static int body_read(struct connection *connection, size_t len)
{
    struct http1 *http1 = connection->state;

    buffer_commit(&http1->exchange->body, len);
    count_body(connection, http1, len);
    return 0;
}

/* The memory of a body could not be had. */
static ptrdiff_t fail_body(struct connection *connection, struct http1 *http1, const struct error *err)
{
    http1->exchange->response.must_close = true;
    exchange_fail(http1->exchange, err);
    http1->exchange->response.must_close = true;
    respond(connection, http1->exchange);
    return 0;
}

static ptrdiff_t take_body(struct connection *connection, struct http1 *http1, struct slice bytes)
{
    size_t len = (size_t)MIN(http1->left, (uint64_t)bytes.len);
    struct buffer *body = &http1->exchange->body;
    struct error err;

    if (body->len == 0)
        IGNORE(buffer_reserve(body, (size_t)MIN(http1->left, (uint64_t)HTTP1_BODY_STEP)), "appending tells");
    buffer_append(body, bytes.ptr, len);
    if (buffer_check(body, &err) < 0)
        return fail_body(connection, http1, &err);
    count_body(connection, http1, len);
    return (ptrdiff_t)len;
}

static ptrdiff_t take_chunks(struct connection *connection, struct http1 *http1, struct slice bytes)
{
    struct exchange *exchange = http1->exchange;
    struct slice rest = bytes, data;
    struct error err;

    while (rest.len > 0 && http1->chunks.state != CHUNK_DONE) {
        struct http1_chunks before = http1->chunks;
        struct slice rest_before = rest;
        uint64_t new_bytes;
        int room;

        if (http1_chunks_take(&http1->chunks, &rest, &data, &err) < 0) {
            respond_badly(connection, exchange, 400, &err);
            return (ptrdiff_t)bytes.len;
        }
        if (data.len == 0)
            continue;
        new_bytes = data.len - MIN(http1->granted, (uint64_t)data.len);
        room = new_bytes > 0 ? exchange_reserve(exchange, (size_t)new_bytes) : 1;
        if (room < 0) {
            exchange->response.must_close = true;
            respond(connection, exchange);
            return (ptrdiff_t)bytes.len;
        }
        if (room == 0) { /* the same bytes come again when there is room, which is then ours already */
            http1->chunks = before;
            connection_pause(connection);
            return (ptrdiff_t)(bytes.len - rest_before.len);
        }
        http1->granted -= data.len - new_bytes;
        buffer_append_slice(&exchange->body, data);
        if (buffer_check(&exchange->body, &err) < 0)
            return fail_body(connection, http1, &err);
    }
    if (http1->chunks.state == CHUNK_DONE)
        finish_request(connection, http1);
    else
        connection_wait_for(connection, CONNECTION_BODY);
    return (ptrdiff_t)(bytes.len - rest.len);
}

static ptrdiff_t drop(struct connection *connection, struct http1 *http1, struct slice bytes)
{
    size_t len = (size_t)MIN(http1->left, (uint64_t)bytes.len);

    http1->left -= len;
    if (http1->left == 0) {
        http1->state = HTTP1_HEAD;
        connection_wait_for(connection, CONNECTION_IDLE);
    }
    return (ptrdiff_t)len;
}

/* --- the protocol --- */

static ptrdiff_t input(struct connection *connection, struct slice bytes)
{
    struct http1 *http1 = state_of(connection);

    if (!http1)
        return -1;
    switch (http1->state) {
    case HTTP1_HEAD: return take_head(connection, http1, bytes);
    case HTTP1_BODY: return take_body(connection, http1, bytes);
    case HTTP1_CHUNKS: return take_chunks(connection, http1, bytes);
    case HTTP1_DROP: return drop(connection, http1, bytes);
    default: return 0;
    }
}

static int end(struct connection *connection)
{
    const struct http1 *http1 = connection->state;

    return http1 && http1->state == HTTP1_WORK ? 0 : -1;
}

static void drain(struct connection *connection)
{
    const struct http1 *http1 = connection->state;

    if (!http1 || (http1->state == HTTP1_HEAD && connection->in.len == 0))
        connection_end(connection, false);
}

static void resume(struct connection *connection, struct exchange *exchange)
{
    struct http1 *http1 = connection->state;

    if (http1->state == HTTP1_CHUNKS)
        http1->granted += exchange->wanted_bytes;
    connection_wait_for(connection, CONNECTION_BODY);
    connection_continue(connection);
}

static void say_timeout(struct connection *connection)
{
    const struct http1 *http1 = connection->state;

    if (connection->in.len > 0 || (http1 && http1->state != HTTP1_HEAD))
        buffer_append_text(&connection->out, "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n"
                                             "content-length: 0\r\n\r\n");
}

static void close_http1(struct connection *connection)
{
    memory_free(connection->state);
    connection->state = NULL;
}

const struct protocol http1_protocol = {
    .name = "http/1.1",
    .input = input,
    .body_room = body_room,
    .body_read = body_read,
    .end = end,
    .respond = respond,
    .drain = drain,
    .timeout = say_timeout,
    .resume = resume,
    .close = close_http1,
};
