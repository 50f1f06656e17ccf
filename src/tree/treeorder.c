// SPDX-License-Identifier: Apache-2.0
#include "tree/treeorder.h"

#include "base/memory.h"
#include "tree/levels.h"
#include "tree/treesum_internal.h"

/* --- values --- */

static int64_t value_of(const struct treesum_tree *from, uint32_t stack, struct levels_rounding *rounding)
{
    if (stack >= from->n) /* others may have added some that we have no values for */
        return 0;
    return from->levels ? levels_round(rounding, from->levels[stack]) : from->values[stack];
}

static int make_room(struct treeorder *order, const struct treesum *sum, const struct treesum_tree *from,
                     struct treeorder_tree *tree, struct error *err)
{
    size_t n = (size_t)tree->calls->n_indexed + 1;
    size_t bytes = sizeof(*tree->values) + (from->counts ? sizeof(*tree->counts) : 0) +
                   (sum->has_negative ? sizeof(*tree->n_others) : 0);
    struct arena *arena = &order->arena;

    if (patience_check(&order->budget->patience, err) < 0 || treebudget_take(order->budget, n * bytes, err) < 0)
        return -1;
    tree->values = ARENA_ARRAY(arena, uint64_t, n, err);
    if (!tree->values || (from->counts && !(tree->counts = ARENA_ARRAY(arena, double, n, err))) ||
        (sum->has_negative && !(tree->n_others = ARENA_ARRAY(arena, uint32_t, n, err))))
        return -1;
    tree->values[0] = 0;
    if (tree->counts)
        tree->counts[0] = 0;
    if (tree->n_others)
        tree->n_others[0] = 0;
    return 0;
}

/* Adds up along the order, in which also averages are rounded: what stands below a node follows each other. `passes` is NULL
 * where everything does. */
static void add_up(const struct treesum_tree *from, const bool *passes, struct treeorder_tree *tree)
{
    const struct calltree *calls = tree->calls;
    struct levels_rounding rounding = { 0 };

    for (uint32_t i = 0; i < calls->n_indexed; i++) {
        uint32_t stack = calls->order[i];
        bool is_in = !passes || passes[i];
        int64_t value = is_in ? value_of(from, stack, &rounding) : 0;

        tree->values[i + 1] = tree->values[i] + (uint64_t)value;
        if (tree->counts)
            tree->counts[i + 1] = tree->counts[i] + (is_in && stack < from->n ? from->counts[stack] : 0);
        if (tree->n_others)
            tree->n_others[i + 1] = tree->n_others[i] + (value != 0);
    }
}

static uint64_t size_of(const struct treeorder_tree *tree)
{
    uint64_t size = 0;

    if (!tree->n_others)
        return (uint64_t)treeorder_total(tree, 0);
    for (uint32_t i = 0; i < tree->calls->n_indexed; i++)
        if (__builtin_add_overflow(size, flame_magnitude((int64_t)(tree->values[i + 1] - tree->values[i])), &size))
            return UINT64_MAX;
    return size;
}

/* --- filters --- */

enum { IS_FOCUSED = 1, IS_IGNORED = 2 };

/* A walk over one tree from callers to callees. */
struct walk {
    struct treeorder *order;
    const struct treeorder_tree *tree;
    struct functionmatch *focus, *ignore;
    bool *passes; /* [n_indexed] */
    struct walk_step {
        uint32_t end;
        uint8_t marks; /* of all functions from the root to here */
    } path[CALLTREE_MAX_DEPTH + 1];
    uint32_t depth;
    bool depends;
};

/* Ignored functions are not looked at further, as in profile/filter.h. */
static int judge(struct walk *walk, uint32_t symbol, uint8_t *marks, struct error *err)
{
    enum functionmatch_verdict verdict;

    if (walk->ignore->pattern) {
        if (functionmatch_test(walk->ignore, symbol, &verdict, err) < 0)
            return -1;
        walk->order->has_ignored |= verdict != FUNCTIONMATCH_NO;
        walk->depends |= verdict == FUNCTIONMATCH_DEPENDS && !(*marks & IS_IGNORED);
        if (verdict == FUNCTIONMATCH_YES) {
            *marks |= IS_IGNORED;
            return 0;
        }
    }
    verdict = FUNCTIONMATCH_YES;
    if (walk->focus->pattern && functionmatch_test(walk->focus, symbol, &verdict, err) < 0)
        return -1;
    walk->order->has_focused |= verdict != FUNCTIONMATCH_NO;
    walk->depends |= verdict == FUNCTIONMATCH_DEPENDS && !*marks;
    *marks |= verdict == FUNCTIONMATCH_YES ? IS_FOCUSED : 0;
    return 0;
}

