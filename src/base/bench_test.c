// SPDX-License-Identifier: Apache-2.0
#include "base/bench.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/test.h"

#include <fcntl.h>
#include <unistd.h>

TEST(bench_line_is_one_json_object)
{
    AUTO(buffer_done) struct buffer line;
    struct bench_result result = {
        .what = "pprof \"decode\"",
        .n = 1000,
        .runs = 5,
        .cpu_ns = 410000000,
        .wall_ns = 500000000,
        .allocated_bytes = 512000,
        .max_rss_kb = 4096,
    };

    buffer_init(&line, 0);
    bench_encode(&result, &line);
    CHECK_TEXT(buffer_slice(&line), "{\"what\":\"pprof \\\"decode\\\"\",\"n\":1000,\"runs\":5,\"cpu_s\":0.41,"
                                    "\"wall_s\":0.5,\"ns_per_op\":410000,\"allocated_bytes_per_op\":512,"
                                    "\"max_rss_kb\":4096}\n");
    buffer_clear(&line);
    result.n = 0;
    bench_encode(&result, &line);
    CHECK_HAS(buffer_slice(&line), "\"ns_per_op\":0,");
}

/* Burns CPU time: much in run `slow`, little in the others. */
struct work {
    int runs;
    int slow;
    int failing;
};

static int burn(void *context, struct error *err)
{
    struct work *work = context;
    int64_t until_ns = clock_cpu_ns() + (work->runs == work->slow ? 50000000 : 2000000);
    void *block = memory_alloc(1000, err);

    if (!block)
        return -1;
    memory_free(block);
    while (clock_cpu_ns() < until_ns)
        ;
    return work->runs++ == work->failing ? error_set(err, ERR_INVALID, "broken") : 0;
}

TEST(bench_repeat_warms_up_and_reports_the_median_run)
{
    struct work work = { .slow = 2, .failing = -1 };
    struct bench_result result;
    struct error err;

    CHECK_OK(bench_repeat("burning", 10, 5, burn, &work, &result, &err), &err);
    CHECK_EQ(work.runs, 6);
    CHECK_EQ(result.runs, 5);
    CHECK_EQ(result.n, 10);
    CHECK_TEXT(result.what, "burning");
    CHECK(result.cpu_ns >= 2000000 && result.cpu_ns < 50000000); /* the slow run is not the median */
    CHECK(result.wall_ns > 0 && result.max_rss_kb > 0);
    CHECK_EQ(result.allocated_bytes, 1000);
}

TEST(bench_print_puts_the_line_on_standard_output)
{
    struct bench bench;
    struct bench_result result;
    struct error err;
    char line[256];
    int pipe_fds[2], kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), outcome;
    ssize_t len;

    bench_begin(&bench, "nothing");
    result = bench_end(&bench, 7);
    CHECK_EQ(pipe(pipe_fds), 0);
    dup2(pipe_fds[1], STDOUT_FILENO);
    outcome = bench_print(&result, &err);
    dup2(kept, STDOUT_FILENO);
    CHECK_OK(outcome, &err);
    len = read(pipe_fds[0], line, sizeof(line));
    CHECK_HAS(slice_of(line, (size_t)MAX(len, 0)), "{\"what\":\"nothing\",\"n\":7,\"runs\":1,\"cpu_s\":");
    close(kept);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

TEST(bench_repeat_fails_with_the_run_that_fails)
{
    struct work work = { .slow = -1, .failing = 0 };
    struct bench_result result;
    struct error err;

    CHECK_ERROR(bench_repeat("burning", 1, 3, burn, &work, &result, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "warming up 'burning': broken");
    work = (struct work){ .slow = -1, .failing = 2 };
    CHECK_ERROR(bench_repeat("burning", 1, 3, burn, &work, &result, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "run 2 of 'burning': broken");
}
