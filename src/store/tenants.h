// SPDX-License-Identifier: Apache-2.0
/* The tenants of an open day: all of them by name, and what writers know of those that are written to.
 *
 * N1  Of every tenant its name and id are in memory, nothing else. Series and dictionary are loaded when somebody writes
 *     for it.
 * N2  What is loaded counts in the share that all days have in common (dictionary_share). When it is used up, the tenants
 *     that were written to the longest ago are forgotten whole. A tenant that alone takes more than its part gives way to
 *     others that are in use: it begins a new generation of stacks instead (dictionary.h, D2).
 * N3  A tenant is forgotten only when everything it was given is in the database (D3): loaded again, it must know all of
 *     it.
 *
 * Thread: under the lock of the day. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "store/dictionary.h"

struct tenant_series {
    uint32_t id;
    uint32_t group;
};

/* What writers know of a tenant. */
struct tenant {
    uint32_t id;
    const char *name; /* that of its entry */
    struct dictionary dictionary;
    struct hash_set series;               /* seriesinfo_hash */
    VEC(struct tenant_series) series_ids; /* of each place in series */
    struct hash_set groups;               /* seriesinfo_group_hash */
    VEC(uint32_t) group_ids;              /* of each place in groups */
    uint32_t next_series;
    uint64_t counted_bytes; /* in the share, beside those of the dictionary */
    uint64_t last_group;    /* the newest group commit that may hold something of it */
    int64_t used_mono_ns;
    struct tenant *older, *newer; /* by use */
    struct tenant *next_waiting;
    bool is_waiting; /* its dictionary may have entries that are in no group yet */
};

struct tenants {
    /* A VEC of all tenants. */
    struct tenant_entry {
        uint32_t id;
        char *name;
        struct tenant *loaded; /* or NULL */
    } * items;
    size_t n, capacity;
    struct hash_set names; /* of each, in the same order */
    struct map ids;        /* of those that tenants_has_id has seen */
    uint64_t seed;
    uint32_t next_id;
    struct tenant *oldest, *newest; /* of those loaded */
    struct tenant *waiting;
};

/* None; `seed` is that of the store: names are found by their hashes. */
void tenants_init(struct tenants *tenants, uint64_t seed);
void tenants_done(struct tenants *tenants);

/* Adds a tenant that is not there yet; another of the same name is left out. Errors: ERR_MEMORY, ERR_LIMIT; then nothing
 * changed. */
MUST_CHECK int tenants_add(struct tenants *tenants, uint32_t id, struct slice name, struct error *err);
/* The tenant of this name, or NULL. Valid until one is added. */
struct tenant_entry *tenants_find(const struct tenants *tenants, struct slice name);

/* Whether a tenant has this id: for days that are recovering, which alone need to know. Errors: ERR_MEMORY. */
MUST_CHECK int tenants_has_id(struct tenants *tenants, uint32_t id, bool *ret_has, struct error *err);

/* An empty tenant that is used now, to be filled by the caller, or NULL. */
struct tenant *tenants_load(struct tenants *tenants, struct tenant_entry *entry, struct error *err);
/* Forgets what was loaded. */
void tenants_unload(struct tenants *tenants, struct tenant *tenant);
/* It is used now. */
void tenants_touch(struct tenants *tenants, struct tenant *tenant);

/* After anything was given to the tenant, even if it failed: counts what it takes, and notes that the group commit
 * `group` will hold what is new. */
void tenants_note_write(struct tenants *tenants, struct tenant *tenant, uint64_t group);
/* Before `n_stacks` are looked up in a tenant: forgets others while its share is used up (N2), of those whose last group
 * is `done_group` or before. */
void tenants_make_room(struct tenants *tenants, struct tenant *tenant, uint32_t n_stacks, uint64_t done_group);
/* Forgets those that nobody used since `idle_since_mono_ns`. */
void tenants_unload_idle(struct tenants *tenants, int64_t idle_since_mono_ns, uint64_t done_group);
/* Moves the new entries of all dictionaries into the batch. Errors: those of dictionary_take. */
MUST_CHECK int tenants_take(struct tenants *tenants, struct kv *kv, struct kv_batch *batch, struct buffer *scratch,
                            struct error *err);
