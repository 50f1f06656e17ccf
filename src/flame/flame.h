// SPDX-License-Identifier: Apache-2.0
/* The flame tree of one or several profiles: every path of calls once, with what it cost.
 *
 * F1  Nodes are in depth-first order, callers before callees, siblings by total (largest absolute value first, then by
 *     name). Node 0 is the root; the subtree of node i is [i, ends[i]). So a plain loop over the nodes is a walk, the
 *     first child of i is i + 1 if that is below ends[i], and the next sibling of c is ends[c] if that is below the end
 *     of their parent.
 * F2  For every node, total = self + the totals of its children, and the root's total is the sum of all values. Only
 *     sums that saturate break this, and the report counts them.
 * F3  A sample that is zero in all columns leaves no trace. One without frames is the root's own.
 * F4  A column is one value type of one side; columns are filled one by one, so a tree may hold several types, or the
 *     two sides of a diff.
 *
 * A frame whose calls were inlined gives one node per function. The root stands for the whole; the other nodes are
 * symbols, made as fine as asked for. */
#pragma once

#include "flame/noise.h"
#include "profile/symbolset.h"

#define FLAME_ROOT  UINT32_MAX       /* as a symbol: the root */
#define FLAME_OTHER (UINT32_MAX - 1) /* as a symbol: what a trim cut away below the parent */

#define FLAME_MAX_COLUMNS 128
#define FLAME_MAX_NODES   (8u << 20) /* unless the options say otherwise */

enum {
    FLAME_IS_INLINED = 1,        /* was inlined into its caller wherever it was met */
    FLAME_IS_PARTLY_INLINED = 2, /* in some samples it was, in others not */
    FLAME_IS_OTHER = 4,          /* stands for all that was cut below its parent (trim.h) */
};

struct flame_options {
    enum symbol_granularity granularity;
    bool is_inverted;         /* leaves become roots: who calls this */
    bool collapses_recursion; /* a function that calls itself directly is one node */
    bool is_ordered_by_all;   /* siblings by the sum over all columns instead of the first one alone */
    uint32_t max_nodes;       /* 0 = FLAME_MAX_NODES; samples on further paths are added up in a node "[overflow]" */
};

struct flame {
    uint32_t n_nodes;
    uint32_t n_columns;
    uint32_t *parents; /* of the root: itself */
    uint32_t *symbols; /* ids in the set, FLAME_ROOT or FLAME_OTHER */
    uint32_t *ends;
    uint32_t *depths; /* of the root: 0 */
    uint8_t *flags;
    int64_t *self;         /* [column * n_nodes + node] */
    int64_t *total;        /* likewise */
    double *self_counts;   /* likewise: raw samples behind `self`. NULL if they are unknown in all columns */
    double *total_counts;  /* likewise */
    bool *has_counts;      /* [column] whether its counts are known; those of an empty profile are: 0 */
    int64_t *magnitudes;   /* [column] sum of the absolute values of all samples: what shares are shares of */
    struct symbolset *set; /* the tree's own, or of the tree that a trimmed one was made from */
    struct report report;  /* what saturated or overflowed */

    bool is_inverted;
    bool owns_set;
    struct arena arena;
};

/* A tree under construction. */
struct flame_builder;

/* Begins a tree of `n_columns` (1 to FLAME_MAX_COLUMNS). `options` may be NULL. Errors: ERR_MEMORY. Thread: one at a
 * time. */
MUST_CHECK int flame_builder_new(const struct flame_options *options, uint32_t n_columns,
                                 struct flame_builder **ret_builder, struct error *err);
void flame_builder_free(struct flame_builder *builder);
void flame_builder_freep(struct flame_builder **builder);
/* Adds the samples of `profile`: the values of types[i] go to column first_column + i. The profile is not kept. To add
 * up many profiles, merge them first: that is by stack, this is by path. Errors: ERR_MEMORY, ERR_LIMIT; the builder can
 * then only be freed. */
MUST_CHECK int flame_builder_add(struct flame_builder *builder, const struct profile *profile, const uint32_t *types,
                                 uint32_t n_types, uint32_t first_column, struct error *err);
/* Makes the tree. The builder can only be freed afterwards. Errors: ERR_MEMORY. */
MUST_CHECK int flame_builder_finish(struct flame_builder *builder, struct flame **ret_flame, struct error *err);

/* The three steps at once, for one profile: column i holds types[i], of which there is at least one. */
MUST_CHECK int flame_new(const struct profile *profile, const uint32_t *types, uint32_t n_types,
                         const struct flame_options *options, struct flame **ret_flame, struct error *err);
/* Whether there were more paths than max_nodes allowed, so that some are in the node "[overflow]". */
bool flame_has_overflow(const struct flame *flame);
void flame_free(struct flame *flame);
void flame_freep(struct flame **flame);

static inline int64_t flame_self(const struct flame *flame, uint32_t column, uint32_t node)
{
    return flame->self[(size_t)column * flame->n_nodes + node];
}

static inline int64_t flame_total(const struct flame *flame, uint32_t column, uint32_t node)
{
    return flame->total[(size_t)column * flame->n_nodes + node];
}

/* The absolute value; that of INT64_MIN fits, too. */
static inline uint64_t flame_magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Raw samples behind a total or a self value; negative = unknown. */
static inline double flame_total_count(const struct flame *flame, uint32_t column, uint32_t node)
{
    return flame->has_counts[column] ? flame->total_counts[(size_t)column * flame->n_nodes + node] : -1;
}

static inline double flame_self_count(const struct flame *flame, uint32_t column, uint32_t node)
{
    return flame->has_counts[column] ? flame->self_counts[(size_t)column * flame->n_nodes + node] : -1;
}

/* Name of a node: "root", "other", or that of its symbol. */
struct slice flame_name(const struct flame *flame, uint32_t node);
/* What is known of a node's symbol, or NULL for the root and for others. */
const struct symbol *flame_symbol(const struct flame *flame, uint32_t node);

/* Walks the children of a node: the first, and the next behind `child`; 0 when there is none. */
static inline uint32_t flame_first_child(const struct flame *flame, uint32_t node)
{
    return node + 1 < flame->ends[node] ? node + 1 : 0;
}

static inline uint32_t flame_next_child(const struct flame *flame, uint32_t child)
{
    return flame->ends[child] < flame->ends[flame->parents[child]] ? flame->ends[child] : 0;
}

/* The child of `node` called `name`, or 0. Several calls of it follow a path, so that a part can be asked for again. */
uint32_t flame_find_child(const struct flame *flame, uint32_t node, struct slice name);

/* The node to which names lead from the root. Errors: ERR_NOT_FOUND, saying how far they do. */
MUST_CHECK int flame_find_path(const struct flame *flame, const struct slice *path, uint32_t n_path, uint32_t *ret_node,
                               struct error *err);
/* That error, for whoever follows paths in another way: path[at] is not there. Returns -1. */
int flame_no_such_path(const struct slice *path, uint32_t at, struct error *err);

/* An empty tree of `n_nodes`, all zero, that uses `set` without owning it: for code that derives trees. */
MUST_CHECK int flame_new_empty(uint32_t n_nodes, uint32_t n_columns, bool has_counts, struct symbolset *set,
                               struct flame **ret_flame, struct error *err);
