// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"

#include "base/lock.h"
#include "base/memory.h"

struct queue {
    struct lock_mutex lock;
    struct lock_condition has_items; /* or is closed */
    struct lock_condition has_room;  /* or is closed */
    void (*free_item)(void *item);
    size_t max;
    size_t first;               /* guarded by lock: where the oldest item is */
    bool is_closed;             /* guarded by lock */
    struct queue_counts counts; /* guarded by lock */
    void *items[];              /* guarded by lock: a ring of `max` */
};

int queue_new(size_t max_items, void (*free_item)(void *item), struct queue **ret_queue, struct error *err)
{
    struct queue *queue;
    size_t size;

    if (max_items == 0 || __builtin_mul_overflow(max_items, sizeof(queue->items[0]), &size) ||
        __builtin_add_overflow(size, sizeof(*queue), &size))
        return error_set(err, ERR_LIMIT, "a queue of %zu items cannot be made", max_items);
    queue = memory_alloc_zero(size, err);
    if (!queue)
        return -1;
    lock_mutex_init(&queue->lock, LOCK_QUEUE);
    lock_condition_init(&queue->has_items);
    lock_condition_init(&queue->has_room);
    queue->free_item = free_item;
    queue->max = max_items;
    *ret_queue = queue;
    return 0;
}

/* Caller holds the lock, and there is an item. */
static void *take_oldest(struct queue *queue)
{
    void *item = queue->items[queue->first];

    queue->first = (queue->first + 1) % queue->max;
    queue->counts.n--;
    return item;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    while (queue->counts.n > 0) {
        void *item = take_oldest(queue);

        if (queue->free_item)
            queue->free_item(item);
    }
    lock_condition_done(&queue->has_room);
    lock_condition_done(&queue->has_items);
    lock_mutex_done(&queue->lock);
    memory_free(queue);
}

int queue_push(struct queue *queue, void *item, enum queue_policy policy, struct error *err)
{
    ASSERT(item);
    LOCK_SCOPE(&queue->lock);
    while (policy == QUEUE_WAIT && queue->counts.n == queue->max && !queue->is_closed)
        lock_condition_wait(&queue->has_room, &queue->lock);
    if (queue->is_closed || queue->counts.n == queue->max) {
        queue->counts.dropped++;
        return queue->is_closed ? error_set(err, ERR_CLOSED, "the queue is closed")
                                : error_set(err, ERR_FULL, "the queue is full with %zu items", queue->max);
    }
    queue->items[(queue->first + queue->counts.n) % queue->max] = item;
    queue->counts.n++;
    queue->counts.pushed++;
    queue->counts.most = MAX(queue->counts.most, queue->counts.n);
    lock_condition_wake_one(&queue->has_items);
    return 0;
}

/* Caller holds the lock. Returns when there is an item, the queue is closed or the time is over. */
static void wait_for_items(struct queue *queue, int64_t timeout_ns)
{
    int64_t deadline_ns = timeout_ns > 0 ? lock_deadline_ns(timeout_ns) : 0;

    while (queue->counts.n == 0 && !queue->is_closed && timeout_ns != 0) {
        if (timeout_ns < 0)
            lock_condition_wait(&queue->has_items, &queue->lock);
        else if (!lock_condition_wait_until(&queue->has_items, &queue->lock, deadline_ns))
            return;
    }
}

size_t queue_pop(struct queue *queue, size_t max_items, int64_t timeout_ns, void **ret_items)
{
    size_t n = 0;

    LOCK_SCOPE(&queue->lock);
    wait_for_items(queue, timeout_ns);
    while (n < max_items && queue->counts.n > 0)
        ret_items[n++] = take_oldest(queue);
    queue->counts.popped += n;
    if (n > 1)
        lock_condition_wake_all(&queue->has_room);
    else if (n == 1)
        lock_condition_wake_one(&queue->has_room);
    return n;
}

bool queue_is_drained(struct queue *queue)
{
    LOCK_SCOPE(&queue->lock);
    return queue->is_closed && queue->counts.n == 0;
}

void queue_close(struct queue *queue)
{
    LOCK_SCOPE(&queue->lock);
    queue->is_closed = true;
    lock_condition_wake_all(&queue->has_items);
    lock_condition_wake_all(&queue->has_room);
}

struct queue_counts queue_counts(struct queue *queue)
{
    LOCK_SCOPE(&queue->lock);
    return queue->counts;
}
