// SPDX-License-Identifier: Apache-2.0
/* HTTP/2 on a connection. nghttp2 knows frames, header compression, flow control and what a sound message is; here its
 * streams become exchanges, and answers become what it sends.
 *
 * M1  A stream has one exchange, from the first byte of its head until the stream closes. What this file keeps of it lies in
 *     the exchange's arena, which a worker may be using: nothing is allocated there while one does.
 * M2  A peer may send as much of a body as its windows allow, and they open again only for bytes that are accounted for.
 *     So a body that waits for room holds at most a stream's window, and a connection at most its own.
 * M3  Frames become bytes only while `out` is short. What a peer can make us queue behind that is limited: answers by the
 *     number of streams, acknowledgements by nghttp2, everything else by QUEUED_MAX.
 * M4  nghttp2 must not be asked for bytes while it takes some. So answers given during `input` are sent at its end, and what
 *     is given to others never ends the connection under somebody's feet. */
#include "base/base64.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "net/loop_internal.h"
#include "net/nuisance.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

#define FRAME_HEAD_BYTES        9
#define STREAMS_MAX             128
#define STREAM_WINDOW_BYTES     (1 << 20)
#define CONNECTION_WINDOW_BYTES (8 << 20)
#define HEADER_LIST_BYTES       (64 << 10) /* names, values and 32 bytes for each, as RFC 9113 counts */
#define OUT_BYTES               (256 << 10)
#define QUEUED_MAX              2048        /* frames */
#define BODY_FIRST_BYTES        (1 << 20)   /* of memory, for a body whose length is told: claims alone cost little */
#define SETTINGS_MAX            32          /* entries in one frame */
#define CONTINUATIONS_MAX       8           /* frames of one head */
#define SETTINGS_HEADER_MAX     (6 * 4 * 4) /* characters of HTTP2-Settings that we look at: 72 bytes, 12 entries */

enum phase {
    PHASE_HEAD,
    PHASE_BODY,
    PHASE_WORK,   /* the handler has it */
    PHASE_ANSWER, /* being sent */
};
#define PHASE_COUNT (PHASE_ANSWER + 1)

struct stream {
    struct exchange *exchange;
    enum phase phase;
    uint32_t header_bytes;
    uint64_t received_bytes, asked_bytes; /* of the body; asked_bytes are reserved, or being so if it is waiting */
    size_t held_bytes;                    /* that the windows are still closed for */
    size_t sent_bytes;                    /* of the answer */
    bool has_end;                         /* of the request */
    bool is_answered;                     /* to its last byte, before the end of the request */
    bool is_waiting;                      /* for room */
    bool is_too_large;                    /* the head */
    bool has_failed;                      /* no memory for the head */
};

struct http2 {
    nghttp2_session *session;
    struct connection *connection;
    uint32_t n_streams[PHASE_COUNT];
    struct nuisance nuisance;
    uint32_t n_pings;   /* of ours that have not come back */
    const char *flood;  /* the name of what there was too much of */
    bool is_busy;       /* M4 */
    bool is_going_away; /* GOAWAY was sent */
    bool has_moved;     /* a head, or bytes of a body or an answer, since the deadline was set */
};

/* --- sending and waiting --- */

/* What is put out has the deadline of the socket; what is not, because the peer keeps its windows shut, has one here. */
static enum connection_wait find_wait(const struct http2 *http2)
{
    const uint32_t *n = http2->n_streams;

    if (n[PHASE_ANSWER] > 0 && http2->connection->out.len == 0)
        return CONNECTION_WRITE;
    if (n[PHASE_BODY] > 0)
        return CONNECTION_BODY;
    if (n[PHASE_HEAD] > 0)
        return CONNECTION_HEAD;
    return n[PHASE_WORK] + n[PHASE_ANSWER] > 0 ? CONNECTION_WORK : CONNECTION_IDLE;
}

/* A deadline runs on unless something moved. */
static void set_wait(struct http2 *http2)
{
    enum connection_wait wait = find_wait(http2);

    if (http2->has_moved || wait != http2->connection->wait)
        connection_wait_for(http2->connection, wait);
    http2->has_moved = false;
}

