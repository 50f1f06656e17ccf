// SPDX-License-Identifier: Apache-2.0
#include "demo/shopservice.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/test.h"
#include "demo/loader.h"
#include "trace/otlptraces.h"

#include <string.h>
#include <unistd.h>

#define WAIT_NS (60 * CLOCK_NS_PER_SECOND)

/* All services in one process, each with its spans. */
struct town {
    struct tracer *tracers[TRUTH_SERVICES];
    struct shopservice *services[TRUTH_SERVICES];
    uint16_t ports[TRUTH_SERVICES];
};

static int open_service(struct town *town, enum truth_service service, struct error *err)
{
    struct framesampler_label resource[] = { { "service.name", truth_service_name(service) } };
    struct shopservice_options options = { .service = service, .n_threads = 2 };

    if (tracer_new(resource, 1, &town->tracers[service], err) < 0)
        return -1;
    options.tracer = town->tracers[service];
    memcpy(options.ports, town->ports, sizeof(options.ports));
    if (shopservice_start(&options, &town->services[service], err) < 0)
        return -1;
    town->ports[service] = shopservice_port(town->services[service]);
    return 0;
}

static void close_town(struct town *town)
{
    for (unsigned i = 0; i < TRUTH_SERVICES; i++) {
        shopservice_stop(town->services[i]);
        tracer_free(town->tracers[i]);
    }
}

static int open_town(struct town *town, struct error *err)
{
    static const enum truth_service order[] = { TRUTH_PAYMENT, TRUTH_INVENTORY, TRUTH_REPORT, TRUTH_SHOP };

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (open_service(town, order[i], err) < 0)
            return -1;
    return 0;
}

static int64_t nothing_used(void *context UNUSED)
{
    return 0;
}

/* Uses the shop until it has served so many requests. */
static void use(struct town *town, struct tracer *tracer, uint64_t n)
{
    struct loader_options options = {
        .port = town->ports[TRUTH_SHOP], .n_threads = 2, .cpu_share = 1, .used_ns = nothing_used, .tracer = tracer
    };
    int64_t begun_ns = clock_mono_ns();
    struct loader *loader = NULL;
    struct error err;

    CHECK_OK(loader_start(&options, &loader, &err), &err);
    while (loader_counts(loader).n_served < n) {
        CHECK(clock_mono_ns() - begun_ns < WAIT_NS);
        usleep(5000);
    }
    loader_stop(loader);
    CHECK(shopservice_served(town->services[TRUTH_SHOP]) >= n);
}

static struct span_list read_spans(struct tracer *tracer, struct arena *arena)
{
    struct otlptraces_read read;
    struct buffer body;
    struct slice bytes;
    struct error err;
    size_t n = 0;

    buffer_init(&body, 0);
    CHECK_OK(tracer_encode(tracer, &body, &n, &err), &err);
    bytes = arena_copy(arena, buffer_slice(&body), &err);
    CHECK(bytes.ptr != NULL);
    buffer_done(&body);
    CHECK_OK(otlptraces_decode(bytes, false, arena, &read, &err), &err);
    CHECK_EQ(read.spans.n, n);
    return read.spans;
}

static const struct span *find_span(const struct span_list *spans, const char *name, enum span_kind kind)
{
    for (size_t i = 0; i < spans->n; i++)
        if (slice_is(spans->items[i].name, name) && spans->items[i].kind == kind)
            return &spans->items[i];
    return NULL;
}

static bool has_id(const struct span_list *spans, const uint8_t id[static SPAN_ID_BYTES])
{
    for (size_t i = 0; i < spans->n; i++)
        if (memcmp(spans->items[i].span_id, id, SPAN_ID_BYTES) == 0)
            return true;
    return false;
}

/* How many of them the span called itself. */
static size_t count_calls(const struct span_list *spans, const struct span *caller, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < spans->n; i++)
        n += spans->items[i].kind == SPAN_CLIENT && slice_is(spans->items[i].name, name) &&
             memcmp(spans->items[i].parent_id, caller->span_id, SPAN_ID_BYTES) == 0;
    return n;
}

/* A checkout goes through three services, each of which knows the span that called it. */
static void check_checkout(struct town *town, struct tracer *web, struct arena *arena)
{
    struct span_list users = read_spans(web, arena), shop = read_spans(town->tracers[TRUTH_SHOP], arena);
    struct span_list payment = read_spans(town->tracers[TRUTH_PAYMENT], arena);
    struct span_list inventory = read_spans(town->tracers[TRUTH_INVENTORY], arena);
    struct span_list report = read_spans(town->tracers[TRUTH_REPORT], arena);
    const struct span *checkout = find_span(&shop, "POST /checkout", SPAN_SERVER);
    const struct span *charge = find_span(&payment, "POST /charge", SPAN_SERVER);

    CHECK(checkout && charge);
    CHECK(has_id(&users, checkout->parent_id));
    CHECK(has_id(&shop, charge->parent_id));
    CHECK_EQ(count_calls(&shop, checkout, "POST /charge"), 1);
    CHECK_EQ(count_calls(&shop, checkout, "POST /reserve"), 1);
    CHECK(find_span(&shop, "read order", SPAN_INTERNAL) && find_span(&shop, "POST /reserve", SPAN_CLIENT));
    CHECK(!find_span(&shop, "check order", SPAN_INTERNAL)); /* of the other release */
    CHECK(find_span(&payment, "hash card", SPAN_INTERNAL) != NULL);
    CHECK(find_span(&inventory, "wait for stock", SPAN_INTERNAL) && find_span(&inventory, "GET /rank", SPAN_SERVER));
    CHECK(find_span(&report, "query warehouse", SPAN_INTERNAL) != NULL);
}

TEST(shopservice_requests_go_through_all_services)
{
    struct framesampler_label resource[] = { { "service.name", "web" } };
    struct town town = { 0 };
    struct procmetrics metrics;
    struct tracer *web = NULL;
    struct arena arena;
    struct error err;

    CHECK_OK(open_town(&town, &err), &err);
    CHECK_OK(tracer_new(resource, 1, &web, &err), &err);
    use(&town, web, 2 * TRUTH_ROUND);
    procmetrics_init(&metrics, 2, 1);
    shopservice_measure(town.services[TRUTH_REPORT], &metrics);
    CHECK_TEXT(metrics.series[0].name, "hearth.demo.requests");
    CHECK(metrics.points[0].value >= 4);
    CHECK_TEXT(metrics.series[metrics.n - 1].name, "hearth.demo.remembered");
    CHECK(metrics.points[metrics.n - 1].value >= 4.0 * SHOPSERVICE_REMEMBERS);
    procmetrics_init(&metrics, 2, 1);
    shopservice_measure(town.services[TRUTH_PAYMENT], &metrics);
    CHECK_TEXT(metrics.series[1].name, "hearth.demo.errors");
    CHECK(metrics.points[1].value >= 1);
    arena_init(&arena, 64 << 20);
    check_checkout(&town, web, &arena);
    arena_done(&arena);
    close_town(&town);
    tracer_free(web);
}

static int open_and_close(void *context UNUSED, struct error *err)
{
    struct town town = { 0 };
    int result = open_town(&town, err);

    close_town(&town);
    return result;
}

TEST(shopservice_reports_that_memory_ran_out)
{
    test_each_allocation_failing(open_and_close, NULL);
}
