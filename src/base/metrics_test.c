// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include "base/memory.h"
#include "base/test.h"
#include "base/thread.h"

#include <math.h>
#include <stdio.h>

enum { SKIPPED, WRITTEN, OPEN, LATENCY, SIZES, TEST_METRICS };

static const double seconds[] = { 0.005, 0.1, 2.5 };
static const double bytes[] = { 1024 };
static const struct metric_spec specs[] = {
    [SKIPPED] = { .name = "hearth_test_skipped",
                  .kind = METRIC_COUNTER,
                  .help = "Blocks skipped.",
                  .labels = { "reason", "kind" },
                  .max_series = 3 },
    [WRITTEN] = { .name = "hearth_test_written", .kind = METRIC_COUNTER, .unit = "bytes", .help = "Bytes written." },
    [OPEN] = { .name = "hearth_test_open", .kind = METRIC_GAUGE, .help = "A \\ and\na line break." },
    [LATENCY] = { .name = "hearth_test_latency",
                  .kind = METRIC_HISTOGRAM,
                  .unit = "seconds",
                  .help = "Time taken.",
                  .buckets = seconds,
                  .n_buckets = ARRAY_LEN(seconds) },
    [SIZES] = { .name = "hearth_test_size",
                .kind = METRIC_HISTOGRAM,
                .unit = "bytes",
                .help = "Sizes.",
                .labels = { "route" },
                .buckets = bytes,
                .n_buckets = ARRAY_LEN(bytes) },
};
static_assert(ARRAY_LEN(specs) == TEST_METRICS, "a row for each metric");

static void unregister(struct metrics **metrics)
{
    metrics_unregister(*metrics);
}

static struct metrics *register_specs(void)
{
    struct metrics *metrics = NULL;
    struct error err;

    CHECK_OK(metrics_register(specs, ARRAY_LEN(specs), &metrics, &err), &err);
    return metrics;
}

static void check_page(const char *wanted)
{
    AUTO(buffer_done) struct buffer page;
    struct error err;

    buffer_init(&page, 0);
    metrics_write(&page);
    CHECK_OK(buffer_check(&page, &err), &err);
    CHECK_TEXT(buffer_slice(&page), wanted);
}

static struct metrics_series *skipped(struct metrics *metrics, struct slice reason, struct slice kind)
{
    return metrics_get_labelled(metrics, SKIPPED, (struct slice[]){ reason, kind });
}

TEST(metrics_counters_kept_elsewhere_never_go_down)
{
    AUTO(unregister) struct metrics *metrics = register_specs();
    AUTO(buffer_done) struct buffer page;

    metrics_advance(metrics_get(metrics, WRITTEN), 7);
    metrics_advance(metrics_get(metrics, WRITTEN), 5);
    buffer_init(&page, 0);
    metrics_write(&page);
    buffer_append_byte(&page, '\0');
    CHECK_HAS(page.data, "\nhearth_test_written_bytes_total 7\n");
}

