// SPDX-License-Identifier: Apache-2.0
#include "metric/metricrow.h"

#include "base/bytes.h"
#include "pack/varint.h"

#include <math.h>

#define MAX_TIME_MS ((uint64_t)(INT64_MAX / METRICROW_NS_PER_MS))

/* --- keys --- */

static void add_bytes(struct metricrow_key *key, const void *bytes, size_t len)
{
    ASSERT(len <= sizeof(key->bytes) - key->len);
    memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

static void add_tenant(struct metricrow_key *key, struct slice tenant)
{
    ASSERT(tenant.len <= METRICROW_MAX_TENANT);
    add_bytes(key, tenant.ptr, tenant.len);
    add_bytes(key, "", 1);
}

struct metricrow_key metricrow_rows_of(struct slice tenant)
{
    struct metricrow_key key = { .len = 0 };

    add_tenant(&key, tenant);
    return key;
}

struct metricrow_key metricrow_series_of(struct slice tenant)
{
    struct metricrow_key key = { .bytes = { METRICROW_SERIES_KEY }, .len = 1 };

    add_tenant(&key, tenant);
    return key;
}

struct metricrow_key metricrow_chunks_of(uint8_t hour, uint32_t closing, struct slice tenant)
{
    struct metricrow_key key = { .bytes = { METRICROW_CHUNK_KEY, (char)hour }, .len = METRICROW_CHUNK_HEAD_BYTES };

    bytes_put_be32(key.bytes + 2, closing);
    add_tenant(&key, tenant);
    return key;
}

void metricrow_key_add(struct metricrow_key *key, uint64_t number)
{
    char bytes[8];

    bytes_put_be64(bytes, number);
    add_bytes(key, bytes, sizeof(bytes));
}

bool metricrow_key_parse(struct slice key, struct slice *ret_before, uint64_t *ret_first, uint64_t *ret_second)
{
    if (key.len < 16)
        return false;
    *ret_before = slice_sub(key, 0, key.len - 16);
    *ret_first = bytes_get_be64(key.ptr + key.len - 16);
    *ret_second = bytes_get_be64(key.ptr + key.len - 8);
    return true;
}

/* --- points --- */

static void append_double(struct buffer *out, double value)
{
    buffer_append(out, &value, sizeof(value));
}

void metricrow_encode(const struct metric_point *point, struct buffer *out)
{
    const struct metric_histogram *histogram = point->histogram;
    int64_t time_ms = point->time_ns / METRICROW_NS_PER_MS, start_ms = point->start_ns / METRICROW_NS_PER_MS;

    buffer_append_byte(out, histogram != NULL);
    varint_append(out, point->start_ns > 0 && start_ms <= time_ms ? (uint64_t)(time_ms - start_ms) + 1 : 0);
    append_double(out, histogram ? histogram->sum : point->value);
    if (!histogram)
        return;
    varint_append(out, histogram->n_bounds);
    buffer_append(out, histogram->bounds, histogram->n_bounds * sizeof(double));
    for (uint32_t i = 0; i <= histogram->n_bounds; i++)
        varint_append(out, histogram->counts[i]);
}

static bool take_double(struct slice *rest, double *ret_value)
{
    if (rest->len < sizeof(*ret_value))
        return false;
    memcpy(ret_value, rest->ptr, sizeof(*ret_value));
    *rest = slice_sub(*rest, sizeof(*ret_value), SIZE_MAX);
    return true;
}

/* What stands behind the sum. NULL with the error set. */
static const struct metric_histogram *take_histogram(struct slice *rest, double sum, struct arena *arena,
                                                     struct error *err)
{
    struct metric_histogram *histogram = ARENA_NEW(arena, struct metric_histogram, err);
    uint64_t n_bounds, *counts;
    double *bounds;

    if (!histogram)
        return NULL;
    if (!varint_next(rest, &n_bounds) || n_bounds > METRIC_MAX_BOUNDS || rest->len < n_bounds * sizeof(double)) {
        error_set(err, ERR_CORRUPT, "row of a metric: bounds are cut off or too many");
        return NULL;
    }
    bounds = ARENA_ARRAY(arena, double, (size_t)n_bounds, err);
    counts = ARENA_ARRAY(arena, uint64_t, (size_t)n_bounds + 1, err);
    if (!bounds || !counts)
        return NULL;
    for (size_t i = 0; i < n_bounds; i++) {
        take_double(rest, &bounds[i]);
        if (!isfinite(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1])) {
            error_set(err, ERR_CORRUPT, "row of a metric: bounds do not rise");
            return NULL;
        }
    }
    if (varint_decode_u64(rest, counts, (size_t)n_bounds + 1, err) < 0) {
        error_wrap(err, "row of a metric: counts");
        return NULL;
    }
    *histogram =
        (struct metric_histogram){ .sum = sum, .bounds = bounds, .counts = counts, .n_bounds = (uint32_t)n_bounds };
    return histogram;
}

int metricrow_decode(struct slice row, uint64_t time_ms, struct arena *arena, struct metric_point *ret_point,
                     struct error *err)
{
    struct slice rest = slice_sub(row, 1, SIZE_MAX);
    unsigned kind = row.len ? (unsigned char)row.ptr[0] : 0xff;
    struct metric_point point = { .time_ns = (int64_t)(time_ms * METRICROW_NS_PER_MS) };
    uint64_t since_ms;
    double value;

    if (kind > 1 || time_ms > MAX_TIME_MS || !varint_next(&rest, &since_ms) || since_ms > time_ms + 1 ||
        !take_double(&rest, &value))
        return error_set(err, ERR_CORRUPT, "row of a metric, %zu bytes: kind, time or value is cut off or impossible",
                         row.len);
    if (since_ms)
        point.start_ns = point.time_ns - (int64_t)(since_ms - 1) * METRICROW_NS_PER_MS;
    if (kind == 0) {
        point.value = value;
    } else {
        point.histogram = take_histogram(&rest, value, arena, err);
        if (!point.histogram)
            return -1;
    }
    if (rest.len > 0)
        return error_set(err, ERR_CORRUPT, "row of a metric, %zu bytes: %zu of them are behind its end", row.len,
                         rest.len);
    *ret_point = point;
    return 0;
}
