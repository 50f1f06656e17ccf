// SPDX-License-Identifier: Apache-2.0
#include "metric/metriccheck.h"

#include "metric/metricchunk.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

static int check_row(uint64_t time_ms, struct slice value, struct arena *arena, struct error *err)
{
    struct metric_point point;

    return metricrow_decode(value, time_ms, arena, &point, err);
}

static int check_chunk(struct slice key, uint64_t first_ms, struct slice value, struct arena *arena, struct error *err)
{
    struct metric_point *points;
    size_t n;

    if (key.ptr[0] != METRICROW_CHUNK_KEY)
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a chunk of a metric", key.len);
    if (metricchunk_decode(value, arena, &points, &n, err) < 0)
        return -1;
    if ((uint64_t)(points[0].time_ns / METRICROW_NS_PER_MS) != first_ms)
        return error_set(err, ERR_CORRUPT, "chunk of a metric: its first point is not of the time that its key has");
    return 0;
}

static int check_series(struct slice key, uint64_t number, struct slice value, struct arena *arena, struct error *err)
{
    struct metric_series series;

    if (key.ptr[0] != METRICROW_SERIES_KEY)
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a series", key.len);
    if (metricseries_decode(value, arena, &series, err) < 0)
        return -1;
    if (metricseries_number(value) != number)
        return error_set(err, ERR_CORRUPT, "series '%.*s' has not the number that its key has", SLICE_ARG(series.name));
    return 0;
}

int metriccheck(void *context UNUSED, enum hourly_part part, struct slice key, struct slice value, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    uint64_t first, second;
    struct slice before;

    arena_init(&arena, 0);
    if (!metricrow_key_parse(key, &before, &first, &second))
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of metrics", key.len);
    switch (part) {
    case HOURLY_ROW: return check_row(second, value, &arena, err);
    case HOURLY_BLOCK: return check_chunk(key, second, value, &arena, err);
    case HOURLY_INDEX: return check_series(key, second, value, &arena, err);
    }
    return 0;
}
