// SPDX-License-Identifier: Apache-2.0
/* Functions and the calls between them, summed over all paths of a flame tree, as pprof counts them.
 *
 * G1  Self is what was spent in the function itself; total is that of all samples in which it appears, each counted
 *     once however often it recurs in the stack.
 * G2  A call's value is that of all samples in which the caller stands right above the callee, likewise counted once.
 *     A function that calls itself directly has no call for it.
 * G3  An inlined function is a function like any other; the call into it is marked.
 *
 * Shares: pprof shows a function as a part of flame->magnitudes, and a call as a part of the total of the function
 * under which it is listed. */
#pragma once

#include "flame/flame.h"

enum {
    GRAPH_IS_INLINED = 1,        /* of a call: always inlined. Of a function: all calls to it are */
    GRAPH_IS_PARTLY_INLINED = 2, /* of a function: some of the calls to it are always inlined, others not */
};

struct graph {
    uint32_t n_functions, n_calls, n_columns;

    uint32_t *symbols; /* [function] ids in the set of the tree */
    uint8_t *flags;
    int64_t *self;        /* [column * n_functions + function] */
    int64_t *total;       /* likewise */
    double *self_counts;  /* likewise: raw samples; meaningless where the tree has none */
    double *total_counts; /* likewise */

    struct graph_call {
        uint32_t caller, callee; /* functions */
        uint32_t flags;
    } * calls;
    int64_t *call_values; /* [column * n_calls + call] */

    /* The calls into function f are callers[caller_starts[f] .. caller_starts[f + 1]), those out of it likewise: by
     * value, largest absolute value first, then by name. */
    uint32_t *callers, *caller_starts;
    uint32_t *callees, *callee_starts;

    const struct flame *flame; /* for names, totals, and what is known of counts */
    struct report report;
    struct arena arena;
};

/* Sums up a tree, which must not be inverted and must outlive the graph. A trimmed tree gives the graph of what is left
 * of it. Calls are ordered by `column`. Errors: ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int graph_new(const struct flame *flame, uint32_t column, struct graph **ret_graph, struct error *err);
/* An empty graph, all zero, of functions and calls that are filled in: for code that finds them elsewhere. `flame` gives names,
 * totals and what is known of counts; it may hold less than the functions, but has their symbols, and outlives the graph. */
MUST_CHECK int graph_new_empty(const struct flame *flame, uint32_t n_functions, uint32_t n_calls,
                               struct graph **ret_graph, struct error *err);
/* Then fills in callers, callees, and the flags of functions, by the calls that are there. Errors: ERR_MEMORY. */
MUST_CHECK int graph_group_calls(struct graph *graph, uint32_t column, struct error *err);
void graph_free(struct graph *graph);
void graph_freep(struct graph **graph);

static inline int64_t graph_self(const struct graph *graph, uint32_t column, uint32_t function)
{
    return graph->self[(size_t)column * graph->n_functions + function];
}

static inline int64_t graph_total(const struct graph *graph, uint32_t column, uint32_t function)
{
    return graph->total[(size_t)column * graph->n_functions + function];
}

static inline int64_t graph_call_value(const struct graph *graph, uint32_t column, uint32_t call)
{
    return graph->call_values[(size_t)column * graph->n_calls + call];
}

/* Raw samples behind a value; negative = unknown. */
static inline double graph_self_count(const struct graph *graph, uint32_t column, uint32_t function)
{
    return graph->flame->has_counts[column] ? graph->self_counts[(size_t)column * graph->n_functions + function] : -1;
}

static inline double graph_total_count(const struct graph *graph, uint32_t column, uint32_t function)
{
    return graph->flame->has_counts[column] ? graph->total_counts[(size_t)column * graph->n_functions + function] : -1;
}

static inline const struct symbol *graph_symbol(const struct graph *graph, uint32_t function)
{
    return symbolset_get(graph->flame->set, graph->symbols[function]);
}

static inline struct slice graph_name(const struct graph *graph, uint32_t function)
{
    return graph_symbol(graph, function)->text;
}
