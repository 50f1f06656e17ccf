// SPDX-License-Identifier: Apache-2.0
/* hearth's own API: a request to a path of apirow.h is a run of a command within the server, so that its answer is what
 * the command prints, byte for byte.
 *
 * P1  What the command tells beside its answer (notes, warnings) is in the header X-Hearth-Messages: a JSON array of
 *     {"level", "text"}, in ASCII, as much of it as API_MESSAGES_BYTES hold. An exit status other than 0 is in
 *     X-Hearth-Exit.
 * P2  A failure has the status of its error code and the command's sentence; X-Hearth-Error has the code.
 * P3  Server-Timing says what was read for the answer and how long its steps took.
 * P4  A request sees its own tenant. The run ends when the asker has gone or the server's time for a query is over, and
 *     takes no more memory than a query may; its answer is bounded by the same number. */
#pragma once

#include "cli/apirow.h"
#include "server/server.h"

#define API_MESSAGES_BYTES 4096

/* The context of apirow_routes. */
struct api {
    const struct command_set *set;
    bool is_multi_tenant;
    const char *data_dir;
    uint64_t query_bytes;      /* more than 0 */
    int64_t timeout_ns;        /* 0 = none */
    const char *trace_link;    /* --trace-link; NULL = none */
    struct server_parts parts; /* from api_begin on */
};

/* The routes as a guest of a server; `api` outlives it. */
struct server_guest api_guest(struct api *api);
/* Takes what the server has; server_guest.begin. */
MUST_CHECK int api_begin(void *self, const struct server_parts *parts, struct error *err);

/* The handler of every row. */
void api_serve(struct exchange *exchange);
