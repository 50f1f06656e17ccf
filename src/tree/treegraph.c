// SPDX-License-Identifier: Apache-2.0
#include "tree/treegraph.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* A function. */
struct tally {
    uint32_t symbol;  /* of the cache */
    uint32_t place;   /* in the answer; NONE = not there */
    bool is_wanted;   /* calls into and out of it are asked for */
    bool is_followed; /* calls into it are looked at, to learn whether they are inlined */
    bool has_inlined_calls, has_plain_calls;
};

/* What it comes to in a column. */
struct sums {
    int64_t self, total;
    double self_count, total_count;
};

struct call {
    uint32_t caller, callee; /* functions */
    uint32_t n_on_path;
    bool is_inlined; /* so far, always */
    int64_t values[TREEORDER_MAX_COLUMNS];
};

/* What stands between the root and a node. */
struct step {
    uint32_t end, function, call;
};

enum { MET_PLAIN = 1, MET_INLINED = 2 };

struct gathering {
    const struct treeorder *order;
    const struct treegraph_options *options;
    uint8_t *marks;         /* [symbol of the cache] MET_... */
    uint32_t *functions_of; /* [symbol of the cache] function, plus one */
    VEC(struct tally) functions;
    struct sums *sums[TREEORDER_MAX_COLUMNS]; /* [capacity of functions] */
    uint32_t n_sums;                          /* that capacity */
    VEC(struct call) calls;
    struct map call_ids; /* caller << 32 | callee */
    struct step path[CALLTREE_MAX_DEPTH + 1];
    uint32_t depth;
    struct pattern_scratch *scratch;
    uint64_t n_saturated;
};

static struct slice name_of(const struct gathering *g, uint32_t function)
{
    return symbolset_get(treecache_symbols(g->order->cache), g->functions.items[function].symbol)->text;
}

/* --- which functions there are --- */

static int grow_sums(struct gathering *g, struct error *err)
{
    uint32_t n = MAX(g->n_sums * 2, 256u);

    if (treebudget_take(g->order->budget, (size_t)(n - g->n_sums) * g->order->n_columns * sizeof(struct sums), err) < 0)
        return -1;
    for (uint32_t i = 0; i < g->order->n_columns; i++) {
        struct sums *bigger = memory_realloc(g->sums[i], n * sizeof(*bigger), err);

        if (!bigger)
            return -1;
        memset(bigger + g->n_sums, 0, (n - g->n_sums) * sizeof(*bigger));
        g->sums[i] = bigger;
    }
    g->n_sums = n;
    return 0;
}

static int add_function(struct gathering *g, uint32_t symbol, struct error *err)
{
    struct tally *function;

    if (g->functions.n == g->n_sums && grow_sums(g, err) < 0)
        return -1;
    function = TREEBUDGET_PUSH(g->order->budget, &g->functions, err);
    if (!function)
        return -1;
    *function = (struct tally){ .symbol = symbol, .place = NONE };
    g->functions_of[symbol] = (uint32_t)g->functions.n;
    if (!g->options->pattern)
        return 0;
    return pattern_test(g->options->pattern, g->scratch, name_of(g, (uint32_t)g->functions.n - 1), &function->is_wanted,
                        err);
}

static int start(struct gathering *g, struct arena *arena, struct error *err)
{
    size_t n_symbols = treecache_symbols(g->order->cache)->symbols.n;

    if (treebudget_take(g->order->budget, n_symbols * (sizeof(*g->marks) + sizeof(*g->functions_of)), err) < 0)
        return -1;
    g->marks = arena_alloc_zero(arena, n_symbols, err);
    g->functions_of = g->marks ? arena_alloc_zero(arena, n_symbols * sizeof(*g->functions_of), err) : NULL;
    if (!g->functions_of || (g->options->pattern && pattern_scratch_new(&g->scratch, err) < 0))
        return -1;
    return grow_sums(g, err);
}

