// SPDX-License-Identifier: Apache-2.0
/* What was promised: a file outside the data directory that says which writes were acknowledged and which deletions,
 * pins and backups were begun and done. Each line is one write(2) to the end of the file, made after the store returned
 * (or before it was called, for what is begun), so that a kill at any moment leaves it true.
 *
 *     s STEP_NS WEIGHT RETENTION_NS              once, first
 *     a THREAD COUNTER                           write acknowledged; counters of a thread rise by one
 *     f THREAD COUNTER                           nameless write given up: it may be there, once
 *     d NUMBER TENANT SHARD FROM_NS UNTIL_NS     deleting begins         D NUMBER   done
 *     k NUMBER TENANT SHARD FROM_NS UNTIL_NS     keeping begins          K NUMBER   done
 *     b NUMBER                                   a backup begins         B NUMBER   done
 *
 * Deletions concern shards 0 to 3, pins shards 4 and 5, and both only windows that no writer will add to. */
#pragma once

#include "base/vec.h"
#include "tests/fault/storm_profile.h"

#define STORM_DELETE_SHARDS 4u
#define STORM_KEEP_SHARDS   2u /* behind those */
#define STORM_MAX_RANGES    100000u

struct storm_range {
    bool is_other_tenant;
    uint32_t shard;
    int64_t from_ns, until_ns;
    bool is_done;
};
struct storm_ranges {
    struct storm_range *items;
    size_t n;
    size_t capacity;
};

/* Writes that were given up. */
struct storm_losses {
    struct storm_loss {
        uint32_t thread, counter;
    } * items;
    size_t n;
    size_t capacity;
};

struct storm_promise {
    int64_t step_ns, retention_ns;
    uint32_t weight;
    uint32_t acknowledged[STORM_MAX_THREADS]; /* writes below it must be there, but for those given up */
    uint32_t begun[STORM_MAX_THREADS];        /* writes below it may be there */
    struct storm_losses losses;
    struct storm_ranges deletes, keeps;
    uint32_t n_backups;   /* begun; numbered from 1 */
    uint32_t last_backup; /* the newest that is done, 0 = none */
};

/* How long the profiles of a thread are kept: those of the other tenant three quarters of the time. */
int64_t storm_ledger_retention(int64_t retention_ns, uint32_t thread);
/* Notes a write that was given up. Errors: ERR_MEMORY. */
MUST_CHECK int storm_promise_lose(struct storm_promise *promise, uint32_t thread, uint32_t counter, struct error *err);

/* What a reader must find of a profile. */
enum storm_fate { STORM_MUST_BE, STORM_MAY_BE, STORM_MUST_NOT_BE };
enum storm_fate storm_ledger_fate(const struct storm_promise *promise, struct storm_id id);

void storm_promise_done(struct storm_promise *promise);
/* A copy, to be done with by itself. Errors: ERR_MEMORY. */
MUST_CHECK int storm_promise_copy(const struct storm_promise *promise, struct storm_promise *ret_copy,
                                  struct error *err);

/* Forgives what the loss of power takes where not every write was synced: any write may be missing, any deletion undone.
 */
void storm_promise_forgive(struct storm_promise *promise);

/* Reads the file. With `backup` other than 0, only what came before that backup began is promised; what came later makes
 * uncertain. A missing file is an empty promise with step_ns 0. Errors: ERR_IO, ERR_CORRUPT. */
MUST_CHECK int storm_ledger_read(const char *path, uint32_t backup, struct storm_promise *ret_promise,
                                 struct error *err);

/* Opens the file for adding; storm_ledger_add ends the process when it cannot. Thread: any. */
MUST_CHECK int storm_ledger_open(const char *path, int *ret_fd, struct error *err);
void storm_ledger_add(int fd, const char *fmt, ...) PRINTF(2, 3);
