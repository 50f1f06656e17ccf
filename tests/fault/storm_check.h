// SPDX-License-Identifier: Apache-2.0
/* Reads a whole store back and compares it with what was promised: every acknowledged profile is there exactly once,
 * with its exact totals, stacks, names, labels and links; nothing is there that was deleted or never written. */
#pragma once

#include "store/store.h"
#include "tests/fault/storm_ledger.h"

#define STORM_MAX_DAMAGED_DAYS 8u

/* Days that were damaged on purpose: some of their profiles may be missing, and names too, but what is there is right. */
struct storm_damage {
    bool is_everywhere;                      /* every day */
    int64_t days_ns[STORM_MAX_DAMAGED_DAYS]; /* starts */
    uint32_t n;
    uint32_t min_percent; /* of the profiles that must be in these days are there, at least in part */
};

struct storm_found;
/* Reads everything into `*ret_found`. Errors: those of store_scan; ERR_CORRUPT for a row that no writer made. */
MUST_CHECK int storm_check_read(struct store *store, const struct storm_damage *damage, struct storm_found **ret_found,
                                struct error *err);
void storm_found_free(struct storm_found *found);
void storm_found_freep(struct storm_found **found);

/* Errors: ERR_CORRUPT naming the first profile that is wrong and how many are. `damage` may be NULL. */
MUST_CHECK int storm_check_compare(const struct storm_found *found, const struct storm_promise *promise,
                                   const struct storm_damage *damage, struct error *err);
/* How many profiles were found. */
size_t storm_found_count(const struct storm_found *found);
