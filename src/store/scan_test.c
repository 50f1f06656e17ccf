// SPDX-License-Identifier: Apache-2.0
#include "store/scan.h"

#include "store/day_sample_test.h"

#include <stdlib.h>

/* What a scan gave. */
struct seen {
    unsigned n_rows, n_samples, n_names, n_ends;
    int64_t last_start_ns;
    bool is_in_order; /* hour by hour */
    struct names *names;
    struct day *day;
};

static int take_names(void *context, struct names *names, struct error *err)
{
    struct seen *seen = context;

    seen->n_names += names != NULL;
    seen->n_ends += names == NULL;
    seen->names = names;
    return 0;
}

static int take_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct seen *seen = context;

    CHECK(seen->names);
    CHECK(series && seriesinfo_label(series, SLICE("service_name")).len);
    seen->is_in_order &= day_hour(seen->day, row->start_ns) >= day_hour(seen->day, seen->last_start_ns);
    seen->last_start_ns = row->start_ns;
    seen->n_rows++;
    seen->n_samples += row->n_samples;
    return 0;
}

static struct seen scan(struct day_sample *sample, const char *tenant, const char *selector_words, double from,
                        double until)
{
    struct store_query query = { .from_ns = day_sample_time(from), .until_ns = day_sample_time(until) };
    struct seen seen = { .day = sample->day, .is_in_order = true, .last_start_ns = sample->day->start_ns };
    struct store_sink sink = { &seen, take_names, take_row };
    struct selector *selector = NULL;
    struct error err;

    if (selector_words)
        CHECK_OK(selector_new(slice_from(selector_words), &selector, &err), &err);
    query.selector = selector;
    CHECK_OK(scan_day(sample->day, slice_from(tenant), &query, &sink, &err), &err);
    selector_free(selector);
    return seen;
}

TEST(scan_gives_rows_of_blocks_and_heads_hour_by_hour)
{
    struct day_sample sample;
    struct seen seen;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    seen = scan(&sample, STORE_TENANT_DEFAULT, NULL, 0, 24);
    CHECK_EQ(seen.n_rows, 120 + 5 + 1 + 1);
    CHECK_EQ(seen.n_samples, 120 * 20 + 15 + 2 + 9);
    CHECK_EQ(seen.n_names, 1);
    CHECK_EQ(seen.n_ends, 1);
    CHECK(seen.is_in_order);
    seen = scan(&sample, "other", NULL, 0, 24);
    CHECK_EQ(seen.n_rows, 6);
    CHECK_EQ(seen.n_samples, 21);
    day_sample_done(&sample);
}

TEST(scan_gives_nothing_of_a_tenant_that_is_not_there)
{
    struct day_sample sample;
    struct seen seen;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    seen = scan(&sample, "nobody", NULL, 0, 24);
    CHECK_EQ(seen.n_rows + seen.n_names, 0);
    day_sample_done(&sample);
}

TEST(scan_keeps_to_the_range_in_blocks_and_heads)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, NULL, 8, 24).n_rows, 1);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, NULL, 9.5, 9.5).n_rows, 0);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, NULL, 0, 9.5).n_rows, 126);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, NULL, 7.5, 8).n_rows, 60 + 5);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, NULL, 10, 24).n_rows, 0);
    day_sample_done(&sample);
}

TEST(scan_keeps_to_the_selector_in_blocks_and_heads)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, "service_name=web", 0, 24).n_rows, 5);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, "instance=one", 0, 24).n_rows, 60 + 1 + 1);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, "thread=worker", 0, 24).n_samples, 120 * 10);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, "pid=12", 0, 24).n_rows, 80);
    CHECK_EQ(scan(&sample, STORE_TENANT_DEFAULT, "pid=13", 0, 24).n_rows, 0);
    day_sample_done(&sample);
}

static int count_series(void *context, const struct seriesinfo *series, struct error *err)
{
    ++*(unsigned *)context;
    return 0;
}

TEST(scan_lists_series_that_have_rows_left)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct day_sample sample;
    struct selector *selector;
    struct error err;
    unsigned n = 0;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    CHECK_OK(scan_series(sample.day, SLICE(STORE_TENANT_DEFAULT), &query, count_series, &n, &err), &err);
    CHECK_EQ(n, 3);
    CHECK_OK(selector_new(SLICE("instance=two"), &selector, &err), &err);
    CHECK_OK(day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, INT64_MIN, INT64_MAX, &err), &err);
    selector_free(selector);
    for (unsigned i = 0; i < 2; i++) {
        n = 0;
        CHECK_OK(scan_series(sample.day, SLICE(STORE_TENANT_DEFAULT), &query, count_series, &n, &err), &err);
        CHECK_EQ(n, 2);
        day_sample_reopen(&sample);
    }
    day_sample_done(&sample);
}

static int scan_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct seen seen = { .day = sample->day };
    struct store_sink sink = { &seen, take_names, take_row };
    unsigned n = 0;

    if (scan_day(sample->day, SLICE(STORE_TENANT_DEFAULT), &query, &sink, err) < 0 ||
        scan_series(sample->day, SLICE(STORE_TENANT_DEFAULT), &query, count_series, &n, err) < 0)
        return -1;
    CHECK_EQ(seen.n_rows, 127);
    return 0;
}

TEST(scan_survives_failing_allocations)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    test_each_allocation_failing(scan_all, &sample);
    CHECK_EQ(sample.day->n_views, 0);
    day_sample_done(&sample);
}
