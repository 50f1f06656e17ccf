// SPDX-License-Identifier: Apache-2.0
/* What an open day has in memory, read from its database: counters, tenants, markers, heads and tombstones.
 *
 * L1  Nobody knows what a day holds without these, so an ordinary opening fails with ERR_CORRUPT where one of them cannot
 *     be read.
 * L2  A day that is recovering (day->is_recovering) takes what can be read, and works out the rest (recover.h): nothing
 *     that is there is hidden because something else is not. */
#pragma once

#include "store/day.h"

enum {
    DAYLOAD_MAX_MARKERS = 1 << 20,
    DAYLOAD_MAX_TOMBSTONES = 1 << 16,
};

/* Reads them all. day->kv is open. Errors: ERR_CORRUPT (L1), ERR_VERSION, ERR_MEMORY, those of kv.h. */
MUST_CHECK int dayload(struct day *day, struct error *err);

/* Calls `take` for each key of a family that begins with `prefix`. Where the day is recovering, damage is passed by,
 * that which `take` finds too; it is counted in day->n_lost and called `what`. */
MUST_CHECK int dayload_each(struct day *day, uint32_t family, struct slice prefix, const char *what,
                            int (*take)(void *context, struct slice key, struct slice value, struct error *err),
                            void *context, struct error *err);
