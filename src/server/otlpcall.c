// SPDX-License-Identifier: Apache-2.0
#include "server/otlpcall.h"

#include "base/json.h"
#include "net/route.h"
#include "wire/protobuf.h"

#include <stdio.h>

/* --- opening --- */

/* Others than these would be read as what they are not. That lz4 is lz4 its first bytes say. */
static bool check_encoding(struct exchange *exchange, struct slice coding)
{
    static const char *const known[] = { "", "identity", "gzip", "x-gzip", "zstd", "snappy", "x-snappy-framed", "lz4" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_equal_nocase(slice_trim(coding), slice_from(known[i])))
            return true;
    exchange_fail_with(exchange, 415, "Content-Encoding '%.*s' is not known here; send gzip, zstd, snappy or none",
                       SLICE_ARG(slice_sub(coding, 0, 64)));
    exchange_header_text(exchange, "accept-encoding", "gzip, zstd, snappy");
    return false;
}

static bool open_plain_request(struct exchange *exchange, struct rpc_call *call)
{
    const struct http_headers *headers = &exchange->request.headers;
    struct slice type = http_media_type(http_header(headers, "content-type"));

    *call = (struct rpc_call){ .protocol = RPC_NONE,
                               .message = exchange->request.body,
                               .encoding = http_header(headers, "content-encoding") };
    if (slice_equal_nocase(type, SLICE("application/json"))) {
        call->codec = RPC_JSON;
    } else if (slice_equal_nocase(type, SLICE("application/x-protobuf")) ||
               slice_equal_nocase(type, SLICE("application/protobuf"))) {
        call->codec = RPC_PROTO;
    } else {
        exchange_fail_with(exchange, 415,
                           "Content-Type '%.*s' is not known here; send application/x-protobuf or "
                           "application/json",
                           SLICE_ARG(slice_sub(type, 0, 64)));
        return false;
    }
    return check_encoding(exchange, call->encoding);
}

bool otlpcall_open(struct exchange *exchange, struct rpc_call *ret_call)
{
    return exchange->route->is_procedure ? rpc_open(exchange, ret_call) == 0 : open_plain_request(exchange, ret_call);
}

/* --- answering --- */

static bool has_something(const struct otlpcall_rejected *rejected)
{
    return rejected->n > 0 || (rejected->why && rejected->why[0]);
}

static void write_json(const struct otlpcall_rejected *rejected, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "partialSuccess");
    json_object_begin(&json);
    if (has_something(rejected)) {
        char text[24];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)rejected->n);
        json_key(&json, rejected->name);
        json_text(&json, text);
        json_key(&json, "errorMessage");
        json_text(&json, rejected->why ? rejected->why : "");
    }
    json_object_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static void write_protobuf(const struct otlpcall_rejected *rejected, struct buffer *out)
{
    size_t start;

    if (!has_something(rejected)) {
        protobuf_put_bytes_always(out, 1, SLICE(""));
        return;
    }
    start = protobuf_begin(out, 1);
    protobuf_put_uint(out, 1, rejected->n);
    protobuf_put_bytes(out, 2, slice_from(rejected->why ? rejected->why : ""));
    protobuf_end(out, start);
}

/* Export...ServiceResponse: partial_success is there, and empty if all went well, as the collector does it. */
void otlpcall_accept(struct exchange *exchange, const struct rpc_call *call, const struct otlpcall_rejected *rejected)
{
    bool is_json = call->codec == RPC_JSON;
    struct buffer out;

    buffer_init(&out, 0);
    if (is_json)
        write_json(rejected, &out);
    else
        write_protobuf(rejected, &out);
    if (call->protocol != RPC_NONE)
        rpc_answer(exchange, call, buffer_slice(&out));
    else
        exchange_answer(exchange, 200, is_json ? "application/json" : "application/x-protobuf", buffer_slice(&out));
    buffer_done(&out);
}

/* The collector comes back after UNAVAILABLE and 503 only; to any other failure it drops what it has. */
void otlpcall_reject(struct exchange *exchange, const struct rpc_call *call, const struct error *err,
                     int64_t retry_after_ns)
{
    bool is_passing = retry_after_ns > 0;
    int status = error_code_http_status(err->code);

    if (exchange->route->is_procedure)
        rpc_fail(exchange, call, is_passing ? RPC_UNAVAILABLE : rpc_code_from_error(err->code), err->text,
                 retry_after_ns);
    else
        rpc_shape_failure(exchange, is_passing ? 503 : status == 422 ? 400 : status, err->text, retry_after_ns);
}
