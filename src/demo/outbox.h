// SPDX-License-Identifier: Apache-2.0
/* What a service of the demo sends to the server: it waits here until the server has taken it.
 *
 * O1  What waits is bounded: OUTBOX_MAX_WAITING bodies. What comes beyond is left out and counted.
 * O2  A server that is away is tried again every few seconds, the oldest first; what it refuses for what it is, is left out. */
#pragma once

#include "base/buffer.h"

#define OUTBOX_MAX_WAITING 64
#define OUTBOX_RETRY_S     2

/* How to reach the server; given by whoever knows networks. */
struct outbox_world {
    /* Posts protobuf to a path of the server. ERR_INVALID: it will never take this; anything else may pass. */
    int (*post)(void *context, const char *path, struct slice body, struct error *err);
    /* Takes what people should know. NULL = nobody listens. */
    void (*tell)(void *context, bool is_warning, const char *text);
    void *context;
};

struct outbox;
/* `world` is copied. Errors: ERR_MEMORY, ERR_IO. */
MUST_CHECK int outbox_start(const struct outbox_world *world, struct outbox **ret_outbox, struct error *err);
/* Posts what waits, unless the server is away, and ends. Accepts NULL. */
void outbox_stop(struct outbox *outbox);

/* Hands a body over: `body` is empty afterwards and without a bound, also when there was no room. `path` lives as long as the program. Thread:
 * any. */
void outbox_push(struct outbox *outbox, const char *path, struct buffer *body);

struct outbox_counts {
    uint64_t n_sent, n_refused, n_lost; /* bodies: taken, refused by the server, left out for want of room */
};
struct outbox_counts outbox_counts(const struct outbox *outbox);
