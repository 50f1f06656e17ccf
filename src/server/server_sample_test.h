// SPDX-License-Identifier: Apache-2.0
/* A whole server on a free port of the loopback, asked over real sockets: for the tests of this room. */
#pragma once

#include "base/test.h"
#include "server/server_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct server *start_with(struct server_options options)
{
    struct server *server = NULL;
    struct error err;

    options.listeners[0] = (struct server_listener){ "listen", { .kind = ADDRESS_TCP, .name = "127.0.0.1" } };
    options.n_listeners = 1;
    options.store.data_dir = test_directory();
    options.store.has_background = true;
    options.store.wal_sync = STORE_SYNC_OFF;
    CHECK_OK(server_start(&options, &server, &err), &err);
    return server;
}

static inline int connect_to(const struct server *server)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(server_address(server, 0).port) };
    struct timeval limit = { 20, 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return fd;
}

static inline void send_all(int fd, struct slice bytes)
{
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        bytes = slice_sub(bytes, (size_t)n, SIZE_MAX);
    }
}

static inline void send_request(int fd, const char *line, const char *headers, struct slice body)
{
    struct buffer head;

    buffer_init(&head, 0);
    buffer_printf(&head, "%s HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n", line,
                  body.len, headers);
    send_all(fd, buffer_slice(&head));
    send_all(fd, body);
    buffer_done(&head);
}

/* Reads until the server ends the connection, which it is asked to; the status, and the whole answer in `out`. */
static inline int read_answer(int fd, struct buffer *out)
{
    char bytes[4096];
    ssize_t n;

    buffer_clear(out);
    while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        buffer_append(out, bytes, (size_t)n);
    close(fd);
    buffer_append_byte(out, '\0');
    return out->len > 12 ? atoi(out->data + 9) : 0;
}

static inline int ask(const struct server *server, const char *line, const char *headers, struct slice body,
                      struct buffer *out)
{
    int fd = connect_to(server);

    send_request(fd, line, headers, body);
    return read_answer(fd, out);
}
