// SPDX-License-Identifier: Apache-2.0
/* One accepted socket, on the loop that owns it, and the protocol that its first bytes chose.
 *
 * connection.c moves bytes: it reads what the socket has and gives it to the protocol, and writes what the protocol put
 * into `out`. It never understands a byte. The protocol (http1.c, http2.c) makes exchanges of the bytes, tells here when
 * one has its head, its body or all of it, and turns answers into bytes.
 *
 * Everything here runs on the thread of the connection's loop. */
#pragma once

#include "base/buffer.h"
#include "net/exchange.h"

#include <event2/event.h>
#include <event2/event_struct.h>

struct loop;

/* How bytes get in and out: plain sockets now, TLS later. As recv and send: a number, 0 at the end, or -1 with errno. */
struct transport {
    ptrdiff_t (*read)(struct connection *connection, void *bytes, size_t len);
    ptrdiff_t (*write)(struct connection *connection, const struct iovec *pieces, int n);
    void (*close)(struct connection *connection);
};

struct protocol {
    const char *name; /* "http/1.1" */
    /* Takes bytes from the front of `bytes` and says how many; what is left is kept and given again with more behind it.
     * -1: the connection is beyond use; what is in `out` is still written, then it ends. */
    ptrdiff_t (*input)(struct connection *connection, struct slice bytes);
    /* Where the next bytes of a body may be read to directly, with their number; NULL = nowhere, use `input`. */
    char *(*body_room)(struct connection *connection, size_t *ret_len);
    /* That many bytes were read to there. -1 as with input. */
    int (*body_read)(struct connection *connection, size_t len);
    /* No more bytes will come. -1: nothing is left to do. */
    int (*end)(struct connection *connection);
    /* The exchange has its answer; the protocol puts it into `out`, and frees the exchange when it is through with it. */
    void (*respond)(struct connection *connection, struct exchange *exchange);
    /* `out` has room again. */
    void (*output)(struct connection *connection);
    /* No new requests: those that run are answered, then the connection ends. */
    void (*drain)(struct connection *connection);
    /* The peer was too slow with a head or a body; NULL = nothing is said. The connection ends behind it. */
    void (*timeout)(struct connection *connection);
    /* A reservation that an exchange waited for was granted: go on reading its body. */
    void (*resume)(struct connection *connection, struct exchange *exchange);
    /* Frees what the protocol keeps. The connection's exchanges are let go by connection.c. */
    void (*close)(struct connection *connection);
};
extern const struct protocol http1_protocol, http2_protocol;

/* Switches a connection that has just begun, or been upgraded, to HTTP/2. With an upgrade `settings` is the content of
 * HTTP2-Settings and `exchange` the request that asked for it, which becomes stream 1 (its body is complete); else both
 * are empty; exchange_is_complete is called behind it. 0, or -1: the connection is beyond use. */
MUST_CHECK int http2_open(struct connection *connection, struct slice settings, struct exchange *exchange);
#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum connection_wait {                   /* what a deadline is for */
                       CONNECTION_IDLE,  /* the next request */
                       CONNECTION_HEAD,  /* the rest of a head */
                       CONNECTION_BODY,  /* more of a body */
                       CONNECTION_WORK,  /* the answer of a handler: no deadline */
                       CONNECTION_WRITE, /* the peer to read */
                       CONNECTION_LINGER /* the peer to stop sending, so that it sees the last answer */
};

struct connection {
    struct loop *loop;
    int fd;
    const struct transport *transport;
    const struct protocol *protocol; /* NULL until the first bytes chose one */
    void *state;                     /* of the protocol */
    struct event readable, writable;
    struct buffer in;             /* read, but not yet taken by the protocol */
    struct buffer out;            /* to be written */
    struct buffer tail;           /* behind it: the body of an answer, which was not copied for that */
    size_t out_sent;              /* bytes of the two that are written */
    uint64_t answer_bytes;        /* reserved for the answers in them */
    int64_t answer_until_mono_ns; /* when they must have been read; INT64_MAX = there are none */
    struct exchange *exchanges;
    uint32_t n_exchanges;
    enum connection_wait wait;
    int64_t wait_until_mono_ns; /* INT64_MAX = no deadline */
    bool is_paused;             /* does not read: the protocol has enough to do */
    bool has_ended;             /* the peer sends nothing more */
    bool is_closing;            /* ends as soon as `out` is written */
    bool is_draining;
    bool lingers;    /* reads and drops what still comes before it closes */
    bool is_broken;  /* neither reads nor writes any more */
    bool is_pumping; /* the bytes are being moved: whoever comes in between leaves it to that */
    int64_t write_until_mono_ns;
    char peer[EXCHANGE_PEER_BYTES];
    size_t listener;                    /* number of the one that it came by */
    struct connection *previous, *next; /* of its loop */
};

/* --- for protocols --- */

/* A new exchange with an empty request, in the connection's list. NULL when memory runs out. */
MUST_CHECK struct exchange *exchange_new(struct connection *connection);
/* Takes it out of the list and frees it; if a worker has it, when that is through with it. */
void exchange_free(struct exchange *exchange);

/* The head is here: finds the route and judges what the head says. True: read the body, of `body_bytes` (-1 = as long as
 * it comes) and then call exchange_is_complete. False: it is answered already (respond() is still to be called by the
 * protocol); the body, if any, is not wanted. */
MUST_CHECK bool exchange_begin(struct exchange *exchange, int64_t body_bytes);
/* Accounts for `len` more bytes of body, before they are stored. 1: go on. 0: not now; resume() will be called. -1: the
 * body is longer than allowed; the exchange is answered (413) as with exchange_begin. */
MUST_CHECK int exchange_reserve(struct exchange *exchange, size_t len);
/* The whole request is here: it goes to its handler, and respond() will be called, now or later. */
void exchange_is_complete(struct exchange *exchange);
/* The peer has given this one up (a reset stream). */
void exchange_is_gone(struct exchange *exchange);

/* Tells what the connection waits for, which sets its deadline. */
void connection_wait_for(struct connection *connection, enum connection_wait wait);
/* Stops and goes on reading from the socket. */
void connection_pause(struct connection *connection);
void connection_continue(struct connection *connection);
/* Where bytes go that are to be written next. */
struct buffer *connection_out(struct connection *connection);
/* Puts the body of an answer there, with what is reserved for it. The exchange has neither any more. */
void connection_take_body(struct connection *connection, struct exchange *exchange);
/* Something was put into `out`. */
void connection_write(struct connection *connection);
/* Ends it when `out` is written. With `lingers` what the peer still sends is read and dropped for a while, since closing at
 * once could take the answer away from it. */
void connection_end(struct connection *connection, bool lingers);

/* --- between exchange.c, connection.c and loop.c --- */

/* Whose turn a connection's exchanges count as: that of its peer's address. */
uint64_t connection_lane(const struct connection *connection);
/* An exchange that starved has its room. */
void connection_resume(struct exchange *exchange);
/* Bodies were let go: gives room to those who wait for it. */
void exchange_feed_starving(struct loop *loop);
