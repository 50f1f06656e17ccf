// SPDX-License-Identifier: Apache-2.0
#include "metric/metricrow.h"

#include "base/test.h"

#include <math.h>

static struct arena arena = { .max_bytes = 1 << 20 };

static const double bounds[] = { 0.5, 1 };
static const uint64_t counts[] = { 1, UINT64_MAX, 300 };
static const struct metric_histogram histogram = { .sum = NAN, .bounds = bounds, .counts = counts, .n_bounds = 2 };

TEST(metricrow_keys_stand_in_the_order_of_series_and_time)
{
    struct metricrow_key a = metricrow_rows_of(SLICE("anna")), b = a;
    struct slice before;
    uint64_t series, time;

    metricrow_key_add(&a, 7);
    metricrow_key_add(&a, 255);
    metricrow_key_add(&b, 7);
    metricrow_key_add(&b, 256);
    CHECK(slice_compare(metricrow_key_slice(&a), metricrow_key_slice(&b)) < 0);
    CHECK(metricrow_key_parse(metricrow_key_slice(&b), &before, &series, &time));
    CHECK(slice_equal(before, slice_of("anna", 5)));
    CHECK_EQ(series, 7);
    CHECK_EQ(time, 256);
    CHECK(!metricrow_key_parse(SLICE("short"), &before, &series, &time));
    a = metricrow_chunks_of(23, 258, SLICE("t"));
    CHECK(slice_equal(metricrow_key_slice(&a), slice_of("c\x17\0\0\1\2t", 8)));
    a = metricrow_series_of(SLICE("t"));
    CHECK(slice_equal(metricrow_key_slice(&a), slice_of("st", 3)));
}

static struct metric_point round_trip(const struct metric_point *point)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_point back;
    struct error err;

    buffer_init(&out, 0);
    metricrow_encode(point, &out);
    CHECK_OK(metricrow_decode(buffer_slice(&out), (uint64_t)point->time_ns / 1000000, &arena, &back, &err), &err);
    return back;
}

TEST(metricrow_is_read_as_it_was_written_in_milliseconds)
{
    struct metric_point back = round_trip(
        &(struct metric_point){ .time_ns = 1794821400123456789, .start_ns = 1794821340000999999, .value = -1.5 });

    CHECK_EQ(back.time_ns, 1794821400123000000);
    CHECK_EQ(back.start_ns, 1794821340000000000);
    CHECK_NEAR(back.value, -1.5, 0);
    CHECK(!back.histogram);
    back = round_trip(&(struct metric_point){ .time_ns = 5000000, .histogram = &histogram });
    CHECK_EQ(back.start_ns, 0);
    CHECK(isnan(back.histogram->sum));
    CHECK_EQ(back.histogram->n_bounds, 2);
    CHECK_NEAR(back.histogram->bounds[1], 1, 0);
    CHECK(back.histogram->counts[1] == UINT64_MAX);
    CHECK_EQ(back.histogram->counts[2], 300);
}

TEST(metricrow_refuses_what_is_cut_or_wrong)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_point back;
    struct error err;

    buffer_init(&out, 0);
    metricrow_encode(&(struct metric_point){ .time_ns = 5000000, .histogram = &histogram }, &out);
    for (size_t len = 0; len < out.len; len++)
        CHECK_ERROR(metricrow_decode(slice_of(out.data, len), 5, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(metricrow_decode(buffer_slice(&out), UINT64_MAX, &arena, &back, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&out, 0);
    CHECK_ERROR(metricrow_decode(buffer_slice(&out), 5, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "1 of them are behind its end");
    memcpy(out.data + 11, &bounds[1], 8); /* the first bound */
    CHECK_ERROR(metricrow_decode(buffer_slice(&out), 5, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "bounds do not rise");
    out.data[0] = 2;
    CHECK_ERROR(metricrow_decode(buffer_slice(&out), 5, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "kind, time or value");
}