/* Finds out which stacks pass. A stack without calls does not: there is nothing that could match. */
static int walk_tree(struct walk *walk, struct error *err)
{
    const struct treeorder_tree *tree = walk->tree;
    const struct calltree *calls = tree->calls;
    size_t n_steps = 0;

    for (uint32_t node = 1, next; node < calls->n_nodes && !walk->depends; node = next) {
        uint8_t marks;

        if (patience_check_at(&walk->order->budget->patience, n_steps++, err) < 0)
            return -1;
        next = calls->ends[node];
        if (!treeorder_has_values(tree, node, treeorder_total(tree, node)))
            continue;
        while (walk->depth && node >= walk->path[walk->depth - 1].end)
            walk->depth--;
        marks = walk->depth ? walk->path[walk->depth - 1].marks : 0;
        if (judge(walk, calls->keys[node] / 2, &marks, err) < 0)
            return -1;
        if (marks == IS_FOCUSED && !walk->ignore->pattern) {
            memset(walk->passes + calltree_first(calls, node), true,
                   calltree_first(calls, next) - calltree_first(calls, node));
            continue;
        }
        if (calltree_first(calls, node + 1) > calltree_first(calls, node))
            walk->passes[calltree_first(calls, node)] = marks == IS_FOCUSED;
        walk->path[walk->depth++] = (struct walk_step){ next, marks };
        next = node + 1;
    }
    return 0;
}

static int filter_tree(struct treeorder *order, const struct treesum_tree *from, struct treeorder_tree *tree,
                       struct functionmatch *focus, struct functionmatch *ignore, bool *ret_depends, struct error *err)
{
    struct walk *walk = MEMORY_NEW(struct walk, err);
    int result = -1;

    if (!walk)
        return -1;
    if (treebudget_take(order->budget, tree->calls->n_indexed, err) < 0) {
        memory_free(walk);
        return -1;
    }
    *walk = (struct walk){ .order = order, .tree = tree, .focus = focus, .ignore = ignore };
    walk->passes = memory_alloc_zero(MAX(tree->calls->n_indexed, 1u) * sizeof(bool), err);
    if (walk->passes)
        result = walk_tree(walk, err);
    if (!result && !walk->depends)
        add_up(from, walk->passes, tree);
    *ret_depends |= walk->depends;
    order->budget->bytes -= tree->calls->n_indexed;
    memory_free(walk->passes);
    memory_free(walk);
    return result;
}

static int filter_trees(struct treeorder *order, struct treesum *const *sums, uint32_t n_sums, bool *ret_depends,
                        struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    const struct symbolset *symbols = treecache_symbols(order->cache);
    const struct symbolplaces *places = treecache_places(order->cache);
    struct functionmatch focus = { order->filter.focus, NULL, "focus", symbols, places, NULL, NULL };
    struct functionmatch ignore = { order->filter.ignore, NULL, "ignore", symbols, places, NULL, NULL };
    struct treeorder_tree *tree = order->trees;

    if (!order->filter.focus && !order->filter.ignore)
        return 0;
    if (pattern_scratch_new(&scratch, err) < 0)
        return -1;
    focus.scratch = ignore.scratch = scratch;
    if (treebudget_take(order->budget, 2 * (symbols->symbols.n + places->strings.n), err) < 0)
        return -1;
    if (functionmatch_start(&focus, &order->arena, err) < 0 || functionmatch_start(&ignore, &order->arena, err) < 0)
        return -1;
    for (uint32_t column = 0; column < n_sums; column++)
        for (size_t i = 0; i < sums[column]->trees.n; i++, tree++)
            if (filter_tree(order, &sums[column]->trees.items[i], tree, &focus, &ignore, ret_depends, err) < 0)
                return -1;
    return 0;
}