/* Whether there is nothing left to do: both have said goodbye, or the peer has and no handler is at work for it. */
static bool is_over(const struct http2 *http2)
{
    if (nghttp2_session_want_write(http2->session))
        return false;
    if (!nghttp2_session_want_read(http2->session))
        return true;
    return http2->connection->has_ended && http2->n_streams[PHASE_WORK] + http2->n_streams[PHASE_ANSWER] == 0;
}

/* Puts into `out` what there is to send and room for. -1: the connection is at its end. */
static int settle(struct http2 *http2)
{
    struct buffer *out = &http2->connection->out;
    const uint8_t *bytes;

    while (out->len < OUT_BYTES) {
        ssize_t n = nghttp2_session_mem_send(http2->session, &bytes);

        if (n < 0)
            return -1;
        if (n == 0)
            break;
        buffer_append(out, bytes, (size_t)n);
    }
    set_wait(http2);
    return is_over(http2) ? -1 : 0;
}

static void settle_or_end(struct http2 *http2, bool lingers)
{
    if (!http2->is_busy && settle(http2) < 0)
        connection_end(http2->connection, lingers);
}

/* Tells the peer which streams were taken, so that it may send the others elsewhere, and why it ends. */
static void go_away(struct http2 *http2, uint32_t code, const char *reason)
{
    if (http2->is_going_away)
        return;
    http2->is_going_away = true;
    IGNORE(nghttp2_submit_goaway(http2->session, NGHTTP2_FLAG_NONE,
                                 nghttp2_session_get_last_proc_stream_id(http2->session), code, (const uint8_t *)reason,
                                 strlen(reason)),
           "without memory it ends without a word");
}

/* --- streams --- */

static void enter(struct http2 *http2, struct stream *stream, enum phase phase)
{
    http2->n_streams[stream->phase]--;
    http2->n_streams[phase]++;
    stream->phase = phase;
    http2->has_moved = true;
}

static struct stream *find_stream(struct http2 *http2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(http2->session, id);
}

static void reset(struct http2 *http2, int32_t id, uint32_t code)
{
    IGNORE(nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, id, code), "its deadline ends it");
}

/* What this file keeps of an exchange. NULL when memory runs out. */
static struct stream *new_stream(struct http2 *http2, struct exchange *exchange, int32_t id, enum phase phase)
{
    struct error ignored;
    struct stream *stream = ARENA_NEW(&exchange->arena, struct stream, &ignored);

