// SPDX-License-Identifier: Apache-2.0
/* Those who use the shop: threads that ask it for one thing after the other, each request the root of a trace, and rest so that
 * all processes of the demo together use the share of a processor that was asked for. */
#pragma once

#include "demo/procmetrics.h"
#include "demo/tracer.h"

#define LOADER_MAX_THREADS 64

struct loader_options {
    uint16_t port;      /* of the shop */
    uint32_t n_threads; /* 1 to LOADER_MAX_THREADS */
    double cpu_share;   /* of one processor; above 0 */
    /* The CPU that has been used so far, by everybody who counts. Thread: any. */
    int64_t (*used_ns)(void *context);
    void *context;
    struct tracer *tracer; /* outlives it */
};

struct loader;
/* Errors: ERR_MEMORY, ERR_IO. Thread: the owner, as for the next. */
MUST_CHECK int loader_start(const struct loader_options *options, struct loader **ret_loader, struct error *err);
/* Lets requests that go on end. Accepts NULL. */
void loader_stop(struct loader *loader);

struct loader_counts {
    uint64_t n_served, n_failed; /* requests: answered, and those of them that failed or had no answer */
};
/* Thread: any. */
struct loader_counts loader_counts(const struct loader *loader);
/* Adds them to metrics. `loader` is a struct loader. */
void loader_measure(void *loader, struct procmetrics *metrics);
