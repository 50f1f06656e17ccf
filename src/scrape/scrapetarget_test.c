// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapetarget.h"

#include "scrape/scrapeconfig_sample_test.h"

#include <stdio.h>

/* The plans of a configuration as text: "URL\n" and indented labels. */
struct planned {
    struct buffer text;
    struct scrapetarget_maker maker;
    struct hash128 first;
    size_t n;
};

static int note(void *context, const struct scrapetarget_plan *plan, struct error *err)
{
    struct planned *planned = context;
    struct slice rest = plan->lines, line;

    if (planned->n++ == 0)
        planned->first = plan->identity;
    buffer_printf(&planned->text, "%.*s\n", SLICE_ARG(plan->url));
    while (slice_next_line(&rest, &line))
        buffer_printf(&planned->text, "  %.*s\n", SLICE_ARG(line));
    return 0;
}

static int plan(const char *yaml, struct planned *planned, struct error *err)
{
    AUTO(scrapeconfig_freep) struct scrapeconfig *config = NULL;
    struct relabel_scratch scratch = { 0 };
    struct arena arena;
    int result;

    arena_init(&arena, 16 << 20);
    planned->maker = (struct scrapetarget_maker){ .scratch = &scratch, .arena = &arena, .take = note };
    planned->maker.context = planned;
    planned->n = 0;
    buffer_init(&planned->text, 0);
    result = scrapeconfig_sample_read(yaml, &config, err);
    if (result == 0)
        result = relabel_scratch_init(&scratch, err);
    for (size_t i = 0; result == 0 && i < config->n; i++)
        for (size_t j = 0; result == 0 && j < config->jobs[i].n_groups; j++)
            result = scrapetarget_plan(&planned->maker, &config->jobs[i], &config->jobs[i].groups[j], err);
    relabel_scratch_done(&scratch);
    arena_done(&arena);
    return result;
}

static void check_planned(const char *yaml, const char *wanted)
{
    struct planned planned = { 0 };
    struct error err;

    CHECK_OK(plan(yaml, &planned, &err), &err);
    CHECK_EQ(planned.maker.n_refused, 0);
    CHECK_TEXT(buffer_slice(&planned.text), wanted);
    buffer_done(&planned.text);
}

#define ONLY_CPU                                                                                                       \
    "  profiling_config: {pprof_config: {memory: {enabled: false}, goroutine: {enabled: false}, "                      \
    "mutex: {enabled: false}, block: {enabled: false}}}\n"
#define ONLY_HEAP                                                                                                      \
    "  profiling_config: {pprof_config: {process_cpu: {enabled: false}, goroutine: {enabled: false}, "                 \
    "mutex: {enabled: false}, block: {enabled: false}}}\n"

TEST(scrapetarget_has_a_url_and_labels_for_each_address_and_kind)
{
    check_planned(
        "- job_name: app\n  static_configs: [{targets: ['a:6060', '[::1]:6060'], labels: {zone: eu}}]\n" ONLY_CPU,
        "http://a:6060/debug/pprof/profile?seconds=14\n"
        "  __name__=process_cpu\n  __delta__=false\n  __interval_ns__=15000000000\n"
        "  instance=a:6060\n  job=app\n  service_name=app\n  zone=eu\n"
        "http://[::1]:6060/debug/pprof/profile?seconds=14\n"
        "  __name__=process_cpu\n  __delta__=false\n  __interval_ns__=15000000000\n"
        "  instance=[::1]:6060\n  job=app\n  service_name=app\n  zone=eu\n");
}

TEST(scrapetarget_says_what_is_cumulative)
{
    check_planned("- job_name: app\n  static_configs: [{targets: [a]}]\n" ONLY_HEAP,
                  "http://a/debug/pprof/heap\n"
                  "  __name__=memory\n  __interval_ns__=15000000000\n"
                  "  instance=a\n  job=app\n  service_name=app\n");
}

TEST(scrapetarget_can_be_relabelled_in_every_part)
{
    check_planned("- job_name: app\n"
                  "  static_configs: [{targets: [a], labels: {__meta_pod: web-1, service_name: web}}]\n"
                  "  relabel_configs:\n"
                  "  - {source_labels: [__address__], target_label: __address__, replacement: '$1:81'}\n"
                  "  - {target_label: __scheme__, replacement: https}\n"
                  "  - {target_label: __profile_path__, replacement: /x/heap}\n"
                  "  - {target_label: __param_gc, replacement: '1&2 ä'}\n"
                  "  - {target_label: __name__, replacement: rss}\n"
                  "  - {source_labels: [__meta_pod], target_label: instance}\n" ONLY_HEAP,
                  "https://a:81/x/heap?gc=1%262%20%C3%A4\n"
                  "  __name__=rss\n  __interval_ns__=15000000000\n"
                  "  instance=web-1\n  job=app\n  service_name=web\n");
}