    if (!stream)
        return NULL;
    exchange->request.version = HTTP_2;
    exchange->stream = id;
    stream->exchange = exchange;
    stream->phase = phase;
    http2->n_streams[phase]++;
    http2->has_moved = true;
    return stream;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct http2 *http2 = context;
    struct exchange *exchange;
    struct stream *stream;

    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    exchange = exchange_new(http2->connection);
    stream = exchange ? new_stream(http2, exchange, frame->hd.stream_id, PHASE_HEAD) : NULL;
    if (stream) {
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
        return 0;
    }
    if (exchange)
        exchange_free(exchange);
    reset(http2, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
    return 0;
}

static int on_stream_close(nghttp2_session *session UNUSED, int32_t id, uint32_t code UNUSED, void *context)
{
    struct http2 *http2 = context;
    struct stream *stream = find_stream(http2, id);

    if (!stream)
        return 0;
    http2->n_streams[stream->phase]--;
    http2->has_moved = true;
    /* Windows that were held back for it are the connection's again. */
    if (stream->held_bytes > 0)
        IGNORE(nghttp2_session_consume_connection(http2->session, stream->held_bytes), "its window stays smaller");
    if (stream->phase != PHASE_ANSWER)
        exchange_is_gone(stream->exchange);
    exchange_free(stream->exchange);
    return 0;
}

/* --- answers --- */

/* Headers that HTTP/2 does not have, and those that are written here. */
static bool is_left_out(struct slice name)
{
    static const char *const names[] = {
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "content-length", "te", "date"
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_equal_nocase(name, slice_from(names[i])))
            return true;
    return false;
}

struct header_list {
    nghttp2_nv *items;
    size_t n;
};

static void add(struct header_list *list, struct slice name, struct slice value)
{
    list->items[list->n++] =
        (nghttp2_nv){ (uint8_t *)name.ptr, (uint8_t *)value.ptr, name.len, value.len, NGHTTP2_NV_FLAG_NONE };
}

/* The headers of an answer are copies of our own in the exchange's arena: they are put in order where they are. Names are
 * in lower case, and nobody's text ends a line. */
static void add_all(struct header_list *list, const struct http_headers *headers)
{
    for (uint32_t i = 0; i < headers->n; i++) {
        struct slice name = headers->items[i].name, value = headers->items[i].value;
        char *name_bytes = (char *)name.ptr, *value_bytes = (char *)value.ptr;

        if (is_left_out(name))
            continue;
        for (size_t j = 0; j < name.len; j++)
            if (name_bytes[j] >= 'A' && name_bytes[j] <= 'Z')
                name_bytes[j] |= 0x20;
        for (size_t j = 0; j < value.len; j++)
            if (value_bytes[j] == '\r' || value_bytes[j] == '\n' || value_bytes[j] == '\0')
                value_bytes[j] = ' ';
        add(list, name, value);
    }
}

static int submit_trailers(struct http2 *http2, struct stream *stream)
{
    struct exchange *exchange = stream->exchange;
    struct header_list list = { 0 };
    struct error ignored;

    list.items = ARENA_ARRAY(&exchange->arena, nghttp2_nv, exchange->response.trailers.n, &ignored);
    if (!list.items)
        return -1;
    add_all(&list, &exchange->response.trailers);
    return nghttp2_submit_trailer(http2->session, exchange->stream, list.items, list.n);
}

/* Says how much of the body comes next; on_send_body takes it from where it lies. */
static ssize_t on_read_body(nghttp2_session *session UNUSED, int32_t id UNUSED, uint8_t *to UNUSED, size_t len,
                            uint32_t *ret_flags, nghttp2_data_source *source, void *context)
{
    struct http2 *http2 = context;
    struct stream *stream = source->ptr;
    const struct response *response = &stream->exchange->response;
    size_t n = MIN(len, response->body.len - stream->sent_bytes);

    *ret_flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->sent_bytes + n < response->body.len)
        return (ssize_t)n;
    *ret_flags |= NGHTTP2_DATA_FLAG_EOF;
    if (response->trailers.n > 0) {
        *ret_flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (submit_trailers(http2, stream) < 0)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return (ssize_t)n;
}

static int on_send_body(nghttp2_session *session UNUSED, nghttp2_frame *frame UNUSED, const uint8_t *frame_head,
                        size_t len, nghttp2_data_source *source, void *context)
{
    struct http2 *http2 = context;
    struct buffer *out = &http2->connection->out;
    struct stream *stream = source->ptr;

    if (out->len >= OUT_BYTES)
        return NGHTTP2_ERR_WOULDBLOCK;
    buffer_append(out, frame_head, FRAME_HEAD_BYTES);
    buffer_append(out, stream->exchange->response.body.data + stream->sent_bytes, len);
    stream->sent_bytes += len;
    http2->has_moved = true;
    return 0;
}

/* One HEADERS frame, and DATA if there is a body. Trailers come behind the body; without one they are among the headers,
 * as gRPC wants its failures. */
static int submit_answer(struct http2 *http2, struct stream *stream)
{
    struct exchange *exchange = stream->exchange;
    const struct response *response = &exchange->response;
    const char *origin = http2->connection->loop->server->options.cors_origin;
    bool may_have_body = response->status >= 200 && response->status != 204 && response->status != 304;
    bool has_body = may_have_body && response->body.len > 0 && exchange->request.method != HTTP_HEAD;
    nghttp2_data_provider body = { .source.ptr = stream, .read_callback = on_read_body };
    struct header_list list = { 0 };
    char status[16], length[24], date[HTTP_DATE_BYTES];
    struct error ignored;

    list.items = ARENA_ARRAY(&exchange->arena, nghttp2_nv, response->headers.n + response->trailers.n + 4, &ignored);
    if (!list.items)
        return -1;
    snprintf(status, sizeof(status), "%d", response->status);
    snprintf(length, sizeof(length), "%zu", response->body.len);
    add(&list, SLICE(":status"), slice_from(status));
    add(&list, SLICE("date"), slice_from(http_date(clock_now_ns(), date)));
    add_all(&list, &response->headers);
    if (origin)
        add(&list, SLICE("access-control-allow-origin"), slice_from(origin));
    if (may_have_body && response->trailers.n == 0)
        add(&list, SLICE("content-length"), slice_from(length));
    if (!has_body)
        add_all(&list, &response->trailers);
    return nghttp2_submit_response(http2->session, exchange->stream, list.items, list.n, has_body ? &body : NULL);
}

/* A peer that does not read its answer must not hold the room of its request meanwhile. */
static void let_request_go(struct exchange *exchange)
{
    exchange->request.body = SLICE("");
    buffer_done(&exchange->body);
    httpserver_release(exchange->loop->server, exchange->reserved_bytes);
    exchange->reserved_bytes = 0;
}

static void send_answer(struct http2 *http2, struct stream *stream)
{
    struct exchange *exchange = stream->exchange;
    struct error err;

    if (buffer_check(&exchange->response.body, &err) < 0)
        exchange_fail(exchange, &err);
    enter(http2, stream, PHASE_ANSWER);
    httpserver_answered(exchange, exchange->response.body.len);
    let_request_go(exchange);
    if (submit_answer(http2, stream) != 0)
        reset(http2, exchange->stream, NGHTTP2_INTERNAL_ERROR);
    if (exchange->response.must_close)
        go_away(http2, NGHTTP2_NO_ERROR, "");
}

/* Who is answered before its body has come need not send the rest. But a client that gets the answer and a reset in one
 * gulp may forget the answer over it (curl 7.88 does). So the reset comes when a PING behind the answer has come back. */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct http2 *http2 = context;
    uint8_t payload[8] = { 0 };
    struct stream *stream;

    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    stream = find_stream(http2, frame->hd.stream_id);
    if (!stream || stream->has_end)
        return 0;
    stream->is_answered = true;
    bytes_put_be32(payload, (uint32_t)frame->hd.stream_id);
    if (nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, payload) == 0)
        http2->n_pings++;
    else
        reset(http2, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
}

