// SPDX-License-Identifier: Apache-2.0
/* One request and its answer, from the first header to the last byte sent: what handlers see, whatever the protocol.
 *
 * X1  A handler runs in a worker of the pool, or on the loop if its route is quick. It sees a whole request and leaves a
 *     whole answer; it never touches a socket and never waits for the peer.
 * X2  Everything of an exchange lives until its answer is written or its connection has gone, and no longer. Handlers
 *     allocate from its arena, which is bounded.
 * X3  Every exchange is answered once. One that a handler left unanswered is answered with 500. */
#pragma once

#include "base/clock.h"
#include "net/http.h"

#include <stdatomic.h>

struct connection;
struct loop;
struct route;

#define EXCHANGE_PEER_BYTES 64

struct request {
    enum http_version version;
    enum http_method method;
    struct slice method_text;
    struct slice path;  /* percent-decoded; begins with '/' */
    struct slice query; /* as it came, behind '?' */
    struct slice authority;
    struct http_headers headers;
    struct slice body; /* whole, transfer coding taken off, content coding not */
    struct slice peer; /* "127.0.0.1:51234"; its own copy */
    int64_t received_ns;
    int64_t begun_mono_ns;
};

struct response {
    int status; /* 0 = not answered yet */
    struct http_headers headers;
    struct http_headers trailers; /* left out by HTTP/1.0 */
    struct buffer body;
    bool must_close; /* the connection ends behind it */
};

struct exchange {
    struct request request;
    struct response response;
    struct arena arena;
    const struct route *route; /* NULL = none matches */
    void *context;             /* of the routes */
    void *state;               /* the handler's own, from the arena; begins as NULL */
    /* Number of the worker that runs the handler. Those of ROUTE_READ and ROUTE_ADMIN have numbers behind the others, and
     * loops behind all of them. */
    uint32_t worker;
    _Atomic bool is_gone; /* the peer will not read the answer; long handlers look now and then */

    /* Of connection and pool; not for handlers. */
    char peer[EXCHANGE_PEER_BYTES]; /* the connection may end while a worker still runs */
    struct connection *connection;  /* NULL = it has ended */
    struct loop *loop;
    int32_t stream; /* HTTP/2 */
    struct buffer body;
    uint64_t reserved_bytes, wanted_bytes, max_body_bytes;
    uint64_t answer_bytes;    /* reserved for the answer */
    int64_t answered_mono_ns; /* 0 = not yet */
    uint64_t lane;
    bool is_starving;                 /* waits for room for its body */
    bool is_running;                  /* with the pool */
    bool is_complete;                 /* the whole request is here */
    struct exchange *previous, *next; /* of its connection */
    struct exchange *queue_next;      /* of pool and loop */
};

/* Answers: status, type and body. The body is copied; NULL type = no Content-Type. A second answer replaces the first. */
void exchange_answer(struct exchange *exchange, int status, const char *content_type, struct slice body);
/* Answers with a sentence for people, in the shape that the sort of request expects: JSON {"code":..,"message":..} in
 * general, gRPC status for gRPC, google.rpc.Status for OTLP/HTTP (rpc.h decides). The status is that of the code. */
void exchange_fail(struct exchange *exchange, const struct error *err);
/* The same with a status of one's own. */
void exchange_fail_with(struct exchange *exchange, int status, const char *fmt, ...) PRINTF(3, 4);
/* Adds a header to the answer; both are copied. One too many is left out. */
void exchange_header(struct exchange *exchange, const char *name, struct slice value);
void exchange_header_text(struct exchange *exchange, const char *name, const char *value);
void exchange_trailer(struct exchange *exchange, const char *name, struct slice value);
