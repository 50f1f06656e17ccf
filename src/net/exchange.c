// SPDX-License-Identifier: Apache-2.0
#include "net/exchange.h"

#include "base/hash.h"
#include "base/memory.h"
#include "net/deliver_internal.h"
#include "net/loop_internal.h"
#include "net/origin.h"
#include "net/rpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXCHANGE_MAX_ARENA (4 << 20)

/* --- for handlers --- */

static void add_header(struct arena *arena, struct http_headers *headers, const char *name, struct slice value)
{
    struct slice name_copy, value_copy;
    struct error ignored;

    if (headers->n == HTTP_MAX_HEADERS)
        return;
    name_copy = arena_copy(arena, slice_from(name), &ignored);
    value_copy = arena_copy(arena, value, &ignored);
    if (name_copy.ptr && value_copy.ptr)
        headers->items[headers->n++] = (struct http_header){ name_copy, value_copy };
}

void exchange_header(struct exchange *exchange, const char *name, struct slice value)
{
    add_header(&exchange->arena, &exchange->response.headers, name, value);
}

void exchange_header_text(struct exchange *exchange, const char *name, const char *value)
{
    exchange_header(exchange, name, slice_from(value));
}

void exchange_trailer(struct exchange *exchange, const char *name, struct slice value)
{
    add_header(&exchange->arena, &exchange->response.trailers, name, value);
}

void exchange_answer(struct exchange *exchange, int status, const char *content_type, struct slice body)
{
    struct response *response = &exchange->response;

    response->status = status;
    response->headers.n = response->trailers.n = 0;
    buffer_clear(&response->body);
    buffer_append_slice(&response->body, body);
    if (content_type)
        exchange_header_text(exchange, "content-type", content_type);
}

void exchange_fail(struct exchange *exchange, const struct error *err)
{
    rpc_shape_failure(exchange, error_code_http_status(err->code), err->text, 0);
}

void exchange_fail_with(struct exchange *exchange, int status, const char *fmt, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    rpc_shape_failure(exchange, status, text, 0);
}

/* --- birth and death --- */

struct exchange *exchange_new(struct connection *connection)
{
    struct httpserver *server = connection->loop->server;
    struct error ignored;
    struct exchange *exchange = memory_alloc(sizeof(*exchange), &ignored);

    if (!exchange)
        return NULL;
    /* The tables of headers are large and need no clearing: their numbers say what is in them. */
    exchange->request.headers.n = exchange->response.headers.n = exchange->response.trailers.n = 0;
    exchange->request.version = HTTP_1_1;
    exchange->request.method = HTTP_METHOD_OTHER;
    exchange->request.method_text = exchange->request.path = exchange->request.query = SLICE("");
    exchange->request.authority = exchange->request.body = SLICE("");
    memcpy(exchange->peer, connection->peer, sizeof(exchange->peer));
    exchange->request.peer = slice_from(exchange->peer);
    exchange->request.received_ns = clock_now_ns();
    exchange->request.begun_mono_ns = clock_mono_ns();
    exchange->response.status = 0;
    exchange->response.must_close = false;
    buffer_init(&exchange->response.body, 0);
    buffer_init(&exchange->body, 0);
    arena_init(&exchange->arena, EXCHANGE_MAX_ARENA);
    exchange->route = NULL;
    exchange->context = server->options.context;
    exchange->state = NULL;
    exchange->worker = server->n_workers + connection->loop->number;
    atomic_init(&exchange->is_gone, false);
    exchange->connection = connection;
    exchange->loop = connection->loop;
    exchange->stream = 0;
    exchange->reserved_bytes = exchange->wanted_bytes = exchange->answer_bytes = 0;
    exchange->answered_mono_ns = 0;
    exchange->max_body_bytes = server->options.max_body_bytes;
    exchange->lane = 0;
    exchange->is_running = exchange->is_complete = exchange->is_starving = false;
    exchange->previous = exchange->queue_next = NULL;
    exchange->next = connection->exchanges;
    if (exchange->next)
        exchange->next->previous = exchange;
    connection->exchanges = exchange;
    connection->n_exchanges++;
    return exchange;
}

/* --- waiting for room (H1) --- */

static void enter_starving(struct exchange *exchange)
{
    struct exchange **at = &exchange->loop->starving;

    while (*at)
        at = &(*at)->queue_next;
    *at = exchange;
    exchange->queue_next = NULL;
    exchange->is_starving = true;
    atomic_fetch_add(&exchange->loop->server->starving_bytes, exchange->reserved_bytes);
}

