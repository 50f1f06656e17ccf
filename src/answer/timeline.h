// SPDX-License-Identifier: Apache-2.0
/* The timeline of /render: what a query comes to over time, in steps that suit the length of its range.
 *
 * T1  A step is a 1500th of the range, at least 15 seconds, rounded to one that people like: 15 or 20 seconds, 1 minute,
 *     6 hours.
 * T2  A step at `ts` has the profiles that began in (ts - step, ts], by whole milliseconds, as points of SelectSeries have
 *     them; steps are at the beginning of the range and so on. So the first reaches back before it. They are shown as if
 *     they were at multiples of their length since 1970, and the one in which the range ends is left out. */
#pragma once

#include "base/json.h"
#include "query/timeseries.h"

struct timeline {
    int64_t start_ns; /* of the first step, as it is shown */
    int64_t step_ns;
    uint32_t n_steps;
    int64_t first_ns; /* of the first step, as it is */
};

/* The steps of a range, whose ends are not before 1970 and in order. Thread: any, as for all of these. */
struct timeline timeline_of(int64_t from_ns, int64_t until_ns);

/* Appends the object: startTime, samples (from `points`, or all zero where that is NULL), durationDelta, watermarks. */
void timeline_write_json(const struct timeline *timeline, const double *points, struct json *json);

/* The values of the steps for what a query asks, whose range is not looked at. No series, `*ret_series` NULL, where there
 * are no steps. Errors: those of timeseries_new. */
MUST_CHECK int timeline_load(const struct timeline *timeline, struct engine *engine, const struct query *query,
                             struct timeseries_options options, struct timeseries **ret_series, struct error *err);
