// SPDX-License-Identifier: Apache-2.0
#include "net/pool.h"

#include "base/memory.h"
#include "base/test.h"
#include "net/route.h"

#include <stdlib.h>
#include <unistd.h>

#define MAX_EXCHANGES 512

/* One worker, which a gate holds at its first exchange, so that what comes behind it waits. */
struct world {
    struct pool *pool;
    struct exchange *exchanges[MAX_EXCHANGES];
    size_t n;
    /* Written by the pool's threads, read when they have stopped or `n_done` says so. */
    _Atomic size_t n_done;
    uint32_t order[MAX_EXCHANGES];
    size_t n_settled[MAX_EXCHANGES], n_settles;
};

static _Atomic bool is_open;

static void handle(struct exchange *exchange)
{
    while (!atomic_load(&is_open))
        usleep(200);
    exchange->response.status = 200;
}

static void handle_overflow(struct exchange *exchange)
{
    while (slice_is(exchange->request.path, "/held") && !atomic_load(&is_open))
        usleep(200);
    exchange->response.status = 202;
}

static const struct route plain = { .method = HTTP_POST, .path = "/", .handler = handle };
static const struct route spilling = {
    .method = HTTP_POST, .path = "/s", .handler = handle, .overflow = handle_overflow
};

static void done(void *context, struct exchange *exchange)
{
    struct world *world = context;
    size_t at = atomic_load(&world->n_done);

    ASSERT(exchange->response.status != 0); /* in a thread that is not the test's */
    world->order[at % MAX_EXCHANGES] = (uint32_t)exchange->stream;
    atomic_fetch_add(&world->n_done, 1);
}

static void settle(void *context, struct exchange **exchanges, size_t n)
{
    struct world *world = context;

    for (size_t i = 0; i < n; i++)
        ASSERT(exchanges[i]->response.status == 202);
    world->n_settled[world->n_settles++ % MAX_EXCHANGES] = n;
}

static struct world *new_world_of(struct pool_options options)
{
    struct world *world = calloc(1, sizeof(*world));
    struct error err;

    CHECK(world);
    options.n_workers = 1;
    options.context = world;
    options.done = done;
    options.settle = settle;
    atomic_store(&is_open, false);
    CHECK_OK(pool_new(&options, &world->pool, &err), &err);
    return world;
}

static struct world *new_world(uint32_t max_waiting, uint64_t max_waiting_bytes, uint64_t max_overflow_bytes)
{
    return new_world_of((struct pool_options){
        .max_waiting = max_waiting, .max_waiting_bytes = max_waiting_bytes, .max_overflow_bytes = max_overflow_bytes });
}

static void free_worldp(struct world **world)
{
    atomic_store(&is_open, true);
    pool_free((*world)->pool);
    for (size_t i = 0; i < (*world)->n; i++)
        free((*world)->exchanges[i]);
    free(*world);
}

static struct exchange *new_exchange(struct world *world, const struct route *route, uint64_t lane, size_t body_bytes)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    CHECK(exchange && world->n < MAX_EXCHANGES);
    exchange->route = route;
    exchange->lane = lane;
    exchange->stream = (int32_t)world->n;
    exchange->request.body = (struct slice){ "", body_bytes }; /* nobody looks into it */
    exchange->request.path = SLICE("/");
    world->exchanges[world->n++] = exchange;
    return exchange;
}

static bool submit(struct world *world, const struct route *route, uint64_t lane, size_t body_bytes)
{
    return pool_submit(world->pool, new_exchange(world, route, lane, body_bytes));
}

/* The worker is busy with the first exchange from now on. */
static void occupy_worker(struct world *world)
{
    CHECK(submit(world, &plain, 0, 0));
    while (pool_counts(world->pool).n_run == 0)
        usleep(200);
}

static void run_all(struct world *world)
{
    atomic_store(&is_open, true);
    pool_stop(world->pool);
    CHECK_EQ(world->n_done, world->n);
}

TEST(pool_runs_a_lane_in_the_order_it_came)
{
    AUTO(free_worldp) struct world *world = new_world(0, 0, 0);

    occupy_worker(world);
    for (int i = 0; i < 50; i++)
        CHECK(submit(world, &plain, 7, 100));
    CHECK_EQ(pool_counts(world->pool).n_waiting, 50);
    run_all(world);
    for (uint32_t i = 0; i < world->n; i++)
        CHECK_EQ(world->order[i], i);
    CHECK_EQ(pool_counts(world->pool).n_waiting, 0);
    CHECK_EQ(pool_counts(world->pool).waiting_bytes, 0);
}

TEST(pool_lets_a_quiet_lane_pass_a_noisy_one)
{
    AUTO(free_worldp) struct world *world = new_world(0, 64 << 20, 0);
    size_t at = 0;

    occupy_worker(world);
    for (int i = 0; i < 200; i++)
        CHECK(submit(world, &plain, 1, 100000));
    CHECK(submit(world, &plain, 2, 100)); /* number 201, behind 20 MB */
    run_all(world);
    while (world->order[at] != 201)
        at++;
    CHECK(at <= 5); /* one turn of the noisy lane at most */
}

TEST(pool_with_short_turns_runs_one_of_each_lane)
{
    AUTO(free_worldp) struct world *world = new_world_of((struct pool_options){ .turn_bytes = POOL_EXCHANGE_BYTES });
    size_t at = 0;

    occupy_worker(world);
    for (int i = 0; i < 50; i++)
        CHECK(submit(world, &plain, 1, 0));
    CHECK(submit(world, &plain, 2, 0)); /* number 51 */
    run_all(world);
    while (world->order[at] != 51)
        at++;
    CHECK(at <= 2);
}

