// SPDX-License-Identifier: Apache-2.0
#include "profile/valuetype.h"

#include "base/test.h"

static void check(const char *type, const char *unit, enum value_nature nature, enum value_temporality temporality)
{
    enum value_nature got_nature;
    enum value_temporality got_temporality;

    value_type_describe(slice_from(type), slice_from(unit), &got_nature, &got_temporality);
    if (got_nature != nature || got_temporality != temporality)
        test_fail(__FILE__, __LINE__, "%s/%s: nature %d temporality %d, wanted %d and %d", type, unit, got_nature,
                  got_temporality, nature, temporality);
}

TEST(value_types_of_go_are_known)
{
    check("samples", "count", VALUE_FLOW, TEMPORALITY_DELTA);
    check("cpu", "nanoseconds", VALUE_FLOW, TEMPORALITY_DELTA);
    check("alloc_objects", "count", VALUE_FLOW, TEMPORALITY_CUMULATIVE);
    check("alloc_space", "bytes", VALUE_FLOW, TEMPORALITY_CUMULATIVE);
    check("inuse_objects", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("inuse_space", "bytes", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("contentions", "count", VALUE_FLOW, TEMPORALITY_CUMULATIVE);
    check("delay", "nanoseconds", VALUE_FLOW, TEMPORALITY_CUMULATIVE);
    check("goroutine", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("goroutines", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("threadcreate", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
}

TEST(value_types_of_other_senders_are_known)
{
    check("cpu-time", "nanoseconds", VALUE_FLOW, TEMPORALITY_DELTA);
    check("Wall-Time", "ns", VALUE_FLOW, TEMPORALITY_DELTA);
    check("alloc-space", "bytes", VALUE_FLOW, TEMPORALITY_DELTA);
    check("alloc_in_new_tlab_bytes", "bytes", VALUE_FLOW, TEMPORALITY_DELTA);
    check("heap-live-size", "bytes", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("heap-space", "bytes", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("inuse-objects", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("live", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("lock-acquire-wait", "nanoseconds", VALUE_FLOW, TEMPORALITY_DELTA);
    check("gpu-space", "bytes", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("gpu-time", "nanoseconds", VALUE_FLOW, TEMPORALITY_DELTA);
}

TEST(value_types_named_space_and_objects_are_levels_only_in_their_units)
{
    check("space", "bytes", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("objects", "count", VALUE_LEVEL, TEMPORALITY_UNKNOWN);
    check("space", "count", VALUE_FLOW, TEMPORALITY_UNKNOWN);
    check("objects", "nanoseconds", VALUE_FLOW, TEMPORALITY_UNKNOWN);
}

TEST(value_types_nobody_knows_are_flows)
{
    check("widgets", "count", VALUE_FLOW, TEMPORALITY_UNKNOWN);
    check("", "", VALUE_FLOW, TEMPORALITY_UNKNOWN);
    check("a name that goes on and on and on and on and on and on and on and on and on", "x", VALUE_FLOW,
          TEMPORALITY_UNKNOWN);
}

TEST(value_types_with_a_window_are_deltas)
{
    struct slice strings[] = { SLICE(""), SLICE("delay"), SLICE("nanoseconds"), SLICE("inuse_space"), SLICE("bytes") };
    struct tables tables = { .strings = strings, .n_strings = ARRAY_LEN(strings) };
    struct value_type types[] = { { .type = 1, .unit = 2 }, { .type = 3, .unit = 4 } };

    value_type_describe_all(types, 2, &tables, 0);
    CHECK_EQ(types[0].nature, VALUE_FLOW);
    CHECK_EQ(types[0].temporality, TEMPORALITY_CUMULATIVE);
    CHECK_EQ(types[1].nature, VALUE_LEVEL);
    value_type_describe_all(types, 2, &tables, 10);
    CHECK_EQ(types[0].temporality, TEMPORALITY_DELTA);
    CHECK_EQ(types[1].nature, VALUE_LEVEL);
    CHECK_EQ(types[1].temporality, TEMPORALITY_UNKNOWN);
}
