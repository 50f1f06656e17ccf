// SPDX-License-Identifier: Apache-2.0
#include "demo/loader.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "demo/httpcall.h"
#include "demo/pacer.h"
#include "demo/traceparent.h"
#include "demo/truth.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define CUSTOMERS 500 /* made up; each request is of one of them */

struct customer {
    struct loader *loader;
    struct thread thread;
    struct httpcall call;
};

struct loader {
    struct loader_options options;
    struct customer customers[LOADER_MAX_THREADS];
    struct lock_mutex lock;
    struct pacer pacer; /* guarded by lock */
    _Atomic uint64_t n_begun, n_served, n_failed;
};

static void ask(struct customer *customer)
{
    struct loader *loader = customer->loader;
    uint64_t number = atomic_fetch_add_explicit(&loader->n_begun, 1, memory_order_relaxed);
    const struct truth_endpoint *endpoint = truth_endpoint(truth_request(number));
    char header[TRACEPARENT_BYTES];
    struct traceparent context = { .flags = TRACEPARENT_SAMPLED };
    struct httpcall_request request = { endpoint->method, endpoint->path, header, SLICE("") };
    struct httpcall_answer answer = { .status = 502 };
    struct tracer_span span;
    struct error err;

    tracer_begin(loader->options.tracer, endpoint->operation, SPAN_CLIENT, 0, NULL, &span);
    memcpy(context.trace_id, span.ids.trace_id, sizeof(context.trace_id));
    memcpy(context.span_id, span.ids.span_id, sizeof(context.span_id));
    traceparent_format(&context, header);
    tracer_set_text(&span, "http.request.method", endpoint->method);
    tracer_set_text(&span, "url.template", endpoint->path);
    tracer_set_text(&span, "server.address", "127.0.0.1");
    tracer_set_number(&span, "server.port", loader->options.port);
    tracer_set_text(&span, "peer.service", truth_service_name(TRUTH_SHOP));
    tracer_set_number(&span, "customer.id", (int64_t)(number * 2654435761u % CUSTOMERS));
    if (httpcall_perform(&customer->call, &request, &answer, &err) < 0)
        tracer_fail(&span, "ConnectionError", "the shop cannot be reached");
    else if (answer.status >= 500)
        tracer_fail(&span, "502", "the shop failed");
    tracer_set_number(&span, "http.response.status_code", answer.status);
    tracer_end(loader->options.tracer, &span);
    atomic_fetch_add_explicit(&loader->n_served, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&loader->n_failed, answer.status >= 500, memory_order_relaxed);
}

static int64_t pause_ns(struct loader *loader)
{
    LOCK_SCOPE(&loader->lock);
    return pacer_pause_ns(&loader->pacer, clock_mono_ns(), loader->options.used_ns(loader->options.context));
}

static void run(struct thread *thread, void *context)
{
    struct customer *customer = context;

    do
        ask(customer);
    while (thread_sleep(thread, pause_ns(customer->loader)));
}

static int start_customer(struct loader *loader, uint32_t number, struct error *err)
{
    struct customer *customer = &loader->customers[number];
    char name[THREAD_NAME_BYTES];

    customer->loader = loader;
    snprintf(name, sizeof(name), "customer-%u", number % 100);
    return thread_start(&customer->thread, name, run, customer, err);
}

int loader_start(const struct loader_options *options, struct loader **ret_loader, struct error *err)
{
    struct loader *loader = MEMORY_NEW(struct loader, err);

    ASSERT(options->n_threads >= 1 && options->n_threads <= LOADER_MAX_THREADS && options->cpu_share > 0);
    if (!loader)
        return -1;
    loader->options = *options;
    lock_mutex_init(&loader->lock, LOCK_DEMO_PACE);
    pacer_init(&loader->pacer, options->cpu_share, clock_mono_ns(), options->used_ns(options->context));
    for (uint32_t i = 0; i < options->n_threads; i++)
        httpcall_init(&loader->customers[i].call, options->port);
    for (uint32_t i = 0; i < options->n_threads; i++)
        if (start_customer(loader, i, err) < 0) {
            loader_stop(loader);
            return -1;
        }
    *ret_loader = loader;
    return 0;
}

void loader_stop(struct loader *loader)
{
    if (!loader)
        return;
    for (uint32_t i = 0; i < loader->options.n_threads; i++) {
        thread_stop(&loader->customers[i].thread);
        httpcall_done(&loader->customers[i].call);
    }
    lock_mutex_done(&loader->lock);
    memory_free(loader);
}

struct loader_counts loader_counts(const struct loader *loader)
{
    return (struct loader_counts){ atomic_load(&loader->n_served), atomic_load(&loader->n_failed) };
}

void loader_measure(void *context, struct procmetrics *metrics)
{
    struct loader_counts counts = loader_counts(context);

    procmetrics_sum(metrics, "hearth.demo.requests", "{request}", (double)counts.n_served);
    procmetrics_sum(metrics, "hearth.demo.errors", "{request}", (double)counts.n_failed);
}
