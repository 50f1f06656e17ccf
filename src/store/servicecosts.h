// SPDX-License-Identifier: Apache-2.0
/* What services cost: bytes, rows and samples of each, added up over the days of a store. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/slice.h"
#include "base/vec.h"

#define SERVICECOSTS_MAX 100000u

struct servicecost {
    struct slice tenant, service;
    uint64_t bytes; /* of keys and values, before files are compressed: of rows, closed hours and roll-ups */
    uint64_t n_rows, n_samples;
    int64_t first_ns, last_ns; /* starts of windows; 0 without any */
};

/* Adds numbers and times up; names stay. */
void servicecost_add(struct servicecost *sum, const struct servicecost *part);

struct servicecosts {
    VEC(struct servicecost) items;
    struct servicecost others; /* of services beyond SERVICECOSTS_MAX; without names */
    struct hash_set hashes;
    struct arena names;
};

/* Allocates nothing yet. Thread: one at a time. */
void servicecosts_init(struct servicecosts *costs);
void servicecosts_done(struct servicecosts *costs);

/* Adds to what is known of the service; names are copied. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int servicecosts_add(struct servicecosts *costs, const struct servicecost *part, struct error *err);
/* Puts those that cost most first; equal ones by tenant and name. Nothing can be added afterwards. */
void servicecosts_sort(struct servicecosts *costs);
