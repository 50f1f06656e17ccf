// SPDX-License-Identifier: Apache-2.0
#include "query/treecache.h"

#include "base/clock.h"
#include "base/memory.h"

enum {
    MAX_TREES = 1 << 16,
    STACKS_AT_ONCE = 1 << 15, /* whose names are in memory together */
    MAX_NEW_KEYS = 1 << 18,   /* of a tree, until they go into its index */
    TRIM_STACKS = 1 << 14,    /* after so many, memory is given back */
};

struct treecache_tree {
    struct hash128 key;
    struct calltree calls;
    uint32_t n_users;
    uint64_t used; /* the larger, the later */
};

struct treecache {
    size_t max_bytes;
    struct lock_rw lock; /* guards all that follows */
    struct symbolset symbols;
    VEC(struct treecache_tree *) trees;
    uint64_t clock;
};

int treecache_new(size_t max_bytes, struct treecache **ret_cache, struct error *err)
{
    struct treecache *cache = MEMORY_NEW(struct treecache, err);

    if (!cache)
        return -1;
    cache->max_bytes = max_bytes;
    lock_rw_init(&cache->lock, LOCK_QUERY_TREES);
    symbolset_init(&cache->symbols, SYMBOL_FUNCTION);
    *ret_cache = cache;
    return 0;
}

static void free_tree(struct treecache_tree *tree)
{
    calltree_done(&tree->calls);
    memory_free(tree);
}

void treecache_free(struct treecache *cache)
{
    if (!cache)
        return;
    VEC_EACH (&cache->trees, tree)
        free_tree(*tree);
    VEC_DONE(&cache->trees);
    symbolset_done(&cache->symbols);
    lock_rw_done(&cache->lock);
    memory_free(cache);
}

/* Under the lock. */
static size_t count_bytes(const struct treecache *cache)
{
    size_t bytes = cache->symbols.text.used_bytes + cache->symbols.symbols.n * sizeof(struct symbol) +
                   hash_set_bytes(&cache->symbols.hashes);

    for (size_t i = 0; i < cache->trees.n; i++)
        bytes += calltree_bytes(&cache->trees.items[i]->calls);
    return bytes;
}

size_t treecache_bytes(struct treecache *cache)
{
    size_t bytes;

    lock_rw_acquire_read(&cache->lock);
    bytes = count_bytes(cache);
    lock_rw_release(&cache->lock);
    return bytes;
}

static struct treecache_tree *find_tree(const struct treecache *cache, struct hash128 key)
{
    for (size_t i = 0; i < cache->trees.n; i++)
        if (hash_equal(cache->trees.items[i]->key, key))
            return cache->trees.items[i];
    return NULL;
}

static struct treecache_tree *make_tree(struct treecache *cache, struct hash128 key, struct error *err)
{
    struct treecache_tree *tree = MEMORY_NEW(struct treecache_tree, err), **slot;

    if (!tree)
        return NULL;
    tree->key = key;
    calltree_init(&tree->calls);
    slot = VEC_PUSH(&cache->trees, MAX_TREES, err);
    if (!slot) {
        free_tree(tree);
        return NULL;
    }
    *slot = tree;
    return tree;
}

int treecache_use(struct treecache *cache, struct hash128 key, struct treecache_tree **ret_tree, struct error *err)
{
    struct treecache_tree *tree;

    lock_rw_acquire_write(&cache->lock);
    tree = find_tree(cache, key);
    if (!tree)
        tree = make_tree(cache, key, err);
    if (tree) {
        tree->n_users++;
        tree->used = ++cache->clock;
    }
    lock_rw_release(&cache->lock);
    if (!tree)
        return -1;
    *ret_tree = tree;
    return 0;
}

/* Under the lock: the tree that nobody uses and that was used longest ago; its place, or the number of trees. */
static size_t find_oldest(const struct treecache *cache)
{
    size_t oldest = cache->trees.n;

    for (size_t i = 0; i < cache->trees.n; i++)
        if (!cache->trees.items[i]->n_users &&
            (oldest == cache->trees.n || cache->trees.items[i]->used < cache->trees.items[oldest]->used))
            oldest = i;
    return oldest;
}

/* Under the lock: drops trees until what is left fits; without trees, symbols are of no use either. */
static void shrink(struct treecache *cache)
{
    size_t bytes = count_bytes(cache), place;

    while (bytes > cache->max_bytes && (place = find_oldest(cache)) < cache->trees.n) {
        struct treecache_tree *tree = cache->trees.items[place];

        bytes -= calltree_bytes(&tree->calls);
        cache->trees.items[place] = cache->trees.items[--cache->trees.n];
        free_tree(tree);
    }
    if (cache->trees.n == 0 && bytes > cache->max_bytes / 2) {
        symbolset_done(&cache->symbols);
        symbolset_init(&cache->symbols, SYMBOL_FUNCTION);
    }
}

