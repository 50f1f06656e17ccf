// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/test.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PRODUCERS 3
#define CONSUMERS 3
#define EACH      3000

static void *number(uintptr_t value)
{
    return (void *)value; /* never followed */
}

TEST(queue_gives_items_in_order_and_up_to_as_many_as_wanted)
{
    AUTO(queue_freep) struct queue *queue = NULL;
    struct error err;
    void *items[4];
    uintptr_t next_in = 1, next_out = 1;

    CHECK_OK(queue_new(5, NULL, &queue, &err), &err);
    for (int round = 0; round < 10; round++) { /* goes around the ring */
        for (int i = 0; i < 5; i++)
            CHECK_OK(queue_push(queue, number(next_in++), QUEUE_REFUSE, &err), &err);
        CHECK_EQ(queue_pop(queue, 4, 0, items), 4);
        for (int i = 0; i < 4; i++)
            CHECK(items[i] == number(next_out++));
        CHECK_EQ(queue_pop(queue, 4, 0, items), 1);
        CHECK(items[0] == number(next_out++));
    }
    CHECK_EQ(queue_pop(queue, 4, 0, items), 0);
}

TEST(queue_that_is_full_refuses_and_counts)
{
    AUTO(queue_freep) struct queue *queue = NULL;
    struct error err;
    struct queue_counts counts;
    void *item;

    CHECK_OK(queue_new(2, NULL, &queue, &err), &err);
    CHECK_OK(queue_push(queue, number(1), QUEUE_REFUSE, &err), &err);
    CHECK_OK(queue_push(queue, number(2), QUEUE_REFUSE, &err), &err);
    CHECK_ERROR(queue_push(queue, number(3), QUEUE_REFUSE, &err), &err, ERR_FULL);
    CHECK_HAS(err.text, "full with 2 items");
    CHECK_EQ(queue_pop(queue, 1, 0, &item), 1);
    CHECK_OK(queue_push(queue, number(4), QUEUE_REFUSE, &err), &err);
    counts = queue_counts(queue);
    CHECK_EQ(counts.pushed, 3);
    CHECK_EQ(counts.popped, 1);
    CHECK_EQ(counts.dropped, 1);
    CHECK_EQ(counts.n, 2);
    CHECK_EQ(counts.most, 2);
}

TEST(queue_that_is_closed_lets_nothing_in_and_all_out)
{
    AUTO(queue_freep) struct queue *queue = NULL;
    struct error err;
    void *items[2];

    CHECK_OK(queue_new(2, NULL, &queue, &err), &err);
    CHECK_OK(queue_push(queue, number(1), QUEUE_WAIT, &err), &err);
    queue_close(queue);
    queue_close(queue);
    CHECK_ERROR(queue_push(queue, number(2), QUEUE_WAIT, &err), &err, ERR_CLOSED);
    CHECK_ERROR(queue_push(queue, number(2), QUEUE_REFUSE, &err), &err, ERR_CLOSED);
    CHECK_EQ(queue_counts(queue).dropped, 2);
    CHECK(!queue_is_drained(queue));
    CHECK_EQ(queue_pop(queue, 2, -1, items), 1);
    CHECK(queue_is_drained(queue));
    CHECK_EQ(queue_pop(queue, 2, -1, items), 0);
}

TEST(queue_pop_waits_no_longer_than_told)
{
    AUTO(queue_freep) struct queue *queue = NULL;
    struct error err;
    void *item;
    int64_t start_ns = clock_mono_ns();

    CHECK_OK(queue_new(1, NULL, &queue, &err), &err);
    CHECK_EQ(queue_pop(queue, 1, 20000000, &item), 0);
    CHECK(clock_mono_ns() - start_ns >= 20000000);
    CHECK(!queue_is_drained(queue));
}

static int freed;

static void free_item(void *item)
{
    freed += (int)(uintptr_t)item;
}

TEST(queue_free_frees_what_nobody_popped)
{
    struct queue *queue;
    struct error err;
    void *item;

    freed = 0;
    queue_free(NULL);
    CHECK_OK(queue_new(3, free_item, &queue, &err), &err);
    for (uintptr_t i = 1; i <= 3; i++)
        CHECK_OK(queue_push(queue, number(i), QUEUE_WAIT, &err), &err);
    CHECK_EQ(queue_pop(queue, 1, 0, &item), 1);
    queue_free(queue);
    CHECK_EQ(freed, 5);
}

