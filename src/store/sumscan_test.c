// SPDX-License-Identifier: Apache-2.0
#include "store/sumscan.h"

#include "base/clock.h"
#include "store/day_sample_test.h"
#include "store/scan.h"
#include "store/sumcache.h"

enum { MAX_STACK = 200 };

/* What an answer adds up to. */
struct answer {
    int64_t sums[2][MAX_STACK];
    uint64_t n_rows;
    int64_t duration_ns;
    const struct store_query *query;
    int64_t step_ns;
};

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct answer *answer = context;

    for (uint32_t type = 0; type < row->n_types; type++)
        for (uint32_t i = 0; i < row->n_samples; i++)
            answer->sums[type][row->stacks[i]] += row->values[(size_t)type * row->stride + i];
    answer->n_rows++;
    answer->duration_ns += row->duration_ns;
    return 0;
}

static int add_sums(void *context, const struct store_sums *sums, struct error *err)
{
    struct answer *answer = context;

    CHECK_EQ(sums->n_types, sums->series->n_types);
    for (uint32_t type = 0; type < sums->n_types; type++)
        for (uint32_t i = 0; i < sums->n_stacks; i++)
            answer->sums[type][sums->stacks[i]] += sums->sums[(size_t)type * sums->stride + i];
    answer->n_rows += sums->n_rows;
    answer->duration_ns += sums->duration_ns;
    CHECK(sums->start_ns >= answer->query->from_ns);
    CHECK(sums->start_ns + sums->length_ns <= answer->query->until_ns);
    if (answer->step_ns)
        CHECK_EQ(sums->start_ns / answer->step_ns, (sums->start_ns + sums->length_ns - 1) / answer->step_ns);
    return 0;
}

static struct store_reads check_same(struct day_sample *sample, const char *selector_text, int64_t from_ns,
                                     int64_t until_ns, int64_t step_ns)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT), .from_ns = from_ns, .until_ns = until_ns };
    struct answer rows = { .query = &query }, sums = { .query = &query, .step_ns = step_ns };
    struct store_reads reads = { 0 };
    struct error err;

    CHECK_OK(selector_new(slice_from(selector_text), &selector, &err), &err);
    query.selector = selector;
    CHECK_OK(scan_day(sample->day, query.tenant, &query, &(struct store_sink){ &rows, take_names, add_row }, &err),
             &err);
    CHECK_OK(sumscan_day(sample->day, &query, step_ns, &(struct store_sum_sink){ &sums, take_names, add_sums }, &reads,
                         &err),
             &err);
    CHECK_EQ(memcmp(rows.sums, sums.sums, sizeof(rows.sums)), 0);
    CHECK_EQ(sums.duration_ns, rows.duration_ns);
    CHECK_EQ(sums.n_rows, rows.n_rows);
    return reads;
}

TEST(sumscan_takes_the_hour_from_its_roll_up_and_slots_from_theirs)
{
    struct day_sample sample;
    struct store_reads reads;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    /* Of hour 7: the first closing has two groups, "web" with one series; the second closing one row. */
    reads = check_same(&sample, "", day_sample_time(7), day_sample_time(8), 0);
    CHECK_EQ(reads.n_hours, 1);
    CHECK_EQ(reads.n_series, 2);
    CHECK_EQ(reads.n_rows + reads.n_slots, 0);
    CHECK(reads.n_bytes > 0);
    reads = check_same(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(8), 0);
    CHECK_EQ(reads.n_hours + reads.n_series, 2);
    /* Some series of the group. */
    reads = check_same(&sample, "{instance=\"one\"}", day_sample_time(7), day_sample_time(8), 0);
    CHECK_EQ(reads.n_series, 2);
    CHECK_EQ(reads.n_hours + reads.n_rows, 0);
    /* A part of the hour, with edges. */
    reads = check_same(&sample, "{service_name=\"api\"}", day_sample_time(7.1), day_sample_time(7.6), 0);
    CHECK_EQ(reads.n_slots, 5);
    CHECK_EQ(reads.n_rows, 10 + 1);
    /* In steps of slots: no roll-up of the hour. */
    reads = check_same(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(8), DAY_SLOT_NS);
    CHECK_EQ(reads.n_hours, 0);
    CHECK_EQ(reads.n_slots, 12);
    /* Labels of rows and samples decide; the hour that goes on. */
    reads = check_same(&sample, "{pid=\"12\"}", day_sample_time(7), day_sample_time(8), 0);
    CHECK_EQ(reads.n_hours + reads.n_series + reads.n_slots, 0);
    reads = check_same(&sample, "", day_sample_time(9), day_sample_time(10), 0);
    CHECK_EQ(reads.n_rows, 1);
    day_sample_done(&sample);
}

