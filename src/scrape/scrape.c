// SPDX-License-Identifier: Apache-2.0
/* The thread: it adopts configurations, looks at files, starts what is due, lets libcurl work, and ends what is done.
 *
 * Everything but what `lock` guards belongs to the thread, from the moment it runs. It alone changes targets; it takes the
 * lock to do so, so that scrape_each may read them, and reads them without. */
#include "scrape/scrape.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "scrape/scrapecall.h"
#include "scrape/scrapemetrics.h"
#include "scrape/scrapeset.h"

#include <stdio.h>

#define BODY_DEFAULT_BYTES    (64u << 20)
#define RUNNING_DEFAULT_BYTES (256u << 20)
#define RUNNING_DEFAULT       1024
#define LOOK_DEFAULT_NS       (5 * CLOCK_NS_PER_SECOND)
#define RARELY_DEFAULT_NS     (300 * CLOCK_NS_PER_SECOND)
#define LATE_NS               CLOCK_NS_PER_SECOND
#define TENANT_BYTES          256

struct scrape {
    struct scrape_options options;
    char tenant[TENANT_BYTES];
    struct thread thread;
    CURLM *multi;
    struct scrapemetrics metrics;
    struct scrapeconfig *config; /* NULL until the first is adopted */
    struct scrapefiles *files;   /* of it */
    struct scrapequeue queue;    /* targets that wait for their turn */
    struct scrapecall_budget budget;
    size_t n_running;
    size_t n_failing; /* targets whose last scrape went wrong */
    int64_t next_look_mono_ns;
    bool is_stale; /* files changed and the targets have not followed yet */

    struct lock_mutex lock;
    struct scrapeset set;         /* guarded by lock; the thread alone changes it */
    struct scrapeconfig *pending; /* guarded by lock: to be adopted */
    bool is_stopping;             /* guarded by lock */
};

const char *scrape_result_name(enum scrape_result result)
{
    static const char *const names[] = {
#define SCRAPE_NAME(name, text) text,
        SCRAPE_RESULTS(SCRAPE_NAME)
#undef SCRAPE_NAME
    };

    return names[result];
}

/* --- who is scraped --- */

static void end_call(struct scrape *scrape, struct scrapeset_target *target)
{
    if (!target->call)
        return;
    scrapecall_free(target->call);
    target->call = NULL;
    scrape->n_running--;
}

static void drop_target(void *context, struct scrapeset_target *target)
{
    end_call(context, target);
}

/* The targets that wait, all anew; there is room. */
static void fill_queue(struct scrape *scrape)
{
    scrapequeue_clear(&scrape->queue);
    for (size_t i = 0; i < scrape->set.targets.n; i++)
        if (!scrape->set.targets.items[i]->call)
            scrapequeue_add(&scrape->queue, &scrape->set.targets.items[i]->turn);
}

static void show_set(struct scrape *scrape)
{
    scrape->n_failing = 0;
    for (size_t i = 0; i < scrape->set.targets.n; i++)
        scrape->n_failing += scrape->set.targets.items[i]->health.n_failures_in_row > 0;
    scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_TARGETS, (double)scrape->set.targets.n);
    scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_DROPPED, (double)scrape->set.n_dropped);
    scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_REFUSED, (double)scrape->set.n_refused);
}

/* Makes the targets be those that the configuration and the files give. On failure they are as they were. */
static int renew_targets(struct scrape *scrape, const struct scrapeconfig *config, struct scrapefiles *files,
                         struct error *err)
{
    struct scrapeset next;

    if (scrapeset_make(&scrape->set, config, files, clock_mono_ns(), &next, err) < 0)
        return -1;
    if (scrapequeue_reserve(&scrape->queue, next.targets.n, err) < 0) {
        scrapeset_discard(&next);
        return -1;
    }
    if (next.n_refused > 0)
        log_warn("scrape", "%zu targets are not scraped; the last of them: %s", next.n_refused, next.refusal.text);
    lock_mutex_acquire(&scrape->lock);
    scrapeset_replace(&scrape->set, &next, drop_target, scrape);
    lock_mutex_release(&scrape->lock);
    scrape->is_stale = false;
    fill_queue(scrape);
    show_set(scrape);
    return 0;
}

static int look_at_files(struct scrape *scrape, struct scrapefiles *files, struct error *err)
{
    int64_t now_mono_ns = clock_mono_ns();
    struct scrapefiles_look look = { .is_changed = true }; /* as far as one knows, where looking ends early */
    int result;

    scrape->next_look_mono_ns = now_mono_ns + scrape->options.look_ns;
    result = scrapefiles_refresh(files, now_mono_ns, &look, err);
    scrape->is_stale = scrape->is_stale || look.is_changed;
    if (result == 0)
        scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_FILES_FAILING, (double)look.n_failures);
    return result;
}

