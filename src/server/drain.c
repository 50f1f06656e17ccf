// SPDX-License-Identifier: Apache-2.0
/* Takes uploads out of the spill file and stores them, whenever the workers have little to do. */
#include "base/log.h"
#include "server/server_internal.h"

#define DRAIN_LOOK_NS  (CLOCK_NS_PER_SECOND / 5) /* how often to look whether there is something */
#define DRAIN_YIELD_NS (CLOCK_NS_PER_SECOND / 50)
#define DRAIN_RETRY_NS CLOCK_NS_PER_SECOND
#define DRAIN_TRIES    30 /* of an upload that fails for want of memory */
#define DRAIN_PATIENCE 3  /* tries of one that the disk fails, before others have their turn */

struct drain {
    struct server *server;
    struct buffer bytes;
    /* of the upload at hand: */
    unsigned n_tries;
    struct upload_progress progress;
};

/* Those who come now go first, unless the spill file is nearly full: then nobody is helped by its filling up. */
static bool should_yield(struct server *server)
{
    struct httpserver_counts http = httpserver_counts(server->http);
    struct spill_counts spill = spill_counts(server->spill);

    return http.pool.n_waiting > 0 && spill.bytes < spill.max_bytes / 10 * 9;
}

/* An upload that cannot be stored while others may: the day that it belongs to is damaged, say. It goes behind them, or stays
 * first where there is no room for it. */
static bool send_back(struct drain *drain, const struct upload *upload)
{
    struct spill *spill = drain->server->spill;
    struct spill_counts counts = spill_counts(spill);
    struct upload again = *upload;
    struct error err;

    if (counts.n_appended - counts.n_done < 2)
        return false;
    again.progress = drain->progress;
    if (spill_append(spill, &again, &err) == 0 && spill_sync(spill, &err) == 0)
        return true;
    LOG_EVERY(60, LOG_WARN, "server", "an upload that cannot be stored holds back others: %s", err.text);
    return false;
}

/* Stores the upload. False: it must be tried again later. */
static bool store_upload(struct drain *drain, struct upload *upload)
{
    struct server *server = drain->server;
    struct intake_worker *worker = server->workers[server->n_workers];
    struct intake_receipt receipt;
    struct error err;
    int result;

    if (drain->n_tries > 0)
        upload->progress = drain->progress;
    result = intake_take(worker, upload, &receipt, &err);
    drain->progress = receipt.progress;
    if (receipt.n_failed == 0) {
        if (result < 0)
            LOG_EVERY(10, LOG_WARN, "server", "an upload that was put aside cannot be stored: %s", err.text);
        return true;
    }
    drain->n_tries++;
    if (receipt.failure.code == ERR_MEMORY && drain->n_tries >= DRAIN_TRIES) {
        LOG_EVERY(10, LOG_WARN, "server", "an upload that was put aside cannot be stored: %s", receipt.failure.text);
        intake_give_up(worker, upload);
        return true;
    }
    LOG_EVERY(60, LOG_WARN, "server", "uploads stay in the spill file for now: %s", receipt.failure.text);
    return receipt.failure.code == ERR_IO && drain->n_tries % DRAIN_PATIENCE == 0 && send_back(drain, upload);
}

/* One upload; how long to wait before the next. */
static int64_t drain_one(struct drain *drain)
{
    struct server *server = drain->server;
    struct upload upload;
    struct error err;
    bool is_there;

    if (should_yield(server))
        return DRAIN_YIELD_NS;
    if (spill_next(server->spill, &drain->bytes, &upload, &is_there, &err) < 0) {
        LOG_EVERY(60, LOG_ERROR, "server", "the spill file cannot be read: %s", err.text);
        return DRAIN_RETRY_NS;
    }
    if (!is_there) {
        buffer_done(&drain->bytes);
        buffer_init(&drain->bytes, 0);
        return DRAIN_LOOK_NS;
    }
    if (!store_upload(drain, &upload))
        return DRAIN_RETRY_NS;
    drain->n_tries = 0;
    spill_done(server->spill);
    return 0;
}

void drain_run(struct thread *thread, void *context)
{
    struct drain drain = { .server = context };

    buffer_init(&drain.bytes, 0);
    while (!thread_is_stopping(thread)) {
        int64_t wait = drain_one(&drain);

        if (wait > 0 && !thread_sleep(thread, wait))
            break;
    }
    buffer_done(&drain.bytes);
}
