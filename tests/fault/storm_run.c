// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storm_run.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/thread.h"
#include "tests/fault/storm_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS       CLOCK_NS_PER_SECOND
#define HOUR_NS         (3600 * SECOND_NS)
#define DAY_NS          (24 * HOUR_NS)
#define MAX_LAG_NS      HOUR_NS /* of the slowest writer, in simulated time */
#define MAX_ATTEMPTS    40      /* of one write, before it is given up */
#define FULL_ATTEMPTS   10      /* before the ballast goes */
#define RESUME_ATTEMPTS 2000    /* 10 s: the time to go on after that */
#define RETRY_NS        (5 * 1000000)
#define ACTION_WRITES   25u /* one writer does something else after so many writes */
#define ACTION_NS       (3 * 1000000)
#define CROWD_WRITES    16u /* of the crowd, beside one of a writer */

struct run {
    const struct storm_config *config;
    struct store *store;
    int ledger;
    int64_t end_mono_ns; /* real */
    atomic_bool is_stopping;
    atomic_bool has_given_up;
    atomic_bool has_ballast;
    _Atomic uint32_t next[STORM_MAX_THREADS]; /* the write each is at */
    _Atomic uint64_t n_errors;
    _Atomic uint64_t n_crowd; /* writes of the crowd */
    uint64_t random;          /* of the thread that does the upkeep */
    uint32_t first_counter;

    pthread_mutex_t lock;
    struct storm_promise promise; /* guarded by lock, as is moving the clock */
};

struct writer {
    struct run *run;
    uint32_t number;
    struct thread thread;
};

/* --- endings --- */

static NORETURN void broken(const char *fmt, ...) PRINTF(1, 2);
static NORETURN void broken(const char *fmt, ...)
{
    va_list arguments;

    fputs("storm: BROKEN: ", stderr);
    va_start(arguments, fmt);
    vfprintf(stderr, fmt, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(NULL);
    _exit(STORM_BROKEN);
}

static void must(int result, const struct error *err)
{
    if (result < 0)
        broken("storm itself: %s", err->text);
}

/* An error of the store: a breach, unless the disk is failing on purpose. */
static void take_error(struct run *run, const char *doing, const struct error *err)
{
    if (err->code == ERR_OK || err->text[0] == '\0')
        broken("%s failed without saying why", doing);
    if (!run->config->is_tolerant)
        broken("%s: %s: %s", doing, error_code_name(err->code), err->text);
    if (atomic_fetch_add_explicit(&run->n_errors, 1, memory_order_relaxed) < 20)
        fprintf(stderr, "storm: %s: %s: %s\n", doing, error_code_name(err->code), err->text);
}

static bool is_over(const struct run *run)
{
    return atomic_load_explicit(&run->is_stopping, memory_order_relaxed);
}

static int64_t real_mono_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void pause_ns(int64_t ns)
{
    nanosleep(&(struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS }, NULL);
}

/* --- simulated time --- */

/* Lets time pass up to `time_ns`, unless it has. */
static void reach(struct run *run, int64_t time_ns)
{
    pthread_mutex_lock(&run->lock);
    if (clock_now_ns() < time_ns)
        clock_fake_advance(time_ns - clock_now_ns());
    pthread_mutex_unlock(&run->lock);
}

static uint32_t slowest(const struct run *run)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < run->config->threads; i++)
        least = MIN(least, atomic_load_explicit(&run->next[i], memory_order_relaxed));
    return least;
}

/* No writer may run away from the others: deletions concern the time before the slowest. */
static void wait_for_others(struct run *run, uint32_t counter)
{
    uint32_t most = (uint32_t)MAX(8, MAX_LAG_NS / run->promise.step_ns);

    while (!is_over(run) && counter > slowest(run) + most)
        pause_ns(1000000);
}

/* --- writing --- */

static int send(struct run *run, uint32_t thread, uint32_t counter, struct store_receipt *ret_receipt,
                struct error *err)
{
    struct store_write write = { .tenant = slice_from(storm_profile_tenant(thread)) };
    char upload_id[64];
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    must(storm_profile_build(thread, counter, &batch, err), err);
    write.batch = &batch;
    if (storm_profile_naming(thread, counter) == STORM_UPLOAD_ID) {
        snprintf(upload_id, sizeof(upload_id), "storm %u %u", thread, counter);
        write.upload_id = slice_from(upload_id);
    }
    reach(run, storm_profile_now(counter));
    result = store_write(run->store, &write, ret_receipt, err);
    batch_done(&batch);
    return result;
}

