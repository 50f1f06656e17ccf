// SPDX-License-Identifier: Apache-2.0
#include "flame/graph.h"

#include "base/map.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* A walk over the tree. What lies between the root and the current node is the path; functions and calls that are on it
 * already are not counted again (G1, G2). */
struct walk {
    const struct flame *flame;
    struct graph *graph;
    uint32_t *functions; /* [symbol] its function, or NONE */
    uint32_t *function_on_path;
    struct map call_ids; /* caller << 32 | callee */
    VEC(struct graph_call) calls;
    VEC(int64_t) call_values; /* [call * n_columns + column] */
    VEC(uint32_t) call_on_path;
    struct path_node {
        uint32_t function, call;
    } * path;        /* [depth], the root's entry unused */
    uint32_t path_n; /* depth of the current node + 1 */
    uint64_t saturated;
};

static void leave(struct walk *w)
{
    const struct path_node *node = &w->path[--w->path_n];

    if (node->function != NONE)
        w->function_on_path[node->function]--;
    if (node->call != NONE)
        w->call_on_path.items[node->call]--;
}

static void add(struct walk *w, int64_t *sum, int64_t value)
{
    *sum = value_add(*sum, value, &w->saturated);
}

static void count_function(struct walk *w, uint32_t node, uint32_t function)
{
    struct graph *g = w->graph;
    bool is_first = w->function_on_path[function]++ == 0;

    for (uint32_t column = 0; column < g->n_columns; column++) {
        size_t to = (size_t)column * g->n_functions + function;
        size_t from = (size_t)column * w->flame->n_nodes + node;

        add(w, &g->self[to], w->flame->self[from]);
        if (is_first)
            add(w, &g->total[to], w->flame->total[from]);
        if (w->flame->self_counts) {
            g->self_counts[to] += w->flame->self_counts[from];
            g->total_counts[to] += is_first ? w->flame->total_counts[from] : 0;
        }
    }
}

/* The call from one function to another, added if new. */
static int find_call(struct walk *w, uint32_t caller, uint32_t callee, uint32_t *ret_call, struct error *err)
{
    struct graph_call *call;
    uint32_t n_columns = w->graph->n_columns;

    if (map_add(&w->call_ids, (uint64_t)caller << 32 | callee, (uint32_t)w->calls.n, ret_call, err) < 0)
        return -1;
    if (*ret_call < w->calls.n)
        return 0;
    if (VEC_RESERVE(&w->call_values, n_columns, SIZE_MAX, err) < 0 || !VEC_PUSH(&w->call_on_path, SIZE_MAX, err))
        return -1;
    memset(w->call_values.items + w->call_values.n, 0, n_columns * sizeof(*w->call_values.items));
    w->call_values.n += n_columns;
    call = VEC_PUSH(&w->calls, SIZE_MAX, err);
    if (!call)
        return -1;
    *call = (struct graph_call){ caller, callee, GRAPH_IS_INLINED };
    return 0;
}

static void count_call(struct walk *w, uint32_t node, uint32_t call)
{
    uint32_t n_columns = w->graph->n_columns;

    if (w->call_on_path.items[call]++ > 0)
        return;
    if (!(w->flame->flags[node] & FLAME_IS_INLINED))
        w->calls.items[call].flags &= ~(uint32_t)GRAPH_IS_INLINED;
    for (uint32_t column = 0; column < n_columns; column++)
        add(w, &w->call_values.items[(size_t)call * n_columns + column], flame_total(w->flame, column, node));
}

static int enter(struct walk *w, uint32_t node, struct error *err)
{
    uint32_t symbol = w->flame->symbols[node];
    struct path_node *here = &w->path[w->path_n++];
    uint32_t caller = here[-1].function;

    *here = (struct path_node){ NONE, NONE };
    if (symbol == FLAME_OTHER)
        return 0;
    if (caller != NONE && caller != w->functions[symbol]) {
        uint32_t call;

        if (find_call(w, caller, w->functions[symbol], &call, err) < 0)
            return -1;
        count_call(w, node, call);
        here->call = call;
    }
    here->function = w->functions[symbol];
    count_function(w, node, here->function);
    return 0;
}

static int walk(struct walk *w, struct error *err)
{
    w->path[0] = (struct path_node){ NONE, NONE };
    w->path_n = 1;
    for (uint32_t node = 1; node < w->flame->n_nodes; node++) {
        while (w->path_n > w->flame->depths[node])
            leave(w);
        if (enter(w, node, err) < 0)
            return -1;
    }
    return 0;
}

