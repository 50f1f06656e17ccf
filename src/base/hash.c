// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include "base/memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64u
#define LARGE_SET   65536u

struct hash128 hash_bytes(struct slice bytes, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.len ? bytes.ptr : "", bytes.len, seed);

    return (struct hash128){ hash.low64, hash.high64 | 1 };
}

uint64_t hash_bytes64(struct slice bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.len ? bytes.ptr : "", bytes.len, seed);
}

void hash_set_init(struct hash_set *set, uint32_t max)
{
    *set = (struct hash_set){ .max = max ? MIN(max, 1u << 31) : 1u << 31 };
}

void hash_set_done(struct hash_set *set)
{
    memory_free(set->slots);
    memory_free(set->hashes);
    hash_set_init(set, set->max);
}

void hash_set_clear(struct hash_set *set)
{
    if (set->slots)
        memset(set->slots, 0, ((size_t)set->mask + 1) * sizeof(*set->slots));
    set->n = 0;
}

static inline uint32_t tag_of(struct hash128 hash)
{
    return (uint32_t)(hash.a >> 32);
}

uint32_t hash_set_find(const struct hash_set *set, struct hash128 hash)
{
    if (set->n == 0)
        return HASH_NONE;
    for (uint32_t at = (uint32_t)hash.a & set->mask;; at = (at + 1) & set->mask) {
        struct hash_slot slot = set->slots[at];

        if (slot.id_plus_one == 0)
            return HASH_NONE;
        if (slot.tag == tag_of(hash) && hash_equal(set->hashes[slot.id_plus_one - 1], hash))
            return slot.id_plus_one - 1;
    }
}

static void put(struct hash_slot *slots, uint32_t mask, struct hash128 hash, uint32_t id)
{
    uint32_t at = (uint32_t)hash.a & mask;

    while (slots[at].id_plus_one != 0)
        at = (at + 1) & mask;
    slots[at] = (struct hash_slot){ tag_of(hash), id + 1 };
}

static int grow_slots(struct hash_set *set, uint64_t n_slots, struct error *err)
{
    struct hash_slot *slots = memory_alloc_zero(n_slots * sizeof(*slots), err);

    if (!slots)
        return -1;
    for (uint32_t id = 0; id < set->n; id++)
        put(slots, (uint32_t)(n_slots - 1), set->hashes[id], id);
    memory_free(set->slots);
    set->slots = slots;
    set->mask = (uint32_t)(n_slots - 1);
    return 0;
}

/* Small sets double; large ones grow by an eighth, since their memory counts. */
static uint64_t capacity_for(const struct hash_set *set, uint32_t n)
{
    uint64_t more = set->capacity < LARGE_SET ? set->capacity : set->capacity / 8;

    if (n <= set->capacity)
        return set->capacity;
    return MIN(MAX(set->capacity + more, MAX((uint64_t)n, FIRST_SLOTS / 2)), set->max);
}

static uint64_t slots_for(const struct hash_set *set, uint32_t n)
{
    uint64_t n_slots = set->slots ? (uint64_t)set->mask + 1 : FIRST_SLOTS;

    while ((uint64_t)n * 4 > n_slots * 3) /* load at most 3/4 */
        n_slots *= 2;
    return n_slots;
}

size_t hash_set_bytes_for(const struct hash_set *set, uint32_t n)
{
    return slots_for(set, n) * sizeof(*set->slots) + capacity_for(set, n) * sizeof(*set->hashes);
}

int hash_set_reserve(struct hash_set *set, uint32_t n, struct error *err)
{
    uint64_t n_slots = slots_for(set, n);

    if (n > set->max)
        return error_set(err, ERR_LIMIT, "more than %u distinct entries", set->max);
    if (n > set->capacity) {
        uint64_t capacity = capacity_for(set, n);
        struct hash128 *hashes = memory_realloc(set->hashes, capacity * sizeof(*hashes), err);

        if (!hashes)
            return -1;
        set->hashes = hashes;
        set->capacity = (uint32_t)capacity;
    }
    if (!set->slots || n_slots > (uint64_t)set->mask + 1)
        return grow_slots(set, n_slots, err);
    return 0;
}

int hash_set_add(struct hash_set *set, struct hash128 hash, uint32_t *ret_id, bool *ret_is_new, struct error *err)
{
    uint32_t id = hash_set_find(set, hash);
    bool is_new = id == HASH_NONE;

    if (is_new) {
        if (hash_set_reserve(set, set->n + 1, err) < 0)
            return -1;
        id = set->n++;
        set->hashes[id] = hash;
        put(set->slots, set->mask, hash, id);
    }
    *ret_id = id;
    *ret_is_new = is_new;
    return 0;
}

void hash_set_pop(struct hash_set *set)
{
    uint32_t hole, at;

    ASSERT(set->n > 0);
    set->n--;
    for (hole = (uint32_t)set->hashes[set->n].a & set->mask; set->slots[hole].id_plus_one != set->n + 1;)
        hole = (hole + 1) & set->mask;
    /* Linear probing has no tombstones: what stands behind the hole and may move into it does. */
    for (at = (hole + 1) & set->mask; set->slots[at].id_plus_one != 0; at = (at + 1) & set->mask) {
        uint32_t home = (uint32_t)set->hashes[set->slots[at].id_plus_one - 1].a & set->mask;

        if (((at - home) & set->mask) >= ((at - hole) & set->mask)) {
            set->slots[hole] = set->slots[at];
            hole = at;
        }
    }
    set->slots[hole] = (struct hash_slot){ 0, 0 };
}

size_t hash_set_bytes(const struct hash_set *set)
{
    return (set->slots ? ((size_t)set->mask + 1) * sizeof(*set->slots) : 0) + set->capacity * sizeof(*set->hashes);
}
