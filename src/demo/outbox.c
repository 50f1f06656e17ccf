// SPDX-License-Identifier: Apache-2.0
#include "demo/outbox.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/queue.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdio.h>

#define LOOK_NS  (CLOCK_NS_PER_SECOND / 4)
#define RETRY_NS (OUTBOX_RETRY_S * CLOCK_NS_PER_SECOND)

struct letter {
    const char *path;
    struct buffer body;
};

struct outbox {
    struct outbox_world world;
    struct queue *letters;
    struct thread thread;
    bool is_away, has_refused; /* of the thread: what was told already */
    _Atomic uint64_t n_sent, n_refused, n_lost;
};

static void free_letter(void *item)
{
    struct letter *letter = item;

    buffer_done(&letter->body);
    memory_free(letter);
}

static void tell(const struct outbox *outbox, bool is_warning, const char *text)
{
    if (outbox->world.tell)
        outbox->world.tell(outbox->world.context, is_warning, text);
}

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- the thread --- */

/* Tells the first time only, until it is there again. */
static void note_away(struct outbox *outbox, const struct error *err)
{
    char text[sizeof(err->text) + 40];

    if (!outbox->is_away) {
        snprintf(text, sizeof(text), "%s; trying again every %d s", err->text, OUTBOX_RETRY_S);
        tell(outbox, true, text);
    }
    outbox->is_away = true;
}

static void note_refused(struct outbox *outbox, const struct error *err)
{
    count(&outbox->n_refused);
    if (!outbox->has_refused)
        tell(outbox, true, err->text);
    outbox->has_refused = true;
}

static void note_sent(struct outbox *outbox)
{
    if (outbox->is_away)
        tell(outbox, false, "the server takes what is sent");
    outbox->is_away = false;
    count(&outbox->n_sent);
}

/* Until the server has taken it, or will never, or the time is over. */
static void deliver(struct outbox *outbox, const struct letter *letter)
{
    struct error err;

    while (outbox->world.post(outbox->world.context, letter->path, buffer_slice(&letter->body), &err) < 0) {
        if (err.code == ERR_INVALID) {
            note_refused(outbox, &err);
            return;
        }
        note_away(outbox, &err);
        if (!thread_sleep(&outbox->thread, RETRY_NS)) {
            count(&outbox->n_lost);
            return;
        }
    }
    note_sent(outbox);
}

static void run(struct thread *thread, void *context)
{
    struct outbox *outbox = context;
    void *item;

    while (!queue_is_drained(outbox->letters)) {
        if (queue_pop(outbox->letters, 1, LOOK_NS, &item) == 0)
            continue;
        if (outbox->is_away && thread_is_stopping(thread))
            count(&outbox->n_lost);
        else
            deliver(outbox, item);
        free_letter(item);
    }
}

/* --- the box --- */

int outbox_start(const struct outbox_world *world, struct outbox **ret_outbox, struct error *err)
{
    struct outbox *outbox = MEMORY_NEW(struct outbox, err);

    if (!outbox)
        return -1;
    outbox->world = *world;
    if (queue_new(OUTBOX_MAX_WAITING, free_letter, &outbox->letters, err) < 0 ||
        thread_start(&outbox->thread, "outbox", run, outbox, err) < 0) {
        queue_free(outbox->letters);
        memory_free(outbox);
        return -1;
    }
    *ret_outbox = outbox;
    return 0;
}

void outbox_stop(struct outbox *outbox)
{
    if (!outbox)
        return;
    queue_close(outbox->letters);
    thread_stop(&outbox->thread);
    queue_free(outbox->letters);
    memory_free(outbox);
}

void outbox_push(struct outbox *outbox, const char *path, struct buffer *body)
{
    struct error ignored;
    struct letter *letter = MEMORY_NEW(struct letter, &ignored);

    if (letter) {
        *letter = (struct letter){ path, *body };
        buffer_init(body, 0);
    }
    if (!letter || queue_push(outbox->letters, letter, QUEUE_REFUSE, &ignored) < 0) {
        count(&outbox->n_lost);
        if (letter)
            free_letter(letter);
    }
    buffer_clear(body);
}

struct outbox_counts outbox_counts(const struct outbox *outbox)
{
    return (struct outbox_counts){ .n_sent = atomic_load(&outbox->n_sent),
                                   .n_refused = atomic_load(&outbox->n_refused),
                                   .n_lost = atomic_load(&outbox->n_lost) };
}
