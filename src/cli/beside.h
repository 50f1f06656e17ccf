// SPDX-License-Identifier: Apache-2.0
/* The traces and metrics beside the profiles of a store, for commands about all that a data directory keeps: copies, checks
 * and numbers. */
#pragma once

#include "cli/storage.h"
#include "hourly/hourly.h"

enum { BESIDE_TRACES, BESIDE_METRICS, BESIDE_N };

struct beside {
    struct tracestore *traces;
    struct metricstore *metrics;
    bool are_lent;
    struct {
        const char *name;      /* "traces", "metrics": of the folder, and in JSON */
        struct hourly *hourly; /* NULL = the server that lends them keeps none */
    } stores[BESIDE_N];
};
/* Opens them for looking, or for changing, which needs a store that is open for changing; a server lends its own. Errors:
 * those of tracestore_open and metricstore_open. */
MUST_CHECK int beside_use(struct command_context *context, const struct storage_config *config, bool is_read_only,
                          struct beside *ret_beside, struct error *err);
/* Takes a zeroed one, too. */
void beside_end(struct beside *beside);

/* Closes all hours. */
MUST_CHECK int beside_compact(struct beside *beside, struct error *err);
/* For store_backup.add, with the beside as context: copies of all days. */
MUST_CHECK int beside_add_to_backup(void *beside, struct store_backup *backup, const char *previous, struct error *err);

/* What they hold. It may take a while: heads are read through. */
struct beside_stats {
    struct beside_part {
        uint32_t n_days;
        uint64_t n_spans; /* of traces */
        uint64_t disk_bytes, head_bytes, block_bytes;
        int64_t first_ns, last_ns; /* 0 = there is nothing */
        uint64_t n_damaged;
    } stores[BESIDE_N]; /* as those of `struct beside` */
};
MUST_CHECK int beside_stats(struct beside *beside, struct beside_stats *ret_stats, struct error *err);

/* Reads and checks everything; findings are told as store_verify does. */
struct beside_verify {
    struct hourly_verify stores[BESIDE_N]; /* as those of `struct beside` */
};
MUST_CHECK int beside_verify(struct beside *beside, const struct store_verify *verify, struct beside_verify *ret_verify,
                             struct error *err);
/* Whether something is damaged. */
bool beside_is_damaged(const struct beside_verify *verify);
