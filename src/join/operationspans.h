// SPDX-License-Identifier: Apache-2.0
/* The spans of an operation of a service in a range of time, and the slowest of them against the rest.
 *
 * O1  At most OPERATIONSPANS_MAX are held, and as many as fit, with a set of their ids, into a third of the memory that the
 *     asker has: the newest; `is_cut` says that there were more.
 * O2  The slowest share is exact: so many by their rank, of equal durations the newest first, then by id. Of two or more
 *     spans each side has at least one. */
#pragma once

#include "profile/spanids.h"
#include "trace/tracestore.h"

#define OPERATIONSPANS_MAX 1000000u

struct operationspan {
    uint8_t id[SPAN_ID_BYTES];
    int64_t start_ns, duration_ns;
};
struct operationspans {
    struct operationspan *items;
    size_t n, capacity;
    bool is_cut;
};

struct operationspans_query {
    struct tracestore *traces;
    struct slice tenant, service, operation;
    int64_t from_ns, until_ns;
    uint32_t max; /* 0 = OPERATIONSPANS_MAX; fewer where the asker has little memory */
    struct tracestore_asker asker;
};
/* Reads them, in no order; done with operationspans_done. Errors: those of tracestore_each. Thread: any. */
MUST_CHECK int operationspans_read(const struct operationspans_query *query, struct operationspans *ret_spans,
                                   struct error *err);
void operationspans_done(struct operationspans *spans);

/* Puts the slowest ones first, and says how many of them are the share (more than 0, less than 1) of all. */
size_t operationspans_split(struct operationspans *spans, double share);
/* Adds the ids of the spans from `from` to `until`. Errors: those of spanids_add. */
MUST_CHECK int operationspans_ids(const struct operationspans *spans, size_t from, size_t until, struct spanids *ids,
                                  struct error *err);
