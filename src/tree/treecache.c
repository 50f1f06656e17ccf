// SPDX-License-Identifier: Apache-2.0
#include "tree/treecache.h"

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
    uint64_t generation; /* of late names: those of all open stacks are at least as old */
    uint32_t n_users;
    uint64_t used; /* the larger, the later */
};

struct treecache {
    size_t max_bytes;
    const struct latenames *late; /* NULL = none */
    struct lock_rw lock;          /* guards all that follows */
    struct symbolset symbols;
    struct symbolplaces places;
    VEC(struct treecache_tree *) trees;
    uint64_t clock;
};

int treecache_new(size_t max_bytes, const struct latenames *late, struct treecache **ret_cache, struct error *err)
{
    struct treecache *cache = MEMORY_NEW(struct treecache, err);

    if (!cache)
        return -1;
    cache->max_bytes = max_bytes;
    cache->late = late;
    lock_rw_init(&cache->lock, LOCK_QUERY_TREES);
    symbolset_init(&cache->symbols, SYMBOL_FUNCTION);
    symbolplaces_init(&cache->places);
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
    symbolplaces_done(&cache->places);
    lock_rw_done(&cache->lock);
    memory_free(cache);
}

/* Under the lock. */
static size_t count_bytes(const struct treecache *cache)
{
    size_t bytes = cache->symbols.text.used_bytes + cache->symbols.symbols.n * sizeof(struct symbol) +
                   hash_set_bytes(&cache->symbols.hashes) + symbolplaces_bytes(&cache->places);

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

static uint64_t generation_of(const struct treecache *cache)
{
    return cache->late ? cache->late->generation(cache->late->context) : 0;
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
    uint64_t generation = generation_of(cache);
    struct treecache_tree *tree;

    lock_rw_acquire_write(&cache->lock);
    tree = find_tree(cache, key);
    if (!tree)
        tree = make_tree(cache, key, err);
    if (tree) {
        if (tree->generation != generation)
            calltree_reopen(&tree->calls);
        tree->generation = generation;
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
        symbolplaces_done(&cache->places);
        symbolplaces_init(&cache->places);
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

/* Stacks with their names. */
struct named {
    struct tables tables;
    bool *is_open;       /* [frame] latenames.h */
    uint64_t generation; /* before late names were asked for */
};

/* Adds a stack that a tree lacks; stack `place` of the tables. */
static int add_stack(struct treecache *cache, uint64_t identity, struct treecache_want *want, const struct named *named,
                     const struct symbolset_frames *frames, uint32_t place, struct error *err)
{
    struct treecache_tree *tree = want->tree;
    bool is_open = cache->late && latenames_is_open(&named->tables, place, named->is_open);

    if (calltree_add(&tree->calls, identity, want->id, &named->tables, frames, place, is_open, &want->stack, err) < 0)
        return -1;
    /* Somebody else may have seen newer names meanwhile: then it is asked for again. */
    if (is_open)
        tree->generation = MIN(tree->generation, named->generation);
    /* Paths take much more room than the index. */
    return tree->calls.new_keys.n > MAX_NEW_KEYS ? calltree_index(&tree->calls, err) : 0;
}

/* The cache may also be smaller than before: an index takes less room than the paths it is made of. */
static void take_room(size_t *room_bytes, size_t before_bytes, size_t after_bytes)
{
    if (after_bytes > before_bytes)
        *room_bytes -= MIN(*room_bytes, after_bytes - before_bytes);
    else if (__builtin_add_overflow(*room_bytes, before_bytes - after_bytes, room_bytes))
        *room_bytes = SIZE_MAX;
}

/* Adds wants whose names are there, in order of their ids; the empty stack is its own. */
static int add_named(struct treecache *cache, uint64_t identity, struct treecache_want *wants, size_t n,
                     const struct named *named, struct treecache_terms *terms, struct error *err)
{
    struct symbolset_frames frames = { 0 };
    uint32_t place = 0, last = 0;
    size_t before_bytes;
    int result;

    lock_rw_acquire_write(&cache->lock);
    before_bytes = count_bytes(cache);
    result = symbolset_import_while(&cache->symbols, &named->tables, &terms->patience, &frames, err);
    if (!result)
        result = symbolplaces_import(&cache->places, &cache->symbols, &named->tables, &frames, &terms->patience, err);
    for (size_t i = 0; !result && i < n; i++) {
        place += wants[i].id != last;
        last = wants[i].id;
        result = patience_check_at(&terms->patience, i, err);
        if (!result)
            result = add_stack(cache, identity, &wants[i], named, &frames, place, err);
    }
    take_room(&terms->room_bytes, before_bytes, count_bytes(cache));
    lock_rw_release(&cache->lock);
    symbolset_frames_done(&frames);
    return result;
}

/* The ids of the first wants, at most STACKS_AT_ONCE different ones; how many wants they are. */
static size_t list_ids(const struct treecache_want *wants, size_t n, uint32_t *ids, uint32_t *ret_n_ids)
{
    uint32_t n_ids = 0;
    size_t taken = 0;

    for (; taken < n; taken++) {
        bool is_known = !wants[taken].id || (n_ids && ids[n_ids - 1] == wants[taken].id);

        if (!is_known && n_ids == STACKS_AT_ONCE)
            break;
        if (!is_known)
            ids[n_ids++] = wants[taken].id;
    }
    *ret_n_ids = n_ids;
    return taken;
}

/* The names of stacks, in memory of their own: nothing is locked while the disk is asked. */
static int load_named(struct treecache *cache, struct names *names, const uint32_t *ids, uint32_t n_ids,
                      struct arena *arena, const struct patience *patience, struct named *ret_named, struct error *err)
{
    uint32_t n_missing;
    int result;

    *ret_named = (struct named){ .generation = generation_of(cache) };
    names_set_patience(names, patience);
    result = names_load(names, ids, n_ids, NULL, 0, arena, &ret_named->tables, &n_missing, err);
    names_set_patience(names, NULL);
    if (!result && cache->late)
        result = latenames_resolve(cache->late, &ret_named->tables, arena, &ret_named->is_open, err);
    return result;
}

/* The wants of the first ids; how many wants they are. */
static int add_some(struct treecache *cache, struct names *names, struct treecache_want *wants, size_t n,
                    struct treecache_terms *terms, size_t *ret_n, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct named named;
    uint32_t n_ids, *ids;

    arena_init(&arena, terms->room_bytes);
    ids = ARENA_ARRAY(&arena, uint32_t, MIN(n, (size_t)STACKS_AT_ONCE), err);
    if (ids) {
        *ret_n = list_ids(wants, n, ids, &n_ids);
        if (load_named(cache, names, ids, n_ids, &arena, &terms->patience, &named, err) == 0)
            return add_named(cache, names_identity(names), wants, *ret_n, &named, terms, err);
    }
    if (err->code == ERR_LIMIT) /* names take all the room, if only for a while */
        terms->room_bytes = 0;
    return -1;
}

int treecache_add(struct treecache *cache, struct names *names, struct treecache_want *wants, size_t n,
                  struct treecache_terms *terms, struct error *err)
{
    for (size_t at = 0, taken; at < n; at += taken) {
        if (add_some(cache, names, wants + at, n - at, terms, &taken, err) < 0)
            return -1;
        if (!terms->room_bytes)
            return error_set(err, ERR_LIMIT, "the call trees take more memory than they may");
    }
    if (n > TRIM_STACKS)
        memory_trim();
    return 0;
}

int treecache_hold(struct treecache *cache, struct treecache_tree *const *trees, size_t n,
                   const struct patience *patience, struct error *err)
{
    size_t n_new = 0;
    int result = 0;

    lock_rw_acquire_write(&cache->lock);
    for (size_t i = 0; !result && i < n; i++) {
        n_new += trees[i]->calls.new_paths.n;
        result = patience_check(patience, err) < 0 ? -1 : calltree_index(&trees[i]->calls, err);
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

const struct symbolplaces *treecache_places(const struct treecache *cache)
{
    return &cache->places;
}
