// SPDX-License-Identifier: Apache-2.0
#include "metric/metricseries.h"

#include "base/test.h"

static struct arena arena = { .max_bytes = 1 << 20 };

static const struct metric_label labels[] = { { SLICE("instance"), SLICE("i-1") },
                                              { SLICE("service_name"), SLICE("shop") } };
static const struct metric_series sample = { .name = SLICE("process.cpu.time"),
                                             .unit = SLICE("s"),
                                             .kind = POINT_SUM,
                                             .temporality = METRIC_CUMULATIVE,
                                             .is_monotonic = true,
                                             .labels = labels,
                                             .n_labels = ARRAY_LEN(labels) };

TEST(metricseries_is_read_as_it_was_written)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_series back;
    struct error err;

    buffer_init(&out, 0);
    metricseries_encode(&sample, &out);
    CHECK_OK(metricseries_decode(buffer_slice(&out), &arena, &back, &err), &err);
    CHECK_TEXT(back.name, "process.cpu.time");
    CHECK_TEXT(back.unit, "s");
    CHECK_EQ(back.kind, POINT_SUM);
    CHECK_EQ(back.temporality, METRIC_CUMULATIVE);
    CHECK(back.is_monotonic);
    CHECK_TEXT(metricseries_label(&back, SLICE("instance")), "i-1");
    CHECK_TEXT(metricseries_label(&back, METRICSERIES_SERVICE), "shop");
    CHECK_TEXT(metricseries_label(&back, SLICE("host")), "");
}

TEST(metricseries_numbers_tell_series_apart)
{
    AUTO(buffer_done) struct buffer a;
    AUTO(buffer_done) struct buffer b;
    struct metric_series other = sample;

    buffer_init(&a, 0);
    buffer_init(&b, 0);
    other.is_monotonic = false;
    metricseries_encode(&sample, &a);
    metricseries_encode(&other, &b);
    CHECK(metricseries_number(buffer_slice(&a)) != metricseries_number(buffer_slice(&b)));
    CHECK_EQ(metricseries_number(buffer_slice(&a)), 0xce4f96ea0e8f2b31); /* kept: never to change */
}

TEST(metricseries_refuses_what_is_cut_or_wrong)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_series back;
    struct error err;

    buffer_init(&out, 0);
    metricseries_encode(&sample, &out);
    for (size_t len = 0; len < out.len; len++)
        CHECK_ERROR(metricseries_decode(slice_of(out.data, len), &arena, &back, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&out, 0);
    CHECK_ERROR(metricseries_decode(buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "more follows them");
    out.data[0] = 3;
    CHECK_ERROR(metricseries_decode(buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "byte 0 is none of a series");
    CHECK_ERROR(metricseries_decode(SLICE("\0\0\0\2\1b\0\1a\0"), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "out of order");
}
