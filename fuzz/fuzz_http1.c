// SPDX-License-Identifier: Apache-2.0
/* Requests on a connection of a server whose routes are all quick: the loop is turned by hand, and the other end of the
 * socket is ours. The first byte of the input says how the rest is cut into pieces. Whatever comes, a server answers in whole
 * answers, gives back what it reserved, and says the same however the bytes were cut. What begins as HTTP/2 only has to
 * survive. */
#include "base/hash.h"
#include "net/loop_internal.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_INPUT (16 << 10) /* below what heads may have: how much too long one is told depends on the cuts */

static void handle_echo(struct exchange *exchange)
{
    const struct request *request = &exchange->request;

    exchange_answer(exchange, 200, "text/plain", request->body);
    exchange_header(exchange, "x-path", request->path);
    exchange_header(exchange, "x-query", request->query);
}

static void handle_long(struct exchange *exchange)
{
    exchange_answer(exchange, 200, NULL, SLICE(""));
    for (int i = 0; i < 4096; i++)
        buffer_append_text(&exchange->response.body, "all work and no play makes jack..");
}

static void admit(struct exchange *exchange)
{
    if (slice_is(exchange->request.query, "no"))
        exchange_fail_with(exchange, 401, "no");
}

static const struct route routes[] = {
    { .method = HTTP_POST, .path = "/e", .handler = handle_echo, .admit = admit, .is_quick = true },
    { .method = HTTP_GET, .path = "/e", .handler = handle_echo, .is_quick = true },
    { .method = HTTP_GET, .path = "/long", .handler = handle_long, .is_quick = true },
    { .method = HTTP_POST, .path = "/s", .handler = handle_echo, .max_body_bytes = 16, .is_quick = true },
};

static struct httpserver server = {
    .options = { .routes = { routes, ARRAY_LEN(routes) },
                 .max_body_bytes = 4096,
                 .max_inflight_bytes = 8192,
                 .max_answer_bytes = 256 << 20, /* so that none is refused for others that wait */
                 .max_connections = 4,
                 .head_timeout_ns = CLOCK_NS_PER_SECOND,
                 .body_timeout_ns = CLOCK_NS_PER_SECOND,
                 .idle_timeout_ns = CLOCK_NS_PER_SECOND,
                 .write_timeout_ns = CLOCK_NS_PER_SECOND,
                 .cors_origin = "*" },
};
static struct loop loop = { .server = &server };

static void make_loop(void)
{
    static char read_bytes[LOOP_READ_BYTES];

    loop.base = event_base_new();
    ASSERT(loop.base);
    loop.read_bytes = read_bytes;
    server.loops = &loop;
    server.n_loops = 1;
}

/* Lets the server do what it can, and hears what it says. */
static void turn(int fd, struct buffer *said)
{
    char bytes[4096];
    ssize_t n = 1;

    while (n > 0) {
        event_base_loop(loop.base, EVLOOP_NONBLOCK);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n > 0)
            buffer_append(said, bytes, (size_t)n);
    }
}

static void talk(struct slice bytes, uint64_t cuts, struct buffer *said)
{
    int fds[2];

    ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    connection_new(&loop, fds[0], 0, "127.0.0.1:1");
    while (bytes.len > 0) {
        size_t len = cuts ? 1 + hash_mix64(cuts++) % 32 : bytes.len;
        ssize_t n = send(fds[1], bytes.ptr, MIN(len, bytes.len), MSG_NOSIGNAL);

        if (n <= 0)
            break; /* it has ended */
        bytes = slice_sub(bytes, (size_t)n, SIZE_MAX);
        turn(fds[1], said);
    }
    if (cuts % 2)
        exchange_feed_starving(&loop);
    shutdown(fds[1], SHUT_WR);
    turn(fds[1], said);
    close(fds[1]);
    event_base_loop(loop.base, EVLOOP_NONBLOCK);
    while (loop.connections) {
        connection_tick(loop.connections, INT64_MAX); /* everybody's time is up; first it says so, then it goes */
        if (loop.connections)
            connection_tick(loop.connections, INT64_MAX);
    }
    ASSERT(atomic_load(&server.inflight_bytes) == 0 && atomic_load(&server.starving_bytes) == 0 && !loop.starving);
}

/* Leaves out what depends on the clock and on cuts: the date, and leave to go on for who had not sent its body yet. */
static void strip(struct buffer *said)
{
    static const char leave[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct slice rest = buffer_slice(said);
    size_t len = 0;

    while (rest.len > 0) {
        if (slice_starts_with(rest, slice_from(leave))) {
            rest = slice_sub(rest, sizeof(leave) - 1, SIZE_MAX);
        } else if (slice_starts_with(rest, SLICE("\r\ndate: "))) {
            rest = slice_sub(rest, 8 + HTTP_DATE_BYTES - 1, SIZE_MAX);
        } else {
            said->data[len++] = rest.ptr[0];
            rest = slice_sub(rest, 1, SIZE_MAX);
        }
    }
    buffer_truncate(said, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole, cut;
    struct slice input;
    struct error err;

    if (size < 1 || size > MAX_INPUT)
        return 0;
    if (!loop.base)
        make_loop();
    input = slice_of(data + 1, size - 1);
    buffer_init(&whole, 0);
    buffer_init(&cut, 0);
    talk(input, 0, &whole);
    talk(input, data[0] + 1u, &cut);
    ASSERT(buffer_check(&whole, &err) == 0 && buffer_check(&cut, &err) == 0);
    if (!slice_starts_with(input, SLICE("PRI ")) && slice_find(input, SLICE("h2c")) < 0) {
        strip(&whole);
        strip(&cut);
        ASSERT(slice_equal(buffer_slice(&whole), buffer_slice(&cut)));
        ASSERT(whole.len == 0 || slice_starts_with(buffer_slice(&whole), SLICE("HTTP/1.1 ")));
    }
    buffer_done(&whole);
    buffer_done(&cut);
    return 0;
}
