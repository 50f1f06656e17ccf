// SPDX-License-Identifier: Apache-2.0
/* A map from 64-bit keys to 32-bit values: open addressing, linear probing. Every key is allowed, 0 too. */
#pragma once

#include "base/hash.h"

struct map {
    struct map_slot {
        uint64_t key;
        uint32_t value;
        uint32_t is_used;
    } * slots;
    uint32_t mask; /* slots - 1 */
    uint32_t n;
    uint32_t max;
};

/* A map of at most `max` keys (0 = 2^30). Allocates nothing yet. Thread: one writer, or any number of readers. */
void map_init(struct map *map, uint32_t max);
void map_done(struct map *map);
/* Forgets all keys, keeps the memory. */
void map_clear(struct map *map);

/* The value of `key`, or NULL. Valid until the map grows. */
uint32_t *map_find(const struct map *map, uint64_t key);
/* What it takes. */
static inline size_t map_bytes(const struct map *map)
{
    return map->slots ? ((size_t)map->mask + 1) * sizeof(*map->slots) : 0;
}
/* For a key that is looked up soon: fetches the memory where it is looked for. */
static inline void map_prefetch(const struct map *map, uint64_t key)
{
    if (map->slots)
        __builtin_prefetch(&map->slots[(uint32_t)hash_mix64(key) & map->mask]);
}
/* Sets `key` to `value`, replacing what was there. Errors: ERR_LIMIT, ERR_MEMORY; then nothing changed. */
MUST_CHECK int map_set(struct map *map, uint64_t key, uint32_t value, struct error *err);
/* As map_set, but keeps an existing value and returns it in `ret_value`. */
MUST_CHECK int map_add(struct map *map, uint64_t key, uint32_t value, uint32_t *ret_value, struct error *err);
