// SPDX-License-Identifier: Apache-2.0
#include "demo/httpcall.h"

#include "base/test.h"
#include "net/httpserver.h"

#include <stdio.h>

static void handle_echo(struct exchange *exchange)
{
    char text[256];

    snprintf(text, sizeof(text), "%.*s by %.*s: %.*s", SLICE_ARG(exchange->request.path),
             SLICE_ARG(http_header(&exchange->request.headers, "traceparent")), SLICE_ARG(exchange->request.body));
    exchange_answer(exchange, slice_is(exchange->request.path, "/bad") ? 500 : 200, "text/plain", slice_from(text));
}

static const struct route routes[] = {
    { .method = HTTP_POST, .path = "/echo", .handler = handle_echo, .is_quick = true },
    { .method = HTTP_POST, .path = "/bad", .handler = handle_echo, .is_quick = true },
};

static struct httpserver *start(uint16_t port)
{
    struct address address = { .kind = ADDRESS_TCP, .port = port, .name = "127.0.0.1" };
    struct httpserver_options options = { .listen = &address,
                                          .n_listen = 1,
                                          .routes = { routes, ARRAY_LEN(routes) },
                                          .pool.n_workers = 1,
                                          .read_pool.n_workers = 1,
                                          .n_loops = 1 };
    struct httpserver *server = NULL;
    struct error err;

    CHECK_OK(httpserver_start(&options, &server, &err), &err);
    return server;
}

static void check_echo(struct httpcall *call, const char *path, int status, const char *wanted)
{
    struct httpcall_request request = { .method = "POST", .path = path, .traceparent = "00-x", .body = SLICE("hello") };
    struct httpcall_answer answer;
    struct error err;

    CHECK_OK(httpcall_perform(call, &request, &answer, &err), &err);
    CHECK_EQ(answer.status, status);
    CHECK_TEXT(answer.body, wanted);
}

TEST(httpcall_keeps_its_connection_and_makes_it_again)
{
    struct httpserver *server = start(0);
    uint16_t port = httpserver_address(server, 0).port;
    struct httpcall call;
    struct error err;

    httpcall_init(&call, port);
    check_echo(&call, "/echo", 200, "/echo by 00-x: hello");
    check_echo(&call, "/bad", 500, "/bad by 00-x: hello");
    CHECK_EQ(httpserver_counts(server).n_accepted, 1);
    httpserver_free(server);
    CHECK_ERROR(httpcall_perform(&call, &(struct httpcall_request){ .method = "POST", .path = "/echo" },
                                 &(struct httpcall_answer){ 0 }, &err),
                &err, ERR_IO);
    CHECK_HAS(err.text, "connecting to port");
    server = start(port);
    check_echo(&call, "/echo", 200, "/echo by 00-x: hello");
    httpserver_free(server);
    server = start(port);
    check_echo(&call, "/echo", 200, "/echo by 00-x: hello"); /* the connection that was kept had ended */
    httpcall_done(&call);
    httpserver_free(server);
}
