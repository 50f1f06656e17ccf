// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include "base/test.h"

#include <signal.h>

struct observed {
    char name[THREAD_NAME_BYTES];
    sigset_t blocked;
    bool is_stopping;
};

static void observe(struct thread *thread, void *context)
{
    struct observed *observed = context;

    pthread_getname_np(pthread_self(), observed->name, sizeof(observed->name));
    pthread_sigmask(SIG_BLOCK, NULL, &observed->blocked);
}

TEST(thread_runs_with_its_name_cut_to_what_the_kernel_takes)
{
    struct observed observed = { .name = "" };
    struct thread thread;
    struct error err;

    CHECK_OK(thread_start(&thread, "store-compactor-17", observe, &observed, &err), &err);
    thread_stop(&thread);
    CHECK_TEXT(observed.name, "store-compactor");
}

TEST(thread_starts_with_signals_blocked_but_its_own_faults_and_samples)
{
    struct observed observed = { .name = "" };
    struct thread thread;
    struct error err;
    sigset_t before, after;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    CHECK_OK(thread_start(&thread, "observe", observe, &observed, &err), &err);
    thread_stop(&thread);
    pthread_sigmask(SIG_BLOCK, NULL, &after);

    CHECK(sigismember(&observed.blocked, SIGINT) && sigismember(&observed.blocked, SIGTERM));
    CHECK(sigismember(&observed.blocked, SIGALRM) && sigismember(&observed.blocked, SIGUSR1));
    CHECK(!sigismember(&observed.blocked, SIGSEGV) && !sigismember(&observed.blocked, SIGABRT));
    CHECK(!sigismember(&observed.blocked, SIGPROF));
    for (int number = 1; number < 32; number++)
        CHECK_EQ(sigismember(&after, number), sigismember(&before, number));
}

static void sleep_long(struct thread *thread, void *context)
{
    struct observed *observed = context;

    while (thread_sleep(thread, 3600000000000))
        ;
    observed->is_stopping = thread_is_stopping(thread);
}

TEST(thread_stop_ends_a_sleep_at_once)
{
    struct observed observed = { .is_stopping = false };
    struct thread thread;
    struct error err;

    CHECK_OK(thread_start(&thread, "sleep", sleep_long, &observed, &err), &err);
    thread_stop(&thread); /* the harness ends a test that hangs */
    CHECK(observed.is_stopping);
    thread_stop(&thread); /* twice is fine */
}

TEST(thread_that_cannot_be_had_is_an_error)
{
    struct observed observed = { .name = "" };
    struct thread thread;
    struct error err;
    pthread_attr_t usual, huge;
    int result;

    CHECK_EQ(pthread_getattr_default_np(&usual), 0);
    CHECK_EQ(pthread_getattr_default_np(&huge), 0);
    CHECK_EQ(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0); /* all the addresses there are */
    CHECK_EQ(pthread_setattr_default_np(&huge), 0);
    result = thread_start(&thread, "greedy", observe, &observed, &err);
    CHECK_EQ(pthread_setattr_default_np(&usual), 0);
    CHECK_ERROR(result, &err, ERR_IO);
    CHECK_HAS(err.text, "starting thread 'greedy': ");
    thread_stop(&thread);
    CHECK_TEXT(observed.name, "");
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
}

static void sleep_short(struct thread *thread, void *context)
{
    int *naps = context;

    while (*naps < 3 && thread_sleep(thread, 1000000))
        ++*naps;
}

TEST(thread_sleep_says_when_the_time_has_passed)
{
    struct thread thread = { .is_started = false };
    struct error err;
    int naps = 0;

    thread_stop(&thread); /* never started: nothing to do */
    CHECK_OK(thread_start(&thread, "nap", sleep_short, &naps, &err), &err);
    CHECK_EQ(pthread_join(thread.id, NULL), 0); /* it ends by itself, not by thread_stop */
    CHECK_EQ(naps, 3);
    lock_condition_done(&thread.wake);
    lock_mutex_done(&thread.lock);
}
