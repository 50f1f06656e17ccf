// SPDX-License-Identifier: Apache-2.0
/* Spans that were read from several places, as the traces they make: what comes twice (tracestore.h, T2) stands there once. */
#pragma once

#include "trace/span.h"

struct tracemerge_item {
    const struct span *span;
    bool is_taken; /* by a filter: it, or another that is the same */
};

/* The order of spans of all traces: by trace id, start, span id and kind, then by what else tells them apart. 0 = they are the
 * same. */
int tracemerge_compare(const struct span *a, const struct span *b);
/* Sorts, and leaves out what comes twice. Returns how many are left. */
size_t tracemerge_sort(struct tracemerge_item *items, size_t n);
