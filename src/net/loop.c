// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "base/memory.h"
#include "net/loop_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOP_TICK_MS         250
#define LOOP_ACCEPTS         64 /* connections taken in one go */
#define LOOP_ACCEPT_PAUSE_NS (CLOCK_NS_PER_SECOND / 4)

/* --- accepting --- */

static void name_peer(const struct sockaddr_storage *address, char text[64])
{
    char host[INET6_ADDRSTRLEN];

    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;

        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        snprintf(text, 64, "%s:%u", host, ntohs(in->sin_port));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)address;

        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
        snprintf(text, 64, "[%s]:%u", host, ntohs(in->sin6_port));
    } else {
        snprintf(text, 64, "unix");
    }
}

static void pause_accepting(struct loop *loop)
{
    for (size_t i = 0; i < loop->server->n_listen; i++)
        event_del(loop->accept[i]);
    loop->accept_again_mono_ns = clock_mono_ns() + LOOP_ACCEPT_PAUSE_NS;
}

static void go_on_accepting(struct loop *loop)
{
    loop->accept_again_mono_ns = 0;
    for (size_t i = 0; i < loop->server->n_listen; i++)
        event_add(loop->accept[i], NULL);
}

static bool is_full(const struct loop *loop)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < loop->server->n_loops; i++)
        n += atomic_load_explicit(&loop->server->loops[i].n_connections, memory_order_relaxed);
    return n >= loop->server->options.max_connections;
}

static size_t listener_of(const struct loop *loop, int listen_fd)
{
    size_t i = 0;

    while (i + 1 < loop->server->n_listen && loop->server->listen_fds[i] != listen_fd)
        i++;
    return i;
}

static void on_accept(evutil_socket_t listen_fd, short what UNUSED, void *context)
{
    struct loop *loop = context;

    for (int i = 0; i < LOOP_ACCEPTS; i++) {
        struct sockaddr_storage address = { 0 };
        socklen_t len = sizeof(address);
        char peer[64];
        int fd, on = 1;

        if (is_full(loop)) {
            LOG_EVERY(10, LOG_WARN, "net",
                      "there are %u connections, as many as --max-connections allows; new ones wait",
                      loop->server->options.max_connections);
            pause_accepting(loop);
            return;
        }
        fd = accept4(listen_fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                LOG_EVERY(10, LOG_WARN, "net", "connections wait: %s", strerror(errno));
                pause_accepting(loop);
            }
            return; /* EAGAIN: that was all, or another loop was quicker */
        }
        if (address.ss_family != AF_UNIX)
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        name_peer(&address, peer);
        atomic_fetch_add_explicit(&loop->server->n_accepted, 1, memory_order_relaxed);
        connection_new(loop, fd, listener_of(loop, listen_fd), peer);
    }
}

/* --- being woken, and the time passing --- */

static void wake(struct loop *loop)
{
    uint64_t one = 1;

    IGNORE(write(loop->wake_fd, &one, sizeof(one)) < 0, "a full counter wakes just as well");
}

void loop_finish(struct loop *loop, struct exchange *exchange)
{
    bool is_first;

    lock_mutex_acquire(&loop->lock);
    exchange->queue_next = NULL;
    is_first = !loop->finished_first;
    if (loop->finished_last)
        loop->finished_last->queue_next = exchange;
    else
        loop->finished_first = exchange;
    loop->finished_last = exchange;
    lock_mutex_release(&loop->lock);
    if (is_first)
        wake(loop);
}

static struct exchange *take_finished(struct loop *loop, bool *ret_wants_drain, bool *ret_wants_stop)
{
    struct exchange *first;

    lock_mutex_acquire(&loop->lock);
    first = loop->finished_first;
    loop->finished_first = loop->finished_last = NULL;
    *ret_wants_drain = loop->wants_drain;
    *ret_wants_stop = loop->wants_stop;
    lock_mutex_release(&loop->lock);
    return first;
}

static void answer_all(struct exchange *exchange)
{
    while (exchange) {
        struct exchange *next = exchange->queue_next;

        connection_answer(exchange);
        exchange = next;
    }
}

static void begin_draining(struct loop *loop)
{
    struct connection *connection, *next;

    loop->is_draining = true;
    for (size_t i = 0; i < loop->server->n_listen; i++)
        event_del(loop->accept[i]);
    atomic_store(&loop->is_deaf, true);
    for (connection = loop->connections; connection; connection = next) {
        next = connection->next;
        connection_drain(connection);
    }
}

