// SPDX-License-Identifier: Apache-2.0
/* Closing an hour: the rows of a head, which stand by tenant, series and time, become chunks. */
#include "base/log.h"
#include "base/memory.h"
#include "metric/metricchunk.h"
#include "metric/metricstore_internal.h"

/* A chunk in the making. */
struct chunk {
    struct metricstore *store;
    struct hourly_closing *closing;
    struct arena arena; /* of its points */
    struct metric_point points[METRICCHUNK_MAX_POINTS];
    size_t n;
    struct metricrow_key tenant; /* with its NUL */
    uint64_t series;
    struct buffer bytes;
};

static void chunk_free(struct chunk *chunk)
{
    arena_done(&chunk->arena);
    buffer_done(&chunk->bytes);
    memory_free(chunk);
}

static void chunk_freep(struct chunk **chunk)
{
    if (*chunk)
        chunk_free(*chunk);
}

static struct chunk *chunk_new(struct metricstore *store, struct hourly_closing *closing, struct error *err)
{
    struct chunk *chunk = MEMORY_NEW(struct chunk, err);

    if (!chunk)
        return NULL;
    chunk->store = store;
    chunk->closing = closing;
    arena_init(&chunk->arena, 0);
    buffer_init(&chunk->bytes, 0);
    return chunk;
}

static int finish_chunk(struct chunk *chunk, struct error *err)
{
    struct hourly_closing_about about = hourly_closing_about(chunk->closing);
    struct metricrow_key key;

    if (chunk->n == 0)
        return 0;
    key = metricrow_chunks_of(about.hour, about.number, slice_of(chunk->tenant.bytes, chunk->tenant.len - 1));
    metricrow_key_add(&key, chunk->series);
    metricrow_key_add(&key, (uint64_t)(chunk->points[0].time_ns / METRICROW_NS_PER_MS));
    buffer_clear(&chunk->bytes);
    if (metricchunk_encode(chunk->points, chunk->n, &chunk->arena, &chunk->bytes, err) < 0 ||
        hourly_closing_put(chunk->closing, metricrow_key_slice(&key), buffer_slice(&chunk->bytes), err) < 0)
        return -1;
    chunk->n = 0;
    arena_reset(&chunk->arena);
    return 0;
}

static bool is_of_chunk(const struct chunk *chunk, struct slice tenant, uint64_t series)
{
    return chunk->n > 0 && chunk->n < METRICCHUNK_MAX_POINTS && chunk->series == series &&
           slice_equal(metricrow_key_slice(&chunk->tenant), tenant);
}

/* A row that RocksDB gave as it was written, but which is none of ours: it would keep all others from being closed. */
static int leave_out(struct chunk *chunk, const struct error *why)
{
    /* A number to be shown: no order needed. */
    atomic_fetch_add_explicit(&chunk->store->n_left_out, 1, memory_order_relaxed);
    LOG_EVERY(60, LOG_WARN, "metrics", "a point cannot be read, left out: %s", why->text);
    return 0;
}

static int add_point(struct chunk *chunk, struct slice tenant, uint64_t series, uint64_t time_ms, struct slice value,
                     struct error *err)
{
    struct metric_point point;

    if (!is_of_chunk(chunk, tenant, series) && finish_chunk(chunk, err) < 0)
        return -1;
    if (metricrow_decode(value, time_ms, &chunk->arena, &point, err) < 0)
        return err->code == ERR_CORRUPT ? leave_out(chunk, err) : -1;
    if (chunk->n > 0 && !metricchunk_go_together(&chunk->points[0], &point)) {
        /* The chunk goes with its memory, so the point is read again. */
        if (finish_chunk(chunk, err) < 0 || metricrow_decode(value, time_ms, &chunk->arena, &point, err) < 0)
            return -1;
    }
    if (chunk->n == 0) {
        memcpy(chunk->tenant.bytes, tenant.ptr, tenant.len);
        chunk->tenant.len = tenant.len;
        chunk->series = series;
    }
    chunk->points[chunk->n++] = point;
    return 0;
}

static int add_row(struct chunk *chunk, struct slice key, struct slice value, struct error *err)
{
    uint64_t series, time_ms;
    struct slice tenant; /* with its NUL */

    if (metricrow_key_parse(key, &tenant, &series, &time_ms) && tenant.len > 0 &&
        tenant.len <= METRICROW_MAX_TENANT + 1 && slice_find_byte(tenant, '\0') == (ptrdiff_t)tenant.len - 1)
        return add_point(chunk, tenant, series, time_ms, value, err);
    IGNORE(error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a row of metrics", key.len), "it is told");
    return leave_out(chunk, err);
}

int metricclose_head(void *context, struct hourly_closing *closing, struct error *err)
{
    AUTO(chunk_freep) struct chunk *chunk = chunk_new(context, closing, err);
    struct slice key, value;
    bool has;

    if (!chunk)
        return -1;
    for (;;) {
        if (hourly_closing_next(closing, &key, &value, &has, err) < 0)
            return -1;
        if (!has)
            return finish_chunk(chunk, err);
        if (add_row(chunk, key, value, err) < 0)
            return -1;
    }
}
