// SPDX-License-Identifier: Apache-2.0
/* A tree of calls as flat nodes: each is (parent, key), found by hash. The key is whatever the owner numbers: a frame,
 * a symbol.
 *
 * R1  Node 0 is the root, its own parent. A child has a larger id than its parent, so one pass from the end to the
 *     beginning sums up subtrees, and one from the beginning walks from callers to callees.
 * R2  A parent has one child per key.
 * R3  A million nodes take at most 32 MB, index and room to grow included. */
#pragma once

#include "base/error.h"

struct trie {
    struct trie_node {
        uint32_t parent;
        uint32_t key;
    } * nodes;
    uint32_t *slots; /* node ids; 0 = empty, since the root is nobody's child */
    uint32_t n;
    uint32_t capacity; /* of nodes */
    uint32_t mask;     /* slots - 1 */
    uint32_t max;
};

#define TRIE_ROOT 0u
#define TRIE_NONE UINT32_MAX

/* A tree of at most `max_nodes` (0 = 2^30), the root included. Errors: ERR_MEMORY. Thread: one writer, or any number of
 * readers. */
MUST_CHECK int trie_init(struct trie *trie, uint32_t max_nodes, struct error *err);
/* Takes a zeroed trie, too. */
void trie_done(struct trie *trie);

/* The child of `parent` with `key`, or TRIE_NONE. */
uint32_t trie_find(const struct trie *trie, uint32_t parent, uint32_t key);
/* The child of `parent` with `key`, added if new. Errors: ERR_LIMIT, ERR_MEMORY; then nothing changed. */
MUST_CHECK int trie_add(struct trie *trie, uint32_t parent, uint32_t key, uint32_t *ret_node, struct error *err);

/* Memory held by nodes and index. */
size_t trie_bytes(const struct trie *trie);
