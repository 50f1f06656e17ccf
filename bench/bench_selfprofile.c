// SPDX-License-Identifier: Apache-2.0
/* What sampling the own process costs: one walk of a stack of 40 frames, as the signal handler does it, and one second of
 * work with samples being taken, beside one without. */
#include "base/bench.h"
#include "base/clock.h"
#include "unwind/framesampler.h"
#include "unwind/framewalk.h"
#include "unwind/selfprofile.h"

#include <stdio.h>

#define DEPTH 40
#define WALKS 20000
#define WORK  60000 /* turns of the loop in one run: about half a second */
#define RUNS  15

static volatile uint64_t sum;

static int walk_here(void *context UNUSED, struct error *err UNUSED)
{
    uintptr_t frames[FRAMEWALK_MAX_DEPTH];
    ucontext_t here;

    getcontext(&here);
    for (int i = 0; i < WALKS; i++) {
        struct framewalk_registers registers = framewalk_registers_of(&here);

        sum += framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH);
    }
    return 0;
}

/* Calls itself until the stack is deep. */
__attribute__((noinline)) static int descend(int depth, int (*run)(void *context, struct error *err), const char *what,
                                             uint64_t n, int runs, struct error *err)
{
    struct bench_result result;
    int status;

    if (depth > 0) {
        status = descend(depth - 1, run, what, n, runs, err);
        sum += (uint64_t)depth; /* so that this is no tail call */
        return status;
    }
    if (bench_repeat(what, n, runs, run, NULL, &result, err) < 0)
        return -1;
    return bench_print(&result, err);
}

static int work(void *context UNUSED, struct error *err UNUSED)
{
    uint64_t seed = sum;

    for (int i = 0; i < WORK; i++)
        for (int k = 0; k < 10000; k++)
            seed = seed * 6364136223846793005u + 1442695040888963407u;
    sum += seed;
    return 0;
}

static int measure(struct error *err)
{
    struct selfprofile_recording *recording;
    struct selfprofile *self;
    int result;

    if (descend(DEPTH, walk_here, "walk of 40 frames", WALKS, RUNS, err) < 0 ||
        descend(DEPTH, work, "work, not sampled", WORK, RUNS, err) < 0 ||
        selfprofile_new(&(struct selfprofile_options){ .rate_hz = FRAMESAMPLER_MAX_RATE_HZ }, &self, err) < 0)
        return -1;
    result = selfprofile_begin(self, &recording, err);
    if (result == 0) {
        result = descend(DEPTH, work, "work, sampled 1,000 times a second", WORK, RUNS, err);
        selfprofile_cancel(self, recording);
    }
    selfprofile_free(self);
    return result;
}

int main(void)
{
    struct error err;

    if (measure(&err) < 0) {
        fprintf(stderr, "bench_selfprofile: %s\n", err.text);
        return 1;
    }
    return 0;
}
