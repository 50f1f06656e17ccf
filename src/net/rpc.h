// SPDX-License-Identifier: Apache-2.0
/* Remote procedure calls over HTTP, unary ones: gRPC, gRPC-Web and Connect, told apart by their content types. Handlers
 * of procedures open the call, look at its message, and answer with a message or a failure; the envelopes are made here.
 *
 * And the shape of every failure that people or programs get to see, RPC or not (exchange_fail comes here), with the one
 * table that says which code of ours is which HTTP status, which gRPC code and which word of Connect. */
#pragma once

#include "net/exchange.h"

enum rpc_protocol {
    RPC_NONE, /* plain HTTP */
    RPC_GRPC,
    RPC_GRPC_WEB,
    RPC_GRPC_WEB_TEXT, /* in base64 */
    RPC_CONNECT,
};
enum rpc_codec { RPC_PROTO, RPC_JSON };

/* gRPC's status codes by their numbers. */
enum rpc_code {
    RPC_OK,
    RPC_CANCELLED,
    RPC_UNKNOWN,
    RPC_INVALID_ARGUMENT,
    RPC_DEADLINE_EXCEEDED,
    RPC_NOT_FOUND,
    RPC_ALREADY_EXISTS,
    RPC_PERMISSION_DENIED,
    RPC_RESOURCE_EXHAUSTED,
    RPC_FAILED_PRECONDITION,
    RPC_ABORTED,
    RPC_OUT_OF_RANGE,
    RPC_UNIMPLEMENTED,
    RPC_INTERNAL,
    RPC_UNAVAILABLE,
    RPC_DATA_LOSS,
    RPC_UNAUTHENTICATED,
};
#define RPC_CODE_COUNT (RPC_UNAUTHENTICATED + 1)
/* "invalid_argument", as Connect writes it. */
const char *rpc_code_name(enum rpc_code code);
/* The HTTP status that Connect gives to a code. */
int rpc_code_http_status(enum rpc_code code);
/* The code of an error of ours, and of an HTTP status that stands for one. */
enum rpc_code rpc_code_from_error(enum error_code code);
enum rpc_code rpc_code_from_status(int http_status);

struct rpc_call {
    enum rpc_protocol protocol;
    enum rpc_codec codec;
    struct slice message;  /* as it came: compressed if `encoding` says so */
    struct slice encoding; /* "gzip", "zstd", "snappy"; empty = plain */
    int64_t timeout_ns;    /* that the caller allows; 0 = as long as it takes */
};

/* Which protocol the request speaks, by its Content-Type. Connect is only for procedures: application/proto, or
 * application/json on a route that is one. */
enum rpc_protocol rpc_protocol_of(const struct request *request, bool is_procedure);

/* Opens the call: takes the envelope off. On failure the exchange is answered as the protocol wants it (415 for a content
 * type that is none, unimplemented for an encoding that we do not know, ...) and -1 returned. */
MUST_CHECK int rpc_open(struct exchange *exchange, struct rpc_call *ret_call);
/* Answers with a message, plain bytes; compressed if it is large and the caller accepts gzip. */
void rpc_answer(struct exchange *exchange, const struct rpc_call *call, struct slice message);
/* Answers with a failure. `retry_after_ns` > 0 adds when to try again: Retry-After, and RetryInfo for gRPC. */
void rpc_fail(struct exchange *exchange, const struct rpc_call *call, enum rpc_code code, const char *message,
              int64_t retry_after_ns);

/* The failure of any request, in the shape that it expects: for gRPC status 200 (or as it must be) with trailers, for
 * Connect and plain HTTP {"code":...,"message":...}, for OTLP/HTTP (paths that begin with /v1) a google.rpc.Status in the
 * request's encoding. `status` is the HTTP status where that is what is shown. */
void rpc_shape_failure(struct exchange *exchange, int status, const char *message, int64_t retry_after_ns);
