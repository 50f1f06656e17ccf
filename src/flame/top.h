// SPDX-License-Identifier: Apache-2.0
/* The table of functions that cost most. Self, total, the handling of recursion and of inlined functions, the order and
 * the names are those of `go tool pprof -top` (its flat and cum) with nothing trimmed. */
#pragma once

#include "flame/graph.h"
#include "profile/pattern.h"

enum top_order {
    TOP_BY_SELF,  /* largest absolute self first, then by name, then by total */
    TOP_BY_TOTAL, /* largest absolute total first, then by name, then by self */
};

/* Lists the functions of `graph` in order: `*ret_functions` has `*ret_n` of them, in `arena`. Functions that are zero
 * in `column`, self and total, are left out. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int top_sort(const struct graph *graph, enum top_order order, uint32_t column, struct arena *arena,
                        uint32_t **ret_functions, uint32_t *ret_n, struct error *err);

/* Keeps only the functions whose name matches, in their order. Errors: those of pattern_test; the list is then
 * unusable. */
MUST_CHECK int top_match(const struct graph *graph, const struct pattern *pattern, struct pattern_scratch *scratch,
                         uint32_t *functions, uint32_t *n, struct error *err);

/* All of it at once: the top functions of one profile, with the tree and the graph behind them. Column i holds
 * types[i]; column 0 decides the order. */
struct top {
    struct flame *flame;
    struct graph *graph;
    uint32_t *functions; /* of the graph, in order */
    uint32_t n;
    uint32_t n_more;   /* functions that are not in the list; 0 where it is whole */
    int64_t more_self; /* what they come to themselves, in column 0 */
};

MUST_CHECK int top_new(const struct profile *profile, const uint32_t *types, uint32_t n_types,
                       enum symbol_granularity granularity, enum top_order order, struct top **ret_top,
                       struct error *err);
void top_free(struct top *top);
void top_freep(struct top **top);