/* --- walks --- */

static void leave(struct gathering *g)
{
    const struct step *step = &g->path[--g->depth];

    if (step->call != NONE)
        g->calls.items[step->call].n_on_path--;
}

static bool is_followed(const struct gathering *g, uint32_t caller, uint32_t callee)
{
    const struct tally *functions = g->functions.items;

    return caller != NONE && caller != callee &&
           (functions[callee].is_followed || functions[callee].is_wanted || functions[caller].is_wanted);
}

static int find_call(struct gathering *g, uint32_t caller, uint32_t callee, uint32_t *ret_call, struct error *err)
{
    struct call *call;

    if (TREEBUDGET_RESERVE(g->order->budget, &g->calls, err) < 0 ||
        map_add(&g->call_ids, (uint64_t)caller << 32 | callee, (uint32_t)g->calls.n, ret_call, err) < 0)
        return -1;
    if (*ret_call == g->calls.n) {
        /* Its place in the map: half of the slots are free. */
        if (treebudget_take(g->order->budget, 2 * sizeof(struct map_slot), err) < 0)
            return -1;
        call = &g->calls.items[g->calls.n++];
        *call = (struct call){ .caller = caller, .callee = callee, .is_inlined = true };
    }
    return 0;
}

static int count_call(struct gathering *g, const struct treeorder_tree *tree, uint32_t node, int64_t total,
                      uint32_t caller, uint32_t callee, uint32_t *ret_call, struct error *err)
{
    struct call *call;

    if (find_call(g, caller, callee, ret_call, err) < 0)
        return -1;
    call = &g->calls.items[*ret_call];
    if (call->n_on_path++ == 0) {
        call->is_inlined &= tree->calls->keys[node] & 1;
        call->values[tree->column] = value_add(call->values[tree->column], total, &g->n_saturated);
    }
    return 0;
}

/* The function of a node, which has values. */
static inline int function_of(struct gathering *g, uint32_t symbol, uint32_t *ret_function, struct error *err)
{
    if (UNLIKELY(!g->functions_of[symbol]) && add_function(g, symbol, err) < 0)
        return -1;
    *ret_function = g->functions_of[symbol] - 1;
    return 0;
}

/* Adds up one tree. A function that recurs counts at the first node of a path, of which the call tree knows; so there is no
 * path to keep, and this is a plain loop. */
static int count_tree(struct gathering *g, const struct treeorder_tree *tree, struct error *err)
{
    const struct calltree *calls = tree->calls;

    for (uint32_t node = 1, next; node < calls->n_nodes; node = next) {
        uint32_t key = calls->keys[node], function;
        int64_t total = treeorder_total(tree, node);
        struct sums *sums;

        next = calls->ends[node];
        if (!treeorder_has_values(tree, node, total))
            continue;
        if (function_of(g, key / 2, &function, err) < 0)
            return -1;
        g->marks[key / 2] |= key & 1 ? MET_INLINED : MET_PLAIN;
        sums = &g->sums[tree->column][function];
        if (!calltree_is_recursive(calls, node)) {
            sums->total = value_add(sums->total, total, &g->n_saturated);
            sums->total_count += treeorder_count_between(tree, node, next);
        }
        if (calltree_first(calls, node + 1) > calltree_first(calls, node)) {
            sums->self = value_add(sums->self, treeorder_value_between(tree, node, node + 1), &g->n_saturated);
            sums->self_count += treeorder_count_between(tree, node, node + 1);
        }
        next = node + 1;
    }
    return 0;
}

