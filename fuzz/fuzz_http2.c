// SPDX-License-Identifier: Apache-2.0
/* What a peer may send behind the preface of HTTP/2, into a connection without a socket. The first byte says how the bytes
 * are cut into pieces, whether the peer reads, and whether there is room for bodies. Memory stays within its limits, every
 * request is answered or let go, and nothing is left behind. */
#include "net/loop_internal.h"
#include "net/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PEER_READS  0x40
#define HAS_NO_ROOM 0x80

static void handle_echo(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain", exchange->request.body);
    exchange_header(exchange, "x-query", exchange->request.query);
}

static void handle_call(struct exchange *exchange)
{
    struct rpc_call call;

    if (rpc_open(exchange, &call) == 0)
        rpc_answer(exchange, &call, call.message);
}

static const struct route routes[] = {
    { .method = HTTP_GET, .path = "/*", .handler = handle_echo, .is_quick = true },
    { .method = HTTP_POST, .path = "/echo", .handler = handle_echo, .is_quick = true, .max_body_bytes = 1000 },
    { .method = HTTP_POST, .path = "/call", .handler = handle_call, .is_quick = true, .is_procedure = true },
};

/* It never moves bytes by itself, since it believes that somebody does. */
static void init_connection(struct httpserver *server, struct loop *loop, struct connection *connection)
{
    *server = (struct httpserver){ .options = { .routes = { routes, ARRAY_LEN(routes) },
                                                .max_body_bytes = 1 << 20,
                                                .max_inflight_bytes = 4 << 20,
                                                .max_answer_bytes = 256 << 20 } };
    *loop = (struct loop){ .server = server };
    *connection = (struct connection){ .loop = loop, .is_pumping = true };
    buffer_init(&connection->in, 0);
    buffer_init(&connection->out, 0);
}

static bool give(struct connection *connection, struct slice bytes, bool reads)
{
    ptrdiff_t n = http2_protocol.input(connection, bytes);

    ASSERT(n < 0 || (size_t)n == bytes.len);
    ASSERT(connection->out.len < 300 << 10);
    ASSERT(connection->n_exchanges <= 128);
    if (n < 0 || connection->is_closing)
        return false;
    if (reads) {
        buffer_clear(&connection->out);
        http2_protocol.output(connection);
    }
    return !connection->is_closing;
}

static void run(struct connection *connection, struct slice bytes, uint8_t how)
{
    size_t piece = (how & 0x3f) == 0 ? SIZE_MAX : (size_t)(how & 0x3f) * 7;
    bool goes_on = give(connection, SLICE(HTTP2_PREFACE), true);

    while (goes_on && bytes.len > 0) {
        goes_on = give(connection, slice_sub(bytes, 0, piece), (how & PEER_READS) != 0);
        bytes = slice_sub(bytes, MIN(piece, bytes.len), SIZE_MAX);
    }
    if (!goes_on)
        return;
    if (how & HAS_NO_ROOM) {
        connection->loop->server->inflight_bytes = 0;
        exchange_feed_starving(connection->loop);
        ASSERT(!connection->loop->starving);
    }
    if (!connection->is_closing)
        http2_protocol.drain(connection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct httpserver server;
    struct loop loop;
    struct connection connection;
    uint64_t taken = size > 0 && data[0] & HAS_NO_ROOM ? 4 << 20 : 0;

    if (size == 0)
        return 0;
    init_connection(&server, &loop, &connection);
    server.inflight_bytes = taken;
    ASSERT(http2_open(&connection, SLICE(""), NULL) == 0);
    run(&connection, slice_of(data + 1, size - 1), data[0]);
    http2_protocol.close(&connection);
    while (connection.exchanges)
        exchange_free(connection.exchanges);
    ASSERT(!loop.starving);
    ASSERT(server.inflight_bytes == 0 || server.inflight_bytes == taken);
    buffer_done(&connection.in);
    buffer_done(&connection.out);
    return 0;
}
