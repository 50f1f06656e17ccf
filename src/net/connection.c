// SPDX-License-Identifier: Apache-2.0
#include "net/connection_internal.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "net/loop_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define CONNECTION_MAX_OUT        (64 << 20)
#define CONNECTION_KEEP_BYTES     4096        /* of buffers that are empty for the moment */
#define CONNECTION_TURN_BYTES     (512 << 10) /* read before others have their turn */
#define CONNECTION_LINGER_NS      (3 * CLOCK_NS_PER_SECOND)
#define CONNECTION_BODY_PERIODS   10         /* a body may take this many timeouts in all */
#define CONNECTION_ANSWER_PERIODS 10         /* and so may reading an answer */
#define CONNECTION_CHOKE_BYTES    (1 << 20)  /* of answers that the peer does not read: it may ask nothing more then */
#define CONNECTION_COPY_BYTES     (64 << 10) /* bodies up to this are copied rather than kept apart */

/* --- plain sockets --- */

static ptrdiff_t plain_read(struct connection *connection, void *bytes, size_t len)
{
    return recv(connection->fd, bytes, len, 0);
}

static ptrdiff_t plain_write(struct connection *connection, const struct iovec *pieces, int n)
{
    struct msghdr message = { .msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)n };

    return sendmsg(connection->fd, &message, MSG_NOSIGNAL);
}

static void plain_close(struct connection *connection)
{
    close(connection->fd);
}

static const struct transport plain = { plain_read, plain_write, plain_close };

/* --- waiting --- */

static int64_t timeout_of(const struct httpserver_options *options, enum connection_wait wait)
{
    switch (wait) {
    case CONNECTION_IDLE: return options->idle_timeout_ns;
    case CONNECTION_HEAD: return options->head_timeout_ns;
    case CONNECTION_BODY: return options->body_timeout_ns;
    case CONNECTION_WRITE: return options->write_timeout_ns;
    case CONNECTION_LINGER: return CONNECTION_LINGER_NS;
    default: return 0;
    }
}

void connection_wait_for(struct connection *connection, enum connection_wait wait)
{
    int64_t timeout = timeout_of(&connection->loop->server->options, wait);

    if (wait == CONNECTION_HEAD && connection->wait == CONNECTION_HEAD)
        return; /* a head has one deadline, however it trickles in */
    connection->wait = wait;
    connection->wait_until_mono_ns = timeout > 0 ? clock_mono_ns() + timeout : INT64_MAX;
}

uint64_t connection_lane(const struct connection *connection)
{
    struct slice peer = slice_from(connection->peer);
    ptrdiff_t colon = slice_find_last_byte(peer, ':');

    return hash_bytes64(colon < 0 ? peer : slice_sub(peer, 0, (size_t)colon), 0);
}

/* --- events --- */

static size_t unsent_bytes(const struct connection *connection)
{
    return connection->out.len + connection->tail.len - connection->out_sent;
}

static bool has_output(const struct connection *connection)
{
    return unsent_bytes(connection) > 0;
}

static bool is_choked(const struct connection *connection)
{
    return unsent_bytes(connection) > CONNECTION_CHOKE_BYTES;
}

/* Whether there is a use for what the peer sends. */
static bool may_read(const struct connection *connection)
{
    if (connection->is_broken || connection->has_ended)
        return false;
    return connection->is_closing ? connection->lingers : !connection->is_paused && !is_choked(connection);
}

static void watch_reading(struct connection *connection)
{
    bool wants = may_read(connection);

    if (wants && !event_pending(&connection->readable, EV_READ, NULL))
        event_add(&connection->readable, NULL);
    else if (!wants && event_pending(&connection->readable, EV_READ, NULL))
        event_del(&connection->readable);
}

void connection_pause(struct connection *connection)
{
    connection->is_paused = true;
}

static void pump(struct connection *connection);

void connection_continue(struct connection *connection)
{
    connection->is_paused = false;
    pump(connection);
}

