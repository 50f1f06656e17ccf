// SPDX-License-Identifier: Apache-2.0
/* Which traces of an hour are in more than one of its heads and closings: only their spans can come twice, so whoever gives
 * each span once need not remember all. It takes the memory that the question may take, and where that is little reads the index
 * several times. */
#pragma once

#include "base/vec.h"
#include "trace/traceread.h"

struct traceoften {
    VEC(uint64_t) hashes; /* of traces (traceindex.h), rising */
    bool is_unknown;      /* the index cannot be read whole, or there are too many: any trace may be */
};
void traceoften_done(struct traceoften *often);
/* Finds them; what it knew before is forgotten. Errors: ERR_MEMORY, those of the asker, kv.h. */
MUST_CHECK int traceoften_find(struct traceoften *often, struct traceread *read, const struct hourly_view *view,
                               uint8_t hour, struct error *err);
bool traceoften_has(const struct traceoften *often, const uint8_t trace_id[static SPAN_TRACE_ID_BYTES]);
