// SPDX-License-Identifier: Apache-2.0
/* The rows of a head, once each: as far as possible from what is in memory of an open hour (slotcache.h), and only the
 * rest from the head. Of that rest, the newest rows are found by the list of recent ones (recents.h), the others by
 * seeking. */
#pragma once

#include "store/dayread.h"
#include "store/slotcache.h"

/* A span of a group, of which something may be in memory. */
struct openhour_span {
    const struct slotcache_head *head;
    uint32_t place;  /* of the group, in rowfilter_groups */
    uint32_t group;  /* its id */
    uint32_t number; /* SLOTCACHE_HOUR or the number of a slot */
    int64_t start_ns;
};

struct openhour_sink {
    void *context;
    /* Gives what is in memory of the span, and says of how many steps, from its beginning, no row is wanted any more; rows
     * of them that do not start in the range are not given. Asked for groups alone of which every row in the range is taken,
     * and for spans that the range touches: for the hour so far, and then for the slots it had nothing of. NULL = rows are
     * wanted in any case. */
    int (*span)(void *context, const struct openhour_span *span, uint32_t *ret_n_steps, struct error *err);
    /* A row that starts in the range and matches. */
    int (*row)(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err);
};

/* Gives all rows of head `number` of the view that start in [from_ns, until_ns) and that the query takes. Errors: those of
 * the sink, ERR_MEMORY, ERR_LIMIT, those of kv.h. */
MUST_CHECK int openhour_read(struct dayread *read, size_t number, int64_t from_ns, int64_t until_ns,
                             const struct openhour_sink *sink, struct error *err);
