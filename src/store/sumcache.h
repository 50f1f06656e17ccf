// SPDX-License-Identifier: Apache-2.0
/* Sums by stack of closed hours that were added up before, for whoever asks the same again: some series of a group over
 * some hours, for which there is no roll-up on disk.
 *
 * A key names everything that the sums are made of: the database, the tenant, the closings and the series. What has a
 * closing's number never changes, so an entry is right for as long as somebody has its key; late rows, deletions that were
 * applied and new series make another key. Only a repair takes values out of closings: then all keys change.
 *
 * At most `max_bytes` are held. For a new entry others go: of two, found by chance, the one that was used longer ago. By
 * age alone, a selection that is a little too large would push out each part of itself before it is asked for again.
 *
 * Thread: any. All functions accept a cache that is NULL, which holds nothing. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"

struct sumcache;

/* Errors: ERR_MEMORY. */
MUST_CHECK int sumcache_new(size_t max_bytes, struct sumcache **ret_cache, struct error *err);
void sumcache_free(struct sumcache *cache);

/* Belongs into every key, and is to be asked for before the database is looked at. */
uint64_t sumcache_generation(struct sumcache *cache);
/* A repair was made: what was put before, or is put by those who began before, is not found any more. */
void sumcache_forget_all(struct sumcache *cache);

/* A copy of a value from `arena`; no bytes if it is not there. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int sumcache_get(struct sumcache *cache, struct hash128 key, struct arena *arena, struct slice *ret_value,
                            struct error *err);
/* Takes a copy of a value; not if it is a large part of all that may be held, nor if there is no memory. */
void sumcache_put(struct sumcache *cache, struct hash128 key, struct slice value);

/* What is held now. */
size_t sumcache_bytes(struct sumcache *cache);
