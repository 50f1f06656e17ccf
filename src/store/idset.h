// SPDX-License-Identifier: Apache-2.0
/* A set of ids that says of each how many smaller ones there are: dictionary ids become places in a table, without
 * sorting.
 *
 * Pages of bits, found by a small hash table; ids are dense, so few pages hold many. First ids are added, then the set
 * is frozen, then it is asked. */
#pragma once

#include "base/arena.h"

struct idset_page;

struct idset {
    struct arena *arena;
    struct idset_page **slots; /* open addressing, by the page's number */
    uint32_t mask;             /* slots - 1 */
    uint32_t n_pages;
    uint32_t n; /* ids, once frozen */
};

/* An empty set whose memory comes from `arena`; freed with it. Thread: one at a time; a frozen set: any. */
void idset_init(struct idset *set, struct arena *arena);
/* Adds `id`; 0, which is no id, is left out. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int idset_add(struct idset *set, uint32_t id, struct error *err);
/* Counts, and gives all ids, rising, in the arena. Nothing may be added afterwards. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int idset_freeze(struct idset *set, uint32_t **ret_ids, struct error *err);
/* The place of `id`, which must be 0 or in the frozen set: 0 for 0, 1 for the smallest id, n for the largest. */
uint32_t idset_place(const struct idset *set, uint32_t id);
