// SPDX-License-Identifier: Apache-2.0
/* What the files of HTTP/2 share: its streams. http2.c holds the session and the connection, http2_requests.c makes requests of
 * heads and bodies, http2_answers.c frames of answers. M1 to M4 are in http2.c. */
#pragma once

#include "net/loop_internal.h"
#include "net/nuisance.h"

#include <nghttp2/nghttp2.h>

#define HTTP2_OUT_BYTES         (256 << 10) /* M3 */
#define HTTP2_HEADER_LIST_BYTES (64 << 10)  /* names, values and 32 bytes for each, as RFC 9113 counts */

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

/* --- http2.c --- */

void http2_enter(struct http2 *http2, struct stream *stream, enum phase phase);
/* NULL = it is closed, or has never been. */
struct stream *http2_find_stream(struct http2 *http2, int32_t id);
void http2_reset(struct http2 *http2, int32_t id, uint32_t code);
/* Tells the peer which streams were taken, so that it may send the others elsewhere, and why it ends. */
void http2_go_away(struct http2 *http2, uint32_t code, const char *reason);

/* --- http2_answers.c --- */

/* The exchange of the stream has its answer, which is sent as the peer takes it. */
void http2_send_answer(struct http2 *http2, struct stream *stream);
/* A PING of ours has come back. */
void http2_take_ping_back(struct http2 *http2, const uint8_t payload[static 8]);
/* For nghttp2. */
int http2_on_send_body(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *frame_head, size_t len,
                       nghttp2_data_source *source, void *context);
int http2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *context);

/* --- http2_requests.c --- */

/* Asks for what has come beyond what was asked for, and goes on unless that has to wait. */
void http2_take_stock(struct http2 *http2, struct stream *stream);
/* For nghttp2. */
int http2_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                    const uint8_t *value, size_t value_len, uint8_t flags, void *context);
int http2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t len, void *context);
int http2_on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *context);
