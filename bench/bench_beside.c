// SPDX-License-Identifier: Apache-2.0
/* Asking beside writing: whether questions hold up those who write, and the other way round.
 *
 *     stream -gzip 20 10 300 | beside [-askers N] [-rate N] [-memory MIB] DIR
 *
 * Writes a stream (bench_stream.c), N profiles a second (0 = as fast as it goes), while askers ask for flame trees and
 * time series one after the other. Prints the median, the 99th percentile and the longest time of writes and of each
 * question, and how many rows of those acknowledged are there in the end, in memory of the process and once it is
 * opened again. Nothing may be refused: a write or question that fails ends the program. */
#include "base/thread.h"
#include "fleet.h"
#include "query/timeseries.h"

#include <stdatomic.h>

#define PROGRAM     "beside"
#define MAX_TIMES   1000000u
#define N_QUESTIONS 3u
#define N_BEFORE    200u /* profiles, before the first question */

struct times {
    double *ms;
    uint32_t n;
};

struct bench {
    struct store *store;
    struct engine *engine;
    int64_t from_ns, until_ns;
    atomic_bool has_begun;
};

struct asker {
    struct bench *bench;
    struct times times[N_QUESTIONS];
};

static void times_add(struct times *times, int64_t begun_ns)
{
    struct error err;

    if (!times->ms) {
        times->ms = memory_alloc(MAX_TIMES * sizeof(*times->ms), &err);
        if (!times->ms)
            measure_die(PROGRAM, err.text);
    }
    if (times->n < MAX_TIMES)
        times->ms[times->n++] = (double)(measure_real_ns() - begun_ns) / 1e6;
}

static void times_print(const char *name, struct times *times)
{
    if (!times->n)
        return;
    qsort(times->ms, times->n, sizeof(*times->ms), measure_by_value);
    printf("%s n %u p50_ms %.2f p99_ms %.2f max_ms %.2f\n", name, times->n, times->ms[times->n / 2],
           times->ms[(uint64_t)times->n * 99 / 100], times->ms[times->n - 1]);
    memory_free(times->ms);
}

static struct query make_query(const struct bench *bench)
{
    return (struct query){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = bench->from_ns,
                           .until_ns = bench->until_ns };
}

static void ask_flame(const struct bench *bench, const char *text)
{
    struct query query = make_query(bench);
    struct query_facts facts = { 0 };
    struct selector *selector;
    struct flame *flame;
    struct error err;

    if (selector_new(slice_from(text), &selector, &err) < 0)
        measure_die(PROGRAM, err.text);
    query.selector = selector;
    if (engine_flame(bench->engine, &query, 8192, &flame, &facts, &err) < 0)
        measure_die(PROGRAM, err.text);
    flame_free(flame);
    selector_free(selector);
}

static void ask_over_time(const struct bench *bench)
{
    struct query query = make_query(bench);
    struct slice by = SLICE("service_name");
    struct timeseries_options options = {
        .kind = TIMESERIES_CORES, .step_ns = 60 * CLOCK_NS_PER_SECOND, .by = &by, .n_by = 1
    };
    struct query_facts facts = { 0 };
    struct timeseries *series;
    struct error err;

    if (timeseries_new(bench->engine, &query, &options, &series, &facts, &err) < 0)
        measure_die(PROGRAM, err.text);
    timeseries_free(series);
}

static void ask_all_the_time(struct thread *thread, void *context)
{
    struct asker *asker = context;

    while (!atomic_load(&asker->bench->has_begun) && thread_sleep(thread, CLOCK_NS_PER_SECOND / 100))
        ;
    for (uint32_t i = 0; !thread_is_stopping(thread); i++) {
        uint32_t question = i % 8 == 7 ? 2 : i % 2;
        int64_t begun_ns = measure_real_ns();
        char text[64];

        snprintf(text, sizeof(text), "{service_name=\"service-%02u\"}", i % 20);
        switch (question) {
        case 0: ask_flame(asker->bench, text); break;
        case 1: ask_over_time(asker->bench); break;
        default: ask_flame(asker->bench, "{}"); break;
        }
        times_add(&asker->times[question], begun_ns);
    }
}

