// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry's exports, of whatever signal: by gRPC or HTTP, protobuf or JSON. How a request is opened, and how its sender
 * wants to be answered, is the same for all of them. */
#pragma once

#include "net/rpc.h"

/* What was not kept, as the partial success of the answer tells it. */
struct otlpcall_rejected {
    const char *name; /* "rejectedSpans" */
    uint64_t n;
    const char *why; /* NULL = nothing to say; with n = 0 it is a warning */
};

/* Opens the export: the call of a procedure, or a plain request, whose protocol is then RPC_NONE. False: it is answered, since
 * its envelope, content type or encoding is not one that is taken. */
bool otlpcall_open(struct exchange *exchange, struct rpc_call *ret_call);
/* Answers that it is kept, but for what was rejected. */
void otlpcall_accept(struct exchange *exchange, const struct rpc_call *call, const struct otlpcall_rejected *rejected);
/* Answers that nothing is kept. `retry_after_ns` > 0: for now, and the sender may come back. */
void otlpcall_reject(struct exchange *exchange, const struct rpc_call *call, const struct error *err,
                     int64_t retry_after_ns);
