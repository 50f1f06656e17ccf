// SPDX-License-Identifier: Apache-2.0
/* Answers as frames. */
#include "base/bytes.h"
#include "net/http2_internal.h"

#include <stdio.h>
#include <string.h>

#define FRAME_HEAD_BYTES 9

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

int http2_on_send_body(nghttp2_session *session UNUSED, nghttp2_frame *frame UNUSED, const uint8_t *frame_head,
                       size_t len, nghttp2_data_source *source, void *context)
{
    struct http2 *http2 = context;
    struct buffer *out = &http2->connection->out;
    struct stream *stream = source->ptr;

    if (out->len >= HTTP2_OUT_BYTES)
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

void http2_send_answer(struct http2 *http2, struct stream *stream)
{
    struct exchange *exchange = stream->exchange;
    struct error err;

    if (buffer_check(&exchange->response.body, &err) < 0)
        exchange_fail(exchange, &err);
    http2_enter(http2, stream, PHASE_ANSWER);
    exchange->answered_mono_ns = clock_mono_ns();
    httpserver_answered(exchange, exchange->response.body.len);
    let_request_go(exchange);
    if (submit_answer(http2, stream) != 0)
        http2_reset(http2, exchange->stream, NGHTTP2_INTERNAL_ERROR);
    if (exchange->response.must_close)
        http2_go_away(http2, NGHTTP2_NO_ERROR, "");
}

/* Who is answered before its body has come need not send the rest. But a client that gets the answer and a reset in one
 * gulp may forget the answer over it (curl 7.88 does). So the reset comes when a PING behind the answer has come back. */
int http2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct http2 *http2 = context;
    uint8_t payload[8] = { 0 };
    struct stream *stream;

    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    stream = http2_find_stream(http2, frame->hd.stream_id);
    if (!stream || stream->has_end)
        return 0;
    stream->is_answered = true;
    bytes_put_be32(payload, (uint32_t)frame->hd.stream_id);
    if (nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, payload) == 0)
        http2->n_pings++;
    else
        http2_reset(http2, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
}

void http2_take_ping_back(struct http2 *http2, const uint8_t payload[static 8])
{
    int32_t id = (int32_t)(bytes_get_be32(payload) & INT32_MAX);
    struct stream *stream = http2_find_stream(http2, id);

    http2->n_pings -= http2->n_pings > 0;
    if (stream && stream->is_answered && !stream->has_end)
        http2_reset(http2, id, NGHTTP2_NO_ERROR);
}
