// SPDX-License-Identifier: Apache-2.0
/* What making an answer of sums may take: an amount of memory, and time as long as somebody wants it. Counted is what grows
 * with the data; whoever takes memory says so first.
 *
 * Thread: one at a time. */
#pragma once

#include "base/patience.h"
#include "base/vec.h"

struct treebudget {
    size_t max_bytes;   /* that may be taken here; 0 = no limit */
    size_t limit_bytes; /* of the whole query, for the error */
    size_t bytes;       /* taken so far */
    struct patience patience;
};

/* ERR_LIMIT: the query takes more than a query may have. Returns -1. */
int treebudget_refuse(size_t limit_bytes, struct error *err);

/* Counts memory that is about to be taken; who gives it back takes it off `bytes`. Errors: ERR_LIMIT naming the limit. */
MUST_CHECK int treebudget_take(struct treebudget *budget, size_t bytes, struct error *err);

/* Appends a zeroed item to a VEC, whose room is counted; NULL on failure. Errors: as treebudget_take, ERR_MEMORY. */
#define TREEBUDGET_PUSH(budget, vec, err)                                                                              \
    (TREEBUDGET_RESERVE((budget), (vec), (err)) < 0                                                                    \
         ? NULL                                                                                                        \
         : (__typeof__((vec)->items))memset(&(vec)->items[(vec)->n++], 0, sizeof(*(vec)->items)))
#define TREEBUDGET_RESERVE(budget, vec, err)                                                                           \
    ((vec)->n < (vec)->capacity ? 0                                                                                    \
                                : treebudget_grow((budget), (void **)&(vec)->items, &(vec)->capacity, (vec)->n,        \
                                                  sizeof(*(vec)->items), (err)))
/* What they call: room for one more item. */
MUST_CHECK int treebudget_grow(struct treebudget *budget, void **items, size_t *capacity, size_t n, size_t item_bytes,
                               struct error *err);
