// SPDX-License-Identifier: Apache-2.0
/* Heads and bodies of requests, from the first byte until a handler has them. */
#include "net/http2_internal.h"

#include <string.h>

#define BODY_FIRST_BYTES (1 << 20) /* of memory, for a body whose length is told: claims alone cost little */

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

int http2_on_header(nghttp2_session *session UNUSED, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                    const uint8_t *value, size_t value_len, uint8_t flags UNUSED, void *context)
{
    struct stream *stream = http2_find_stream(context, frame->hd.stream_id);

    if (!stream || stream->phase != PHASE_HEAD || stream->is_too_large || name_len == 0)
        return 0;
    if (name_len + value_len + 32 > HTTP2_HEADER_LIST_BYTES - stream->header_bytes ||
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
                           HTTP2_HEADER_LIST_BYTES >> 10, HTTP_MAX_HEADERS);
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
        http2_send_answer(http2, stream);
        return;
    }
    http2_enter(http2, stream, PHASE_BODY);
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
    http2_enter(http2, stream, PHASE_WORK);
    exchange_is_complete(stream->exchange);
}

static void ask_for_room(struct http2 *http2, struct stream *stream, uint64_t up_to_bytes)
{
    int room = exchange_reserve(stream->exchange, (size_t)(up_to_bytes - stream->asked_bytes));

    if (room < 0) {
        http2_send_answer(http2, stream);
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
    http2_send_answer(http2, stream);
    return false;
}

/* Asks for what has come beyond what was asked for, and goes on unless that has to wait. */
void http2_take_stock(struct http2 *http2, struct stream *stream)
{
    if (stream->phase != PHASE_BODY)
        return;
    if (!stream->is_waiting && stream->received_bytes > stream->asked_bytes)
        ask_for_room(http2, stream, stream->received_bytes);
    if (stream->phase == PHASE_BODY && !stream->is_waiting)
        go_on(http2, stream);
}

int http2_on_data(nghttp2_session *session, uint8_t flags UNUSED, int32_t id, const uint8_t *bytes, size_t len,
                  void *context)
{
    struct http2 *http2 = context;
    struct stream *stream = http2_find_stream(http2, id);

    if (!stream || stream->phase != PHASE_BODY)
        return nghttp2_session_consume_connection(session, len) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    http2->has_moved = true;
    stream->held_bytes += len;
    if (!keep(http2, stream, slice_of(bytes, len)))
        return 0;
    stream->received_bytes += len;
    http2_take_stock(http2, stream);
    return 0;
}

int http2_on_frame_recv(nghttp2_session *session UNUSED, const nghttp2_frame *frame, void *context)
{
    struct http2 *http2 = context;
    struct stream *stream;

    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK))
        http2_take_ping_back(http2, frame->ping.opaque_data);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    stream = http2_find_stream(http2, frame->hd.stream_id);
    if (!stream)
        return 0;
    stream->has_end |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (stream->phase == PHASE_HEAD)
        finish_head(http2, stream);
    if (stream->has_end && stream->phase == PHASE_BODY)
        http2_take_stock(http2, stream);
    return 0;
}
