// SPDX-License-Identifier: Apache-2.0
/* The messages of OTLP metrics, and the parts of their reader. */
#pragma once

#include "base/arena.h"
#include "metric/metric.h"
#include "wire/protobuf.h"
#include "wire/protojson.h"

enum { OTLPMETRICS_REQUEST_RESOURCE_METRICS = 1 };
enum { OTLPMETRICS_RESOURCE = 1, OTLPMETRICS_SCOPE_METRICS };
enum { OTLPMETRICS_RESOURCE_ATTRIBUTES = 1 };
enum { OTLPMETRICS_SCOPE = 1, OTLPMETRICS_METRICS };
enum {
    OTLPMETRICS_NAME = 1,
    OTLPMETRICS_UNIT = 3,
    OTLPMETRICS_GAUGE = 5,
    OTLPMETRICS_SUM = 7,
    OTLPMETRICS_HISTOGRAM = 9,
    OTLPMETRICS_EXPONENTIAL = 10,
    OTLPMETRICS_SUMMARY = 11,
};
enum { OTLPMETRICS_POINTS = 1, OTLPMETRICS_TEMPORALITY, OTLPMETRICS_IS_MONOTONIC };
enum {
    OTLPMETRICS_NUMBER_START = 2,
    OTLPMETRICS_NUMBER_TIME,
    OTLPMETRICS_NUMBER_DOUBLE,
    OTLPMETRICS_NUMBER_INT = 6,
    OTLPMETRICS_NUMBER_ATTRIBUTES,
    OTLPMETRICS_NUMBER_FLAGS,
};
enum {
    OTLPMETRICS_HISTOGRAM_START = 2,
    OTLPMETRICS_HISTOGRAM_TIME,
    OTLPMETRICS_HISTOGRAM_COUNT,
    OTLPMETRICS_HISTOGRAM_SUM,
    OTLPMETRICS_HISTOGRAM_COUNTS,
    OTLPMETRICS_HISTOGRAM_BOUNDS,
    OTLPMETRICS_HISTOGRAM_ATTRIBUTES = 9,
    OTLPMETRICS_HISTOGRAM_FLAGS,
};
enum {
    OTLPMETRICS_EXPONENTIAL_ATTRIBUTES = 1,
    OTLPMETRICS_EXPONENTIAL_START,
    OTLPMETRICS_EXPONENTIAL_TIME,
    OTLPMETRICS_EXPONENTIAL_COUNT,
    OTLPMETRICS_EXPONENTIAL_SUM,
    OTLPMETRICS_EXPONENTIAL_SCALE,
    OTLPMETRICS_EXPONENTIAL_ZEROS,
    OTLPMETRICS_EXPONENTIAL_POSITIVE,
    OTLPMETRICS_EXPONENTIAL_NEGATIVE,
    OTLPMETRICS_EXPONENTIAL_FLAGS,
    OTLPMETRICS_EXPONENTIAL_ZERO_THRESHOLD = 14,
};
enum { OTLPMETRICS_BUCKETS_OFFSET = 1, OTLPMETRICS_BUCKETS_COUNTS };
#define OTLPMETRICS_NO_VALUE 1u /* a flag of points */

/* The fields of a request, for stories and JSON. */
extern const struct protojson_field otlpmetrics_fields[];

/* A run of buckets of an exponential histogram: counts[i] in (base^(offset + i), base^(offset + i + 1)]. */
struct otlpmetrics_buckets {
    int64_t offset;
    const uint64_t *counts;
    size_t n;
};
/* What a point of a histogram of either kind says. */
struct otlpmetrics_histogram {
    double sum; /* NaN = not told */
    uint64_t count;
    const uint64_t *counts;
    size_t n_counts;
    const double *bounds;
    size_t n_bounds;
    /* of exponential ones */
    int64_t scale;
    uint64_t n_zeros;
    double zero_threshold;
    struct otlpmetrics_buckets positive, negative;
};
/* Makes the histogram that is kept, of at most METRIC_MAX_BOUNDS bounds, from `arena`. NULL in `*ret_histogram` with a
 * reason ("its buckets do not ...") where no reader could use it. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int otlpmetrics_bucket(const struct otlpmetrics_histogram *raw, bool is_exponential, struct arena *arena,
                                  const struct metric_histogram **ret_histogram, const char **ret_reason,
                                  struct error *err);

/* --- labels (otlpmetrics_labels.c) --- */

/* Labels in the order of their keys. */
struct otlpmetrics_labels {
    struct metric_label items[METRIC_MAX_LABELS];
    uint32_t n;
};
/* Adds a label; of one key the first stays, and of too many those first in the order, and the service. */
void otlpmetrics_labels_add(struct otlpmetrics_labels *labels, struct slice key, struct slice value);

/* What a resource tells. */
struct otlpmetrics_resource {
    struct slice service, instance, version, host, executable, pid;
};
/* Takes one attribute (a KeyValue) of a resource; what is wrong with its bytes is noted in `r`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int otlpmetrics_resource_add(struct otlpmetrics_resource *resource, struct protobuf_reader *r,
                                        struct arena *arena, struct error *err);
/* The labels it makes. Errors: likewise. */
MUST_CHECK int otlpmetrics_resource_labels(const struct otlpmetrics_resource *resource, struct arena *arena,
                                           struct otlpmetrics_labels *ret_labels, struct error *err);
/* Takes one attribute of a point. Errors: likewise. */
MUST_CHECK int otlpmetrics_labels_read(struct otlpmetrics_labels *labels, struct protobuf_reader *r,
                                       struct arena *arena, struct error *err);
