// SPDX-License-Identifier: Apache-2.0
/* A thread with an event base: it accepts connections, owns them, and gets exchanges back from workers. And what loops and
 * connections need of the server they belong to. */
#pragma once

#include "base/thread.h"
#include "net/connection_internal.h"
#include "net/httpserver.h"

#define LOOP_READ_BYTES (64 << 10)

struct loop {
    struct httpserver *server;
    uint32_t number;
    struct thread thread;
    struct event_base *base;
    struct event *wake, *tick;
    struct event *accept[HTTPSERVER_MAX_LISTENERS];
    int wake_fd;
    struct connection *connections;
    _Atomic uint32_t n_connections;
    bool is_draining;
    _Atomic bool is_deaf;
    int64_t accept_again_mono_ns; /* 0 = accepts */
    struct exchange *starving;    /* waiting for room (H1), oldest first */
    char *read_bytes;             /* LOOP_READ_BYTES, shared by its connections */

    struct lock_mutex lock; /* guards what follows */
    struct exchange *finished_first, *finished_last;
    bool wants_drain, wants_stop;
};

MUST_CHECK int loop_start(struct loop *loop, struct httpserver *server, uint32_t number, struct error *err);
/* Asks the loop to take no more: loop_is_deaf tells when it does not listen any more, loop_is_idle when no connection is
 * left. Thread: any. */
void loop_drain(struct loop *loop);
bool loop_is_deaf(struct loop *loop);
bool loop_is_idle(struct loop *loop);
/* Ends the thread and its connections. Exchanges that workers have are told that their peers are gone; they still come
 * back here. */
void loop_stop(struct loop *loop);
/* Frees what is left, when no worker has an exchange any more. */
void loop_done(struct loop *loop);
/* Gives an exchange back to its loop. Thread: any. */
void loop_finish(struct loop *loop, struct exchange *exchange);

/* A connection for a socket that a listener accepted; the socket is closed when that fails. */
void connection_new(struct loop *loop, int fd, size_t listener, const char *peer);
void connection_free(struct connection *connection);
/* Looks at deadlines. */
void connection_tick(struct connection *connection, int64_t now_mono_ns);
/* The worker is through with it. */
void connection_answer(struct exchange *exchange);
void connection_drain(struct connection *connection);

struct httpserver {
    struct httpserver_options options;
    struct loop *loops;
    uint32_t n_loops;
    struct pool *pool, *read_pool;
    struct packer **packers; /* [n_workers]; each is its worker's own, made when it is needed first */
    int listen_fds[HTTPSERVER_MAX_LISTENERS];
    struct address addresses[HTTPSERVER_MAX_LISTENERS];
    size_t n_listen;
    uint32_t n_workers; /* of both pools, with their overflows */
    _Atomic uint64_t inflight_bytes;
    _Atomic uint64_t answer_bytes;
    _Atomic uint64_t starving_bytes; /* of those: held by exchanges that wait for more */
    _Atomic uint64_t n_accepted, n_requests, n_timeouts, n_bad_requests, n_answers_refused;
};

/* An answer was given; `sent_bytes` is that of its body. */
void httpserver_answered(const struct exchange *exchange, uint64_t sent_bytes);

/* H1. */
MUST_CHECK bool httpserver_reserve(struct httpserver *server, uint64_t bytes);
void httpserver_release(struct httpserver *server, uint64_t bytes);

/* H5. */
MUST_CHECK bool httpserver_reserve_answer(struct httpserver *server, uint64_t bytes);
void httpserver_release_answer(struct httpserver *server, uint64_t bytes);
