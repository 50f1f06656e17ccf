// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrape.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/metrics.h"
#include "scrape/scrape_server_test.h"
#include "scrape/scrapeconfig_sample_test.h"

#define PATIENCE_NS (30 * CLOCK_NS_PER_SECOND)
#define QUICK       "  scrape_timeout: 200ms\n"

/* Everything that a test has: a server, a scraper, and what it took. */
static struct scrape_server server;
static struct scrape *scrape;
static struct buffer log_lines;
static pthread_mutex_t taken_lock = PTHREAD_MUTEX_INITIALIZER;
static struct taken {
    unsigned n;
    struct upload upload; /* the last */
    char query[2048], body[8192], content_type[64], content_encoding[64], tenant[64];
} taken;

static struct slice keep(struct slice text, char *into, size_t bytes)
{
    snprintf(into, bytes, "%.*s", SLICE_ARG(text));
    return slice_from(into);
}

/* With a context it refuses all. */
static int take(void *context, const struct upload *upload, struct error *err)
{
    pthread_mutex_lock(&taken_lock);
    taken.n++;
    taken.upload = *upload;
    taken.upload.query = keep(upload->query, taken.query, sizeof(taken.query));
    taken.upload.body = keep(upload->body, taken.body, sizeof(taken.body));
    taken.upload.content_type = keep(upload->content_type, taken.content_type, sizeof(taken.content_type));
    taken.upload.content_encoding =
        keep(upload->content_encoding, taken.content_encoding, sizeof(taken.content_encoding));
    taken.upload.tenant = keep(upload->tenant, taken.tenant, sizeof(taken.tenant));
    pthread_mutex_unlock(&taken_lock);
    return context ? error_set(err, ERR_CORRUPT, "no profile begins with 'a'") : 0;
}

static struct taken look_at_taken(void)
{
    struct taken copy;

    pthread_mutex_lock(&taken_lock);
    copy = taken;
    pthread_mutex_unlock(&taken_lock);
    return copy;
}

/* A configuration of one kind of profile, at `path` of the server, with more keys of the job. */
static struct scrapeconfig *config_of(const char *path, const char *more)
{
    char yaml[2048];

    snprintf(yaml, sizeof(yaml),
             "- job_name: app\n  scrape_interval: 100ms\n"
             "  static_configs: [{targets: ['127.0.0.1:%u']}]\n%s"
             "  profiling_config: {pprof_config: {process_cpu: {enabled: false}, goroutine: {enabled: false}, "
             "mutex: {enabled: false}, block: {enabled: false}, memory: {path: %s}}}\n",
             server.port, more, path);
    return scrapeconfig_sample(yaml);
}

static void start_with(struct scrape_options options, struct scrapeconfig *config)
{
    struct error err;

    memset(&taken, 0, sizeof(taken));
    buffer_init(&log_lines, 0);
    log_capture(&log_lines);
    options.take = take;
    CHECK_OK(scrape_start(&options, config, &scrape, &err), &err);
}

static void start(const char *path, const char *more)
{
    server_start(&server);
    start_with((struct scrape_options){ .rarely_ns = 3600 * CLOCK_NS_PER_SECOND }, config_of(path, more));
}

static void stop(void)
{
    scrape_stop(scrape);
    server_stop(&server);
    log_capture(NULL);
    buffer_done(&log_lines);
}

/* The row of the only target, or of the one whose URL has `words`. */
struct seen {
    const char *words;
    struct scrape_row row;
    char url[512], kind[64], last_error[sizeof(((struct error *)0)->text)];
    unsigned n;
};

static int note_row(void *context, const struct scrape_row *row, struct error *err)
{
    struct seen *seen = context;

    if (seen->words && slice_find(row->url, slice_from(seen->words)) < 0)
        return 0;
    seen->row = *row;
    seen->row.url = keep(row->url, seen->url, sizeof(seen->url));
    seen->row.kind = keep(row->kind, seen->kind, sizeof(seen->kind));
    snprintf(seen->last_error, sizeof(seen->last_error), "%s", row->last_error);
    seen->n++;
    return 0;
}

static struct seen look(const char *words)
{
    struct seen seen = { .words = words };
    struct error err;

    CHECK_OK(scrape_each(scrape, note_row, &seen, &err), &err);
    return seen;
}

/* Waits until `n` scrapes ended. */
static struct seen wait_for_scrapes(const char *words, uint64_t n)
{
    int64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
    struct seen seen = look(words);

