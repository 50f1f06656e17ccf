// SPDX-License-Identifier: Apache-2.0
/* All routes of a server, those that bring data and those that ask for it, with a store behind them: requests with any
 * query, type and body are answered, with a status that is meant, by workers and by the overflow alike. The first byte of
 * the input chooses the route, the second the headers; then come a query up to the end of the line, and the body. */
#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUTS_PER_STORE 5000 /* then it begins anew, so that it stays small */
#define MAX_ARENA        (4 << 20)

static char directory[256];
static struct server *server;
static unsigned n_inputs;

static void close_server(void)
{
    struct error err;

    server_stop(server, 0);
    server = NULL;
    if (fs_remove_tree(directory, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
}

/* No listeners: requests are made here. In memory if there is some: nothing of this is about disks. */
static void open_server(void)
{
    static bool is_registered;
    struct server_options options = { .n_workers = 1, .max_body_bytes = 1 << 20, .max_spill_bytes = 1 << 20 };
    struct error err;

    log_set_level(LOG_ERROR);
    snprintf(directory, sizeof(directory), "%s/hearth-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm"
             : getenv("TMPDIR")            ? getenv("TMPDIR")
                                           : "/tmp");
    ASSERT(mkdtemp(directory));
    options.store.data_dir = directory;
    options.store.memory_limit_bytes = 64 << 20;
    options.store.wal_sync = STORE_SYNC_OFF;
    if (server_start(&options, &server, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    if (!is_registered)
        atexit(close_server);
    is_registered = true;
}

static void add(struct http_headers *headers, struct slice name, struct slice value)
{
    headers->items[headers->n++] = (struct http_header){ name, value };
}

static void add_headers(struct http_headers *headers, uint8_t choice)
{
    static const char *const types[] = { "application/proto",    "application/json",
                                         "application/grpc",     "application/x-protobuf",
                                         "application/grpc-web", "multipart/form-data; boundary=b",
                                         "text/plain",           "binary/octet-stream" };
    static const char *const codings[] = { "identity", "gzip", "zstd", "snappy" };

    add(headers, SLICE("content-type"), slice_from(types[choice % 8]));
    if (choice & 8)
        add(headers, SLICE("content-encoding"), slice_from(codings[choice >> 4 & 3]));
    if (choice & 64) {
        add(headers, SLICE("x-profile-type"), SLICE("heap"));
        add(headers, SLICE("x-profile-timestamp"), SLICE("2026-11-15T10:00:00.123456789Z"));
        add(headers, SLICE("x-trace-id"), SLICE("0123456789abcdef0123456789abcdef"));
    }
}

static void handle(struct exchange *exchange, bool is_overflow)
{
    const struct route *route = exchange->route;

    if (route->admit)
        route->admit(exchange);
    if (exchange->response.status != 0)
        return;
    if (is_overflow && route->overflow) {
        exchange->lane = route->lane(exchange);
        route->overflow(exchange);
        receive_settle(server, &exchange, 1);
    } else {
        route->handler(exchange);
    }
}

/* What senders act upon; 500 is for faults of our own. */
static bool is_meant(int status)
{
    return status == 200 || status == 201 || status == 204 || (status >= 400 && status <= 429) || status == 499 ||
           status == 501 || status == 503 || status == 507;
}

/* `choice` as data[0] and data[1] of an input. */
static void send(const uint8_t choice[static 2], struct slice query, struct slice body)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    ASSERT(exchange);
    exchange->route = &server->routes.routes[choice[0] % 128 % server->routes.n];
    exchange->request = (struct request){ .version = HTTP_2,
                                          .method = exchange->route->method,
                                          .method_text = slice_from(http_method_name(exchange->route->method)),
                                          .path = slice_from(exchange->route->path),
                                          .query = query,
                                          .authority = SLICE("x"),
                                          .peer = SLICE("127.0.0.1:1"),
                                          .body = body,
                                          .received_ns = clock_now_ns() };
    add_headers(&exchange->request.headers, choice[1]);
    exchange->context = exchange->route->context;
    /* Whoever waits for a profile of the server waits for long. */
    atomic_store(&exchange->is_gone, exchange->route->handler == selfprofiling_profile);
    arena_init(&exchange->arena, MAX_ARENA);
    buffer_init(&exchange->response.body, 0);
    handle(exchange, choice[0] >= 128);
    ASSERT(is_meant(exchange->response.status));
    buffer_done(&exchange->response.body);
    arena_done(&exchange->arena);
    free(exchange);
}

/* So that those who ask find something. */
static void send_some(void)
{
    static const uint8_t ingest[2] = { 0, 6 };

    send(ingest, SLICE("name=api.cpu{zone=eu}"), SLICE("main;work;read 5\nmain;work 7\nmain;other 1\n"));
    send(ingest, SLICE("name=api.cpu{zone=us}"), SLICE("main;work;write 3\nidle 2\n"));
    send(ingest, SLICE("name=web.inuse_space"), SLICE("main;cache 4096\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input;
    ptrdiff_t end;

    if (size < 2)
        return 0;
    if (server && ++n_inputs % INPUTS_PER_STORE == 0)
        close_server();
    if (!server) {
        open_server();
        send_some();
    }
    input = slice_of(data + 2, size - 2);
    end = slice_find_byte(input, '\n');
    send(data, slice_sub(input, 0, end < 0 ? 0 : (size_t)end), slice_sub(input, (size_t)(end + 1), SIZE_MAX));
    return 0;
}
