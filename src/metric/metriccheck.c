// SPDX-License-Identifier: Apache-2.0
#include "metric/metriccheck.h"

#include "metric/metricchunk.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

#define MAX_ARENA_BYTES ((size_t)64 << 20)

/* What stands before the tenant of a key, its kind first; heads have keys of one kind, which has no letter. */
static size_t front_bytes(enum hourly_part part)
{
    switch (part) {
    case HOURLY_ROW: return 0;
    case HOURLY_BLOCK: return METRICROW_CHUNK_HEAD_BYTES;
    case HOURLY_INDEX: return 1;
    }
    return 0;
}

/* Whether a key has a tenant, and numbers behind it. */
static bool is_key(enum hourly_part part, struct slice key, uint64_t *ret_second)
{
    size_t front = front_bytes(part);
    struct slice before, tenant;
    uint64_t first;

    if (!metricrow_key_parse(key, &before, &first, ret_second) || before.len < front + 2)
        return false;
    if ((part == HOURLY_BLOCK && key.ptr[0] != METRICROW_CHUNK_KEY) ||
        (part == HOURLY_INDEX && key.ptr[0] != METRICROW_SERIES_KEY))
        return false;
    tenant = slice_sub(before, front, SIZE_MAX);
    return tenant.len <= METRICROW_MAX_TENANT + 1 && slice_find_byte(tenant, '\0') == (ptrdiff_t)tenant.len - 1;
}

int metriccheck(void *context UNUSED, enum hourly_part part, struct slice key, struct slice value, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct metric_series series;
    struct metric_point point, *points;
    uint64_t second;
    size_t n;

    arena_init(&arena, MAX_ARENA_BYTES);
    if (!is_key(part, key, &second))
        return error_set(err, ERR_CORRUPT, "a key of %zu bytes is none of a store of metrics", key.len);
    switch (part) {
    case HOURLY_ROW: return metricrow_decode(value, second, &arena, &point, err);
    case HOURLY_BLOCK: return metricchunk_decode(value, &arena, &points, &n, err);
    case HOURLY_INDEX: return metricseries_decode(value, &arena, &series, err);
    }
    return 0;
}