void connection_write(struct connection *connection)
{
    pump(connection);
}

void connection_end(struct connection *connection, bool lingers)
{
    connection->is_closing = true;
    connection->lingers = lingers && !connection->has_ended;
    pump(connection);
}

/* --- bytes out --- */

struct buffer *connection_out(struct connection *connection)
{
    return connection->tail.len > 0 ? &connection->tail : &connection->out;
}

void connection_take_body(struct connection *connection, struct exchange *exchange)
{
    const struct httpserver_options *options = &connection->loop->server->options;
    struct buffer *body = &exchange->response.body;

    if (connection->tail.len == 0 && body->len > CONNECTION_COPY_BYTES) {
        connection->tail = *body;
        buffer_init(body, 0);
    } else {
        buffer_append_slice(connection_out(connection), buffer_slice(body));
    }
    if (exchange->answer_bytes == 0)
        return;
    connection->answer_bytes += exchange->answer_bytes;
    exchange->answer_bytes = 0;
    connection->answer_until_mono_ns = clock_mono_ns() + CONNECTION_ANSWER_PERIODS * options->write_timeout_ns;
}

static void release_answers(struct connection *connection)
{
    httpserver_release_answer(connection->loop->server, connection->answer_bytes);
    connection->answer_bytes = 0;
    connection->answer_until_mono_ns = INT64_MAX;
}

static void drop_output(struct connection *connection)
{
    release_answers(connection);
    buffer_done(&connection->tail);
    buffer_init(&connection->tail, 0);
    connection->out_sent = 0;
    if (connection->out.capacity > CONNECTION_KEEP_BYTES) {
        buffer_done(&connection->out);
        buffer_init(&connection->out, CONNECTION_MAX_OUT);
    } else {
        buffer_clear(&connection->out);
    }
}

/* What is left to be written, in one or two pieces; returns their number. */
static int unsent_pieces(const struct connection *connection, struct iovec ret_pieces[static 2])
{
    size_t sent_of_out = MIN(connection->out_sent, connection->out.len);
    size_t sent_of_tail = connection->out_sent - sent_of_out;
    int n = 0;

    if (sent_of_out < connection->out.len)
        ret_pieces[n++] = (struct iovec){ connection->out.data + sent_of_out, connection->out.len - sent_of_out };
    if (sent_of_tail < connection->tail.len)
        ret_pieces[n++] = (struct iovec){ connection->tail.data + sent_of_tail, connection->tail.len - sent_of_tail };
    return n;
}

static void flush_output(struct connection *connection)
{
    struct iovec pieces[2];
    struct error err;

    if (buffer_check(&connection->out, &err) < 0 || buffer_check(&connection->tail, &err) < 0) {
        LOG_EVERY(10, LOG_WARN, "net", "an answer to %s is lost: %s", connection->peer, err.text);
        connection->is_broken = true;
        return;
    }
    while (has_output(connection)) {
        ptrdiff_t n = connection->transport->write(connection, pieces, unsent_pieces(connection, pieces));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!event_pending(&connection->writable, EV_WRITE, NULL)) {
                connection->write_until_mono_ns = clock_mono_ns() + connection->loop->server->options.write_timeout_ns;
                event_add(&connection->writable, NULL);
            }
            return;
        }
        if (n < 0) {
            connection->is_broken = true;
            return;
        }
        connection->out_sent += (size_t)n;
        connection->write_until_mono_ns = clock_mono_ns() + connection->loop->server->options.write_timeout_ns;
    }
    drop_output(connection);
    connection->write_until_mono_ns = INT64_MAX;
    if (event_pending(&connection->writable, EV_WRITE, NULL))
        event_del(&connection->writable);
}

/* --- bytes in --- */

