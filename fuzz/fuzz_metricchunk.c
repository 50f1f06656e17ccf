// SPDX-License-Identifier: Apache-2.0
/* What the store of metrics keeps; the first byte of the input chooses which: chunks of points, rows, series. Any bytes give a
 * value or an error; what was read, written again, is read as the same. */
#include "metric/metricchunk.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROW_TIME_MS 1794821400123u

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_same(const struct metric_point *a, const struct metric_point *b)
{
    ASSERT(a->time_ns == b->time_ns && a->start_ns == b->start_ns && same_bits(a->value, b->value));
    ASSERT(metricchunk_go_together(a, b));
    if (!a->histogram)
        return;
    ASSERT(same_bits(a->histogram->sum, b->histogram->sum));
    for (uint32_t i = 0; i <= a->histogram->n_bounds; i++)
        ASSERT(a->histogram->counts[i] == b->histogram->counts[i]);
}

static void try_chunk(struct slice bytes, struct arena *arena, struct buffer *out)
{
    struct metric_point *points, *again;
    size_t n, n_again;
    struct error err;

    if (metricchunk_decode(bytes, arena, &points, &n, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT);
        return;
    }
    ASSERT(metricchunk_encode(points, n, arena, out, &err) == 0);
    ASSERT(metricchunk_decode(buffer_slice(out), arena, &again, &n_again, &err) == 0 && n_again == n);
    for (size_t i = 0; i < n; i++)
        check_same(&points[i], &again[i]);
}

static void try_row(struct slice bytes, struct arena *arena, struct buffer *out)
{
    struct metric_point point, again;
    struct error err;

    if (metricrow_decode(bytes, ROW_TIME_MS, arena, &point, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT);
        return;
    }
    metricrow_encode(&point, out);
    ASSERT(metricrow_decode(buffer_slice(out), ROW_TIME_MS, arena, &again, &err) == 0);
    check_same(&point, &again);
}

static void try_series(struct slice bytes, struct arena *arena, struct buffer *out)
{
    struct metric_series series, again;
    struct error err;

    if (metricseries_decode(bytes, arena, &series, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT);
        return;
    }
    metricseries_encode(&series, out);
    ASSERT(metricseries_decode(buffer_slice(out), arena, &again, &err) == 0);
    ASSERT(slice_equal(series.name, again.name) && slice_equal(series.unit, again.unit));
    ASSERT(series.kind == again.kind && series.temporality == again.temporality && series.n_labels == again.n_labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct slice bytes;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    if (size == 0)
        return 0;
    bytes = slice_of(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0: try_chunk(bytes, &arena, &out); break;
    case 1: try_row(bytes, &arena, &out); break;
    case 2: try_series(bytes, &arena, &out); break;
    }
    return 0;
}
