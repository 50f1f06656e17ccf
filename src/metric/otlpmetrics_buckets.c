// SPDX-License-Identifier: Apache-2.0
/* Histograms of either kind as they are kept: with bounds of their own, and few enough of them. */
#include "metric/otlpmetrics_internal.h"

#include <math.h>

#define MAX_SCALE 32 /* OpenTelemetry's are -10 to 20 */

struct builder {
    double *bounds;
    uint64_t *counts;
    uint64_t n_above; /* of the last bucket */
    size_t n, capacity;
};

static uint64_t add_counts(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Adds a bucket of `count` that ends at `bound`. One that ends where the last does, by the doubles there are, is part of
 * it. */
static void add_bucket(struct builder *builder, double bound, uint64_t count)
{
    if (builder->n > 0 && !(bound > builder->bounds[builder->n - 1])) {
        builder->counts[builder->n - 1] = add_counts(builder->counts[builder->n - 1], count);
    } else if (!isfinite(bound)) {
        builder->n_above = add_counts(builder->n_above, count);
    } else {
        ASSERT(builder->n < builder->capacity);
        builder->bounds[builder->n] = bound;
        builder->counts[builder->n++] = count;
    }
}

static int builder_new(struct builder *builder, size_t n_bounds, struct arena *arena, struct error *err)
{
    *builder = (struct builder){ .bounds = ARENA_ARRAY(arena, double, n_bounds, err), .capacity = n_bounds };
    if (!builder->bounds)
        return -1;
    builder->counts = ARENA_ARRAY(arena, uint64_t, n_bounds + 1, err);
    return builder->counts ? 0 : -1;
}

static int builder_finish(struct builder *builder, double sum, struct arena *arena,
                          const struct metric_histogram **ret_histogram, struct error *err)
{
    struct metric_histogram *histogram = ARENA_NEW(arena, struct metric_histogram, err);

    if (!histogram)
        return -1;
    builder->counts[builder->n] = builder->n_above;
    *histogram = (struct metric_histogram){
        .sum = sum, .bounds = builder->bounds, .counts = builder->counts, .n_bounds = (uint32_t)builder->n
    };
    *ret_histogram = histogram;
    return 0;
}

/* --- explicit ones --- */

static const char *problem_of(const struct otlpmetrics_histogram *raw)
{
    if (raw->n_counts != raw->n_bounds + 1 && (raw->n_counts || raw->n_bounds))
        return "it has not one bucket more than bounds";
    for (size_t i = 0; i < raw->n_bounds; i++)
        if (!isfinite(raw->bounds[i]) || (i > 0 && raw->bounds[i] <= raw->bounds[i - 1]))
            return "its bounds do not rise";
    return NULL;
}

/* Of too many bounds every second, fourth, ... stays. */
static int build_explicit(const struct otlpmetrics_histogram *raw, struct arena *arena, struct builder *builder,
                          struct error *err)
{
    size_t together = 1;
    uint64_t count = 0;

    while (raw->n_bounds / together > METRIC_MAX_BOUNDS)
        together *= 2;
    if (builder_new(builder, raw->n_bounds / together, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < raw->n_bounds; i++) {
        count = add_counts(count, raw->counts[i]);
        if ((i + 1) % together == 0) {
            add_bucket(builder, raw->bounds[i], count);
            count = 0;
        }
    }
    /* Without buckets all there is lies in one. */
    builder->n_above = add_counts(count, raw->n_counts ? raw->counts[raw->n_bounds] : raw->count);
    return 0;
}

/* --- exponential ones --- */

/* Without empty buckets at either end. */
static struct otlpmetrics_buckets trimmed(struct otlpmetrics_buckets buckets)
{
    while (buckets.n > 0 && buckets.counts[buckets.n - 1] == 0)
        buckets.n--;
    while (buckets.n > 0 && buckets.counts[0] == 0) {
        buckets.counts++;
        buckets.offset++;
        buckets.n--;
    }
    return buckets;
}

/* How many buckets there are when each 2^shift are one. */
static size_t buckets_after(const struct otlpmetrics_buckets *buckets, unsigned shift)
{
    int64_t last = buckets->offset + (int64_t)buckets->n - 1;

    return buckets->n ? (size_t)((last >> shift) - (buckets->offset >> shift) + 1) : 0;
}

/* base^index at a scale: 2^(index * 2^-scale). */
static double edge(int64_t index, int64_t scale)
{
    return exp2(ldexp((double)index, (int)-scale));
}

static void build_negative(const struct otlpmetrics_buckets *buckets, unsigned shift, int64_t scale,
                           struct builder *builder)
{
    if (buckets->n == 0)
        return;
    add_bucket(builder, -edge(((buckets->offset + (int64_t)buckets->n - 1) >> shift) + 1, scale), 0);
    for (size_t i = buckets->n; i-- > 0;)
        add_bucket(builder, -edge((buckets->offset + (int64_t)i) >> shift, scale), buckets->counts[i]);
}

static void build_positive(const struct otlpmetrics_buckets *buckets, unsigned shift, int64_t scale,
                           struct builder *builder)
{
    for (size_t i = 0; i < buckets->n; i++)
        add_bucket(builder, edge(((buckets->offset + (int64_t)i) >> shift) + 1, scale), buckets->counts[i]);
}

static int build_exponential(const struct otlpmetrics_histogram *raw, struct arena *arena, struct builder *builder,
                             struct error *err)
{
    struct otlpmetrics_buckets positive = trimmed(raw->positive), negative = trimmed(raw->negative);
    unsigned shift = 0;
    size_t n_bounds;
    int64_t scale;

    /* Each run has an edge more than buckets. */
    while ((n_bounds = buckets_after(&positive, shift) + buckets_after(&negative, shift) + 2) > METRIC_MAX_BOUNDS)
        shift++;
    if (builder_new(builder, n_bounds, arena, err) < 0)
        return -1;
    scale = raw->scale - (int64_t)shift;
    build_negative(&negative, shift, scale, builder);
    add_bucket(builder, positive.n ? edge(positive.offset >> shift, scale) : fmax(raw->zero_threshold, 0),
               raw->n_zeros);
    build_positive(&positive, shift, scale, builder);
    return 0;
}

int otlpmetrics_bucket(const struct otlpmetrics_histogram *raw, bool is_exponential, struct arena *arena,
                       const struct metric_histogram **ret_histogram, const char **ret_reason, struct error *err)
{
    struct builder builder;

    *ret_histogram = NULL;
    if (is_exponential)
        *ret_reason = raw->scale < -MAX_SCALE || raw->scale > MAX_SCALE ? "its scale is not within -32 to 32" : NULL;
    else
        *ret_reason = problem_of(raw);
    if (*ret_reason)
        return 0;
    if ((is_exponential ? build_exponential : build_explicit)(raw, arena, &builder, err) < 0)
        return -1;
    return builder_finish(&builder, raw->sum, arena, ret_histogram, err);
}
