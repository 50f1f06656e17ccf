// SPDX-License-Identifier: Apache-2.0
/* Samples the CPU of the own process: each thread has a timer on its own CPU clock, which interrupts it with SIGPROF so
 * many times for each second that it has worked; the handler walks the stack by frame pointers (framewalk.h) and leaves it
 * in a ring, from which somebody takes it later.
 *
 * One timer for the whole process would do with less, but its signal may reach any thread: kernels before 6.4 prefer the
 * first, whoever was working. A thread that sleeps has no costs. Threads are found in /proc/self/task, so those of
 * libraries are sampled too.
 *
 * G1  The handler takes neither memory nor locks, keeps errno and runs with SA_RESTART. It stays installed when sampling
 *     ends, so that a signal on its way harms nobody, and so does the ring.
 * G2  What does not fit into the ring is counted as lost.
 * G3  Threads that block SIGPROF are not sampled. base/thread.h leaves it open. */
#pragma once

#include "base/error.h"

#define FRAMESAMPLER_MAX_RATE_HZ 1000
#define FRAMESAMPLER_MAX_THREADS 4096

/* What a thread works on, for its samples. Lives as long as the program: samples point to it. */
struct framesampler_label {
    const char *key, *value;
};

/* The span that a thread works on, for its samples: ids as OpenTelemetry has them. */
struct framesampler_span {
    uint8_t trace_id[16];
    uint8_t span_id[8];
};

/* Leaf first: the first address is where the thread was, the others are where calls return to. */
struct framesampler_sample {
    const struct framesampler_label *label; /* NULL = none */
    const struct framesampler_span *span;   /* NULL = none */
    uint32_t weight;                        /* how many periods it stands for, at least 1 */
    uint32_t depth;
    const uintptr_t *frames;
};

struct framesampler_counts {
    uint64_t n_taken, n_lost; /* samples, since the program began */
    uint64_t n_unfollowed;    /* times that a thread could not get a timer */
    uint32_t n_threads;       /* that have a timer now */
};

/* Begins to sample the threads that there are, `rate_hz` times for each second of CPU (1 to FRAMESAMPLER_MAX_RATE_HZ).
 * Errors: ERR_EXISTS (it runs already), ERR_MEMORY, ERR_IO. Thread: any, but this and the next three one at a time. */
MUST_CHECK int framesampler_start(uint32_t rate_hz, struct error *err);
void framesampler_stop(void);
/* Gives timers to threads that have begun since, and takes those of threads that have ended. To be called now and then; the
 * work of a new thread before that is not seen. Errors: ERR_MEMORY, ERR_IO; then some may have none. */
MUST_CHECK int framesampler_follow(struct error *err);
/* Calls `take` for each sample that waits; it is gone afterwards. Works after the stop, too. */
void framesampler_drain(void (*take)(void *context, const struct framesampler_sample *sample), void *context);

/* Nanoseconds of CPU between two samples of a thread at this rate. */
int64_t framesampler_period_ns(uint32_t rate_hz);
/* Labels the samples of the calling thread from now on; NULL ends it. */
void framesampler_set_label(const struct framesampler_label *label);
/* Ties the samples of the calling thread to a span from now on; NULL ends it. Samples have a copy: the span stays where it is,
 * and as it is, until another is set. Returns the one before, so that inner spans can give way to outer ones. */
const struct framesampler_span *framesampler_set_span(const struct framesampler_span *span);
/* Thread: any. */
struct framesampler_counts framesampler_counts(void);
