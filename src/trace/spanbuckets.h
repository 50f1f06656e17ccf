// SPDX-License-Identifier: Apache-2.0
/* Durations in buckets whose width grows with them, so that percentiles are within 3.2 % of the truth: 16 buckets for each
 * doubling, and one for each nanosecond below 16. The numbers of buckets are on disk (docs/format-traces.md). */
#pragma once

#include "base/base.h"

#define SPANBUCKETS_COUNT 960u /* enough for INT64_MAX */

/* The bucket of a duration that is not negative. */
static inline uint32_t spanbuckets_find(int64_t duration_ns)
{
    uint64_t value = (uint64_t)duration_ns;
    unsigned shift;

    if (value < 16)
        return (uint32_t)value;
    shift = 59 - (unsigned)__builtin_clzll(value); /* leaves five bits, the first of them 1 */
    return (shift << 4) + (uint32_t)(value >> shift);
}

/* The shortest duration of a bucket. */
static inline int64_t spanbuckets_first(uint32_t bucket)
{
    uint32_t shift = bucket >> 4;

    if (shift <= 1)
        return bucket;
    return (int64_t)((uint64_t)(16 + (bucket & 15)) << (shift - 1));
}

/* What stands for the durations of a bucket: its middle. */
static inline int64_t spanbuckets_middle(uint32_t bucket)
{
    uint32_t shift = bucket >> 4;

    return spanbuckets_first(bucket) + (shift <= 1 ? 0 : (int64_t)(((uint64_t)1 << (shift - 1)) / 2));
}