/* Which protocol the first bytes are of; NULL = it takes more to tell. */
static const struct protocol *choose_protocol(struct slice bytes)
{
    struct slice preface = SLICE(HTTP2_PREFACE);
    size_t n = MIN(bytes.len, preface.len);

    if (memcmp(bytes.ptr, preface.ptr, n) != 0)
        return &http1_protocol;
    return n == preface.len ? &http2_protocol : NULL;
}

static bool start_protocol(struct connection *connection, struct slice bytes)
{
    const struct protocol *protocol = choose_protocol(bytes);

    if (!protocol) {
        connection_wait_for(connection, CONNECTION_HEAD);
        return false;
    }
    if (protocol == &http2_protocol) {
        if (http2_open(connection, SLICE(""), NULL) < 0) {
            connection->is_broken = true;
            return false;
        }
        return true;
    }
    connection->protocol = protocol;
    return true;
}

static bool may_parse(const struct connection *connection)
{
    return !connection->is_paused && !connection->is_closing && !connection->is_broken && !is_choked(connection);
}

/* Gives `bytes` to the protocol as long as it takes some; returns how many it took. */
static size_t parse(struct connection *connection, struct slice bytes)
{
    size_t taken = 0;

    while (taken < bytes.len && may_parse(connection)) {
        struct slice rest = slice_sub(bytes, taken, SIZE_MAX);
        ptrdiff_t n;

        if (!connection->protocol && !start_protocol(connection, rest))
            break;
        n = connection->protocol->input(connection, rest);
        if (n < 0)
            connection_end(connection, true);
        if (n <= 0)
            break;
        taken += (size_t)n;
    }
    return taken;
}

static void parse_kept(struct connection *connection)
{
    size_t taken = parse(connection, buffer_slice(&connection->in));
    size_t left = connection->in.len - taken;

    if (taken == 0)
        return;
    if (left > 0) {
        memmove(connection->in.data, connection->in.data + taken, left);
        buffer_truncate(&connection->in, left);
    } else {
        buffer_done(&connection->in);
        buffer_init(&connection->in, 0);
    }
}

static void parse_new(struct connection *connection, struct slice bytes)
{
    struct error err;

    if (connection->in.len == 0)
        bytes = slice_sub(bytes, parse(connection, bytes), SIZE_MAX);
    if (bytes.len == 0)
        return;
    buffer_append_slice(&connection->in, bytes);
    if (buffer_check(&connection->in, &err) < 0)
        connection->is_broken = true;
    else if (connection->in.len > bytes.len)
        parse_kept(connection);
}

/* The peer sends nothing more. It may still read, but most that hang up look just like that: handlers are told. */
static void tell_gone(struct connection *connection)
{
    for (struct exchange *exchange = connection->exchanges; exchange; exchange = exchange->next)
        exchange_is_gone(exchange);
}

/* Reads once. Returns how many bytes came; 0 = there is nothing more for now. */
static size_t read_some(struct connection *connection)
{
    const struct protocol *protocol = connection->protocol;
    size_t len = LOOP_READ_BYTES;
    char *room = NULL;
    ptrdiff_t n;

    if (protocol && protocol->body_room && connection->in.len == 0 && !connection->is_closing)
        room = protocol->body_room(connection, &len);
    n = connection->transport->read(connection, room ? room : connection->loop->read_bytes, len);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    if (n < 0) {
        connection->is_broken = true;
        return 0;
    }
    if (n == 0) {
        connection->has_ended = true;
        tell_gone(connection);
        if (connection->is_closing || !protocol || protocol->end(connection) < 0)
            connection->is_closing = true;
        return 0;
    }
    if (connection->is_closing)
        return (size_t)n; /* lingering: dropped */
    if (room && protocol->body_read(connection, (size_t)n) < 0)
        connection_end(connection, true);
    else if (!room)
        parse_new(connection, slice_of(connection->loop->read_bytes, (size_t)n));
    return (size_t)n;
}

/* --- moving --- */

