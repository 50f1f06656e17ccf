// SPDX-License-Identifier: Apache-2.0
#include "metric/metricchunk.h"

#include "base/hash.h"
#include "base/test.h"

#include <math.h>

#define START_NS ((int64_t)1794821400000 * 1000000)
#define MS       ((int64_t)1000000)

static struct arena arena = { .max_bytes = 64 << 20 };
static struct metric_point points[METRICCHUNK_MAX_POINTS];

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_same(const struct metric_point *a, const struct metric_point *b)
{
    CHECK_EQ(a->time_ns, b->time_ns);
    CHECK_EQ(a->start_ns, b->start_ns);
    CHECK(same_double(a->value, b->value));
    CHECK_EQ(a->histogram != NULL, b->histogram != NULL);
    if (!a->histogram)
        return;
    CHECK(same_double(a->histogram->sum, b->histogram->sum));
    CHECK(metricchunk_go_together(a, b));
    for (uint32_t i = 0; i <= a->histogram->n_bounds; i++)
        CHECK_EQ(a->histogram->counts[i], b->histogram->counts[i]);
}

/* How many bytes the first `n` points take. */
static size_t round_trip(size_t n)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_point *back;
    struct error err;
    size_t n_back;

    buffer_init(&out, 0);
    CHECK_OK(metricchunk_encode(points, n, &arena, &out, &err), &err);
    CHECK_OK(metricchunk_decode(buffer_slice(&out), &arena, &back, &n_back, &err), &err);
    CHECK_EQ(n_back, n);
    for (size_t i = 0; i < n; i++)
        check_same(&back[i], &points[i]);
    return out.len;
}

/* An hour at this interval, its times off by up to `jitter_ms`. */
static size_t fill_hour(int64_t interval_ms, int64_t jitter_ms)
{
    size_t n = (size_t)MIN(3600000 / interval_ms, METRICCHUNK_MAX_POINTS);

    arena_reset(&arena);
    for (size_t i = 0; i < n; i++)
        points[i] = (struct metric_point){
            .time_ns = START_NS + ((int64_t)i * interval_ms + (int64_t)(hash_mix64(i) % (uint64_t)(jitter_ms + 1))) * MS
        };
    return n;
}

TEST(metricchunk_of_regular_gauges_takes_less_than_three_bytes_a_point)
{
    size_t n = fill_hour(10000, 2);

    for (size_t i = 0; i < n; i++)
        points[i].value = 50e6 + 4096.0 * (double)(hash_mix64(i + 77) % 1000); /* memory, in pages */
    CHECK(round_trip(n) * 10 <= n * 20);
    for (size_t i = 0; i < n; i++)
        points[i].value = (double)(12 + hash_mix64(i / 20) % 3); /* threads */
    CHECK(round_trip(n) * 10 <= n * 8);
    for (size_t i = 0; i < n; i++)
        points[i].value = (double)(hash_mix64(i) % 1000) / 1000; /* utilisation, three decimals */
    CHECK(round_trip(n) * 10 <= n * 20);
    for (size_t i = 0; i < n; i++)
        points[i].value = 30e6 + (double)(hash_mix64(i) % 2000000); /* heap, to the byte */
    CHECK(round_trip(n) * 10 <= n * 32);
    for (size_t i = 0; i < n; i++)
        points[i].value = (double)(hash_mix64(i) % 1000) / 777; /* a ratio of anything: no more than the double */
    CHECK(round_trip(n) * 10 <= n * 80);
}

TEST(metricchunk_of_counters_takes_less_than_three_bytes_a_point)
{
    size_t n = fill_hour(15000, 1);
    uint64_t hundredths = 10000000;

    for (size_t i = 0; i < n; i++) {
        points[i].start_ns = START_NS - 86400000 * MS;
        points[i].value = (double)(hundredths += hash_mix64(i) % 300) / 100; /* seconds of CPU */
    }
    CHECK(round_trip(n) * 10 <= n * 20);
    for (size_t i = 0; i < n; i++) /* deltas begin where the last ended */
        points[i].start_ns = i ? points[i - 1].time_ns : points[0].time_ns - 15000 * MS;
    CHECK(round_trip(n) * 10 <= n * 20);
}

static void fill_histograms(size_t n, uint32_t n_bounds, struct metric_histogram *histograms, uint64_t *counts,
                            const double *bounds)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *own = counts + i * (n_bounds + 1);

        for (uint32_t k = 0; k <= n_bounds; k++)
            own[k] = (i ? counts[(i - 1) * (n_bounds + 1) + k] : 0) + (k % 5 == 0 ? hash_mix64(i * k) % 3 : 0);
        histograms[i] =
            (struct metric_histogram){ .sum = (double)i / 8, .bounds = bounds, .counts = own, .n_bounds = n_bounds };
        points[i].histogram = &histograms[i];
        points[i].start_ns = START_NS - 1000 * MS;
    }
}

