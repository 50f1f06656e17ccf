// SPDX-License-Identifier: Apache-2.0
/* The sums of an answer along the order of their call trees (calltree.h, C3): what stands at or below a node is one
 * difference. From here flame trees (treeflame.h) and tables of functions (treegraph.h) are made.
 *
 * An answer has one column, or two for the two sides of a diff. A column is one treesum, of several trees; the two sides
 * may well have the same call tree.
 *
 * Filters by functions that leave stacks as they are, focus and ignore, are applied here: values of stacks that do not
 * pass are as if they were not there. */
#pragma once

#include "tree/functionmatch.h"
#include "tree/treebudget.h"
#include "tree/treesum.h"

#define TREEORDER_MAX_COLUMNS 2

/* Patterns of focus and ignore; NULL = none. Any thread may share them. */
struct treeorder_filter {
    const struct pattern *focus, *ignore;
};

/* One tree of one column. */
struct treeorder_tree {
    const struct calltree *calls;
    uint32_t column;
    uint64_t *values;   /* [n_indexed + 1]; differences are right even where sums wrap */
    double *counts;     /* likewise; NULL where raw samples are not known */
    uint32_t *n_others; /* likewise, of those that are not 0; NULL if no value is negative: then the values tell it */
    double divisor;
};

struct treeorder_column {
    bool has_counts; /* raw samples are known throughout */
    int64_t whole;   /* of all stacks, also of those that a filter leaves out */
    uint64_t whole_size;
    int64_t total; /* of those that pass */
};

struct treeorder {
    struct treecache *cache;
    struct treebudget *budget; /* of the answer that is made; borrowed */
    struct treeorder_tree *trees;
    uint32_t n_trees;
    struct treeorder_column columns[TREEORDER_MAX_COLUMNS];
    uint32_t n_columns;
    bool has_negative;
    uint64_t n_saturated;
    struct treeorder_filter filter;
    bool has_focused, has_ignored; /* some function of the answer matches */
    bool is_held;
    struct arena arena;
};

/* Puts the sums in order, one for each column, all of one cache, which is held (treecache.h) until treeorder_done.
 * `*ret_depends` is true where names alone do not tell what passes the filter: then the order is of no use. Whoever makes
 * something of the order goes by the same budget. Errors: those of the budget, ERR_MEMORY, those of pattern_test; then
 * nothing is held. Takes a zeroed order, too, to treeorder_done. Thread: one at a
 * time. */
MUST_CHECK int treeorder_init(struct treeorder *order, struct treesum *const *sums, uint32_t n_sums,
                              const struct treeorder_filter *filter, struct treebudget *budget, bool *ret_depends,
                              struct error *err);
void treeorder_done(struct treeorder *order);

/* Tells which patterns matched nothing. */
void treeorder_report(const struct treeorder *order, struct report *report);

/* What the stacks at nodes [from, until) come to. */
static inline int64_t treeorder_value_between(const struct treeorder_tree *tree, uint32_t from, uint32_t until)
{
    return (int64_t)(tree->values[calltree_first(tree->calls, until)] -
                     tree->values[calltree_first(tree->calls, from)]);
}

/* Raw samples behind them. */
static inline double treeorder_count_between(const struct treeorder_tree *tree, uint32_t from, uint32_t until)
{
    if (!tree->counts)
        return 0;
    return (tree->counts[calltree_first(tree->calls, until)] - tree->counts[calltree_first(tree->calls, from)]) /
           tree->divisor;
}

/* The stacks at and below a node. */
static inline int64_t treeorder_total(const struct treeorder_tree *tree, uint32_t node)
{
    return treeorder_value_between(tree, node, tree->calls->ends[node]);
}

/* Whether there are any at or below a node, whose total is known. */
static inline bool treeorder_has_values(const struct treeorder_tree *tree, uint32_t node, int64_t total)
{
    const struct calltree *calls = tree->calls;

    return total || (tree->n_others && tree->n_others[calltree_first(calls, calls->ends[node])] !=
                                           tree->n_others[calltree_first(calls, node)]);
}
