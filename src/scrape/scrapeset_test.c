// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapeset.h"

#include "base/clock.h"
#include "scrape/scrapeconfig_sample_test.h"

#define NOW_NS (1000 * CLOCK_NS_PER_SECOND)

static unsigned n_dropped;

static void count_dropped(void *context, struct scrapeset_target *target)
{
    n_dropped++;
}

static int make(struct scrapeset *old, const struct scrapeconfig *config, struct scrapeset *ret_next, struct error *err)
{
    struct scrapefiles *files;
    int result;

    if (scrapefiles_new(config, &files, err) < 0)
        return -1;
    result = scrapeset_make(old, config, files, NOW_NS, ret_next, err);
    scrapefiles_free(files);
    return result;
}

static void renew(struct scrapeset *set, const struct scrapeconfig *config)
{
    struct scrapeset next;
    struct error err;

    n_dropped = 0;
    CHECK_OK(make(set, config, &next, &err), &err);
    scrapeset_replace(set, &next, count_dropped, NULL);
}

TEST(scrapeset_spreads_first_turns_over_the_interval)
{
    struct scrapeconfig *config = scrapeconfig_sample(
        "- job_name: app\n  static_configs: [{targets: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]}]\n");
    unsigned n_in_quarter[4] = { 0 };
    struct scrapeset set = { 0 };

    renew(&set, config);
    CHECK_EQ(set.targets.n, 80);
    for (size_t i = 0; i < set.targets.n; i++) {
        int64_t wait_ns = set.targets.items[i]->turn.due_mono_ns - NOW_NS;

        CHECK(wait_ns >= 0 && wait_ns < 15 * CLOCK_NS_PER_SECOND);
        n_in_quarter[wait_ns * 4 / (15 * CLOCK_NS_PER_SECOND)]++;
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK(n_in_quarter[i] >= 8);
    scrapeset_done(&set);
    scrapeconfig_free(config);
}

TEST(scrapeset_has_equal_targets_once)
{
    struct scrapeconfig *config = scrapeconfig_sample("- job_name: app\n  static_configs: [{targets: [a, a]}]\n");
    struct scrapeset set = { 0 };

    renew(&set, config);
    CHECK_EQ(set.targets.n, 5);
    renew(&set, config);
    CHECK_EQ(set.targets.n, 5);
    CHECK_EQ(n_dropped, 0);
    scrapeset_done(&set);
    scrapeconfig_free(config);
}

TEST(scrapeset_keeps_targets_that_stay_and_drops_the_others)
{
    struct scrapeconfig *before = scrapeconfig_sample("- job_name: app\n  static_configs: [{targets: [a, b]}]\n");
    struct scrapeconfig *after = scrapeconfig_sample("- job_name: x\n- job_name: app\n"
                                                     "  static_configs: [{targets: [b, c]}]\n");
    struct scrapeset set = { 0 };
    struct scrapeset_target *b;

    renew(&set, before);
    b = set.targets.items[5];
    CHECK_TEXT(b->instance, "b");
    b->health.n_scrapes = 7;
    renew(&set, after);
    CHECK_EQ(n_dropped, 5);
    CHECK_EQ(set.targets.n, 10);
    CHECK(set.targets.items[0] == b);
    CHECK_EQ(b->health.n_scrapes, 7);
    CHECK(b->job == &after->jobs[1]);
    CHECK(b->kind == &after->jobs[1].kinds[0]);
    CHECK_TEXT(set.targets.items[5]->instance, "c");
    scrapeset_done(&set);
    scrapeconfig_free(before);
    scrapeconfig_free(after);
}

TEST(scrapeset_that_is_discarded_leaves_the_old_one_alone)
{
    struct scrapeconfig *before = scrapeconfig_sample("- job_name: app\n  static_configs: [{targets: [a]}]\n");
    struct scrapeconfig *after = scrapeconfig_sample("- job_name: app\n  static_configs: [{targets: [a, b]}]\n");
    struct scrapeset set = { 0 }, next;
    struct error err;

    renew(&set, before);
    CHECK_OK(make(&set, after, &next, &err), &err);
    CHECK_EQ(next.targets.n, 10);
    scrapeset_discard(&next);
    CHECK_EQ(set.targets.n, 5);
    CHECK(set.targets.items[0]->job == &before->jobs[0]);
    scrapeset_done(&set);
    scrapeconfig_free(before);
    scrapeconfig_free(after);
}

TEST(scrapeset_counts_what_is_dropped_and_refused)
{
    struct scrapeconfig *config = scrapeconfig_sample(
        "- job_name: app\n  static_configs: [{targets: [a, b]}]\n  relabel_configs:\n"
        "  - {source_labels: [__address__], regex: a, action: drop}\n"
        "  - {source_labels: [__name__], regex: mutex, target_label: __scheme__, replacement: gopher}\n");
    struct scrapeset set = { 0 };

    renew(&set, config);
    CHECK_EQ(set.targets.n, 4);
    CHECK_EQ(set.n_dropped, 5);
    CHECK_EQ(set.n_refused, 1);
    CHECK_HAS(set.refusal.text, "'gopher' is no scheme");
    scrapeset_done(&set);
    scrapeconfig_free(config);
}

static int make_and_discard(void *context, struct error *err)
{
    struct scrapeset *old = context, next;
    struct scrapeconfig *config;
    int result;

    if (scrapeconfig_sample_read("- job_name: app\n  static_configs: [{targets: [a, b]}]\n", &config, err) < 0)
        return -1;
    result = make(old, config, &next, err);
    if (result == 0)
        scrapeset_discard(&next);
    scrapeconfig_free(config);
    return result;
}

TEST(scrapeset_survives_each_allocation_failing)
{
    struct scrapeconfig *config = scrapeconfig_sample("- job_name: app\n  static_configs: [{targets: [a]}]\n");
    struct scrapeset set = { 0 };

    renew(&set, config);
    test_each_allocation_failing(make_and_discard, &set);
    CHECK_EQ(set.targets.n, 5);
    scrapeset_done(&set);
    scrapeconfig_free(config);
}
