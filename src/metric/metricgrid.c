// SPDX-License-Identifier: Apache-2.0
#include "metric/metricgrid.h"

#include <math.h>

#define NS_PER_SECOND  1e9
/* A value holds for two and a half times the interval at which its series reports, and this long at most; if that is not
 * known, as if it were a minute, which is what SDKs do. */
#define HOLD_INTERVALS 2.5
#define HOLD_MAX_NS    ((int64_t)600 * 1000000000)
#define INTERVAL_USUAL ((int64_t)60 * 1000000000)
/* A counter that is first seen tells what it counted since its start, if that is no longer ago. */
#define FIRST_MAX_NS   METRICGRID_BEFORE_NS

enum metricgrid_kind metricgrid_kind_of(const struct metric_series *series)
{
    if (series->kind == POINT_HISTOGRAM)
        return METRICGRID_HISTOGRAM;
    return series->kind == POINT_SUM && series->is_monotonic ? METRICGRID_RATE : METRICGRID_LEVEL;
}

int metricgrid_cell_init(struct metricgrid_cell *cell, const struct metricgrid *grid, enum metricgrid_kind kind,
                         struct error *err)
{
    *cell = (struct metricgrid_cell){ .values = ARENA_ARRAY(grid->arena, double, grid->n, err) };
    if (!cell->values)
        return -1;
    for (uint32_t i = 0; i < grid->n; i++)
        cell->values[i] = NAN;
    if (kind == METRICGRID_HISTOGRAM) {
        cell->steps = arena_alloc_zero(grid->arena, grid->n * sizeof(*cell->steps), err);
        if (!cell->steps)
            return -1;
    }
    return 0;
}

struct metricgrid_track metricgrid_track_of(const struct metric_series *series, struct metricgrid_cell *cell)
{
    return (struct metricgrid_track){ .cell = cell,
                                      .kind = (uint8_t)metricgrid_kind_of(series),
                                      .is_delta = series->temporality == METRIC_DELTA };
}

/* --- steps --- */

static int64_t end_of(const struct metricgrid *grid)
{
    return grid->from_ns + grid->n * grid->step_ns;
}

/* The step of a moment that is not before the grid; behind it, its number of steps. */
static uint32_t step_at(const struct metricgrid *grid, int64_t time_ns)
{
    return time_ns < end_of(grid) ? (uint32_t)((time_ns - grid->from_ns) / grid->step_ns) : grid->n;
}

static void add_value(struct metricgrid_cell *cell, uint32_t step, double value)
{
    cell->values[step] = isnan(cell->values[step]) ? value : cell->values[step] + value;
}

/* Gives what was collected for a step to the cell. */
static void flush(struct metricgrid_track *track)
{
    if (track->weight > 0)
        add_value(track->cell, track->step, track->amount / track->weight);
    track->amount = track->weight = 0;
}

static void collect(struct metricgrid_track *track, uint32_t step, double amount, double weight)
{
    if (step != track->step)
        flush(track);
    track->step = step;
    track->amount += amount;
    track->weight += weight;
}

/* --- levels --- */

/* Until when the last value holds. Steps that are longer than that need nothing to hold in. */
static int64_t held_until(const struct metricgrid *grid, const struct metricgrid_track *track)
{
    int64_t interval_ns = track->interval_ns ? track->interval_ns : INTERVAL_USUAL;
    int64_t hold_ns = MIN((int64_t)(HOLD_INTERVALS * (double)interval_ns), HOLD_MAX_NS);

    return hold_ns > grid->step_ns ? track->last_ns + hold_ns : track->last_ns;
}

/* The last value holds in steps that begin before `until_ns`, behind the one of its point. */
static void hold(const struct metricgrid *grid, struct metricgrid_track *track, int64_t until_ns)
{
    int64_t end_ns = MIN(until_ns, held_until(grid, track));
    uint32_t step = track->last_ns < grid->from_ns ? 0 : step_at(grid, track->last_ns) + 1;

    for (; step < grid->n && grid->from_ns + step * grid->step_ns < end_ns; step++)
        collect(track, step, track->last_value, 1);
}

