// SPDX-License-Identifier: Apache-2.0
/* Little-endian base-128 integers, as in protobuf: seven bits per byte, the top bit says that more follow.
 *
 * Reading takes at most ten bytes and refuses a tenth one over 1, which would not fit 64 bits. Needlessly long forms of
 * small numbers are read, as protobuf demands; writing gives the shortest form. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

#define VARINT_MAX_BYTES 10

/* Signed to unsigned so that small magnitudes stay small: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t varint_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t varint_unzigzag(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

/* How many bytes varint_put writes, 1 to 10. */
static inline size_t varint_size(uint64_t value)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

    return (bits * 9 + 64) / 64; /* bits / 7, rounded up */
}

/* Writes `value` at `at`, where VARINT_MAX_BYTES must be free; returns the end. */
static inline char *varint_put(char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (char)value;
    return at;
}

static inline void varint_append(struct buffer *out, uint64_t value)
{
    char bytes[VARINT_MAX_BYTES];

    buffer_append(out, bytes, (size_t)(varint_put(bytes, value) - bytes));
}

/* The general case of varint_get. */
const char *varint_get_long(const char *at, const char *end, uint64_t *ret_value);

/* Reads the number at `at` and returns where the next thing begins; NULL if it is cut off at `end` or too large. Never
 * looks at `end` or behind. */
static inline const char *varint_get(const char *at, const char *end, uint64_t *ret_value)
{
    if (LIKELY(end - at >= 2)) {
        unsigned char first = (unsigned char)at[0];
        unsigned char second = (unsigned char)at[1];

        if (LIKELY(first < 0x80)) {
            *ret_value = first;
            return at + 1;
        }
        if (LIKELY(second < 0x80)) {
            *ret_value = (uint64_t)(first & 0x7f) | (uint64_t)second << 7;
            return at + 2;
        }
    }
    return varint_get_long(at, end, ret_value);
}

/* Cuts the number off the front of `rest`; false, with nothing changed, where varint_get gives NULL. */
static inline bool varint_next(struct slice *rest, uint64_t *ret_value)
{
    const char *end = rest->len ? rest->ptr + rest->len : rest->ptr;
    const char *next = varint_get(rest->ptr, end, ret_value);

    if (UNLIKELY(!next))
        return false;
    *rest = slice_of(next, (size_t)(end - next));
    return true;
}

/* Appends `n` numbers. What went wrong, if anything, says buffer_check. */
void varint_encode_u64(const uint64_t *values, size_t n, struct buffer *out);
void varint_encode_u32(const uint32_t *values, size_t n, struct buffer *out);

/* Cuts `n` numbers off the front of `rest` into `values`. Errors: ERR_CORRUPT, naming number and offset, when one is
 * cut off or too large for its type; then `rest` is unchanged and `values` holds rubbish. */
MUST_CHECK int varint_decode_u64(struct slice *rest, uint64_t *values, size_t n, struct error *err);
MUST_CHECK int varint_decode_u32(struct slice *rest, uint32_t *values, size_t n, struct error *err);
