// SPDX-License-Identifier: Apache-2.0
/* A storm: writers, readers and everything else that happens to a store, all at once, each promise put into the ledger
 * the moment it is made. With one writer and no readers it all happens in one thread, the same way every time. */
#pragma once

#include "tests/fault/storm_crowd.h"

/* How a run ends: the exit status of storm. */
enum storm_status {
    STORM_FINE = 0,
    STORM_BROKEN = 1,  /* the store broke a promise; said on standard error */
    STORM_USAGE = 2,   /* wrong arguments, or the surroundings do not work */
    STORM_STOPPED = 3, /* the store said that it cannot go on; the reason is on standard error */
};

struct storm_config {
    const char *data_dir;
    const char *ledger_path;
    uint64_t seed;
    uint64_t threads;     /* writers */
    uint64_t readers;     /* threads that read everything, again and again, and compare */
    int64_t duration_ns;  /* real time; 0 = no end */
    uint64_t writes;      /* of each writer in this run; 0 = no end */
    uint64_t resent;      /* acknowledged writes that each writer sends again at the start */
    uint64_t days;        /* simulated days in this run; 0 = no end */
    int64_t step_ns;      /* simulated time between two writes of a writer */
    uint64_t weight;      /* of profiles */
    int64_t retention_ns; /* simulated */
    const char *backups;  /* directory for backups; NULL = none are made */
    const char *ballast;  /* a file to remove when the disk is full; then writing must go on */
    bool is_tolerant;     /* the disk fails on purpose: errors are no breach, and reading may miss things */
    bool has_only_upkeep; /* no deletions, pins, backups ... */
    bool has_only_writes; /* no upkeep either: hours stay open */
    bool has_pins;        /* ranges are kept past retention; they add up */
    bool has_background;  /* the store's own thread does the upkeep */
    unsigned wal_sync;    /* enum store_wal_sync */
    uint64_t memory_limit_bytes;
    uint64_t min_free_bytes;
    struct storm_crowd crowd;
};

/* Runs until an end is reached, or ends the process at once with STORM_BROKEN. */
enum storm_status storm_run(const struct storm_config *config);

/* What both storm and its check open a store with. The other tenant has a shorter retention of its own; it is kept in one
 * place for all. */
struct store_options storm_run_options(const struct storm_config *config, int64_t retention_ns);
