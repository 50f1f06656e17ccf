// SPDX-License-Identifier: Apache-2.0
/* One number for memory, divided over everything that needs some. */
#pragma once

#include "base/base.h"

#define BUDGET_MIN_BYTES ((uint64_t)32 << 20) /* less is taken as this */

struct budget {
    uint64_t total_bytes;
    uint64_t cache_bytes;    /* RocksDB's blocks */
    uint64_t memtable_bytes; /* of each of the days that are written to */
    uint64_t hash_bytes;     /* what writers know of tenants: stack hashes, series */
    uint64_t idcache_bytes;  /* of each of the days that are written to */
    uint64_t close_bytes;    /* closing an hour */
    uint64_t read_bytes;     /* of a reader */
    uint64_t sum_bytes;      /* sums of closed hours that were asked for */
    uint64_t slot_bytes;     /* roll-ups and windows of open hours, and lists of their newest rows */
};

/* How many days are open for writing at a time, usually: today and yesterday. */
#define BUDGET_WRITABLE_DAYS 2

/* min(1 GiB, a quarter of what the cgroup allows, or of the machine's memory). */
uint64_t budget_default_bytes(void);
/* `total_bytes` 0 = the default. */
struct budget budget_divide(uint64_t total_bytes);
