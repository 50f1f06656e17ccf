// SPDX-License-Identifier: Apache-2.0
#include "metric/metrichistogram.h"

#include "base/hash.h"
#include "base/test.h"

#include <math.h>

static struct arena arena = { .max_bytes = 16 << 20 };

static struct metrichistogram difference(const struct metric_histogram *after, const struct metric_histogram *before,
                                         bool is_reset)
{
    struct metrichistogram result;
    struct error err;
    bool was_reset;

    CHECK_OK(metrichistogram_subtract(after, before, &arena, &result, &was_reset, &err), &err);
    CHECK_EQ(was_reset, is_reset);
    return result;
}

#define HISTOGRAM(sum_, bounds_, counts_)                                                                              \
    ((struct metric_histogram){                                                                                        \
        .sum = (sum_), .bounds = (bounds_), .counts = (counts_), .n_bounds = ARRAY_LEN(bounds_) })

TEST(metrichistogram_differences_are_by_bucket)
{
    static const double bounds[] = { 1, 2 };
    static const uint64_t old_counts[] = { 5, 1, 0 }, new_counts[] = { 5, 4, 2 }, less[] = { 4, 9, 9 };
    struct metric_histogram before = HISTOGRAM(10, bounds, old_counts), after = HISTOGRAM(20.5, bounds, new_counts),
                            again = HISTOGRAM(3, bounds, less);
    struct metrichistogram more = difference(&after, &before, false);

    CHECK_EQ(more.n_bounds, 2);
    CHECK_NEAR(more.counts[0], 0, 0);
    CHECK_NEAR(more.counts[1], 3, 0);
    CHECK_NEAR(more.counts[2], 2, 0);
    CHECK_NEAR(more.count, 5, 0);
    CHECK_NEAR(more.sum, 10.5, 0);
    more = difference(&again, &before, true);
    CHECK_NEAR(more.count, 22, 0);
    CHECK_NEAR(more.sum, 3, 0);
}

TEST(metrichistogram_differences_keep_bounds_that_both_know)
{
    /* An exponential histogram that got wider and coarser: 1, 2, 4, 8 became 1, 4, 16. */
    static const double fine[] = { 1, 2, 4, 8 }, coarse[] = { 1, 4, 16 };
    static const uint64_t fine_counts[] = { 0, 2, 3, 1, 0 }, coarse_counts[] = { 0, 7, 4, 0 };
    struct metric_histogram before = HISTOGRAM(0, fine, fine_counts), after = HISTOGRAM(0, coarse, coarse_counts);
    struct metrichistogram more = difference(&after, &before, false);

    CHECK_EQ(more.n_bounds, 3); /* 2 and 8 lie within buckets that hold something, 16 beyond all there was */
    CHECK_NEAR(more.bounds[1], 4, 0);
    CHECK_NEAR(more.bounds[2], 16, 0);
    CHECK_NEAR(more.counts[1], 2, 0);
    CHECK_NEAR(more.counts[2], 3, 0);
    CHECK_NEAR(more.counts[3], 0, 0);
}

static void add(struct metrichistogram *total, const struct metric_histogram *histogram, double share)
{
    struct metrichistogram copy;
    struct error err;

    CHECK_OK(metrichistogram_copy(histogram, &arena, &copy, &err), &err);
    CHECK_OK(metrichistogram_add(total, &copy, share, &arena, &err), &err);
}

TEST(metrichistogram_sums_take_on_bounds)
{
    static const double bounds[] = { 1, 2 }, others[] = { 0.5, 1, 1.5, 3 };
    static const uint64_t counts[] = { 5, 4, 2 }, other_counts[] = { 1, 1, 2, 6, 1 };
    struct metric_histogram a = HISTOGRAM(1, bounds, counts), b = HISTOGRAM(2, others, other_counts);
    struct metrichistogram total = { 0 };

    add(&total, &a, 0.5);
    CHECK_EQ(total.n_bounds, 2);
    CHECK_NEAR(total.counts[0], 2.5, 0);
    CHECK_NEAR(total.count, 5.5, 0);
    add(&total, &a, 0.5);
    add(&total, &b, 1);
    CHECK_EQ(total.n_bounds, 5); /* 0.5, 1, 1.5, 2, 3 */
    CHECK_NEAR(total.count, 22, 1e-9);
    CHECK_NEAR(total.sum, 3, 1e-9);
    CHECK_NEAR(total.counts[0], 1, 1e-9);
    CHECK_NEAR(total.counts[1], 6, 1e-9); /* all of the bucket without a beginning is at its end */
    CHECK_NEAR(total.counts[2], 4, 1e-9); /* half of 4, and 2 */
    CHECK_NEAR(total.counts[3], 4, 1e-9); /* half of 4, and a third of 6 */
    CHECK_NEAR(total.counts[4], 6, 1e-9); /* two thirds of 6, and what lay above 2 */
    CHECK_NEAR(total.counts[5], 1, 1e-9);
}

TEST(metrichistogram_sums_of_random_ones_lose_nothing_and_stay_bounded)
{
    struct metrichistogram total = { 0 };
    double count = 0;
    uint64_t seed = 3;

    arena_reset(&arena);
    for (int times = 0; times < 60; times++) {
        double bounds[METRIC_MAX_BOUNDS];
        uint64_t counts[METRIC_MAX_BOUNDS + 1], n = (seed = hash_mix64(seed + 1)) % (METRIC_MAX_BOUNDS + 1);
        struct metric_histogram histogram = { .bounds = bounds, .counts = counts, .n_bounds = (uint32_t)n };

        for (size_t i = 0; i <= n; i++) {
            if (i < n)
                bounds[i] = (i ? bounds[i - 1] : -50) + 0.01 + (double)(hash_mix64(seed + i) % 1000) / 500;
            counts[i] = hash_mix64(seed * i) % 5;
            count += (double)counts[i];
        }
        add(&total, &histogram, 1);
    }
    CHECK(total.n_bounds <= METRICHISTOGRAM_MAX_BOUNDS);
    CHECK_NEAR(total.count, count, 1e-6);
    for (uint32_t i = 0; i <= total.n_bounds; i++) {
        count -= total.counts[i];
        CHECK(i == 0 || i == total.n_bounds || total.bounds[i] > total.bounds[i - 1]);
    }
    CHECK_NEAR(count, 0, 1e-6);
}

TEST(metrichistogram_quantiles_lie_within_buckets)
{
    static const double bounds[] = { 1, 2, 4 };
    static const uint64_t counts[] = { 10, 0, 80, 10 };
    struct metric_histogram histogram = HISTOGRAM(0, bounds, counts);
    struct metrichistogram copy, empty = { 0 };
    struct error err;

    CHECK_OK(metrichistogram_copy(&histogram, &arena, &copy, &err), &err);
    CHECK_NEAR(metrichistogram_quantile(&copy, 0.05), 0.5, 1e-9);
    CHECK_NEAR(metrichistogram_quantile(&copy, 0.1), 1, 1e-9);
    CHECK_NEAR(metrichistogram_quantile(&copy, 0.5), 3, 1e-9);
    CHECK_NEAR(metrichistogram_quantile(&copy, 0.99), 4, 1e-9);
    CHECK_NEAR(metrichistogram_quantile(&copy, 1), 4, 1e-9);
    CHECK(isnan(metrichistogram_quantile(&empty, 0.5)));
    copy.bounds[0] = -1;
    CHECK_NEAR(metrichistogram_quantile(&copy, 0), -1, 1e-9);
}
