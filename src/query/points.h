// SPDX-License-Identifier: Apache-2.0
/* Points of time: a range in steps of equal length, of which the last may be shorter. */
#pragma once

#include "query/engine.h"

#define POINTS_MAX 11000u

/* How many points the range of the query has; none where it ends before it begins. Errors: ERR_INVALID (the step is not
 * more than 0), ERR_LIMIT (more than POINTS_MAX, saying which step would do). Thread: any. */
MUST_CHECK int points_count(const struct query *query, int64_t step_ns, uint32_t *ret_n, struct error *err);

/* How far a row of the range is from its beginning; divided by the step it is the place of its point. */
static inline uint64_t points_offset(const struct query *query, int64_t start_ns)
{
    return (uint64_t)start_ns - (uint64_t)query->from_ns;
}

/* The unit of a full profile type, its third part; empty if it has none. */
struct slice points_unit(struct slice type);
