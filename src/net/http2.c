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
#include "base/memory.h"
#include "net/http2_internal.h"

#include <stdio.h>
#include <string.h>

#define STREAMS_MAX             128
#define STREAM_WINDOW_BYTES     (1 << 20)
#define CONNECTION_WINDOW_BYTES (8 << 20)
#define QUEUED_MAX              2048        /* frames */
#define SETTINGS_MAX            32          /* entries in one frame */
#define CONTINUATIONS_MAX       8           /* frames of one head */
#define SETTINGS_HEADER_MAX     (6 * 4 * 4) /* characters of HTTP2-Settings that we look at: 72 bytes, 12 entries */

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

    while (out->len < HTTP2_OUT_BYTES) {
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
void http2_go_away(struct http2 *http2, uint32_t code, const char *reason)
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

void http2_enter(struct http2 *http2, struct stream *stream, enum phase phase)
{
    http2->n_streams[stream->phase]--;
    http2->n_streams[phase]++;
    stream->phase = phase;
    http2->has_moved = true;
}

struct stream *http2_find_stream(struct http2 *http2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(http2->session, id);
}

void http2_reset(struct http2 *http2, int32_t id, uint32_t code)
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
    http2_reset(http2, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
    return 0;
}

static int on_stream_close(nghttp2_session *session UNUSED, int32_t id, uint32_t code UNUSED, void *context)
{
    struct http2 *http2 = context;
    struct stream *stream = http2_find_stream(http2, id);

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
        http2_go_away(http2, NGHTTP2_ENHANCE_YOUR_CALM, reason);
    } else {
        http2_go_away(http2, result == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_INTERNAL_ERROR,
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

    http2_send_answer(http2, http2_find_stream(http2, exchange->stream));
    settle_or_end(http2, true);
}

static void output(struct connection *connection)
{
    settle_or_end(connection->state, true);
}

static void drain(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    http2_go_away(http2, NGHTTP2_NO_ERROR, "");
    settle_or_end(http2, false);
}

static void say_timeout(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    http2_go_away(http2, NGHTTP2_NO_ERROR, connection->wait == CONNECTION_IDLE ? "" : "too slow");
    IGNORE(settle(http2), "it ends anyway");
}

static void resume(struct connection *connection, struct exchange *exchange)
{
    struct http2 *http2 = connection->state;
    struct stream *stream = http2_find_stream(http2, exchange->stream);

    stream->is_waiting = false;
    http2->has_moved = true;
    http2->is_busy = true;
    http2_take_stock(http2, stream);
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
    nghttp2_session_callbacks_set_on_header_callback(callbacks, http2_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, http2_on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, http2_on_frame_recv);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, http2_on_send_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, http2_on_frame_send);
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
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2_HEADER_LIST_BYTES },
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
    size_t len, bad_at;

    if (settings.len > SETTINGS_HEADER_MAX || !base64_decode(settings, payload, &len, &bad_at))
        return -1;
    return nghttp2_session_upgrade2(http2->session, (const uint8_t *)payload, len,
                                    exchange->request.method == HTTP_HEAD, NULL) == 0
               ? 0
               : -1;
}

/* Settings that nghttp2 does not like close the stream when they are answered, behind an upgrade that it took: the stream has
 * its exchange only then, so that it does not take it along. */
static int attach_upgrade(struct http2 *http2, struct exchange *exchange)
{
    struct stream *stream = new_stream(http2, exchange, 1, PHASE_WORK);

    if (!stream || nghttp2_session_set_stream_user_data(http2->session, 1, stream) != 0)
        return -1;
    stream->has_end = true;
    set_wait(http2);
    return 0;
}

int http2_open(struct connection *connection, struct slice settings, struct exchange *exchange)
{
    struct error ignored;
    struct http2 *http2 = MEMORY_NEW(struct http2, &ignored);

    if (!http2)
        return -1;
    http2->connection = connection;
    if (make_session(http2) < 0 || send_settings(http2->session) < 0 ||
        (exchange && take_upgrade(http2, settings, exchange) < 0) || settle(http2) < 0 ||
        (exchange && attach_upgrade(http2, exchange) < 0)) {
        nghttp2_session_del(http2->session);
        memory_free(http2);
        return -1;
    }
    connection->state = http2;
    connection->protocol = &http2_protocol;
    return 0;
}