/* Scrapes by `config` from now on, or, if that fails, by the old one. */
static int adopt(struct scrape *scrape, struct scrapeconfig *config, struct error *err)
{
    struct scrapefiles *files;

    if (scrapefiles_new(config, &files, err) < 0)
        return -1;
    if (look_at_files(scrape, files, err) < 0 || renew_targets(scrape, config, files, err) < 0) {
        scrapefiles_free(files);
        return -1;
    }
    scrapefiles_free(scrape->files);
    scrapeconfig_free(scrape->config);
    scrape->files = files;
    scrape->config = config;
    if (config->n > 0)
        log_info("scrape", "%zu targets of %zu jobs", scrape->set.targets.n, config->n);
    return 0;
}

static void adopt_pending(struct scrape *scrape)
{
    struct scrapeconfig *config;
    struct error err;

    lock_mutex_acquire(&scrape->lock);
    config = TAKE(scrape->pending);
    lock_mutex_release(&scrape->lock);
    if (!config || adopt(scrape, config, &err) == 0)
        return;
    log_error("scrape", "the new configuration could not be taken, the old one stays: %s", err.text);
    scrapeconfig_free(config);
}

static void follow_files(struct scrape *scrape)
{
    struct error err;

    if (clock_mono_ns() < scrape->next_look_mono_ns)
        return;
    if (!scrape->config) {
        scrape->next_look_mono_ns = clock_mono_ns() + scrape->options.look_ns;
        return;
    }
    if (look_at_files(scrape, scrape->files, &err) < 0 ||
        (scrape->is_stale && renew_targets(scrape, scrape->config, scrape->files, &err) < 0))
        LOG_EVERY(60, LOG_WARN, "scrape", "files of targets could not be looked at, targets stay: %s", err.text);
}

/* --- scraping --- */

/* What a scrape came to. */
struct outcome {
    enum scrape_result result;
    uint64_t body_bytes;
    struct error error; /* unless SCRAPE_OK */
};

static bool is_rarely_asked(enum scrape_result result)
{
    return result == SCRAPE_ABSENT || result == SCRAPE_CONFLICT;
}

/* An interval after the last turn; at once where that took longer, so that no window is left out. */
static int64_t next_turn(const struct scrape *scrape, const struct scrapeset_target *target, enum scrape_result result)
{
    int64_t now_mono_ns = clock_mono_ns(), wait_ns = target->job->interval_ns;

    if (is_rarely_asked(result))
        wait_ns = MAX(wait_ns, scrape->options.rarely_ns);
    return MAX(target->turn.due_mono_ns + wait_ns, now_mono_ns);
}

/* Only changes are told, so that a target that is down says so once. */
static void tell_change(const struct scrapeset_target *target, const struct outcome *outcome)
{
    enum scrape_result before = target->health.result;

    if (before == outcome->result)
        return;
    if (outcome->result != SCRAPE_OK)
        LOG_EVERY(1, LOG_WARN, "scrape", "'%.*s' of job '%.*s': %s", SLICE_ARG(target->url),
                  SLICE_ARG(target->job->name), outcome->error.text);
    else if (before != SCRAPE_PENDING)
        LOG_EVERY(1, LOG_INFO, "scrape", "'%.*s' of job '%.*s' answers again", SLICE_ARG(target->url),
                  SLICE_ARG(target->job->name));
}

static void note_health(struct scrape *scrape, struct scrapeset_target *target, const struct outcome *outcome,
                        int64_t duration_ns)
{
    struct scrapeset_health *health = &target->health;

    LOCK_SCOPE(&scrape->lock);
    health->result = outcome->result;
    health->last_ns = clock_now_ns();
    health->duration_ns = duration_ns;
    health->body_bytes = outcome->body_bytes;
    health->n_scrapes++;
    if (outcome->result == SCRAPE_OK) {
        scrape->n_failing -= health->n_failures_in_row > 0;
        health->last_ok_ns = health->last_ns;
        health->n_failures_in_row = 0;
        return;
    }
    scrape->n_failing += health->n_failures_in_row == 0;
    health->n_failures++;
    health->n_failures_in_row++;
    memcpy(health->last_error, outcome->error.text, sizeof(health->last_error));
}

/* The end of a scrape, which waits for its next turn. */
static void settle(struct scrape *scrape, struct scrapeset_target *target, const struct outcome *outcome)
{
    int64_t duration_ns = clock_mono_ns() - target->start_mono_ns;

    lock_mutex_acquire(&scrape->lock);
    end_call(scrape, target);
    lock_mutex_release(&scrape->lock);
    tell_change(target, outcome);
    note_health(scrape, target, outcome, duration_ns);
    scrapemetrics_count(&scrape->metrics, target->kind->key, scrape_result_name(outcome->result), duration_ns,
                        outcome->body_bytes);
    target->turn.due_mono_ns = next_turn(scrape, target, outcome->result);
    scrapequeue_add(&scrape->queue, &target->turn);
}