static void leave_starving(struct exchange *exchange)
{
    for (struct exchange **at = &exchange->loop->starving; *at; at = &(*at)->queue_next)
        if (*at == exchange) {
            *at = exchange->queue_next;
            break;
        }
    exchange->is_starving = false;
    atomic_fetch_sub(&exchange->loop->server->starving_bytes, exchange->reserved_bytes);
}

static void leave_connection(struct exchange *exchange)
{
    if (exchange->previous)
        exchange->previous->next = exchange->next;
    else
        exchange->connection->exchanges = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    exchange->connection->n_exchanges--;
    exchange->connection = NULL;
}

static void release(struct exchange *exchange)
{
    httpserver_release(exchange->loop->server, exchange->reserved_bytes);
    httpserver_release_answer(exchange->loop->server, exchange->answer_bytes);
    buffer_done(&exchange->response.body);
    buffer_done(&exchange->body);
    arena_done(&exchange->arena);
    memory_free(exchange);
}

void exchange_free(struct exchange *exchange)
{
    if (exchange->is_starving)
        leave_starving(exchange);
    if (exchange->connection)
        leave_connection(exchange);
    if (exchange->is_running)
        atomic_store(&exchange->is_gone, true); /* connection_answer frees it */
    else
        release(exchange);
}

void exchange_is_gone(struct exchange *exchange)
{
    atomic_store(&exchange->is_gone, true);
}

/* --- from head to handler --- */

/* Pages of other origins may ask if the server was told so; browsers ask before with OPTIONS. */
static void answer_options(struct exchange *exchange, struct slice allowed)
{
    const char *origin = exchange->loop->server->options.cors_origin;

    exchange_answer(exchange, 204, NULL, SLICE(""));
    if (allowed.len > 0)
        exchange_header(exchange, "allow", allowed);
    if (!origin)
        return;
    exchange_header(exchange, "access-control-allow-methods", allowed.len > 0 ? allowed : SLICE("GET, POST"));
    if (http_header(&exchange->request.headers, "access-control-request-headers").len > 0)
        exchange_header(exchange, "access-control-allow-headers",
                        http_header(&exchange->request.headers, "access-control-request-headers"));
    exchange_header_text(exchange, "access-control-max-age", "86400");
}

static bool find_route(struct exchange *exchange)
{
    const struct httpserver_options *options = &exchange->loop->server->options;
    const struct request *request = &exchange->request;
    struct slice allowed = { 0 };
    int status = 404;

    exchange->route = route_find(&options->routes, request->method, request->path, &exchange->arena, &status, &allowed);
    if (exchange->route) {
        exchange->context = exchange->route->context ? exchange->route->context : options->context;
        return true;
    }
    if (request->method == HTTP_OPTIONS && (status == 405 || slice_is(request->path, "*"))) {
        answer_options(exchange, allowed);
    } else if (status == 405) {
        exchange_fail_with(exchange, 405, "%.*s does not take %.*s, but %.*s",
                           SLICE_ARG(slice_sub(request->path, 0, 200)),
                           SLICE_ARG(slice_sub(request->method_text, 0, 32)), SLICE_ARG(allowed));
        exchange_header(exchange, "allow", allowed);
    } else {
        exchange_fail_with(exchange, 404, "nothing is at %.*s; the address of the server or the path may be wrong",
                           SLICE_ARG(slice_sub(request->path, 0, 200)));
    }
    return false;
}

static void fail_too_large(struct exchange *exchange)
{
    exchange_fail_with(exchange, 413,
                       "the body is larger than %llu bytes; send less in one request, or let the server take more with "
                       "--max-body-size",
                       (unsigned long long)exchange->max_body_bytes);
    if (exchange->route->too_large)
        exchange->route->too_large(exchange);
}

static struct origin_rules rules_of(const struct exchange *exchange)
{
    const struct httpserver *server = exchange->loop->server;
    const struct address *address = &server->addresses[exchange->connection->listener];

    return (struct origin_rules){ server->options.cors_origin, address->kind == ADDRESS_TCP ? address->name : "" };
}

bool exchange_begin(struct exchange *exchange, int64_t body_bytes)
{
    struct origin_rules rules = rules_of(exchange);

    atomic_fetch_add_explicit(&exchange->loop->server->n_requests, 1, memory_order_relaxed);
    if (!find_route(exchange) || !origin_admits(exchange, &rules))
        return false;
    if (exchange->route->max_body_bytes)
        exchange->max_body_bytes = exchange->route->max_body_bytes;
    if (body_bytes > 0 && (uint64_t)body_bytes > exchange->max_body_bytes) {
        fail_too_large(exchange);
        return false;
    }
    if (exchange->route->admit) {
        exchange->route->admit(exchange);
        if (exchange->response.status != 0)
            return false;
    }
    return true;
}

