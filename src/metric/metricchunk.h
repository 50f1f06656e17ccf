// SPDX-License-Identifier: Apache-2.0
/* Many points of one series in few bytes: what closing an hour makes of its rows.
 *
 *     byte 0    bit 0: 0 = numbers, 1 = histograms; bits 1-2 how starts are written: 0 none is told, 1 in ms (0 = not told),
 *               2 as ms behind the time of the point before, zigzag (of the first: its own time); bits 3-7 zero
 *     varint    number of points, 1 to METRICCHUNK_MAX_POINTS
 *     column    times in ms, rising
 *     column    starts, where they are told
 *     byte      how values (of histograms: sums) are written: 0 to 9 as integers of value * 10^this, 16 as the bits of the
 *               double XOR those of the value before, 17 the same with the order of the bits turned round
 *     column    values
 *     histograms: varint number of bounds, the bounds as doubles, and a column of counts for each bucket
 *
 * Columns are those of pack/bitcolumn.h. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "metric/metric.h"

#define METRICCHUNK_MAX_POINTS 1024u

/* Whether two points can be in one chunk: both numbers, or histograms of the same bounds. */
bool metricchunk_go_together(const struct metric_point *a, const struct metric_point *b);

/* Appends the points, 1 to METRICCHUNK_MAX_POINTS that go together, of rising times (in whole milliseconds). Scratch memory is
 * from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricchunk_encode(const struct metric_point *points, size_t n, struct arena *arena, struct buffer *out,
                                  struct error *err);

/* All points, of no series, from `arena`. Errors: ERR_CORRUPT saying what is wrong, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricchunk_decode(struct slice bytes, struct arena *arena, struct metric_point **ret_points,
                                  size_t *ret_n, struct error *err);
