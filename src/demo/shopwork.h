// SPDX-License-Identifier: Apache-2.0
/* What the services of the demo spend their CPU on: tasks, whose costs are known.
 *
 * All work is done by one small loop over one page of memory, which is inlined into functions with telling names, so many
 * rounds in each. A unit is the same number of rounds everywhere: whatever the machine, the compiler or a sanitizer make of
 * it, each function's share of the CPU is its share of the units.
 *
 * Functions are kept apart for the profile's sake; their results are returned so that nobody can leave them out. */
#pragma once

#include "base/base.h"

#define SHOPWORK_PAGE_WORDS 512
#define SHOPWORK_UNIT_PAGES 2000 /* of a unit: about two milliseconds */

enum shopwork_task {
    SHOPWORK_READ_ORDER, /* of /checkout */
    SHOPWORK_CHECK_ORDER,
    SHOPWORK_COMPUTE_PRICE,
    SHOPWORK_RENDER_RECEIPT,
    SHOPWORK_READ_PAYMENT, /* of /payment */
    SHOPWORK_SIGN_PAYMENT,
    SHOPWORK_RENDER_LIST,   /* of /inventory */
    SHOPWORK_RENDER_REPORT, /* of /report */
    SHOPWORK_CHECK_CARD,    /* of the service payment */
    SHOPWORK_HASH_CARD,
    SHOPWORK_RESERVE_STOCK, /* of the service inventory */
    SHOPWORK_RANK_PRODUCTS,
    SHOPWORK_AGGREGATE_ROWS, /* of the service report */
    SHOPWORK_FORMAT_REPORT,
};
#define SHOPWORK_TASKS (SHOPWORK_FORMAT_REPORT + 1)

/* A function of a task, and what it costs by itself. The functions of a task are listed as they call each other: each behind
 * its caller, which stands one level above. */
struct shopwork_function {
    const char *name;
    uint32_t level; /* of the task's own function: 0 */
    uint32_t units;
};
#define SHOPWORK_MAX_FUNCTIONS 4

struct shopwork_info {
    const char *span; /* what a span around it is called: "read order" */
    struct shopwork_function functions[SHOPWORK_MAX_FUNCTIONS];
    uint32_t n_functions;
};
const struct shopwork_info *shopwork_info(enum shopwork_task task);

/* What a task works with. Thread: one at a time. */
struct shopwork {
    uint64_t state;
    uint64_t n_units; /* spent so far */
    uint64_t page[SHOPWORK_PAGE_WORDS];
};
void shopwork_init(struct shopwork *work, uint64_t seed);
/* Does a task; the result depends on all that was done. */
uint64_t shopwork_do(struct shopwork *work, enum shopwork_task task);