static void check_receipt(const struct run *run, const struct store_receipt *receipt, uint32_t thread, uint32_t counter,
                          bool is_resent, bool is_certain)
{
    uint32_t n = storm_profile_count(thread, counter);

    if (receipt->n_refused)
        broken("write %u/%u was refused: %s", thread, counter, receipt->refusal.text);
    if (receipt->n_written + receipt->n_duplicate != n)
        broken("write %u/%u has %u profiles; written %u, duplicate %u", thread, counter, n, receipt->n_written,
               receipt->n_duplicate);
    /* A day that was damaged may have been set aside, and its ids with it. */
    if (is_resent && receipt->n_written && !run->config->is_tolerant)
        broken("write %u/%u was acknowledged before, and %u of its %u profiles were not known", thread, counter,
               receipt->n_written, n);
    if (is_certain && receipt->n_duplicate)
        broken("write %u/%u was never sent before, and %u of its %u profiles were known", thread, counter,
               receipt->n_duplicate, n);
}

/* After a failed write: whether to try again. */
static bool is_worth_retrying(struct run *run, uint32_t attempt, const struct error *err)
{
    bool has_ballast = run->config->ballast && atomic_load_explicit(&run->has_ballast, memory_order_relaxed);
    struct error upkeep;

    if (err->code == ERR_INVALID || err->code == ERR_USAGE || err->code == ERR_OK)
        broken("a write failed with %s: %s", error_code_name(err->code), err->text);
    if (has_ballast && attempt >= FULL_ATTEMPTS && atomic_exchange(&run->has_ballast, false)) {
        fprintf(stderr, "storm: the disk is full (%s: %s); making room\n", error_code_name(err->code), err->text);
        if (unlink(run->config->ballast) < 0)
            broken("storm itself: the ballast cannot be removed");
    }
    if (run->config->ballast && !atomic_load_explicit(&run->has_ballast, memory_order_relaxed) &&
        attempt >= RESUME_ATTEMPTS)
        broken("there is room again, but writing does not go on: %s", err->text);
    if (!run->config->ballast && attempt >= MAX_ATTEMPTS)
        return false;
    if (run->config->threads == 1 && !run->config->has_background && store_maintain(run->store, &upkeep) < 0)
        take_error(run, "maintaining", &upkeep);
    pause_ns(RETRY_NS);
    clock_fake_advance(RETRY_NS);
    return true;
}

/* The write is over, acknowledged ('a') or given up ('f'). */
static void end_write(struct run *run, char how, uint32_t thread, uint32_t counter)
{
    struct error err;

    pthread_mutex_lock(&run->lock);
    storm_ledger_add(run->ledger, "%c %u %u\n", how, thread, counter);
    if (how == 'f')
        must(storm_promise_lose(&run->promise, thread, counter, &err), &err);
    run->promise.acknowledged[thread] = counter + 1;
    run->promise.begun[thread] = counter + 2;
    pthread_mutex_unlock(&run->lock);
    atomic_store_explicit(&run->next[thread], counter + 1, memory_order_relaxed);
}

/* One write, until it is acknowledged or given up. `is_unknown`: it may have been on its way when a process died. */
static bool write_one(struct run *run, uint32_t thread, uint32_t counter, bool is_resent, bool is_unknown)
{
    bool is_nameless = storm_profile_naming(thread, counter) == STORM_NAMELESS;
    struct store_receipt receipt;
    struct error err;

    if (is_nameless && is_resent)
        return true;
    if (is_nameless && is_unknown) {
        end_write(run, 'f', thread, counter);
        return true;
    }
    for (uint32_t attempt = 1; send(run, thread, counter, &receipt, &err) < 0; attempt++) {
        is_unknown = true;
        take_error(run, "writing", &err);
        if (is_nameless) {
            end_write(run, 'f', thread, counter);
            return true;
        }
        if (!is_worth_retrying(run, attempt, &err))
            return false;
        if (is_over(run))
            return true;
    }
    check_receipt(run, &receipt, thread, counter, is_resent, !is_resent && !is_unknown);
    if (!is_resent)
        end_write(run, 'a', thread, counter);
    return true;
}