    for (; (seen.n != 1 || seen.row.n_scrapes < n) && clock_mono_ns() < deadline_ns; seen = look(words))
        usleep(2000);
    CHECK_EQ(seen.n, 1);
    CHECK(seen.row.n_scrapes >= n);
    return seen;
}

/* One scrape of `path` fails so. */
static void check_failure(const char *path, const char *more, enum scrape_result result, const char *story)
{
    struct seen seen;

    start(path, more);
    seen = wait_for_scrapes(NULL, 1);
    CHECK_TEXT(scrape_result_name(seen.row.result), scrape_result_name(result));
    CHECK_HAS(seen.last_error, story);
    CHECK_EQ(seen.row.n_failures, seen.row.n_scrapes);
    CHECK_EQ(seen.row.n_failures_in_row, seen.row.n_scrapes);
    CHECK_EQ(seen.row.last_ok_ns, 0);
    CHECK(seen.row.last_ns > 0);
    CHECK_EQ(look_at_taken().n, 0);
    stop();
}

TEST(scrape_hands_answers_over_with_their_labels)
{
    struct taken got;
    struct seen seen;
    char wanted[256];

    start("/good", "");
    seen = wait_for_scrapes(NULL, 2);
    got = look_at_taken();
    CHECK(got.n >= 2);
    CHECK_EQ(got.upload.kind, UPLOAD_SCRAPED);
    CHECK_EQ(got.upload.weight, 1);
    CHECK(got.upload.received_ns > 0);
    CHECK_TEXT(got.tenant, "anonymous");
    CHECK_TEXT(got.body, "a profile");
    CHECK_TEXT(got.content_type, "application/octet-stream");
    CHECK_TEXT(got.content_encoding, "");
    snprintf(wanted, sizeof(wanted),
             "__name__=memory\n__interval_ns__=100000000\ninstance=127.0.0.1:%u\njob=app\nservice_name=app",
             server.port);
    CHECK_TEXT(got.query, wanted);
    CHECK_EQ(seen.row.result, SCRAPE_OK);
    CHECK_TEXT(seen.kind, "memory");
    CHECK_EQ(seen.row.body_bytes, 9);
    CHECK_EQ(seen.row.n_failures, 0);
    CHECK(seen.row.last_ok_ns > 0);
    CHECK_TEXT(seen.last_error, "");
    stop();
}

TEST(scrape_passes_encodings_on_as_they_are)
{
    struct taken got;

    start("/encoded", "");
    wait_for_scrapes(NULL, 1);
    got = look_at_taken();
    CHECK_TEXT(got.content_encoding, "gzip");
    CHECK_TEXT(got.body, "\x1f\x8b...");
    stop();
}

TEST(scrape_asks_at_regular_times)
{
    struct seen first, later;

    start("/good", "");
    first = wait_for_scrapes(NULL, 1);
    later = wait_for_scrapes(NULL, first.row.n_scrapes + 2);
    CHECK(later.row.last_ns - first.row.last_ns >= CLOCK_NS_PER_SECOND / 10); /* two intervals, give or take */
    stop();
}

TEST(scrape_tells_a_conflict_of_profilers_and_asks_again_rarely)
{
    struct seen seen;

    start("/busy", "");
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_CONFLICT);
    CHECK_HAS(seen.last_error, "another profiler is running in the target");
    CHECK_HAS(seen.last_error, "cpu profiling already in use");
    CHECK_HAS(seen.last_error, "turn off one of the two");
    usleep(300000);
    CHECK_EQ(look(NULL).row.n_scrapes, 1);
    stop();
}

TEST(scrape_marks_a_kind_that_the_target_does_not_have)
{
    struct seen seen;

    start("/missing", "");
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_ABSENT);
    CHECK_HAS(seen.last_error, "the target has no such profile (404)");
    usleep(300000);
    CHECK_EQ(look(NULL).row.n_scrapes, 1);
    stop();
}

TEST(scrape_tells_the_first_line_of_an_error)
{
    check_failure("/broken", "", SCRAPE_HTTP, "the target answered 503: come back later");
}

TEST(scrape_tells_that_credentials_are_wrong)
{
    check_failure("/private", "", SCRAPE_HTTP, "the target answered 401: it wants other credentials");
}

TEST(scrape_gives_up_on_slow_targets)
{
    check_failure("/slow", QUICK, SCRAPE_TIMEOUT, "the target was too slow");
}

TEST(scrape_refuses_answers_that_are_cut_or_no_http)
{
    check_failure("/cut", "", SCRAPE_UNREACHABLE, "the target cannot be reached");
    check_failure("/nonsense", "", SCRAPE_UNREACHABLE, "the target cannot be reached");
}

