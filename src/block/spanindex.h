// SPDX-License-Identifier: Apache-2.0
/* The span index: which series may have samples of a span (kind 'x' of storekey.h). A value is a list of entries
 *
 *     8 bytes   span id
 *     u32 be    series
 *
 * rising bytewise, each pair once, and at least one. */
#pragma once

#include "base/buffer.h"

#define SPANINDEX_ID_BYTES    8
#define SPANINDEX_ENTRY_BYTES 12

struct spanindex_entry {
    uint8_t span_id[SPANINDEX_ID_BYTES];
    uint32_t series;
};

/* The order of entries, for qsort. */
int spanindex_compare(const void *a, const void *b);
/* Appends an entry. What went wrong, if anything, says buffer_check. */
void spanindex_append(const struct spanindex_entry *entry, struct buffer *out);

/* Whether a value is one: its length and its order. Errors: ERR_CORRUPT saying which entry is wrong. */
MUST_CHECK int spanindex_check(struct slice bytes, struct error *err);
/* Of a value that was checked: how many entries it has, and each of them. */
size_t spanindex_n(struct slice bytes);
struct spanindex_entry spanindex_get(struct slice bytes, size_t i);
/* Likewise: the place of the first entry of the span, or the number of entries; further ones of it follow. */
size_t spanindex_find(struct slice bytes, const uint8_t span_id[static SPANINDEX_ID_BYTES]);
