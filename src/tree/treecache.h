// SPDX-License-Identifier: Apache-2.0
/* Call trees of many groups, with their symbols: what stays between queries. It holds to a limit of memory by dropping the
 * trees that were used longest ago; a query that needs one again makes it again.
 *
 * Thread: any. A tree is used between treecache_use and treecache_release; what it holds is read and added to by the
 * functions here, which take the lock. */
#pragma once

#include "base/hash.h"
#include "base/lock.h"
#include "store/names.h"
#include "tree/calltree.h"
#include "tree/latenames.h"
#include "tree/symbolplaces.h"

struct treecache;
struct treecache_tree;

/* `late` gives names that the store does not have; NULL = none; borrowed. Errors: ERR_MEMORY. */
MUST_CHECK int treecache_new(size_t max_bytes, const struct latenames *late, struct treecache **ret_cache,
                             struct error *err);
void treecache_free(struct treecache *cache);
/* The memory it holds, symbols included. */
size_t treecache_bytes(struct treecache *cache);

/* The tree called `key`, made if it is not there. If names may have arrived since it was used, stacks that lack some are not
 * known any more. Errors: ERR_MEMORY. */
MUST_CHECK int treecache_use(struct treecache *cache, struct hash128 key, struct treecache_tree **ret_tree,
                             struct error *err);
void treecache_release(struct treecache *cache, struct treecache_tree *tree);

/* The numbers of stacks of a dictionary in the tree (calltree.h), all below `*ret_n_stacks`; CALLTREE_NONE for those not
 * seen before. */
void treecache_find(struct treecache *cache, struct treecache_tree *tree, uint64_t identity, const uint32_t *ids,
                    uint32_t n, uint32_t *ret_stacks, uint32_t *ret_n_stacks);

/* A stack that a tree lacks. */
struct treecache_want {
    uint32_t id;
    struct treecache_tree *tree;
    uint32_t stack; /* filled in: its number in the tree */
};
/* What those who add hold to. */
struct treecache_terms {
    size_t room_bytes; /* what the cache grows by is taken off; once nothing is left, no more is added */
    struct patience patience;
};
/* Reads the names of stacks from their dictionary and adds them. `wants` are sorted by id; trees may want the same. Errors:
 * ERR_LIMIT, with room_bytes 0; those of `patience` and of names_load, ERR_MEMORY, other ERR_LIMIT. */
MUST_CHECK int treecache_add(struct treecache *cache, struct names *names, struct treecache_want *wants, size_t n,
                             struct treecache_terms *terms, struct error *err);

/* For a while nothing is added: trees and symbols can be read. The index of the trees given is up to date. Errors: ERR_MEMORY,
 * those of `patience`; then nothing is held. */
MUST_CHECK int treecache_hold(struct treecache *cache, struct treecache_tree *const *trees, size_t n,
                              const struct patience *patience, struct error *err);
void treecache_let_go(struct treecache *cache);
/* While held. */
const struct calltree *treecache_tree(const struct treecache_tree *tree);
const struct symbolset *treecache_symbols(const struct treecache *cache);
const struct symbolplaces *treecache_places(const struct treecache *cache);