TEST(scrape_tells_that_nobody_listens)
{
    check_failure("/good", "  relabel_configs: [{target_label: __address__, replacement: '127.0.0.1:1'}]\n",
                  SCRAPE_UNREACHABLE, "the target cannot be reached: Failed to connect");
}

TEST(scrape_tells_that_credentials_cannot_be_read)
{
    check_failure("/good", "  bearer_token_file: /nowhere/token\n", SCRAPE_UNREACHABLE, "/nowhere/token");
}

TEST(scrape_bounds_answers)
{
    struct seen seen;

    server_start(&server);
    start_with((struct scrape_options){ .max_body_bytes = 1 << 20 }, config_of("/huge", ""));
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_TOO_LARGE);
    CHECK_TEXT(seen.last_error, "the answer has more than 1048576 bytes");
    CHECK(seen.row.body_bytes <= 1 << 20);
    stop();
    check_failure("/huge-length", "", SCRAPE_TOO_LARGE, "the answer has more than 67108864 bytes");
}

TEST(scrape_bounds_all_answers_together)
{
    struct seen seen;

    server_start(&server);
    start_with((struct scrape_options){ .max_running_bytes = 300000 }, config_of("/huge", ""));
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_TOO_LARGE);
    CHECK_HAS(seen.last_error, "bytes are being received already, as many as all targets may have");
    seen = wait_for_scrapes(NULL, 2); /* what was held is given back */
    CHECK(seen.row.body_bytes > 100000);
    stop();
}

TEST(scrape_follows_redirects_but_not_for_ever_nor_anywhere)
{
    start("/redirect", "");
    CHECK_EQ(wait_for_scrapes(NULL, 1).row.result, SCRAPE_OK);
    CHECK_TEXT(look_at_taken().body, "a profile");
    stop();
    check_failure("/loop", "", SCRAPE_HTTP, "the target redirects more than 3 times");
    check_failure("/redirect", "  follow_redirects: false\n", SCRAPE_HTTP, "the target answered 302, a redirect");
    check_failure("/file", "", SCRAPE_UNREACHABLE, "file");
}

TEST(scrape_says_who_it_is_and_what_it_wants)
{
    start("/echo", "  basic_auth: {username: me, password: 'se cret'}\n  params: {debug: ['0']}\n");
    wait_for_scrapes(NULL, 1);
    CHECK_HAS(look_at_taken().body, "GET /echo?debug=0 HTTP/1.1\r\n");
    CHECK_HAS(look_at_taken().body, "Authorization: Basic bWU6c2UgY3JldA==\r\n");
    CHECK_HAS(look_at_taken().body, "User-Agent: hearth/");
    stop();
}

TEST(scrape_reads_tokens_anew_for_each_request)
{
    char path[256], more[600];
    int64_t deadline_ns;
    struct error err;

    snprintf(path, sizeof(path), "%s/token", test_directory());
    snprintf(more, sizeof(more), "  authorization: {type: Token, credentials_file: %s}\n", path);
    CHECK_OK(fs_write_file(path, SLICE("first\n"), &err), &err);
    start("/echo", more);
    wait_for_scrapes(NULL, 1);
    CHECK_HAS(look_at_taken().body, "Authorization: Token first\r\n");
    CHECK_OK(fs_write_file(path, SLICE("second\n"), &err), &err);
    deadline_ns = clock_mono_ns() + PATIENCE_NS;
    while (!strstr(look_at_taken().body, "Token second\r\n") && clock_mono_ns() < deadline_ns)
        usleep(2000);
    CHECK_HAS(look_at_taken().body, "Authorization: Token second\r\n");
    stop();
}

TEST(scrape_refuses_credentials_that_would_forge_headers)
{
    char path[256], more[600];
    struct error err;

    snprintf(path, sizeof(path), "%s/token", test_directory());
    snprintf(more, sizeof(more), "  bearer_token_file: %s\n", path);
    CHECK_OK(fs_write_file(path, SLICE("a\r\nX-Other: b\n"), &err), &err);
    check_failure("/echo", more, SCRAPE_UNREACHABLE, "hold a control character; they must be one line");
}

TEST(scrape_tells_that_an_answer_was_not_taken)
{
    struct seen seen;

    server_start(&server);
    start_with((struct scrape_options){ .context = &taken }, config_of("/good", ""));
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_REFUSED);
    CHECK_TEXT(seen.last_error, "what the target answered was not taken: no profile begins with 'a'");
    stop();
}

