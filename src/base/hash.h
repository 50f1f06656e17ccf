// SPDX-License-Identifier: Apache-2.0
/* Content hashes: 128 bits, never zero, built from XXH3 with a seed, and dense 32-bit ids for them.
 *
 * XXH3 is fast, not cryptographic: whoever knows the seed can make collisions. Stores keep theirs secret. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct hash128 {
    uint64_t a;
    uint64_t b; /* lowest bit always set, so a hash is never all zero */
};

static inline bool hash_equal(struct hash128 x, struct hash128 y)
{
    return x.a == y.a && x.b == y.b;
}

/* Hash of bytes. Thread: any. */
struct hash128 hash_bytes(struct slice bytes, uint64_t seed);
uint64_t hash_bytes64(struct slice bytes, uint64_t seed);

/* A good mix of one word; a bijection. */
static inline uint64_t hash_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* Folds another hash (or any two words) into `h`; order matters. */
static inline struct hash128 hash_fold(struct hash128 h, uint64_t a, uint64_t b)
{
    __uint128_t x = (__uint128_t)(h.a ^ a ^ 0x9e3779b97f4a7c15u) * (h.b ^ b ^ 0xc2b2ae3d27d4eb4fu);
    uint64_t low = (uint64_t)x, high = (uint64_t)(x >> 64);

    /* The product alone would lose a word when one factor is zero; the sums keep both in. */
    return (struct hash128){ low + (h.b << 1) + (b ^ (a << 32 | a >> 32)), ((high ^ low) + h.a + a) | 1 };
}

/* Dense ids for hashes, in order of arrival: 0, 1, 2 ...
 * 1 M hashes take 32 MB or a little more. Lookups touch one 8-byte slot and, on a tag match, one 16-byte hash. */
struct hash_set {
    struct hash_slot {
        uint32_t tag;
        uint32_t id_plus_one; /* 0 = empty */
    } * slots;
    struct hash128 *hashes;
    uint32_t n;
    uint32_t capacity; /* of hashes */
    uint32_t mask;     /* slots - 1 */
    uint32_t max;
};

#define HASH_NONE UINT32_MAX

/* A set of at most `max` hashes (0 = 2^31). Allocates nothing yet. Thread: one writer, or any number of readers. */
void hash_set_init(struct hash_set *set, uint32_t max);
void hash_set_done(struct hash_set *set);
void hash_set_clear(struct hash_set *set);
/* The id of `hash`, or HASH_NONE. */
uint32_t hash_set_find(const struct hash_set *set, struct hash128 hash);
/* The id of `hash`, added if new. Errors: ERR_LIMIT, ERR_MEMORY; then nothing changed. */
MUST_CHECK int hash_set_add(struct hash_set *set, struct hash128 hash, uint32_t *ret_id, bool *ret_is_new,
                            struct error *err);
/* Room for `n` hashes in all, so that adding up to there cannot fail. */
MUST_CHECK int hash_set_reserve(struct hash_set *set, uint32_t n, struct error *err);
/* Takes the newest hash out again (to undo an add whose later steps failed). */
void hash_set_pop(struct hash_set *set);
size_t hash_set_bytes(const struct hash_set *set);
/* What it will take with `n` hashes in all. */
size_t hash_set_bytes_for(const struct hash_set *set, uint32_t n);

static inline void hash_set_prefetch(const struct hash_set *set, struct hash128 hash)
{
    if (set->slots)
        __builtin_prefetch(&set->slots[(uint32_t)hash.a & set->mask]);
}

/* The second step of a lookup that many others follow: once the slot is there, fetches the hash it names. */
static inline void hash_set_prefetch_hash(const struct hash_set *set, struct hash128 hash)
{
    const struct hash_slot *slot = set->slots ? &set->slots[(uint32_t)hash.a & set->mask] : NULL;

    if (slot && slot->id_plus_one)
        __builtin_prefetch(&set->hashes[slot->id_plus_one - 1]);
}
