// SPDX-License-Identifier: Apache-2.0
/* Adds up many sums by stack whose ids lie near each other: those of the series of a service, hour after hour.
 *
 * Values are found by the id itself, in pages of 64 ids that are made when one is needed; so adding is one step for each
 * stack, without searching, and the stacks are in order at the end. For few stacks of any id there is rollup_builder.
 *
 * Memory is limited by taking no more: whoever adds hands on what there is, and goes on with the rest. The same where a
 * sum would pass 64 bits, so that nothing is cut here. */
#pragma once

#include "block/rollup.h"

struct stacksum {
    uint32_t n_types;
    size_t max_pages;
    uint32_t first;   /* number of the page that places[0] stands for */
    uint32_t *places; /* [n_places] place of a page in `pages`, and 1; 0 = there is none */
    uint32_t n_places, max_places;
    int64_t *pages; /* one behind the other */
    size_t n_pages, capacity;
};

/* Empty, for sums of n_types types in about `max_bytes` of memory. */
void stacksum_init(struct stacksum *sum, uint32_t n_types, size_t max_bytes);
void stacksum_done(struct stacksum *sum);

/* Adds the sums of the stacks from `*at` on as far as there is room, and sets `*at` behind the last that was taken; one at
 * least, if it was empty. The roll-up has n_types types. Errors: ERR_MEMORY; then `*at` says what was taken. */
MUST_CHECK int stacksum_add(struct stacksum *sum, const struct rollup *rollup, uint32_t *at, struct error *err);
/* The sums so far, from `arena`: stacks rising, and the sums; the other fields of the roll-up but n_types stay as they
 * are. Then it is empty again. Errors: ERR_MEMORY, ERR_LIMIT; then it is as before. */
MUST_CHECK int stacksum_take(struct stacksum *sum, struct arena *arena, struct rollup *rollup, struct error *err);
