// SPDX-License-Identifier: Apache-2.0
/* The store under load: what it costs to keep profiles, in CPU, disk and memory.
 *
 *     stream -gzip 20 10 600 | store [-memory MIB] [-sync always|1s|off] [-day N] [-hours N] [-warm N] [-spans N]
 *                                    [-close yes|no] DIR
 *
 * Reads a stream (bench_stream.c) to its end, writes each profile, closes the hours, and prints what it took, one
 * "name value" per line. CPU is that of the writing thread for the foreground, and of the whole process for all. With
 * -day the profiles are moved N days ahead, so that several days can be filled; with -hours each is written N times, an
 * hour apart, so that an hour of profiles fills a day. With -warm the costs of writing are those after the first N
 * profiles: without what the first write to a day loads. With -spans every second sample has a link, to one of N spans
 * that each profile has for itself; three of them are a trace. With -close no the hours stay open. */
#include "base/clock.h"
#include "base/hash.h"
#include "fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what)
{
    measure_die("store", what);
}

static unsigned long long written_bytes(void)
{
    char line[256];
    unsigned long long value = 0;
    FILE *file = fopen("/proc/self/io", "re");

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "wchar:", 6) == 0)
            value = strtoull(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

struct counts {
    uint64_t n, n_samples;
    int64_t unpack_ns, decode_ns, write_ns, write_wall_ns;
};

/* How the profiles of a stream are written. */
struct plan {
    int64_t shift_ns;
    int n_hours;
    uint64_t n_warm;
    uint32_t n_spans;
};

/* Gives profile `number` its spans. */
static void add_spans(struct batch *batch, uint64_t number, uint32_t n_spans)
{
    struct profile *profile = &batch->profiles[0];
    struct tables *tables = &batch->tables;
    struct error err;

    if (!n_spans)
        return;
    tables->links = ARENA_ARRAY(&batch->arena, struct link, n_spans + 1, &err);
    profile->links = tables->links ? ARENA_ARRAY(&batch->arena, uint32_t, profile->n_samples, &err) : NULL;
    if (!profile->links)
        die(err.text);
    tables->links[0] = (struct link){ 0 };
    tables->n_links = n_spans + 1;
    for (uint32_t i = 0; i < n_spans; i++) {
        uint64_t span = number * n_spans + i + 1, trace = span / 3;

        bytes_put_be64(tables->links[i + 1].span_id, hash_mix64(span));
        bytes_put_be64(tables->links[i + 1].trace_id, hash_mix64(trace + 1));
        bytes_put_be64(tables->links[i + 1].trace_id + 8, hash_mix64(~trace));
    }
    for (uint32_t i = 0; i < profile->n_samples; i++)
        profile->links[i] = i % 2 ? 1 + (uint32_t)((uint64_t)i * n_spans / profile->n_samples) : 0;
}

static void take_stream(struct store *store, const struct plan *plan, struct counts *warm, struct counts *counts)
{
    struct store_receipt receipt;
    struct fleet fleet;

    fleet_open(&fleet, "store");
    while (fleet_next(&fleet)) {
        int64_t start_ns = fleet.start_ns + plan->shift_ns, cpu_ns, wall_ns;

        clock_fake_set(start_ns);
        add_spans(&fleet.batch, counts->n, plan->n_spans);
        cpu_ns = measure_thread_cpu_ns();
        wall_ns = measure_real_ns();
        for (int hour = 0; hour < plan->n_hours; hour++) {
            fleet_write(&fleet, store, start_ns + hour * 3600 * CLOCK_NS_PER_SECOND, &receipt);
            counts->n += receipt.n_written;
            counts->n_samples += receipt.n_samples;
        }
        counts->write_ns += measure_thread_cpu_ns() - cpu_ns;
        counts->write_wall_ns += measure_real_ns() - wall_ns;
        counts->unpack_ns = fleet.unpack_ns;
        counts->decode_ns = fleet.decode_ns;
        if (counts->n == plan->n_warm)
            *warm = *counts;
    }
    fleet_close(&fleet);
}

static double per(double value, uint64_t n)
{
    return n ? value / (double)n : 0;
}

/* What writing took after the warm-up. */
static void print_costs(const struct counts *all, const struct counts *warm)
{
    uint64_t n = all->n - warm->n;
    double unpack_us = per((double)(all->unpack_ns - warm->unpack_ns) / 1e3, n);
    double decode_us = per((double)(all->decode_ns - warm->decode_ns) / 1e3, n);
    double write_us = per((double)(all->write_ns - warm->write_ns) / 1e3, n);
    double seconds = (double)(all->write_wall_ns - warm->write_wall_ns) / 1e9;

    printf("profiles %llu\nsamples %llu\n", (unsigned long long)all->n, (unsigned long long)all->n_samples);
    printf("unpack_us %.1f\ndecode_us %.1f\nwrite_us %.1f\n", unpack_us, decode_us, write_us);
    printf("foreground_us %.1f\n", unpack_us + decode_us + write_us);
    printf("foreground_per_unpack %.2f\n", (unpack_us + decode_us + write_us) / unpack_us);
    printf("write_profiles_per_second %.0f\n", (double)n / seconds);
    printf("write_samples_per_second %.0f\n", (double)(all->n_samples - warm->n_samples) / seconds);
}

static void print_stats(struct store *store, const char *when, const struct counts *counts)
{
    static struct store_stats stats;
    struct error err;

    if (store_stats(store, NULL, &stats, &err) < 0)
        die(err.text);
    printf("%s_disk_bytes_per_sample %.3f\n", when, per((double)stats.disk_bytes, counts->n_samples));
    printf("%s_index_bytes_per_sample %.3f\n", when, per((double)stats.index_bytes, counts->n_samples));
    printf("%s_block_bytes_per_sample %.3f\n", when, per((double)stats.block_bytes, counts->n_samples));
    printf("%s_head_bytes_per_sample %.3f\n", when, per((double)stats.head_bytes, counts->n_samples));
    printf("%s_wal_bytes_per_sample %.3f\n", when, per((double)stats.wal_bytes, counts->n_samples));
    printf("%s_samples_value_bytes_per_sample %.3f\n", when, per((double)stats.samples.bytes, counts->n_samples));
    printf("%s_sums_value_bytes_per_sample %.3f\n", when, per((double)stats.sums.bytes, counts->n_samples));
    printf("%s_slot_value_bytes_per_sample %.3f\n", when, per((double)stats.slot_rollups.bytes, counts->n_samples));
    printf("%s_hour_value_bytes_per_sample %.3f\n", when, per((double)stats.hour_rollups.bytes, counts->n_samples));
}

static void close_hours(struct store *store, int n_hours, const struct counts *counts)
{
    int64_t begun_cpu_ns = clock_cpu_ns(), begun_mono_ns = measure_real_ns();
    struct error err;

    clock_fake_advance((3 + n_hours) * 3600 * CLOCK_NS_PER_SECOND);
    if (store_maintain(store, &err) < 0)
        die(err.text);
    printf("close_cpu_us %.1f\nclose_seconds %.2f\n", per((double)(clock_cpu_ns() - begun_cpu_ns) / 1e3, counts->n),
           (double)(measure_real_ns() - begun_mono_ns) / 1e9);
    print_stats(store, "closed", counts);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = { "always", "1s", "off" };
    static const char usage[] = "usage: store [-memory MIB] [-sync always|1s|off] [-day N] [-hours N] [-warm N] "
                                "[-spans N] [-close yes|no] DIR";
    const int64_t year_ns = 366 * 86400 * CLOCK_NS_PER_SECOND;
    struct store_options options = { .retention_ns = 100 * year_ns,
                                     .max_ahead_ns = 100 * year_ns,
                                     .wal_sync = STORE_SYNC_EACH_SECOND,
                                     .has_background = true,
                                     .close_delay_ns = 7200 * CLOCK_NS_PER_SECOND, /* not before we say so */
                                     .close_cpu_share = 1 };
    struct counts counts = { 0 }, warm = { 0 };
    struct plan plan = { .n_hours = 1 };
    struct store *store;
    struct error err;
    int64_t begun_mono_ns;
    unsigned long long begun_written;
    bool is_closing = true;

    memory_use_few_pools();
    for (; argc > 1 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (argc < 3)
            die("an option lacks its value");
        if (strcmp(argv[1], "-memory") == 0)
            options.memory_limit_bytes = (uint64_t)atoi(argv[2]) << 20;
        else if (strcmp(argv[1], "-day") == 0)
            plan.shift_ns = atoi(argv[2]) * (int64_t)86400 * CLOCK_NS_PER_SECOND;
        else if (strcmp(argv[1], "-hours") == 0)
            plan.n_hours = atoi(argv[2]);
        else if (strcmp(argv[1], "-warm") == 0)
            plan.n_warm = (uint64_t)atoi(argv[2]);
        else if (strcmp(argv[1], "-spans") == 0)
            plan.n_spans = (uint32_t)atoi(argv[2]);
        else if (strcmp(argv[1], "-sync") == 0)
            for (unsigned i = 0; i < 3; i++)
                options.wal_sync = strcmp(argv[2], modes[i]) == 0 ? (enum store_wal_sync)i : options.wal_sync;
        else if (strcmp(argv[1], "-close") == 0)
            is_closing = strcmp(argv[2], "no") != 0;
        else
            die(usage);
    }
    if (argc != 2)
        die(usage);
    options.data_dir = argv[1];
    begun_mono_ns = measure_real_ns();
    if (store_open(&options, &store, &err) < 0)
        die(err.text);
    printf("open_ms %.1f\n", (double)(measure_real_ns() - begun_mono_ns) / 1e6);
    begun_written = written_bytes();
    take_stream(store, &plan, &warm, &counts);
    print_costs(&counts, &warm);
    printf("ingest_cpu_us %.1f\n", per((double)clock_cpu_ns() / 1e3, counts.n)); /* with threads, before statistics */
    printf("hwm_before_close_mb %.1f\n", measure_status_mb("VmHWM"));
    print_stats(store, "open", &counts);
    if (is_closing)
        close_hours(store, plan.n_hours, &counts);
    printf("written_bytes_per_sample %.3f\n", per((double)(written_bytes() - begun_written), counts.n_samples));
    printf("process_cpu_us %.1f\n", per((double)clock_cpu_ns() / 1e3, counts.n));
    printf("hwm_mb %.1f\n", measure_status_mb("VmHWM"));
    store_close(store);
    return 0;
}
