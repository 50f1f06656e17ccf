// SPDX-License-Identifier: Apache-2.0
/* The threads that run handlers, and the order in which waiting exchanges get to them.
 *
 * W1  Exchanges wait in lanes, which take turns by the bytes they bring: a lane that brings ten times as much as the others
 *     gets no more than they do. Exchanges of one lane run in the order they came.
 * W2  What waits is bounded in number and bytes. When there is no room, the longest lane gives its newest exchange to the
 *     overflow, which may be the one that has just come; so a lane that fills the pool cannot keep others out of it.
 * W3  Overflow has a thread of its own, which takes all that waits for it at once: route->overflow for each, then
 *     `settle` for all of them together, so that a sync to disk can be shared. It is bounded in bytes too; beyond them the
 *     exchange is refused.
 * W4  Every exchange that was taken is given back through `done` exactly once, also when the pool stops.
 * W5  What a peer asked that has gone before its turn came is not run (ROUTE_READ); what it brought is. */
#pragma once

#include "net/exchange.h"

#define POOL_EXCHANGE_BYTES 4096 /* counted beside the body, so that small ones are not free */

struct pool_options {
    const char *name;           /* of its threads, with a number behind; NULL = "worker" */
    uint32_t n_workers;         /* 0 = one for each processor, at least 2 */
    uint32_t first_worker;      /* number of the first; the overflow's is behind that of the last */
    uint64_t max_waiting_bytes; /* of bodies, 0 = 32 MiB */
    uint32_t max_waiting;       /* exchanges, 0 = 4,096 */
    uint32_t turn_bytes;        /* of a lane in one turn, POOL_EXCHANGE_BYTES for each exchange included; 0 = 256 KiB */
    uint64_t max_overflow_bytes; /* 0 = 16 MiB */
    void *context;
    /* The exchange has its answer. Called by workers and by the overflow thread. */
    void (*done)(void *context, struct exchange *exchange);
    /* Behind the overflow calls of `n` exchanges and before they are done; may change their answers. May be NULL. */
    void (*settle)(void *context, struct exchange **exchanges, size_t n);
};

struct pool;
MUST_CHECK int pool_new(const struct pool_options *options, struct pool **ret_pool, struct error *err);
/* Takes nothing more, runs what still waits and ends the threads. What comes later is refused. Accepts NULL. */
void pool_stop(struct pool *pool);
/* Stops it if nobody has yet, and frees everything. Accepts NULL. */
void pool_free(struct pool *pool);

/* Takes an exchange whose route is not NULL. False: there is no room for it, and it is still the caller's. Thread: any. */
MUST_CHECK bool pool_submit(struct pool *pool, struct exchange *exchange);

/* How many workers a pool with these options has. */
uint32_t pool_workers(const struct pool_options *options);

struct pool_counts {
    uint64_t n_waiting, waiting_bytes, overflow_bytes; /* now */
    uint64_t n_run, n_overflowed, n_refused;           /* ever */
};
struct pool_counts pool_counts(struct pool *pool);
