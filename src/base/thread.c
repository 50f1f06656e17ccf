// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <signal.h>
#include <stdio.h>

static void *thread_main(void *argument)
{
    struct thread *thread = argument;

    IGNORE(pthread_setname_np(pthread_self(), thread->name), "a thread without a name works as well");
    thread->run(thread, thread->context);
    return NULL;
}

static void block_signals(sigset_t *ret_previous)
{
    static const int left_open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF };
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < ARRAY_LEN(left_open); i++)
        sigdelset(&blocked, left_open[i]);
    ASSERT(pthread_sigmask(SIG_SETMASK, &blocked, ret_previous) == 0);
}

int thread_start(struct thread *thread, const char *name, void (*run)(struct thread *thread, void *context),
                 void *context, struct error *err)
{
    sigset_t previous;
    int errnum;

    *thread = (struct thread){ .run = run, .context = context };
    snprintf(thread->name, sizeof(thread->name), "%.*s", THREAD_NAME_BYTES - 1, name);
    lock_mutex_init(&thread->lock, LOCK_THREAD);
    lock_condition_init(&thread->wake);

    block_signals(&previous); /* a new thread inherits the mask */
    errnum = pthread_create(&thread->id, NULL, thread_main, thread);
    ASSERT(pthread_sigmask(SIG_SETMASK, &previous, NULL) == 0);
    if (errnum != 0) {
        lock_condition_done(&thread->wake);
        lock_mutex_done(&thread->lock);
        return error_set_errno(err, errnum, "starting thread '%s'", name);
    }
    thread->is_started = true;
    return 0;
}

void thread_stop(struct thread *thread)
{
    if (!thread->is_started)
        return;
    lock_mutex_acquire(&thread->lock);
    thread->is_stopping = true;
    lock_condition_wake_all(&thread->wake);
    lock_mutex_release(&thread->lock);
    ASSERT(pthread_join(thread->id, NULL) == 0);
    lock_condition_done(&thread->wake);
    lock_mutex_done(&thread->lock);
    thread->is_started = false;
}

bool thread_is_stopping(struct thread *thread)
{
    LOCK_SCOPE(&thread->lock);
    return thread->is_stopping;
}

bool thread_sleep(struct thread *thread, int64_t duration_ns)
{
    int64_t deadline_ns = lock_deadline_ns(duration_ns);

    LOCK_SCOPE(&thread->lock);
    while (!thread->is_stopping)
        if (!lock_condition_wait_until(&thread->wake, &thread->lock, deadline_ns))
            return !thread->is_stopping;
    return false;
}
