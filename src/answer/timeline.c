// SPDX-License-Identifier: Apache-2.0
#include "answer/timeline.h"

#include "base/clock.h"

#include <math.h>

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, WEEK = 7 * DAY };

#define STEPS_WANTED  1500
#define MS_NS         ((int64_t)1000000)
#define STEP_LONGEST  (365 * DAY)
#define EXACT_INTEGER 9007199254740992.0 /* 2^53: what a double, and so a script, can count up to */

/* A step is that of the first row below whose limit it is. */
static const struct {
    double limit_s;
    int64_t step_s;
} step_table[] = {
    { 17.5, 15 },
    { 25, 20 },
    { 45, 30 },
    { 1.5 * MINUTE, MINUTE },
    { 3.5 * MINUTE, 2 * MINUTE },
    { 7.5 * MINUTE, 5 * MINUTE },
    { 12.5 * MINUTE, 10 * MINUTE },
    { 17.5 * MINUTE, 15 * MINUTE },
    { 25 * MINUTE, 20 * MINUTE },
    { 45 * MINUTE, 30 * MINUTE },
    { 1.5 * HOUR, HOUR },
    { 2.5 * HOUR, 2 * HOUR },
    { 4.5 * HOUR, 3 * HOUR },
    { 9 * HOUR, 6 * HOUR },
    { DAY, 12 * HOUR },
    { WEEK, DAY },
    { 3 * WEEK, WEEK },
    { 6 * WEEK, 30 * DAY },
};

static int64_t step_of(int64_t length_ns)
{
    double step_s = (double)length_ns / STEPS_WANTED / CLOCK_NS_PER_SECOND;

    for (size_t i = 0; i < ARRAY_LEN(step_table); i++)
        if (step_s < step_table[i].limit_s)
            return step_table[i].step_s * CLOCK_NS_PER_SECOND;
    return STEP_LONGEST * CLOCK_NS_PER_SECOND;
}

struct timeline timeline_of(int64_t from_ns, int64_t until_ns)
{
    int64_t step_ns = step_of(until_ns - from_ns);
    int64_t first = from_ns / step_ns, end = until_ns / step_ns;

    return (struct timeline){ .start_ns = first * step_ns,
                              .step_ns = step_ns,
                              .n_steps = (uint32_t)(end - first),
                              .first_ns = from_ns / MS_NS * MS_NS };
}

int timeline_load(const struct timeline *timeline, struct engine *engine, const struct query *query,
                  struct timeseries_options options, struct timeseries **ret_series, struct error *err)
{
    struct query over_time = *query;
    struct query_facts facts;

    if (timeline->n_steps == 0) {
        *ret_series = NULL;
        return 0;
    }
    over_time.from_ns = timeline->first_ns - timeline->step_ns + MS_NS;
    over_time.until_ns = over_time.from_ns + timeline->step_ns * timeline->n_steps;
    options.step_ns = timeline->step_ns;
    return timeseries_new(engine, &over_time, &options, ret_series, &facts, err);
}

/* Samples are whole, and none is below 0. */
static int64_t sample_of(double point)
{
    return (int64_t)fmin(fmax(round(point), 0), EXACT_INTEGER);
}

void timeline_write_json(const struct timeline *timeline, const double *points, struct json *json)
{
    json_object_begin(json);
    json_key(json, "startTime");
    json_int(json, timeline->start_ns / CLOCK_NS_PER_SECOND);
    json_key(json, "samples");
    json_array_begin(json);
    for (uint32_t i = 0; i < timeline->n_steps; i++)
        json_int(json, points ? sample_of(points[i]) : 0);
    json_array_end(json);
    json_key(json, "durationDelta");
    json_int(json, timeline->step_ns / CLOCK_NS_PER_SECOND);
    json_key(json, "watermarks");
    json_null(json);
    json_object_end(json);
}
