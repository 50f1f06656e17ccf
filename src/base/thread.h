// SPDX-License-Identifier: Apache-2.0
/* A named thread that belongs to an object with start and stop.
 *
 * Threads begin with signals blocked, so that a signalfd or the main thread gets them; only those that a thread brings
 * upon itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT) stay open, for crash reports, and SIGPROF, by
 * which a profiler of CPU time interrupts whoever works. */
#pragma once

#include "base/error.h"
#include "base/lock.h"

#define THREAD_NAME_BYTES 16 /* the kernel's limit, NUL included */

/* Does not move in memory between start and stop. */
struct thread {
    pthread_t id;
    char name[THREAD_NAME_BYTES];
    void (*run)(struct thread *thread, void *context);
    void *context;
    bool is_started; /* known to the owner only */
    struct lock_mutex lock;
    struct lock_condition wake;
    bool is_stopping; /* guarded by lock */
};

/* Runs `run(thread, context)` in a new thread called `name`, of which the first 15 bytes are shown by ps and top.
 * `thread` need not be initialised. Errors: ERR_IO (the system has no room for another thread), ERR_MEMORY; then
 * nothing was started, and thread_stop does nothing.  Thread: the owner. */
MUST_CHECK int thread_start(struct thread *thread, const char *name, void (*run)(struct thread *thread, void *context),
                            void *context, struct error *err);

/* Asks the thread to stop, wakes it from thread_sleep and waits until `run` has returned. What else it may wait for (a
 * queue) must be closed before. Does nothing to a zeroed or stopped thread.  Thread: the owner. */
void thread_stop(struct thread *thread);

/* For `run`: whether thread_stop was called. */
bool thread_is_stopping(struct thread *thread);

/* For `run`: sleeps, and returns true when the time has passed, false as soon as thread_stop was called. */
MUST_CHECK bool thread_sleep(struct thread *thread, int64_t duration_ns);
