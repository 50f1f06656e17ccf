// SPDX-License-Identifier: Apache-2.0
/* A set of span ids, for those who ask for many: open addressing over 64-bit words, 16 to 32 bytes each. */
#pragma once

#include "base/error.h"

#define SPANIDS_ID_BYTES 8

struct spanids {
    uint64_t *slots; /* 0 = empty: no span has that id */
    size_t n, capacity, max;
    uint64_t seed; /* ids are somebody else's choice: nobody can choose those that collide */
};

/* An empty set of at most `max` ids. Allocates nothing yet. Thread: one at a time; once filled, any. */
void spanids_init(struct spanids *ids, size_t max);
void spanids_done(struct spanids *ids);
/* Adds one; zeros, and one that is there already, are left out. Errors: ERR_LIMIT naming `max`, ERR_MEMORY. */
MUST_CHECK int spanids_add(struct spanids *ids, const uint8_t id[static SPANIDS_ID_BYTES], struct error *err);
/* What it takes. */
static inline size_t spanids_bytes(const struct spanids *ids)
{
    return ids->capacity * sizeof(*ids->slots);
}
bool spanids_has(const struct spanids *ids, const uint8_t id[static SPANIDS_ID_BYTES]);
