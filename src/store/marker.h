// SPDX-License-Identifier: Apache-2.0
/* What a closing of an hour says about itself, beside the blocks it made, in the same atomic step.
 *
 * M1  A marker with a head number hides that head: its rows are in the blocks of this number, or of one that replaced
 *     it. So a marker that was replaced stays until that head is gone.
 * M2  Blocks whose number is below the `replaces_below` of any marker of the hour do not count any more.
 *
 * As bytes: byte 1 (the version), then varints: head (0 = none, else number + 1), replaces_below, n_rows, n_samples,
 * bytes, tombstone (deletions with lower numbers are applied), made_ns (signed). */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#define MARKER_NO_HEAD UINT32_MAX

struct marker {
    uint8_t hour;
    uint32_t number;
    uint32_t head;           /* or MARKER_NO_HEAD */
    uint32_t replaces_below; /* 0 = none */
    uint32_t tombstone;
    uint64_t n_rows, n_samples;
    uint64_t bytes; /* of keys and values of the blocks, without the marker */
    int64_t made_ns;
};

void marker_encode(const struct marker *marker, struct buffer *out);
/* Reads the value; hour and number are in the key. Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int marker_decode(struct slice bytes, struct marker *ret_marker, struct error *err);

/* What one closing of an hour holds of one tenant: byte 1 (the version), then varints n_rows, n_samples, bytes. */
struct tally {
    uint64_t n_rows, n_samples;
    uint64_t bytes; /* of keys and values, without the tally */
};
void tally_encode(const struct tally *tally, struct buffer *out);
MUST_CHECK int tally_decode(struct slice bytes, struct tally *ret_tally, struct error *err);
