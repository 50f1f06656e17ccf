// SPDX-License-Identifier: Apache-2.0
/* The head of an HTTP/1 request (RFC 9112), and bodies in chunks: bytes in, meaning out, no sockets.
 *
 * What two readers could understand differently is refused, since that is how requests are smuggled past proxies: a length
 * and a transfer coding together, several lengths, white space before a colon, folded lines, line ends that are no CRLF,
 * control characters. */
#pragma once

#include "net/exchange.h"

#define HTTP1_MAX_HEAD  65536
#define HTTP1_MAX_LINE  32768 /* of the request line */
#define HTTP1_MAX_EXTRA 16384 /* of chunk extensions, and of trailers */

struct http1_framing {
    int64_t body_bytes;  /* -1 = in chunks */
    bool keeps_alive;    /* the connection may serve another request */
    bool wants_continue; /* Expect: 100-continue */
    bool wants_h2c;      /* Upgrade: h2c, with settings */
    struct slice h2c_settings;
};

/* Where the head ends in `bytes`: the offset behind the empty line, or 0 if it is not all here. `*scanned` is where to go on
 * looking when there is more; begins as 0. */
size_t http1_head_end(struct slice bytes, size_t *scanned);

/* Reads a whole head, with the empty line; it is copied into `arena`, which the request then points into. On failure
 * `*ret_status` is the HTTP status that fits: 400, 414, 417, 431, 501, 505. Errors: ERR_INVALID with a sentence, ERR_MEMORY
 * and ERR_LIMIT (503). */
MUST_CHECK int http1_parse_head(struct slice head, struct arena *arena, struct request *request,
                                struct http1_framing *ret_framing, int *ret_status, struct error *err);

/* A body in chunks, taken piece by piece. */
struct http1_chunks {
    enum {
        CHUNK_SIZE,
        CHUNK_EXTENSION,
        CHUNK_SIZE_LF,
        CHUNK_DATA,
        CHUNK_DATA_CR,
        CHUNK_DATA_LF,
        CHUNK_TRAILER,
        CHUNK_DONE
    } state;
    uint64_t left; /* CHUNK_DATA: bytes of the chunk to come */
    uint32_t n_digits;
    uint32_t n_extra; /* bytes of extensions, then of trailers */
    uint32_t line;    /* CHUNK_TRAILER: bytes of the line so far; a CR at its end is not counted */
    bool has_cr;
};
void http1_chunks_init(struct http1_chunks *chunks);
/* Takes bytes from the front of `*rest` up to the next data, which is returned as a piece of them, empty if there is none.
 * Call it until `*rest` is empty or chunks->state is CHUNK_DONE; what is in `*rest` then belongs to the next request.
 * Errors: ERR_INVALID. */
MUST_CHECK int http1_chunks_take(struct http1_chunks *chunks, struct slice *rest, struct slice *ret_data,
                                 struct error *err);
