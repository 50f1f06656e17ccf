// SPDX-License-Identifier: Apache-2.0
/* Short columns of integers that mostly change little or steadily, in bits: for some tens or hundreds of values, where a
 * general compressor finds too little to work with.
 *
 * Values are written as they are, as differences, or as changes of the difference, whichever takes least. What comes of it
 * is counted from the number in the middle of them all, divided by what divides the rest, and each takes as many bits as it
 * needs (exponential Golomb codes of an order chosen for the column). A column that follows the rule exactly takes no bits
 * at all.
 *
 *     byte 0   bits 0-1 how: 0 as it is, 1 difference, 2 change of difference; bits 2-7 the order of the codes, 0 to 63
 *     varint   divisor; 0 = all numbers are the middle one, and nothing follows the next two
 *     varint   the middle one, zigzag
 *     varints  zigzag: of differences the first value, of changes of difference also the first difference (as many as
 *              there are values)
 *     bits     the other numbers less the middle one, divided, zigzag: highest bit first, zeros up to a whole byte
 *
 * A number v at order k: q = (v >> k) + 1, as many zeros as q has bits behind its first, q itself, then the lowest k bits of
 * v. All arithmetic is modulo 2^64 and loses nothing. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

/* Appends the values, whose number is kept elsewhere. `scratch` has room for as many. What went wrong, if anything, says
 * buffer_check. Thread: any. */
void bitcolumn_encode(const uint64_t *values, size_t n, uint64_t *scratch, struct buffer *out);

/* Cuts a column of `n` values off the front of `rest`. Errors: ERR_CORRUPT (cut off, a code that is too long, an impossible
 * header); then `rest` is unchanged and `values` holds rubbish. */
MUST_CHECK int bitcolumn_decode(struct slice *rest, uint64_t *values, size_t n, struct error *err);
