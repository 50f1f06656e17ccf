// SPDX-License-Identifier: Apache-2.0
#include "net/pool.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include "net/route.h"

#include <stdio.h>
#include <unistd.h>

#define POOL_LANES       256
#define POOL_MAX_WORKERS 256
#define POOL_TURN_BYTES  (256 << 10) /* what a lane may bring in one turn, unless told otherwise */
#define POOL_BATCH       256         /* exchanges settled together */

struct lane {
    struct exchange *first, *last;
    uint64_t bytes;
    int64_t credit;    /* bytes that it may still run in this turn */
    struct lane *next; /* in the round of lanes that have something waiting */
    bool is_in_round;
};

struct pool {
    struct pool_options options;
    struct lock_mutex lock;
    struct lock_condition work, overflow_work;
    bool is_stopping;
    struct lane lanes[POOL_LANES];
    struct lane *round_first, *round_last;
    struct exchange *overflow_first, *overflow_last;
    struct pool_counts counts;
    uint32_t n_workers;
    struct pool_worker {
        struct pool *pool;
        uint32_t number;
        struct thread thread;
    } * workers;
    struct thread overflow;
};

static uint64_t cost(const struct exchange *exchange)
{
    return exchange->request.body.len + POOL_EXCHANGE_BYTES;
}

/* --- lanes; the pool's lock is held --- */

static void enter_round(struct pool *pool, struct lane *lane)
{
    if (lane->is_in_round)
        return;
    lane->is_in_round = true;
    lane->credit = MIN(lane->credit, 0) +
                   (int64_t)pool->options.turn_bytes; /* what it took too much in an earlier turn is not forgotten */
    lane->next = NULL;
    if (pool->round_last)
        pool->round_last->next = lane;
    else
        pool->round_first = lane;
    pool->round_last = lane;
}

static void leave_round(struct pool *pool)
{
    struct lane *lane = pool->round_first;

    pool->round_first = lane->next;
    if (!pool->round_first)
        pool->round_last = NULL;
    lane->is_in_round = false;
}

static void append(struct pool *pool, struct lane *lane, struct exchange *exchange)
{
    exchange->queue_next = NULL;
    if (lane->last)
        lane->last->queue_next = exchange;
    else
        lane->first = exchange;
    lane->last = exchange;
    lane->bytes += cost(exchange);
    pool->counts.n_waiting++;
    pool->counts.waiting_bytes += cost(exchange);
    enter_round(pool, lane);
}

static void count_off(struct pool *pool, struct lane *lane, const struct exchange *exchange)
{
    lane->bytes -= cost(exchange);
    pool->counts.n_waiting--;
    pool->counts.waiting_bytes -= cost(exchange);
}

/* The next exchange by turns, or NULL. */
static struct exchange *take_next(struct pool *pool)
{
    struct exchange *exchange;
    struct lane *lane;

    for (;;) {
        lane = pool->round_first;
        if (!lane)
            return NULL;
        if (!lane->first) { /* its last one went to the overflow */
            leave_round(pool);
            continue;
        }
        if (lane->credit > 0)
            break;
        leave_round(pool);
        enter_round(pool, lane);
    }
    exchange = lane->first;
    lane->first = exchange->queue_next;
    if (!lane->first)
        lane->last = NULL;
    count_off(pool, lane, exchange);
    lane->credit -= (int64_t)cost(exchange);
    if (!lane->first)
        leave_round(pool);
    return exchange;
}

static struct exchange *take_newest(struct pool *pool, struct lane *lane)
{
    struct exchange *before = NULL, *newest = lane->last;

    for (struct exchange *each = lane->first; each != newest; each = each->queue_next)
        before = each;
    lane->last = before;
    if (before)
        before->queue_next = NULL;
    else
        lane->first = NULL;
    count_off(pool, lane, newest);
    return newest;
}

static struct lane *longest_lane(struct pool *pool)
{
    struct lane *longest = &pool->lanes[0];

