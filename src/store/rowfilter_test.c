// SPDX-License-Identifier: Apache-2.0
#include "store/rowfilter.h"

#include "store/day_sample_test.h"
#include "store/rowstream.h"

struct kept {
    uint64_t n_rows, n_samples;
    int64_t total; /* of the first type */
};

/* What is left of the default tenant's hour 7, open or closed. */
static int filter_rows(struct day_sample *sample, const char *text, struct kept *kept, struct error *err)
{
    uint32_t tenant = day_find_tenant(sample->day, SLICE(STORE_TENANT_DEFAULT));
    const struct rowstream_filter only = { .tenant = tenant };
    AUTO(selector_freep) struct selector *selector = NULL;
    struct rowfilter *filter = NULL;
    struct rowstream_item *item;
    struct rowstream *stream;
    struct rowmerge merge;
    struct store_query query = { .from_ns = day_sample_time(7), .until_ns = day_sample_time(8) };
    struct day_view view = { 0 };
    int result = 0;

    *kept = (struct kept){ 0 };
    rowmerge_init(&merge);
    if ((text && selector_new(slice_from(text), &selector, err) < 0) ||
        day_view_open(sample->day, tenant, &view, err) < 0)
        return -1;
    query.selector = selector;
    result = rowfilter_new(&view, tenant, &query, &filter, err);
    for (size_t i = 0; i < view.head_copies.n && !result; i++) {
        result = rowstream_new_head(&view, &view.head_copies.items[i], &only, &stream, err);
        result = result < 0 ? -1 : rowmerge_add(&merge, stream, err);
    }
    for (size_t i = 0; i < view.markers.n && !result; i++) {
        result = rowstream_new_block(&view, 7, view.markers.items[i].number, &only, &stream, err);
        result = result < 0 ? -1 : rowmerge_add(&merge, stream, err);
    }
    while (!result && (result = rowmerge_next(&merge, &item, err)) == 0 && item) {
        bool keeps;

        result = rowfilter_apply(filter, item->series, &item->row, &keeps, err);
        if (result < 0 || !keeps)
            continue;
        CHECK(headrow_is_sorted(&item->row));
        kept->n_rows++;
        kept->n_samples += item->row.n_samples;
        for (uint32_t i = 0; i < item->row.n_samples; i++)
            kept->total += item->row.values[i];
    }
    rowmerge_done(&merge);
    rowfilter_free(filter);
    day_view_close(&view);
    return result;
}

static void check_kept(struct day_sample *sample, const char *text, uint64_t n_rows, uint64_t n_samples)
{
    struct kept kept;
    struct error err;

    CHECK_OK(filter_rows(sample, text, &kept, &err), &err);
    CHECK_EQ(kept.n_rows, n_rows);
    CHECK_EQ(kept.n_samples, n_samples);
}

static void delete_rows(struct day_sample *sample, const char *text, double from, double until)
{
    struct selector *selector = NULL;
    struct error err;

    if (text)
        CHECK_OK(selector_new(slice_from(text), &selector, &err), &err);
    CHECK_OK(day_delete(sample->day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(from),
                        day_sample_time(until), &err),
             &err);
    selector_free(selector);
}

/* 6 rows of api, of which 3 have a pid, and 4 of web, each of 10 samples, half of them of a thread; 5 before 7:30. */
static void begin(struct day_sample *sample)
{
    day_sample_init(sample);
    for (unsigned i = 0; i < 6; i++)
        day_sample_write(sample,
                         &(struct day_sample_profile){
                             .hour = 7.1 + 0.1 * i, .n_stacks = 10, .thread = "t", .pid = i % 2 ? "12" : NULL });
    for (unsigned i = 0; i < 4; i++)
        day_sample_write(sample, &(struct day_sample_profile){
                                     .service = "web", .hour = 7.4 + 0.1 * i, .n_stacks = 10, .thread = "u" });
}