TEST(metrics_page_follows_the_prometheus_text_format)
{
    AUTO(unregister) struct metrics *metrics = register_specs();

    metrics_add(skipped(metrics, SLICE("checksum"), SLICE("")), 2);
    metrics_add(skipped(metrics, SLICE("short"), SLICE("a\\b\"c\nd\xff")), 1);
    metrics_add(skipped(metrics, SLICE("checksum"), SLICE("")), 1);
    metrics_add(metrics_get(metrics, WRITTEN), UINT64_MAX);
    metrics_set(metrics_get(metrics, OPEN), 2.5);
    metrics_adjust(metrics_get(metrics, OPEN), -0.25);
    metrics_observe(metrics_get(metrics, LATENCY), 0.005); /* a bound belongs to its bucket */
    metrics_observe(metrics_get(metrics, LATENCY), 0.0051);
    metrics_observe(metrics_get(metrics, LATENCY), 99);
    metrics_observe(metrics_get(metrics, LATENCY), NAN);
    metrics_observe(metrics_get_labelled(metrics, SIZES, (struct slice[]){ SLICE("/ingest") }), 100);
    check_page("# HELP hearth_test_skipped_total Blocks skipped.\n"
               "# TYPE hearth_test_skipped_total counter\n"
               "hearth_test_skipped_total{reason=\"checksum\",kind=\"\"} 3\n"
               "hearth_test_skipped_total{reason=\"short\",kind=\"a\\\\b\\\"c\\nd\xef\xbf\xbd\"} 1\n"
               "# HELP hearth_test_written_bytes_total Bytes written.\n"
               "# TYPE hearth_test_written_bytes_total counter\n"
               "hearth_test_written_bytes_total 18446744073709551615\n"
               "# HELP hearth_test_open A \\\\ and\\na line break.\n"
               "# TYPE hearth_test_open gauge\n"
               "hearth_test_open 2.25\n"
               "# HELP hearth_test_latency_seconds Time taken.\n"
               "# TYPE hearth_test_latency_seconds histogram\n"
               "hearth_test_latency_seconds_bucket{le=\"0.005\"} 1\n"
               "hearth_test_latency_seconds_bucket{le=\"0.1\"} 2\n"
               "hearth_test_latency_seconds_bucket{le=\"2.5\"} 2\n"
               "hearth_test_latency_seconds_bucket{le=\"+Inf\"} 3\n"
               "hearth_test_latency_seconds_sum 99.0101\n"
               "hearth_test_latency_seconds_count 3\n"
               "# HELP hearth_test_size_bytes Sizes.\n"
               "# TYPE hearth_test_size_bytes histogram\n"
               "hearth_test_size_bytes_bucket{route=\"/ingest\",le=\"1024\"} 1\n"
               "hearth_test_size_bytes_bucket{route=\"/ingest\",le=\"+Inf\"} 1\n"
               "hearth_test_size_bytes_sum{route=\"/ingest\"} 100\n"
               "hearth_test_size_bytes_count{route=\"/ingest\"} 1\n");
}

TEST(metrics_without_labels_show_zero_and_labelled_ones_wait_for_their_first_series)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    struct error err;

    CHECK_OK(metrics_register(specs, OPEN, &metrics, &err), &err);
    check_page("# HELP hearth_test_written_bytes_total Bytes written.\n"
               "# TYPE hearth_test_written_bytes_total counter\n"
               "hearth_test_written_bytes_total 0\n");
}

TEST(metrics_gauges_show_what_is_no_number)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    struct error err;

    CHECK_OK(metrics_register(&specs[OPEN], 1, &metrics, &err), &err);
    metrics_set(metrics_get(metrics, 0), INFINITY);
    check_page("# HELP hearth_test_open A \\\\ and\\na line break.\n# TYPE hearth_test_open gauge\n"
               "hearth_test_open +Inf\n");
    metrics_adjust(metrics_get(metrics, 0), -INFINITY);
    check_page("# HELP hearth_test_open A \\\\ and\\na line break.\n# TYPE hearth_test_open gauge\n"
               "hearth_test_open NaN\n");
}

TEST(metrics_count_label_values_beyond_the_maximum_as_other)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    struct error err;
    struct metrics_series *first;

    CHECK_OK(metrics_register(&specs[SKIPPED], 1, &metrics, &err), &err);
    first = skipped(metrics, SLICE("0"), SLICE("x"));
    for (int i = 0; i < 100; i++) {
        char reason[16];

        snprintf(reason, sizeof(reason), "%d", i);
        metrics_add(skipped(metrics, slice_from(reason), SLICE("x")), 1);
    }
    CHECK(skipped(metrics, SLICE("0"), SLICE("x")) == first);
    metrics_add(skipped(metrics, SLICE("other"), SLICE("other")), 1); /* the same series, not a second of that name */
    check_page("# HELP hearth_test_skipped_total Blocks skipped.\n# TYPE hearth_test_skipped_total counter\n"
               "hearth_test_skipped_total{reason=\"0\",kind=\"x\"} 1\n"
               "hearth_test_skipped_total{reason=\"1\",kind=\"x\"} 1\n"
               "hearth_test_skipped_total{reason=\"2\",kind=\"x\"} 1\n"
               "hearth_test_skipped_total{reason=\"other\",kind=\"other\"} 98\n");
}