    for (size_t i = 1; i < POOL_LANES; i++)
        if (pool->lanes[i].bytes > longest->bytes)
            longest = &pool->lanes[i];
    return longest;
}

static bool has_room(const struct pool *pool, const struct exchange *exchange)
{
    return pool->counts.n_waiting < pool->options.max_waiting &&
           (pool->counts.n_waiting == 0 ||
            pool->counts.waiting_bytes + cost(exchange) <= pool->options.max_waiting_bytes);
}

static bool put_into_overflow(struct pool *pool, struct exchange *exchange)
{
    if (!exchange->route->overflow)
        return false;
    if (pool->overflow_first && pool->counts.overflow_bytes + cost(exchange) > pool->options.max_overflow_bytes)
        return false;
    exchange->queue_next = NULL;
    if (pool->overflow_last)
        pool->overflow_last->queue_next = exchange;
    else
        pool->overflow_first = exchange;
    pool->overflow_last = exchange;
    pool->counts.overflow_bytes += cost(exchange);
    pool->counts.n_overflowed++;
    lock_condition_wake_one(&pool->overflow_work);
    return true;
}

/* Makes room by W2, as far as the overflow takes what is moved out. */
static bool make_room(struct pool *pool, struct lane *lane, struct exchange *exchange)
{
    while (!has_room(pool, exchange)) {
        struct lane *longest = longest_lane(pool);
        struct exchange *moved;

        if (longest == lane || longest->bytes <= lane->bytes + cost(exchange))
            return false;
        moved = take_newest(pool, longest);
        if (!put_into_overflow(pool, moved)) {
            append(pool, longest, moved);
            return false;
        }
    }
    return true;
}

bool pool_submit(struct pool *pool, struct exchange *exchange)
{
    struct lane *lane = &pool->lanes[hash_mix64(exchange->lane) % POOL_LANES];
    bool is_taken = true;

    lock_mutex_acquire(&pool->lock);
    if (pool->is_stopping) {
        is_taken = false;
    } else if (has_room(pool, exchange) || make_room(pool, lane, exchange)) {
        append(pool, lane, exchange);
        lock_condition_wake_one(&pool->work);
    } else {
        is_taken = put_into_overflow(pool, exchange);
    }
    pool->counts.n_refused += !is_taken;
    lock_mutex_release(&pool->lock);
    return is_taken;
}

/* --- threads --- */

/* W5. */
static void run_handler(struct exchange *exchange)
{
    if (exchange->route->scope == ROUTE_READ && atomic_load(&exchange->is_gone))
        exchange_fail_with(exchange, 499, "the asker hung up before its turn came");
    else
        exchange->route->handler(exchange);
}

static void work(struct thread *thread UNUSED, void *context)
{
    struct pool_worker *worker = context;
    struct pool *pool = worker->pool;

    lock_mutex_acquire(&pool->lock);
    for (;;) {
        struct exchange *exchange = take_next(pool);

        if (!exchange) {
            if (pool->is_stopping)
                break;
            lock_condition_wait(&pool->work, &pool->lock);
            continue;
        }
        pool->counts.n_run++;
        lock_mutex_release(&pool->lock);
        exchange->worker = worker->number;
        run_handler(exchange);
        pool->options.done(pool->options.context, exchange);
        lock_mutex_acquire(&pool->lock);
    }
    lock_mutex_release(&pool->lock);
}

static size_t take_overflow(struct pool *pool, struct exchange **ret_exchanges)
{
    size_t n = 0;

    while (pool->overflow_first && n < POOL_BATCH) {
        ret_exchanges[n] = pool->overflow_first;
        pool->overflow_first = pool->overflow_first->queue_next;
        n++;
    }
    if (!pool->overflow_first)
        pool->overflow_last = NULL;
    return n;
}

