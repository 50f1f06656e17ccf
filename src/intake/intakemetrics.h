// SPDX-License-Identifier: Apache-2.0
/* The metrics of the intake. */
#pragma once

#include "base/metrics.h"
#include "intake/upload.h"

enum intakemetric {
    INTAKEMETRIC_UPLOADS,
    INTAKEMETRIC_PROFILES,
    INTAKEMETRIC_BODY_BYTES,
    INTAKEMETRIC_INFLATED_BYTES,
    INTAKEMETRIC_DELTAS,
    INTAKEMETRIC_DOWNSAMPLED,
    INTAKEMETRIC_NEGATIVE_SAMPLES,
    INTAKEMETRICS,
};

enum intake_outcome { INTAKE_STORED, INTAKE_EMPTY, INTAKE_MERGED, INTAKE_REJECTED, INTAKE_OUTCOMES };
/* What deltas.h made of a cumulative profile. */
enum intake_delta { INTAKE_DELTA_MADE, INTAKE_DELTA_FIRST, INTAKE_DELTAS };

extern const struct metric_spec intakemetrics_specs[INTAKEMETRICS];

struct intakemetrics {
    struct metrics *metrics; /* NULL: not shown, nothing is counted */
    struct metrics_series *uploads[UPLOAD_KIND_COUNT];
    struct metrics_series *profiles[UPLOAD_KIND_COUNT][INTAKE_OUTCOMES];
    struct metrics_series *body_bytes[UPLOAD_KIND_COUNT];
    struct metrics_series *inflated_bytes[UPLOAD_KIND_COUNT];
    struct metrics_series *deltas[INTAKE_DELTAS];
    struct metrics_series *downsampled, *negative_samples;
};

/* Shows the metrics from now on. Of several intakes in a process the first is shown. */
void intakemetrics_init(struct intakemetrics *metrics);
void intakemetrics_done(struct intakemetrics *metrics);

/* Thread: any. */
void intakemetrics_add(const struct intakemetrics *metrics, struct metrics_series *series, uint64_t amount);
