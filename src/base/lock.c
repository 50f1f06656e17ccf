// SPDX-License-Identifier: Apache-2.0
#include "base/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_SECOND 1000000000

static const char *const rank_names[] = {
#define LOCK_NAME(name) #name,
    LOCK_RANKS(LOCK_NAME)
#undef LOCK_NAME
};

const char *lock_rank_name(enum lock_rank rank)
{
    return rank_names[rank];
}

#ifdef HEARTH_DEBUG
/* What this thread holds, oldest first. Ranks rise along it (L1), so it never holds more locks than there are ranks. */
static _Thread_local struct {
    const void *lock;
    enum lock_rank rank;
} held[ARRAY_LEN(rank_names)];
static _Thread_local size_t n_held;

static void note_acquire(const void *lock, enum lock_rank rank)
{
    if (n_held > 0 && held[n_held - 1].rank >= rank) {
        fprintf(stderr, "hearth: bug: lock of rank %s taken while holding one of rank %s; ranks must rise\n",
                lock_rank_name(rank), lock_rank_name(held[n_held - 1].rank));
        abort();
    }
    held[n_held].lock = lock;
    held[n_held].rank = rank;
    n_held++;
}

static void note_release(const void *lock, enum lock_rank rank)
{
    size_t at = n_held;

    while (at > 0 && held[at - 1].lock != lock)
        at--;
    if (at == 0) {
        fprintf(stderr, "hearth: bug: lock of rank %s released by a thread that does not hold it\n",
                lock_rank_name(rank));
        abort();
    }
    for (; at < n_held; at++)
        held[at - 1] = held[at];
    n_held--;
}

static void note_wait(const void *lock, enum lock_rank rank)
{
    if (n_held == 0 || held[n_held - 1].lock != lock) {
        fprintf(stderr, "hearth: bug: waiting with a lock of rank %s that is not the newest this thread holds\n",
                lock_rank_name(rank));
        abort();
    }
}
#else
static void note_acquire(const void *lock, enum lock_rank rank) {}

static void note_release(const void *lock, enum lock_rank rank) {}

static void note_wait(const void *lock, enum lock_rank rank) {}
#endif

/* The pthread calls below fail on misuse only, never for want of something. */
static void must_succeed(int errnum)
{
    ASSERT(errnum == 0);
}

void lock_mutex_init(struct lock_mutex *lock, enum lock_rank rank)
{
    must_succeed(pthread_mutex_init(&lock->mutex, NULL));
    lock->rank = rank;
}

void lock_mutex_done(struct lock_mutex *lock)
{
    must_succeed(pthread_mutex_destroy(&lock->mutex));
}

void lock_mutex_acquire(struct lock_mutex *lock)
{
    note_acquire(lock, lock->rank);
    must_succeed(pthread_mutex_lock(&lock->mutex));
}

void lock_mutex_release(struct lock_mutex *lock)
{
    note_release(lock, lock->rank);
    must_succeed(pthread_mutex_unlock(&lock->mutex));
}

void lock_rw_init(struct lock_rw *lock, enum lock_rank rank)
{
    must_succeed(pthread_rwlock_init(&lock->rwlock, NULL));
    lock->rank = rank;
}

void lock_rw_done(struct lock_rw *lock)
{
    must_succeed(pthread_rwlock_destroy(&lock->rwlock));
}

void lock_rw_acquire_read(struct lock_rw *lock)
{
    note_acquire(lock, lock->rank);
    must_succeed(pthread_rwlock_rdlock(&lock->rwlock));
}

void lock_rw_acquire_write(struct lock_rw *lock)
{
    note_acquire(lock, lock->rank);
    must_succeed(pthread_rwlock_wrlock(&lock->rwlock));
}

void lock_rw_release(struct lock_rw *lock)
{
    note_release(lock, lock->rank);
    must_succeed(pthread_rwlock_unlock(&lock->rwlock));
}

void lock_condition_init(struct lock_condition *condition)
{
    pthread_condattr_t attributes;

    must_succeed(pthread_condattr_init(&attributes));
    must_succeed(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
    must_succeed(pthread_cond_init(&condition->condition, &attributes));
    must_succeed(pthread_condattr_destroy(&attributes));
}

void lock_condition_done(struct lock_condition *condition)
{
    must_succeed(pthread_cond_destroy(&condition->condition));
}

void lock_condition_wait(struct lock_condition *condition, struct lock_mutex *lock)
{
    note_wait(lock, lock->rank);
    must_succeed(pthread_cond_wait(&condition->condition, &lock->mutex));
}

bool lock_condition_wait_until(struct lock_condition *condition, struct lock_mutex *lock, int64_t deadline_mono_ns)
{
    int64_t deadline_ns = MAX(deadline_mono_ns, 0);
    struct timespec deadline = { .tv_sec = deadline_ns / NS_PER_SECOND, .tv_nsec = deadline_ns % NS_PER_SECOND };
    int errnum;

    note_wait(lock, lock->rank);
    errnum = pthread_cond_timedwait(&condition->condition, &lock->mutex, &deadline);
    must_succeed(errnum == ETIMEDOUT ? 0 : errnum);
    return errnum == 0;
}

int64_t lock_deadline_ns(int64_t timeout_ns)
{
    struct timespec now;
    int64_t deadline_ns;

    must_succeed(clock_gettime(CLOCK_MONOTONIC, &now));
    if (__builtin_add_overflow(now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec, timeout_ns, &deadline_ns))
        return timeout_ns < 0 ? INT64_MIN : INT64_MAX;
    return deadline_ns;
}

void lock_condition_wake_one(struct lock_condition *condition)
{
    must_succeed(pthread_cond_signal(&condition->condition));
}

void lock_condition_wake_all(struct lock_condition *condition)
{
    must_succeed(pthread_cond_broadcast(&condition->condition));
}