static void on_wake(evutil_socket_t fd, short what UNUSED, void *context)
{
    struct loop *loop = context;
    bool wants_drain, wants_stop;
    uint64_t count;

    IGNORE(read(fd, &count, sizeof(count)) < 0, "nothing to read means that somebody else did");
    answer_all(take_finished(loop, &wants_drain, &wants_stop));
    exchange_feed_starving(loop);
    if (wants_drain && !loop->is_draining)
        begin_draining(loop);
    if (wants_stop)
        event_base_loopbreak(loop->base);
}

static void on_tick(evutil_socket_t fd UNUSED, short what UNUSED, void *context)
{
    struct loop *loop = context;
    int64_t now = clock_mono_ns();
    struct connection *connection, *next;

    for (connection = loop->connections; connection; connection = next) {
        next = connection->next;
        connection_tick(connection, now);
    }
    exchange_feed_starving(loop);
    if (loop->accept_again_mono_ns && now >= loop->accept_again_mono_ns && !loop->is_draining)
        go_on_accepting(loop);
}

/* --- life --- */

static void run(struct thread *thread UNUSED, void *context)
{
    struct loop *loop = context;

    event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

static int make_events(struct loop *loop, struct error *err)
{
    struct timeval period = { 0, LOOP_TICK_MS * 1000 };
    struct event_config *config = event_config_new();

    /* A base is used by its own thread alone; others write to wake_fd. */
    if (config) {
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        loop->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (!loop->base)
        return error_set(err, ERR_MEMORY, "no event base can be had");
    loop->wake = event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop);
    loop->tick = event_new(loop->base, -1, EV_PERSIST, on_tick, loop);
    if (!loop->wake || !loop->tick || event_add(loop->wake, NULL) < 0 || event_add(loop->tick, &period) < 0)
        return error_set(err, ERR_MEMORY, "no events can be had");
    for (size_t i = 0; i < loop->server->n_listen; i++) {
        loop->accept[i] = event_new(loop->base, loop->server->listen_fds[i], EV_READ | EV_PERSIST, on_accept, loop);
        if (!loop->accept[i] || event_add(loop->accept[i], NULL) < 0)
            return error_set(err, ERR_MEMORY, "no events can be had");
    }
    return 0;
}

int loop_start(struct loop *loop, struct httpserver *server, uint32_t number, struct error *err)
{
    char name[24];

    loop->server = server;
    loop->number = number;
    lock_mutex_init(&loop->lock, LOCK_NET_LOOP);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->wake_fd < 0)
        return error_set_errno(err, errno, "making an event descriptor");
    loop->read_bytes = memory_alloc(LOOP_READ_BYTES, err);
    if (!loop->read_bytes || make_events(loop, err) < 0)
        return -1;
    snprintf(name, sizeof(name), "loop-%u", number);
    return thread_start(&loop->thread, name, run, loop, err);
}

static void ask(struct loop *loop, bool *wish)
{
    lock_mutex_acquire(&loop->lock);
    *wish = true;
    lock_mutex_release(&loop->lock);
    wake(loop);
}

void loop_drain(struct loop *loop)
{
    ask(loop, &loop->wants_drain);
}

bool loop_is_deaf(struct loop *loop)
{
    return atomic_load(&loop->is_deaf);
}

bool loop_is_idle(struct loop *loop)
{
    return atomic_load(&loop->n_connections) == 0;
}

void loop_stop(struct loop *loop)
{
    bool ignored;

    if (!loop->thread.is_started)
        return;
    ask(loop, &loop->wants_stop);
    thread_stop(&loop->thread);
    answer_all(take_finished(loop, &ignored, &ignored));
    while (loop->connections)
        connection_free(loop->connections);
}

void loop_done(struct loop *loop)
{
    bool ignored;

    if (!loop->server)
        return;
    answer_all(take_finished(loop, &ignored, &ignored));
    for (size_t i = 0; i < loop->server->n_listen; i++)
        if (loop->accept[i])
            event_free(loop->accept[i]);
    if (loop->tick)
        event_free(loop->tick);
    if (loop->wake)
        event_free(loop->wake);
    if (loop->base)
        event_base_free(loop->base);
    if (loop->wake_fd > 0)
        close(loop->wake_fd);
    memory_free(loop->read_bytes);
    lock_mutex_done(&loop->lock);
}