static void settle(struct pool *pool, struct exchange **exchanges, size_t n)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        exchanges[i]->worker = pool->options.first_worker + pool->n_workers;
        bytes += cost(exchanges[i]);
        exchanges[i]->route->overflow(exchanges[i]);
    }
    if (pool->options.settle)
        pool->options.settle(pool->options.context, exchanges, n);
    for (size_t i = 0; i < n; i++)
        pool->options.done(pool->options.context, exchanges[i]);
    lock_mutex_acquire(&pool->lock);
    pool->counts.overflow_bytes -= bytes;
    lock_mutex_release(&pool->lock);
}

static void take_overflows(struct thread *thread UNUSED, void *context)
{
    struct exchange *exchanges[POOL_BATCH];
    struct pool *pool = context;

    lock_mutex_acquire(&pool->lock);
    for (;;) {
        size_t n = take_overflow(pool, exchanges);

        if (n == 0) {
            if (pool->is_stopping)
                break;
            lock_condition_wait(&pool->overflow_work, &pool->lock);
            continue;
        }
        lock_mutex_release(&pool->lock);
        settle(pool, exchanges, n);
        lock_mutex_acquire(&pool->lock);
    }
    lock_mutex_release(&pool->lock);
}

static int start_threads(struct pool *pool, struct error *err)
{
    for (uint32_t i = 0; i < pool->n_workers; i++) {
        char name[24];

        pool->workers[i].pool = pool;
        pool->workers[i].number = pool->options.first_worker + i;
        snprintf(name, sizeof(name), "%s-%u", pool->options.name, i);
        if (thread_start(&pool->workers[i].thread, name, work, &pool->workers[i], err) < 0)
            return -1;
    }
    return thread_start(&pool->overflow, "overflow", take_overflows, pool, err);
}

static uint32_t default_workers(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 2 ? 2 : (uint32_t)MIN(n, POOL_MAX_WORKERS);
}

int pool_new(const struct pool_options *options, struct pool **ret_pool, struct error *err)
{
    struct pool *pool = MEMORY_NEW(struct pool, err);

    if (!pool)
        return -1;
    pool->options = *options;
    pool->n_workers = pool_workers(options);
    if (!options->name)
        pool->options.name = "worker";
    if (!options->max_waiting_bytes)
        pool->options.max_waiting_bytes = 32 << 20;
    if (!options->max_waiting)
        pool->options.max_waiting = 4096;
    if (!pool->options.turn_bytes)
        pool->options.turn_bytes = POOL_TURN_BYTES;
    if (!options->max_overflow_bytes)
        pool->options.max_overflow_bytes = 16 << 20;
    lock_mutex_init(&pool->lock, LOCK_NET_POOL);
    lock_condition_init(&pool->work);
    lock_condition_init(&pool->overflow_work);
    pool->workers = memory_alloc_zero(pool->n_workers * sizeof(*pool->workers), err);
    if (!pool->workers || start_threads(pool, err) < 0) {
        pool_free(pool);
        return -1;
    }
    *ret_pool = pool;
    return 0;
}

void pool_stop(struct pool *pool)
{
    if (!pool)
        return;
    lock_mutex_acquire(&pool->lock);
    pool->is_stopping = true;
    lock_condition_wake_all(&pool->work);
    lock_condition_wake_all(&pool->overflow_work);
    lock_mutex_release(&pool->lock);
    for (uint32_t i = 0; pool->workers && i < pool->n_workers; i++)
        thread_stop(&pool->workers[i].thread);
    thread_stop(&pool->overflow);
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pool_stop(pool);
    lock_condition_done(&pool->overflow_work);
    lock_condition_done(&pool->work);
    lock_mutex_done(&pool->lock);
    memory_free(pool->workers);
    memory_free(pool);
}

uint32_t pool_workers(const struct pool_options *options)
{
    return options->n_workers ? MIN(options->n_workers, POOL_MAX_WORKERS) : default_workers();
}

struct pool_counts pool_counts(struct pool *pool)
{
    struct pool_counts counts;

    lock_mutex_acquire(&pool->lock);
    counts = pool->counts;
    lock_mutex_release(&pool->lock);
    return counts;
}
