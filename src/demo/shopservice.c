// SPDX-License-Identifier: Apache-2.0
#include "demo/shopservice.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/vec.h"
#include "demo/httpcall.h"
#include "demo/traceparent.h"
#include "net/httpserver.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define MS (CLOCK_NS_PER_SECOND / 1000)

/* The audit holds the lock of the stock this long, this often. */
#define AUDIT_NS       (50 * MS)
#define AUDIT_EVERY_NS (400 * MS)
#define MIN_WAIT_NS    (100 * MS) /* for the warehouse */
#define MAX_WAIT_NS    (350 * MS)
#define FETCHERS       3 /* threads that ask the warehouse, at most */
#define ROW_BYTES      4096
#define DRAIN_NS       CLOCK_NS_PER_SECOND

/* Of requests, in seconds. */
static const double duration_bounds[] = { 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1 };
#define DURATION_BOUNDS ARRAY_LEN(duration_bounds)

/* What a thread of the server has for itself. */
struct clerk {
    struct shopwork work;
    struct httpcall calls[TRUTH_SERVICES];
};

struct shopservice {
    struct shopservice_options options;
    struct httpserver *server; /* of the owner: handlers may run before it is known */
    _Atomic uint16_t port;
    struct clerk *clerks;
    uint32_t n_clerks;
    struct thread audit;
    struct lock_mutex stock;            /* what is left of products, and what is remembered */
    struct framesampler_span last_span; /* guarded by stock: who reserved last */
    VEC(void *) rows;                   /* guarded by stock: what reports remember */
    _Atomic uint64_t remembered_bytes;
    _Atomic uint64_t n_served, n_failed, n_charges;
    _Atomic uint64_t durations[DURATION_BOUNDS + 1], duration_sum_ns;
    uint64_t measured[DURATION_BOUNDS + 1]; /* what was told last; of whoever measures */
};

/* Samples may point here when all is over. */
static struct framesampler_label labels[TRUTH_ENDPOINTS];

static void sleep_ns(int64_t duration_ns)
{
    struct timespec left = { duration_ns / CLOCK_NS_PER_SECOND, duration_ns % CLOCK_NS_PER_SECOND };

    while (nanosleep(&left, &left) < 0)
        continue;
}

/* --- serving a request --- */

struct serving {
    struct shopservice *service;
    struct exchange *exchange;
    const struct truth_endpoint *endpoint;
    struct clerk *clerk;
    uint32_t release;
    struct tracer_span span;
};

static bool find_parent(const struct exchange *exchange, struct framesampler_span *ret_parent)
{
    struct traceparent parent;
    struct error ignored;

    if (traceparent_parse(http_header(&exchange->request.headers, "traceparent"), &parent, &ignored) < 0)
        return false;
    memcpy(ret_parent->trace_id, parent.trace_id, sizeof(parent.trace_id));
    memcpy(ret_parent->span_id, parent.span_id, sizeof(parent.span_id));
    return true;
}

static void begin(struct serving *serving, struct exchange *exchange, enum truth_endpoint_id id)
{
    struct shopservice *service = exchange->context;
    struct framesampler_span parent;
    bool has_parent = find_parent(exchange, &parent);

    ASSERT(exchange->worker < service->n_clerks);
    *serving = (struct serving){ .service = service,
                                 .exchange = exchange,
                                 .endpoint = truth_endpoint(id),
                                 .clerk = &service->clerks[exchange->worker],
                                 .release = releases_at(&service->options.releases, clock_mono_ns()) };
    framesampler_set_label(&labels[id]);
    tracer_begin(service->options.tracer, serving->endpoint->operation, SPAN_SERVER, serving->release,
                 has_parent ? &parent : NULL, &serving->span);
    tracer_set_text(&serving->span, "http.request.method", serving->endpoint->method);
    tracer_set_text(&serving->span, "http.route", serving->endpoint->path);
    tracer_set_text(&serving->span, "url.path", serving->endpoint->path);
    tracer_set_text(&serving->span, "url.scheme", "http");
    tracer_set_text(&serving->span, "network.protocol.version", "1.1");
    tracer_set_number(&serving->span, "server.port", shopservice_port(service));
}

