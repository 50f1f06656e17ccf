// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapeconfig.h"

#include "base/clock.h"
#include "scrape/scrapeconfig_sample_test.h"

static void check_refused(const char *yaml, const char *story)
{
    struct scrapeconfig *config = NULL;
    struct error err;

    CHECK_ERROR(scrapeconfig_sample_read(yaml, &config, &err), &err, ERR_INVALID);
    CHECK(!config);
    CHECK_HAS(err.text, story);
    CHECK_HAS(err.text, "/etc/hearth/hearth.yaml:");
}

TEST(scrapeconfig_without_a_section_has_no_jobs)
{
    struct scrapeconfig *config;
    struct error err;

    CHECK_OK(scrapeconfig_new(NULL, &config, &err), &err);
    CHECK_EQ(config->n, 0);
    scrapeconfig_free(config);
    config = scrapeconfig_sample("");
    CHECK_EQ(config->n, 0);
    scrapeconfig_free(config);
}

TEST(scrapeconfig_has_defaults_for_all_but_the_name)
{
    struct scrapeconfig *config = scrapeconfig_sample("- job_name: app\n");
    const struct scrapeconfig_job *job = &config->jobs[0];

    CHECK_EQ(config->n, 1);
    CHECK_TEXT(job->name, "app");
    CHECK_TEXT(job->scheme, "http");
    CHECK_EQ(job->interval_ns, 15 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(job->timeout_ns, 10 * CLOCK_NS_PER_SECOND);
    CHECK(job->http.follows_redirects);
    CHECK_EQ(job->n_groups + job->n_files + job->n_rules, 0);
    scrapeconfig_free(config);
}

TEST(scrapeconfig_reads_every_key)
{
    struct scrapeconfig *config =
        scrapeconfig_sample("- job_name: app\n"
                            "  scrape_interval: 30s\n"
                            "  scrape_timeout: 5s\n"
                            "  scheme: https\n"
                            "  params: {gc: ['1'], x: [a, b]}\n"
                            "  static_configs:\n"
                            "  - targets: ['a:6060', '[::1]:6060']\n"
                            "    labels: {zone: eu, empty: ''}\n"
                            "  - targets: []\n"
                            "  file_sd_configs:\n"
                            "  - files: ['targets/*.json', /srv/more.yaml]\n"
                            "    refresh_interval: 1m\n"
                            "  relabel_configs:\n"
                            "  - {source_labels: [zone], target_label: region}\n"
                            "  - {regex: zone, action: labeldrop}\n"
                            "  basic_auth: {username: me, password_file: secret}\n"
                            "  tls_config: {ca_file: ca.pem, cert_file: /c.pem, key_file: k.pem, server_name: app,\n"
                            "    insecure_skip_verify: true}\n"
                            "  proxy_url: http://proxy:3128\n"
                            "  follow_redirects: false\n"
                            "- job_name: other\n"
                            "  bearer_token: abc\n"
                            "- job_name: third\n"
                            "  authorization: {type: Token, credentials_file: ../t}\n");
    const struct scrapeconfig_job *job = &config->jobs[0];

    CHECK_EQ(config->n, 3);
    CHECK_EQ(job->interval_ns, 30 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(job->timeout_ns, 5 * CLOCK_NS_PER_SECOND);
    CHECK_TEXT(job->scheme, "https");
    CHECK_EQ(job->params->n, 2);
    CHECK_EQ(job->n_groups, 2);
    CHECK_TEXT(job->groups[0].targets->first->next->text, "[::1]:6060");
    CHECK_TEXT(job->groups[0].labels->first->key, "zone");
    CHECK_EQ(job->n_files, 1);
    CHECK_TEXT(job->files[0].directory, "/etc/hearth/");
    CHECK_EQ(job->files[0].refresh_ns, 60 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(job->n_rules, 2);
    CHECK_EQ(job->rules[1].action, RELABEL_LABELDROP);
    CHECK(job->http.has_basic_auth && !job->http.has_authorization);
    CHECK_TEXT(job->http.password_file, "/etc/hearth/secret");
    CHECK_TEXT(job->http.ca_file, "/etc/hearth/ca.pem");
    CHECK_TEXT(job->http.cert_file, "/c.pem");
    CHECK(job->http.skips_verification && !job->http.follows_redirects);
    CHECK_TEXT(job->http.proxy_url, "http://proxy:3128");
    CHECK_TEXT(config->jobs[1].http.authorization_type, "Bearer");
    CHECK_TEXT(config->jobs[1].http.credentials, "abc");
    CHECK_TEXT(config->jobs[2].http.authorization_type, "Token");
    CHECK_TEXT(config->jobs[2].http.credentials_file, "/etc/hearth/../t");
    scrapeconfig_free(config);
}

TEST(scrapeconfig_never_takes_a_file_for_standard_input)
{
    const struct configtree *tree;
    struct scrapeconfig *config;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    CHECK_OK(configtree_parse(SLICE("- job_name: a\n  bearer_token_file: '-'\n  file_sd_configs: [{files: ['-']}]\n"),
                              "hearth.yaml", &arena, &tree, &err),
             &err);
    CHECK_OK(scrapeconfig_new(tree, &config, &err), &err);
    CHECK_TEXT(config->jobs[0].http.credentials_file, "./-");
    CHECK_TEXT(config->jobs[0].files[0].directory, "./");
    scrapeconfig_free(config);
    arena_done(&arena);
}

TEST(scrapeconfig_refuses_unknown_keys_with_the_nearest_known_one)
{
    check_refused("- job_nam: app\n", ":1:3: unknown key 'job_nam'; did you mean 'job_name'?");
    check_refused("- job_name: app\n  tls_config: {ca_fil: x}\n", "unknown key 'ca_fil'; did you mean 'ca_file'?");
    check_refused("- job_name: app\n  static_configs:\n  - target: [a]\n", "did you mean 'targets'?");
    check_refused("- job_name: app\n  file_sd_configs: [{file: [a]}]\n", "did you mean 'files'?");
}

TEST(scrapeconfig_refuses_values_that_cannot_work)
{
    check_refused("job_name: app\n", "a list of jobs is wanted here");
    check_refused("- scheme: http\n", "a job needs a job_name");
    check_refused("- job_name: a\n- job_name: a\n", ":2:3: there is a job 'a' already");
    check_refused("- job_name: a\n  scheme: ftp\n", "'ftp' is no scheme; write http or https");
    check_refused("- job_name: a\n  scrape_interval: 99ms\n", "scrape_interval of job 'a' must be 100ms to 1d");
    check_refused("- job_name: a\n  scrape_interval: 2d\n", "scrape_interval of job 'a' must be 100ms to 1d");
    check_refused("- job_name: a\n  scrape_timeout: 2d\n", "scrape_timeout of job 'a' must be 1ms to 1d");
    check_refused("- job_name: a\n  scrape_timeout: 999us\n", "scrape_timeout of job 'a' must be 1ms to 1d");
    check_refused("- job_name: a\n  params: {x: y}\n", "write a list of texts");
    check_refused("- job_name: a\n  params: [x]\n", "params is a map of lists");
    check_refused("- job_name: a\n  static_configs: [{targets: ['http://a:1/x']}]\n",
                  "'http://a:1/x' is no target; write host:port, and the rest as scheme and path_prefix");
    check_refused("- job_name: a\n  static_configs: [{targets: ['']}]\n", "a target is empty");
    check_refused("- job_name: a\n  static_configs: [{labels: {a-b: c}}]\n", "'a-b' is no label name");
    check_refused("- job_name: a\n  static_configs: {targets: [a]}\n", "a list of groups of targets is wanted here");
    check_refused("- job_name: a\n  file_sd_configs: [{refresh_interval: 5m}]\n", "file_sd_configs needs 'files'");
    check_refused("- job_name: a\n  relabel_configs: {}\n", "a list of rules is wanted here");
    check_refused("- job_name: a\n  relabel_configs: [{action: hashmod, target_label: x}]\n", "needs a modulus");
}

TEST(scrapeconfig_refuses_two_ways_to_authorize)
{
    check_refused("- job_name: a\n  basic_auth: {password: x}\n", "basic_auth needs a username");
    check_refused("- job_name: a\n  basic_auth: {username: u, password: x, password_file: y}\n",
                  "basic_auth has a password and a password_file");
    check_refused("- job_name: a\n  basic_auth: {username: u}\n  bearer_token: x\n",
                  "job 'a' has basic_auth and another authorization");
    check_refused("- job_name: a\n  bearer_token_file: x\n  bearer_token: x\n", "mean the same; keep one of them");
    check_refused("- job_name: a\n  authorization: {type: Bearer}\n", "needs either credentials or a credentials_file");
    check_refused("- job_name: a\n  authorization: {type: Basic, credentials: x}\n", "write basic_auth instead");
    check_refused("- job_name: a\n  tls_config: {cert_file: x}\n", "needs cert_file and key_file together");
}

TEST(scrapeconfig_bounds_jobs_and_rules)
{
    AUTO(buffer_done) struct buffer yaml;
    struct scrapeconfig *config = NULL;
    struct error err;

    buffer_init(&yaml, 0);
    for (int i = 0; i <= SCRAPECONFIG_JOBS_MAX; i++)
        buffer_printf(&yaml, "- job_name: j%d\n", i);
    buffer_append_byte(&yaml, '\0');
    CHECK_ERROR(scrapeconfig_sample_read(yaml.data, &config, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "there are 1025 jobs; at most 1024 are read");
    buffer_clear(&yaml);
    buffer_append_text(&yaml, "- job_name: a\n  relabel_configs:\n");
    for (int i = 0; i <= SCRAPECONFIG_RULES_MAX; i++)
        buffer_append_text(&yaml, "  - {action: keep}\n");
    buffer_append_byte(&yaml, '\0');
    CHECK_ERROR(scrapeconfig_sample_read(yaml.data, &config, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "relabel_configs has 257 rules; at most 256 are read");
}

static int read_config(void *context, struct error *err)
{
    struct scrapeconfig *config;

    if (scrapeconfig_sample_read("- job_name: a\n  static_configs: [{targets: [b]}]\n"
                                 "  relabel_configs: [{action: keep}, {action: drop, regex: x}]\n"
                                 "  file_sd_configs: [{files: [x]}]\n  bearer_token_file: y\n",
                                 &config, err) < 0)
        return -1;
    scrapeconfig_free(config);
    return 0;
}

TEST(scrapeconfig_survives_each_allocation_failing)
{
    test_each_allocation_failing(read_config, NULL);
}
