// SPDX-License-Identifier: Apache-2.0
/* Points of series on a grid of steps: what metricstore_ask says of levels, rates and histograms (metricstore.h), apart from
 * where the points come from.
 *
 * A cell collects series that are added up. Each series has a track of its own, which is given its points in the order of
 * time, also those before the grid, of which differences and values that hold begin; metricgrid_finish ends it. */
#pragma once

#include "metric/metrichistogram.h"

/* Point i of a line covers [from + i * step, from + (i + 1) * step). */
struct metricgrid {
    int64_t from_ns, step_ns;
    uint32_t n;
    struct arena *arena; /* for what cells and tracks need */
};

/* How long before a grid points should be given. */
#define METRICGRID_BEFORE_NS ((int64_t)300 * 1000000000)

enum metricgrid_kind {
    METRICGRID_LEVEL,     /* averaged over the step, and held between points */
    METRICGRID_RATE,      /* what it grew a second */
    METRICGRID_HISTOGRAM, /* how its values were spread */
};
enum metricgrid_kind metricgrid_kind_of(const struct metric_series *series);

struct metricgrid_cell {
    double *values;                /* the levels or rates, of histograms the values a second; NaN = none */
    struct metrichistogram *steps; /* of histograms; those without values are zeroed */
};
/* A cell without anything. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricgrid_cell_init(struct metricgrid_cell *cell, const struct metricgrid *grid,
                                    enum metricgrid_kind kind, struct error *err);

struct metricgrid_track {
    struct metricgrid_cell *cell;
    uint8_t kind; /* enum metricgrid_kind */
    bool is_delta;
    bool has_last;
    /* of the last point */
    int64_t last_ns;
    double last_value; /* of delta levels what they added up to */
    struct {
        double sum;
        double *bounds;
        uint64_t *counts;
        uint32_t n_bounds;
        size_t capacity; /* bounds that there is room for */
    } last_histogram;
    int64_t interval_ns; /* between the last two points; 0 = not known */
    /* what is known of the step being filled */
    uint32_t step;
    double amount; /* levels: the sum of points; rates: what it grew */
    double weight; /* levels: how many points; rates: seconds that are covered */
};
struct metricgrid_track metricgrid_track_of(const struct metric_series *series, struct metricgrid_cell *cell);

/* Takes the next point of the track's series. `scratch` is for the moment. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricgrid_add(const struct metricgrid *grid, struct metricgrid_track *track,
                              const struct metric_point *point, struct arena *scratch, struct error *err);
/* No more points come. */
void metricgrid_finish(const struct metricgrid *grid, struct metricgrid_track *track);
