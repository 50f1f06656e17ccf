// SPDX-License-Identifier: Apache-2.0
#include "server/server_internal.h"

void health_alive(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain; charset=utf-8", SLICE("ok\n"));
}

void health_ready(struct exchange *exchange)
{
    struct server *server = exchange->context;
    struct error err;

    if (atomic_load(&server->is_draining))
        error_set(&err, ERR_CLOSED, "not ready: the server is stopping");
    else if (!atomic_load(&server->is_ready))
        error_set(&err, ERR_CLOSED, "not ready: the server is starting");
    else if (store_ready(server->store, &err) == 0) {
        exchange_answer(exchange, 200, "text/plain; charset=utf-8", SLICE("ready\n"));
        return;
    } else {
        error_wrap(&err, "not ready");
    }
    exchange_answer(exchange, 503, "text/plain; charset=utf-8", slice_from(err.text));
}