TEST(queue_of_impossible_size_is_refused)
{
    struct queue *queue = NULL;
    struct error err;

    CHECK_ERROR(queue_new(0, NULL, &queue, &err), &err, ERR_LIMIT);
    CHECK_ERROR(queue_new(SIZE_MAX / 8, NULL, &queue, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "items cannot be made");
    memory_fail_at(1);
    CHECK_ERROR(queue_new(4, NULL, &queue, &err), &err, ERR_MEMORY);
    CHECK(!queue);
}

struct traffic {
    struct queue *queue;
    enum queue_policy policy;
    _Atomic uint64_t sent_sum;
    _Atomic uint64_t received_sum;
    _Atomic uint64_t received;
    _Atomic uint64_t refused;
    _Atomic uintptr_t next_start;
};

/* Sends numbers of its own; each a heap object, so that the sanitizers watch the handing over. */
static void produce(struct thread *thread, void *context)
{
    struct traffic *traffic = context;
    uintptr_t start = atomic_fetch_add(&traffic->next_start, EACH);

    for (uintptr_t i = start; i < start + EACH; i++) {
        struct error err;
        uint64_t *item = malloc(sizeof(*item));

        ASSERT(item);
        *item = i;
        if (queue_push(traffic->queue, item, traffic->policy, &err) == 0) {
            atomic_fetch_add(&traffic->sent_sum, i);
        } else {
            ASSERT(err.code == ERR_FULL);
            atomic_fetch_add(&traffic->refused, 1);
            free(item);
        }
    }
}

static void consume(struct thread *thread, void *context)
{
    struct traffic *traffic = context;

    while (!queue_is_drained(traffic->queue)) {
        void *items[7];
        size_t n = queue_pop(traffic->queue, ARRAY_LEN(items), -1, items);

        for (size_t i = 0; i < n; i++) {
            atomic_fetch_add(&traffic->received_sum, *(uint64_t *)items[i]);
            free(items[i]);
        }
        atomic_fetch_add(&traffic->received, n);
    }
}

static void run_traffic(struct traffic *traffic)
{
    struct thread producers[PRODUCERS], consumers[CONSUMERS];
    struct queue_counts counts;
    struct error err;

    CHECK_OK(queue_new(16, NULL, &traffic->queue, &err), &err);
    for (int i = 0; i < CONSUMERS; i++)
        CHECK_OK(thread_start(&consumers[i], "consume", consume, traffic, &err), &err);
    for (int i = 0; i < PRODUCERS; i++)
        CHECK_OK(thread_start(&producers[i], "produce", produce, traffic, &err), &err);
    for (int i = 0; i < PRODUCERS; i++)
        thread_stop(&producers[i]);
    queue_close(traffic->queue);
    for (int i = 0; i < CONSUMERS; i++)
        thread_stop(&consumers[i]);

    counts = queue_counts(traffic->queue);
    CHECK_EQ(counts.pushed + counts.dropped, PRODUCERS * EACH);
    CHECK_EQ(counts.popped, counts.pushed);
    CHECK_EQ(counts.dropped, traffic->refused);
    CHECK(counts.most <= 16);
    CHECK_EQ(traffic->received, counts.pushed);
    CHECK_EQ(traffic->received_sum, traffic->sent_sum);
    queue_free(traffic->queue);
}

TEST(queue_between_many_threads_loses_nothing)
{
    struct traffic traffic = { .policy = QUEUE_WAIT };

    run_traffic(&traffic);
    CHECK_EQ(traffic.received, PRODUCERS * EACH);
}

TEST(queue_between_many_threads_counts_what_it_refuses)
{
    struct traffic traffic = { .policy = QUEUE_REFUSE };

    run_traffic(&traffic);
}

static void push_into_full(struct thread *thread, void *context)
{
    struct traffic *traffic = context;
    struct error err;

    while (queue_push(traffic->queue, number(1), QUEUE_WAIT, &err) == 0)
        ;
    traffic->refused = err.code == ERR_CLOSED;
}

TEST(queue_close_wakes_those_who_wait_for_room)
{
    struct traffic traffic = { .policy = QUEUE_WAIT };
    struct thread thread;
    struct error err;

    CHECK_OK(queue_new(1, NULL, &traffic.queue, &err), &err);
    CHECK_OK(thread_start(&thread, "push", push_into_full, &traffic, &err), &err);
    while (queue_counts(traffic.queue).n == 0)
        sched_yield();
    queue_close(traffic.queue);
    thread_stop(&thread);
    CHECK_EQ(traffic.refused, 1);
    queue_free(traffic.queue);
}
