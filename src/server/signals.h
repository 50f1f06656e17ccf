// SPDX-License-Identifier: Apache-2.0
/* The other signals of OpenTelemetry: traces and metrics go into stores of their own, beside the profiles. Logs are no
 * business of hearth.
 *
 * N1  A 2xx answer means that the spans or points are kept, but for what the answer counts as rejected. Under overload they
 *     are refused for now, since their senders come back, unlike those of profiles.
 * N2  A thread does what is due: syncing, closing hours, forgetting. */
#pragma once

#include "base/error.h"
#include "net/exchange.h"

struct server;

/* How much of what --memory-limit allows (0 = it allows what the stores choose) is for them; the rest is for profiles. */
struct signals_memory {
    uint64_t traces_bytes, metrics_bytes;
};
struct signals_memory signals_memory(uint64_t limit_bytes);

/* Opens both stores and begins the upkeep. Errors: those of tracestore_open and metricstore_open. */
MUST_CHECK int signals_open(struct server *server, struct error *err);
/* Nobody may ask or write any more. Accepts a server that has none open. */
void signals_close(struct server *server);

/* Handlers. */
void signals_take_traces(struct exchange *exchange);
void signals_take_metrics(struct exchange *exchange);
void signals_refuse_logs(struct exchange *exchange);