TEST(pool_gives_lanes_the_same_bytes_not_the_same_number)
{
    AUTO(free_worldp) struct world *world = new_world(0, 64 << 20, 0);
    size_t small_before_last_large = 0;

    occupy_worker(world);
    for (int i = 0; i < 20; i++)
        CHECK(submit(world, &plain, 1, 1 << 20));
    for (int i = 0; i < 200; i++)
        CHECK(submit(world, &plain, 2, 10000));
    run_all(world);
    for (size_t i = 0; i < world->n && world->order[i] != 20; i++)
        small_before_last_large += world->order[i] > 20;
    CHECK_EQ(small_before_last_large, 200); /* all of them are less than what the large ones bring */
}

TEST(pool_moves_the_newest_of_the_longest_lane_out_for_others)
{
    AUTO(free_worldp) struct world *world = new_world(4, 0, 0);

    occupy_worker(world);
    for (int i = 0; i < 4; i++)
        CHECK(submit(world, &spilling, 1, 1000));
    CHECK(submit(world, &spilling, 2, 1000)); /* lane 1 makes room with number 4 */
    while (world->n_done < 1)
        usleep(200);
    CHECK_EQ(world->order[0], 4);
    CHECK_EQ(world->exchanges[4]->response.status, 202);
    CHECK(submit(world, &spilling, 1, 1000)); /* now lane 1 is the longest: it goes to the overflow itself */
    while (world->n_done < 2)
        usleep(200);
    CHECK_EQ(world->order[1], 6);
    CHECK_EQ(pool_counts(world->pool).n_overflowed, 2);
    run_all(world);
    CHECK_EQ(world->exchanges[5]->response.status, 200);
    CHECK_EQ(pool_counts(world->pool).n_refused, 0);
    CHECK_EQ(pool_counts(world->pool).overflow_bytes, 0);
}

TEST(pool_refuses_what_has_no_overflow_when_it_is_full)
{
    AUTO(free_worldp) struct world *world = new_world(2, 0, 0);

    occupy_worker(world);
    CHECK(submit(world, &plain, 1, 1000));
    CHECK(submit(world, &plain, 1, 1000));
    CHECK(!submit(world, &plain, 1, 1000));
    CHECK(!submit(world, &plain, 2, 1000)); /* lane 1 is longer, but has nowhere to go; it keeps its place */
    CHECK_EQ(pool_counts(world->pool).n_refused, 2);
    CHECK_EQ(pool_counts(world->pool).n_waiting, 2);
    world->n -= 2; /* they were not taken, so they are never done */
    free(world->exchanges[world->n]);
    free(world->exchanges[world->n + 1]);
    run_all(world);
    CHECK_EQ(world->order[1], 1);
    CHECK_EQ(world->order[2], 2);
}

TEST(pool_counts_bytes_that_wait_but_always_takes_one)
{
    AUTO(free_worldp) struct world *world = new_world(0, 100000, 0);

    occupy_worker(world);
    CHECK(submit(world, &plain, 1, 10 << 20)); /* larger than all that may wait */
    CHECK(!submit(world, &plain, 2, 1));
    free(world->exchanges[--world->n]);
    run_all(world);
}

TEST(pool_bounds_the_overflow_too)
{
    AUTO(free_worldp) struct world *world = new_world(1, 0, 20000);
    size_t n_taken = 0;

    occupy_worker(world);
    CHECK(submit(world, &spilling, 1, 1000));
    for (int i = 0; i < 10; i++) { /* the overflow thread is held at the first of them */
        struct exchange *exchange = new_exchange(world, &spilling, 1, 1000);

        exchange->request.path = SLICE("/held");
        if (!pool_submit(world->pool, exchange)) {
            free(world->exchanges[--world->n]);
            break;
        }
        n_taken++;
    }
    CHECK(n_taken >= 3 && n_taken <= 5); /* 5,096 bytes each, and the first always */
    CHECK_EQ(pool_counts(world->pool).n_refused, 1);
    run_all(world);
    CHECK_EQ(pool_counts(world->pool).overflow_bytes, 0);
}

TEST(pool_settles_what_overflowed_together)
{
    AUTO(free_worldp) struct world *world = new_world(1, 0, 0);
    size_t n = 0;

    occupy_worker(world);
    CHECK(submit(world, &spilling, 1, 0));
    for (int i = 0; i < 100; i++) {
        struct exchange *exchange = new_exchange(world, &spilling, 1, 0);

        exchange->request.path = SLICE("/held"); /* until all of them are there */
        CHECK(pool_submit(world->pool, exchange));
    }
    run_all(world);
    for (size_t i = 0; i < world->n_settles; i++)
        n += world->n_settled[i];
    CHECK_EQ(n, 100);
    CHECK(world->n_settles <= 3); /* the first alone at worst, and the rest at once */
}

TEST(pool_takes_nothing_once_it_stops)
{
    AUTO(free_worldp) struct world *world = new_world(0, 0, 0);

    occupy_worker(world);
    CHECK(submit(world, &plain, 1, 10));
    run_all(world);
    CHECK(!submit(world, &plain, 1, 10));
}

static int make_pool(void *context UNUSED, struct error *err)
{
    struct pool_options options = { .n_workers = 2, .done = done };
    struct pool *pool;

    if (pool_new(&options, &pool, err) < 0)
        return -1;
    pool_free(pool);
    return 0;
}

TEST(pool_leaves_nothing_behind_when_memory_runs_out)
{
    test_each_allocation_failing(make_pool, NULL);
}
