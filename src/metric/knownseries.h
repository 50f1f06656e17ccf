// SPDX-License-Identifier: Apache-2.0
/* Which series a tenant has on a day, for some days and tenants: so that writing needs no look at the disk. Those that were
 * asked for longest ago are forgotten first. */
#pragma once

#include "base/map.h"
#include "base/slice.h"

#define KNOWNSERIES_MAX_SETS   64u
#define KNOWNSERIES_MAX_SERIES 200000u /* of all sets; about 5 MB */

struct knownseries_set {
    int64_t day_ns;
    struct slice tenant; /* its own copy */
    struct map numbers;
    uint64_t used; /* when it was last asked for */
};
struct knownseries {
    struct knownseries_set sets[KNOWNSERIES_MAX_SETS];
    uint32_t n;
    uint64_t clock;
};

void knownseries_init(struct knownseries *known);
void knownseries_done(struct knownseries *known);
/* Forgets everything. */
void knownseries_clear(struct knownseries *known);

/* The set of a day and tenant, or NULL. Valid until the next call of knownseries_make. */
struct knownseries_set *knownseries_find(struct knownseries *known, int64_t day_ns, struct slice tenant);
/* An empty one, which must not be there yet, of at most `max_series`; others make room. Errors: ERR_MEMORY. */
MUST_CHECK int knownseries_make(struct knownseries *known, int64_t day_ns, struct slice tenant, uint32_t max_series,
                                struct knownseries_set **ret_set, struct error *err);
/* Forgets one. */
void knownseries_forget(struct knownseries *known, struct knownseries_set *set);

static inline bool knownseries_has(const struct knownseries_set *set, uint64_t number)
{
    return map_find(&set->numbers, number) != NULL;
}
/* Errors: ERR_LIMIT (max_series), ERR_MEMORY. */
MUST_CHECK int knownseries_add(struct knownseries_set *set, uint64_t number, struct error *err);