/* Follows the calls of one tree, with the path to the node at hand. */
static int follow_tree(struct gathering *g, const struct treeorder_tree *tree, struct error *err)
{
    const struct calltree *calls = tree->calls;

    for (uint32_t node = 1, next; node < calls->n_nodes; node = next) {
        int64_t total = treeorder_total(tree, node);
        uint32_t function, call = NONE, caller;

        next = calls->ends[node];
        if (!treeorder_has_values(tree, node, total))
            continue;
        while (g->depth && node >= g->path[g->depth - 1].end)
            leave(g);
        function = g->functions_of[calls->keys[node] / 2] - 1;
        caller = g->depth ? g->path[g->depth - 1].function : NONE;
        if (is_followed(g, caller, function) && count_call(g, tree, node, total, caller, function, &call, err) < 0)
            return -1;
        g->path[g->depth++] = (struct step){ next, function, call };
        next = node + 1;
    }
    while (g->depth)
        leave(g);
    return 0;
}

static int count_functions(struct gathering *g, struct error *err)
{
    for (uint32_t i = 0; i < g->order->n_trees; i++)
        if (patience_check(&g->order->budget->patience, err) < 0 || count_tree(g, &g->order->trees[i], err) < 0)
            return -1;
    return 0;
}

static int count_calls(struct gathering *g, struct error *err)
{
    for (uint32_t i = 0; i < g->order->n_trees; i++)
        if (patience_check(&g->order->budget->patience, err) < 0 || follow_tree(g, &g->order->trees[i], err) < 0)
            return -1;
    return 0;
}

/* --- which of them are listed --- */

static int by_size(int64_t x, int64_t y)
{
    return flame_magnitude(x) > flame_magnitude(y) ? -1 : flame_magnitude(x) < flame_magnitude(y);
}

/* The order of top.h. */
static int compare(const void *left, const void *right, void *context)
{
    const struct gathering *g = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    const struct sums *a = &g->sums[0][x], *b = &g->sums[0][y];
    int by_self = by_size(a->self, b->self), by_total = by_size(a->total, b->total);
    int first = g->options->order == TOP_BY_SELF ? by_self : by_total, by_name;

    if (first)
        return first;
    by_name = slice_compare(name_of(g, x), name_of(g, y));
    if (by_name)
        return by_name;
    if (by_self || by_total)
        return by_self ? by_self : by_total;
    return x < y ? -1 : x > y;
}

static void sift_down(struct gathering *g, uint32_t *heap, uint32_t n, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1, kept = heap[at];

        if (child + 1 < n && compare(&heap[child + 1], &heap[child], g) > 0)
            child++;
        if (child >= n || compare(&heap[child], &kept, g) <= 0)
            return;
        heap[at] = heap[child];
        heap[child] = kept;
        at = child;
    }
}

/* Brings the first `n` to the front, as a heap with the last of them on top. */
static void select_first(struct gathering *g, uint32_t *list, uint32_t n_all, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(g, list, n, i);
    for (uint32_t i = n; i < n_all; i++)
        if (compare(&list[i], &list[0], g) < 0) {
            uint32_t last = list[0];

            list[0] = list[i];
            list[i] = last;
            sift_down(g, list, n, 0);
        }
}

static bool is_listed(const struct gathering *g, uint32_t function)
{
    if (g->options->pattern && !g->functions.items[function].is_wanted)
        return false;
    for (uint32_t i = 0; i < g->order->n_columns; i++)
        if (g->sums[i][function].self || g->sums[i][function].total)
            return true;
    return false;
}

/* All functions that can be listed, the `*ret_n` first of them in front and in order. */
static int choose(struct gathering *g, struct arena *arena, uint32_t **ret_list, uint32_t *ret_n, uint32_t *ret_n_all,
                  struct error *err)
{
    uint32_t *list = ARENA_ARRAY(arena, uint32_t, g->functions.n, err), n = 0, n_all = 0;

    if (!list)
        return -1;
    for (uint32_t i = 0; i < g->functions.n; i++)
        if (is_listed(g, i))
            list[n_all++] = i;
    n = g->options->n ? MIN(g->options->n, n_all) : n_all;
    if (n < n_all)
        select_first(g, list, n_all, n);
    if (!g->options->is_plain)
        qsort_r(list, n, sizeof(*list), compare, g);
    *ret_list = list;
    *ret_n = n;
    *ret_n_all = n_all;
    return 0;
}