/* --- room --- */

/* Numbers the functions by symbol and makes room for them. */
static int number_functions(struct walk *w, struct arena *scratch, struct error *err)
{
    const struct flame *flame = w->flame;
    struct graph *g = w->graph;
    size_t n_symbols = flame->set->symbols.n;
    uint32_t deepest = 0;

    w->functions = ARENA_ARRAY(scratch, uint32_t, n_symbols, err);
    if (!w->functions)
        return -1;
    memset(w->functions, 0xff, n_symbols * sizeof(*w->functions));
    for (uint32_t node = 1; node < flame->n_nodes; node++) {
        deepest = MAX(deepest, flame->depths[node]);
        if (flame->symbols[node] != FLAME_OTHER)
            w->functions[flame->symbols[node]] = 0;
    }
    for (size_t symbol = 0; symbol < n_symbols; symbol++)
        if (w->functions[symbol] != NONE)
            w->functions[symbol] = g->n_functions++;
    w->path = ARENA_ARRAY(scratch, struct path_node, (size_t)deepest + 1, err);
    w->function_on_path = arena_alloc_zero(scratch, g->n_functions * sizeof(uint32_t), err);
    g->symbols = ARENA_ARRAY(&g->arena, uint32_t, g->n_functions, err);
    if (!w->path || !w->function_on_path || !g->symbols)
        return -1;
    for (uint32_t symbol = 0; symbol < n_symbols; symbol++)
        if (w->functions[symbol] != NONE)
            g->symbols[w->functions[symbol]] = symbol;
    return 0;
}

static int make_room(struct graph *g, struct error *err)
{
    size_t size = (size_t)g->n_functions * g->n_columns * sizeof(int64_t); /* no more than the tree's own columns */

    g->flags = arena_alloc_zero(&g->arena, g->n_functions, err);
    g->self = arena_alloc_zero(&g->arena, size, err);
    g->total = arena_alloc_zero(&g->arena, size, err);
    g->self_counts = arena_alloc_zero(&g->arena, size, err);
    g->total_counts = arena_alloc_zero(&g->arena, size, err);
    return g->flags && g->self && g->total && g->self_counts && g->total_counts ? 0 : -1;
}

static int make_room_for_calls(struct graph *g, struct error *err)
{
    g->calls = ARENA_ARRAY(&g->arena, struct graph_call, g->n_calls, err);
    g->call_values = ARENA_ARRAY(&g->arena, int64_t, (size_t)g->n_calls * g->n_columns, err);
    return g->calls && g->call_values ? 0 : -1;
}

/* --- calls, when all are known --- */

struct call_order {
    const struct graph *graph;
    uint32_t column;
};

static int compare_names(const struct graph *g, uint32_t x, uint32_t y)
{
    int order = slice_compare(graph_name(g, x), graph_name(g, y));

    return order ? order : x < y ? -1 : x > y;
}

static int compare_calls(const void *left, const void *right, void *context)
{
    const struct call_order *by = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    uint64_t x_size = flame_magnitude(graph_call_value(by->graph, by->column, x));
    uint64_t y_size = flame_magnitude(graph_call_value(by->graph, by->column, y));
    int order;

    if (x_size != y_size)
        return x_size > y_size ? -1 : 1;
    order = compare_names(by->graph, by->graph->calls[x].caller, by->graph->calls[y].caller);
    return order ? order : compare_names(by->graph, by->graph->calls[x].callee, by->graph->calls[y].callee);
}

/* Groups the calls by caller or by callee: a counting sort, then each group by value. */
static int group_calls(struct graph *g, bool by_caller, uint32_t column, uint32_t **ret_calls, uint32_t **ret_starts,
                       struct error *err)
{
    struct call_order order = { g, column };
    uint32_t *calls = ARENA_ARRAY(&g->arena, uint32_t, g->n_calls, err);
    uint32_t *starts = arena_alloc_zero(&g->arena, ((size_t)g->n_functions + 2) * sizeof(*starts), err);

