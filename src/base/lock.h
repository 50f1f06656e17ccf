// SPDX-License-Identifier: Apache-2.0
/* Mutexes, reader-writer locks and condition variables whose order is checked.
 *
 * L1  Each lock has a rank. A thread takes locks in rising rank only, so no two threads can wait for each other.
 * L2  Builds with HEARTH_DEBUG abort at the first lock taken against L1, naming both ranks, whether or not another
 *     thread is near. Other builds pay nothing but the rank field.
 * L3  Locks live inside one module; nobody calls out to unknown code while holding one. */
#pragma once

#include "base/base.h"

#include <pthread.h>

/* Lowest first. A new lock gets a row between those it is taken under and those that are taken under it. */
#define LOCK_RANKS(X)                                                                                                  \
    X(TEST_LOW)        /* tests of lock.c */                                                                           \
    X(TEST_HIGH)       /* tests of lock.c */                                                                           \
    X(UNWIND_CONTROL)  /* selfprofile.c: starting and stopping */                                                      \
    X(THREAD)          /* thread.c: the wish to stop */                                                                \
    X(DEMO_MEASURE)    /* telemetry.c: who measures */                                                                 \
    X(DEMO_STOCK)      /* shopservice.c: what is left, and what reports remember */                                    \
    X(DEMO_PACE)       /* loader.c: who may ask next */                                                                \
    X(DEMO_SPANS)      /* tracer.c: spans that wait to be sent */                                                      \
    X(UNWIND)          /* selfprofile.c: the recordings */                                                             \
    X(NET_SERVER)      /* httpserver.c: bytes of bodies in flight */                                                   \
    X(NET_POOL)        /* pool.c: what waits for workers */                                                            \
    X(NET_LOOP)        /* loop.c: exchanges that come back from workers */                                             \
    X(SERVER_OPTIONS)  /* server.c: the options that hold */                                                           \
    X(SETTINGS)        /* settings.c: the files */                                                                     \
    X(ANNOTATIONS)     /* annotations.c: the files */                                                                  \
    X(ADHOC_FILES)     /* adhocfiles.c: the files */                                                                   \
    X(INTAKE_COUNTERS) /* profilecounters.c: its rows */                                                               \
    X(INTAKE_SPILL)    /* spill.c: the files */                                                                        \
    X(STORE_MAINTAIN)  /* rocks.c: one maintenance at a time */                                                        \
    X(STORE_KEEPS)     /* rocks.c: the list of kept ranges */                                                          \
    X(STORE_ROCKS)     /* rocks.c: scratch memory, what is known of the disk */                                        \
    X(STORE_READERS)   /* scan.c: how many read */                                                                     \
    X(STORE_DAYS)      /* dayset.c: the list of days */                                                                \
    X(STORE_WORK)      /* hour.c: closing hours, writing them anew */                                                  \
    X(STORE_DAY)       /* day.c: what writers and readers share */                                                     \
    X(STORE_SLOTS)     /* slotcache.c: roll-ups of open hours */                                                       \
    X(STORE_SUMS)      /* sumcache.c: sums of closed hours */                                                          \
    X(METRIC_STORE)    /* metricstore.c: one writer at a time, and which series are known */                           \
    X(TRACE_WRITERS)   /* tracestore.c: what waits for the next write */                                               \
    X(HOURLY_COPY)     /* hourly_care.c: one copy at a time */                                                         \
    X(HOURLY_MAINTAIN) /* hourly_care.c: one maintenance at a time */                                                  \
    X(HOURLY)          /* hourly_days.c: the list of days */                                                           \
    X(HOURLY_DAY)      /* hourly_day.c: heads and closings */                                                          \
    X(STORE_KV)        /* kv.c: the table of families */                                                               \
    X(QUERY_QUEUE)     /* engine.c: who may run */                                                                     \
    X(QUERY_TREES)     /* treecache.c: call trees that stay between queries */                                         \
    X(INTAKE_DELTAS)   /* deltas.c: what senders counted so far */                                                     \
    X(SOURCES)         /* sources.c: who sent what */                                                                  \
    X(SCRAPE)          /* scrape.c: the targets and what is known of them */                                           \
    X(SCRAPE_CURL)     /* curlload.c: whether libcurl is loaded */                                                     \
    X(QUEUE)           /* queue.c: the items */                                                                        \
    X(METRICS)         /* metrics.c: the list of tables and their series */                                            \
    X(LOG)             /* log.c: where lines go; nearly last, so that any code may log */                              \
    X(PROGRESS)        /* progress.c: the bar, which makes way for lines of the log */