static bool has_reached_end(const struct run *run, uint32_t counter, uint32_t first)
{
    const struct storm_config *config = run->config;

    return is_over(run) || (config->writes && counter - first >= config->writes) ||
           (config->duration_ns && real_mono_ns() >= run->end_mono_ns) ||
           (config->days &&
            storm_profile_now(counter) >= storm_profile_now(run->first_counter) + (int64_t)config->days * DAY_NS);
}

static void act(struct run *run);
static void watch_days(struct run *run, uint32_t counter);

static void write_crowd(struct run *run)
{
    struct error err;

    for (uint32_t i = 0; i < CROWD_WRITES && run->config->crowd.tenants && !is_over(run); i++)
        if (storm_crowd_write(run->store, &run->config->crowd,
                              atomic_fetch_add_explicit(&run->n_crowd, 1, memory_order_relaxed), &err) < 0)
            take_error(run, "writing for the crowd", &err);
}

/* A writer's life: the last acknowledged writes once more, then new ones. */
static void write_all(struct run *run, uint32_t thread)
{
    uint32_t first = atomic_load_explicit(&run->next[thread], memory_order_relaxed);
    bool is_alone = run->config->threads == 1 && run->config->readers == 0;
    bool is_going = true;

    for (uint32_t i = first - MIN(first, (uint32_t)run->config->resent); is_going && i < first; i++)
        is_going = write_one(run, thread, i, true, false);
    for (uint32_t counter = first; is_going && !has_reached_end(run, counter, first); counter++) {
        wait_for_others(run, counter);
        is_going = write_one(run, thread, counter, false, counter == first);
        write_crowd(run);
        if (is_going && is_alone && counter % ACTION_WRITES == 0)
            act(run);
        if (is_alone)
            watch_days(run, counter);
    }
    if (!is_going) {
        fprintf(stderr, "storm: writer %u gives up\n", thread);
        atomic_store_explicit(&run->has_given_up, true, memory_order_relaxed);
    }
}

static void write_in_thread(UNUSED struct thread *thread, void *context)
{
    struct writer *writer = context;

    write_all(writer->run, writer->number);
}

/* --- reading --- */

/* What was begun while a reader was busy is uncertain to it. */
static int loosen(struct run *run, struct storm_promise *promise, struct error *err)
{
    int result = 0;

    pthread_mutex_lock(&run->lock);
    memcpy(promise->begun, run->promise.begun, sizeof(promise->begun));
    for (size_t i = promise->deletes.n; result == 0 && i < run->promise.deletes.n; i++) {
        result = VEC_RESERVE(&promise->deletes, 1, STORM_MAX_RANGES, err);
        if (result == 0) {
            promise->deletes.items[promise->deletes.n] = run->promise.deletes.items[i];
            promise->deletes.items[promise->deletes.n++].is_done = false;
        }
    }
    pthread_mutex_unlock(&run->lock);
    return result;
}

/* Reads everything and compares it with what was promised before. */
static void read_and_compare(struct run *run)
{
    struct storm_damage damage = { .is_everywhere = run->config->is_tolerant };
    AUTO(storm_found_freep) struct storm_found *found = NULL;
    struct storm_promise promise;
    struct error err;

    pthread_mutex_lock(&run->lock);
    must(storm_promise_copy(&run->promise, &promise, &err), &err);
    pthread_mutex_unlock(&run->lock);
    if (storm_check_read(run->store, &damage, &found, &err) < 0) {
        take_error(run, "reading", &err);
    } else {
        must(loosen(run, &promise, &err), &err);
        if (storm_check_compare(found, &promise, &damage, &err) < 0)
            broken("while writing: %s", err.text);
    }
    storm_promise_done(&promise);
}

static void read_crowd(struct run *run)
{
    uint64_t n = atomic_load_explicit(&run->n_crowd, memory_order_relaxed);
    struct error err;

    if (n && storm_crowd_read(run->store, &run->config->crowd, n / 2, &err) < 0)
        take_error(run, "reading of the crowd", &err);
}