/* Everything that is left to do, until there is nothing more for now. Frees the connection when it is through. */
static void pump(struct connection *connection)
{
    bool was_choked;

    if (connection->is_pumping)
        return;
    connection->is_pumping = true;
    do {
        if (connection->in.len > 0 && connection->protocol)
            parse_kept(connection);
        was_choked = is_choked(connection);
        flush_output(connection);
    } while (was_choked && !is_choked(connection) && !connection->is_broken);
    while (!has_output(connection) && connection->protocol && connection->protocol->output && may_parse(connection)) {
        connection->protocol->output(connection);
        if (!has_output(connection))
            break;
        flush_output(connection);
    }
    connection->is_pumping = false;
    if (connection->is_broken || (connection->is_closing && !has_output(connection) && !connection->lingers) ||
        (connection->is_closing && !has_output(connection) && connection->has_ended)) {
        connection_free(connection);
        return;
    }
    if (connection->is_closing && !has_output(connection) && connection->wait != CONNECTION_LINGER) {
        shutdown(connection->fd, SHUT_WR);
        connection_wait_for(connection, CONNECTION_LINGER);
    }
    watch_reading(connection);
}

static void on_writable(evutil_socket_t fd UNUSED, short what UNUSED, void *context)
{
    pump(context);
}

/* Between these two the protocol may end the connection; it is freed behind them at the earliest. */
static bool hold(struct connection *connection)
{
    bool was_pumping = connection->is_pumping;

    connection->is_pumping = true;
    return was_pumping;
}

static void let_go(struct connection *connection, bool was_pumping)
{
    connection->is_pumping = was_pumping;
    pump(connection);
}

static void read_turn(struct connection *connection)
{
    size_t total = 0, n;

    while (total < CONNECTION_TURN_BYTES && may_read(connection) && (n = read_some(connection)) > 0)
        total += n;
}

static void on_readable(evutil_socket_t fd UNUSED, short what UNUSED, void *context)
{
    bool was_pumping = hold(context);

    read_turn(context);
    let_go(context, was_pumping);
}

void connection_answer(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;
    bool was_pumping;

    exchange->is_running = false;
    if (!connection) {
        exchange_free(exchange);
        return;
    }
    if (exchange->response.status == 0)
        exchange_fail_with(exchange, 500, "the server gave no answer; this is a fault of its own");
    was_pumping = hold(connection);
    connection->protocol->respond(connection, exchange);
    let_go(connection, was_pumping);
}

void connection_resume(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    if (connection && connection->protocol->resume) {
        bool was_pumping = hold(connection);

        connection->protocol->resume(connection, exchange);
        let_go(connection, was_pumping);
    }
}

/* --- deadlines --- */

static bool is_starving(const struct connection *connection)
{
    for (const struct exchange *exchange = connection->exchanges; exchange; exchange = exchange->next)
        if (exchange->is_starving)
            return true;
    return false;
}

static int64_t body_deadline(const struct connection *connection)
{
    int64_t whole = CONNECTION_BODY_PERIODS * connection->loop->server->options.body_timeout_ns;
    int64_t first = INT64_MAX;

    for (const struct exchange *exchange = connection->exchanges; exchange; exchange = exchange->next)
        if (!exchange->is_complete && !exchange->is_starving)
            first = MIN(first, exchange->request.begun_mono_ns + whole);
    return first;
}

static int64_t answer_deadline(const struct connection *connection)
{
    int64_t whole = CONNECTION_ANSWER_PERIODS * connection->loop->server->options.write_timeout_ns;
    int64_t first = connection->answer_until_mono_ns;

    for (const struct exchange *exchange = connection->exchanges; exchange; exchange = exchange->next)
        if (exchange->answered_mono_ns && exchange->answer_bytes)
            first = MIN(first, exchange->answered_mono_ns + whole);
    return first;
}

/* A connection that is not read from does not tell when its peer hangs up, so it is asked. True: the peer is gone, and has
 * not just ended what it sends. */
