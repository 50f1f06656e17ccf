// SPDX-License-Identifier: Apache-2.0
#include "block/spanindex.h"

#include "base/bytes.h"

int spanindex_compare(const void *a, const void *b)
{
    const struct spanindex_entry *x = a, *y = b;
    int order = memcmp(x->span_id, y->span_id, sizeof(x->span_id));

    if (order)
        return order;
    return x->series < y->series ? -1 : x->series > y->series;
}

void spanindex_append(const struct spanindex_entry *entry, struct buffer *out)
{
    char bytes[SPANINDEX_ENTRY_BYTES];

    memcpy(bytes, entry->span_id, SPANINDEX_ID_BYTES);
    bytes_put_be32(bytes + SPANINDEX_ID_BYTES, entry->series);
    buffer_append(out, bytes, sizeof(bytes));
}

/* Of two entries side by side, whether they are in order: two numbers each are quicker to compare than bytes, and every
 * reader does it for the whole list. */
static bool rises(const char *entry, const char *next)
{
    uint64_t id = bytes_get_be64(entry), next_id = bytes_get_be64(next);

    return id < next_id ||
           (id == next_id && bytes_get_be32(entry + SPANINDEX_ID_BYTES) < bytes_get_be32(next + SPANINDEX_ID_BYTES));
}

int spanindex_check(struct slice bytes, struct error *err)
{
    if (bytes.len == 0 || bytes.len % SPANINDEX_ENTRY_BYTES)
        return error_set(err, ERR_CORRUPT, "%zu bytes are no list of %d bytes each", bytes.len, SPANINDEX_ENTRY_BYTES);
    for (size_t at = SPANINDEX_ENTRY_BYTES; at < bytes.len; at += SPANINDEX_ENTRY_BYTES)
        if (!rises(bytes.ptr + at - SPANINDEX_ENTRY_BYTES, bytes.ptr + at))
            return error_set(err, ERR_CORRUPT, "entry %zu is not behind the one before",
                             at / SPANINDEX_ENTRY_BYTES + 1);
    return 0;
}

size_t spanindex_n(struct slice bytes)
{
    return bytes.len / SPANINDEX_ENTRY_BYTES;
}

struct spanindex_entry spanindex_get(struct slice bytes, size_t i)
{
    const char *at = bytes.ptr + i * SPANINDEX_ENTRY_BYTES;
    struct spanindex_entry entry = { .series = bytes_get_be32(at + SPANINDEX_ID_BYTES) };

    memcpy(entry.span_id, at, SPANINDEX_ID_BYTES);
    return entry;
}

size_t spanindex_find(struct slice bytes, const uint8_t span_id[static SPANINDEX_ID_BYTES])
{
    size_t low = 0, high = spanindex_n(bytes);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memcmp(bytes.ptr + middle * SPANINDEX_ENTRY_BYTES, span_id, SPANINDEX_ID_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < spanindex_n(bytes) && memcmp(bytes.ptr + low * SPANINDEX_ENTRY_BYTES, span_id, SPANINDEX_ID_BYTES) == 0)
        return low;
    return spanindex_n(bytes);
}