void treeorder_report(const struct treeorder *order, struct report *report)
{
    if (order->filter.focus && !order->has_focused)
        report_add(report, "focus matches no frame", 1, "of this answer");
    if (order->filter.ignore && !order->has_ignored)
        report_add(report, "ignore matches no frame", 1, "of this answer");
}

/* --- all of it --- */

static int hold(struct treeorder *order, struct treesum *const *sums, uint32_t n_sums, struct error *err)
{
    struct treecache_tree **trees = memory_alloc((order->n_trees + 1) * sizeof(*trees), err);
    size_t n = 0;

    if (!trees)
        return -1;
    for (uint32_t column = 0; column < n_sums; column++)
        for (size_t i = 0; i < sums[column]->trees.n; i++)
            trees[n++] = sums[column]->trees.items[i].tree;
    order->is_held = treecache_hold(order->cache, trees, n, &order->budget->patience, err) == 0;
    memory_free(trees);
    return order->is_held ? 0 : -1;
}

static int fill_column(struct treeorder *order, const struct treesum *sum, uint32_t column, uint32_t first_tree,
                       struct error *err)
{
    struct treeorder_column *into = &order->columns[column];

    into->has_counts = sum->facts.has_counts;
    order->has_negative |= sum->has_negative;
    order->n_saturated += sum->n_saturated;
    for (size_t i = 0; i < sum->trees.n; i++) {
        const struct treesum_tree *from = &sum->trees.items[i];
        struct treeorder_tree *tree = &order->trees[first_tree + i];

        *tree = (struct treeorder_tree){ .calls = treecache_tree(from->tree),
                                         .column = column,
                                         .divisor = from->columns.divisor };
        if (make_room(order, sum, from, tree, err) < 0)
            return -1;
        add_up(from, NULL, tree);
        into->whole = value_add(into->whole, treeorder_total(tree, 0), &order->n_saturated);
        if (__builtin_add_overflow(into->whole_size, size_of(tree), &into->whole_size))
            into->whole_size = UINT64_MAX;
    }
    return 0;
}

static int fill(struct treeorder *order, struct treesum *const *sums, bool *ret_depends, struct error *err)
{
    uint32_t n_trees = 0;

    order->trees = ARENA_ARRAY(&order->arena, struct treeorder_tree, order->n_trees, err);
    if (!order->trees || hold(order, sums, order->n_columns, err) < 0)
        return -1;
    for (uint32_t column = 0; column < order->n_columns; column++) {
        if (fill_column(order, sums[column], column, n_trees, err) < 0)
            return -1;
        n_trees += (uint32_t)sums[column]->trees.n;
    }
    if (filter_trees(order, sums, order->n_columns, ret_depends, err) < 0)
        return -1;
    for (uint32_t i = 0; i < order->n_trees; i++) {
        struct treeorder_column *column = &order->columns[order->trees[i].column];

        column->total = value_add(column->total, treeorder_total(&order->trees[i], 0), &order->n_saturated);
    }
    return 0;
}

int treeorder_init(struct treeorder *order, struct treesum *const *sums, uint32_t n_sums,
                   const struct treeorder_filter *filter, struct treebudget *budget, bool *ret_depends,
                   struct error *err)
{
    bool depends = false;

    ASSERT(n_sums <= TREEORDER_MAX_COLUMNS);
    *order =
        (struct treeorder){ .cache = sums[0]->options.cache, .budget = budget, .n_columns = n_sums, .filter = *filter };
    arena_init(&order->arena, 0);
    for (uint32_t column = 0; column < n_sums; column++)
        order->n_trees += (uint32_t)sums[column]->trees.n;
    if (fill(order, sums, &depends, err) < 0) {
        treeorder_done(order);
        return -1;
    }
    *ret_depends = depends;
    return 0;
}

void treeorder_done(struct treeorder *order)
{
    if (order->is_held)
        treecache_let_go(order->cache);
    arena_done(&order->arena);
    *order = (struct treeorder){ 0 };
}