static void count_duration(struct shopservice *service, int64_t duration_ns)
{
    double duration_s = (double)duration_ns / (double)CLOCK_NS_PER_SECOND;
    size_t i = 0;

    while (i < DURATION_BOUNDS && duration_s > duration_bounds[i])
        i++;
    atomic_fetch_add_explicit(&service->durations[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&service->duration_sum_ns, (uint64_t)duration_ns, memory_order_relaxed);
}

static void finish(struct serving *serving, int status)
{
    struct shopservice *service = serving->service;

    exchange_answer(serving->exchange, status, "application/json",
                    status < 500 ? SLICE("{\"ok\":true}") : SLICE("{\"ok\":false}"));
    tracer_set_number(&serving->span, "http.response.status_code", status);
    tracer_end(service->options.tracer, &serving->span);
    framesampler_set_label(NULL);
    count_duration(service, serving->span.duration_ns);
    atomic_fetch_add_explicit(&service->n_served, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&service->n_failed, status >= 500, memory_order_relaxed);
}

/* Does the task with this number of the endpoint, if its release has it. */
static void do_task(struct serving *serving, uint32_t number)
{
    struct tracer *tracer = serving->service->options.tracer;
    struct tracer_span span;
    enum shopwork_task task;

    ASSERT(number < serving->endpoint->n_tasks);
    if (serving->endpoint->tasks[number].since > serving->release)
        return;
    task = serving->endpoint->tasks[number].task;
    tracer_begin(tracer, shopwork_info(task)->span, SPAN_INTERNAL, serving->release, &serving->span.ids, &span);
    shopwork_do(&serving->clerk->work, task);
    tracer_end(tracer, &span);
}

/* Calls another service; its status, or 502 where it cannot be reached. */
static int call(struct serving *serving, enum truth_endpoint_id id)
{
    const struct truth_endpoint *endpoint = truth_endpoint(id);
    struct httpcall *connection = &serving->clerk->calls[endpoint->service];
    struct tracer *tracer = serving->service->options.tracer;
    char header[TRACEPARENT_BYTES];
    struct traceparent context = { .flags = TRACEPARENT_SAMPLED };
    struct httpcall_request request = { endpoint->method, endpoint->path, header, SLICE("") };
    struct httpcall_answer answer = { .status = 502 };
    struct tracer_span span;
    struct error err;

    tracer_begin(tracer, endpoint->operation, SPAN_CLIENT, serving->release, &serving->span.ids, &span);
    memcpy(context.trace_id, span.ids.trace_id, sizeof(context.trace_id));
    memcpy(context.span_id, span.ids.span_id, sizeof(context.span_id));
    traceparent_format(&context, header);
    tracer_set_text(&span, "http.request.method", endpoint->method);
    tracer_set_text(&span, "url.template", endpoint->path);
    tracer_set_text(&span, "server.address", "127.0.0.1");
    tracer_set_number(&span, "server.port", connection->port);
    tracer_set_text(&span, "peer.service", truth_service_name(endpoint->service));
    if (httpcall_perform(connection, &request, &answer, &err) < 0)
        tracer_fail(&span, "ConnectionError", "the service cannot be reached");
    else if (answer.status >= 500)
        tracer_fail(&span, "500", "the service failed");
    tracer_set_number(&span, "http.response.status_code", answer.status);
    tracer_end(tracer, &span);
    return answer.status;
}

/* --- the shop --- */

static void handle_checkout(struct exchange *exchange)
{
    struct serving serving;
    int reserve_status, charge_status;
    bool has_failed;

    begin(&serving, exchange, TRUTH_CHECKOUT);
    tracer_set_number(&serving.span, "order.items", 1 + (int64_t)(serving.clerk->work.state % 9));
    do_task(&serving, 0);
    do_task(&serving, 1);
    do_task(&serving, 2);
    reserve_status = call(&serving, TRUTH_RESERVE);
    charge_status = call(&serving, TRUTH_CHARGE);
    do_task(&serving, 3);
    has_failed = reserve_status >= 500 || charge_status >= 500;
    if (has_failed)
        tracer_fail(&serving.span, "CheckoutError", "the order could not be paid");
    finish(&serving, has_failed ? 502 : 200);
}

static void handle_payment(struct exchange *exchange)
{
    struct serving serving;
    int status;

    begin(&serving, exchange, TRUTH_PAY);
    do_task(&serving, 0);
    do_task(&serving, 1);
    status = call(&serving, TRUTH_CHARGE);
    if (status >= 500)
        tracer_fail(&serving.span, "PaymentError", "the payment failed");
    finish(&serving, status >= 500 ? 502 : 200);
}

static void handle_inventory(struct exchange *exchange)
{
    struct serving serving;
    int status;

    begin(&serving, exchange, TRUTH_LOOK);
    status = call(&serving, TRUTH_RANK);
    do_task(&serving, 0);
    finish(&serving, status);
}

static void handle_report(struct exchange *exchange)
{
    struct serving serving;
    int status;

    begin(&serving, exchange, TRUTH_SUMMARY);
    status = call(&serving, TRUTH_BUILD);
    do_task(&serving, 0);
    finish(&serving, status);
}

/* --- payment --- */

static void handle_charge(struct exchange *exchange)
{
    struct serving serving;
    uint64_t number;

    begin(&serving, exchange, TRUTH_CHARGE);
    number = atomic_fetch_add_explicit(&serving.service->n_charges, 1, memory_order_relaxed);
    tracer_set_number(&serving.span, "payment.amount_cents", 100 + (int64_t)(serving.clerk->work.state % 90000));
    do_task(&serving, 0);
    do_task(&serving, 1);
    if (number % SHOPSERVICE_FAILS == SHOPSERVICE_FAILS / 2)
        tracer_fail(&serving.span, "GatewayTimeout", "the card gateway did not answer in time");
    finish(&serving, serving.span.status == SPAN_ERROR ? 500 : 200);
}

/* --- inventory --- */

static void handle_reserve(struct exchange *exchange)
{
    struct shopservice *service = exchange->context;
    struct tracer_span waiting;
    struct serving serving;

    begin(&serving, exchange, TRUTH_RESERVE);
    tracer_begin(service->options.tracer, "wait for stock", SPAN_INTERNAL, serving.release, &serving.span.ids,
                 &waiting);
    lock_mutex_acquire(&service->stock);
    tracer_end(service->options.tracer, &waiting);
    do_task(&serving, 0);
    service->last_span = serving.span.ids;
    lock_mutex_release(&service->stock);
    finish(&serving, 200);
}

static void handle_rank(struct exchange *exchange)
{
    struct serving serving;

    begin(&serving, exchange, TRUTH_RANK);
    do_task(&serving, 0);
    finish(&serving, 200);
}

/* Holds the lock while it does nothing but wait, as those do that write to a disk under one. */
static void audit_stock(struct shopservice *service)
{
    static const struct framesampler_span none;
    struct tracer_span span;

    tracer_begin(service->options.tracer, "audit stock", SPAN_INTERNAL, 0, NULL, &span);
    lock_mutex_acquire(&service->stock);
    if (memcmp(&service->last_span, &none, sizeof(none)) != 0)
        tracer_link(&span, &service->last_span);
    sleep_ns(AUDIT_NS);
    lock_mutex_release(&service->stock);
    tracer_end(service->options.tracer, &span);
}

static void run_audit(struct thread *thread, void *context)
{
    while (thread_sleep(thread, AUDIT_EVERY_NS))
        audit_stock(context);
}

/* --- report --- */

static void fetch(struct thread *thread UNUSED, void *context)
{
    sleep_ns(*(const int64_t *)context);
}

/* Asks the warehouse by several threads, which wait, and so does the caller for them. */
static void query_warehouse(struct serving *serving)
{
    struct tracer *tracer = serving->service->options.tracer;
    uint64_t luck = serving->clerk->work.state;
    int64_t wait_ns = MIN_WAIT_NS + (int64_t)(luck % (uint64_t)(MAX_WAIT_NS - MIN_WAIT_NS));
    struct thread fetchers[FETCHERS] = { 0 };
    struct tracer_span span;
    struct error ignored;

    tracer_begin(tracer, "query warehouse", SPAN_INTERNAL, serving->release, &serving->span.ids, &span);
    tracer_set_text(&span, "db.system.name", "warehouse");
    tracer_set_number(&span, "db.response.returned_rows", (int64_t)(SHOPSERVICE_REMEMBERS / ROW_BYTES));
    for (uint64_t i = 0; i < 1 + luck % FETCHERS; i++)
        IGNORE(thread_start(&fetchers[i], "fetch", fetch, &wait_ns, &ignored), "the others do it");
    sleep_ns(wait_ns);
    for (size_t i = 0; i < FETCHERS; i++)
        thread_stop(&fetchers[i]);
    tracer_end(tracer, &span);
}

static void forget_rows(struct shopservice *service)
{
    VEC_EACH (&service->rows, row)
        memory_free(*row);
    service->rows.n = 0;
    atomic_store_explicit(&service->remembered_bytes, 0, memory_order_relaxed);
}

/* The leak: nobody asks for these rows again. When there are too many, all go at once. */
static void remember_rows(struct shopservice *service)
{
    struct error ignored;

    LOCK_SCOPE(&service->stock);
    if (service->rows.n * ROW_BYTES >= SHOPSERVICE_MEMORY_BYTES)
        forget_rows(service);
    for (size_t i = 0; i < SHOPSERVICE_REMEMBERS / ROW_BYTES; i++) {
        void *row = memory_alloc(ROW_BYTES, &ignored);
        void **kept = row ? VEC_PUSH(&service->rows, SHOPSERVICE_MEMORY_BYTES / ROW_BYTES, &ignored) : NULL;

        if (!kept) {
            memory_free(row);
            return;
        }
        memset(row, 1, ROW_BYTES);
        *kept = row;
        atomic_fetch_add_explicit(&service->remembered_bytes, ROW_BYTES, memory_order_relaxed);
    }
}

static void handle_build(struct exchange *exchange)
{
    struct serving serving;

    begin(&serving, exchange, TRUTH_BUILD);
    query_warehouse(&serving);
    do_task(&serving, 0);
    do_task(&serving, 1);
    remember_rows(serving.service);
    finish(&serving, 200);
}

/* --- the service --- */

#define ROUTE(method_, path_, handler_)                                                                                \
    {                                                                                                                  \
        .method = method_, .path = path_, .scope = ROUTE_WRITE, .handler = handler_                                    \
    }

static const struct route shop_routes[] = {
    ROUTE(HTTP_POST, "/checkout", handle_checkout),
    ROUTE(HTTP_POST, "/payment", handle_payment),
    ROUTE(HTTP_GET, "/inventory", handle_inventory),
    ROUTE(HTTP_GET, "/report", handle_report),
};
static const struct route payment_routes[] = { ROUTE(HTTP_POST, "/charge", handle_charge) };
static const struct route inventory_routes[] = { ROUTE(HTTP_POST, "/reserve", handle_reserve),
                                                 ROUTE(HTTP_GET, "/rank", handle_rank) };
static const struct route report_routes[] = { ROUTE(HTTP_GET, "/build", handle_build) };

static const struct route_table tables[TRUTH_SERVICES] = {
    [TRUTH_SHOP] = { shop_routes, ARRAY_LEN(shop_routes) },
    [TRUTH_PAYMENT] = { payment_routes, ARRAY_LEN(payment_routes) },
    [TRUTH_INVENTORY] = { inventory_routes, ARRAY_LEN(inventory_routes) },
    [TRUTH_REPORT] = { report_routes, ARRAY_LEN(report_routes) },
};

static int make_clerks(struct shopservice *service, struct error *err)
{
    /* the overflow's thread has a number, too */
    uint32_t n = service->options.n_threads + 1;

    service->clerks = memory_alloc_zero(n * sizeof(*service->clerks), err);
    if (!service->clerks)
        return -1;
    service->n_clerks = n;
    for (uint32_t i = 0; i < n; i++) {
        shopwork_init(&service->clerks[i].work, (service->options.service + 1) * 1000 + i);
        for (unsigned other = 0; other < TRUTH_SERVICES; other++)
            httpcall_init(&service->clerks[i].calls[other], service->options.ports[other]);
    }
    return 0;
}

static int start_server(struct shopservice *service, struct error *err)
{
    struct address address = { .kind = ADDRESS_TCP, .name = "127.0.0.1" };
    struct httpserver_options options = { .listen = &address,
                                          .n_listen = 1,
                                          .routes = tables[service->options.service],
                                          .context = service,
                                          .pool = { .n_workers = service->options.n_threads },
                                          .read_pool = { .n_workers = 1 },
                                          .n_loops = 1,
                                          .max_connections = 1024,
                                          .max_body_bytes = 1 << 20 };

    if (httpserver_start(&options, &service->server, err) < 0)
        return -1;
    atomic_store(&service->port, httpserver_address(service->server, 0).port);
    return 0;
}

int shopservice_start(const struct shopservice_options *options, struct shopservice **ret_service, struct error *err)
{
    struct shopservice *service = MEMORY_NEW(struct shopservice, err);

    ASSERT(options->n_threads >= 1 && options->n_threads <= SHOPSERVICE_MAX_THREADS);
    if (!service)
        return -1;
    service->options = *options;
    lock_mutex_init(&service->stock, LOCK_DEMO_STOCK);
    for (unsigned id = 0; id < TRUTH_ENDPOINTS; id++)
        labels[id] = (struct framesampler_label){ "endpoint", truth_endpoint(id)->path };
    if (make_clerks(service, err) < 0 || start_server(service, err) < 0 ||
        (options->service == TRUTH_INVENTORY && thread_start(&service->audit, "audit", run_audit, service, err) < 0)) {
        shopservice_stop(service);
        return -1;
    }
    *ret_service = service;
    return 0;
}

void shopservice_stop(struct shopservice *service)
{
    if (!service)
        return;
    if (service->server)
        httpserver_drain(service->server, DRAIN_NS);
    httpserver_free(service->server);
    thread_stop(&service->audit);
    for (uint32_t i = 0; i < service->n_clerks; i++)
        for (unsigned other = 0; other < TRUTH_SERVICES; other++)
            httpcall_done(&service->clerks[i].calls[other]);
    memory_free(service->clerks);
    forget_rows(service);
    VEC_DONE(&service->rows);
    lock_mutex_done(&service->stock);
    memory_free(service);
}

uint16_t shopservice_port(const struct shopservice *service)
{
    return atomic_load(&service->port);
}

uint64_t shopservice_served(const struct shopservice *service)
{
    return atomic_load_explicit(&service->n_served, memory_order_relaxed);
}

void shopservice_measure(void *context, struct procmetrics *metrics)
{
    struct shopservice *service = context;
    struct httpserver_counts counts = httpserver_counts(service->server);
    struct metric_histogram durations = { .bounds = duration_bounds,
                                          .counts = service->measured,
                                          .n_bounds = DURATION_BOUNDS,
                                          .sum = (double)atomic_load(&service->duration_sum_ns) /
                                                 (double)CLOCK_NS_PER_SECOND };

    for (size_t i = 0; i <= DURATION_BOUNDS; i++)
        service->measured[i] = atomic_load(&service->durations[i]);
    procmetrics_sum(metrics, "hearth.demo.requests", "{request}", (double)atomic_load(&service->n_served));
    procmetrics_sum(metrics, "hearth.demo.errors", "{request}", (double)atomic_load(&service->n_failed));
    procmetrics_gauge(metrics, "hearth.demo.queue", "{request}", (double)counts.pool.n_waiting);
    procmetrics_gauge(metrics, "hearth.demo.connections", "{connection}", (double)counts.n_connections);
    procmetrics_histogram(metrics, "hearth.demo.request_duration", "s", &durations);
    if (service->options.service == TRUTH_REPORT)
        procmetrics_gauge(metrics, "hearth.demo.remembered", "By", (double)atomic_load(&service->remembered_bytes));
}
