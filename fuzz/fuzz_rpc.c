// SPDX-License-Identifier: Apache-2.0
/* Envelopes of calls. The first byte says by which version of HTTP and to what route, then come lines of headers, an empty
 * line and the body. Whatever comes is opened or answered, and what is answered can be opened as a call again. */
#include "net/route.h"
#include "net/rpc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct route procedure = { .path = "/a.B/C", .is_procedure = true };
static const struct route plain = { .path = "/v1development/profiles" };

static struct exchange *new_exchange(struct slice body)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    ASSERT(exchange);
    arena_init(&exchange->arena, 1 << 20);
    buffer_init(&exchange->response.body, 0);
    exchange->request.path = SLICE("/a.B/C");
    exchange->request.body = body;
    return exchange;
}

static void free_exchangep(struct exchange **exchange)
{
    arena_done(&(*exchange)->arena);
    buffer_done(&(*exchange)->response.body);
    free(*exchange);
}

static struct exchange *make_exchange(uint8_t kind, struct slice text)
{
    struct exchange *exchange = new_exchange(SLICE(""));
    struct http_headers *headers = &exchange->request.headers;
    struct slice line;

    exchange->request.version = kind & 1 ? HTTP_2 : HTTP_1_1;
    exchange->route = kind & 2 ? &procedure : kind & 4 ? &plain : NULL;
    if (kind & 4)
        exchange->request.path = SLICE("/v1development/profiles");
    while (slice_next_line(&text, &line) && line.len > 0) {
        ptrdiff_t colon = slice_find_byte(line, ':');

        if (colon > 0 && headers->n < HTTP_MAX_HEADERS)
            headers->items[headers->n++] =
                (struct http_header){ slice_sub(line, 0, (size_t)colon), slice_sub(line, (size_t)colon + 1, SIZE_MAX) };
    }
    exchange->request.body = text;
    return exchange;
}

static void check_answer(const struct exchange *exchange)
{
    struct error err;

    ASSERT(exchange->response.status >= 200 && exchange->response.status < 600);
    ASSERT(buffer_check(&exchange->response.body, &err) == 0);
}

/* The answer to a call of gRPC or Connect is what a call of the same kind looks like. */
static void open_again(const struct exchange *exchange, const struct rpc_call *call, struct slice message)
{
    AUTO(free_exchangep) struct exchange *again = new_exchange(buffer_slice(&exchange->response.body));
    struct rpc_call opened;

    again->request.version = exchange->request.version;
    again->request.headers = exchange->response.headers;
    ASSERT(rpc_open(again, &opened) == 0);
    ASSERT(opened.protocol == call->protocol && opened.codec == call->codec);
    ASSERT(opened.encoding.len > 0 || slice_equal(opened.message, message));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct exchange *made = make_exchange(size > 0 ? data[0] : 0, slice_of(data + (size > 0), size - (size > 0)));
    AUTO(free_exchangep) struct exchange *exchange = made;
    struct rpc_call call;
    struct slice message;

    rpc_shape_failure(exchange, size > 1 ? 400 + data[1] % 112 : 500, "a \xff% sentence\n", (int64_t)size % 3);
    check_answer(exchange);
    exchange->response.status = 0;
    if (rpc_open(exchange, &call) < 0) {
        check_answer(exchange);
        return 0;
    }
    ASSERT(call.protocol != RPC_NONE && call.timeout_ns >= 0 && call.encoding.ptr && call.message.len <= size);
    message = call.message.len > 0 ? call.message : SLICE("x");
    rpc_answer(exchange, &call, message);
    check_answer(exchange);
    ASSERT(exchange->response.status == 200);
    if (call.protocol == RPC_GRPC || call.protocol == RPC_CONNECT)
        open_again(exchange, &call, message);
    rpc_fail(exchange, &call, RPC_UNAVAILABLE, "later", 1);
    check_answer(exchange);
    return 0;
}
