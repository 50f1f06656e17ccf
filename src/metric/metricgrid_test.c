// SPDX-License-Identifier: Apache-2.0
#include "metric/metricgrid.h"

#include "base/hash.h"
#include "base/test.h"

#include <math.h>
#include <stdio.h>

#define S ((int64_t)1000000000)

static struct arena arena = { .max_bytes = 64 << 20 }, scratch = { .max_bytes = 16 << 20 };
static struct metricgrid grid;
static struct metricgrid_cell cell;
static struct metricgrid_track track;

static const struct metric_series gauge = { .kind = POINT_GAUGE },
                                  counter = { .kind = POINT_SUM,
                                              .temporality = METRIC_CUMULATIVE,
                                              .is_monotonic = true },
                                  deltas = { .kind = POINT_SUM, .temporality = METRIC_DELTA, .is_monotonic = true },
                                  delta_level = { .kind = POINT_SUM, .temporality = METRIC_DELTA },
                                  level = { .kind = POINT_SUM, .temporality = METRIC_CUMULATIVE },
                                  histograms = { .kind = POINT_HISTOGRAM, .temporality = METRIC_CUMULATIVE },
                                  delta_histograms = { .kind = POINT_HISTOGRAM, .temporality = METRIC_DELTA };

static void begin(int64_t from_s, int64_t step_s, uint32_t n, const struct metric_series *series)
{
    struct error err;

    arena_reset(&arena);
    grid = (struct metricgrid){ .from_ns = from_s * S, .step_ns = step_s * S, .n = n, .arena = &arena };
    CHECK_OK(metricgrid_cell_init(&cell, &grid, metricgrid_kind_of(series), &err), &err);
    track = metricgrid_track_of(series, &cell);
}

static void add_point(const struct metric_point *point)
{
    struct error err;

    arena_reset(&scratch);
    CHECK_OK(metricgrid_add(&grid, &track, point, &scratch, &err), &err);
}

static void add(int64_t time_s, int64_t start_s, double value)
{
    add_point(&(struct metric_point){ .time_ns = time_s * S, .start_ns = start_s * S, .value = value });
}

/* The values of the cell, "-" where there is none. */
static const char *values(void)
{
    static char text[512];
    size_t len = 0;

    metricgrid_finish(&grid, &track);
    for (uint32_t i = 0; i < grid.n; i++)
        len += (size_t)(isnan(cell.values[i])
                            ? snprintf(text + len, sizeof(text) - len, "%s-", i ? " " : "")
                            : snprintf(text + len, sizeof(text) - len, "%s%.4g", i ? " " : "", cell.values[i]));
    return text;
}

TEST(metricgrid_averages_gauges_over_steps)
{
    begin(1000, 60, 4, &gauge);
    for (int64_t t = 990; t < 1180; t += 10)
        add(t, 0, t < 1120 ? 4 : 7);
    CHECK_TEXT(values(), "4 4 7 -");
}

TEST(metricgrid_holds_gauges_that_report_less_often_than_steps)
{
    begin(1000, 10, 14, &gauge);
    add(985, 0, 1);
    add(1005, 0, 2);
    add(1025, 0, 3); /* each 20 s; then it is gone for 60 s */
    add(1085, 0, 9);
    CHECK_TEXT(values(), "2 2 3 3 3 3 3 3 9 9 9 9 9 9");
    begin(1000, 10, 12, &gauge);
    add(985, 0, 1);
    add(1005, 0, 2);
    add(1066, 0, 5);
    CHECK_TEXT(values(), "2 2 2 2 2 2 5 5 5 5 5 5");
    begin(1000, 10, 14, &gauge);
    add(985, 0, 1);
    add(995, 0, 2);
    add(1075, 0, 5);
    CHECK_TEXT(values(), "2 2 - - - - - 5 5 5 5 5 5 5");
    begin(1000, 60, 3, &gauge); /* steps that are longer than it reports */
    add(1000, 0, 1);
    add(1010, 0, 1);
    CHECK_TEXT(values(), "1 - -");
}

TEST(metricgrid_adds_up_series)
{
    begin(1000, 10, 3, &gauge);
    add(1001, 0, 1);
    add(1011, 0, 2);
    metricgrid_finish(&grid, &track);
    track = metricgrid_track_of(&level, &cell);
    add(1012, 0, 10);
    add(1022, 0, 20);
    CHECK_TEXT(values(), "1 12 22");
}

