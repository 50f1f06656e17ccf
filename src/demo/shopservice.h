// SPDX-License-Identifier: Apache-2.0
/* One service of the demo: an HTTP server whose handlers do tasks (shopwork.h), call other services, and leave spans.
 *
 *      shop        /checkout    reads the order, reserves, charges, writes the receipt
 *                  /payment     charges
 *                  /inventory   ranks
 *                  /report      builds a report, which is slow
 *      payment     /charge      hashes a card; one in SHOPSERVICE_FAILS fails
 *      inventory   /reserve     under a lock that an audit holds now and then
 *                  /rank
 *      report      /build       waits for a warehouse, and remembers what it should forget, up to a bound
 *
 * While a handler works, samples of its thread have the label `endpoint`, and are linked to its innermost span. */
#pragma once

#include "demo/procmetrics.h"
#include "demo/tracer.h"
#include "demo/truth.h"

#define SHOPSERVICE_MAX_THREADS  64
#define SHOPSERVICE_FAILS        20
#define SHOPSERVICE_MEMORY_BYTES ((size_t)64 << 20)  /* what a report remembers at most */
#define SHOPSERVICE_REMEMBERS    ((size_t)256 << 10) /* of each */

struct shopservice_options {
    enum truth_service service;
    uint16_t ports[TRUTH_SERVICES]; /* of the services that it calls */
    uint32_t n_threads;             /* 1 to SHOPSERVICE_MAX_THREADS */
    struct releases releases;
    struct tracer *tracer; /* outlives it */
};

struct shopservice;
/* Listens on a free port of loopback. Errors: ERR_MEMORY, ERR_IO. Thread: the owner, as for the next. */
MUST_CHECK int shopservice_start(const struct shopservice_options *options, struct shopservice **ret_service,
                                 struct error *err);
/* Serves what was begun and ends. Accepts NULL. */
void shopservice_stop(struct shopservice *service);

uint16_t shopservice_port(const struct shopservice *service);
/* Requests served so far. Thread: any. */
uint64_t shopservice_served(const struct shopservice *service);
/* Adds requests, failures, their durations, the queue and what is remembered. `service` is a struct shopservice. Thread: one
 * at a time. */
void shopservice_measure(void *service, struct procmetrics *metrics);
