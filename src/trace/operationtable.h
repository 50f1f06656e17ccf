// SPDX-License-Identifier: Apache-2.0
/* What the operations of many spans come to: counts, times, and durations in the buckets of spanbuckets.h. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "trace/spanblock.h"
#include "trace/tracestore.h"

struct operationtable_count {
    uint32_t operation, bucket;
    uint64_t n;
};

struct operationtable {
    struct arena *arena;
    struct hash_set known;
    VEC(struct tracestore_operation) operations; /* by the ids of `known` */
    struct map places;                           /* operation << 16 | bucket -> place in `counts` */
    VEC(struct operationtable_count) counts;
    bool is_cut;
};

/* Names are copied into `arena`. Thread: one at a time. */
void operationtable_init(struct operationtable *table, struct arena *arena);
void operationtable_done(struct operationtable *table);
/* Errors: ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int operationtable_add_span(struct operationtable *table, struct slice service, struct slice name,
                                       int64_t duration_ns, bool is_error, struct error *err);
/* All that a block has of an operation. */
MUST_CHECK int operationtable_add_operation(struct operationtable *table, const struct spanblock_operation *operation,
                                            struct error *err);
/* All of them, by service, then most time first; from the arena. The table may not be filled any more. */
MUST_CHECK int operationtable_finish(struct operationtable *table, struct tracestore_operations *ret_operations,
                                     struct error *err);
