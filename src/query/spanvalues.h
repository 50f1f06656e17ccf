// SPDX-License-Identifier: Apache-2.0
/* What spans come to in an answer: the values of the samples that carry their ids, each span once. With a filter by functions,
 * those are the spans in which the functions were seen.
 *
 * V1  A span whose samples come to 0 is none of them: filters by functions take values, not samples (samplefilter.h, X2).
 * V2  As many spans are told apart as the memory of a query allows; `is_cut` says that there were more. */
#pragma once

#include "query/engine.h"

struct spanvalue {
    uint8_t span_id[8];
    int64_t value;
};
struct spanvalues {
    struct spanvalue *items; /* largest first, then by id */
    size_t n;
    bool is_cut; /* here, or at the number that was asked for */
};

/* The largest `max` ones; done with spanvalues_done. Errors: those of engine.h E3, ERR_INVALID for patterns. Thread: any. */
MUST_CHECK int spanvalues_read(struct engine *engine, const struct query *query, size_t max,
                               struct spanvalues *ret_values, struct query_facts *ret_facts, struct error *err);
void spanvalues_done(struct spanvalues *values);
