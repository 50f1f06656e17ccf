// SPDX-License-Identifier: Apache-2.0
/* A small HTTP server within a test, which answers by the path as targets do, good and bad ones. */
#pragma once

#include "base/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_CONNECTIONS_MAX 64

struct scrape_server {
    int listener;
    unsigned port;
    pthread_t acceptor;
    pthread_t workers[SERVER_CONNECTIONS_MAX];
    struct scrape_server_connection {
        struct scrape_server *server;
        int fd;
    } connections[SERVER_CONNECTIONS_MAX];
    int n_connections;
    atomic_int n_requests;
    atomic_int n_slow;    /* requests for /slow that wait */
    atomic_bool is_fixed; /* whether /flaky works */
};

static inline bool server_send(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static inline bool server_answer(int fd, const char *status, const char *headers, struct slice body)
{
    char head[1024];
    int len = snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n", status, body.len, headers);

    return server_send(fd, head, (size_t)len) && server_send(fd, body.ptr, body.len);
}

/* Sends until the other side has had enough. */
static inline bool server_flood(int fd)
{
    static char zeros[65536];

    if (!server_send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 38))
        return false;
    while (server_send(fd, zeros, sizeof(zeros)))
        ;
    return false;
}

/* Waits until the other side goes away. */
static inline bool server_wait(struct scrape_server *server, int fd)
{
    char byte;

    atomic_fetch_add(&server->n_slow, 1);
    IGNORE(recv(fd, &byte, 1, 0) < 0, "either way it ended");
    return false;
}

/* False when the connection is to be closed. */
static inline bool server_serve(struct scrape_server *server, int fd, const char *request)
{
    struct slice line = slice_from(request), path;

    slice_next_part(&line, ' ', &path);
    slice_next_part(&line, ' ', &path);
    atomic_fetch_add(&server->n_requests, 1);
    if (slice_starts_with(path, SLICE("/good")))
        return server_answer(fd, "200 OK", "Content-Type: application/octet-stream\r\n", SLICE("a profile"));
    if (slice_starts_with(path, SLICE("/encoded")))
        return server_answer(fd, "200 OK", "content-encoding: gzip\r\n", SLICE("\x1f\x8b..."));
    if (slice_is(path, "/echo") || slice_starts_with(path, SLICE("/echo?")))
        return server_answer(fd, "200 OK", "", slice_from(request));
    if (slice_starts_with(path, SLICE("/busy")))
        return server_answer(fd, "500 Internal Server Error", "X-Go-Pprof: 1\r\n",
                             SLICE("Could not enable CPU profiling: cpu profiling already in use\n"));
    if (slice_is(path, "/broken"))
        return server_answer(fd, "503 Service Unavailable", "", SLICE("come\tback later\nsecond line\n"));
    if (slice_is(path, "/flaky"))
        return atomic_load(&server->is_fixed) ? server_answer(fd, "200 OK", "", SLICE("better"))
                                              : server_answer(fd, "500 Oops", "", SLICE(""));
    if (slice_is(path, "/private"))
        return server_answer(fd, "401 Unauthorized", "", SLICE(""));
    if (slice_is(path, "/redirect"))
        return server_answer(fd, "302 Found", "Location: /good\r\nX-Go-Pprof: 1\r\n", SLICE("elsewhere"));
    if (slice_is(path, "/loop"))
        return server_answer(fd, "302 Found", "Location: /loop\r\n", SLICE(""));
    if (slice_is(path, "/file"))
        return server_answer(fd, "302 Found", "Location: file:///etc/hostname\r\n", SLICE(""));
    if (slice_is(path, "/slow"))
        return server_wait(server, fd);
    if (slice_is(path, "/huge"))
        return server_flood(fd);
    if (slice_is(path, "/huge-length"))
        return server_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", 48) && false;
    if (slice_is(path, "/cut"))
        return server_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", 42) && false;
    if (slice_is(path, "/nonsense"))
        return server_send(fd, "SSH-2.0-OpenSSH\r\n\r\n", 19) && false;
    return server_answer(fd, "404 Not Found", "X-Go-Pprof: 1\r\n", SLICE("Unknown profile\n"));
}

static inline void *server_connection(void *argument)
{
    struct scrape_server_connection *connection = argument;
    char request[8192];
    size_t len = 0;

    for (;;) {
        ssize_t n = recv(connection->fd, request + len, sizeof(request) - 1 - len, 0);

        if (n <= 0)
            break;
        len += (size_t)n;
        request[len] = '\0';
        if (!strstr(request, "\r\n\r\n"))
            continue;
        if (!server_serve(connection->server, connection->fd, request))
            break;
        len = 0;
    }
    shutdown(connection->fd, SHUT_RDWR);
    return NULL;
}

static inline void *server_accept(void *argument)
{
    struct scrape_server *server = argument;
    int fd;

    while (server->n_connections < SERVER_CONNECTIONS_MAX && (fd = accept(server->listener, NULL, NULL)) >= 0) {
        int i = server->n_connections++;

        server->connections[i].server = server;
        server->connections[i].fd = fd;
        ASSERT(pthread_create(&server->workers[i], NULL, server_connection, &server->connections[i]) == 0);
    }
    return NULL;
}

static inline void server_start(struct scrape_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);

    memset(server, 0, sizeof(*server));
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(server->listener >= 0);
    CHECK_EQ(bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_EQ(listen(server->listener, 64), 0);
    CHECK_EQ(getsockname(server->listener, (struct sockaddr *)&address, &len), 0);
    server->port = ntohs(address.sin_port);
    CHECK_EQ(pthread_create(&server->acceptor, NULL, server_accept, server), 0);
}

static inline void server_stop(struct scrape_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->acceptor, NULL);
    close(server->listener);
    for (int i = 0; i < server->n_connections; i++) {
        shutdown(server->connections[i].fd, SHUT_RDWR);
        pthread_join(server->workers[i], NULL);
        close(server->connections[i].fd);
    }
}
