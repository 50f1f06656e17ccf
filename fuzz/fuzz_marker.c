// SPDX-License-Identifier: Apache-2.0
/* The small values of a day; the first byte of the input chooses which: markers, tallies, tombstones,
 * kept ranges, the file FORMAT, the records of profile ids. Any bytes give a value or an error; what was read, written again, is read as the same. */
#include "block/idrecord.h"
#include "store/datadir.h"
#include "store/keeps.h"
#include "store/marker.h"
#include "store/tombstone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_marker(struct slice bytes, struct buffer *out)
{
    struct marker marker, again;
    struct error err;

    if (marker_decode(bytes, &marker, &err) < 0)
        return;
    marker_encode(&marker, out);
    ASSERT(marker_decode(buffer_slice(out), &again, &err) == 0);
    ASSERT(again.head == marker.head && again.replaces_below == marker.replaces_below &&
           again.tombstone == marker.tombstone && again.n_rows == marker.n_rows &&
           again.n_samples == marker.n_samples && again.bytes == marker.bytes && again.made_ns == marker.made_ns);
}

static void try_tally(struct slice bytes, struct buffer *out)
{
    struct tally tally, again;
    struct error err;

    if (tally_decode(bytes, &tally, &err) < 0)
        return;
    tally_encode(&tally, out);
    ASSERT(tally_decode(buffer_slice(out), &again, &err) == 0);
    ASSERT(again.n_rows == tally.n_rows && again.n_samples == tally.n_samples && again.bytes == tally.bytes);
}

static void try_tombstone(struct slice bytes, struct buffer *out)
{
    struct tombstone tombstone, again;
    struct error err;

    if (tombstone_decode(bytes, &tombstone, &err) < 0)
        return;
    tombstone_encode(&tombstone, out);
    ASSERT(buffer_check(out, &err) == 0);
    ASSERT(tombstone_decode(buffer_slice(out), &again, &err) == 0);
    ASSERT(again.from_ns == tombstone.from_ns && again.until_ns == tombstone.until_ns &&
           again.made_ns == tombstone.made_ns && again.sequence == tombstone.sequence);
    ASSERT(!again.selector == !tombstone.selector);
    tombstone_done(&tombstone);
    tombstone_done(&again);
}

static void try_keep(struct slice bytes, struct buffer *out)
{
    struct store_keep keep, again;
    struct error err;

    if (keeps_decode(bytes, &keep, &err) < 0)
        return;
    keeps_encode(&keep, out);
    ASSERT(keeps_decode(buffer_slice(out), &again, &err) == 0);
    ASSERT(again.from_ns == keep.from_ns && again.until_ns == keep.until_ns && again.made_ns == keep.made_ns);
    ASSERT(slice_equal(again.selector, keep.selector));
}

static void try_format(struct slice bytes)
{
    uint64_t seed;
    struct error err;

    IGNORE(datadir_parse_format(bytes.len ? bytes.ptr : "", bytes.len, &seed, &err), "any answer will do");
}

static void try_idrecord(struct slice bytes, struct buffer *out)
{
    AUTO(arena_done) struct arena arena;
    struct idrecord record, again;
    struct error err;

    arena_init(&arena, 0);
    if (idrecord_decode(bytes, &arena, &record, &err) < 0)
        return;
    idrecord_encode(&record, out);
    ASSERT(idrecord_decode(buffer_slice(out), &arena, &again, &err) == 0);
    ASSERT(again.start_ns == record.start_ns && again.sequence == record.sequence && again.n_rows == record.n_rows &&
           memcmp(again.series, record.series, record.n_rows * sizeof(*record.series)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buffer_done) struct buffer out;
    struct slice bytes;

    buffer_init(&out, 0);
    if (size == 0)
        return 0;
    bytes = slice_of(data + 1, size - 1);
    switch (data[0] % 6) {
    case 0: try_marker(bytes, &out); break;
    case 1: try_tally(bytes, &out); break;
    case 2: try_tombstone(bytes, &out); break;
    case 3: try_keep(bytes, &out); break;
    case 4: try_format(bytes); break;
    case 5: try_idrecord(bytes, &out); break;
    }
    return 0;
}