TEST(metrics_cut_long_label_values_between_characters)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    AUTO(buffer_done) struct buffer page;
    char value[300];
    struct error err;

    memset(value, 'x', sizeof(value));
    memcpy(value + METRICS_VALUE_BYTES - 1, "\xc3\xbc", 2);
    CHECK_OK(metrics_register(&specs[SKIPPED], 1, &metrics, &err), &err);
    metrics_add(skipped(metrics, slice_of(value, sizeof(value)), SLICE("y")), 1);
    memset(value, '\xff', sizeof(value)); /* the longest form there is */
    metrics_add(skipped(metrics, slice_of(value, sizeof(value)), slice_of(value, sizeof(value))), 1);
    buffer_init(&page, 0);
    metrics_write(&page);
    CHECK_HAS(buffer_slice(&page), "xxx\",kind=\"y\"} 1\n");
    CHECK_EQ(slice_find(buffer_slice(&page), SLICE("\",kind=\"y\"")) -
                 slice_find(buffer_slice(&page), SLICE("reason=\"xxx")),
             METRICS_VALUE_BYTES - 1 + 8);
}

TEST(metrics_hand_out_other_when_memory_runs_out)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    struct error err;

    CHECK_OK(metrics_register(&specs[SKIPPED], 1, &metrics, &err), &err);
    memory_fail_at(1);
    metrics_add(skipped(metrics, SLICE("a"), SLICE("b")), 5);
    memory_fail_at(0);
    metrics_add(skipped(metrics, SLICE("a"), SLICE("b")), 1);
    check_page("# HELP hearth_test_skipped_total Blocks skipped.\n# TYPE hearth_test_skipped_total counter\n"
               "hearth_test_skipped_total{reason=\"a\",kind=\"b\"} 1\n"
               "hearth_test_skipped_total{reason=\"other\",kind=\"other\"} 5\n");
}

