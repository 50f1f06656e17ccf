// SPDX-License-Identifier: Apache-2.0
/* A bounded queue of pointers between threads. What travels is a batch of work; the queue owns it on the way.
 *
 * Q1  It never holds more than the maximum given at birth. What does not fit waits outside or is refused, and every
 *     refusal is counted.
 * Q2  Items leave in the order they came in.
 * Q3  After queue_close nothing gets in, and all that was in still comes out. */
#pragma once

#include "base/error.h"

struct queue;

enum queue_policy {
    QUEUE_WAIT,   /* wait for room */
    QUEUE_REFUSE, /* ERR_FULL when there is no room */
};

struct queue_counts {
    uint64_t pushed;
    uint64_t popped;
    uint64_t dropped; /* refused because the queue was full or closed */
    size_t n;         /* waiting now */
    size_t most;      /* waiting at the worst moment so far */
};

/* A queue of at most `max_items` (at least 1). Items still inside at queue_free go through `free_item`, which may be
 * NULL. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int queue_new(size_t max_items, void (*free_item)(void *item), struct queue **ret_queue, struct error *err);
/* Nobody may still be using the queue. Accepts NULL. */
void queue_free(struct queue *queue);

/* Hands `item` (not NULL) over. On failure it is still the caller's.
 * Errors: ERR_FULL (QUEUE_REFUSE only), ERR_CLOSED.  Thread: any. */
MUST_CHECK int queue_push(struct queue *queue, void *item, enum queue_policy policy, struct error *err);

/* Takes up to `max_items` items, waiting until there is one. Returns how many; 0 after `timeout_ns` without any (0 = do
 * not wait, negative = wait as long as it takes), or at once when the queue is closed and empty.  Thread: any. */
MUST_CHECK size_t queue_pop(struct queue *queue, size_t max_items, int64_t timeout_ns, void **ret_items);

/* Whether the queue is closed and empty: no further pop will give anything. */
bool queue_is_drained(struct queue *queue);

/* Lets nothing in any more and wakes everybody who waits. Closing twice is fine.  Thread: any. */
void queue_close(struct queue *queue);

struct queue_counts queue_counts(struct queue *queue);

static inline void queue_freep(struct queue **queue)
{
    queue_free(*queue);
}
