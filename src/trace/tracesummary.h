// SPDX-License-Identifier: Apache-2.0
/* What a search tells about a trace it found. */
#pragma once

#include "trace/tracemerge.h"
#include "trace/tracestore.h"

/* Sums up the spans of one trace, from tracemerge_sort: at least one. False in `*ret_is_found` when none of them is taken;
 * texts are borrowed from the spans, the services are of `arena`. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int tracesummary_make(const struct tracemerge_item *items, size_t n, enum tracestore_order order,
                                 struct arena *arena, struct tracestore_found *ret_found, bool *ret_is_found,
                                 struct error *err);
