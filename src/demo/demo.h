// SPDX-License-Identifier: Apache-2.0
/* The demo: a small online shop of several services, which loads itself and sends spans, metrics and profiles to a server.
 * Each service is a process of its own (crew.h); the one that calls this is `web`, which uses the shop. */
#pragma once

#include "demo/outbox.h"

#define DEMO_MAX_THREADS 64

struct demo_options {
    uint32_t n_threads;       /* of each service, and of those who use the shop; 1 to DEMO_MAX_THREADS */
    double cpu_share;         /* of one processor, for all together; above 0 */
    int64_t version_every_ns; /* how long each release of the shop runs; 0 = the first for ever */
    int64_t duration_ns;      /* 0 = until a signal comes */
    uint32_t n_fleet;         /* hosts that are not there (fleet.h); 0 = none */
    /* The server. Processes other than the first tell nothing. */
    struct outbox_world world;
};

/* Runs until a signal (SIGINT, SIGTERM, SIGHUP) or the end of its time. The caller has no other threads. In the processes that it
 * makes it returns 0 when they are over, with `*ret_is_first` false: they then end as programs do. Errors: ERR_MEMORY, ERR_IO
 * naming the service that ended or did not start. */
MUST_CHECK int demo_run(const struct demo_options *options, bool *ret_is_first, struct error *err);
