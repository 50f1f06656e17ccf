// SPDX-License-Identifier: Apache-2.0
/* A server: listeners, loops, workers, and the routes they serve. All protocols on every listener.
 *
 * H1  Bodies in flight, from their heads to their answers, take at most max_inflight_bytes; beyond them connections wait.
 * H2  A peer that is slow to send a head, to go on with a body or to read an answer is cut off after the timeouts.
 * H3  Stopping closes the listeners first, lets what was begun finish, and then closes the connections.
 * H4  Who asks never keeps anybody from bringing: routes of ROUTE_READ and ROUTE_ADMIN have workers of their own.
 * H5  Answers that their peers have not read yet take at most max_answer_bytes; beyond them there is a refusal in place of
 *     an answer. A peer that is slow to read is cut off (H2), and one that trickles after ten times as long. */
#pragma once

#include "base/address.h"
#include "net/pool.h"
#include "net/route.h"

#define HTTPSERVER_MAX_LISTENERS 16

struct httpserver_options {
    const struct address *listen; /* TCP port 0 = whichever is free */
    size_t n_listen;
    struct route_table routes; /* borrowed */
    void *context;             /* exchange->context of every exchange */
    struct pool_options pool;  /* done and context are the server's own; settle is called with `context` above */
    /* For routes of ROUTE_READ and ROUTE_ADMIN; n_workers 0 = 4, max_waiting 0 = 256. Their numbers are behind the others'. */
    struct pool_options read_pool;
    void (*settle)(void *context, struct exchange **exchanges, size_t n);
    uint32_t n_loops;            /* 0 = one for every two processors */
    uint32_t max_connections;    /* 0 = 16,384; no more than the limit on open files allows */
    uint64_t max_body_bytes;     /* 0 = 64 MiB */
    uint64_t max_inflight_bytes; /* 0 = twice max_body_bytes */
    uint64_t max_answer_bytes;   /* 0 = 256 MiB */
    int64_t head_timeout_ns;     /* for a whole head; 0 = 10 s */
    int64_t body_timeout_ns;     /* without any progress; 0 = 30 s */
    int64_t idle_timeout_ns;     /* between requests; 0 = 2 min */
    int64_t write_timeout_ns;    /* without any progress; 0 = 30 s */
    const char *cors_origin;     /* whose pages may ask: "*" or one origin; NULL = nobody's */
    /* Each answered request, for an access log; called on loops. NULL = nobody listens. */
    void (*answered)(void *context, const struct exchange *exchange, uint64_t sent_bytes, int64_t duration_ns);
};

struct httpserver;
/* Errors: ERR_IO naming the address that cannot be had, and why; ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int httpserver_start(const struct httpserver_options *options, struct httpserver **ret_server,
                                struct error *err);
/* Where listener `i` listens, with the port it got. */
struct address httpserver_address(const struct httpserver *server, size_t i);
/* Takes no more connections and no more requests; returns when all are answered, or after `timeout_ns`. */
void httpserver_drain(struct httpserver *server, int64_t timeout_ns);
/* Ends every connection, tells handlers that their peers are gone, and waits for them. Accepts NULL. */
void httpserver_free(struct httpserver *server);

struct httpserver_counts {
    uint64_t n_connections, inflight_bytes, answer_bytes; /* now */
    uint64_t n_accepted, n_requests, n_timeouts, n_bad_requests;
    uint64_t n_answers_refused; /* H5 */
    struct pool_counts pool, read_pool;
};
struct httpserver_counts httpserver_counts(struct httpserver *server);