static void start_call(struct scrape *scrape, struct scrapeset_target *target)
{
    const struct scrapeconfig_job *job = target->job;
    struct scrapecall_request request = {
        .url = target->url,
        .http = &job->http,
        .timeout_ns = job->timeout_ns + (int64_t)target->kind->seconds * CLOCK_NS_PER_SECOND,
        .connect_timeout_ns = job->timeout_ns,
        .max_body_bytes = scrape->options.max_body_bytes,
        .is_cpu_profile = slice_is(target->kind->name, "process_cpu"),
    };
    struct outcome outcome = { .result = SCRAPE_UNREACHABLE };
    struct scrapecall *call;

    target->start_mono_ns = clock_mono_ns();
    if (target->start_mono_ns - target->turn.due_mono_ns > LATE_NS)
        scrapemetrics_count_late(&scrape->metrics);
    if (scrapecall_start(scrape->multi, &request, &scrape->budget, target, &call, &outcome.error) < 0) {
        settle(scrape, target, &outcome);
        return;
    }
    lock_mutex_acquire(&scrape->lock);
    target->call = call;
    lock_mutex_release(&scrape->lock);
    scrape->n_running++;
}

static void start_due(struct scrape *scrape)
{
    struct scrapequeue_item *first;

    while (scrape->n_running < scrape->options.max_running && (first = scrapequeue_first(&scrape->queue)) &&
           first->due_mono_ns <= clock_mono_ns()) {
        scrapequeue_pop(&scrape->queue);
        start_call(scrape, (struct scrapeset_target *)first);
    }
}

/* Gives the answer away. */
static int hand_over(struct scrape *scrape, const struct scrapeset_target *target,
                     const struct scrapecall_answer *answer, struct error *err)
{
    struct upload upload = {
        .kind = UPLOAD_SCRAPED,
        .tenant = slice_from(scrape->tenant),
        .received_ns = clock_now_ns(),
        .weight = 1,
        .query = target->lines,
        .place = target->url,
        .content_type = answer->content_type,
        .content_encoding = answer->content_encoding,
        .body = answer->body,
    };

    return scrape->options.take(scrape->options.context, &upload, err);
}

static void finish_call(struct scrape *scrape, struct scrapecall *call, CURLcode code)
{
    struct scrapeset_target *target = scrapecall_owner(call);
    struct scrapecall_answer answer;
    struct outcome outcome;

    outcome.result = scrapecall_finish(call, code, &answer, &outcome.error);
    outcome.body_bytes = answer.body.len;
    if (outcome.result == SCRAPE_OK && hand_over(scrape, target, &answer, &outcome.error) < 0) {
        outcome.result = SCRAPE_REFUSED;
        error_wrap(&outcome.error, "what the target answered was not taken");
    }
    settle(scrape, target, &outcome);
}

static void finish_done(struct scrape *scrape)
{
    const CURLMsg *message;
    int n_left;

    while ((message = curl.multi_info_read(scrape->multi, &n_left)))
        if (message->msg == CURLMSG_DONE)
            finish_call(scrape, scrapecall_of(message->easy_handle), message->data.result);
}

/* --- the thread --- */

static bool is_stopping(struct scrape *scrape)
{
    LOCK_SCOPE(&scrape->lock);
    return scrape->is_stopping;
}

/* Milliseconds until something is to be done of which libcurl knows nothing. */
static int wait_ms(const struct scrape *scrape)
{
    const struct scrapequeue_item *first = scrapequeue_first(&scrape->queue);
    int64_t until_mono_ns = scrape->next_look_mono_ns;

    if (first && scrape->n_running < scrape->options.max_running)
        until_mono_ns = MIN(until_mono_ns, first->due_mono_ns);
    return (int)MIN(MAX((until_mono_ns - clock_mono_ns() + 999999) / 1000000, 0), 60000);
}

static void run(struct thread *thread, void *context)
{
    struct scrape *scrape = context;
    int n_left;

    while (!is_stopping(scrape)) {
        adopt_pending(scrape);
        follow_files(scrape);
        start_due(scrape);
        curl.multi_perform(scrape->multi, &n_left);
        finish_done(scrape);
        scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_RUNNING, (double)scrape->n_running);
        scrapemetrics_set(&scrape->metrics, SCRAPEMETRIC_FAILING, (double)scrape->n_failing);
        curl.multi_poll(scrape->multi, NULL, 0, wait_ms(scrape), NULL);
    }
}

/* --- outside --- */

