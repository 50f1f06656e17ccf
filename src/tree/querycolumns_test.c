// SPDX-License-Identifier: Apache-2.0
#include "tree/querycolumns.h"

#include "base/test.h"

/* What is found of type `asked`, like "process_cpu:cpu:nanoseconds:cpu:nanoseconds", in a series of two types. */
static struct querycolumns find(const char *name, struct series_type first, struct series_type second,
                                const char *asked)
{
    struct series_label label = { SLICE("__name__"), slice_from(name) };
    struct series_type types[] = { first, second };
    struct seriesinfo series = { .labels = &label,
                                 .n_labels = 1,
                                 .period_type = SLICE("cpu"),
                                 .period_unit = SLICE("nanoseconds"),
                                 .types = types,
                                 .n_types = second.type.len > 0 ? 2 : 1 };
    struct querycolumns columns = { 0 };
    struct error err;

    CHECK_OK(querycolumns_find(&series, slice_from(asked), &columns, &err), &err);
    return columns;
}

static struct series_type type_of(const char *type, const char *unit)
{
    return (struct series_type){ slice_from(type), slice_from(unit), VALUE_FLOW, TEMPORALITY_DELTA };
}

TEST(querycolumns_counts_samples_by_the_type_beside_it)
{
    struct querycolumns columns = find("process_cpu", type_of("samples", "count"), type_of("cpu", "nanoseconds"),
                                       "process_cpu:cpu:nanoseconds:cpu:nanoseconds");

    CHECK_EQ(columns.value, 1);
    CHECK_EQ(columns.count, 0);
    CHECK(columns.divisor == 1);
    columns = find("process_cpu", type_of("samples", "count"), type_of("cpu", "nanoseconds"),
                   "process_cpu:samples:count:cpu:nanoseconds");
    CHECK_EQ(columns.value, 0);
    CHECK_EQ(columns.count, 0);
}

TEST(querycolumns_knows_no_samples_of_a_type_that_is_alone)
{
    struct querycolumns columns = find("process_cpu", type_of("cpu", "nanoseconds"), (struct series_type){ 0 },
                                       "process_cpu:cpu:nanoseconds:cpu:nanoseconds");

    CHECK_EQ(columns.value, 0);
    CHECK_EQ(columns.count, QUERYCOLUMNS_NONE);
}

/* How many contentions there are for each that was kept is in the period, and that is not in sums. */
TEST(querycolumns_knows_no_samples_where_the_period_matters)
{
    struct querycolumns columns = find("mutex", type_of("contentions", "count"), type_of("delay", "nanoseconds"),
                                       "mutex:delay:nanoseconds:cpu:nanoseconds");

    CHECK_EQ(columns.value, 1);
    CHECK_EQ(columns.count, QUERYCOLUMNS_NONE);
}

TEST(querycolumns_says_that_a_series_does_not_have_the_type)
{
    CHECK_EQ(find("process_cpu", type_of("cpu", "nanoseconds"), (struct series_type){ 0 }, "a:b:c:d:e").value,
             QUERYCOLUMNS_NONE);
}
