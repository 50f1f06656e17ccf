// SPDX-License-Identifier: Apache-2.0
#include "metric/metriccheck.h"

#include "base/test.h"
#include "metric/metricchunk.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

static struct error err;

static int check(enum hourly_part part, struct metricrow_key key, uint64_t first, uint64_t second,
                 const struct buffer *value)
{
    metricrow_key_add(&key, first);
    metricrow_key_add(&key, second);
    return metriccheck(NULL, part, metricrow_key_slice(&key), buffer_slice(value), &err);
}

TEST(metriccheck_takes_what_is_sound_and_nothing_else)
{
    AUTO(buffer_done) struct buffer row;
    AUTO(buffer_done) struct buffer chunk;
    AUTO(buffer_done) struct buffer series;
    AUTO(arena_done) struct arena arena;
    const struct metric_point point = { .time_ns = 5000000, .value = 1 };
    struct metricrow_key rows = metricrow_rows_of(SLICE("t")), chunks = metricrow_chunks_of(1, 2, SLICE("t")),
                         index = metricrow_series_of(SLICE("t"));
    uint64_t number;

    buffer_init(&row, 0);
    buffer_init(&chunk, 0);
    buffer_init(&series, 0);
    arena_init(&arena, 0);
    metricrow_encode(&point, &row);
    CHECK_OK(metricchunk_encode(&point, 1, &arena, &chunk, &err), &err);
    metricseries_encode(&(struct metric_series){ .name = SLICE("go.x") }, &series);
    number = metricseries_number(buffer_slice(&series));

    CHECK_OK(check(HOURLY_ROW, rows, 7, 5, &row), &err);
    CHECK_OK(check(HOURLY_BLOCK, chunks, 7, 5, &chunk), &err);
    CHECK_OK(check(HOURLY_INDEX, index, 7, number, &series), &err);

    CHECK_ERROR(check(HOURLY_ROW, rows, 7, 5, &chunk), &err, ERR_CORRUPT);
    CHECK_ERROR(check(HOURLY_BLOCK, chunks, 7, 6, &chunk), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "its first point is not of the time that its key has");
    CHECK_ERROR(check(HOURLY_BLOCK, index, 7, 5, &chunk), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "none of a chunk");
    CHECK_ERROR(check(HOURLY_INDEX, index, 7, number + 1, &series), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "series 'go.x' has not the number that its key has");
    CHECK_ERROR(check(HOURLY_INDEX, chunks, 7, number, &series), &err, ERR_CORRUPT);
    CHECK_ERROR(metriccheck(NULL, HOURLY_ROW, SLICE("short"), SLICE(""), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "a key of 5 bytes is none of metrics");
}