static void add_level(const struct metricgrid *grid, struct metricgrid_track *track, const struct metric_point *point)
{
    int64_t gap_ns = point->time_ns - track->last_ns;
    double value = point->value;

    if (point->time_ns < grid->from_ns) {
        track->last_value = track->is_delta ? 0 : value; /* what deltas came to before the grid is not known */
    } else {
        uint32_t step = step_at(grid, point->time_ns);

        if (track->has_last)
            hold(grid, track, grid->from_ns + step * grid->step_ns);
        track->last_value = track->is_delta ? track->last_value + value : value;
        if (step < grid->n)
            collect(track, step, track->last_value, 1);
    }
    if (track->has_last && gap_ns <= HOLD_MAX_NS)
        track->interval_ns = gap_ns;
}

/* --- what grows --- */

/* A span of time in which something grew. */
struct growth {
    int64_t from_ns, until_ns;
    bool is_reset; /* since it began anew */
};

/* The span that a point tells of; false if it tells of none. `is_less` says that it has less than the last one. */
static bool growth_of(const struct metricgrid_track *track, const struct metric_point *point, bool is_less,
                      struct growth *ret_growth)
{
    int64_t start_ns = point->start_ns;

    *ret_growth = (struct growth){ .from_ns = track->last_ns, .until_ns = point->time_ns };
    if (!track->has_last) {
        ret_growth->from_ns = start_ns;
        ret_growth->is_reset = true;
        return start_ns > 0 && start_ns < point->time_ns && point->time_ns - start_ns <= FIRST_MAX_NS;
    }
    ret_growth->is_reset = track->is_delta || is_less || (start_ns > 0 && start_ns >= track->last_ns);
    if (ret_growth->is_reset && start_ns > track->last_ns)
        ret_growth->from_ns = start_ns;
    return ret_growth->from_ns < point->time_ns;
}

/* The part of a span that lies in step `step`, in nanoseconds. */
static int64_t part_in(const struct metricgrid *grid, const struct growth *growth, uint32_t step)
{
    int64_t begin_ns = grid->from_ns + step * grid->step_ns;

    return MIN(growth->until_ns, begin_ns + grid->step_ns) - MAX(growth->from_ns, begin_ns);
}

/* The steps that a span touches: [*ret_first, *ret_last]; false if there are none. */
static bool steps_of(const struct metricgrid *grid, const struct growth *growth, uint32_t *ret_first,
                     uint32_t *ret_last)
{
    if (growth->until_ns <= grid->from_ns || growth->from_ns >= end_of(grid))
        return false;
    *ret_first = growth->from_ns <= grid->from_ns ? 0 : step_at(grid, growth->from_ns);
    *ret_last = growth->until_ns >= end_of(grid) ? grid->n - 1 : step_at(grid, growth->until_ns - 1);
    return true;
}

/* What grew over a span is spread evenly over it. */
static void collect_growth(const struct metricgrid *grid, struct metricgrid_track *track, const struct growth *growth,
                           double amount)
{
    double whole_ns = (double)(growth->until_ns - growth->from_ns);
    uint32_t first, last;

    if (!steps_of(grid, growth, &first, &last))
        return;
    for (uint32_t step = first; step <= last; step++) {
        double part_ns = (double)part_in(grid, growth, step);

        collect(track, step, amount * part_ns / whole_ns, part_ns / NS_PER_SECOND);
    }
}

static void add_rate(const struct metricgrid *grid, struct metricgrid_track *track, const struct metric_point *point)
{
    struct growth growth;

    if (growth_of(track, point, track->has_last && point->value < track->last_value, &growth))
        collect_growth(grid, track, &growth, growth.is_reset ? point->value : point->value - track->last_value);
    track->last_value = point->value;
}

