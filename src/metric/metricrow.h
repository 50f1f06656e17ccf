// SPDX-License-Identifier: Apache-2.0
/* Keys of the store of metrics, and a point as the value of a row.
 *
 *     row of a head        tenant NUL | series u64 | time in ms u64                                  -> the point
 *     series, in the index 's' tenant NUL | service u64 | series u64                                 -> metricseries.h
 *     chunk of a block     'c' hour u8 | closing u32 | tenant NUL | series u64 | first time in ms u64 -> metricchunk.h
 *
 * all integers big-endian, so that the points of a series stand together, in the order of time. A row is
 *
 *     byte 0   0 = number, 1 = histogram
 *     varint   how many ms before its time it began to count, plus 1; 0 = not told
 *     double   the value; of histograms the sum
 *     histograms: varint number of bounds, the bounds as doubles, the counts as varints, one more than bounds */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "metric/metric.h"

#define METRICROW_NS_PER_MS        ((int64_t)1000000)
#define METRICROW_MAX_TENANT       150
#define METRICROW_MAX_KEY_BYTES    (METRICROW_MAX_TENANT + 1 + 1 + 5 + 16)
#define METRICROW_CHUNK_KEY        'c'
#define METRICROW_SERIES_KEY       's'
#define METRICROW_CHUNK_HEAD_BYTES 6 /* before the tenant */

struct metricrow_key {
    char bytes[METRICROW_MAX_KEY_BYTES];
    size_t len;
};
static inline struct slice metricrow_key_slice(const struct metricrow_key *key)
{
    return slice_of(key->bytes, key->len);
}

/* Beginnings of keys, to which numbers are added one by one. The tenant has at most METRICROW_MAX_TENANT bytes. */
struct metricrow_key metricrow_rows_of(struct slice tenant);
struct metricrow_key metricrow_series_of(struct slice tenant);
struct metricrow_key metricrow_chunks_of(uint8_t hour, uint32_t closing, struct slice tenant);
void metricrow_key_add(struct metricrow_key *key, uint64_t number);

/* The two numbers at the end of a key of any kind; false if it is too short. `*ret_before` is what stands before them. */
bool metricrow_key_parse(struct slice key, struct slice *ret_before, uint64_t *ret_first, uint64_t *ret_second);

/* The value of a row for this point, without its time. */
void metricrow_encode(const struct metric_point *point, struct buffer *out);
/* A point of no series, at `time_ms`; a histogram is from `arena`. Errors: ERR_CORRUPT, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricrow_decode(struct slice row, uint64_t time_ms, struct arena *arena, struct metric_point *ret_point,
                                struct error *err);
