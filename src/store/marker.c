// SPDX-License-Identifier: Apache-2.0
#include "store/marker.h"

#include "pack/varint.h"

enum { MARKER_VERSION = 1 };

void marker_encode(const struct marker *marker, struct buffer *out)
{
    buffer_append_byte(out, MARKER_VERSION);
    varint_append(out, marker->head == MARKER_NO_HEAD ? 0 : (uint64_t)marker->head + 1);
    varint_append(out, marker->replaces_below);
    varint_append(out, marker->n_rows);
    varint_append(out, marker->n_samples);
    varint_append(out, marker->bytes);
    varint_append(out, marker->tombstone);
    varint_append(out, varint_zigzag(marker->made_ns));
}

int marker_decode(struct slice bytes, struct marker *ret_marker, struct error *err)
{
    uint64_t head, replaces, rows, samples, size, tombstone, made;

    if (!bytes.len)
        return error_set(err, ERR_CORRUPT, "the marker of an hour is empty");
    if (bytes.ptr[0] != MARKER_VERSION)
        return error_set(err, ERR_VERSION, "the marker of an hour has version %d, this program knows %d", bytes.ptr[0],
                         MARKER_VERSION);
    bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (!varint_next(&bytes, &head) || !varint_next(&bytes, &replaces) || !varint_next(&bytes, &rows) ||
        !varint_next(&bytes, &samples) || !varint_next(&bytes, &size) || !varint_next(&bytes, &tombstone) ||
        !varint_next(&bytes, &made) || bytes.len || head > UINT32_MAX || replaces > UINT32_MAX ||
        tombstone > UINT32_MAX)
        return error_set(err, ERR_CORRUPT, "the marker of an hour is damaged");
    *ret_marker = (struct marker){
        .head = head ? (uint32_t)(head - 1) : MARKER_NO_HEAD,
        .replaces_below = (uint32_t)replaces,
        .n_rows = rows,
        .n_samples = samples,
        .bytes = size,
        .tombstone = (uint32_t)tombstone,
        .made_ns = varint_unzigzag(made),
    };
    return 0;
}

void tally_encode(const struct tally *tally, struct buffer *out)
{
    buffer_append_byte(out, MARKER_VERSION);
    varint_append(out, tally->n_rows);
    varint_append(out, tally->n_samples);
    varint_append(out, tally->bytes);
}

int tally_decode(struct slice bytes, struct tally *ret_tally, struct error *err)
{
    struct tally tally;

    if (!bytes.len)
        return error_set(err, ERR_CORRUPT, "the tally of an hour is empty");
    if (bytes.ptr[0] != MARKER_VERSION)
        return error_set(err, ERR_VERSION, "the tally of an hour has version %d, this program knows %d", bytes.ptr[0],
                         MARKER_VERSION);
    bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (!varint_next(&bytes, &tally.n_rows) || !varint_next(&bytes, &tally.n_samples) ||
        !varint_next(&bytes, &tally.bytes) || bytes.len)
        return error_set(err, ERR_CORRUPT, "the tally of an hour is damaged");
    *ret_tally = tally;
    return 0;
}