/* The same for rows of the head and for those of blocks. */
static void check_both(void (*check)(struct day_sample *sample))
{
    for (unsigned is_closed = 0; is_closed < 2; is_closed++) {
        struct day_sample sample;
        struct error err;

        begin(&sample);
        if (is_closed)
            day_sample_close_hours(&sample);
        check(&sample);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

static void check_selectors(struct day_sample *sample)
{
    check_kept(sample, NULL, 10, 100);
    check_kept(sample, "{}", 10, 100);
    check_kept(sample, "{service_name=\"api\"}", 6, 60);
    check_kept(sample, "{service_name!=\"api\"}", 4, 40);
    check_kept(sample, "{service_name=\"nobody\"}", 0, 0);
    check_kept(sample, "{pid=\"12\"}", 3, 30);
    check_kept(sample, "{pid=\"\"}", 7, 70);
    check_kept(sample, "{thread=\"t\"}", 6, 30);
    check_kept(sample, "{thread=~\"t|u\"}", 10, 50);
    check_kept(sample, "{thread=\"\"}", 10, 50);
    check_kept(sample, "{thread=\"t\", pid=\"12\"}", 3, 15);
    check_kept(sample, "{service_name=\"web\", thread=\"t\"}", 0, 0);
}

TEST(rowfilter_chooses_by_labels_of_series_rows_and_samples)
{
    check_both(check_selectors);
}

static void check_series_tombstone(struct day_sample *sample)
{
    delete_rows(sample, "{service_name=\"web\"}", 0, 24);
    check_kept(sample, NULL, 6, 60);
    check_kept(sample, "{service_name=\"web\"}", 0, 0);
    check_kept(sample, "{thread=~\".+\"}", 6, 30);
}

TEST(rowfilter_leaves_out_series_that_were_deleted)
{
    check_both(check_series_tombstone);
}

static void check_row_tombstone(struct day_sample *sample)
{
    delete_rows(sample, "{pid=\"12\"}", 0, 24);
    check_kept(sample, NULL, 7, 70);
    check_kept(sample, "{pid=\"12\"}", 0, 0);
}

TEST(rowfilter_leaves_out_rows_that_were_deleted)
{
    check_both(check_row_tombstone);
}

static void check_sample_tombstone(struct day_sample *sample)
{
    struct kept kept;
    struct error err;

    delete_rows(sample, "{thread=\"t\"}", 0, 24);
    check_kept(sample, NULL, 10, 30 + 40);
    CHECK_OK(filter_rows(sample, "{service_name=\"api\"}", &kept, &err), &err);
    /* The samples without the thread are those with the values 1, 3, 5, 7 and 9. */
    CHECK_EQ(kept.total, 6 * 25);
    check_kept(sample, "{thread=\"t\"}", 0, 0);
}

TEST(rowfilter_leaves_out_samples_that_were_deleted)
{
    check_both(check_sample_tombstone);
}

static void check_ranges(struct day_sample *sample)
{
    delete_rows(sample, NULL, 7, 7.35);
    check_kept(sample, NULL, 7, 70);
    delete_rows(sample, "{service_name=\"api\"}", 7.35, 7.45);
    check_kept(sample, NULL, 6, 60);
    delete_rows(sample, NULL, 8, 9);
    check_kept(sample, NULL, 6, 60);
}

TEST(rowfilter_leaves_out_what_starts_in_the_range_of_a_deletion)
{
    check_both(check_ranges);
}

TEST(rowfilter_keeps_what_was_written_after_a_deletion)
{
    struct day_sample sample;

    begin(&sample);
    delete_rows(&sample, NULL, 0, 24);
    check_kept(&sample, NULL, 0, 0);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.1, .n_stacks = 3, .thread = "t" });
    check_kept(&sample, NULL, 1, 3);
    day_sample_close_hours(&sample);
    check_kept(&sample, NULL, 1, 3);
    day_sample_reopen(&sample);
    check_kept(&sample, NULL, 1, 3);
    day_sample_done(&sample);
}