static void read_in_thread(struct thread *thread, void *context)
{
    struct run *run = context;

    while (!thread_is_stopping(thread)) {
        read_and_compare(run);
        read_crowd(run);
    }
}

/* --- everything else --- */

static uint64_t random_below(struct run *run, uint64_t n)
{
    run->random += 0x9e3779b97f4a7c15u;
    return hash_mix64(run->random) % n;
}

static void maintain(struct run *run)
{
    struct error err;

    if (store_maintain(run->store, &err) < 0)
        take_error(run, "maintaining", &err);
}

/* Notes the beginning of a deletion or pin and gives its number. */
static uint32_t begin_range(struct run *run, struct storm_ranges *ranges, char sort, const struct storm_range *range)
{
    struct error err;
    uint32_t number;

    pthread_mutex_lock(&run->lock);
    must(VEC_RESERVE(ranges, 1, STORM_MAX_RANGES, &err), &err);
    number = (uint32_t)ranges->n;
    ranges->items[ranges->n++] = *range;
    storm_ledger_add(run->ledger, "%c %u %s %u %" PRId64 " %" PRId64 "\n", sort, number,
                     storm_profile_tenant(range->is_other_tenant), range->shard, range->from_ns, range->until_ns);
    pthread_mutex_unlock(&run->lock);
    return number;
}

static void end_range(struct run *run, struct storm_ranges *ranges, char sort, uint32_t number)
{
    pthread_mutex_lock(&run->lock);
    ranges->items[number].is_done = true;
    storm_ledger_add(run->ledger, "%c %u\n", sort, number);
    pthread_mutex_unlock(&run->lock);
}

static struct selector *shard_selector(uint32_t shard, char text[static 32])
{
    struct selector *selector = NULL;
    struct error err;

    snprintf(text, 32, "{" STORM_SHARD_LABEL "=\"s%u\"}", shard);
    must(selector_new(slice_from(text), &selector, &err), &err);
    return selector;
}

/* A stretch that no writer adds to any more, `age_ns` before the end of such time. */
static struct storm_range old_range(struct run *run, uint32_t shard, int64_t age_ns, int64_t length_ns)
{
    int64_t until_ns = storm_profile_now(slowest(run)) - STORM_MAX_LATE_NS - age_ns;

    return (struct storm_range){ .is_other_tenant = run->config->threads > 1 && random_below(run, 2),
                                 .shard = shard,
                                 .from_ns = until_ns - length_ns,
                                 .until_ns = until_ns };
}

static void delete_some(struct run *run)
{
    struct storm_range range =
        old_range(run, (uint32_t)random_below(run, STORM_DELETE_SHARDS), (int64_t)random_below(run, 2 * HOUR_NS),
                  (int64_t)random_below(run, 3 * HOUR_NS) + HOUR_NS / 6);
    uint32_t number = begin_range(run, &run->promise.deletes, 'd', &range), n_days;
    char text[32];
    AUTO(selector_freep) struct selector *selector = shard_selector(range.shard, text);
    struct store_query query = { .tenant = slice_from(storm_profile_tenant(range.is_other_tenant)),
                                 .selector = selector,
                                 .from_ns = range.from_ns,
                                 .until_ns = range.until_ns };
    struct error err;

    if (store_delete(run->store, &query, &n_days, &err) < 0)
        take_error(run, "deleting", &err);
    else
        end_range(run, &run->promise.deletes, 'D', number);
}

static void keep_some(struct run *run)
{
    struct storm_range range =
        old_range(run, STORM_DELETE_SHARDS + (uint32_t)random_below(run, STORM_KEEP_SHARDS), 0, HOUR_NS);
    uint32_t number = begin_range(run, &run->promise.keeps, 'k', &range);
    char text[32], name[32];
    struct store_keep keep = { .tenant = slice_from(storm_profile_tenant(range.is_other_tenant)),
                               .from_ns = range.from_ns,
                               .until_ns = range.until_ns,
                               .made_ns = clock_now_ns() };
    struct error err;

    snprintf(text, sizeof(text), "{" STORM_SHARD_LABEL "=\"s%u\"}", range.shard);
    snprintf(name, sizeof(name), "storm-%u", number);
    keep.selector = slice_from(text);
    keep.name = slice_from(name);
    if (store_keep(run->store, &keep, &err) < 0)
        take_error(run, "keeping", &err);
    else
        end_range(run, &run->promise.keeps, 'K', number);
}

