// SPDX-License-Identifier: Apache-2.0
/* Servers on loopback with some routes, and clients that speak to them byte by byte. Clients wait for at most WAIT_SECONDS,
 * which no test that passes does. */
#pragma once

#include "base/clock.h"
#include "base/test.h"
#include "net/httpserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_SECONDS 20
#define LARGE_BYTES  (8 << 20)
#define MS           (CLOCK_NS_PER_SECOND / 1000)

/* --- routes --- */

static _Atomic bool is_open; /* the gate that some handlers wait at */
static _Atomic unsigned n_entered, n_gone, n_left, n_settled;

static inline void handle_hello(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    char text[256];

    snprintf(text, sizeof(text), "%.*s %.*s ?%.*s %zu", SLICE_ARG(request->method_text), SLICE_ARG(request->path),
             SLICE_ARG(request->query), request->body.len);
    exchange_answer(exchange, 200, "text/plain", slice_from(text));
}

static inline void handle_echo(struct exchange *exchange)
{
    exchange_answer(exchange, 200, NULL, exchange->request.body);
}

static inline void handle_gate(struct exchange *exchange)
{
    atomic_fetch_add(&n_entered, 1);
    while (!atomic_load(&is_open) && !atomic_load(&exchange->is_gone))
        usleep(200);
    atomic_fetch_add(&n_gone, atomic_load(&exchange->is_gone));
    exchange_answer(exchange, 200, NULL, exchange->request.peer); /* still there if the connection is not */
    atomic_fetch_add(&n_left, 1);
}

static inline void handle_large(struct exchange *exchange)
{
    exchange_answer(exchange, 200, NULL, SLICE(""));
    for (int i = 0; i < LARGE_BYTES / 16; i++)
        buffer_append(&exchange->response.body, "0123456789abcdef", 16);
}

/* What it had no memory for is missing. */
static inline void handle_torn(struct exchange *exchange)
{
    exchange_answer(exchange, 200, NULL, SLICE(""));
    exchange_header_text(exchange, "cache-control", "immutable");
    buffer_done(&exchange->response.body);
    buffer_init(&exchange->response.body, 8);
    buffer_append_text(&exchange->response.body, "01234567");
    buffer_append_text(&exchange->response.body, "89");
}

/* As many zeros as the query says, as JSON; those of "?1000000!" look at random, so that they do not compress. */
static inline void handle_zeros(struct exchange *exchange)
{
    size_t n = (size_t)strtoull(exchange->request.query.ptr, NULL, 10);
    bool is_random = slice_ends_with(exchange->request.query, SLICE("!"));

    exchange_answer(exchange, 200, is_random ? "application/octet-stream" : "application/json", SLICE(""));
    for (size_t i = 0; i < n; i++)
        buffer_append_byte(&exchange->response.body, is_random ? (char)(i * 2654435761u >> 13) : '0');
}

static inline void handle_worker(struct exchange *exchange)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", exchange->worker);
    exchange_answer(exchange, 200, NULL, slice_from(text));
}

static inline void handle_nothing(struct exchange *exchange UNUSED) {}

static inline void overflow(struct exchange *exchange)
{
    exchange_answer(exchange, 202, NULL, SLICE("overflowed"));
}

static inline void admit(struct exchange *exchange)
{
    if (!http_header(&exchange->request.headers, "authorization").ptr)
        exchange_fail_with(exchange, 401, "who are you?");
}

static inline uint64_t lane(const struct exchange *exchange)
{
    return exchange->request.query.len;
}

static inline void settle(void *context UNUSED, struct exchange **exchanges UNUSED, size_t n)
{
    atomic_fetch_add(&n_settled, (unsigned)n);
}

static const struct route routes[] = {
    { .method = HTTP_GET, .path = "/quick", .handler = handle_hello, .is_quick = true },
    { .method = HTTP_GET, .path = "/pooled", .handler = handle_hello },
    { .method = HTTP_POST, .path = "/echo", .handler = handle_echo },
    { .method = HTTP_POST, .path = "/quick-echo", .handler = handle_echo, .is_quick = true },
    { .method = HTTP_POST, .path = "/small", .handler = handle_echo, .max_body_bytes = 1000 },
    { .method = HTTP_POST, .path = "/gate", .handler = handle_gate, .lane = lane },
    { .method = HTTP_POST, .path = "/spill", .handler = handle_gate, .overflow = overflow, .lane = lane },
    { .method = HTTP_GET, .path = "/large", .handler = handle_large, .is_quick = true },
    { .method = HTTP_GET, .path = "/torn", .handler = handle_torn },
    { .method = HTTP_GET, .path = "/quick-torn", .handler = handle_torn, .is_quick = true },
    { .method = HTTP_GET, .path = "/silent", .handler = handle_nothing },
    { .method = HTTP_POST, .path = "/admitted", .handler = handle_echo, .admit = admit },
    { .method = HTTP_GET, .path = "/read", .scope = ROUTE_READ, .handler = handle_hello },
    { .method = HTTP_GET, .path = "/read-gate", .scope = ROUTE_READ, .handler = handle_gate },
    { .method = HTTP_GET, .path = "/read-zeros", .scope = ROUTE_READ, .handler = handle_zeros },
    { .method = HTTP_GET, .path = "/zeros", .handler = handle_zeros },
    { .method = HTTP_POST, .path = "/write", .scope = ROUTE_WRITE, .handler = handle_echo },
    { .method = HTTP_POST, .path = "/write-gate", .scope = ROUTE_WRITE, .handler = handle_gate },
    { .method = HTTP_GET, .path = "/read-worker", .scope = ROUTE_READ, .handler = handle_worker },
    { .method = HTTP_POST, .path = "/write-worker", .scope = ROUTE_WRITE, .handler = handle_worker },
    { .method = HTTP_POST, .path = "/admin", .scope = ROUTE_ADMIN, .handler = handle_echo },
};