enum lock_rank {
#define LOCK_ENUM(name) LOCK_##name,
    LOCK_RANKS(LOCK_ENUM)
#undef LOCK_ENUM
};

/* "QUEUE" for LOCK_QUEUE. */
const char *lock_rank_name(enum lock_rank rank);

struct lock_mutex {
    pthread_mutex_t mutex;
    enum lock_rank rank;
};

/* For locks with static storage; they need no lock_mutex_done. */
#define LOCK_MUTEX_INIT(lock_rank_)                                                                                    \
    {                                                                                                                  \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (lock_rank_)                                                       \
    }

void lock_mutex_init(struct lock_mutex *lock, enum lock_rank rank);
void lock_mutex_done(struct lock_mutex *lock);
/* Waits until the lock is free and takes it. Not recursive. Thread: any; signal: no. */
void lock_mutex_acquire(struct lock_mutex *lock);
void lock_mutex_release(struct lock_mutex *lock);

/* Takes the mutex and holds it until the end of the enclosing block. */
#define LOCK_SCOPE(lock)          LOCK_SCOPE_AT(lock, __LINE__)
#define LOCK_SCOPE_AT(lock, line) LOCK_SCOPE_NAMED(lock, line)
#define LOCK_SCOPE_NAMED(lock, line)                                                                                   \
    AUTO(lock_mutex_releasep) UNUSED struct lock_mutex *lock_scope_##line = lock_mutex_acquired(lock)

static inline struct lock_mutex *lock_mutex_acquired(struct lock_mutex *lock)
{
    lock_mutex_acquire(lock);
    return lock;
}

static inline void lock_mutex_releasep(struct lock_mutex **lock)
{
    lock_mutex_release(*lock);
}

/* Any number of readers or one writer. */
struct lock_rw {
    pthread_rwlock_t rwlock;
    enum lock_rank rank;
};

void lock_rw_init(struct lock_rw *lock, enum lock_rank rank);
void lock_rw_done(struct lock_rw *lock);
void lock_rw_acquire_read(struct lock_rw *lock);
void lock_rw_acquire_write(struct lock_rw *lock);
/* Ends either kind of hold. */
void lock_rw_release(struct lock_rw *lock);

/* A condition variable whose timeouts follow the monotonic clock. */
struct lock_condition {
    pthread_cond_t condition;
};

void lock_condition_init(struct lock_condition *condition);
void lock_condition_done(struct lock_condition *condition);
/* Lets go of the mutex, waits to be woken, takes it again. May wake for no reason: call it in a loop over the
 * condition. The mutex must be the newest lock this thread holds. */
void lock_condition_wait(struct lock_condition *condition, struct lock_mutex *lock);
/* As lock_condition_wait, but ends with false once the monotonic clock reaches `deadline_mono_ns`. */
MUST_CHECK bool lock_condition_wait_until(struct lock_condition *condition, struct lock_mutex *lock,
                                          int64_t deadline_mono_ns);
/* The deadline `timeout_ns` from now, on the real monotonic clock: the kernel waits by that one, so a clock faked by
 * a test has no say here. A timeout too long to express is the end of time. */
int64_t lock_deadline_ns(int64_t timeout_ns);
void lock_condition_wake_one(struct lock_condition *condition);
void lock_condition_wake_all(struct lock_condition *condition);
