// SPDX-License-Identifier: Apache-2.0
/* Measuring, for the programs in bench/. Each result is one line of JSON on standard output:
 *
 *     {"what":"pprof decode","n":1000,"runs":5,"cpu_s":0.41,"wall_s":0.42,"ns_per_op":410000,
 *      "allocated_bytes_per_op":512,"max_rss_kb":4096}
 *
 * cpu_s is CPU time of the whole process, ns_per_op is CPU time too, allocated bytes are what this thread asked for,
 * and max_rss_kb is the largest resident size of the process so far: one program for each thing whose memory matters.
 */
#pragma once

#include "base/buffer.h"

#define BENCH_RUNS     5 /* the median of these is reported */
#define BENCH_MAX_RUNS 101

struct bench_result {
    const char *what;
    uint64_t n; /* operations in a run */
    int runs;
    int64_t cpu_ns; /* of the median run, like the two below */
    int64_t wall_ns;
    uint64_t allocated_bytes;
    int64_t max_rss_kb;
};

/* One run, measured by hand: begin, `n` operations, end. */
struct bench {
    const char *what;
    int64_t start_cpu_ns;
    int64_t start_mono_ns;
    uint64_t start_allocated_bytes;
};
void bench_begin(struct bench *bench, const char *what);
struct bench_result bench_end(const struct bench *bench, uint64_t n);

/* Calls `run(context)`, which does `n` operations, once to warm up and then `runs` times (1 to BENCH_MAX_RUNS); the
 * result is the run with the median CPU time. Fails as soon as a run does. */
MUST_CHECK int bench_repeat(const char *what, uint64_t n, int runs, int (*run)(void *context, struct error *err),
                            void *context, struct bench_result *ret_result, struct error *err);

/* The line, with its end; bench_print puts it on standard output. */
void bench_encode(const struct bench_result *result, struct buffer *buffer);
MUST_CHECK int bench_print(const struct bench_result *result, struct error *err);