void treecache_release(struct treecache *cache, struct treecache_tree *tree)
{
    lock_rw_acquire_write(&cache->lock);
    tree->n_users--;
    shrink(cache);
    lock_rw_release(&cache->lock);
}

void treecache_find(struct treecache *cache, struct treecache_tree *tree, uint64_t identity, const uint32_t *ids,
                    uint32_t n, uint32_t *ret_stacks, uint32_t *ret_n_stacks)
{
    lock_rw_acquire_read(&cache->lock);
    calltree_find(&tree->calls, identity, ids, n, ret_stacks);
    *ret_n_stacks = calltree_stacks(&tree->calls);
    lock_rw_release(&cache->lock);
}

/* Adds wants whose names are in `tables`, in order of their ids; the empty stack is its own. */
static int add_named(struct treecache *cache, uint64_t identity, struct treecache_want *wants, size_t n,
                     const struct tables *tables, struct error *err)
{
    struct symbolset_frames frames = { 0 };
    uint32_t place = 0, last = 0;
    int result;

    lock_rw_acquire_write(&cache->lock);
    result = symbolset_import(&cache->symbols, tables, &frames, err);
    for (size_t i = 0; !result && i < n; i++) {
        place += wants[i].id != last;
        last = wants[i].id;
        result =
            calltree_add(&wants[i].tree->calls, identity, wants[i].id, tables, &frames, place, &wants[i].stack, err);
        /* Paths take much more room than the index. */
        if (!result && wants[i].tree->calls.new_keys.n > MAX_NEW_KEYS)
            result = calltree_index(&wants[i].tree->calls, err);
    }
    lock_rw_release(&cache->lock);
    symbolset_frames_done(&frames);
    return result;
}

/* The wants of the first STACKS_AT_ONCE different ids; how many wants they are. Nothing is locked while the disk is asked. */
static int add_some(struct treecache *cache, struct names *names, struct treecache_want *wants, size_t n, size_t *ret_n,
                    struct error *err)
{
    uint32_t n_ids = 0, n_missing, *ids;
    struct tables tables;
    struct arena arena;
    size_t taken = 0;
    int result = -1;

    arena_init(&arena, 0);
    ids = ARENA_ARRAY(&arena, uint32_t, MIN(n, (size_t)STACKS_AT_ONCE), err);
    if (ids) {
        for (; taken < n; taken++) {
            bool is_known = !wants[taken].id || (n_ids && ids[n_ids - 1] == wants[taken].id);

            if (!is_known && n_ids == STACKS_AT_ONCE)
                break;
            if (!is_known)
                ids[n_ids++] = wants[taken].id;
        }
        result = names_load(names, ids, n_ids, NULL, 0, &arena, &tables, &n_missing, err);
        if (!result)
            result = add_named(cache, names_identity(names), wants, taken, &tables, err);
    }
    arena_done(&arena);
    *ret_n = taken;
    return result;
}

int treecache_add(struct treecache *cache, struct names *names, struct treecache_want *wants, size_t n,
                  struct error *err)
{
    for (size_t at = 0, taken; at < n; at += taken)
        if (add_some(cache, names, wants + at, n - at, &taken, err) < 0)
            return -1;
    if (n > TRIM_STACKS)
        memory_trim();
    return 0;
}

int treecache_hold(struct treecache *cache, struct treecache_tree *const *trees, size_t n, struct error *err)
{
    size_t n_new = 0;
    int result = 0;

    lock_rw_acquire_write(&cache->lock);
    for (size_t i = 0; !result && i < n; i++) {
        n_new += trees[i]->calls.new_paths.n;
        result = calltree_index(&trees[i]->calls, err);
    }
    lock_rw_release(&cache->lock);
    if (result < 0)
        return -1;
    if (n_new > TRIM_STACKS)
        memory_trim();
    /* What others add in between is not in the index, and has no values in our sums. */
    lock_rw_acquire_read(&cache->lock);
    return 0;
}

void treecache_let_go(struct treecache *cache)
{
    lock_rw_release(&cache->lock);
}

const struct calltree *treecache_tree(const struct treecache_tree *tree)
{
    return &tree->calls;
}

const struct symbolset *treecache_symbols(const struct treecache *cache)
{
    return &cache->symbols;
}