static void take_ping_back(struct http2 *http2, const uint8_t payload[static 8])
{
    int32_t id = (int32_t)(bytes_get_be32(payload) & INT32_MAX);
    struct stream *stream = find_stream(http2, id);

    http2->n_pings -= http2->n_pings > 0;
    if (stream && stream->is_answered && !stream->has_end)
        reset(http2, id, NGHTTP2_NO_ERROR);
}

/* --- heads --- */

/* Keeps a header of the request, or one of the things of the request line that HTTP/2 has as headers. */
static void take_header(struct stream *stream, struct slice name, struct slice value)
{
    struct request *request = &stream->exchange->request;
    struct arena *arena = &stream->exchange->arena;
    struct error ignored;

    value = arena_copy(arena, value, &ignored);
    if (name.ptr[0] != ':')
        name = arena_copy(arena, name, &ignored);
    if (!name.ptr || !value.ptr)
        stream->has_failed = true;
    else if (name.ptr[0] != ':')
        request->headers.items[request->headers.n++] = (struct http_header){ name, value };
    else if (slice_is(name, ":method"))
        request->method_text = value;
    else if (slice_is(name, ":path"))
        request->path = value;
    else if (slice_is(name, ":authority"))
        request->authority = value;
}

static int on_header(nghttp2_session *session UNUSED, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags UNUSED, void *context)
{
    struct stream *stream = find_stream(context, frame->hd.stream_id);

    if (!stream || stream->phase != PHASE_HEAD || stream->is_too_large || name_len == 0)
        return 0;
    if (name_len + value_len + 32 > HEADER_LIST_BYTES - stream->header_bytes ||
        stream->exchange->request.headers.n == HTTP_MAX_HEADERS) {
        stream->is_too_large = true;
        return 0;
    }
    stream->header_bytes += (uint32_t)(name_len + value_len + 32);
    take_header(stream, slice_of(name, name_len), slice_of(value, value_len));
    return 0;
}

