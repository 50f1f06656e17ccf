// SPDX-License-Identifier: Apache-2.0
#include "base/bench.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <sys/resource.h>

static int64_t max_rss_kb(void)
{
    struct rusage usage;

    ASSERT(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss;
}

void bench_begin(struct bench *bench, const char *what)
{
    bench->what = what;
    bench->start_allocated_bytes = memory_allocated_bytes();
    bench->start_mono_ns = clock_mono_ns();
    bench->start_cpu_ns = clock_cpu_ns();
}

struct bench_result bench_end(const struct bench *bench, uint64_t n)
{
    int64_t cpu_ns = clock_cpu_ns() - bench->start_cpu_ns;

    return (struct bench_result){
        .what = bench->what,
        .n = n,
        .runs = 1,
        .cpu_ns = cpu_ns,
        .wall_ns = clock_mono_ns() - bench->start_mono_ns,
        .allocated_bytes = memory_allocated_bytes() - bench->start_allocated_bytes,
        .max_rss_kb = max_rss_kb(),
    };
}

static int compare_cpu(const void *a, const void *b)
{
    int64_t x = ((const struct bench_result *)a)->cpu_ns, y = ((const struct bench_result *)b)->cpu_ns;

    return (x > y) - (x < y);
}

int bench_repeat(const char *what, uint64_t n, int runs, int (*run)(void *context, struct error *err), void *context,
                 struct bench_result *ret_result, struct error *err)
{
    struct bench_result results[BENCH_MAX_RUNS];

    ASSERT(runs >= 1 && runs <= BENCH_MAX_RUNS);
    if (run(context, err) < 0) /* warms caches, allocator and branch predictors */
        return error_wrap(err, "warming up '%s'", what);
    for (int i = 0; i < runs; i++) {
        struct bench bench;

        bench_begin(&bench, what);
        if (run(context, err) < 0)
            return error_wrap(err, "run %d of '%s'", i + 1, what);
        results[i] = bench_end(&bench, n);
    }
    qsort(results, (size_t)runs, sizeof(results[0]), compare_cpu);
    *ret_result = results[runs / 2];
    ret_result->runs = runs;
    ret_result->max_rss_kb = max_rss_kb();
    return 0;
}

static double per_operation(double amount, uint64_t n)
{
    return n ? amount / (double)n : 0;
}

void bench_encode(const struct bench_result *result, struct buffer *buffer)
{
    struct json json;

    json_init(&json, buffer, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "what");
    json_text(&json, result->what);
    json_key(&json, "n");
    json_uint(&json, result->n);
    json_key(&json, "runs");
    json_int(&json, result->runs);
    json_key(&json, "cpu_s");
    json_double(&json, (double)result->cpu_ns / (double)CLOCK_NS_PER_SECOND);
    json_key(&json, "wall_s");
    json_double(&json, (double)result->wall_ns / (double)CLOCK_NS_PER_SECOND);
    json_key(&json, "ns_per_op");
    json_double(&json, per_operation((double)result->cpu_ns, result->n));
    json_key(&json, "allocated_bytes_per_op");
    json_double(&json, per_operation((double)result->allocated_bytes, result->n));
    json_key(&json, "max_rss_kb");
    json_int(&json, result->max_rss_kb);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(buffer, '\n');
}

int bench_print(const struct bench_result *result, struct error *err)
{
    AUTO(buffer_done) struct buffer line;

    buffer_init(&line, 0);
    bench_encode(result, &line);
    if (buffer_check(&line, err) < 0)
        return -1;
    return fs_write_file("-", buffer_slice(&line), err);
}