TEST(metricchunk_gives_back_histograms)
{
    static struct metric_histogram histograms[360];
    static uint64_t counts[360 * 16];
    static double bounds[15];
    size_t n = fill_hour(10000, 2);

    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        bounds[i] = (double)i * 1.5;
    fill_histograms(n, 15, histograms, counts, bounds);
    CHECK(round_trip(n) <= n * 4 + 300);
    fill_histograms(n, 0, histograms, counts, bounds);
    round_trip(n);
    histograms[7].sum = NAN;
    round_trip(n);
}

TEST(metricchunk_gives_back_any_double)
{
    static const double values[] = {
        0.0,  -0.0,          1,  -1, 0.1, 1e300, -1e-300, INFINITY, 5e-324, 1e9 / 3, 9007199254740993.0, 12345.678,
        1e15, 123456789.125, NAN
    };

    fill_hour(1000, 0);
    for (size_t n = 1; n <= ARRAY_LEN(values); n++) {
        points[n - 1].value = values[n - 1];
        round_trip(n);
    }
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        points[0].value = values[i];
        round_trip(1);
    }
}

TEST(metricchunk_gives_back_random_points)
{
    uint64_t seed = 5;

    for (unsigned times = test_times(200); times-- > 0;) {
        size_t n = 1 + (seed = hash_mix64(seed + 1)) % 200;
        unsigned kind = seed >> 40 & 3;
        int64_t time_ms = (int64_t)(hash_mix64(seed) % 2000000000000);

        arena_reset(&arena);
        for (size_t i = 0; i < n; i++) {
            uint64_t random = seed = hash_mix64(seed + i);

            time_ms += 1 + (int64_t)(random % 100000 >> (random >> 60));
            points[i] =
                (struct metric_point){ .time_ns = time_ms * MS, .value = (double)(int64_t)(random >> (random & 63)) };
            if (kind & 1)
                points[i].value /= 1000;
            if (kind & 2)
                points[i].start_ns = (time_ms - (int64_t)(random >> 50 & 1023)) * MS;
        }
        round_trip(n);
    }
}

TEST(metricchunk_of_other_bounds_is_another)
{
    static const double a_bounds[] = { 1, 2 }, b_bounds[] = { 1, 3 };
    const struct metric_histogram a = { .bounds = a_bounds, .n_bounds = 2 }, b = { .bounds = b_bounds, .n_bounds = 2 },
                                  c = { .bounds = a_bounds, .n_bounds = 1 };
    const struct metric_point number = { .value = 1 }, pa = { .histogram = &a }, pb = { .histogram = &b },
                              pc = { .histogram = &c };

    CHECK(metricchunk_go_together(&number, &number));
    CHECK(metricchunk_go_together(&pa, &pa));
    CHECK(!metricchunk_go_together(&pa, &number));
    CHECK(!metricchunk_go_together(&pa, &pb));
    CHECK(!metricchunk_go_together(&pa, &pc));
}

TEST(metricchunk_refuses_what_is_cut_or_wrong)
{
    AUTO(buffer_done) struct buffer out;
    static struct metric_histogram histograms[8];
    static uint64_t counts[8 * 3];
    static const double bounds[] = { 1, 2 };
    struct metric_point *back;
    struct error err;
    size_t n;

    buffer_init(&out, 0);
    fill_hour(10000, 5);
    fill_histograms(8, 2, histograms, counts, bounds);
    CHECK_OK(metricchunk_encode(points, 8, &arena, &out, &err), &err);
    for (size_t len = 0; len < out.len; len++)
        CHECK_ERROR(metricchunk_decode(slice_of(out.data, len), &arena, &back, &n, &err), &err, ERR_CORRUPT);
    for (size_t i = 0; i < out.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            out.data[i] = (char)(out.data[i] ^ 1 << bit);
            if (metricchunk_decode(buffer_slice(&out), &arena, &back, &n, &err) < 0)
                CHECK_EQ(err.code, ERR_CORRUPT);
            out.data[i] = (char)(out.data[i] ^ 1 << bit);
        }
    buffer_append_byte(&out, 0);
    CHECK_ERROR(metricchunk_decode(buffer_slice(&out), &arena, &back, &n, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "1 of them are behind its end");
    CHECK_ERROR(metricchunk_decode(SLICE("\0\0"), &arena, &back, &n, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "its header is cut off or impossible");
    CHECK_ERROR(metricchunk_decode(SLICE("\0\2\1\0\0\12"), &arena, &back, &n, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "time 1 of 2 does not rise");
}

static int round_trip_once(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct metric_point *back;
    struct arena own;
    size_t n;
    int result;

    (void)context;
    buffer_init(&out, 0);
    arena_init(&own, 0);
    result = metricchunk_encode(points, 100, &own, &out, err);
    if (result == 0)
        result = metricchunk_decode(buffer_slice(&out), &own, &back, &n, err);
    arena_done(&own);
    return result;
}

TEST(metricchunk_survives_each_allocation_failing)
{
    fill_hour(10000, 5);
    test_each_allocation_failing(round_trip_once, NULL);
}
