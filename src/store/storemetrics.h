// SPDX-License-Identifier: Apache-2.0
/* What a store counts for /metrics. The table is the truth: docs/reference/metrics.md comes from it. */
#pragma once

#include "base/metrics.h"

enum storemetric {
    STOREMETRIC_WRITTEN,
    STOREMETRIC_SAMPLES,
    STOREMETRIC_DUPLICATES,
    STOREMETRIC_REFUSED,
    STOREMETRIC_FAILED_WRITES,
    STOREMETRIC_NAMES_REPAIRED,
    STOREMETRIC_NAMES_CUT,
    STOREMETRIC_VALUES_CUT,
    STOREMETRIC_VALUES_REPAIRED,
    STOREMETRIC_LABELS_MOVED,
    STOREMETRIC_SPLITS_MOVED,
    STOREMETRIC_HOURS_CLOSED,
    STOREMETRIC_OPEN_BYTES,
    STOREMETRIC_OPEN_DROPPED,
    STOREMETRIC_DAYS_DROPPED,
    STOREMETRIC_DAYS_SET_ASIDE,
    STOREMETRIC_DAYS_REOPENED,
    STOREMETRIC_DAMAGED,
    STOREMETRIC_FULL,
    STOREMETRICS,
};

extern const struct metric_spec storemetrics_specs[STOREMETRICS];

/* The values of one store. */
struct storemetrics {
    struct metrics *metrics; /* NULL: not shown, nothing is counted */
    struct metrics_series *series[STOREMETRICS];
};

/* Shows the metrics from now on. Of several stores in a process the first is shown. */
void storemetrics_init(struct storemetrics *metrics);
void storemetrics_done(struct storemetrics *metrics);
/* Thread: any. */
void storemetrics_add(struct storemetrics *metrics, enum storemetric metric, uint64_t amount);
void storemetrics_set(struct storemetrics *metrics, enum storemetric metric, double value);