/* Ranges, selectors and steps by chance, before and after deletions, while hours are open, closed and written anew. */
static void check_many(struct day_sample *sample, uint64_t seed, unsigned n)
{
    static const char *const selectors[] = { "",
                                             "{service_name=\"api\"}",
                                             "{service_name=~\"a.*|web\"}",
                                             "{instance=\"one\"}",
                                             "{instance!=\"one\"}",
                                             "{pid=\"12\"}",
                                             "{thread=\"worker\"}",
                                             "{service_name=\"nobody\"}",
                                             "samples:samples:count:cpu:nanoseconds{}" };
    static const int64_t steps_s[] = { 0, 0, 300, 60, 3600, 600, 7 };

    for (unsigned i = 0; i < n; i++) {
        uint64_t chance = hash_mix64(seed * 1000 + i);
        int64_t from_ns = day_sample_time(6) + (int64_t)(chance % 14400) * CLOCK_NS_PER_SECOND;
        int64_t length_s = chance >> 20 & 1 ? 3600 : (int64_t)(chance >> 21 & 0x3fff);

        if (chance >> 36 & 1)
            from_ns -= from_ns % DAY_HOUR_NS;
        check_same(sample, selectors[(chance >> 37 & 0xff) % ARRAY_LEN(selectors)], from_ns,
                   from_ns + length_s * CLOCK_NS_PER_SECOND,
                   steps_s[(chance >> 48) % ARRAY_LEN(steps_s)] * CLOCK_NS_PER_SECOND);
    }
}

static void delete_some(struct day_sample *sample, const char *text, double from, double until)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct error err;

    CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    CHECK_OK(day_delete(sample->day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(from),
                        day_sample_time(until), &err),
             &err);
}

TEST(sumscan_adds_up_to_the_same_as_the_rows_whatever_is_asked)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    check_many(&sample, 1, 120);
    delete_some(&sample, "{instance=\"two\"}", 7.2, 7.4);
    check_many(&sample, 2, 60);
    day_sample_write(&sample, &(struct day_sample_profile){ .instance = "two", .hour = 7.3, .n_stacks = 2 });
    day_sample_close_hours(&sample);
    check_many(&sample, 3, 60);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    check_many(&sample, 4, 60);
    delete_some(&sample, "{thread=\"worker\"}", 7, 7.5);
    check_many(&sample, 5, 60);
    day_sample_done(&sample);
}

TEST(sumscan_adds_up_pieces_of_roll_ups)
{
    struct day_sample sample;

    day_sample_init(&sample);
    sample.context.close_bytes = 1 << 10;
    day_sample_fill(&sample);
    check_many(&sample, 6, 60);
    day_sample_done(&sample);
}

/* Changes a byte in the first value with the prefix. */
static void damage(struct day_sample *sample, enum storekey_kind kind)
{
    char prefix[2] = { 7, (char)kind };
    struct buffer key, value;

    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(day_sample_find(sample, sample->day->block_family, slice_of(prefix, 2), &key, &value));
    value.data[value.len / 2] ^= 0x55;
    day_sample_put(sample, sample->day->block_family, buffer_slice(&key), buffer_slice(&value));
    buffer_done(&key);
    buffer_done(&value);
}

TEST(sumscan_answers_by_series_and_rows_where_roll_ups_are_damaged)
{
    struct day_sample sample;
    struct store_reads reads;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    damage(&sample, STOREKEY_GROUP_HOUR);
    reads = check_same(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(8), 0);
    CHECK_EQ(reads.n_hours, 0);
    CHECK_EQ(reads.n_series, 3);
    damage(&sample, STOREKEY_GROUP_SLOT);
    reads = check_same(&sample, "{service_name=\"api\"}", day_sample_time(7), day_sample_time(7.5), 0);
    CHECK_EQ(reads.n_slots, 5);
    CHECK_EQ(sample.context.n_damaged, 2);
    day_sample_done(&sample);
}

/* Hours 7 to 10, closed, with three series of one group. */
static void fill_hours(struct day_sample *sample)
{
    static const char *const instances[] = { "one", "two", "three" };

    for (unsigned i = 0; i < 24; i++)
        day_sample_write(sample, &(struct day_sample_profile){ .instance = instances[i % 3],
                                                               .hour = 7 + i / 6.0,
                                                               .first_stack = i,
                                                               .n_stacks = 20,
                                                               .thread = "worker" });
    day_sample_close_hours(sample);
}

static struct store_reads check_two_of_three(struct day_sample *sample)
{
    return check_same(sample, "{instance!=\"three\"}", day_sample_time(7), day_sample_time(11), 0);
}

