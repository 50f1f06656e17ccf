// SPDX-License-Identifier: Apache-2.0
/* Flame trees of sums in order: several call trees become one, their roots one root, and children of one node that have
 * the same symbol one child.
 *
 * The heaviest nodes are taken first, so a tree of a few thousand nodes costs as much as these, however many there are:
 * a child is never heavier than its parent. What is left out below a node becomes its child "other"; totals are exact.
 * Of two columns, the weight of a node is the larger one of its two shares, and siblings are ordered by both values
 * together. */
#pragma once

#include "flame/flame.h"
#include "tree/treeorder.h"

struct treeflame_options {
    uint32_t max_nodes; /* at most so many, the root included and "other" nodes not; 0 = all */
    double min_share;   /* of all that passes the filter: lighter nodes may be left out; 0 = none */
    /* Names of functions, from the root: the tree begins at the node that they lead to. */
    const struct slice *path;
    uint32_t n_path;
};

/* Makes the tree; columns are those of the order. Errors: ERR_NOT_FOUND where no calls go along the path, saying how far
 * they do; ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int treeflame_new(const struct treeorder *order, const struct treeflame_options *options,
                             struct flame **ret_flame, struct error *err);
