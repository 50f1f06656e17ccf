// SPDX-License-Identifier: Apache-2.0
/* Arithmetic of histograms whose bounds may differ: what one has more than another, sums of many, and quantiles.
 *
 * Where a bucket must be split, its values count as spread evenly over it. */
#pragma once

#include "base/arena.h"
#include "metric/metric.h"

/* Counts between bounds, as metric_histogram has them, but in parts of one. */
struct metrichistogram {
    double sum; /* of the values; NaN where it is not known of all */
    double count;
    double *bounds;
    double *counts; /* n_bounds + 1 */
    uint32_t n_bounds;
};

/* What `after` has more than `before`, an earlier state of the same. Bounds that both can tell exactly stay; others are
 * left out. `*ret_is_reset` says that it has less somewhere: then it began anew, and the result is `after` itself. From
 * `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metrichistogram_subtract(const struct metric_histogram *after, const struct metric_histogram *before,
                                        struct arena *arena, struct metrichistogram *ret_difference, bool *ret_is_reset,
                                        struct error *err);
/* The histogram itself in this form; before NULL above. */
MUST_CHECK int metrichistogram_copy(const struct metric_histogram *histogram, struct arena *arena,
                                    struct metrichistogram *ret_copy, struct error *err);

/* Adds `share` of `other` to `total`, which is zeroed at first and gets what memory it needs from `arena`. It takes on bounds
 * that it does not have, up to METRICHISTOGRAM_MAX_BOUNDS. Errors: ERR_MEMORY, ERR_LIMIT; then nothing was added. */
#define METRICHISTOGRAM_MAX_BOUNDS 1024u
MUST_CHECK int metrichistogram_add(struct metrichistogram *total, const struct metrichistogram *other, double share,
                                   struct arena *arena, struct error *err);

/* The value that a share of all (0 to 1) does not exceed; NaN of an empty one. Below the first bound values count as spread
 * from 0, or are the bound itself if that is not above 0; above the last they are that bound, NaN without bounds. */
double metrichistogram_quantile(const struct metrichistogram *histogram, double share);
