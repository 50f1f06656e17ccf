// SPDX-License-Identifier: Apache-2.0
/* What runtime metrics are: series of points in time, each series with a name, a kind and labels. Everything borrows.
 *
 * M1  A series is known by its name, unit, kind, temporality, whether it only rises, and its labels, which are sorted by key
 *     and have each key once.
 * M2  What is kept is bounded (METRIC_MAX_*): longer texts are cut, more labels are left out.
 * M3  Whole numbers are kept as doubles: exact up to 2^53. */
#pragma once

#include "base/slice.h"

#define METRIC_MAX_LABELS      16
#define METRIC_MAX_NAME_BYTES  256 /* of names, units and keys of labels */
#define METRIC_MAX_VALUE_BYTES 256 /* of values of labels */
#define METRIC_MAX_BOUNDS      160 /* of a histogram: as many buckets as SDKs make, and one more */

enum point_kind { POINT_GAUGE, POINT_SUM, POINT_HISTOGRAM };
#define POINT_KIND_COUNT (POINT_HISTOGRAM + 1)

/* OTLP's numbers. Gauges have none. */
enum metric_temporality { METRIC_NO_TEMPORALITY, METRIC_DELTA, METRIC_CUMULATIVE };
#define METRIC_TEMPORALITY_COUNT (METRIC_CUMULATIVE + 1)

struct metric_label {
    struct slice key, value;
};

struct metric_series {
    struct slice name, unit;
    uint8_t kind;        /* enum point_kind */
    uint8_t temporality; /* enum metric_temporality */
    bool is_monotonic;   /* of sums: only rises */
    const struct metric_label *labels;
    uint32_t n_labels;
};

/* How many values fell between bounds: counts[i] in (bounds[i - 1], bounds[i]], the last above all bounds. Bounds rise. */
struct metric_histogram {
    double sum; /* of the values; NaN where the sender does not tell */
    const double *bounds;
    const uint64_t *counts; /* n_bounds + 1 */
    uint32_t n_bounds;
};

struct metric_point {
    const struct metric_series *series;
    int64_t start_ns; /* since when sums and histograms count; 0 = not told */
    int64_t time_ns;
    double value;                             /* of gauges and sums; of histograms 0 */
    const struct metric_histogram *histogram; /* of histograms, else NULL */
};

struct metric_list {
    const struct metric_point *items;
    size_t n;
};
