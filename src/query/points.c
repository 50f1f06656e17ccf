// SPDX-License-Identifier: Apache-2.0
#include "query/points.h"

#include "base/clock.h"

int points_count(const struct query *query, int64_t step_ns, uint32_t *ret_n, struct error *err)
{
    uint64_t length_ns = (uint64_t)query->until_ns - (uint64_t)query->from_ns, n = 0;

    if (step_ns <= 0)
        return error_set(err, ERR_INVALID, "a step of %lld ns: it must be more than 0", (long long)step_ns);
    if (query->until_ns > query->from_ns)
        n = length_ns / (uint64_t)step_ns + (length_ns % (uint64_t)step_ns != 0);
    if (n > POINTS_MAX)
        return error_set(err, ERR_LIMIT,
                         "%llu points, and at most %u are allowed: a step of %llu seconds would do, or a shorter range",
                         (unsigned long long)n, POINTS_MAX,
                         (unsigned long long)(length_ns / POINTS_MAX / (uint64_t)CLOCK_NS_PER_SECOND + 1));
    *ret_n = (uint32_t)n;
    return 0;
}

struct slice points_unit(struct slice type)
{
    struct slice part = { 0 };

    for (unsigned i = 0; i < 3; i++)
        if (!slice_next_part(&type, ':', &part))
            return SLICE("");
    return part;
}
