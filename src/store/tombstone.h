// SPDX-License-Identifier: Apache-2.0
/* What was deleted: rows of a tenant's day that match a selector, start in a range and were written before.
 *
 * As bytes: byte 1 (the version), then varints: from_ns (signed), until_ns (signed), made_ns (signed), sequence, length
 * of the selector, its text. A row belongs to it when its sequence is lower: what arrives later is not touched. */
#pragma once

#include "base/buffer.h"
#include "block/headrow.h"
#include "label/selector.h"

struct tombstone {
    uint32_t tenant;
    uint32_t number;
    uint32_t sequence;
    int64_t from_ns, until_ns;
    int64_t made_ns;
    struct selector *selector; /* NULL = everything */
};

void tombstone_encode(const struct tombstone *tombstone, struct buffer *out);
/* Reads the value; tenant and number are in the key. Errors: ERR_CORRUPT, ERR_VERSION, ERR_MEMORY; what the selector
 * says is wrong with it. */
MUST_CHECK int tombstone_decode(struct slice bytes, struct tombstone *ret_tombstone, struct error *err);
void tombstone_done(struct tombstone *tombstone);

/* Whether it may concern rows that start in [from_ns, until_ns). */
static inline bool tombstone_overlaps(const struct tombstone *tombstone, int64_t from_ns, int64_t until_ns)
{
    return tombstone->from_ns < until_ns && tombstone->until_ns > from_ns;
}

static inline bool tombstone_covers(const struct tombstone *tombstone, int64_t start_ns, uint32_t sequence)
{
    return start_ns >= tombstone->from_ns && start_ns < tombstone->until_ns && sequence < tombstone->sequence;
}
