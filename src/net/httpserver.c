// SPDX-License-Identifier: Apache-2.0
#include "net/httpserver.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "net/deliver_internal.h"
#include "net/loop_internal.h"
#include "pack/packer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HTTPSERVER_BACKLOG       1024
#define HTTPSERVER_CONNECTIONS   16384u
#define HTTPSERVER_SPARE_FILES   512 /* open files that are left to the rest of the program */
#define HTTPSERVER_READERS       4
#define HTTPSERVER_READS_WAITING 256

/* --- listening --- */

static int fail_to_listen(const struct address *address, const char *why, struct error *err)
{
    return error_set(err, ERR_IO, "cannot listen on %s: %s", address_format(address).text, why);
}

static int listen_on(int fd, const struct sockaddr *to, socklen_t len, const struct address *address, struct error *err)
{
    if (bind(fd, to, len) < 0 || listen(fd, HTTPSERVER_BACKLOG) < 0)
        return fail_to_listen(address,
                              errno == EADDRINUSE
                                  ? "another program uses it; choose another port, 0 for a free one, or off"
                                  : strerror(errno),
                              err);
    return 0;
}

/* A socket file that nobody listens to any more is in the way; one that somebody does stays. */
static void remove_dead_socket(const struct sockaddr_un *to)
{
    struct stat info;
    int fd;

    if (stat(to->sun_path, &info) < 0 || !S_ISSOCK(info.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 && errno == ECONNREFUSED)
        unlink(to->sun_path);
    if (fd >= 0)
        close(fd);
}

static int listen_unix(const struct address *address, int *ret_fd, struct error *err)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return fail_to_listen(address, strerror(errno), err);
    memcpy(to.sun_path, address->name, MIN(strlen(address->name), sizeof(to.sun_path) - 1));
    remove_dead_socket(&to);
    if (listen_on(fd, (struct sockaddr *)&to, sizeof(to), address, err) < 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

static int listen_resolved(const struct addrinfo *info, const struct address *address, int *ret_fd, struct error *err)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, off = 0;

    if (fd < 0)
        return fail_to_listen(address, strerror(errno), err);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, address->name[0] ? &on : &off, sizeof(on));
    if (listen_on(fd, info->ai_addr, info->ai_addrlen, address, err) < 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

static int listen_tcp(const struct address *address, int *ret_fd, struct error *err)
{
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *found;
    char port[8];
    int status;

    snprintf(port, sizeof(port), "%u", address->port);
    /* Every interface: IPv6 with IPv4 in it, or IPv4 alone where the machine has no other. */
    hints.ai_family = address->name[0] ? AF_UNSPEC : AF_INET6;
    status = getaddrinfo(address->name[0] ? address->name : NULL, port, &hints, &found);
    if (status != 0)
        return fail_to_listen(address, gai_strerror(status), err);
    status = listen_resolved(found, address, ret_fd, err);
    freeaddrinfo(found);
    if (status < 0 && !address->name[0]) {
        hints.ai_family = AF_INET;
        if (getaddrinfo(NULL, port, &hints, &found) != 0)
            return -1;
        status = listen_resolved(found, address, ret_fd, err);
        freeaddrinfo(found);
    }
    return status;
}

static void learn_port(int fd, struct address *address)
{
    struct sockaddr_storage at = { 0 };
    socklen_t len = sizeof(at);

    if (address->kind != ADDRESS_TCP || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        return;
    address->port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                                   : ((struct sockaddr_in *)&at)->sin_port);
}

static int listen_all(struct httpserver *server, struct error *err)
{
    const struct httpserver_options *options = &server->options;

    if (options->n_listen > HTTPSERVER_MAX_LISTENERS)
        return error_set(err, ERR_LIMIT, "more than %d listeners", HTTPSERVER_MAX_LISTENERS);
    for (size_t i = 0; i < options->n_listen; i++) {
        struct address *address = &server->addresses[i];

        *address = options->listen[i];
        if ((address->kind == ADDRESS_UNIX ? listen_unix : listen_tcp)(address, &server->listen_fds[i], err) < 0)
            return -1;
        server->n_listen++;
        learn_port(server->listen_fds[i], address);
    }
    return 0;
}

/* --- accounting --- */

/* Adds `bytes` unless that makes it more than `max`; whoever is alone gets what it wants. */
static bool reserve(_Atomic uint64_t *total, uint64_t bytes, uint64_t max)
{
    uint64_t before = atomic_load_explicit(total, memory_order_relaxed);

    do {
        if (before > 0 && before + bytes > max)
            return false;
    } while (!atomic_compare_exchange_weak(total, &before, before + bytes));
    return true;
}

bool httpserver_reserve(struct httpserver *server, uint64_t bytes)
{
    return reserve(&server->inflight_bytes, bytes, server->options.max_inflight_bytes);
}

void httpserver_release(struct httpserver *server, uint64_t bytes)
{
    atomic_fetch_sub(&server->inflight_bytes, bytes);
}

bool httpserver_reserve_answer(struct httpserver *server, uint64_t bytes)
{
    if (reserve(&server->answer_bytes, bytes, server->options.max_answer_bytes))
        return true;
    atomic_fetch_add_explicit(&server->n_answers_refused, 1, memory_order_relaxed);
    return false;
}

void httpserver_release_answer(struct httpserver *server, uint64_t bytes)
{
    atomic_fetch_sub(&server->answer_bytes, bytes);
}

void httpserver_answered(const struct exchange *exchange, uint64_t sent_bytes)
{
    const struct httpserver_options *options = &exchange->loop->server->options;

    if (options->answered)
        options->answered(options->context, exchange, sent_bytes, clock_mono_ns() - exchange->request.begun_mono_ns);
}

struct httpserver_counts httpserver_counts(struct httpserver *server)
{
    struct httpserver_counts counts = {
        .inflight_bytes = atomic_load(&server->inflight_bytes),
        .answer_bytes = atomic_load(&server->answer_bytes),
        .n_accepted = atomic_load(&server->n_accepted),
        .n_requests = atomic_load(&server->n_requests),
        .n_timeouts = atomic_load(&server->n_timeouts),
        .n_bad_requests = atomic_load(&server->n_bad_requests),
        .n_answers_refused = atomic_load(&server->n_answers_refused),
        .pool = pool_counts(server->pool),
        .read_pool = pool_counts(server->read_pool),
    };

    for (uint32_t i = 0; i < server->n_loops; i++)
        counts.n_connections += atomic_load(&server->loops[i].n_connections);
    return counts;
}

/* --- life --- */

static void give_back(void *context UNUSED, struct exchange *exchange)
{
    deliver_prepare(exchange);
    loop_finish(exchange->loop, exchange);
}

static void settle(void *context, struct exchange **exchanges, size_t n)
{
    const struct httpserver_options *options = &((struct httpserver *)context)->options;

    options->settle(options->context, exchanges, n);
}

/* How many connections the limit on open files allows, which is raised as far as it may be. */
static uint32_t connections_allowed(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1024;
    if (limit.rlim_cur < limit.rlim_max) { /* as many as we may */
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur > HTTPSERVER_SPARE_FILES + 64
               ? (uint32_t)MIN((uint64_t)limit.rlim_cur - HTTPSERVER_SPARE_FILES, (uint64_t)UINT32_MAX)
               : 64;
}

static void fill_defaults(struct httpserver_options *options)
{
    long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = connections_allowed();

    if (!options->n_loops)
        options->n_loops = n_processors > 2 ? (uint32_t)MIN(n_processors / 2, 16) : 1;
    if (!options->max_connections)
        options->max_connections = MIN(most, HTTPSERVER_CONNECTIONS);
    if (options->max_connections > most) {
        log_warn("net", "%u connections are allowed, but the limit on open files leaves %u (ulimit -n)",
                 options->max_connections, most);
        options->max_connections = most;
    }
    if (!options->max_body_bytes)
        options->max_body_bytes = 64 << 20;
    if (!options->max_inflight_bytes)
        options->max_inflight_bytes = 2 * options->max_body_bytes;
    if (!options->max_answer_bytes)
        options->max_answer_bytes = 256 << 20;
    if (!options->read_pool.n_workers)
        options->read_pool.n_workers = HTTPSERVER_READERS;
    if (!options->read_pool.max_waiting)
        options->read_pool.max_waiting = HTTPSERVER_READS_WAITING;
    if (!options->head_timeout_ns)
        options->head_timeout_ns = 10 * CLOCK_NS_PER_SECOND;
    if (!options->body_timeout_ns)
        options->body_timeout_ns = 30 * CLOCK_NS_PER_SECOND;
    if (!options->idle_timeout_ns)
        options->idle_timeout_ns = 120 * CLOCK_NS_PER_SECOND;
    if (!options->write_timeout_ns)
        options->write_timeout_ns = 30 * CLOCK_NS_PER_SECOND;
}

/* Numbers: those who take what is brought, their overflow, those who answer, theirs, and then loops. */
static int start_pools(struct httpserver *server, struct error *err)
{
    struct pool_options pool = server->options.pool, read_pool = server->options.read_pool;

    /* Before there are workers, of whom each may need its own. */
    server->n_workers = pool_workers(&pool) + 1 + pool_workers(&read_pool) + 1;
    server->packers = memory_alloc_zero(server->n_workers * sizeof(*server->packers), err);
    if (!server->packers)
        return -1;
    pool.context = read_pool.context = server;
    pool.done = read_pool.done = give_back;
    pool.settle = server->options.settle ? settle : NULL;
    if (pool_new(&pool, &server->pool, err) < 0)
        return -1;
    read_pool.name = "reader";
    read_pool.turn_bytes = POOL_EXCHANGE_BYTES; /* questions are small whatever they cost: one for each lane */
    read_pool.first_worker = pool_workers(&pool) + 1;
    if (pool_new(&read_pool, &server->read_pool, err) < 0)
        return -1;
    return 0;
}

static int start(struct httpserver *server, struct error *err)
{
    if (listen_all(server, err) < 0 || start_pools(server, err) < 0)
        return -1;
    server->loops = memory_alloc_zero(server->options.n_loops * sizeof(*server->loops), err);
    if (!server->loops)
        return -1;
    server->n_loops = server->options.n_loops; /* loops look at one another as soon as they run */
    for (uint32_t i = 0; i < server->n_loops; i++)
        if (loop_start(&server->loops[i], server, i, err) < 0)
            return -1;
    return 0;
}

int httpserver_start(const struct httpserver_options *options, struct httpserver **ret_server, struct error *err)
{
    struct httpserver *server = MEMORY_NEW(struct httpserver, err);

    if (!server)
        return -1;
    server->options = *options;
    fill_defaults(&server->options);
    if (start(server, err) < 0) {
        httpserver_free(server);
        return -1;
    }
    *ret_server = server;
    return 0;
}

struct address httpserver_address(const struct httpserver *server, size_t i)
{
    return server->addresses[i];
}

static void close_listeners(struct httpserver *server)
{
    for (size_t i = 0; i < server->n_listen; i++) {
        if (server->listen_fds[i] < 0)
            continue;
        close(server->listen_fds[i]);
        if (server->addresses[i].kind == ADDRESS_UNIX)
            unlink(server->addresses[i].name);
        server->listen_fds[i] = -1;
    }
}

static bool each_loop(struct httpserver *server, bool (*is)(struct loop *loop))
{
    for (uint32_t i = 0; i < server->n_loops; i++)
        if (!is(&server->loops[i]))
            return false;
    return true;
}

void httpserver_drain(struct httpserver *server, int64_t timeout_ns)
{
    int64_t until = clock_mono_ns() + timeout_ns;

    for (uint32_t i = 0; i < server->n_loops; i++)
        loop_drain(&server->loops[i]);
    while (!each_loop(server, loop_is_deaf))
        usleep(1000);
    close_listeners(server);
    while (!each_loop(server, loop_is_idle) && clock_mono_ns() < until)
        usleep(10000);
}

void httpserver_free(struct httpserver *server)
{
    if (!server)
        return;
    /* Loops hand exchanges to the pool until they have stopped, and the pool gives them back until it has. */
    for (uint32_t i = 0; i < server->n_loops; i++)
        loop_stop(&server->loops[i]);
    pool_free(server->read_pool);
    pool_free(server->pool);
    for (uint32_t i = 0; i < server->n_loops; i++)
        loop_done(&server->loops[i]);
    close_listeners(server);
    for (uint32_t i = 0; server->packers && i < server->n_workers; i++)
        packer_free(server->packers[i]);
    memory_free(server->packers);
    memory_free(server->loops);
    memory_free(server);
}
