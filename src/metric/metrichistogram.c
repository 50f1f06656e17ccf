// SPDX-License-Identifier: Apache-2.0
#include "metric/metrichistogram.h"

#include <math.h>

static int alloc_buckets(struct metrichistogram *histogram, size_t n_bounds, struct arena *arena, struct error *err)
{
    histogram->bounds = ARENA_ARRAY(arena, double, n_bounds, err);
    if (!histogram->bounds)
        return -1;
    histogram->counts = arena_alloc_zero(arena, (n_bounds + 1) * sizeof(double), err);
    return histogram->counts ? 0 : -1;
}

int metrichistogram_copy(const struct metric_histogram *histogram, struct arena *arena,
                         struct metrichistogram *ret_copy, struct error *err)
{
    struct metrichistogram copy = { .sum = histogram->sum, .n_bounds = histogram->n_bounds };

    if (alloc_buckets(&copy, copy.n_bounds, arena, err) < 0)
        return -1;
    for (uint32_t i = 0; i <= copy.n_bounds; i++) {
        if (i < copy.n_bounds)
            copy.bounds[i] = histogram->bounds[i];
        copy.counts[i] = (double)histogram->counts[i];
        copy.count += copy.counts[i];
    }
    *ret_copy = copy;
    return 0;
}

/* --- differences --- */

/* Goes through the bounds of a histogram, rising, adding up what lies below. */
struct walker {
    const struct metric_histogram *histogram;
    uint32_t bucket; /* the first that is not wholly below */
    uint64_t below;
};

/* How many values are not above `bound`; false where that is not known, as it lies within a bucket that is not empty. */
static bool count_below(struct walker *walker, double bound, uint64_t *ret_below)
{
    const struct metric_histogram *histogram = walker->histogram;

    while (walker->bucket < histogram->n_bounds && histogram->bounds[walker->bucket] <= bound)
        walker->below += histogram->counts[walker->bucket++];
    *ret_below = walker->below;
    return histogram->counts[walker->bucket] == 0 ||
           (walker->bucket > 0 && histogram->bounds[walker->bucket - 1] == bound);
}

/* The next bound of either histogram above the last one; false behind the last. */
static bool next_bound(const struct metric_histogram *a, const struct metric_histogram *b, uint32_t *at_a,
                       uint32_t *at_b, double *ret_bound)
{
    bool has_a = *at_a < a->n_bounds, has_b = *at_b < b->n_bounds;

    if (!has_a && !has_b)
        return false;
    *ret_bound = !has_b || (has_a && a->bounds[*at_a] < b->bounds[*at_b]) ? a->bounds[*at_a] : b->bounds[*at_b];
    *at_a += has_a && a->bounds[*at_a] == *ret_bound;
    *at_b += has_b && b->bounds[*at_b] == *ret_bound;
    return true;
}

static uint64_t total_of(const struct metric_histogram *histogram)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i <= histogram->n_bounds; i++)
        total += histogram->counts[i];
    return total;
}

/* Appends what lies between the last bound and one where the two differ by `more`; false if that is less than nothing. */
static bool append_bucket(struct metrichistogram *difference, uint64_t more, uint64_t *more_before)
{
    if (more < *more_before)
        return false;
    difference->counts[difference->n_bounds] = (double)(more - *more_before);
    difference->count += (double)(more - *more_before);
    *more_before = more;
    return true;
}

/* False when there is less somewhere. */
static bool fill_difference(const struct metric_histogram *after, const struct metric_histogram *before,
                            struct metrichistogram *difference)
{
    struct walker in_after = { .histogram = after }, in_before = { .histogram = before };
    uint64_t total_after = total_of(after), total_before = total_of(before), more_before = 0;
    uint32_t at_after = 0, at_before = 0;
    double bound;

    while (next_bound(after, before, &at_after, &at_before, &bound)) {
        uint64_t below_after, below_before;
        bool is_exact = count_below(&in_after, bound, &below_after);

        is_exact &= count_below(&in_before, bound, &below_before);
        if (!is_exact)
            continue;
        if (below_after < below_before || !append_bucket(difference, below_after - below_before, &more_before))
            return false;
        difference->bounds[difference->n_bounds++] = bound;
    }
    return total_after >= total_before && append_bucket(difference, total_after - total_before, &more_before);
}

int metrichistogram_subtract(const struct metric_histogram *after, const struct metric_histogram *before,
                             struct arena *arena, struct metrichistogram *ret_difference, bool *ret_is_reset,
                             struct error *err)
{
    struct metrichistogram difference = { .sum = after->sum - before->sum };

