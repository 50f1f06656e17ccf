// SPDX-License-Identifier: Apache-2.0
/* Values over time, grouped by labels.
 *
 * S1  Point i covers the rows whose windows start in [from + i * step, from + (i + 1) * step); the last one may be shorter.
 * S2  A flow (CPU, allocations) at a point is the sum of its rows. A level (memory in use) is what each series reports on
 *     average, added up over the series of the group; summed like a flow if the query says so. So that instances which
 *     take turns do not add up, points of more than five minutes are averages over each five minutes from midnight UTC, as
 *     in engine.h, E2; those without rows do not count. Over ranges of years there are 262,144 parts of as many times five
 *     minutes as it takes.
 * S3  Labels of series and labels of rows and samples (columns) are seen alike: a group is what an asker sees. A label that
 *     is not there is "". Of several values that a sample has for a label the first is taken. A profile whose samples are
 *     in several groups counts in each of them.
 * S4  Points without rows have has_rows false and the value 0. */
#pragma once

#include "query/points.h"

enum timeseries_kind {
    TIMESERIES_SUM,
    TIMESERIES_AVERAGE, /* per profile */
    TIMESERIES_COUNT,   /* profiles */
    TIMESERIES_RATE,    /* the sum per second of the point's length. ERR_INVALID for levels that are averaged */
    TIMESERIES_CORES,   /* of nanoseconds of CPU: nanoseconds per nanosecond. ERR_INVALID for other units */
};

struct timeseries_options {
    enum timeseries_kind kind;
    int64_t step_ns; /* more than 0; at most TIMESERIES_MAX_POINTS points, else ERR_LIMIT saying which step would do */
    const struct slice *by; /* names of labels, any spelling; none = one group */
    uint32_t n_by;          /* at most 32, else ERR_LIMIT */
    uint32_t
        top; /* keep so many groups, those with the largest sum over all points; 0 = all, at most TIMESERIES_MAX_GROUPS */
};
#define TIMESERIES_MAX_POINTS POINTS_MAX
#define TIMESERIES_MAX_GROUPS 10000u

struct timeseries_group {
    struct slice *values; /* of the labels, in the order asked for */
    double *points;
    bool *has_rows;
    double sum; /* of all points, by which groups are ordered, largest first, then by labels */
};

struct timeseries {
    int64_t from_ns, step_ns;
    uint32_t n_points, n_groups;
    uint32_t n_left_out; /* groups beyond `top` */
    struct slice unit;   /* of the points: "nanoseconds", "cores", "profiles", "bytes/second" ... */
    struct timeseries_group *groups;
    struct arena arena;
};

/* Errors: those of engine.h E3, ERR_INVALID, ERR_LIMIT. Thread: any. */
MUST_CHECK int timeseries_new(struct engine *engine, const struct query *query,
                              const struct timeseries_options *options, struct timeseries **ret_series,
                              struct query_facts *ret_facts, struct error *err);
void timeseries_free(struct timeseries *series);
void timeseries_freep(struct timeseries **series);