/* --- histograms --- */

static int keep_last(const struct metricgrid *grid, struct metricgrid_track *track,
                     const struct metric_histogram *histogram, struct error *err)
{
    size_t n = histogram->n_bounds;

    if (!track->last_histogram.counts || track->last_histogram.capacity < n) {
        double *bounds = ARENA_ARRAY(grid->arena, double, n, err);
        uint64_t *counts = ARENA_ARRAY(grid->arena, uint64_t, n + 1, err);

        if (!bounds || !counts)
            return -1;
        track->last_histogram.bounds = bounds;
        track->last_histogram.counts = counts;
        track->last_histogram.capacity = n;
    }
    memcpy(track->last_histogram.bounds, histogram->bounds, n * sizeof(double));
    memcpy(track->last_histogram.counts, histogram->counts, (n + 1) * sizeof(uint64_t));
    track->last_histogram.n_bounds = (uint32_t)n;
    track->last_histogram.sum = histogram->sum;
    return 0;
}

static struct metric_histogram last_of(const struct metricgrid_track *track)
{
    return (struct metric_histogram){ .sum = track->last_histogram.sum,
                                      .bounds = track->last_histogram.bounds,
                                      .counts = track->last_histogram.counts,
                                      .n_bounds = track->last_histogram.n_bounds };
}

/* What the point has more than the last one; all it has where that is what it counts since. */
static int histogram_growth(const struct metricgrid_track *track, const struct metric_point *point,
                            struct arena *scratch, struct metrichistogram *ret_more, struct growth *ret_growth,
                            bool *ret_has, struct error *err)
{
    struct metric_histogram last = last_of(track);
    bool is_less = false;

    if (track->has_last && !track->is_delta &&
        metrichistogram_subtract(point->histogram, &last, scratch, ret_more, &is_less, err) < 0)
        return -1;
    *ret_has = growth_of(track, point, is_less, ret_growth);
    if (*ret_has && ret_growth->is_reset)
        return metrichistogram_copy(point->histogram, scratch, ret_more, err);
    return 0;
}

static int add_histogram(const struct metricgrid *grid, struct metricgrid_track *track,
                         const struct metric_point *point, struct arena *scratch, struct error *err)
{
    struct metrichistogram more;
    struct growth growth;
    uint32_t first, last;
    bool has_growth;

    if (histogram_growth(track, point, scratch, &more, &growth, &has_growth, err) < 0)
        return -1;
    if (!has_growth || !steps_of(grid, &growth, &first, &last))
        return 0;
    collect_growth(grid, track, &growth, more.count);
    for (uint32_t step = first; more.count > 0 && step <= last; step++)
        if (metrichistogram_add(&track->cell->steps[step], &more,
                                (double)part_in(grid, &growth, step) / (double)(growth.until_ns - growth.from_ns),
                                grid->arena, err) < 0)
            return -1;
    return 0;
}

/* --- tracks --- */

int metricgrid_add(const struct metricgrid *grid, struct metricgrid_track *track, const struct metric_point *point,
                   struct arena *scratch, struct error *err)
{
    switch ((enum metricgrid_kind)track->kind) {
    case METRICGRID_LEVEL: add_level(grid, track, point); break;
    case METRICGRID_RATE: add_rate(grid, track, point); break;
    case METRICGRID_HISTOGRAM:
        if (!point->histogram)
            return 0;
        if (add_histogram(grid, track, point, scratch, err) < 0 ||
            (!track->is_delta && keep_last(grid, track, point->histogram, err) < 0))
            return -1;
        break;
    }
    track->last_ns = point->time_ns;
    track->has_last = true;
    return 0;
}

void metricgrid_finish(const struct metricgrid *grid, struct metricgrid_track *track)
{
    if (track->kind == METRICGRID_LEVEL && track->has_last)
        hold(grid, track, INT64_MAX);
    flush(track);
}
