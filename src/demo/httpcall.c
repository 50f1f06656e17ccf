// SPDX-License-Identifier: Apache-2.0
#include "demo/httpcall.h"

#include "demo/httpreply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 4096

void httpcall_init(struct httpcall *call, uint16_t port)
{
    *call = (struct httpcall){ .fd = -1, .port = port };
    buffer_init(&call->out, HTTPREPLY_MAX_HEAD + HTTPREPLY_MAX_BODY);
    buffer_init(&call->in, HTTPREPLY_MAX_HEAD + HTTPREPLY_MAX_BODY + READ_BYTES);
}

static void hang_up(struct httpcall *call)
{
    if (call->fd >= 0)
        close(call->fd);
    call->fd = -1;
}

void httpcall_done(struct httpcall *call)
{
    hang_up(call);
    buffer_done(&call->out);
    buffer_done(&call->in);
}

/* --- the connection --- */

static int set_up(int fd, struct error *err)
{
    struct timeval timeout = { .tv_sec = HTTPCALL_TIMEOUT_S };
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
        return error_set_errno(err, errno, "setting up a connection");
    return 0;
}

static int dial(struct httpcall *call, struct error *err)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(call->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    call->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (call->fd < 0)
        return error_set_errno(err, errno, "making a connection");
    if (set_up(call->fd, err) < 0)
        return -1;
    while (connect(call->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        if (errno != EINTR)
            return error_set_errno(err, errno, "connecting to port %u", call->port);
    return 0;
}

static int failed(const char *doing, const struct httpcall *call, struct error *err)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return error_set(err, ERR_TIMEOUT, "%s port %u: nothing happened for %d s", doing, call->port,
                         HTTPCALL_TIMEOUT_S);
    return error_set_errno(err, errno, "%s port %u", doing, call->port);
}

static int send_all(struct httpcall *call, struct error *err)
{
    struct slice rest = buffer_slice(&call->out);

    while (rest.len > 0) {
        ssize_t n = send(call->fd, rest.ptr, rest.len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed("writing to", call, err);
        rest = slice_sub(rest, (size_t)n, SIZE_MAX);
    }
    return 0;
}

static int receive_some(struct httpcall *call, struct error *err)
{
    char *room = buffer_reserve(&call->in, READ_BYTES);
    ssize_t n;

    if (!room)
        return buffer_check(&call->in, err);
    do
        n = recv(call->fd, room, READ_BYTES, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return failed("reading from", call, err);
    if (n == 0)
        return error_set(err, ERR_IO, "port %u ended the connection in the middle of an answer", call->port);
    buffer_commit(&call->in, (size_t)n);
    return 0;
}

/* --- the call --- */

static int write_request(struct httpcall *call, const struct httpcall_request *request, struct error *err)
{
    buffer_clear(&call->out);
    buffer_printf(&call->out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %zu\r\n", request->method,
                  request->path, call->port, request->body.len);
    if (request->traceparent)
        buffer_printf(&call->out, "traceparent: %s\r\n", request->traceparent);
    buffer_append_text(&call->out, "\r\n");
    buffer_append_slice(&call->out, request->body);
    return buffer_check(&call->out, err);
}

static int exchange(struct httpcall *call, struct httpreply *ret_reply, struct error *err)
{
    bool is_whole = false;

    buffer_clear(&call->in);
    if (call->fd < 0 && dial(call, err) < 0)
        return -1;
    if (send_all(call, err) < 0)
        return -1;
    while (!is_whole || call->in.len < ret_reply->head_bytes + ret_reply->body_bytes) {
        if (receive_some(call, err) < 0)
            return -1;
        if (!is_whole && httpreply_parse(buffer_slice(&call->in), &is_whole, ret_reply, err) < 0)
            return -1;
    }
    return 0;
}

int httpcall_perform(struct httpcall *call, const struct httpcall_request *request, struct httpcall_answer *ret_answer,
                     struct error *err)
{
    bool was_kept = call->fd >= 0;
    struct httpreply reply;
    int result;

    if (write_request(call, request, err) < 0)
        return -1;
    result = exchange(call, &reply, err);
    if (result < 0 && was_kept && call->in.len == 0 && err->code == ERR_IO) {
        hang_up(call); /* it had ended before it could see the request */
        result = exchange(call, &reply, err);
    }
    if (result < 0 || !reply.keeps_alive)
        hang_up(call);
    if (result < 0)
        return -1;
    *ret_answer = (struct httpcall_answer){ reply.status,
                                            slice_sub(buffer_slice(&call->in), reply.head_bytes, reply.body_bytes) };
    return 0;
}
