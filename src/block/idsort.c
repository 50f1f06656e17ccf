// SPDX-License-Identifier: Apache-2.0
#include "block/idsort.h"

#include <string.h>

#define FEW 24u /* up to here, moving pairs one by one is faster than counting bytes */

static void insert_pairs(uint64_t *pairs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t pair = pairs[i];
        size_t at = i;

        for (; at > 0 && idsort_id(pairs[at - 1]) > idsort_id(pair); at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
}

/* One pass: from `pairs` to `sorted`, by the byte at `shift`. */
static void sort_by_byte(const uint64_t *pairs, size_t n, unsigned shift, uint64_t *sorted)
{
    uint32_t starts[256] = { 0 };
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        starts[(uint8_t)(pairs[i] >> shift)]++;
    for (size_t byte = 0; byte < ARRAY_LEN(starts); byte++) {
        uint32_t count = starts[byte];

        starts[byte] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        sorted[starts[(uint8_t)(pairs[i] >> shift)]++] = pairs[i];
}

void idsort_pairs(uint64_t *pairs, uint64_t *scratch, size_t n)
{
    uint64_t *from = pairs, *to = scratch;
    uint64_t differing = 0;

    if (n <= FEW) {
        insert_pairs(pairs, n);
        return;
    }
    for (size_t i = 1; i < n; i++)
        differing |= pairs[i] ^ pairs[0];
    for (unsigned shift = 32; shift < 64; shift += 8) {
        uint64_t *sorted = to;

        if ((uint8_t)(differing >> shift) == 0)
            continue;
        sort_by_byte(from, n, shift, sorted);
        to = from;
        from = sorted;
    }
    if (from != pairs)
        memcpy(pairs, from, n * sizeof(*pairs));
}