static int finish_request_line(struct request *request, struct arena *arena)
{
    ptrdiff_t question = slice_find_byte(request->path, '?');
    struct error ignored;

    request->method = http_method_from(request->method_text);
    if (request->authority.len == 0 && http_header(&request->headers, "host").ptr)
        request->authority = http_header(&request->headers, "host");
    if (question >= 0) {
        request->query = slice_sub(request->path, (size_t)question + 1, SIZE_MAX);
        request->path = slice_sub(request->path, 0, (size_t)question);
    }
    request->path = http_unescape(request->path, false, arena, &ignored);
    return request->path.ptr ? 0 : -1;
}

/* What is wrong with a head that nghttp2 let pass, if anything; then the exchange is answered. */
static bool is_refused(struct stream *stream)
{
    struct exchange *exchange = stream->exchange;

    if (stream->is_too_large)
        exchange_fail_with(exchange, 431, "the head of the request is longer than %d KiB, or has more than %d headers",
                           HEADER_LIST_BYTES >> 10, HTTP_MAX_HEADERS);
    else if (stream->has_failed || finish_request_line(&exchange->request, &exchange->arena) < 0)
        exchange_fail_with(exchange, 503, "the server has no memory for this request; try again in a moment");
    else if (slice_is(exchange->request.method_text, "CONNECT"))
        exchange_fail_with(exchange, 501, "CONNECT is for proxies; this is none");
    return exchange->response.status != 0;
}

static void send_continue(struct http2 *http2, struct stream *stream)
{
    nghttp2_nv status = { (uint8_t *)":status", (uint8_t *)"100", 7, 3, NGHTTP2_NV_FLAG_NONE };

    IGNORE(nghttp2_submit_headers(http2->session, NGHTTP2_FLAG_NONE, stream->exchange->stream, NULL, &status, 1, NULL),
           "the peer sends the body after a while all the same");
}

static void ask_for_room(struct http2 *http2, struct stream *stream, uint64_t up_to_bytes);

static void finish_head(struct http2 *http2, struct stream *stream)
{
    struct exchange *exchange = stream->exchange;
    const struct http_headers *headers = &exchange->request.headers;
    struct slice length = http_header(headers, "content-length");
    uint64_t body_bytes = 0;
    bool is_known = stream->has_end || (length.ptr && slice_to_u64(length, &body_bytes) && body_bytes <= INT64_MAX);

    if (is_refused(stream) || !exchange_begin(exchange, is_known ? (int64_t)body_bytes : -1)) {
        send_answer(http2, stream);
        return;
    }
    enter(http2, stream, PHASE_BODY);
    if (stream->has_end)
        return;
    if (http_header_has(headers, "expect", "100-continue"))
        send_continue(http2, stream);
    if (is_known && body_bytes > 0)
        ask_for_room(http2, stream, body_bytes);
}

/* --- bodies --- */

/* Opens the windows for what was held back, and hands the request on if that was its end. */
static void go_on(struct http2 *http2, struct stream *stream)
{
    if (stream->held_bytes > 0)
        IGNORE(nghttp2_session_consume(http2->session, stream->exchange->stream, stream->held_bytes),
               "the peer waits for its window until its deadline");
    stream->held_bytes = 0;
    if (!stream->has_end)
        return;
    enter(http2, stream, PHASE_WORK);
    exchange_is_complete(stream->exchange);
}

static void ask_for_room(struct http2 *http2, struct stream *stream, uint64_t up_to_bytes)
{
    int room = exchange_reserve(stream->exchange, (size_t)(up_to_bytes - stream->asked_bytes));

    if (room < 0) {
        send_answer(http2, stream);
        return;
    }
    stream->asked_bytes = up_to_bytes;
    stream->is_waiting = room == 0;
}