static const char *backup_path(const struct run *run, uint32_t number, char path[static 4096])
{
    snprintf(path, 4096, "%s/%06u", run->config->backups, number);
    return path;
}

/* Makes a backup; of all there are, the two newest stay. */
static void back_up(struct run *run)
{
    char path[4096];
    struct store_backup backup = { .path = path };
    struct error err;
    uint32_t number;

    if (!run->config->backups)
        return;
    pthread_mutex_lock(&run->lock);
    number = ++run->promise.n_backups;
    storm_ledger_add(run->ledger, "b %u\n", number);
    pthread_mutex_unlock(&run->lock);
    backup_path(run, number, path);
    if (store_backup(run->store, &backup, &err) < 0) {
        take_error(run, "backing up", &err);
        return;
    }
    storm_ledger_add(run->ledger, "B %u\n", number);
    if (number > 2 && fs_remove_tree(backup_path(run, number - 2, path), &err) < 0)
        take_error(run, "removing a backup", &err);
}

static void tell_finding(UNUSED void *context, const char *line)
{
    fprintf(stderr, "storm: verify: %s\n", line);
}

static void verify(struct run *run)
{
    struct store_verify verify = { .tell = tell_finding };
    struct error err;

    if (store_verify(run->store, &verify, &err) < 0)
        take_error(run, "verifying", &err);
    else if (!run->config->is_tolerant && (verify.n_bad_values || verify.n_bad_days))
        broken("verify found %" PRIu64 " bad values and %" PRIu64 " bad days", verify.n_bad_values, verify.n_bad_days);
}

static void look_at_stats(struct run *run)
{
    struct store_stats *stats;
    struct error err;

    stats = MEMORY_NEW(struct store_stats, &err);
    if (!stats)
        broken("storm itself: %s", err.text);
    if (store_stats(run->store, NULL, stats, &err) < 0)
        take_error(run, "statistics", &err);
    memory_free(stats);
}

static void compact(struct run *run)
{
    struct error err;

    if (store_compact(run->store, &err) < 0)
        take_error(run, "compacting", &err);
}

static void act(struct run *run)
{
    if (run->config->has_only_writes)
        return;
    if (run->config->has_only_upkeep) {
        maintain(run);
        return;
    }
    switch (random_below(run, 32)) {
    case 0:
    case 1:
    case 2: delete_some(run); break;
    case 3:
    case 4:
        if (run->config->has_pins)
            keep_some(run);
        break;
    case 5:
    case 6:
    case 7: back_up(run); break;
    case 8: verify(run); break;
    case 9: look_at_stats(run); break;
    case 10: compact(run); break;
    case 11: read_and_compare(run); break;
    default: maintain(run); break;
    }
}

/* --- how much it takes --- */

