// SPDX-License-Identifier: Apache-2.0
#include "store/windowscan.h"

#include "base/clock.h"
#include "store/day_sample_test.h"
#include "store/scan.h"

/* What an answer comes to. */
struct answer {
    int64_t totals[2], duration_ns;
    uint64_t n_rows, n_samples, starts, sequences; /* sums; which are told apart by them */
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
            answer->totals[type] += row->values[(size_t)type * row->stride + i];
    answer->n_rows++;
    answer->n_samples += row->n_samples;
    answer->duration_ns += row->duration_ns;
    answer->starts += (uint64_t)row->start_ns;
    answer->sequences += row->sequence;
    return 0;
}

static int add_windows(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct answer *answer = context;

    CHECK_EQ(windows->n_types, series->n_types);
    for (uint32_t i = 0; i < windows->n_rows; i++) {
        for (uint32_t type = 0; type < windows->n_types; type++)
            answer->totals[type] += windows->totals[(size_t)type * windows->n_rows + i];
        answer->n_rows++;
        answer->n_samples += windows->sample_counts[i];
        answer->duration_ns += windows->durations_ns[i];
        answer->starts += (uint64_t)windows->starts_ns[i];
        answer->sequences += windows->sequences[i];
        CHECK(i == 0 || windows->starts_ns[i - 1] <= windows->starts_ns[i]);
    }
    return 0;
}

static int add_brief(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    struct answer *answer = context;

    for (uint32_t i = 0; i < windows->n_rows; i++) {
        for (uint32_t type = 0; type < windows->n_types; type++)
            answer->totals[type] += windows->totals[(size_t)type * windows->n_rows + i];
        answer->n_rows++;
        answer->duration_ns += windows->durations_ns[i];
        answer->starts += (uint64_t)windows->starts_ns[i];
    }
    return 0;
}

static struct store_reads check_same(struct day_sample *sample, const char *selector_text, int64_t from_ns,
                                     int64_t until_ns)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT), .from_ns = from_ns, .until_ns = until_ns };
    struct answer rows = { 0 }, windows = { 0 }, brief = { 0 };
    struct store_reads reads = { 0 }, brief_reads = { 0 };
    struct error err;

    CHECK_OK(selector_new(slice_from(selector_text), &selector, &err), &err);
    query.selector = selector;
    CHECK_OK(scan_day(sample->day, query.tenant, &query, &(struct store_sink){ &rows, take_names, add_row }, &err),
             &err);
    CHECK_OK(windowscan_day(sample->day, &query, &(struct store_window_sink){ &windows, add_windows }, &reads, &err),
             &err);
    CHECK_EQ(memcmp(&rows, &windows, sizeof(rows)), 0);
    CHECK_OK(
        windowscan_day(sample->day, &query, &(struct store_window_sink){ &brief, add_brief, true }, &brief_reads, &err),
        &err);
    brief.n_samples = rows.n_samples;
    brief.sequences = rows.sequences;
    CHECK_EQ(memcmp(&rows, &brief, sizeof(rows)), 0);
    return reads;
}

static void check_many(struct day_sample *sample, uint64_t seed)
{
    static const char *const selectors[] = { "", "{service_name=\"api\"}", "{instance=\"one\"}", "{pid=\"12\"}",
                                             "{thread=\"worker\"}" };

    for (unsigned i = 0; i < 60; i++) {
        uint64_t chance = hash_mix64(seed * 1000 + i);
        int64_t from_ns = day_sample_time(6) + (int64_t)(chance % 14400) * CLOCK_NS_PER_SECOND;

        check_same(sample, selectors[(chance >> 37) % ARRAY_LEN(selectors)], from_ns,
                   from_ns + (int64_t)(chance >> 21 & 0x3fff) * CLOCK_NS_PER_SECOND);
    }
}

TEST(windowscan_reads_windows_alone_where_series_are_taken_whole)
{
    struct day_sample sample;
    struct store_reads reads;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    reads = check_same(&sample, "", day_sample_time(7), day_sample_time(8));
    CHECK_EQ(reads.n_parts, 4);
    CHECK_EQ(reads.n_rows, 0);
    reads = check_same(&sample, "{instance=\"one\"}", day_sample_time(7.5), day_sample_time(10));
    CHECK_EQ(reads.n_parts, 2);
    CHECK_EQ(reads.n_rows, 1);
    reads = check_same(&sample, "{pid=\"12\"}", day_sample_time(7), day_sample_time(8));
    CHECK_EQ(reads.n_parts, 0);
    CHECK_EQ(reads.n_rows, 80);
    day_sample_done(&sample);
}

TEST(windowscan_gives_the_same_as_the_rows_whatever_is_asked)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    check_many(&sample, 1);
    CHECK_OK(selector_new(SLICE("{instance=\"two\"}"), &selector, &err), &err);
    CHECK_OK(
        day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(7.2), day_sample_time(7.4), &err),
        &err);
    check_many(&sample, 2);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    check_many(&sample, 3);
    day_sample_done(&sample);
}

static int read_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .from_ns = day_sample_time(7.1),
                                 .until_ns = INT64_MAX };
    struct store_reads reads = { 0 };
    struct answer answer = { 0 };

    return windowscan_day(sample->day, &query, &(struct store_window_sink){ &answer, add_windows }, &reads, err);
}

TEST(windowscan_survives_failing_allocations)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    test_each_allocation_failing(read_all, &sample);
    day_sample_done(&sample);
}
