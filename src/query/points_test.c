// SPDX-License-Identifier: Apache-2.0
#include "query/points.h"

#include "base/test.h"

TEST(points_cover_the_range_and_the_last_may_be_shorter)
{
    static const struct {
        int64_t from_ns, until_ns, step_ns;
        uint32_t n;
    } cases[] = {
        { 0, 60, 60, 1 },
        { 0, 61, 60, 2 },
        { -10, 50, 20, 3 },
        { 5, 5, 1, 0 },
        { 9, 5, 1, 0 },
        { INT64_MIN, INT64_MAX, INT64_MAX, 3 },
        { 0, 11000, 1, POINTS_MAX },
    };
    uint32_t n;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct query query = { .from_ns = cases[i].from_ns, .until_ns = cases[i].until_ns };

        CHECK_OK(points_count(&query, cases[i].step_ns, &n, &err), &err);
        CHECK_EQ(n, cases[i].n);
    }
}

TEST(points_say_which_step_would_do)
{
    struct query query = { .from_ns = 0, .until_ns = (int64_t)86400 * 1000000000 };
    struct error err;
    uint32_t n;

    CHECK_ERROR(points_count(&query, 1000000000, &n, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "86400 points, and at most 11000 are allowed: a step of 8 seconds would do");
    CHECK_OK(points_count(&query, (int64_t)8 * 1000000000, &n, &err), &err);
    CHECK_ERROR(points_count(&query, 0, &n, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "a step of 0 ns: it must be more than 0");
}

TEST(points_unit_is_the_third_part_of_a_type)
{
    CHECK_TEXT(points_unit(SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds")), "nanoseconds");
    CHECK_TEXT(points_unit(SLICE("process_cpu:cpu")), "");
    CHECK_EQ(points_offset(&(struct query){ .from_ns = INT64_MIN }, INT64_MAX), UINT64_MAX);
}