    if (alloc_buckets(&difference, (size_t)after->n_bounds + before->n_bounds, arena, err) < 0)
        return -1;
    *ret_is_reset = !fill_difference(after, before, &difference);
    if (*ret_is_reset)
        return metrichistogram_copy(after, arena, ret_difference, err);
    *ret_difference = difference;
    return 0;
}

/* --- sums --- */

static bool has_same_bounds(const struct metrichistogram *a, const struct metrichistogram *b)
{
    return a->n_bounds == b->n_bounds &&
           (a->n_bounds == 0 || memcmp(a->bounds, b->bounds, a->n_bounds * sizeof(double)) == 0);
}

/* The first bucket that ends at `bound` or above. */
static uint32_t bucket_at(const struct metrichistogram *histogram, double bound)
{
    uint32_t low = 0, high = histogram->n_bounds;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (histogram->bounds[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds `count` values in (low, high], both finite. */
static void spread_bucket(struct metrichistogram *to, double low, double high, double count)
{
    double from = low;

    for (uint32_t i = bucket_at(to, nextafter(low, high)); from < high; i++) {
        double end = i < to->n_bounds ? fmin(to->bounds[i], high) : high;

        to->counts[i] += count * ((end - from) / (high - low));
        from = end;
    }
}

/* Adds `share` of the counts. Buckets without an end are no wider than their neighbours here. */
static void spread(struct metrichistogram *to, const struct metrichistogram *from, double share)
{
    for (uint32_t i = 0; i <= from->n_bounds; i++) {
        double count = from->counts[i] * share;

        if (count == 0)
            continue;
        if (from->n_bounds == 0)
            to->counts[to->n_bounds] += count;
        else if (i == 0)
            to->counts[bucket_at(to, from->bounds[0])] += count;
        else if (i == from->n_bounds)
            to->counts[bucket_at(to, nextafter(from->bounds[i - 1], INFINITY))] += count;
        else
            spread_bucket(to, from->bounds[i - 1], from->bounds[i], count);
    }
}

/* The bounds of both, as many as are allowed: those of `other` that are too many are left out. */
static void unite_bounds(const struct metrichistogram *total, const struct metrichistogram *other,
                         struct metrichistogram *united)
{
    uint32_t room = total->n_bounds < METRICHISTOGRAM_MAX_BOUNDS ? METRICHISTOGRAM_MAX_BOUNDS - total->n_bounds : 0;
    uint32_t i = 0, k = 0;

    while (i < total->n_bounds || k < other->n_bounds) {
        bool is_new = i == total->n_bounds || (k < other->n_bounds && other->bounds[k] < total->bounds[i]);

        if (is_new) {
            if (room > 0) {
                united->bounds[united->n_bounds++] = other->bounds[k];
                room--;
            }
            k++;
            continue;
        }
        k += k < other->n_bounds && other->bounds[k] == total->bounds[i];
        united->bounds[united->n_bounds++] = total->bounds[i++];
    }
}

int metrichistogram_add(struct metrichistogram *total, const struct metrichistogram *other, double share,
                        struct arena *arena, struct error *err)
{
    struct metrichistogram united = { .sum = total->sum, .count = total->count };

    if (!total->counts || !has_same_bounds(total, other)) {
        if (alloc_buckets(&united, (size_t)total->n_bounds + other->n_bounds, arena, err) < 0)
            return -1;
        unite_bounds(total, other, &united);
        if (total->counts)
            spread(&united, total, 1);
        *total = united;
    }
    if (has_same_bounds(total, other))
        for (uint32_t i = 0; i <= total->n_bounds; i++)
            total->counts[i] += other->counts[i] * share;
    else
        spread(total, other, share);
    total->count += other->count * share;
    total->sum += other->sum * share;
    return 0;
}

/* --- quantiles --- */

double metrichistogram_quantile(const struct metrichistogram *histogram, double share)
{
    double wanted = histogram->count * share, below = 0, low;
    uint32_t i = 0;

    if (!(histogram->count > 0) || histogram->n_bounds == 0)
        return NAN;
    while (i < histogram->n_bounds && (below + histogram->counts[i] < wanted || histogram->counts[i] == 0))
        below += histogram->counts[i++];
    if (i == histogram->n_bounds)
        return histogram->bounds[i - 1];
    if (i == 0 && histogram->bounds[0] <= 0)
        return histogram->bounds[0];
    low = i > 0 ? histogram->bounds[i - 1] : 0;
    return low + (histogram->bounds[i] - low) * fmax(wanted - below, 0) / histogram->counts[i];
}
