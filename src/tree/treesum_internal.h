// SPDX-License-Identifier: Apache-2.0
/* What treesum.c, which adds up, and treeorder.c, which puts the sums in order, share. */
#pragma once

#include "tree/querycolumns.h"
#include "tree/treesum.h"

/* The sums of one group, by stack of its call tree. */
struct treesum_tree {
    struct hash128 key;
    struct treecache_tree *tree;
    struct querycolumns columns;
    uint32_t n; /* stacks there is room for */
    int64_t *values;
    double *counts; /* NULL where raw samples are not known */
    double *levels; /* NULL unless weighted */
};

/* A value whose stack the tree does not have yet. */
struct treesum_pending {
    uint32_t id;
    uint32_t tree; /* place */
    int64_t value;
    double count, level;
};

struct treesum {
    struct treesum_options options;
    struct treesum_facts facts;
    struct names *names;
    VEC(struct treesum_tree) trees;
    VEC(struct treesum_pending) pending; /* of the dictionary at hand */
    uint32_t *stacks;                    /* scratch: of the sums that come now */
    uint32_t n_stacks;
    size_t bytes;
    uint64_t n_saturated;
    bool has_negative;
};
