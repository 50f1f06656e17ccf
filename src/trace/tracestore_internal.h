// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/lock.h"
#include "base/vec.h"
#include "hourly/hourly.h"
#include "trace/traceclose.h"
#include "trace/tracestore.h"

#define TRACESTORE_MAX_WRITERS 16 /* that are kept for the next to use */

struct tracestore_writer; /* what one write needs: a batch and buffers */

struct tracestore {
    struct tracestore_options options;
    struct hourly *hourly;
    struct traceclose closes;
    struct lock_mutex lock;
    struct tracestore_writer *writers[TRACESTORE_MAX_WRITERS]; /* that nobody uses now; guarded by lock */
    size_t n_writers;                                          /* likewise */
};
