// SPDX-License-Identifier: Apache-2.0
#include "store/sumplan.h"

#include "base/clock.h"
#include "store/day_sample_test.h"
#include "store/sumscan.h"

enum { MAX_RANGES = 64 };

/* A plan with its ranges. */
struct planned {
    struct store_plan plan;
    struct store_plan_range ranges[MAX_RANGES];
    unsigned n_calls;
};

static int take_plan(void *context, const struct store_plan *plan, struct error *err)
{
    struct planned *planned = context;

    CHECK(plan->n_ranges <= MAX_RANGES);
    planned->plan = *plan;
    for (uint32_t i = 0; i < plan->n_ranges; i++)
        planned->ranges[i] = plan->ranges[i];
    planned->n_calls++;
    return 0;
}

static struct planned plan_of(struct day_sample *sample, const char *text, int64_t from_ns, int64_t until_ns,
                              const struct store_plan_options *options)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT), .from_ns = from_ns, .until_ns = until_ns };
    struct planned planned = { 0 };
    struct error err;

    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    query.selector = selector;
    CHECK_OK(sumplan_day(sample->day, &query, options, take_plan, &planned, &err), &err);
    CHECK_EQ(planned.n_calls, 1);
    return planned;
}

TEST(sumplan_tells_roll_ups_sums_and_ragged_edges)
{
    const struct store_plan_options plain = { 0 };
    struct day_sample sample;
    struct planned planned;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    /* As sumscan_test.c has it: a whole hour of two closings, then a part of it. */
    planned = plan_of(&sample, "", day_sample_time(7), day_sample_time(8), &plain);
    CHECK_EQ(planned.plan.n_groups, 2);
    CHECK_EQ(planned.plan.n_closed_hours, 1);
    CHECK_EQ(planned.plan.n_open_hours, 0);
    CHECK_EQ(planned.plan.n_hours, 1);
    CHECK_EQ(planned.plan.n_slots, 0);
    CHECK(planned.plan.n_series_sums >= 2);
    CHECK_EQ(planned.plan.n_ranges, 0);
    planned = plan_of(&sample, "{service_name=\"api\"}", day_sample_time(7.1), day_sample_time(7.6), &plain);
    CHECK_EQ(planned.plan.n_groups, 1);
    CHECK_EQ(planned.plan.n_slots, 5);
    /* The closing of one late row has no roll-ups: the edges are part of what is read for it. */
    CHECK_EQ(planned.plan.n_ranges, 1);
    CHECK_EQ(planned.ranges[0].from_ns, day_sample_time(7.1));
    CHECK_EQ(planned.ranges[0].until_ns, day_sample_time(7.6));
    CHECK(!planned.ranges[0].is_open);
    /* An hour that goes on, whose rows are in no file. */
    planned = plan_of(&sample, "", day_sample_time(9), day_sample_time(10), &plain);
    CHECK_EQ(planned.plan.n_open_hours, 1);
    CHECK_EQ(planned.plan.n_ranges, 1);
    CHECK(planned.ranges[0].is_open);
    CHECK(planned.plan.lacks_bytes);
    /* Windows besides, and rows alone. */
    planned = plan_of(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(8),
                      &(struct store_plan_options){ .step_ns = DAY_SLOT_NS, .has_windows = true });
    CHECK_EQ(planned.plan.n_hours, 0);
    CHECK_EQ(planned.plan.n_slots, 12);
    CHECK(planned.plan.n_windows >= planned.plan.n_series);
    planned = plan_of(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(8),
                      &(struct store_plan_options){ .is_by_rows = true });
    CHECK_EQ(planned.plan.n_hours + planned.plan.n_slots + planned.plan.n_series_sums, 0);
    CHECK_EQ(planned.plan.n_ranges, 1);
    /* Nobody. */
    planned = plan_of(&sample, "{service_name=\"nobody\"}", day_sample_time(7), day_sample_time(8), &plain);
    CHECK_EQ(planned.plan.n_series + planned.plan.n_closed_hours + planned.plan.n_ranges, 0);
    day_sample_done(&sample);
}

/* What is read in truth. */
struct reading {
    const struct planned *planned;
};

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

/* Single rows come from the times that the plan names. */
static int check_sums(void *context, const struct store_sums *sums, struct error *err)
{
    const struct reading *reading = context;
    bool is_planned = sums->length_ns != 1;

    for (uint32_t i = 0; i < reading->planned->plan.n_ranges; i++)
        is_planned |= sums->start_ns >= reading->planned->ranges[i].from_ns &&
                      sums->start_ns < reading->planned->ranges[i].until_ns;
    CHECK(is_planned);
    return 0;
}

static void check_covers(struct day_sample *sample, const char *text, int64_t from_ns, int64_t until_ns,
                         int64_t step_ns)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct planned planned =
        plan_of(sample, text, from_ns, until_ns, &(struct store_plan_options){ .step_ns = step_ns });
    struct reading reading = { &planned };
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT), .from_ns = from_ns, .until_ns = until_ns };
    struct store_reads reads = { 0 };
    struct error err;

    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    query.selector = selector;
    CHECK_OK(sumscan_day(sample->day, &query, step_ns, &(struct store_sum_sink){ &reading, take_names, check_sums },
                         &reads, &err),
             &err);
    CHECK_EQ(reads.n_hours, planned.plan.n_hours);
    CHECK(reads.n_slots <= planned.plan.n_slots);
    CHECK(reads.n_series <= planned.plan.n_series_sums);
    if (reads.n_rows)
        CHECK(reads.n_bytes > 0);
}

TEST(sumplan_names_all_that_is_read_whatever_is_asked)
{
    static const char *const selectors[] = { "", "{service_name=\"api\"}", "{instance=\"one\"}", "{instance!=\"one\"}",
                                             "{pid=\"12\"}" };
    static const int64_t steps_s[] = { 0, 0, 300, 60, 3600 };
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t chance = hash_mix64(77000 + i);
        int64_t from_ns = day_sample_time(6) + (int64_t)(chance % 14400) * CLOCK_NS_PER_SECOND;
        int64_t length_s = chance >> 20 & 1 ? 3600 : (int64_t)(chance >> 21 & 0x3fff);

        if (chance >> 36 & 1)
            from_ns -= from_ns % DAY_HOUR_NS;
        check_covers(&sample, selectors[(chance >> 37 & 0xff) % ARRAY_LEN(selectors)], from_ns,
                     from_ns + length_s * CLOCK_NS_PER_SECOND,
                     steps_s[(chance >> 48) % ARRAY_LEN(steps_s)] * CLOCK_NS_PER_SECOND);
    }
    day_sample_done(&sample);
}

static int plan_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .from_ns = day_sample_time(7.1),
                                 .until_ns = day_sample_time(10) };
    struct planned planned = { 0 };

    if (sumplan_day(sample->day, &query, &(struct store_plan_options){ 0 }, take_plan, &planned, err) < 0)
        return -1;
    CHECK(planned.plan.n_series > 0);
    return 0;
}

TEST(sumplan_survives_failing_allocations)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    test_each_allocation_failing(plan_all, &sample);
    day_sample_done(&sample);
}