/* Appends to the body; false if there is no memory, and the exchange is answered. */
static bool keep(struct http2 *http2, struct stream *stream, struct slice bytes)
{
    struct buffer *body = &stream->exchange->body;
    struct error err;

    if (body->len == 0 && stream->asked_bytes > bytes.len)
        IGNORE(buffer_reserve(body, (size_t)MIN(stream->asked_bytes, (uint64_t)BODY_FIRST_BYTES)), "appending tells");
    buffer_append_slice(body, bytes);
    if (buffer_check(body, &err) == 0)
        return true;
    exchange_fail(stream->exchange, &err);
    send_answer(http2, stream);
    return false;
}

/* Asks for what has come beyond what was asked for, and goes on unless that has to wait. */
static void take_stock(struct http2 *http2, struct stream *stream)
{
    if (stream->phase != PHASE_BODY)
        return;
    if (!stream->is_waiting && stream->received_bytes > stream->asked_bytes)
        ask_for_room(http2, stream, stream->received_bytes);
    if (stream->phase == PHASE_BODY && !stream->is_waiting)
        go_on(http2, stream);
}

static int on_data(nghttp2_session *session, uint8_t flags UNUSED, int32_t id, const uint8_t *bytes, size_t len,
                   void *context)
{
    struct http2 *http2 = context;
    struct stream *stream = find_stream(http2, id);

    if (!stream || stream->phase != PHASE_BODY)
        return nghttp2_session_consume_connection(session, len) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    http2->has_moved = true;
    stream->held_bytes += len;
    if (!keep(http2, stream, slice_of(bytes, len)))
        return 0;
    stream->received_bytes += len;
    take_stock(http2, stream);
    return 0;
}

static int on_frame_recv(nghttp2_session *session UNUSED, const nghttp2_frame *frame, void *context)
{
    struct http2 *http2 = context;
    struct stream *stream;

    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK))
        take_ping_back(http2, frame->ping.opaque_data);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    stream = find_stream(http2, frame->hd.stream_id);
    if (!stream)
        return 0;
    stream->has_end |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (stream->phase == PHASE_HEAD)
        finish_head(http2, stream);
    if (stream->has_end && stream->phase == PHASE_BODY)
        take_stock(http2, stream);
    return 0;
}

/* A PING that comes back is none of theirs. */
static int on_begin_frame(nghttp2_session *session UNUSED, const nghttp2_frame_hd *frame, void *context)
{
    struct http2 *http2 = context;

    if (frame->type == NGHTTP2_PING && (frame->flags & NGHTTP2_FLAG_ACK) && http2->n_pings > 0)
        return 0;
    http2->flood = nuisance_count(&http2->nuisance, frame->type, frame->flags, frame->length);
    return http2->flood ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* --- the protocol --- */

static ptrdiff_t give_up(struct http2 *http2, ssize_t result)
{
    char reason[64];

    atomic_fetch_add_explicit(&http2->connection->loop->server->n_bad_requests, 1, memory_order_relaxed);
    if (http2->flood || result == NGHTTP2_ERR_FLOODED || result == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
        snprintf(reason, sizeof(reason), "too many %s frames", http2->flood ? http2->flood : "control");
        go_away(http2, NGHTTP2_ENHANCE_YOUR_CALM, reason);
    } else {
        go_away(http2, result == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_INTERNAL_ERROR,
                nghttp2_strerror((int)result));
    }
    IGNORE(settle(http2), "it ends anyway");
    return -1;
}

static ptrdiff_t input(struct connection *connection, struct slice bytes)
{
    struct http2 *http2 = connection->state;
    ssize_t n;

    http2->is_busy = true;
    n = nghttp2_session_mem_recv(http2->session, (const uint8_t *)bytes.ptr, bytes.len);
    http2->is_busy = false;
    if (n < 0)
        return give_up(http2, n);
    if (settle(http2) < 0)
        return -1;
    if (nghttp2_session_get_outbound_queue_size(http2->session) > QUEUED_MAX)
        return give_up(http2, NGHTTP2_ERR_FLOODED);
    return n;
}

static int end(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    return http2->n_streams[PHASE_WORK] + http2->n_streams[PHASE_ANSWER] > 0 ? 0 : -1;
}

static void respond(struct connection *connection, struct exchange *exchange)
{
    struct http2 *http2 = connection->state;

    send_answer(http2, find_stream(http2, exchange->stream));
    settle_or_end(http2, true);
}

static void output(struct connection *connection)
{
    settle_or_end(connection->state, true);
}

static void drain(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    go_away(http2, NGHTTP2_NO_ERROR, "");
    settle_or_end(http2, false);
}

static void say_timeout(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    go_away(http2, NGHTTP2_NO_ERROR, connection->wait == CONNECTION_IDLE ? "" : "too slow");
    IGNORE(settle(http2), "it ends anyway");
}

static void resume(struct connection *connection, struct exchange *exchange)
{
    struct http2 *http2 = connection->state;
    struct stream *stream = find_stream(http2, exchange->stream);

    stream->is_waiting = false;
    http2->has_moved = true;
    http2->is_busy = true;
    take_stock(http2, stream);
    http2->is_busy = false;
    settle_or_end(http2, true);
}

static void close_http2(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    if (!http2)
        return;
    nghttp2_session_del(http2->session);
    memory_free(http2);
    connection->state = NULL;
}

const struct protocol http2_protocol = {
    .name = "http/2",
    .input = input,
    .end = end,
    .respond = respond,
    .output = output,
    .drain = drain,
    .timeout = say_timeout,
    .resume = resume,
    .close = close_http2,
};

/* --- opening --- */

static void set_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}