/* Finds the calls that are asked for, and whether all calls to the listed functions are inlined, or some of them. A function
 * that is always inlined, or never, is so in each of its calls: only of the others the calls must be looked at. */
static int find_calls(struct gathering *g, const uint32_t *list, uint32_t n, struct error *err)
{
    bool has_followed = g->options->pattern;

    for (uint32_t i = 0; i < n; i++) {
        struct tally *function = &g->functions.items[list[i]];

        function->has_inlined_calls = g->marks[function->symbol] == MET_INLINED;
        function->is_followed = g->marks[function->symbol] == (MET_PLAIN | MET_INLINED);
        has_followed |= function->is_followed;
    }
    if (has_followed && count_calls(g, err) < 0)
        return -1;
    for (size_t i = 0; i < g->calls.n; i++) {
        struct tally *callee = &g->functions.items[g->calls.items[i].callee];

        callee->has_inlined_calls |= g->calls.items[i].is_inlined;
        callee->has_plain_calls |= !g->calls.items[i].is_inlined;
    }
    return 0;
}

/* --- the answer --- */

/* Whether a call is part of it: others were followed to learn what is inlined. */
static bool is_shown(const struct gathering *g, const struct call *call)
{
    return g->functions.items[call->caller].is_wanted || g->functions.items[call->callee].is_wanted;
}

/* Gives the functions at the other ends of shown calls a place behind those that are listed. */
static int add_ends(struct gathering *g, struct arena *arena, uint32_t **list, uint32_t *n, uint32_t *ret_n_calls,
                    struct error *err)
{
    uint32_t *all = ARENA_ARRAY(arena, uint32_t, g->functions.n, err), n_calls = 0;

    if (!all)
        return -1;
    for (uint32_t i = 0; i < *n; i++) {
        all[i] = (*list)[i];
        g->functions.items[all[i]].place = i;
    }
    for (size_t i = 0; i < g->calls.n; i++) {
        const struct call *call = &g->calls.items[i];
        const uint32_t ends[] = { call->caller, call->callee };

        if (!is_shown(g, call))
            continue;
        n_calls++;
        for (size_t k = 0; k < ARRAY_LEN(ends); k++)
            if (g->functions.items[ends[k]].place == NONE) {
                g->functions.items[ends[k]].place = *n;
                all[(*n)++] = ends[k];
            }
    }
    *list = all;
    *ret_n_calls = n_calls;
    return 0;
}

static int put_function(const struct gathering *g, struct flame *flame, struct graph *graph, uint32_t place,
                        uint32_t function, struct error *err)
{
    if (symbolset_add_copy(flame->set, treecache_symbols(g->order->cache), g->functions.items[function].symbol,
                           &graph->symbols[place], err) < 0)
        return -1;
    for (uint32_t i = 0; i < graph->n_columns; i++) {
        const struct sums *sums = &g->sums[i][function];
        size_t to = (size_t)i * graph->n_functions + place;

        graph->self[to] = sums->self;
        graph->total[to] = sums->total;
        graph->self_counts[to] = sums->self_count;
        graph->total_counts[to] = sums->total_count;
    }
    return 0;
}

static void put_calls(const struct gathering *g, struct graph *graph)
{
    uint32_t at = 0;

    for (size_t i = 0; i < g->calls.n; i++) {
        const struct call *call = &g->calls.items[i];

        if (!is_shown(g, call))
            continue;
        graph->calls[at] =
            (struct graph_call){ g->functions.items[call->caller].place, g->functions.items[call->callee].place,
                                 call->is_inlined ? GRAPH_IS_INLINED : 0 };
        for (uint32_t k = 0; k < graph->n_columns; k++)
            graph->call_values[(size_t)k * graph->n_calls + at] = call->values[k];
        at++;
    }
}

