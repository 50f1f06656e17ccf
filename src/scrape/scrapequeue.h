// SPDX-License-Identifier: Apache-2.0
/* Who is next: a binary heap by time. */
#pragma once

#include "base/vec.h"

/* Embedded in what waits. */
struct scrapequeue_item {
    int64_t due_mono_ns;
};

struct scrapequeue {
    VEC(struct scrapequeue_item *) heap;
};

void scrapequeue_done(struct scrapequeue *queue);
/* Forgets all, keeps the memory. */
void scrapequeue_clear(struct scrapequeue *queue);
/* Room for `n` in all, so that adding up to there cannot fail. Errors: ERR_MEMORY. */
MUST_CHECK int scrapequeue_reserve(struct scrapequeue *queue, size_t n, struct error *err);
/* There must be room. Kept by reference; its time may not change while it waits. */
void scrapequeue_add(struct scrapequeue *queue, struct scrapequeue_item *item);
/* The item that is due first, or NULL. */
struct scrapequeue_item *scrapequeue_first(const struct scrapequeue *queue);
/* Takes the first out; there must be one. */
void scrapequeue_pop(struct scrapequeue *queue);
