// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapequeue.h"

void scrapequeue_done(struct scrapequeue *queue)
{
    VEC_DONE(&queue->heap);
}

void scrapequeue_clear(struct scrapequeue *queue)
{
    queue->heap.n = 0;
}

int scrapequeue_reserve(struct scrapequeue *queue, size_t n, struct error *err)
{
    return n <= queue->heap.n ? 0 : VEC_RESERVE(&queue->heap, n - queue->heap.n, SIZE_MAX, err);
}

void scrapequeue_add(struct scrapequeue *queue, struct scrapequeue_item *item)
{
    struct scrapequeue_item **heap = queue->heap.items;
    size_t at = queue->heap.n++;

    ASSERT(queue->heap.n <= queue->heap.capacity);
    for (; at > 0 && heap[(at - 1) / 2]->due_mono_ns > item->due_mono_ns; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

struct scrapequeue_item *scrapequeue_first(const struct scrapequeue *queue)
{
    return queue->heap.n > 0 ? queue->heap.items[0] : NULL;
}

void scrapequeue_pop(struct scrapequeue *queue)
{
    struct scrapequeue_item **heap = queue->heap.items, *last;
    size_t n = --queue->heap.n, at = 0, below;

    last = heap[n];
    while ((below = 2 * at + 1) < n) {
        below += below + 1 < n && heap[below + 1]->due_mono_ns < heap[below]->due_mono_ns;
        if (heap[below]->due_mono_ns >= last->due_mono_ns)
            break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = last;
}
