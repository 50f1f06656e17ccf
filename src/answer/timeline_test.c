// SPDX-License-Identifier: Apache-2.0
#include "answer/timeline.h"

#include "base/clock.h"
#include "base/test.h"

#define SECOND CLOCK_NS_PER_SECOND

static int64_t step_s(int64_t length_s)
{
    return timeline_of(SECOND, SECOND + length_s * SECOND).step_ns / SECOND;
}

TEST(timeline_steps_are_a_1500th_of_the_range_rounded)
{
    static const struct {
        int64_t length_s, step_s;
    } cases[] = {
        { 0, 15 },
        { 3600, 15 },
        { 26249, 15 },
        { 26250, 20 }, /* 17.5 s */
        { 37500, 30 },
        { 67500, 60 },
        { 24 * 3600, 60 },
        { 7 * 24 * 3600, 300 },
        { 30 * 24 * 3600, 1800 },
        { 365 * 24 * 3600, 6 * 3600 },
        { 1500ll * 9 * 3600, 12 * 3600 },
        { 1500ll * 24 * 3600, 24 * 3600 },
        { 1500ll * 7 * 24 * 3600, 7 * 24 * 3600 },
        { 1500ll * 21 * 24 * 3600 - 1, 7 * 24 * 3600 },
        { 1500ll * 21 * 24 * 3600, 30 * 24 * 3600 },
        { 9000000000, 365 * 24 * 3600 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_EQ(step_s(cases[i].length_s), cases[i].step_s);
}

TEST(timeline_begins_at_a_multiple_of_its_step_and_leaves_out_the_last_part)
{
    struct timeline timeline = timeline_of(1007 * SECOND, 1049 * SECOND);

    CHECK_EQ(timeline.start_ns, 1005 * SECOND);
    CHECK_EQ(timeline.n_steps, 2); /* 1007 and 1022, which are shown as 1005 and 1020 */
    CHECK_EQ(timeline.first_ns, 1007 * SECOND);
}

TEST(timeline_of_less_than_a_step_has_none)
{
    CHECK_EQ(timeline_of(1006 * SECOND, 1007 * SECOND).n_steps, 0);
    CHECK_EQ(timeline_of(1006 * SECOND, 1006 * SECOND).n_steps, 0);
}

TEST(timeline_of_all_time_has_fewer_steps_than_a_series_may_have)
{
    CHECK(timeline_of(1, INT64_MAX - 1).n_steps < TIMESERIES_MAX_POINTS);
}

static void check_json(struct timeline timeline, const double *points, const char *wanted)
{
    AUTO(buffer_done) struct buffer out;
    struct json json;

    buffer_init(&out, 0);
    json_init(&json, &out, JSON_COMPACT);
    timeline_write_json(&timeline, points, &json);
    json_done(&json);
    CHECK_TEXT(buffer_slice(&out), wanted);
}

TEST(timeline_is_written_as_whole_numbers)
{
    struct timeline timeline = { 1005 * SECOND, 15 * SECOND, 4 };

    check_json(timeline, (const double[]){ 2.5, 0, 1e15, -3 },
               "{\"startTime\":1005,\"samples\":[3,0,1000000000000000,0],\"durationDelta\":15,\"watermarks\":null}");
    check_json(timeline, (const double[]){ 1e300, 0, 0, 1 },
               "{\"startTime\":1005,\"samples\":[9007199254740992,0,0,1],\"durationDelta\":15,\"watermarks\":null}");
}

TEST(timeline_of_nothing_is_zeros)
{
    check_json((struct timeline){ 1005 * SECOND, 15 * SECOND, 2 }, NULL,
               "{\"startTime\":1005,\"samples\":[0,0],\"durationDelta\":15,\"watermarks\":null}");
    check_json((struct timeline){ 1005 * SECOND, 15 * SECOND, 0 }, NULL,
               "{\"startTime\":1005,\"samples\":[],\"durationDelta\":15,\"watermarks\":null}");
}
