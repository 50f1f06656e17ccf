// SPDX-License-Identifier: Apache-2.0
#include "base/lock.h"

#include "base/clock.h"
#include "base/test.h"
#include "base/thread.h"

static struct lock_mutex low = LOCK_MUTEX_INIT(LOCK_TEST_LOW);
static struct lock_mutex high = LOCK_MUTEX_INIT(LOCK_TEST_HIGH);

TEST(lock_ranks_have_names)
{
    CHECK_TEXT(lock_rank_name(LOCK_TEST_LOW), "TEST_LOW");
    CHECK_TEXT(lock_rank_name(LOCK_LOG), "LOG");
}

TEST(lock_scope_ends_with_its_block)
{
    {
        LOCK_SCOPE(&low);
        LOCK_SCOPE(&high);
        CHECK(pthread_mutex_trylock(&low.mutex) != 0 && pthread_mutex_trylock(&high.mutex) != 0);
    }
    LOCK_SCOPE(&low);
}

TEST(lock_ranks_that_rise_are_fine_and_any_order_of_release)
{
    for (int round = 0; round < 3; round++) {
        lock_mutex_acquire(&low);
        lock_mutex_acquire(&high);
        lock_mutex_release(&low);
        lock_mutex_release(&high);
        lock_mutex_acquire(&high);
        lock_mutex_release(&high);
    }
}

#ifdef HEARTH_DEBUG
static struct lock_mutex also_high = LOCK_MUTEX_INIT(LOCK_TEST_HIGH);

static void take_low_under_high(void)
{
    lock_mutex_acquire(&high);
    lock_mutex_acquire(&low);
}

static void take_equal_ranks(void)
{
    lock_mutex_acquire(&high);
    lock_mutex_acquire(&also_high);
}

static void take_twice(void)
{
    lock_mutex_acquire(&low);
    lock_mutex_acquire(&low);
}

static void take_low_to_read_under_high(void)
{
    struct lock_rw rw;

    lock_rw_init(&rw, LOCK_TEST_LOW);
    lock_mutex_acquire(&high);
    lock_rw_acquire_read(&rw);
}

static void release_what_is_not_held(void)
{
    lock_mutex_acquire(&high);
    lock_mutex_release(&low);
}

static void wait_with_the_older_lock(void)
{
    struct lock_condition condition;

    lock_condition_init(&condition);
    lock_mutex_acquire(&low);
    lock_mutex_acquire(&high);
    lock_condition_wait(&condition, &low);
}

TEST(lock_taken_against_the_ranks_aborts_naming_both)
{
    CHECK_ABORTS(take_low_under_high, "lock of rank TEST_LOW taken while holding one of rank TEST_HIGH");
    CHECK_ABORTS(take_equal_ranks, "lock of rank TEST_HIGH taken while holding one of rank TEST_HIGH");
    CHECK_ABORTS(take_twice, "lock of rank TEST_LOW taken while holding one of rank TEST_LOW");
    CHECK_ABORTS(take_low_to_read_under_high, "lock of rank TEST_LOW taken while holding one of rank TEST_HIGH");
}

TEST(lock_misused_aborts_saying_how)
{
    CHECK_ABORTS(release_what_is_not_held, "lock of rank TEST_LOW released by a thread that does not hold it");
    CHECK_ABORTS(wait_with_the_older_lock, "waiting with a lock of rank TEST_LOW that is not the newest");
}
#endif

struct counter {
    struct lock_mutex mutex;
    struct lock_rw rw;
    uint64_t by_mutex; /* guarded by mutex */
    uint64_t a, b;     /* guarded by rw; always equal */
};

static void count(struct thread *thread, void *context)
{
    struct counter *counter = context;

    for (int i = 0; i < 2000; i++) {
        {
            LOCK_SCOPE(&counter->mutex);
            counter->by_mutex++;
        }
        lock_rw_acquire_write(&counter->rw);
        counter->a++;
        counter->b++;
        lock_rw_release(&counter->rw);
        lock_rw_acquire_read(&counter->rw);
        ASSERT(counter->a == counter->b);
        lock_rw_release(&counter->rw);
    }
}

TEST(lock_keeps_threads_out_of_each_others_way)
{
    struct counter counter = { .by_mutex = 0 };
    struct thread threads[4];
    struct error err;

    lock_mutex_init(&counter.mutex, LOCK_TEST_LOW);
    lock_rw_init(&counter.rw, LOCK_TEST_HIGH);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_OK(thread_start(&threads[i], "count", count, &counter, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        thread_stop(&threads[i]);
    CHECK_EQ(counter.by_mutex, 8000);
    CHECK_EQ(counter.a, 8000);
    lock_rw_done(&counter.rw);
    lock_mutex_done(&counter.mutex);
}

TEST(lock_rw_lets_several_threads_read_at_once)
{
    struct lock_rw rw;

    lock_rw_init(&rw, LOCK_TEST_LOW);
    lock_rw_acquire_read(&rw);
    CHECK_EQ(pthread_rwlock_tryrdlock(&rw.rwlock), 0);
    CHECK(pthread_rwlock_trywrlock(&rw.rwlock) != 0);
    CHECK_EQ(pthread_rwlock_unlock(&rw.rwlock), 0);
    lock_rw_release(&rw);
    lock_rw_done(&rw);
}

TEST(lock_condition_times_out_by_the_monotonic_clock)
{
    struct lock_condition condition;
    int64_t start_ns = clock_mono_ns();

    lock_condition_init(&condition);
    lock_mutex_acquire(&low);
    while (lock_condition_wait_until(&condition, &low, start_ns + 20000000))
        ; /* woken for no reason */
    CHECK(clock_mono_ns() - start_ns >= 20000000);
    CHECK(!lock_condition_wait_until(&condition, &low, INT64_MIN));
    lock_mutex_release(&low);
    lock_condition_done(&condition);
}

TEST(lock_deadline_does_not_overflow)
{
    CHECK_EQ(lock_deadline_ns(INT64_MAX), INT64_MAX);
    CHECK(lock_deadline_ns(INT64_MIN) < 0);
    CHECK(lock_deadline_ns(1000000) > clock_mono_ns() - 1000000);
}

struct ping_pong {
    struct lock_mutex lock;
    struct lock_condition turned;
    int turn; /* guarded by lock */
};

static void answer(struct thread *thread, void *context)
{
    struct ping_pong *game = context;

    LOCK_SCOPE(&game->lock);
    for (int round = 0; round < 500; round++) {
        while (game->turn % 2 == 0)
            lock_condition_wait(&game->turned, &game->lock);
        game->turn++;
        lock_condition_wake_one(&game->turned);
    }
}

TEST(lock_condition_wakes_the_other_thread)
{
    struct ping_pong game = { .turn = 0 };
    struct thread thread;
    struct error err;

    lock_mutex_init(&game.lock, LOCK_TEST_LOW);
    lock_condition_init(&game.turned);
    CHECK_OK(thread_start(&thread, "answer", answer, &game, &err), &err);
    lock_mutex_acquire(&game.lock);
    for (int round = 0; round < 500; round++) {
        while (game.turn % 2 == 1)
            lock_condition_wait(&game.turned, &game.lock);
        game.turn++;
        lock_condition_wake_all(&game.turned);
    }
    lock_mutex_release(&game.lock);
    thread_stop(&thread);
    CHECK_EQ(game.turn, 1000);
    lock_condition_done(&game.turned);
    lock_mutex_done(&game.lock);
}
