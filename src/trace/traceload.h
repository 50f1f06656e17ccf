// SPDX-License-Identifier: Apache-2.0
/* All spans of some traces, from wherever they are: many traces at once, so that each block is read once. */
#pragma once

#include "base/vec.h"
#include "trace/tracemerge.h"
#include "trace/traceplace.h"
#include "trace/traceread.h"

/* A trace, and the range in which its spans start. */
struct traceload_wish {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    int64_t from_ns, until_ns;
    const struct traceplace *place;    /* of a span that is found in any case, also beyond max_spans; NULL = none */
    bool has_place;                    /* it was found */
    VEC(struct tracemerge_item) items; /* what was found: each once, by start */
    bool is_cut;                       /* there are more */
};
void traceload_wish_done(struct traceload_wish *wish);

struct traceload_how {
    const struct tracestore_filter *filter; /* says which are taken; NULL = all */
    bool is_whole;                          /* with attributes, events and so on */
    size_t max_spans;                       /* of a trace; before those that come twice are left out */
    size_t max_bytes;                       /* of the arena, for what is added */
};
/* Finds the spans of the wishes, which are of different traces; spans come from `arena`. Errors: ERR_LIMIT naming max_bytes,
 * ERR_MEMORY, those of the asker, kv.h. */
MUST_CHECK int traceload_run(struct traceread *read, struct traceload_wish *wishes, size_t n,
                             const struct traceload_how *how, struct arena *arena, struct error *err);