TEST(scrape_forgets_failures_when_a_target_recovers)
{
    struct seen seen;

    start("/flaky", "");
    seen = wait_for_scrapes(NULL, 1);
    CHECK_EQ(seen.row.result, SCRAPE_HTTP);
    CHECK_HAS(seen.last_error, "the target answered 500: no explanation");
    atomic_store(&server.is_fixed, true);
    seen = wait_for_scrapes(NULL, seen.row.n_scrapes + 2);
    CHECK_EQ(seen.row.result, SCRAPE_OK);
    CHECK_EQ(seen.row.n_failures_in_row, 0);
    CHECK(seen.row.n_failures > 0);
    stop();
}

static void wait_for_rows(const char *words, unsigned n)
{
    int64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;

    while (look(words).n != n && clock_mono_ns() < deadline_ns)
        usleep(2000);
    CHECK_EQ(look(words).n, n);
}

static void wait_for_slow(int n)
{
    int64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;

    while (atomic_load(&server.n_slow) < n && clock_mono_ns() < deadline_ns)
        usleep(2000);
    CHECK(atomic_load(&server.n_slow) >= n);
}

TEST(scrape_keeps_targets_that_a_new_configuration_leaves_as_they_are)
{
    struct seen seen;

    start("/good", "");
    seen = wait_for_scrapes(NULL, 2);
    scrape_apply(scrape, config_of("/good", "  relabel_configs: [{regex: nothing, action: labeldrop}]\n"));
    seen = wait_for_scrapes(NULL, seen.row.n_scrapes + 1); /* it went on counting */
    CHECK_EQ(seen.row.n_failures, 0);
    scrape_apply(scrape, config_of("/echo", ""));
    CHECK_EQ(wait_for_scrapes("/echo", 1).row.n_scrapes, 1);
    CHECK_EQ(look(NULL).n, 1);
    stop();
}

TEST(scrape_ends_requests_of_targets_that_are_gone)
{
    start("/slow", "");
    wait_for_slow(1);
    scrape_apply(scrape, config_of("/good", ""));
    wait_for_rows("/slow", 0);
    wait_for_scrapes("/good", 1);
    stop();
}

TEST(scrape_takes_the_last_of_several_new_configurations)
{
    start("/good", "");
    scrape_apply(scrape, config_of("/echo", ""));
    scrape_apply(scrape, scrapeconfig_sample(""));
    wait_for_rows(NULL, 0);
    stop();
}

TEST(scrape_picks_up_changes_of_files)
{
    char path[256], more[600], text[128];
    struct error err;

    snprintf(path, sizeof(path), "%s/targets.json", test_directory());
    snprintf(more, sizeof(more), "  file_sd_configs: [{files: ['%s']}]\n", path);
    server_start(&server);
    start_with((struct scrape_options){ .look_ns = 20000000 }, config_of("/good", more));
    wait_for_scrapes(NULL, 1);
    snprintf(text, sizeof(text), "[{\"targets\": [\"localhost:%u\"], \"labels\": {\"zone\": \"eu\"}}]", server.port);
    CHECK_OK(fs_write_file(path, slice_from(text), &err), &err);
    wait_for_scrapes("localhost", 1);
    CHECK_EQ(look(NULL).n, 2);
    CHECK_EQ(unlink(path), 0);
    wait_for_rows("localhost", 0);
    CHECK_EQ(look(NULL).n, 1);
    stop();
}

TEST(scrape_bounds_requests_at_a_time)
{
    char path[256], more[600], text[128];
    struct error err;

    server_start(&server);
    snprintf(path, sizeof(path), "%s/more.json", test_directory());
    snprintf(text, sizeof(text), "- targets: ['localhost:%u']\n", server.port);
    CHECK_OK(fs_write_file(path, slice_from(text), &err), &err);
    snprintf(more, sizeof(more), "  file_sd_configs: [{files: [%s]}]\n  scrape_timeout: 2s\n", path);
    start_with((struct scrape_options){ .max_running = 1 }, config_of("/slow", more));
    wait_for_slow(1);
    usleep(300000); /* every target had its turn meanwhile, and no request has timed out */
    CHECK_EQ(atomic_load(&server.n_slow), 1);
    wait_for_slow(2);
    stop();
}

TEST(scrape_shows_what_it_counts)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    start("/good", "");
    wait_for_scrapes(NULL, 1);
    metrics_write(&text);
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_targets 1\n");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_scrapes_total{kind=\"memory\",result=\"ok\"} ");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_body_bytes_total ");
    CHECK_HAS(buffer_slice(&text), "hearth_scrape_duration_seconds_count ");
    stop();
}