static void check_refused(struct metric_spec spec, const char *words)
{
    struct metrics *metrics = NULL;
    struct error err;

    CHECK_ERROR(metrics_register(&spec, 1, &metrics, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, spec.name);
    CHECK_HAS(err.text, words);
    CHECK(!metrics);
}

TEST(metrics_refuse_tables_against_the_rules)
{
    static const double falling[] = { 2, 1 }, endless[] = { 1, INFINITY };
    struct metric_spec good = specs[WRITTEN], bad;

    bad = good;
    bad.name = "test_written";
    check_refused(bad, "beginning with 'hearth_'");
    bad.name = "hearth_Written";
    check_refused(bad, "beginning with 'hearth_'");
    bad.name = "hearth_written_bytes";
    check_refused(bad, "the unit is added to the name by itself");
    bad.name = "hearth_written_total";
    check_refused(bad, "'_total'");
    bad.name = "hearth_an_awfully_long_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on"
               "_and_on_and_on";
    check_refused(bad, "the name is too long");
    bad = good;
    bad.unit = "Bytes";
    check_refused(bad, "the unit is not");
    bad = good;
    bad.help = "";
    check_refused(bad, "no help text");
    bad = good;
    bad.labels[0] = "a-b";
    check_refused(bad, "a label name is not");
    bad.labels[0] = bad.labels[1] = "a";
    check_refused(bad, "a label name comes twice");
    bad = good;
    bad.buckets = seconds;
    bad.n_buckets = 3;
    check_refused(bad, "histograms, and only they");
    bad = specs[LATENCY];
    bad.n_buckets = 0;
    check_refused(bad, "histograms, and only they");
    bad.n_buckets = METRICS_MAX_BUCKETS + 1;
    check_refused(bad, "histograms, and only they");
    bad.buckets = falling;
    bad.n_buckets = 2;
    check_refused(bad, "not finite and rising");
    bad.buckets = endless;
    check_refused(bad, "not finite and rising");
    bad = specs[LATENCY];
    bad.labels[0] = "le";
    check_refused(bad, "'le' belongs to the histogram");
    check_page("");
}

TEST(metrics_refuse_a_name_that_is_taken)
{
    AUTO(unregister) UNUSED struct metrics *metrics = register_specs();
    struct metric_spec gauge = { .name = "hearth_test_twice", .kind = METRIC_GAUGE, .help = "Twice." };
    struct metric_spec twice[] = { gauge, gauge };
    struct metrics *second = NULL;
    struct error err;

    check_refused(specs[OPEN], "registered already");
    CHECK_ERROR(metrics_register(twice, 2, &second, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'hearth_test_twice' is registered already");
    CHECK_OK(metrics_register(twice, 1, &second, &err), &err);
    metrics_unregister(second);
}

static void join_name(void *context, const struct metric_spec *spec)
{
    char name[METRICS_NAME_BYTES];

    buffer_printf(context, "%s ", metrics_name(spec, name));
}

TEST(metrics_each_visits_every_metric_in_order)
{
    AUTO(unregister) struct metrics *later = NULL;
    AUTO(buffer_done) struct buffer names;
    struct metrics *first = NULL;
    struct error err;

    buffer_init(&names, 0);
    CHECK_OK(metrics_register(&specs[OPEN], 1, &first, &err), &err);
    CHECK_OK(metrics_register(specs, OPEN, &later, &err), &err);
    metrics_each(join_name, &names);
    CHECK_TEXT(buffer_slice(&names), "hearth_test_open hearth_test_skipped_total hearth_test_written_bytes_total ");
    metrics_unregister(first);
    metrics_unregister(NULL);
    buffer_clear(&names);
    metrics_each(join_name, &names);
    CHECK_TEXT(buffer_slice(&names), "hearth_test_skipped_total hearth_test_written_bytes_total ");
}

static int register_and_use(void *context, struct error *err)
{
    AUTO(unregister) struct metrics *metrics = NULL;
    AUTO(buffer_done) struct buffer page;

    buffer_init(&page, 0);
    if (metrics_register(specs, ARRAY_LEN(specs), &metrics, err) < 0)
        return -1;
    metrics_add(skipped(metrics, SLICE("a"), SLICE("b")), 1);
    metrics_write(&page);
    return buffer_check(&page, err);
}

TEST(metrics_survive_any_failing_allocation)
{
    test_each_allocation_failing(register_and_use, NULL);
    check_page("");
}

#define WRITERS 4
#define ROUNDS  5000

static void use_metrics(struct thread *thread, void *context)
{
    struct metrics *metrics = context;

    for (int i = 0; i < ROUNDS; i++) {
        metrics_add(skipped(metrics, SLICE("shared"), i % 2 ? SLICE("odd") : SLICE("even")), 1);
        metrics_adjust(metrics_get(metrics, OPEN), 0.5);
        metrics_observe(metrics_get(metrics, LATENCY), i % 2 ? 0.25 : 3);
    }
}

TEST(metrics_of_many_threads_lose_no_count)
{
    AUTO(unregister) struct metrics *metrics = register_specs();
    AUTO(buffer_done) struct buffer page;
    struct thread threads[WRITERS];
    struct error err;

    buffer_init(&page, 0);
    for (int i = 0; i < WRITERS; i++)
        CHECK_OK(thread_start(&threads[i], "metrics", use_metrics, metrics, &err), &err);
    for (int i = 0; i < 20; i++) {
        buffer_clear(&page);
        metrics_write(&page); /* beside the writers */
    }
    for (int i = 0; i < WRITERS; i++)
        thread_stop(&threads[i]);
    buffer_clear(&page);
    metrics_write(&page);
    CHECK_HAS(buffer_slice(&page), "hearth_test_skipped_total{reason=\"shared\",kind=\"odd\"} 10000\n");
    CHECK_HAS(buffer_slice(&page), "hearth_test_skipped_total{reason=\"shared\",kind=\"even\"} 10000\n");
    CHECK_HAS(buffer_slice(&page), "hearth_test_open 10000\n");
    CHECK_HAS(buffer_slice(&page), "hearth_test_latency_seconds_bucket{le=\"2.5\"} 10000\n");
    CHECK_HAS(buffer_slice(&page), "hearth_test_latency_seconds_sum 32500\n");
    CHECK_HAS(buffer_slice(&page), "hearth_test_latency_seconds_count 20000\n");
}
