// SPDX-License-Identifier: Apache-2.0
/* Sorting by 32-bit ids: a radix sort, byte by byte, that leaves out the bytes in which all ids agree. Ids are dense,
 * so two or three of the four remain, and a sample costs about ten nanoseconds. */
#pragma once

#include "base/base.h"

/* What is sorted: an id in the upper half, and in the lower half where it came from. */
static inline uint64_t idsort_pair(uint32_t id, uint32_t from)
{
    return (uint64_t)id << 32 | from;
}

static inline uint32_t idsort_id(uint64_t pair)
{
    return (uint32_t)(pair >> 32);
}

static inline uint32_t idsort_from(uint64_t pair)
{
    return (uint32_t)pair;
}

/* Sorts `n` pairs by their ids; pairs with equal ids stay in the order they have. So several keys are sorted by one
 * after another, the least important first. `scratch` has room for `n` pairs and holds rubbish afterwards.
 * Thread: any. */
void idsort_pairs(uint64_t *pairs, uint64_t *scratch, size_t n);