/* A number of /proc/self/status, in kB. */
static long status_kb(const char *name)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    long kb = 0;

    while (file && kb == 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            kb = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* With --days: what the store takes at the end of each simulated day. */
static void watch_days(struct run *run, uint32_t counter)
{
    int64_t before = storm_profile_now(counter) / DAY_NS, after = storm_profile_now(counter + 1) / DAY_NS;
    struct store_stats *stats;
    struct error err;

    if (run->config->days == 0 || before == after)
        return;
    maintain(run);
    stats = MEMORY_NEW(struct store_stats, &err);
    if (!stats || store_stats(run->store, NULL, stats, &err) < 0)
        broken("statistics: %s", err.text);
    printf("day %" PRId64 " disk_kb %" PRIu64 " rss_kb %ld days %u\n",
           after - storm_profile_now(run->first_counter) / DAY_NS, stats->disk_bytes / 1024, status_kb("VmRSS"),
           stats->n_days);
    fflush(stdout);
    memory_free(stats);
}

/* --- starting and ending --- */

struct store_options storm_run_options(const struct storm_config *config, int64_t retention_ns)
{
    static struct store_tenant_limits limits = { .tenant = STORM_TENANT_OTHER };

    limits.retention_ns = storm_ledger_retention(retention_ns, 1);
    return (struct store_options){ .data_dir = config->data_dir,
                                   .has_background = config->has_background,
                                   .wal_sync = config->wal_sync,
                                   .memory_limit_bytes = config->memory_limit_bytes,
                                   .retention_ns = retention_ns,
                                   .retention_bytes = UINT64_MAX, /* nothing is given up for room */
                                   .tenants = &limits,
                                   .n_tenants = 1,
                                   .min_free_bytes = config->min_free_bytes,
                                   .close_cpu_share = 1 };
}

/* Goes on where the ledger ends, or begins one. */
static void set_up(struct run *run)
{
    const struct storm_config *config = run->config;
    struct error err;
    uint32_t most = 0;

    must(storm_ledger_read(config->ledger_path, 0, &run->promise, &err), &err);
    must(storm_ledger_open(config->ledger_path, &run->ledger, &err), &err);
    if (run->promise.step_ns == 0) {
        run->promise.step_ns = config->step_ns;
        run->promise.retention_ns = config->retention_ns;
        run->promise.weight = (uint32_t)config->weight;
        storm_ledger_add(run->ledger, "s %" PRId64 " %u %" PRId64 "\n", config->step_ns, run->promise.weight,
                         config->retention_ns);
        storm_profile_set_up(config->step_ns, run->promise.weight);
    }
    for (uint32_t i = 0; i < STORM_MAX_THREADS; i++) {
        run->next[i] = run->promise.acknowledged[i];
        run->promise.begun[i] = run->promise.acknowledged[i] + 1;
        most = MAX(most, run->promise.acknowledged[i]);
    }
    run->first_counter = most;
    clock_fake_set(storm_profile_now(most));
}

static void run_threads(struct run *run)
{
    static struct writer writers[STORM_MAX_THREADS];
    static struct thread readers[STORM_MAX_THREADS];
    const struct storm_config *config = run->config;
    struct error err;

    for (uint32_t i = 0; i < config->threads; i++) {
        writers[i] = (struct writer){ .run = run, .number = i };
        must(thread_start(&writers[i].thread, "storm-writer", write_in_thread, &writers[i], &err), &err);
    }
    for (uint32_t i = 0; i < config->readers; i++)
        must(thread_start(&readers[i], "storm-reader", read_in_thread, run, &err), &err);
    while (!has_reached_end(run, run->first_counter, run->first_counter) &&
           !atomic_load_explicit(&run->has_given_up, memory_order_relaxed)) {
        if (config->writes && slowest(run) >= run->first_counter + config->writes)
            break;
        act(run);
        pause_ns(ACTION_NS);
    }
    atomic_store_explicit(&run->is_stopping, true, memory_order_relaxed);
    for (uint32_t i = 0; i < config->threads; i++)
        thread_stop(&writers[i].thread);
    for (uint32_t i = 0; i < config->readers; i++)
        thread_stop(&readers[i]);
}

enum storm_status storm_run(const struct storm_config *config)
{
    struct run run = { .config = config, .random = config->seed, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct store_options options;
    struct error err;
    uint64_t n = 0;

    run.has_ballast = config->ballast != NULL;
    set_up(&run);
    options = storm_run_options(config, run.promise.retention_ns);
    if (store_open(&options, &run.store, &err) < 0) {
        fprintf(stderr, "storm: opening: %s: %s\n", error_code_name(err.code), err.text);
        return config->is_tolerant ? STORM_STOPPED : STORM_BROKEN;
    }
    run.end_mono_ns = real_mono_ns() + config->duration_ns;
    if (config->threads == 1 && config->readers == 0)
        write_all(&run, 0);
    else
        run_threads(&run);
    for (uint32_t i = 0; i < STORM_MAX_THREADS; i++)
        n += run.promise.acknowledged[i];
    store_close(run.store);
    if (config->ballast && run.has_ballast)
        broken("the disk never was full");
    printf("writes %" PRIu64 " crowd %" PRIu64 " errors %" PRIu64 " peak_kb %ld\n", n, (uint64_t)run.n_crowd,
           (uint64_t)run.n_errors, status_kb("VmHWM"));
    close(run.ledger);
    storm_promise_done(&run.promise);
    return run.has_given_up ? STORM_STOPPED : STORM_FINE;
}