TEST(metricgrid_tells_what_counters_grew_a_second)
{
    begin(1000, 10, 4, &counter);
    add(995, 1, 100);
    add(1005, 1, 110);
    add(1015, 1, 110);
    add(1035, 1, 150); /* two steps long */
    CHECK_TEXT(values(), "0.5 1 2 2");
}

TEST(metricgrid_sees_counters_begin_again)
{
    begin(1000, 10, 4, &counter); /* by its start, which comes 5 s behind the last point */
    add(1000, 500, 1000);
    add(1010, 500, 1010);
    add(1020, 1015, 2000);
    CHECK_TEXT(values(), "1 400 - -");
    begin(1000, 10, 4, &counter); /* by falling */
    add(1000, 0, 1000);
    add(1010, 0, 1010);
    add(1020, 0, 30);
    add(1030, 0, 30);
    CHECK_TEXT(values(), "1 3 0 -");
    begin(1000, 10, 4, &counter); /* the first point of one that has just begun */
    add(1020, 1010, 50);
    CHECK_TEXT(values(), "- 5 - -");
    begin(1000, 10, 4, &counter); /* and of one that began long ago: only what comes after it is known */
    add(1020, 10, 50);
    add(1030, 10, 60);
    CHECK_TEXT(values(), "- - 1 -");
}

TEST(metricgrid_spreads_deltas_over_their_time)
{
    begin(1000, 10, 4, &deltas);
    add(1010, 1000, 10);
    add(1020, 1010, 30);
    add(1040, 1030, 40); /* 1020 to 1030 is missing */
    CHECK_TEXT(values(), "1 3 - 4");
    begin(1000, 10, 3, &deltas); /* without starts */
    add(1000, 0, 7);
    add(1010, 0, 10);
    CHECK_TEXT(values(), "1 - -");
}

TEST(metricgrid_adds_up_deltas_of_levels)
{
    begin(1000, 10, 3, &delta_level);
    add(995, 985, 100);
    add(1005, 995, 5);
    add(1015, 1005, -2);
    add(1025, 1015, 4);
    CHECK_TEXT(values(), "5 3 7");
}

static void add_histogram(int64_t time_s, int64_t start_s, uint64_t a, uint64_t b, uint64_t c, double sum)
{
    static const double bounds[] = { 1, 2 };
    const uint64_t counts[] = { a, b, c };
    struct metric_histogram histogram = { .sum = sum, .bounds = bounds, .counts = counts, .n_bounds = 2 };

    add_point(&(struct metric_point){ .time_ns = time_s * S, .start_ns = start_s * S, .histogram = &histogram });
}

TEST(metricgrid_tells_how_values_of_histograms_were_spread)
{
    begin(1000, 10, 4, &histograms);
    add_histogram(1000, 1, 100, 100, 100, 450);
    add_histogram(1010, 1, 100, 110, 100, 465);
    add_histogram(1030, 1, 120, 110, 100, 475); /* over two steps */
    add_histogram(1040, 1031, 0, 0, 9, 90);     /* began again */
    CHECK_TEXT(values(), "1 1 1 1");
    CHECK_NEAR(metrichistogram_quantile(&cell.steps[0], 0.5), 1.5, 1e-9);
    CHECK_NEAR(cell.steps[0].sum / cell.steps[0].count, 1.5, 1e-9);
    CHECK_NEAR(cell.steps[1].count, 10, 1e-9);
    CHECK_NEAR(cell.steps[2].sum, 5, 1e-9);
    CHECK_NEAR(metrichistogram_quantile(&cell.steps[2], 0.5), 0.5, 1e-9);
    CHECK_NEAR(cell.steps[3].count, 9, 1e-9);
    CHECK_NEAR(cell.steps[3].sum, 90, 1e-9);

    begin(1000, 10, 3, &delta_histograms);
    add_histogram(1010, 1000, 0, 10, 0, 15);
    add_histogram(1020, 1010, 20, 0, 0, 10);
    CHECK_TEXT(values(), "1 2 -");
    CHECK_NEAR(cell.steps[1].counts[0], 20, 1e-9);
}

/* What levels should be, the slow way: for each step the mean of its points, else the last one before that still holds. */
static double naive_level(const int64_t *times, const double *numbers, size_t n, uint32_t step, int64_t hold)
{
    int64_t low = grid.from_ns + step * grid.step_ns, high = low + grid.step_ns;
    double sum = 0;
    size_t here = 0, last = n;

    for (size_t i = 0; i < n; i++) {
        if (times[i] >= low && times[i] < high) {
            sum += numbers[i];
            here++;
        }
        if (times[i] < low)
            last = i;
    }
    if (here)
        return sum / (double)here;
    return last < n && hold > grid.step_ns && low < times[last] + hold ? numbers[last] : NAN;
}

