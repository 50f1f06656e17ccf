// SPDX-License-Identifier: Apache-2.0
#include "metric/metriccheck.h"

#include "base/test.h"
#include "metric/metricchunk.h"
#include "metric/metricrow.h"
#include "metric/metricseries.h"

#define TIME_MS 1794736800000u /* 2026-11-15T10:00:00Z */

static struct metricrow_key key_of(enum hourly_part part, struct slice tenant)
{
    struct metricrow_key key = part == HOURLY_ROW     ? metricrow_rows_of(tenant)
                               : part == HOURLY_BLOCK ? metricrow_chunks_of(10, 3, tenant)
                                                      : metricrow_series_of(tenant);

    metricrow_key_add(&key, 7);
    metricrow_key_add(&key, TIME_MS);
    return key;
}

static void encode(enum hourly_part part, struct buffer *out)
{
    struct metric_series series = { .name = SLICE("go.x"), .unit = SLICE("By"), .kind = POINT_GAUGE };
    struct metric_point point = { .series = &series, .time_ns = TIME_MS * METRICROW_NS_PER_MS, .value = 3 };
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_clear(out);
    if (part == HOURLY_ROW)
        metricrow_encode(&point, out);
    else if (part == HOURLY_BLOCK)
        CHECK_OK(metricchunk_encode(&point, 1, &arena, out, &err), &err);
    else
        metricseries_encode(&series, out);
    arena_done(&arena);
}

TEST(metriccheck_reads_values_of_each_part_whole)
{
    static const enum hourly_part parts[] = { HOURLY_ROW, HOURLY_BLOCK, HOURLY_INDEX };
    struct buffer value;
    struct error err;

    buffer_init(&value, 0);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct metricrow_key key = key_of(parts[i], SLICE("anonymous"));
        struct slice name = metricrow_key_slice(&key), whole;

        encode(parts[i], &value);
        whole = buffer_slice(&value);
        CHECK_OK(metriccheck(NULL, parts[i], name, whole, &err), &err);
        for (size_t len = 0; len < whole.len; len++)
            CHECK_ERROR(metriccheck(NULL, parts[i], name, slice_sub(whole, 0, len), &err), &err, ERR_CORRUPT);
        CHECK_ERROR(metriccheck(NULL, parts[i], slice_sub(name, 0, 17), whole, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "is none of a store of metrics");
    }
    buffer_done(&value);
}

TEST(metriccheck_wants_a_tenant_in_each_key)
{
    static const char *const keys[] = { "", "0123456789abcdef", "x0123456789abcdef" };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        CHECK_ERROR(metriccheck(NULL, HOURLY_ROW, slice_from(keys[i]), SLICE("x"), &err), &err, ERR_CORRUPT);
    CHECK_ERROR(metriccheck(NULL, HOURLY_ROW, SLICE("\0000123456789abcdef"), SLICE("x"), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "a key of 17 bytes");
    CHECK_ERROR(metriccheck(NULL, HOURLY_INDEX, SLICE("xa\0000123456789abcdef"), SLICE("x"), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "a key of 19 bytes");
}