static void fill_defaults(struct scrape *scrape, const struct scrape_options *options)
{
    struct slice tenant = options->tenant.len > 0 ? options->tenant : SLICE("anonymous");

    scrape->options = *options;
    snprintf(scrape->tenant, sizeof(scrape->tenant), "%.*s", SLICE_ARG(tenant));
    if (!options->max_body_bytes)
        scrape->options.max_body_bytes = BODY_DEFAULT_BYTES;
    if (!options->max_running_bytes)
        scrape->options.max_running_bytes = RUNNING_DEFAULT_BYTES;
    if (!options->max_running)
        scrape->options.max_running = RUNNING_DEFAULT;
    if (!options->look_ns)
        scrape->options.look_ns = LOOK_DEFAULT_NS;
    if (!options->rarely_ns)
        scrape->options.rarely_ns = RARELY_DEFAULT_NS;
    scrape->budget.max_bytes = scrape->options.max_running_bytes;
}

/* Frees all but the thread, which is not there or has ended. */
static void scrape_free(struct scrape *scrape)
{
    for (size_t i = 0; i < scrape->set.targets.n; i++)
        end_call(scrape, scrape->set.targets.items[i]);
    scrapeset_done(&scrape->set);
    scrapequeue_done(&scrape->queue);
    scrapefiles_free(scrape->files);
    scrapeconfig_free(scrape->config);
    scrapeconfig_free(scrape->pending);
    if (scrape->multi)
        curl.multi_cleanup(scrape->multi);
    curl.global_cleanup();
    scrapemetrics_done(&scrape->metrics);
    lock_mutex_done(&scrape->lock);
    memory_free(scrape);
}

static int start_parts(struct scrape *scrape, struct error *err)
{
    scrape->multi = curl.multi_init();
    if (!scrape->multi ||
        curl.multi_setopt(scrape->multi, CURLMOPT_MAXCONNECTS, (long)scrape->options.max_running) != CURLM_OK)
        return error_set(err, ERR_MEMORY, "no memory to scrape");
    return thread_start(&scrape->thread, "scrape", run, scrape, err);
}

int scrape_start(const struct scrape_options *options, struct scrapeconfig *config, struct scrape **ret_scrape,
                 struct error *err)
{
    struct scrape *scrape = MEMORY_NEW(struct scrape, err);

    if (!scrape)
        return -1;
    if (curlload(err) < 0) {
        memory_free(scrape);
        return -1;
    }
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != 0) {
        memory_free(scrape);
        return error_set(err, ERR_MEMORY, "libcurl cannot be used");
    }
    lock_mutex_init(&scrape->lock, LOCK_SCRAPE);
    scrapemetrics_init(&scrape->metrics);
    fill_defaults(scrape, options);
    scrape->pending = config;
    if (start_parts(scrape, err) < 0) {
        scrape->pending = NULL;
        scrape_free(scrape);
        return -1;
    }
    *ret_scrape = scrape;
    return 0;
}

void scrape_stop(struct scrape *scrape)
{
    if (!scrape)
        return;
    lock_mutex_acquire(&scrape->lock);
    scrape->is_stopping = true;
    lock_mutex_release(&scrape->lock);
    curl.multi_wakeup(scrape->multi);
    thread_stop(&scrape->thread);
    scrape_free(scrape);
}

void scrape_apply(struct scrape *scrape, struct scrapeconfig *config)
{
    struct scrapeconfig *superseded;

    lock_mutex_acquire(&scrape->lock);
    superseded = scrape->pending;
    scrape->pending = config;
    lock_mutex_release(&scrape->lock);
    scrapeconfig_free(superseded);
    curl.multi_wakeup(scrape->multi);
}

static struct scrape_row row_of(const struct scrapeset_target *target)
{
    const struct scrapeset_health *health = &target->health;

    return (struct scrape_row){
        .job = target->job->name,
        .kind = target->kind->key,
        .instance = target->instance,
        .url = target->url,
        .labels = target->lines,
        .result = health->result,
        .last_ns = health->last_ns,
        .last_ok_ns = health->last_ok_ns,
        .duration_ns = health->duration_ns,
        .body_bytes = health->body_bytes,
        .n_scrapes = health->n_scrapes,
        .n_failures = health->n_failures,
        .n_failures_in_row = health->n_failures_in_row,
        .is_running = target->call != NULL,
        .last_error = health->last_error,
    };
}

int scrape_each(struct scrape *scrape, int (*visit)(void *context, const struct scrape_row *row, struct error *err),
                void *context, struct error *err)
{
    LOCK_SCOPE(&scrape->lock);

    for (size_t i = 0; i < scrape->set.targets.n; i++) {
        struct scrape_row row = row_of(scrape->set.targets.items[i]);

        if (visit(context, &row, err) < 0)
            return -1;
    }
    return 0;
}