    if (!calls || !starts)
        return -1;
    /* starts[f + 2] counts; summed up, starts[f + 1] is where f's group begins, and filling it moves it to its end. */
    for (uint32_t i = 0; i < g->n_calls; i++)
        starts[(by_caller ? g->calls[i].caller : g->calls[i].callee) + 2]++;
    for (uint32_t f = 0; f < g->n_functions; f++)
        starts[f + 2] += starts[f + 1];
    for (uint32_t i = 0; i < g->n_calls; i++)
        calls[starts[(by_caller ? g->calls[i].caller : g->calls[i].callee) + 1]++] = i;
    for (uint32_t f = 0; f < g->n_functions; f++)
        if (starts[f + 1] - starts[f] > 1)
            qsort_r(calls + starts[f], starts[f + 1] - starts[f], sizeof(*calls), compare_calls, &order);
    *ret_calls = calls;
    *ret_starts = starts;
    return 0;
}

static void mark_inlined(struct graph *g)
{
    for (uint32_t f = 0; f < g->n_functions; f++) {
        bool has_inlined = false, has_plain = false;

        for (uint32_t i = g->caller_starts[f]; i < g->caller_starts[f + 1]; i++) {
            bool is_inlined = g->calls[g->callers[i]].flags & GRAPH_IS_INLINED;

            has_inlined |= is_inlined;
            has_plain |= !is_inlined;
        }
        if (has_inlined)
            g->flags[f] = has_plain ? GRAPH_IS_PARTLY_INLINED : GRAPH_IS_INLINED;
    }
}

int graph_group_calls(struct graph *g, uint32_t column, struct error *err)
{
    if (group_calls(g, false, column, &g->callers, &g->caller_starts, err) < 0 ||
        group_calls(g, true, column, &g->callees, &g->callee_starts, err) < 0)
        return -1;
    mark_inlined(g);
    return 0;
}

static int keep_calls(struct walk *w, uint32_t column, struct error *err)
{
    struct graph *g = w->graph;

    g->n_calls = (uint32_t)w->calls.n;
    if (make_room_for_calls(g, err) < 0)
        return -1;
    for (uint32_t call = 0; call < g->n_calls; call++) {
        g->calls[call] = w->calls.items[call];
        for (uint32_t i = 0; i < g->n_columns; i++)
            g->call_values[(size_t)i * g->n_calls + call] = w->call_values.items[(size_t)call * g->n_columns + i];
    }
    return graph_group_calls(g, column, err);
}

/* --- life --- */

static int build(struct graph *g, uint32_t column, struct error *err)
{
    struct walk w = { .flame = g->flame, .graph = g };
    struct arena scratch;
    int result;

    arena_init(&scratch, 0);
    map_init(&w.call_ids, 0);
    result = number_functions(&w, &scratch, err) < 0 || make_room(g, err) < 0 || walk(&w, err) < 0 ||
                     keep_calls(&w, column, err) < 0
                 ? -1
                 : 0;
    if (w.saturated)
        report_add(&g->report, "a sum went past 64 bits and stays at the edge", w.saturated, "while adding up calls");
    map_done(&w.call_ids);
    VEC_DONE(&w.calls);
    VEC_DONE(&w.call_values);
    VEC_DONE(&w.call_on_path);
    arena_done(&scratch);
    return result;
}

static struct graph *begin(const struct flame *flame, struct error *err)
{
    struct graph *graph = MEMORY_NEW(struct graph, err);

    if (!graph)
        return NULL;
    arena_init(&graph->arena, 0);
    graph->flame = flame;
    graph->n_columns = flame->n_columns;
    return graph;
}

int graph_new(const struct flame *flame, uint32_t column, struct graph **ret_graph, struct error *err)
{
    AUTO(graph_freep) struct graph *graph = begin(flame, err);

    ASSERT(!flame->is_inverted && column < flame->n_columns);
    if (!graph || build(graph, column, err) < 0)
        return -1;
    *ret_graph = TAKE(graph);
    return 0;
}

int graph_new_empty(const struct flame *flame, uint32_t n_functions, uint32_t n_calls, struct graph **ret_graph,
                    struct error *err)
{
    AUTO(graph_freep) struct graph *graph = begin(flame, err);

    if (!graph)
        return -1;
    graph->n_functions = n_functions;
    graph->n_calls = n_calls;
    graph->symbols = ARENA_ARRAY(&graph->arena, uint32_t, n_functions, err);
    if (!graph->symbols || make_room(graph, err) < 0 || make_room_for_calls(graph, err) < 0)
        return -1;
    *ret_graph = TAKE(graph);
    return 0;
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    arena_done(&graph->arena);
    memory_free(graph);
}

void graph_freep(struct graph **graph)
{
    graph_free(*graph);
}