static void set_options(nghttp2_option *options)
{
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    nghttp2_option_set_max_settings(options, SETTINGS_MAX);
    nghttp2_option_set_max_continuations(options, CONTINUATIONS_MAX);
}

/* nghttp2's two tables are copied by the session. Its memory is malloc's own and not within our limit: version 1.52 frees an
 * item twice if it cannot queue it, so it had better not be told that there is none. M3 bounds it. */
static int make_session(struct http2 *http2)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *options = NULL;
    int result = -1;

    if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&options) == 0) {
        set_callbacks(callbacks);
        set_options(options);
        result = nghttp2_session_server_new2(&http2->session, callbacks, http2, options);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return result == 0 ? 0 : -1;
}

static int send_settings(nghttp2_session *session)
{
    static const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };

    if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) != 0)
        return -1;
    return nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW_BYTES) == 0 ? 0 : -1;
}

/* The request that asked for the upgrade is stream 1, whose end has come. */
static int take_upgrade(struct http2 *http2, struct slice settings, struct exchange *exchange)
{
    char payload[BASE64_DECODED_BYTES(SETTINGS_HEADER_MAX)];
    struct stream *stream;
    size_t len, bad_at;

    if (settings.len > SETTINGS_HEADER_MAX || !base64_decode(settings, payload, &len, &bad_at))
        return -1;
    stream = new_stream(http2, exchange, 1, PHASE_WORK);
    if (!stream)
        return -1;
    stream->has_end = true;
    if (nghttp2_session_upgrade2(http2->session, (const uint8_t *)payload, len, exchange->request.method == HTTP_HEAD,
                                 NULL) != 0)
        return -1;
    return nghttp2_session_set_stream_user_data(http2->session, 1, stream) == 0 ? 0 : -1;
}

int http2_open(struct connection *connection, struct slice settings, struct exchange *exchange)
{
    struct error ignored;
    struct http2 *http2 = MEMORY_NEW(struct http2, &ignored);

    if (!http2)
        return -1;
    http2->connection = connection;
    if (make_session(http2) < 0 || send_settings(http2->session) < 0 ||
        (exchange && take_upgrade(http2, settings, exchange) < 0) || settle(http2) < 0) {
        nghttp2_session_del(http2->session);
        memory_free(http2);
        return -1;
    }
    connection->state = http2;
    connection->protocol = &http2_protocol;
    return 0;
}
