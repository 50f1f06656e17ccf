// SPDX-License-Identifier: Apache-2.0
/* The calls of one group of series (a service), across days: every stack that was asked for once is known by its path of
 * symbols, so that sums by stack of any day can be added up, and no name is read twice.
 *
 * C1  A path is the keys of its calls from the root. A key is a symbol of the cache's set, twice, plus 1 where it was inlined
 *     into its caller. Stacks with the same path are one: they have one number, which never changes.
 * C2  Ids of stacks mean something only together with the dictionary they come from (names_identity).
 * C3  In the index, nodes are in depth-first order, siblings by key. So all stacks at or below a node stand side by side: with
 *     their values added up along the order, what a node comes to is one difference.
 * C4  Stacks are only added. A tree is a cache: dropped as a whole, made again by asking.
 *
 * Thread: one writer, or any number of readers. */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "profile/symbolset.h"
#include "tree/idmap.h"

#define CALLTREE_NONE      IDMAP_NONE
#define CALLTREE_MAX_DEPTH 4096u /* deeper calls are left out */

struct calltree_path {
    uint32_t start, len; /* in new_keys */
    uint32_t stack;
};

struct calltree {
    struct hash_set paths; /* its numbers are those of the stacks */
    VEC(struct calltree_source {
        uint64_t identity; /* of names */
        struct idmap stacks;
        VEC(uint32_t) open_ids; /* of stacks in which names are missing that may arrive */
    })
    sources;

    /* The index. Node 0 is the root. The subtree of node i is [i, ends[i]); its stacks are those of `order` from
     * calltree_first(i) up to calltree_first(ends[i]); the one at the node itself, if there is one, comes first. */
    uint32_t n_nodes, n_indexed;
    uint32_t *keys, *ends;
    /* How many stacks are at nodes before a node, in two parts: this takes a third of what whole numbers would. */
    uint32_t *bases;     /* [n_nodes / 256 + 1]: before node 256 * i */
    uint8_t *offsets;    /* [n_nodes + 1]: from there on */
    uint32_t *order;     /* [n_indexed] */
    uint64_t *recursive; /* [n_nodes] bits: a node above it has the same symbol */

    /* Stacks that are not in it yet. */
    VEC(uint32_t) new_keys;
    VEC(struct calltree_path) new_paths;
};

void calltree_init(struct calltree *tree);
void calltree_done(struct calltree *tree);
size_t calltree_bytes(const struct calltree *tree);
static inline uint32_t calltree_stacks(const struct calltree *tree)
{
    return tree->paths.n;
}

static inline bool calltree_is_recursive(const struct calltree *tree, uint32_t node)
{
    return tree->recursive[node / 64] >> node % 64 & 1;
}

/* How many stacks are at the nodes before this one; `node` may be n_nodes. For readers. */
static inline uint32_t calltree_first(const struct calltree *tree, uint32_t node)
{
    return tree->bases[node / 256] + tree->offsets[node];
}

/* The numbers of `n` stacks of a dictionary, whose ids never fall; CALLTREE_NONE for those that are not known yet. For
 * readers. */
void calltree_find(const struct calltree *tree, uint64_t identity, const uint32_t *ids, uint32_t n,
                   uint32_t *ret_stacks);
/* Adds stack `stack` of `tables`, whose frames have the symbols `frames`, as number `id` of a dictionary. `is_open`: names are
 * missing in it that may arrive. For the writer. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int calltree_add(struct calltree *tree, uint64_t identity, uint32_t id, const struct tables *tables,
                            const struct symbolset_frames *frames, uint32_t stack, bool is_open, uint32_t *ret_stack,
                            struct error *err);
/* Forgets what the open stacks are, so that they are added again; as paths they stay. For the writer. */
void calltree_reopen(struct calltree *tree);
/* Brings the index up to date. For the writer. Errors: ERR_MEMORY; then it is as before. */
MUST_CHECK int calltree_index(struct calltree *tree, struct error *err);