TEST(rowfilter_does_not_touch_other_tenants)
{
    uint32_t tenant;
    const struct seriesinfo *series;
    struct rowfilter *filter;
    struct day_sample sample;
    struct day_view view;
    struct error err;

    begin(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .tenant = "other", .hour = 7.1, .n_stacks = 3 });
    delete_rows(&sample, NULL, 0, 24);
    tenant = day_find_tenant(sample.day, SLICE("other"));
    CHECK_OK(day_view_open(sample.day, tenant, &view, &err), &err);
    CHECK_EQ(view.tombstones.n, 0);
    CHECK_OK(rowfilter_new(&view, tenant, &(struct store_query){ 0 }, &filter, &err), &err);
    CHECK(rowfilter_wants(filter, 1));
    CHECK(!rowfilter_wants(filter, 2));
    CHECK_OK(rowfilter_series(filter, 2, &series, &err), &err);
    CHECK(!series);
    CHECK_OK(rowfilter_series(filter, 1, &series, &err), &err);
    CHECK_TEXT(seriesinfo_label(series, SLICE("service.name")), "api");
    rowfilter_free(filter);
    day_view_close(&view);
    day_sample_done(&sample);
}

static int count_series(void *context, const struct seriesinfo *series, struct error *err)
{
    (void)series;
    (void)err;
    ++*(uint32_t *)context;
    return 0;
}

static bool is_api(void *context, const struct seriesinfo *series)
{
    ++*(uint32_t *)context;
    return slice_is(seriesinfo_label(series, SLICE("service_name")), "api");
}

TEST(rowfilter_leaves_out_series_that_the_query_does_not_want)
{
    uint32_t n = 0, n_asked = 0;
    struct store_query query = { .wants = is_api, .wants_context = &n_asked };
    const struct rowfilter_group *groups;
    struct rowfilter *filter;
    struct day_sample sample;
    struct day_view view;
    struct error err;
    size_t n_groups;

    begin(&sample);
    CHECK_OK(day_view_open(sample.day, 1, &view, &err), &err);
    CHECK_OK(rowfilter_new(&view, 1, &query, &filter, &err), &err);
    CHECK_EQ(n_asked, 2);
    CHECK_OK(rowfilter_each_series(filter, count_series, &n, &err), &err);
    CHECK_EQ(n, 1);
    CHECK(rowfilter_wants(filter, 1) != rowfilter_wants(filter, 2));
    groups = rowfilter_groups(filter, &n_groups);
    for (n = 0; n_groups; n_groups--)
        n += groups[n_groups - 1].n_whole;
    CHECK_EQ(n, 1);
    rowfilter_free(filter);
    day_view_close(&view);
    day_sample_done(&sample);
}

TEST(rowfilter_finds_the_next_series_of_a_group)
{
    static const char *const instances[] = { "one", "two", "three" };
    struct rowfilter *filter;
    struct day_sample sample;
    struct day_view view;
    struct error err;

    day_sample_init(&sample);
    /* Series 1, 3 and 5 are of the first group, 2 and 4 of the second. */
    for (unsigned i = 0; i < 5; i++)
        day_sample_write(
            &sample, &(struct day_sample_profile){
                         .service = i % 2 ? "web" : "api", .instance = instances[i / 2], .hour = 7, .n_stacks = 1 });
    CHECK_OK(day_view_open(sample.day, 1, &view, &err), &err);
    CHECK_OK(rowfilter_new(&view, 1, &(struct store_query){ 0 }, &filter, &err), &err);
    CHECK_EQ(rowfilter_next_of_group(filter, 0, 0), 1);
    CHECK_EQ(rowfilter_next_of_group(filter, 0, 2), 3);
    CHECK_EQ(rowfilter_next_of_group(filter, 0, 5), 5);
    CHECK_EQ(rowfilter_next_of_group(filter, 0, 6), UINT32_MAX);
    CHECK_EQ(rowfilter_next_of_group(filter, 1, 3), 4);
    rowfilter_note_found(filter, 5);
    rowfilter_limit_to_found(filter);
    CHECK_EQ(rowfilter_next_of_group(filter, 0, 0), 5);
    CHECK_EQ(rowfilter_next_of_group(filter, 1, 0), UINT32_MAX);
    rowfilter_free(filter);
    day_view_close(&view);
    day_sample_done(&sample);
}

