// SPDX-License-Identifier: Apache-2.0
#include "block/spanindex.h"

#include "base/test.h"

#include <stdlib.h>

static struct spanindex_entry entry_of(uint8_t first, uint8_t last, uint32_t series)
{
    return (struct spanindex_entry){ .span_id = { [0] = first, [7] = last }, .series = series };
}

static void make(const struct spanindex_entry *entries, size_t n, struct buffer *out)
{
    struct error err;

    buffer_init(out, 0);
    for (size_t i = 0; i < n; i++)
        spanindex_append(&entries[i], out);
    CHECK_OK(buffer_check(out, &err), &err);
}

TEST(spanindex_finds_every_series_of_a_span)
{
    struct spanindex_entry entries[] = { entry_of(1, 0, 7), entry_of(1, 1, 300), entry_of(1, 1, 70000),
                                         entry_of(0xff, 0, 1) };
    struct buffer bytes;
    struct slice value;
    struct error err;

    make(entries, ARRAY_LEN(entries), &bytes);
    value = buffer_slice(&bytes);
    CHECK_OK(spanindex_check(value, &err), &err);
    CHECK_EQ(spanindex_n(value), 4);
    CHECK_EQ(spanindex_find(value, entry_of(1, 0, 0).span_id), 0);
    CHECK_EQ(spanindex_find(value, entry_of(1, 1, 0).span_id), 1);
    CHECK_EQ(spanindex_get(value, 1).series, 300);
    CHECK_EQ(spanindex_get(value, 2).series, 70000);
    CHECK_EQ(memcmp(spanindex_get(value, 2).span_id, entries[2].span_id, SPANINDEX_ID_BYTES), 0);
    CHECK_EQ(spanindex_find(value, entry_of(0xff, 0, 0).span_id), 3);
    CHECK_EQ(spanindex_find(value, entry_of(0, 0, 0).span_id), 4);
    CHECK_EQ(spanindex_find(value, entry_of(2, 0, 0).span_id), 4);
    CHECK_EQ(spanindex_find(value, entry_of(0xff, 1, 0).span_id), 4);
    buffer_done(&bytes);
}

TEST(spanindex_orders_entries_as_their_bytes)
{
    struct spanindex_entry entries[] = { entry_of(0xff, 0, 1), entry_of(1, 1, 256), entry_of(1, 1, 1),
                                         entry_of(0, 0x80, 9) };
    struct buffer bytes;
    struct error err;

    qsort(entries, ARRAY_LEN(entries), sizeof(*entries), spanindex_compare);
    make(entries, ARRAY_LEN(entries), &bytes);
    CHECK_OK(spanindex_check(buffer_slice(&bytes), &err), &err);
    CHECK_EQ(spanindex_compare(&entries[1], &entries[1]), 0);
    CHECK_EQ(entries[1].series, 1);
    CHECK_EQ(entries[2].series, 256);
    buffer_done(&bytes);
}

TEST(spanindex_says_what_is_wrong_with_a_value)
{
    struct spanindex_entry falling[] = { entry_of(1, 0, 7), entry_of(3, 0, 7), entry_of(2, 0, 7) };
    struct spanindex_entry twice[] = { entry_of(1, 0, 7), entry_of(1, 0, 7) };
    struct buffer bytes;
    struct error err;

    make(falling, ARRAY_LEN(falling), &bytes);
    CHECK_ERROR(spanindex_check(buffer_slice(&bytes), &err), &err, ERR_CORRUPT);
    CHECK_HAS(slice_from(err.text), "entry 3 is not behind the one before");
    for (size_t len = 0; len < 24; len++)
        if (len % 12 || len == 0) {
            CHECK_ERROR(spanindex_check(slice_sub(buffer_slice(&bytes), 0, len), &err), &err, ERR_CORRUPT);
            CHECK_HAS(slice_from(err.text), "bytes are no list of 12 bytes each");
        }
    buffer_done(&bytes);
    make(twice, ARRAY_LEN(twice), &bytes);
    CHECK_ERROR(spanindex_check(buffer_slice(&bytes), &err), &err, ERR_CORRUPT);
    CHECK_HAS(slice_from(err.text), "entry 2 is not behind");
    buffer_done(&bytes);
}