/* What a function and a call take in a graph, its name included, and besides a function of each column. */
#define FUNCTION_BYTES (sizeof(struct symbol) + 128)
#define CALL_BYTES     (sizeof(struct graph_call) + 2 * sizeof(uint32_t))
#define COLUMN_BYTES   (2 * sizeof(int64_t) + 2 * sizeof(double))

static int make_graph(struct gathering *g, struct flame *flame, const uint32_t *list, uint32_t n, uint32_t n_calls,
                      struct graph **ret_graph, struct error *err)
{
    AUTO(graph_freep) struct graph *graph = NULL;
    size_t bytes = n * (FUNCTION_BYTES + g->order->n_columns * COLUMN_BYTES) +
                   n_calls * (CALL_BYTES + g->order->n_columns * sizeof(int64_t));

    if (treebudget_take(g->order->budget, bytes, err) < 0)
        return -1;
    if (graph_new_empty(flame, n, n_calls, &graph, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (put_function(g, flame, graph, i, list[i], err) < 0)
            return -1;
    put_calls(g, graph);
    if (graph_group_calls(graph, 0, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct tally *function = &g->functions.items[list[i]];

        graph->flags[i] = !function->has_inlined_calls ? 0
                          : function->has_plain_calls  ? GRAPH_IS_PARTLY_INLINED
                                                       : GRAPH_IS_INLINED;
    }
    if (g->n_saturated)
        report_add(&graph->report, "a sum went past 64 bits and stays at the edge", g->n_saturated,
                   "while adding up functions");
    *ret_graph = TAKE(graph);
    return 0;
}

static int make_top(struct gathering *g, struct flame *flame, struct arena *scratch, struct top **ret_top,
                    struct error *err)
{
    AUTO(top_freep) struct top *top = MEMORY_NEW(struct top, err);
    uint32_t *list, n, n_all, n_calls, n_functions;

    if (!top || treebudget_take(g->order->budget, 2 * g->functions.n * sizeof(*list), err) < 0 ||
        choose(g, scratch, &list, &n, &n_all, err) < 0 || (!g->options->is_plain && find_calls(g, list, n, err) < 0))
        return -1;
    top->n_more = n_all - n;
    for (uint32_t i = n; i < n_all; i++)
        top->more_self = value_add(top->more_self, g->sums[0][list[i]].self, &g->n_saturated);
    n_functions = n;
    if (add_ends(g, scratch, &list, &n_functions, &n_calls, err) < 0 ||
        make_graph(g, flame, list, n_functions, n_calls, &top->graph, err) < 0)
        return -1;
    top->n = n;
    top->functions = ARENA_ARRAY(&top->graph->arena, uint32_t, n, err);
    if (!top->functions)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        top->functions[i] = i;
    *ret_top = TAKE(top);
    return 0;
}

int treegraph_new(const struct treeorder *order, const struct treegraph_options *options, struct flame *flame,
                  struct top **ret_top, struct error *err)
{
    struct gathering *g = MEMORY_NEW(struct gathering, err);
    size_t before_bytes = order->budget->bytes;
    struct arena scratch;
    int result;

    if (!g)
        return -1;
    g->order = order;
    g->options = options;
    map_init(&g->call_ids, 0);
    arena_init(&scratch, 0);
    result = start(g, &scratch, err);
    if (!result)
        result = count_functions(g, err);
    if (!result)
        result = make_top(g, flame, &scratch, ret_top, err);
    arena_done(&scratch);
    map_done(&g->call_ids);
    VEC_DONE(&g->functions);
    VEC_DONE(&g->calls);
    for (uint32_t i = 0; i < order->n_columns; i++)
        memory_free(g->sums[i]);
    pattern_scratch_free(g->scratch);
    memory_free(g);
    order->budget->bytes = before_bytes; /* the answer is made */
    return result;
}
