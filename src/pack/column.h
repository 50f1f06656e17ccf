// SPDX-License-Identifier: Apache-2.0
/* Columns of integers made ready for a general compressor: differences, common divisors and byte planes.
 *
 * A byte plane holds the bytes of equal significance of all values. High planes of small values are all zero and are
 * left out; the others compress far better apart than mixed.
 *
 * An encoded column describes itself and ends where its header says, so that several may follow each other:
 *
 *     byte 0           bits 0-1 enum column_coding, bits 2-5 width (0 to 8), bits 6-7 zero
 *     varint           n, the number of values
 *     varint           divisor, at least 1
 *     varint           minimum
 *     width * n bytes  the planes, lowest first
 *
 * where value = minimum + divisor * quotient, and the planes hold the quotients after column_apply. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

/* How each value is written in terms of those before it. All arithmetic is modulo 2^64 and loses nothing; the wrong
 * choice only costs space. */
enum column_coding {
    COLUMN_PLAIN,
    COLUMN_DELTA,          /* difference to the value before; for rising values */
    COLUMN_ZIGZAG_DELTA,   /* the same with the sign in the lowest bit; for values that wander */
    COLUMN_DELTA_OF_DELTA, /* zigzag of the change of the difference; for steady clocks */
};

/* Rewrites the values in place, and back. The value before the first counts as 0. */
void column_apply(enum column_coding coding, uint64_t *values, size_t n);
void column_undo(enum column_coding coding, uint64_t *values, size_t n);

/* The greatest number that divides all `values`; 0 if all are 0 or there are none. */
uint64_t column_gcd(const uint64_t *values, size_t n);

/* How many planes the values need, 0 to 8 (0 to 4): the bytes of the largest. */
unsigned column_width_u64(const uint64_t *values, size_t n);
unsigned column_width_u32(const uint32_t *values, size_t n);

/* Splits the low `width` bytes of `n` values into `width * n` bytes at `planes`, lowest plane first, and back; joined
 * values have zero in the bytes above. */
void column_split_u64(const uint64_t *values, size_t n, unsigned width, char *planes);
void column_split_u32(const uint32_t *values, size_t n, unsigned width, char *planes);
void column_join_u64(const char *planes, size_t n, unsigned width, uint64_t *values);
void column_join_u32(const char *planes, size_t n, unsigned width, uint32_t *values);

/* Appends the values as an encoded column. What went wrong, if anything, says buffer_check. */
void column_encode_u64(const uint64_t *values, size_t n, enum column_coding coding, struct buffer *out);
void column_encode_u32(const uint32_t *values, size_t n, enum column_coding coding, struct buffer *out);

/* Cuts an encoded column off the front of `rest` and gives its values from `arena`. On failure `rest` is unchanged.
 * `max_values` is as many as there can be by all that the caller knows: more are damage. Errors: ERR_CORRUPT with the
 * offset (cut off, impossible header, too many values, one that does not fit), ERR_LIMIT (the arena's), ERR_MEMORY. */
MUST_CHECK int column_decode_u64(struct slice *rest, size_t max_values, struct arena *arena, uint64_t **ret_values,
                                 size_t *ret_n, struct error *err);
MUST_CHECK int column_decode_u32(struct slice *rest, size_t max_values, struct arena *arena, uint32_t **ret_values,
                                 size_t *ret_n, struct error *err);
/* The same for a column of exactly `n` values that were zigzag numbers: gives the signed ones to the caller's array. */
MUST_CHECK int column_decode_zigzag(struct slice *rest, size_t n, int64_t *ret_values, struct error *err);
/* Cuts an encoded column off the front of `rest` without looking at its values. Errors: ERR_CORRUPT (cut off, impossible
 * header, too many values). */
MUST_CHECK int column_skip(struct slice *rest, size_t max_values, size_t *ret_n, struct error *err);