TEST(rowfilter_visits_the_series_that_may_match)
{
    static const struct {
        const char *text;
        uint32_t n;
    } cases[] = {
        { "{}", 2 }, { "{service_name=\"api\"}", 1 }, { "{thread=\"t\"}", 2 }, { "{service_name=\"x\"}", 0 }
    };
    struct day_sample sample;
    struct day_view view;
    struct error err;

    begin(&sample);
    CHECK_OK(day_view_open(sample.day, 1, &view, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector *selector;
        struct rowfilter *filter;
        uint32_t n = 0;

        CHECK_OK(selector_new(slice_from(cases[i].text), &selector, &err), &err);
        CHECK_OK(rowfilter_new(&view, 1, &(struct store_query){ .selector = selector }, &filter, &err), &err);
        CHECK_OK(rowfilter_each_series(filter, count_series, &n, &err), &err);
        CHECK_EQ(n, cases[i].n);
        rowfilter_free(filter);
        selector_free(selector);
    }
    day_view_close(&view);
    day_sample_done(&sample);
}

TEST(rowfilter_looks_at_more_labels_than_it_can_hold)
{
    struct day_sample sample;

    day_sample_init(&sample);
    sample.context.read_bytes = 64 << 10;
    for (unsigned i = 0; i < 600; i++) {
        char thread[20];

        snprintf(thread, sizeof(thread), "t-%u", i);
        day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.1, .n_stacks = 4, .thread = thread });
    }
    check_kept(&sample, "{thread=~\"t-.*7\"}", 60, 120);
    day_sample_done(&sample);
}

/* Writes `n` series of about `bytes` bytes of labels each; every other one at 7:30. */
static void write_large_series(struct day_sample *sample, unsigned n, size_t bytes)
{
    struct error err;
    char *instance = memory_alloc(bytes + 1, &err);

    CHECK(instance);
    memset(instance, 'x', bytes);
    instance[bytes] = '\0';
    for (unsigned i = 0; i < n; i++) {
        snprintf(instance, 16, "i%u", i);
        instance[strlen(instance)] = '-';
        day_sample_write(sample, &(struct day_sample_profile){
                                     .instance = instance, .hour = i % 2 ? 7.5 : 7.1, .n_stacks = 2, .thread = "t" });
    }
    memory_free(instance);
}

TEST(rowfilter_reads_and_closes_series_whose_labels_it_cannot_hold)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    sample.context.labels = (struct label_limits){ .max_value_bytes = 4000, .max_labels = 20, .max_name_bytes = 100 };
    sample.context.read_bytes = 32 << 10;
    write_large_series(&sample, 200, 3000);
    check_kept(&sample, NULL, 200, 400);
    check_kept(&sample, "{instance=~\"i1..-.*\"}", 100, 200);
    check_kept(&sample, "{thread=\"t\"}", 200, 200);
    delete_rows(&sample, "{instance=~\"i1..-.*\"}", 7.3, 24);
    delete_rows(&sample, "{thread=\"t\", instance=~\"i2.-.*\"}", 0, 24);
    check_kept(&sample, NULL, 150, 290);
    sample.context.read_bytes = 1;
    CHECK_OK(hour_close_due(sample.day, sample.day->start_ns + DAY_NS, &err), &err);
    sample.context.read_bytes = 32 << 20;
    check_kept(&sample, NULL, 150, 290);
    day_sample_done(&sample);
}

TEST(rowfilter_says_what_to_do_when_too_many_series_match)
{
    struct day_sample sample;
    struct kept kept;
    struct error err;

    day_sample_init(&sample);
    write_large_series(&sample, 40, 20);
    sample.context.read_bytes = 32 * 30; /* room for the verdicts of thirty */
    CHECK_ERROR(filter_rows(&sample, NULL, &kept, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 20 series of day 2026-11-15 match");
    CHECK_HAS(err.text, "raise --memory-limit");
    check_kept(&sample, "{instance=~\"i1.-.*\"}", 10, 20);
    day_sample_done(&sample);
}

static int filter_all(void *context, struct error *err)
{
    struct kept kept;

    return filter_rows(context, "{thread=\"t\"}", &kept, err);
}

TEST(rowfilter_survives_every_failing_allocation)
{
    struct day_sample sample;

    begin(&sample);
    delete_rows(&sample, "{pid=\"12\"}", 0, 24);
    test_each_allocation_failing(filter_all, &sample);
    CHECK_EQ(sample.day->n_views, 0);
    day_sample_done(&sample);
}
