// SPDX-License-Identifier: Apache-2.0
/* A map from 32-bit ids to 32-bit values, in order of the ids: for asking about many ids at once, which are in order, too. Then
 * an answer costs a few steps forward, and no jump through memory.
 *
 * Thread: one writer, or any number of readers. */
#pragma once

#include "base/vec.h"

#define IDMAP_NONE UINT32_MAX

struct idmap_entry {
    uint32_t id, value;
};

struct idmap {
    VEC(struct idmap_entry) sorted;
    VEC(struct idmap_entry) late; /* came behind a higher id, and wait for idmap_settle */
};

void idmap_done(struct idmap *map);
size_t idmap_bytes(const struct idmap *map);

/* Gives an id a value, which replaces an older one once it is settled. Errors: ERR_MEMORY. */
MUST_CHECK int idmap_add(struct idmap *map, uint32_t id, uint32_t value, struct error *err);
/* Takes the value of an id away, if it has one. */
void idmap_forget(struct idmap *map, uint32_t id);
/* From now on all that was added is found. Errors: ERR_MEMORY; then it can be tried again. */
MUST_CHECK int idmap_settle(struct idmap *map, struct error *err);
/* The values of `n` ids, which never fall; IDMAP_NONE for those that are not there or not settled. */
void idmap_find(const struct idmap *map, const uint32_t *ids, uint32_t n, uint32_t *ret_values);