/* --- the server --- */

static const struct address loopback = { .kind = ADDRESS_TCP, .name = "127.0.0.1" };

static inline struct httpserver *start_with(struct httpserver_options options)
{
    struct httpserver *server;
    struct error err;

    atomic_store(&is_open, false);
    atomic_store(&n_entered, 0);
    atomic_store(&n_gone, 0);
    atomic_store(&n_left, 0);
    atomic_store(&n_settled, 0);
    options.routes = (struct route_table){ routes, ARRAY_LEN(routes) };
    options.settle = settle;
    if (!options.n_listen) {
        options.listen = &loopback;
        options.n_listen = 1;
    }
    if (!options.pool.n_workers)
        options.pool.n_workers = 2;
    CHECK_OK(httpserver_start(&options, &server, &err), &err);
    return server;
}

static inline struct httpserver *start(void)
{
    return start_with((struct httpserver_options){ .n_loops = 2 });
}

static inline void stopp(struct httpserver **server)
{
    atomic_store(&is_open, true);
    httpserver_free(*server);
}
#define SERVER AUTO(stopp) UNUSED struct httpserver *server

#define WAIT_UNTIL(condition)                                                                                          \
    do {                                                                                                               \
        int64_t until_ = clock_mono_ns() + WAIT_SECONDS * CLOCK_NS_PER_SECOND;                                         \
        while (!(condition)) {                                                                                         \
            if (clock_mono_ns() > until_)                                                                              \
                test_fail(__FILE__, __LINE__, "'%s' never came true", #condition);                                     \
            usleep(500);                                                                                               \
        }                                                                                                              \
    } while (0)

/* --- clients --- */

static inline void closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
#define CLIENT AUTO(closep) int

static inline void hang_up(int *fd)
{
    close(*fd);
    *fd = -1;
}

static inline int dial(const struct httpserver *server)
{
    struct address address = httpserver_address(server, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(address.port) };
    struct timeval patience = { WAIT_SECONDS, 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return fd;
}

/* How many bytes could be sent before the other end would not have any more. */
static inline size_t send_bytes(int fd, const void *bytes, size_t len)
{
    size_t sent = 0;

    while (sent < len) {
        ssize_t n = send(fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    return sent;
}

static inline void say(int fd, const char *text)
{
    CHECK_EQ(send_bytes(fd, text, strlen(text)), strlen(text));
}

struct answer {
    int status;
    char head[4096];
    struct buffer body;
};

static inline void answer_donep(struct answer *answer)
{
    buffer_done(&answer->body);
}
#define ANSWER AUTO(answer_donep) struct answer

/* One byte; false at the end. */
static inline bool read_byte(int fd, char *ret_byte)
{
    ssize_t n = recv(fd, ret_byte, 1, 0);

    if (n < 0 && errno != ECONNRESET)
        test_fail(__FILE__, __LINE__, "waiting for an answer: %s", strerror(errno));
    return n == 1;
}

static inline size_t content_length(const struct answer *answer)
{
    const char *line = strstr(answer->head, "\r\ncontent-length: ");

    return line ? (size_t)strtoull(line + 18, NULL, 10) : 0;
}

/* Reads one answer, nothing behind it. Status 0: the connection ended instead. */
static inline void hear_head(int fd, struct answer *ret_answer)
{
    size_t len = 0;

    buffer_done(&ret_answer->body);
    memset(ret_answer, 0, sizeof(*ret_answer));
    buffer_init(&ret_answer->body, 0);
    while (len < sizeof(ret_answer->head) - 1 && read_byte(fd, ret_answer->head + len)) {
        len++;
        if (len >= 4 && memcmp(ret_answer->head + len - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    if (len > 0) {
        CHECK_HAS(ret_answer->head, "HTTP/1.1 ");
        ret_answer->status = atoi(ret_answer->head + 9);
    }
}

static inline void hear(int fd, struct answer *ret_answer)
{
    size_t left;

    hear_head(fd, ret_answer);
    for (left = content_length(ret_answer); left > 0;) {
        char bytes[65536];
        ssize_t n = recv(fd, bytes, MIN(left, sizeof(bytes)), 0);

        CHECK(n > 0);
        buffer_append(&ret_answer->body, bytes, (size_t)n);
        left -= (size_t)n;
    }
}

static inline void expect_answer(int fd, int status, const char *body)
{
    ANSWER answer = { 0 };

    hear(fd, &answer);
    CHECK_EQ(answer.status, status);
    if (body)
        CHECK_TEXT(buffer_slice(&answer.body), body);
}

static inline void ask(int fd, const char *request, int status, const char *body)
{
    say(fd, request);
    expect_answer(fd, status, body);
}

static inline void expect_end(int fd)
{
    char byte;

    CHECK(!read_byte(fd, &byte));
}

static inline bool is_alive(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

#define GET(path)               "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST(path, extra, body) "POST " path " HTTP/1.1\r\nHost: x\r\n" extra "\r\n" body
#define ADMIN(extra, body)      "POST /admin HTTP/1.1\r\nHost: localhost\r\n" extra "\r\n" body
