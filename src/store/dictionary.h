// SPDX-License-Identifier: Apache-2.0
/* Giving ids: the dictionary of one tenant of an open day, from the writer's side.
 *
 * D1  Hashes of stacks are all in memory, so a known stack is one lookup and never gets a second id. Everything else
 *     (strings, mappings, functions, frames, label sets) is found through a bounded cache of (hash, id): what it has
 *     forgotten is written again under a new id. Readers join equal content (names.h), so this costs bytes, never
 *     truth.
 * D2  When the hashes reach their share of memory, a new generation begins: they are forgotten, ids go on. Equal
 *     stacks may then have two ids, which readers join by content hash.
 * D3  New entries wait in chunks until dictionary_take puts them into the batch of the group commit that is written
 *     next. Ids are in the WAL no later than the first row that uses them, because rows join that group or a later one.
 * D4  Any failure here leaves memory ahead of the disk: the day must be closed and opened again.
 *
 * Thread: under the lock of the day. */
#pragma once

#include "base/hash.h"
#include "block/chunk.h"
#include "kv/kv.h"
#include "label/labelrules.h"
#include "profile/content.h"

#include <stdatomic.h>

/* The memory that what writers know of all tenants shares: stack hashes and series (tenants.h). */
struct dictionary_share {
    uint64_t max_bytes;
    _Atomic uint64_t used_bytes;
    _Atomic uint32_t n; /* dictionaries that have hashes loaded */
};

/* A bounded cache from hashes to ids, four ways to a set; forgets what was not asked for the longest. It grows up to its
 * bound when it forgets: hashes are spread over all of it, so that a large one would take all its memory for a few. */
struct idcache {
    struct idcache_slot {
        struct hash128 hash;
        uint32_t id;
        uint32_t spare;
    } * slots;
    uint32_t n_sets, max_sets;
    uint32_t n_forgotten; /* since it grew */
};
/* At most `max_bytes`, at least one set. Errors: ERR_MEMORY. Where there is no memory to grow later, it stays as it is. */
MUST_CHECK int idcache_init(struct idcache *cache, size_t max_bytes, struct error *err);
void idcache_done(struct idcache *cache);
/* The id, or 0. */
uint32_t idcache_find(struct idcache *cache, struct hash128 hash);
void idcache_put(struct idcache *cache, struct hash128 hash, uint32_t id);

struct dictionary {
    uint32_t tenant;
    uint64_t seed;
    struct dictionary_share *share;
    struct idcache *cache; /* of the day; the tenant and the kind are folded into the hashes */
    uint32_t next_ids[CHUNK_KINDS];
    struct chunk_writer pending[CHUNK_KINDS];
    bool has_pending;
    uint32_t generation;    /* id of the first stack whose hash is in `stacks` */
    bool is_new_generation; /* not yet written down */
    struct hash_set stacks;
    uint64_t counted_bytes; /* of ours in share->used_bytes */
    bool has_hashes;
};

/* Learns from the database which ids are next. Hashes are loaded by the first dictionary_prepare. No id
 * below `ids_from` is given, after a salvage; else 0. Errors: those of kv.h. */
MUST_CHECK int dictionary_init(struct dictionary *dictionary, struct kv *kv, uint32_t tenant, uint64_t seed,
                               struct dictionary_share *share, struct idcache *cache, uint32_t ids_from,
                               struct error *err);
void dictionary_done(struct dictionary *dictionary);

/* Loads the hashes if they are not there. */
MUST_CHECK int dictionary_load(struct dictionary *dictionary, struct kv *kv, struct error *err);
/* How many bytes more it takes with `n` new stacks, at most. */
uint64_t dictionary_bytes_for(const struct dictionary *dictionary, uint32_t n);
/* Before a write: as dictionary_load, and begins a new generation if memory wants it. */
MUST_CHECK int dictionary_prepare(struct dictionary *dictionary, struct kv *kv, struct error *err);
/* Forgets the hashes of an idle dictionary; the next prepare loads them again. Nothing may be pending. */
void dictionary_unload(struct dictionary *dictionary);

/* Ids for stacks[0 .. n) of `tables`, into ret_ids; 0 stays 0. `frame_memo` has an entry for each frame of the tables,
 * zero at first: frames met before in this write. Errors: ERR_MEMORY, ERR_LIMIT (D4). */
MUST_CHECK int dictionary_stacks(struct dictionary *dictionary, const struct tables *tables,
                                 const struct content *content, const uint32_t *stacks, uint32_t n,
                                 uint32_t *frame_memo, uint32_t *ret_ids, struct error *err);
/* The id of a set of labels; 0 for none. */
MUST_CHECK int dictionary_label_set(struct dictionary *dictionary, const struct column_labels *labels, uint32_t *ret_id,
                                    struct error *err);

/* Whether dictionary_take has something to do. */
static inline bool dictionary_has_news(const struct dictionary *dictionary)
{
    return dictionary->has_pending || dictionary->is_new_generation;
}
/* Moves what is pending into `batch`. Errors: ERR_MEMORY, ERR_LIMIT (D4). */
MUST_CHECK int dictionary_take(struct dictionary *dictionary, struct kv *kv, struct kv_batch *batch,
                               struct buffer *scratch, struct error *err);
