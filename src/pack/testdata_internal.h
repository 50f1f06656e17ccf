// SPDX-License-Identifier: Apache-2.0
/* Content for the tests of this room: the same bytes on every run. */
#pragma once

#include "base/buffer.h"

enum testdata_shape { TESTDATA_ZEROS, TESTDATA_TEXT, TESTDATA_RANDOM };
#define TESTDATA_SHAPE_COUNT (TESTDATA_RANDOM + 1)

/* The next number of a fixed pseudo-random sequence (xorshift*); `state` must not be 0. */
static inline uint64_t testdata_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* Appends `n` bytes of the shape. Text is words in random order and deflates to about a sixth. */
static inline void testdata_append(struct buffer *out, enum testdata_shape shape, size_t n)
{
    static const char words[8][8] = { "malloc ", "main ", "runtime", ".park ", "hearth_", "0x7f", ";", "\n" };
    size_t end = out->len + n;
    uint64_t state = 42;

    while (out->len < end) {
        uint64_t number = testdata_random(&state);

        switch (shape) {
        case TESTDATA_ZEROS: buffer_append_byte(out, '\0'); break;
        case TESTDATA_TEXT: buffer_append_text(out, words[number >> 61]); break;
        case TESTDATA_RANDOM: buffer_append(out, &number, sizeof(number)); break;
        }
    }
    buffer_truncate(out, end);
}