/* Bodies whose length nobody told could hold all the room there is and each wait for the others. The one that holds most
 * then goes on beyond the limit, which is so passed by one body at most on each loop. */
static bool is_everybody_stuck(const struct exchange *exchange)
{
    const struct httpserver *server = exchange->loop->server;
    uint64_t own = exchange->is_starving ? 0 : exchange->reserved_bytes;

    if (atomic_load(&server->inflight_bytes) > atomic_load(&server->starving_bytes) + own)
        return false;
    for (const struct exchange *each = exchange->loop->starving; each; each = each->queue_next)
        if (each->reserved_bytes > exchange->reserved_bytes)
            return false;
    return true;
}

static bool reserve(struct exchange *exchange, uint64_t bytes)
{
    struct httpserver *server = exchange->loop->server;

    if (httpserver_reserve(server, bytes))
        return true;
    if (exchange->reserved_bytes == 0 || !is_everybody_stuck(exchange))
        return false;
    atomic_fetch_add(&server->inflight_bytes, bytes);
    return true;
}

int exchange_reserve(struct exchange *exchange, size_t len)
{
    if (len > exchange->max_body_bytes - MIN(exchange->reserved_bytes, exchange->max_body_bytes)) {
        fail_too_large(exchange);
        return -1;
    }
    /* Those who hold something go before those who wait, so that they come to their end and give it back. */
    if ((exchange->reserved_bytes > 0 || !exchange->loop->starving) && reserve(exchange, len)) {
        exchange->reserved_bytes += len;
        return 1;
    }
    if (!exchange->is_starving)
        enter_starving(exchange);
    exchange->wanted_bytes = len;
    return 0;
}

static void feed(struct exchange *exchange)
{
    leave_starving(exchange);
    exchange->reserved_bytes += exchange->wanted_bytes;
    connection_resume(exchange);
}

/* The first that waits, or, past it, the first of those who hold something already. */
static struct exchange *find_fed(struct loop *loop)
{
    for (struct exchange *each = loop->starving; each; each = each->queue_next)
        if ((each == loop->starving || each->reserved_bytes > 0) && reserve(each, each->wanted_bytes))
            return each;
    return NULL;
}

void exchange_feed_starving(struct loop *loop)
{
    struct exchange *exchange;

    while ((exchange = find_fed(loop)))
        feed(exchange);
}

static bool is_read(const struct route *route)
{
    return route->scope == ROUTE_READ || route->scope == ROUTE_ADMIN;
}

/* Questions of one peer that take long do not hold up its short ones: those of each route have their own turns. */
static uint64_t lane_of(const struct exchange *exchange)
{
    const struct route *route = exchange->route;
    uint64_t peer;

    if (route->lane)
        return route->lane(exchange);
    peer = connection_lane(exchange->connection);
    return is_read(route) ? hash_mix64(peer ^ (uint64_t)(uintptr_t)route) : peer;
}

static void refuse(struct exchange *exchange)
{
    if (exchange->route->refuse)
        exchange->route->refuse(exchange);
    else if (is_read(exchange->route))
        rpc_shape_failure(exchange, 429, "as many queries wait for their turn as may; try again in a moment",
                          CLOCK_NS_PER_SECOND);
    else
        rpc_shape_failure(exchange, 429, "the server has more to do than it can; try again in a moment",
                          CLOCK_NS_PER_SECOND);
}

void exchange_is_complete(struct exchange *exchange)
{
    struct httpserver *server = exchange->loop->server;

    exchange->is_complete = true;
    exchange->request.body = buffer_slice(&exchange->body);
    if (!exchange->request.body.ptr)
        exchange->request.body = SLICE("");
    exchange->is_running = true;
    connection_wait_for(exchange->connection, CONNECTION_WORK);
    if (exchange->route->is_quick) {
        exchange->route->handler(exchange);
        deliver_quick(exchange);
        connection_answer(exchange);
        return;
    }
    exchange->lane = lane_of(exchange);
    if (!pool_submit(is_read(exchange->route) ? server->read_pool : server->pool, exchange)) {
        refuse(exchange);
        connection_answer(exchange);
    }
}
