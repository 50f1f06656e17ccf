// SPDX-License-Identifier: Apache-2.0
/* Values of the span index, and the ids that rows have by themselves. The first 16 bytes are an id, of a span in front; the
 * rest is a value. One that is taken finds exactly what a walk from its beginning finds, and is the same when written
 * again. */
#include "block/rowid.h"
#include "block/spanindex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_rowid(const uint8_t id[static ROWID_BYTES])
{
    uint8_t again[ROWID_BYTES];
    struct rowid row;

    if (!rowid_decode(id, &row))
        return;
    rowid_encode(&row, again);
    ASSERT(memcmp(id, again, sizeof(again)) == 0);
}

static void check_find(struct slice bytes, const uint8_t span_id[static SPANINDEX_ID_BYTES])
{
    size_t n = spanindex_n(bytes), at = 0;
    struct spanindex_entry entry;

    while (at < n && (entry = spanindex_get(bytes, at), memcmp(entry.span_id, span_id, sizeof(entry.span_id)) != 0))
        at++;
    ASSERT(spanindex_find(bytes, span_id) == at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buffer_done) struct buffer out;
    struct slice bytes;
    struct error err;

    buffer_init(&out, 0);
    if (size < ROWID_BYTES)
        return 0;
    try_rowid(data);
    bytes = slice_of(data + ROWID_BYTES, size - ROWID_BYTES);
    if (spanindex_check(bytes, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT);
        return 0;
    }
    check_find(bytes, data);
    for (size_t i = 0; i < spanindex_n(bytes); i++) {
        struct spanindex_entry entry = spanindex_get(bytes, i);

        if (i < 100)
            check_find(bytes, entry.span_id);
        spanindex_append(&entry, &out);
    }
    ASSERT(buffer_check(&out, &err) == 0);
    ASSERT(slice_equal(buffer_slice(&out), bytes));
    return 0;
}