static bool has_hung_up(struct connection *connection)
{
    struct pollfd end = { .fd = connection->fd, .events = POLLRDHUP };

    if (connection->wait != CONNECTION_WORK || !connection->is_paused || poll(&end, 1, 0) <= 0)
        return false;
    tell_gone(connection);
    return (end.revents & (POLLERR | POLLHUP)) != 0;
}

void connection_tick(struct connection *connection, int64_t now_mono_ns)
{
    int64_t until;

    if (has_hung_up(connection)) {
        connection_free(connection);
        return;
    }
    /* Time counts against the peer only while it is its turn: not while its body waits for room, nor does it idle before
     * it has read its answer. */
    if ((connection->wait == CONNECTION_BODY && is_starving(connection)) ||
        (connection->wait == CONNECTION_IDLE && has_output(connection)))
        connection_wait_for(connection, connection->wait);
    until = MIN(connection->wait_until_mono_ns, connection->write_until_mono_ns);
    until = MIN(until, answer_deadline(connection));
    if (connection->wait == CONNECTION_BODY)
        until = MIN(until, body_deadline(connection));
    if (now_mono_ns < until)
        return;
    if (connection->wait == CONNECTION_HEAD || connection->wait == CONNECTION_BODY)
        atomic_fetch_add_explicit(&connection->loop->server->n_timeouts, 1, memory_order_relaxed);
    if (!connection->is_closing && connection->protocol && connection->protocol->timeout && !has_output(connection)) {
        connection->protocol->timeout(connection);
        connection_end(connection, true);
    } else {
        connection_free(connection);
    }
}

void connection_drain(struct connection *connection)
{
    bool was_pumping = hold(connection);

    connection->is_draining = true;
    read_turn(connection); /* what the peer has sent by now is still answered */
    if (!connection->protocol)
        connection_end(connection, false);
    else if (!connection->is_closing)
        connection->protocol->drain(connection);
    let_go(connection, was_pumping);
}

/* --- birth and death --- */

void connection_new(struct loop *loop, int fd, size_t listener, const char *peer)
{
    struct error err;
    struct connection *connection = MEMORY_NEW(struct connection, &err);

    if (!connection) {
        LOG_EVERY(10, LOG_WARN, "net", "a connection is refused: %s", err.text);
        close(fd);
        return;
    }
    connection->loop = loop;
    connection->fd = fd;
    connection->listener = listener;
    connection->transport = &plain;
    buffer_init(&connection->in, 0);
    buffer_init(&connection->out, CONNECTION_MAX_OUT);
    buffer_init(&connection->tail, 0);
    connection->answer_until_mono_ns = INT64_MAX;
    snprintf(connection->peer, sizeof(connection->peer), "%s", peer);
    connection->write_until_mono_ns = INT64_MAX;
    connection->next = loop->connections;
    if (connection->next)
        connection->next->previous = connection;
    loop->connections = connection;
    atomic_fetch_add_explicit(&loop->n_connections, 1, memory_order_relaxed);
    event_assign(&connection->readable, loop->base, fd, EV_READ | EV_PERSIST, on_readable, connection);
    event_assign(&connection->writable, loop->base, fd, EV_WRITE | EV_PERSIST, on_writable, connection);
    connection_wait_for(connection, CONNECTION_IDLE);
    event_add(&connection->readable, NULL);
}

void connection_free(struct connection *connection)
{
    struct loop *loop = connection->loop;

    event_del(&connection->readable);
    event_del(&connection->writable);
    if (connection->protocol)
        connection->protocol->close(connection);
    while (connection->exchanges)
        exchange_free(connection->exchanges);
    connection->transport->close(connection);
    buffer_done(&connection->in);
    buffer_done(&connection->out);
    buffer_done(&connection->tail);
    httpserver_release_answer(loop->server, connection->answer_bytes);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        loop->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    atomic_fetch_sub_explicit(&loop->n_connections, 1, memory_order_relaxed);
    memory_free(connection);
}