TEST(sumscan_remembers_sums_of_some_series_until_the_hours_change)
{
    struct day_sample sample;
    struct store_reads reads;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(sumcache_new(1 << 20, &sample.context.sums, &err), &err);
    fill_hours(&sample);
    reads = check_two_of_three(&sample);
    CHECK_EQ(reads.n_series, 8);
    CHECK_EQ(reads.n_known, 0);
    reads = check_two_of_three(&sample);
    CHECK_EQ(reads.n_series, 0);
    CHECK_EQ(reads.n_known, 1);
    /* Another range, other series, steps: each is something else. */
    reads = check_same(&sample, "{instance!=\"three\"}", day_sample_time(7), day_sample_time(10), 0);
    CHECK_EQ(reads.n_series, 6);
    reads = check_same(&sample, "{instance!=\"two\"}", day_sample_time(7), day_sample_time(11), 0);
    CHECK_EQ(reads.n_series, 8);
    reads = check_same(&sample, "{instance!=\"three\"}", day_sample_time(7), day_sample_time(11), DAY_HOUR_NS);
    CHECK_EQ(reads.n_series, 8);
    /* A late row, which is open first and then closed. */
    day_sample_write(&sample, &(struct day_sample_profile){ .instance = "two", .hour = 8.5, .n_stacks = 3 });
    reads = check_two_of_three(&sample);
    CHECK_EQ(reads.n_known, 1);
    CHECK_EQ(reads.n_rows, 1);
    day_sample_close_hours(&sample);
    reads = check_two_of_three(&sample);
    CHECK_EQ(reads.n_series, 9);
    CHECK_EQ(check_two_of_three(&sample).n_known, 1);
    /* A deletion, at once and when it is applied. */
    delete_some(&sample, "{instance=\"one\"}", 7, 8);
    check_two_of_three(&sample);
    check_two_of_three(&sample);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    check_two_of_three(&sample);
    CHECK_EQ(check_two_of_three(&sample).n_known, 1);
    /* A repair. */
    sumcache_forget_all(sample.context.sums);
    CHECK_EQ(check_two_of_three(&sample).n_known, 0);
    check_many(&sample, 7, 200);
    sumcache_free(sample.context.sums);
    day_sample_done(&sample);
}

TEST(sumscan_does_not_remember_sums_with_damage)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(sumcache_new(1 << 20, &sample.context.sums, &err), &err);
    fill_hours(&sample);
    damage(&sample, STOREKEY_SUMS);
    for (int i = 0; i < 2; i++) {
        struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                     .from_ns = day_sample_time(7),
                                     .until_ns = day_sample_time(11) };
        AUTO(selector_freep) struct selector *selector = NULL;
        struct answer answer = { .query = &query };
        struct store_reads reads = { 0 };

        CHECK_OK(selector_new(SLICE("{instance!=\"three\"}"), &selector, &err), &err);
        query.selector = selector;
        CHECK_OK(
            sumscan_day(sample.day, &query, 0, &(struct store_sum_sink){ &answer, take_names, add_sums }, &reads, &err),
            &err);
        CHECK_EQ(reads.n_series, 7);
        CHECK_EQ(reads.n_known, 0);
    }
    CHECK_EQ(sumcache_bytes(sample.context.sums), 0);
    sumcache_free(sample.context.sums);
    day_sample_done(&sample);
}

/* With memory for a few stacks at a time, what was added up is given in between. */
TEST(sumscan_gives_sums_in_parts_where_memory_is_short)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(sumcache_new(1 << 20, &sample.context.sums, &err), &err);
    for (unsigned i = 0; i < 24; i++)
        day_sample_write(&sample, &(struct day_sample_profile){ .instance = i % 3 ? "one" : "two",
                                                                .hour = 7 + i / 6.0,
                                                                .first_stack = i * 6,
                                                                .n_stacks = 30 });
    day_sample_close_hours(&sample);
    sample.context.read_bytes = 12 << 10;
    check_same(&sample, "{instance=\"one\"}", day_sample_time(7), day_sample_time(11), 0);
    CHECK_EQ(sumcache_bytes(sample.context.sums), 0);
    sumcache_free(sample.context.sums);
    day_sample_done(&sample);
}

static int sum_some(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .from_ns = day_sample_time(7),
                                 .until_ns = day_sample_time(11) };
    AUTO(selector_freep) struct selector *selector = NULL;
    struct answer answer = { .query = &query };
    struct store_reads reads = { 0 };

    sumcache_forget_all(sample->context.sums);
    if (selector_new(SLICE("{instance!=\"three\"}"), &selector, err) < 0)
        return -1;
    query.selector = selector;
    for (int i = 0; i < 2; i++)
        if (sumscan_day(sample->day, &query, 0, &(struct store_sum_sink){ &answer, take_names, add_sums }, &reads,
                        err) < 0)
            return -1;
    CHECK(reads.n_series > 0);
    return 0;
}

TEST(sumscan_survives_failing_allocations_while_it_remembers)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(sumcache_new(1 << 20, &sample.context.sums, &err), &err);
    fill_hours(&sample);
    test_each_allocation_failing(sum_some, &sample);
    sumcache_free(sample.context.sums);
    day_sample_done(&sample);
}

static int sum_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .from_ns = day_sample_time(7.1),
                                 .until_ns = INT64_MAX };
    struct answer answer = { .query = &query };
    struct store_reads reads = { 0 };

    return sumscan_day(sample->day, &query, 0, &(struct store_sum_sink){ &answer, take_names, add_sums }, &reads, err);
}

TEST(sumscan_survives_failing_allocations)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    test_each_allocation_failing(sum_all, &sample);
    day_sample_done(&sample);
}