/* Writes all, and counts the rows. */
static uint64_t write_all(struct bench *bench, uint32_t per_second, struct times *times)
{
    struct store_receipt receipt;
    struct fleet fleet;
    int64_t begun_ns = measure_real_ns();
    uint64_t n_rows = 0;

    fleet_open(&fleet, PROGRAM);
    for (uint64_t i = 0; fleet_next(&fleet); i++) {
        int64_t due_ns = per_second ? begun_ns + (int64_t)(i * (uint64_t)CLOCK_NS_PER_SECOND / per_second) : 0;
        int64_t wait_ns = due_ns - measure_real_ns();

        if (wait_ns > 0)
            nanosleep(&(struct timespec){ wait_ns / CLOCK_NS_PER_SECOND, wait_ns % CLOCK_NS_PER_SECOND }, NULL);
        clock_fake_set(fleet.start_ns);
        wait_ns = measure_real_ns();
        fleet_write(&fleet, bench->store, fleet.start_ns, &receipt);
        times_add(times, wait_ns);
        if (receipt.n_refused)
            measure_die(PROGRAM, receipt.refusal.text);
        n_rows += receipt.n_series;
        if (i == N_BEFORE)
            atomic_store(&bench->has_begun, true);
    }
    fleet_close(&fleet);
    printf("profiles_per_second %.0f\n", (double)times->n / ((double)(measure_real_ns() - begun_ns) / 1e9));
    return n_rows;
}

static int count_rows(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err)
{
    *(uint64_t *)context += windows->n_rows;
    return 0;
}

static uint64_t rows_there(struct store *store)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct store_reads reads = { 0 };
    uint64_t n = 0;
    struct error err;

    if (store_windows(store, &query, &(struct store_window_sink){ .context = &n, .windows = count_rows }, &reads,
                      &err) < 0)
        measure_die(PROGRAM, err.text);
    return n;
}

static void run(const struct store_options *options, struct bench *bench, uint32_t n_askers, uint32_t per_second)
{
    static const char *const names[N_QUESTIONS] = { "one_service", "over_time", "all_services" };
    static struct asker askers[64];
    static struct thread threads[ARRAY_LEN(askers)];
    struct times writes = { 0 };
    uint64_t n_before = rows_there(bench->store), n_written;
    struct error err;

    for (uint32_t i = 0; i < n_askers; i++) {
        askers[i].bench = bench;
        if (thread_start(&threads[i], "asker", ask_all_the_time, &askers[i], &err) < 0)
            measure_die(PROGRAM, err.text);
    }
    n_written = write_all(bench, per_second, &writes);
    for (uint32_t i = 0; i < n_askers; i++)
        thread_stop(&threads[i]);
    times_print("writes", &writes);
    for (uint32_t question = 0; question < N_QUESTIONS; question++) {
        struct times *all = &askers[0].times[question];

        for (uint32_t i = 1; i < n_askers; i++) {
            struct times *times = &askers[i].times[question];

            for (uint32_t k = 0; k < times->n && all->ms && all->n < MAX_TIMES; k++)
                all->ms[all->n++] = times->ms[k];
            memory_free(times->ms);
        }
        times_print(names[question], all);
    }
    printf("rows_acknowledged %llu\nrows_there %llu\n", (unsigned long long)n_written,
           (unsigned long long)(rows_there(bench->store) - n_before));
    engine_free(bench->engine);
    store_close(bench->store);
    if (store_open(options, &bench->store, &err) < 0)
        measure_die(PROGRAM, err.text);
    printf("rows_there_again %llu\nhwm_mb %.1f\n", (unsigned long long)(rows_there(bench->store) - n_before),
           measure_status_mb("VmHWM"));
    store_close(bench->store);
}

int main(int argc, char **argv)
{
    const int64_t year_ns = 366 * 86400 * CLOCK_NS_PER_SECOND;
    struct store_options options = { .retention_ns = 100 * year_ns,
                                     .max_ahead_ns = 100 * year_ns,
                                     .wal_sync = STORE_SYNC_EACH_SECOND,
                                     .has_background = true };
    struct engine_options engine_options = { .cache_bytes = (size_t)256 << 20 };
    struct bench bench = { .from_ns = MEASURE_EPOCH_NS, .until_ns = MEASURE_EPOCH_NS + 3600 * CLOCK_NS_PER_SECOND };
    uint32_t n_askers = 4, per_second = 0;
    struct error err;

    memory_use_few_pools();
    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (strcmp(argv[1], "-askers") == 0)
            n_askers = (uint32_t)MIN(atoi(argv[2]), 64);
        else if (strcmp(argv[1], "-rate") == 0)
            per_second = (uint32_t)atoi(argv[2]);
        else if (strcmp(argv[1], "-memory") == 0)
            options.memory_limit_bytes = (uint64_t)atoi(argv[2]) << 20;
        else
            argc = 0;
    }
    if (argc != 2)
        measure_die(PROGRAM, "usage: beside [-askers N] [-rate N] [-memory MIB] DIR");
    options.data_dir = argv[1];
    if (store_open(&options, &bench.store, &err) < 0)
        measure_die(PROGRAM, err.text);
    engine_options.store = bench.store;
    if (engine_new(&engine_options, &bench.engine, &err) < 0)
        measure_die(PROGRAM, err.text);
    run(&options, &bench, n_askers, per_second);
    return 0;
}
