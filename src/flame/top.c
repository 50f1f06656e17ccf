// SPDX-License-Identifier: Apache-2.0
#include "flame/top.h"

#include <stdlib.h>

struct ranking {
    const struct graph *graph;
    enum top_order order;
    uint32_t column;
};

static int compare_descending(int64_t x, int64_t y)
{
    return flame_magnitude(x) > flame_magnitude(y) ? -1 : flame_magnitude(x) < flame_magnitude(y);
}

static int compare_functions(const void *left, const void *right, void *context)
{
    const struct ranking *by = context;
    const struct graph *g = by->graph;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    int by_self = compare_descending(graph_self(g, by->column, x), graph_self(g, by->column, y));
    int by_total = compare_descending(graph_total(g, by->column, x), graph_total(g, by->column, y));
    int by_name;

    if (by->order == TOP_BY_SELF ? by_self : by_total)
        return by->order == TOP_BY_SELF ? by_self : by_total;
    by_name = slice_compare(graph_name(g, x), graph_name(g, y));
    if (by_name)
        return by_name;
    if (by_self || by_total)
        return by_self ? by_self : by_total;
    return x < y ? -1 : x > y;
}

int top_sort(const struct graph *graph, enum top_order order, uint32_t column, struct arena *arena,
             uint32_t **ret_functions, uint32_t *ret_n, struct error *err)
{
    struct ranking ranking = { graph, order, column };
    uint32_t *functions = ARENA_ARRAY(arena, uint32_t, graph->n_functions, err);
    uint32_t n = 0;

    ASSERT(column < graph->n_columns);
    if (!functions)
        return -1;
    for (uint32_t f = 0; f < graph->n_functions; f++)
        if (graph_self(graph, column, f) != 0 || graph_total(graph, column, f) != 0)
            functions[n++] = f;
    qsort_r(functions, n, sizeof(*functions), compare_functions, &ranking);
    *ret_functions = functions;
    *ret_n = n;
    return 0;
}

int top_match(const struct graph *graph, const struct pattern *pattern, struct pattern_scratch *scratch,
              uint32_t *functions, uint32_t *n, struct error *err)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *n; i++) {
        bool is_match;

        if (pattern_test(pattern, scratch, graph_name(graph, functions[i]), &is_match, err) < 0)
            return -1;
        if (is_match)
            functions[kept++] = functions[i];
    }
    *n = kept;
    return 0;
}

int top_new(const struct profile *profile, const uint32_t *types, uint32_t n_types, enum symbol_granularity granularity,
            enum top_order order, struct top **ret_top, struct error *err)
{
    struct flame_options options = { .granularity = granularity };
    AUTO(top_freep) struct top *top = MEMORY_NEW(struct top, err);

    if (!top || flame_new(profile, types, n_types, &options, &top->flame, err) < 0 ||
        graph_new(top->flame, 0, &top->graph, err) < 0 ||
        top_sort(top->graph, order, 0, &top->graph->arena, &top->functions, &top->n, err) < 0)
        return -1;
    *ret_top = TAKE(top);
    return 0;
}

void top_free(struct top *top)
{
    if (!top)
        return;
    graph_free(top->graph);
    flame_free(top->flame);
    memory_free(top);
}

void top_freep(struct top **top)
{
    top_free(*top);
}