TEST(scrapetarget_keeps_all_values_of_parameters)
{
    check_planned(
        "- job_name: app\n  static_configs: [{targets: [a]}]\n  params: {b: [x, y], a: [z], none: []}\n" ONLY_CPU,
        "http://a/debug/pprof/profile?a=z&b=x&b=y&seconds=14\n"
        "  __name__=process_cpu\n  __delta__=false\n  __interval_ns__=15000000000\n"
        "  instance=a\n  job=app\n  service_name=app\n");
}

TEST(scrapetarget_may_be_dropped_by_relabelling_for_some_kinds_only)
{
    struct planned planned = { 0 };
    struct error err;

    CHECK_OK(
        plan("- job_name: app\n  static_configs: [{targets: [a, b]}]\n"
             "  relabel_configs: [{source_labels: [__name__, __address__], regex: 'process_cpu;a', action: drop}]\n",
             &planned, &err),
        &err);
    CHECK_EQ(planned.n, 9);
    CHECK_EQ(planned.maker.n_dropped, 1);
    buffer_done(&planned.text);
}

TEST(scrapetarget_that_makes_no_url_is_refused_and_the_others_go_on)
{
    static const struct {
        const char *rule, *story;
    } cases[] = {
        { "{source_labels: [__address__], regex: bad, target_label: __address__, replacement: 'a/b'}",
          "job 'app', target 'bad': 'a/b' is no address; __address__ must be host:port" },
        { "{source_labels: [__address__], regex: bad, target_label: __address__, replacement: ''}",
          "'' is no address" },
        { "{source_labels: [__address__], regex: bad, target_label: __address__, replacement: 'me@b'}",
          "'me@b' is no address" },
        { "{source_labels: [__address__], regex: bad, target_label: __scheme__, replacement: file}",
          "'file' is no scheme; __scheme__ must be http or https" },
        { "{source_labels: [__address__], regex: bad, target_label: __profile_path__, replacement: '/a b'}",
          "'/a b' is no path; __profile_path__ must begin with '/'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct planned planned = { 0 };
        char yaml[1024];
        struct error err;

        snprintf(yaml, sizeof(yaml),
                 "- job_name: app\n  static_configs: [{targets: [bad, good]}]\n"
                 "  relabel_configs: [%s]\n" ONLY_HEAP,
                 cases[i].rule);
        CHECK_OK(plan(yaml, &planned, &err), &err);
        CHECK_EQ(planned.n, 1);
        CHECK_EQ(planned.maker.n_refused, 1);
        CHECK_HAS(planned.maker.refusal.text, cases[i].story);
        buffer_done(&planned.text);
    }
}

TEST(scrapetarget_labels_stay_one_line_each)
{
    check_planned(
        "- job_name: app\n  static_configs: [{targets: [a], labels: {x: \"1\\n__delta__=false\"}}]\n" ONLY_HEAP,
        "http://a/debug/pprof/heap\n"
        "  __name__=memory\n  __interval_ns__=15000000000\n"
        "  instance=a\n  job=app\n  service_name=app\n  x=1 __delta__=false\n");
}

static struct hash128 identity(const char *more)
{
    struct planned planned = { 0 };
    char yaml[1024];
    struct error err;

    snprintf(yaml, sizeof(yaml), "- job_name: app\n  static_configs: [{targets: [a]}]\n%s", more);
    CHECK_OK(plan(yaml, &planned, &err), &err);
    buffer_done(&planned.text);
    return planned.first;
}

TEST(scrapetarget_identity_covers_what_makes_a_difference)
{
    static const char *const differences[] = {
        "  scrape_interval: 16s\n",
        "  scrape_timeout: 9s\n",
        "  scheme: https\n",
        "  params: {a: [b]}\n",
        "  bearer_token: x\n",
        "  bearer_token: y\n",
        "  follow_redirects: no\n",
        "  proxy_url: x\n",
        "  tls_config: {server_name: x}\n",
        "  tls_config: {ca_file: x}\n",
        "  tls_config: {insecure_skip_verify: true}\n",
    };
    struct hash128 seen[ARRAY_LEN(differences) + 1] = { identity("") };

    CHECK(hash_equal(seen[0], identity("  follow_redirects: yes\n")));
    for (size_t i = 0; i < ARRAY_LEN(differences); i++) {
        seen[i + 1] = identity(differences[i]);
        for (size_t j = 0; j <= i; j++)
            CHECK(!hash_equal(seen[i + 1], seen[j]));
    }
}

static int plan_something(void *context, struct error *err)
{
    struct planned planned = { 0 };
    int result = plan("- job_name: app\n  static_configs: [{targets: [a], labels: {x: y}}]\n"
                      "  relabel_configs: [{target_label: z, replacement: x}]\n  params: {a: [b]}\n",
                      &planned, err);

    if (result == 0)
        result = buffer_check(&planned.text, err);
    buffer_done(&planned.text);
    return result;
}

TEST(scrapetarget_survives_each_allocation_failing)
{
    test_each_allocation_failing(plan_something, NULL);
}
