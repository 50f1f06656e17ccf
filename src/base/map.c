// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/memory.h"

#define FIRST_SLOTS 16u

void map_init(struct map *map, uint32_t max)
{
    *map = (struct map){ .max = max ? MIN(max, 1u << 30) : 1u << 30 };
}

void map_done(struct map *map)
{
    memory_free(map->slots);
    map_init(map, map->max);
}

void map_clear(struct map *map)
{
    if (map->slots)
        memset(map->slots, 0, ((size_t)map->mask + 1) * sizeof(*map->slots));
    map->n = 0;
}

/* The slot that holds `key`, or the empty one where it belongs. There is always an empty one. */
static struct map_slot *slot_of(struct map_slot *slots, uint32_t mask, uint64_t key)
{
    uint32_t at = (uint32_t)hash_mix64(key) & mask;

    while (slots[at].is_used && slots[at].key != key)
        at = (at + 1) & mask;
    return &slots[at];
}

uint32_t *map_find(const struct map *map, uint64_t key)
{
    struct map_slot *slot;

    if (map->n == 0)
        return NULL;
    slot = slot_of(map->slots, map->mask, key);
    return slot->is_used ? &slot->value : NULL;
}

static int grow(struct map *map, struct error *err)
{
    uint32_t n_slots = map->slots ? (map->mask + 1) * 2 : FIRST_SLOTS;
    struct map_slot *slots = memory_alloc_zero(n_slots * sizeof(*slots), err);

    if (!slots)
        return -1;
    for (uint32_t i = 0; map->slots && i <= map->mask; i++)
        if (map->slots[i].is_used)
            *slot_of(slots, n_slots - 1, map->slots[i].key) = map->slots[i];
    memory_free(map->slots);
    map->slots = slots;
    map->mask = n_slots - 1;
    return 0;
}

int map_add(struct map *map, uint64_t key, uint32_t value, uint32_t *ret_value, struct error *err)
{
    uint32_t *existing = map_find(map, key);

    if (!existing) {
        if (map->n >= map->max)
            return error_set(err, ERR_LIMIT, "more than %u distinct keys", map->max);
        if ((!map->slots || (map->n + 1) * 4ull > (map->mask + 1) * 3ull) && grow(map, err) < 0)
            return -1;
        *slot_of(map->slots, map->mask, key) = (struct map_slot){ key, value, 1 };
        map->n++;
        *ret_value = value;
        return 0;
    }
    *ret_value = *existing;
    return 0;
}

int map_set(struct map *map, uint64_t key, uint32_t value, struct error *err)
{
    uint32_t current;

    if (map_add(map, key, value, &current, err) < 0)
        return -1;
    if (current != value)
        *map_find(map, key) = value;
    return 0;
}
