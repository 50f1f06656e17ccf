// SPDX-License-Identifier: Apache-2.0
/* A workload to look at: the threads of a small online shop that serve made-up requests. Its functions do real work on real
 * data, and which of them are hot is known: parsing orders, ranking products, hashing passwords, rendering carts.
 *
 * Threads sleep between requests, so that all of them together use the share of a processor that was asked for. While they
 * serve, their samples have the label `endpoint` (framesampler.h). */
#pragma once

#include "base/error.h"

#define SHOP_MAX_THREADS 64

struct shop_options {
    uint32_t n_threads; /* 1 to SHOP_MAX_THREADS */
    double cpu_share;   /* of one processor, for all threads together; above 0 */
};

struct shop;
/* Opens the shop. Errors: ERR_MEMORY, ERR_IO. Thread: the owner, as for the next. */
MUST_CHECK int shop_start(const struct shop_options *options, struct shop **ret_shop, struct error *err);
/* Serves what was begun and closes. Accepts NULL. */
void shop_stop(struct shop *shop);

/* Requests served so far. Thread: any. */
uint64_t shop_served(const struct shop *shop);
