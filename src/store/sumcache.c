// SPDX-License-Identifier: Apache-2.0
#include "store/sumcache.h"

#include "base/lock.h"
#include "base/memory.h"
#include "base/vec.h"

enum {
    MAX_ENTRIES = 1024, /* so few that they are looked through */
    LEAST_PART = 8,     /* an entry takes no more than this part of all bytes */
};

struct entry {
    struct hash128 key;
    char *bytes;
    size_t n_bytes;
    uint64_t used; /* the larger, the later */
};

struct sumcache {
    size_t max_bytes;
    struct lock_mutex lock; /* guards all that follows */
    VEC(struct entry) entries;
    size_t bytes;
    uint64_t clock, generation, random;
};

int sumcache_new(size_t max_bytes, struct sumcache **ret_cache, struct error *err)
{
    struct sumcache *cache = MEMORY_NEW(struct sumcache, err);

    if (!cache)
        return -1;
    cache->max_bytes = max_bytes;
    lock_mutex_init(&cache->lock, LOCK_STORE_SUMS);
    *ret_cache = cache;
    return 0;
}

/* Under the lock. */
static void drop(struct sumcache *cache, size_t place)
{
    struct entry *entry = &cache->entries.items[place];

    cache->bytes -= entry->n_bytes;
    memory_free(entry->bytes);
    *entry = cache->entries.items[--cache->entries.n];
}

static void drop_all(struct sumcache *cache)
{
    while (cache->entries.n)
        drop(cache, cache->entries.n - 1);
}

void sumcache_free(struct sumcache *cache)
{
    if (!cache)
        return;
    drop_all(cache);
    VEC_DONE(&cache->entries);
    lock_mutex_done(&cache->lock);
    memory_free(cache);
}

uint64_t sumcache_generation(struct sumcache *cache)
{
    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    return cache->generation;
}

void sumcache_forget_all(struct sumcache *cache)
{
    if (!cache)
        return;
    LOCK_SCOPE(&cache->lock);
    drop_all(cache);
    cache->generation++;
}

/* Under the lock. */
static struct entry *find(struct sumcache *cache, struct hash128 key)
{
    VEC_EACH (&cache->entries, entry)
        if (hash_equal(entry->key, key))
            return entry;
    return NULL;
}

int sumcache_get(struct sumcache *cache, struct hash128 key, struct arena *arena, struct slice *ret_value,
                 struct error *err)
{
    struct slice value = { 0 };

    if (cache) {
        LOCK_SCOPE(&cache->lock);
        struct entry *entry = find(cache, key);

        if (entry) {
            entry->used = ++cache->clock;
            value = arena_copy(arena, slice_of(entry->bytes, entry->n_bytes), err);
            if (!value.ptr)
                return -1;
        }
    }
    *ret_value = value;
    return 0;
}

/* Under the lock: a place by chance. */
static size_t any_place(struct sumcache *cache)
{
    return (size_t)(hash_mix64(++cache->random) % cache->entries.n);
}

static void make_room(struct sumcache *cache, size_t n_bytes)
{
    while (cache->entries.n && (cache->bytes + n_bytes > cache->max_bytes || cache->entries.n >= MAX_ENTRIES)) {
        size_t a = any_place(cache), b = any_place(cache);

        drop(cache, cache->entries.items[a].used < cache->entries.items[b].used ? a : b);
    }
}

void sumcache_put(struct sumcache *cache, struct hash128 key, struct slice value)
{
    struct entry *entry;
    struct error err;
    char *bytes;

    if (!cache || !value.len || value.len > cache->max_bytes / LEAST_PART)
        return;
    bytes = memory_alloc(value.len, &err);
    if (!bytes)
        return;
    memcpy(bytes, value.ptr, value.len);
    LOCK_SCOPE(&cache->lock);
    make_room(cache, value.len);
    entry = find(cache, key) ? NULL : VEC_PUSH(&cache->entries, MAX_ENTRIES, &err);
    if (!entry) {
        memory_free(bytes);
        return;
    }
    *entry = (struct entry){ key, bytes, value.len, ++cache->clock };
    cache->bytes += value.len;
}

size_t sumcache_bytes(struct sumcache *cache)
{
    if (!cache)
        return 0;
    LOCK_SCOPE(&cache->lock);
    return cache->bytes;
}