/* What rates should be, the slow way: the growth in each second, if it is known, averaged over those that are. */
static double naive_rate(const int64_t *times, const double *numbers, size_t n, uint32_t step)
{
    double sum = 0;
    int64_t known = 0;

    for (int64_t t = grid.from_ns + step * grid.step_ns; t < grid.from_ns + (step + 1) * grid.step_ns; t += S)
        for (size_t i = 1; i < n; i++)
            if (times[i - 1] <= t && t < times[i]) {
                double grown = numbers[i] < numbers[i - 1] ? numbers[i] : numbers[i] - numbers[i - 1];

                sum += grown / (double)((times[i] - times[i - 1]) / S);
                known++;
            }
    return known ? sum / (double)known : NAN;
}

static void check_same(double got, double wanted)
{
    CHECK_EQ(isnan(got), isnan(wanted));
    if (!isnan(wanted))
        CHECK_NEAR(got, wanted, 1e-9 + fabs(wanted) * 1e-9);
}

TEST(metricgrid_equals_a_naive_reference)
{
    uint64_t seed = 11;

    for (unsigned times = test_times(300); times-- > 0;) {
        int64_t when[100], interval = 1 + (int64_t)((seed = hash_mix64(seed + 1)) % 40);
        double level_values[100], sums[100];
        size_t n = 2 + hash_mix64(seed) % 98;

        for (size_t i = 0; i < n; i++) {
            seed = hash_mix64(seed + i);
            /* The gap before a point decides how long the one before it holds: so all are equal here. */
            when[i] = (i ? when[i - 1] : 900 * S) + interval * S;
            level_values[i] = (double)(seed % 1000);
            sums[i] = seed % 13 == 0 ? (double)(seed % 50) : (i ? sums[i - 1] : 0) + (double)(seed % 100);
        }
        begin(1000, 1 + (int64_t)(hash_mix64(seed + 1) % 60), 1 + hash_mix64(seed + 2) % 50, &gauge);
        for (size_t i = 0; i < n; i++)
            add_point(&(struct metric_point){ .time_ns = when[i], .value = level_values[i] });
        metricgrid_finish(&grid, &track);
        for (uint32_t i = 0; i < grid.n; i++)
            check_same(cell.values[i], naive_level(when, level_values, n, i, interval * S * 5 / 2));
        begin(grid.from_ns / S, grid.step_ns / S, grid.n, &counter);
        for (size_t i = 0; i < n; i++)
            add_point(&(struct metric_point){ .time_ns = when[i], .value = sums[i] });
        metricgrid_finish(&grid, &track);
        for (uint32_t i = 0; i < grid.n; i++)
            check_same(cell.values[i], naive_rate(when, sums, n, i));
    }
}

static int fill_once(void *context, struct error *err)
{
    static const double bounds[] = { 1, 2 }, wider[] = { 1, 2, 3 };
    static const uint64_t counts[] = { 1, 2, 3, 4 };
    struct metric_histogram narrow = { .bounds = bounds, .counts = counts, .n_bounds = 2 },
                            wide = { .bounds = wider, .counts = counts, .n_bounds = 3 };
    struct arena own, own_scratch;
    struct metricgrid own_grid = { .step_ns = S, .n = 100, .arena = &own };
    struct metricgrid_cell own_cell;
    struct metricgrid_track own_track;
    int result;

    (void)context;
    arena_init(&own, 0);
    arena_init(&own_scratch, 0);
    result = metricgrid_cell_init(&own_cell, &own_grid, METRICGRID_HISTOGRAM, err);
    own_track = metricgrid_track_of(&histograms, &own_cell);
    for (int64_t i = 0; result == 0 && i < 100; i++)
        result = metricgrid_add(
            &own_grid, &own_track,
            &(struct metric_point){ .time_ns = (i + 1) * S, .start_ns = 1, .histogram = i % 2 ? &wide : &narrow },
            &own_scratch, err);
    arena_done(&own);
    arena_done(&own_scratch);
    return result;
}

TEST(metricgrid_survives_each_allocation_failing)
{
    test_each_allocation_failing(fill_once, NULL);
}
