// SPDX-License-Identifier: Apache-2.0
/* Spans of a shop as services send them, for benchmarks: traces of ten spans in six services of four instances each, eight
 * attributes a span; among them one of 10,000 users, and an id of the request on the first span of each trace. The same seed
 * makes the same spans. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "trace/span.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOPSPANS_A_TRACE = 10, SHOPSPANS_SERVICES = 6, SHOPSPANS_INSTANCES = 4, SHOPSPANS_ATTRIBUTES = 8 };

struct shopspans {
    uint64_t state;
    struct arena names; /* resources, which stay */
    struct span_resource resources[SHOPSPANS_SERVICES][SHOPSPANS_INSTANCES];
    struct span_scope scope;
};

/* What a span of a trace is: who does what, called by whom, when and how long, in microseconds. */
struct shopspans_step {
    const char *name;
    int service, parent, kind;
    double after_us, took_us;
    const char *system, *method, *route;
};

static const struct shopspans_step shopspans_steps[SHOPSPANS_A_TRACE] = {
    { "POST /checkout", 0, -1, SPAN_SERVER, 0, 42000, "http", "POST", "/checkout" },
    { "checkout.Place", 0, 0, SPAN_CLIENT, 900, 39000, "grpc", "Place", "shop.Checkout" },
    { "shop.Checkout/Place", 1, 1, SPAN_SERVER, 350, 38000, "grpc", "Place", "shop.Checkout" },
    { "GET /cart/{id}", 2, 2, SPAN_SERVER, 600, 3200, "http", "GET", "/cart/{id}" },
    { "SELECT cart", 2, 3, SPAN_CLIENT, 300, 1900, "postgresql", "SELECT", "SELECT * FROM cart WHERE user_id = $1" },
    { "reserve", 1, 2, SPAN_INTERNAL, 4200, 9000, "internal", "reserve", "reserve" },
    { "shop.Inventory/Reserve", 3, 5, SPAN_SERVER, 500, 7700, "grpc", "Reserve", "shop.Inventory" },
    { "UPDATE stock", 3, 6, SPAN_CLIENT, 800, 4400, "postgresql", "UPDATE",
      "UPDATE stock SET n = n - $1 WHERE sku = $2 AND n >= $1" },
    { "POST /charge", 4, 2, SPAN_CLIENT, 14000, 19000, "http", "POST", "/charge" },
    { "mail.send", 5, 2, SPAN_PRODUCER, 34000, 600, "kafka", "publish", "mail" },
};

static inline uint64_t shopspans_random(struct shopspans *shop)
{
    return hash_mix64(shop->state += 0x9e3779b97f4a7c15u);
}

static inline double shopspans_share(struct shopspans *shop)
{
    return (double)(shopspans_random(shop) >> 11) / 9007199254740992.0;
}

static inline struct slice shopspans_text(struct arena *arena, const char *front, uint64_t number, const char *back)
{
    struct error err;

    return slice_from(arena_printf(arena, &err, "%s%llu%s", front, (unsigned long long)number, back));
}

static inline struct span_attribute shopspans_of_text(const char *key, struct slice value)
{
    return (struct span_attribute){ slice_from(key), { .kind = SPAN_VALUE_TEXT, .text = value } };
}

static inline struct span_attribute shopspans_of_int(const char *key, int64_t value)
{
    return (struct span_attribute){ slice_from(key), { .kind = SPAN_VALUE_INT, .integer = value } };
}

static inline struct slice shopspans_uuid(struct shopspans *shop, struct arena *arena)
{
    uint64_t a = shopspans_random(shop), b = shopspans_random(shop);
    struct error err;

    return slice_from(arena_printf(arena, &err, "%08x-%04x-4%03x-a%03x-%012llx", (uint32_t)a,
                                   (uint32_t)(a >> 32) & 0xffff, (uint32_t)(a >> 48) & 0xfff, (uint32_t)b & 0xfff,
                                   (unsigned long long)(b >> 16)));
}

static inline void shopspans_make_resource(struct shopspans *shop, int service, int instance)
{
    static const char *const names[] = { "frontend", "checkout", "cart", "inventory", "payment", "mail" };
    struct error err;
    struct span_attribute *items = ARENA_ARRAY(&shop->names, struct span_attribute, 9, &err);
    struct slice name = slice_from(names[service]);
    uint64_t pod = shopspans_random(shop);

    items[0] = shopspans_of_text("service.name", name);
    items[1] = shopspans_of_text("service.version", SLICE("2.14.1"));
    items[2] = shopspans_of_text("service.instance.id", shopspans_uuid(shop, &shop->names));
    items[3] = shopspans_of_text("k8s.pod.name", shopspans_text(&shop->names, "pod-", pod >> 16, "-x"));
    items[4] = shopspans_of_text("host.name", shopspans_text(&shop->names, "node-", (uint64_t)instance, ""));
    items[5] = shopspans_of_text("telemetry.sdk.language", SLICE("go"));
    items[6] = shopspans_of_text("telemetry.sdk.name", SLICE("opentelemetry"));
    items[7] = shopspans_of_text("telemetry.sdk.version", SLICE("1.38.0"));
    items[8] = shopspans_of_int("process.pid", (int64_t)(pod & 0x7fff));
    shop->resources[service][instance] =
        (struct span_resource){ .service = name, .attributes = { .items = items, .n = 9 } };
}

static inline void shopspans_init(struct shopspans *shop, uint64_t seed)
{
    *shop = (struct shopspans){ .state = seed, .scope = { SLICE("go.opentelemetry.io/shop"), SLICE("0.62.0") } };
    arena_init(&shop->names, 0);
    for (int service = 0; service < SHOPSPANS_SERVICES; service++)
        for (int instance = 0; instance < SHOPSPANS_INSTANCES; instance++)
            shopspans_make_resource(shop, service, instance);
}

static inline void shopspans_done(struct shopspans *shop)
{
    arena_done(&shop->names);
}

/* A time around `us`, to the nanosecond: mostly near it, now and then several times as long. */
static inline int64_t shopspans_around(struct shopspans *shop, double us)
{
    double u = shopspans_share(shop), v = shopspans_share(shop);
    double normal = sqrt(-2 * log(u + 1e-12)) * cos(2 * 3.14159265358979 * v);

    return (int64_t)(us * 1000 * exp(0.35 * normal));
}

static inline void shopspans_fill(struct shopspans *shop, int step, uint64_t user, bool is_error, struct arena *arena,
                                  struct span *span)
{
    const struct shopspans_step *of = &shopspans_steps[step];
    struct error err;
    struct span_attribute *items = ARENA_ARRAY(arena, struct span_attribute, SHOPSPANS_ATTRIBUTES, &err);
    uint64_t peer = shopspans_random(shop) % 40;

    items[0] = shopspans_of_text("system", slice_from(of->system));
    items[1] = shopspans_of_text("method", slice_from(of->method));
    items[2] = shopspans_of_text("route", slice_from(of->route));
    items[3] = shopspans_of_int("status_code", is_error ? 500 : 200);
    items[4] = shopspans_of_text("server.address", shopspans_text(arena, "svc-", (uint64_t)step, ".shop.internal"));
    items[5] = shopspans_of_text("network.peer.address", shopspans_text(arena, "10.12.3.", 20 + peer, ""));
    items[6] = shopspans_of_int("server.port", of->kind == SPAN_CLIENT ? 5432 : 8080);
    items[7] = step == 0 ? shopspans_of_text("request.id", shopspans_uuid(shop, arena))
                         : shopspans_of_text("user.id", shopspans_text(arena, "user-", user, ""));
    span->attributes = (struct span_attributes){ .items = items, .n = SHOPSPANS_ATTRIBUTES };
}

/* The spans of one trace that starts about then, from `arena`. */
static inline void shopspans_trace(struct shopspans *shop, int64_t start_ns, struct arena *arena,
                                   struct span spans[static SHOPSPANS_A_TRACE])
{
    uint64_t trace_id[2] = { shopspans_random(shop), shopspans_random(shop) }, user = shopspans_random(shop) % 10000;
    bool is_error = shopspans_random(shop) % 50 == 0;

    for (int i = 0; i < SHOPSPANS_A_TRACE; i++) {
        const struct shopspans_step *step = &shopspans_steps[i];
        uint64_t id = shopspans_random(shop);
        struct span *span = &spans[i];

        *span = (struct span){ .kind = (uint8_t)step->kind, .flags = 0x101, .name = slice_from(step->name) };
        memcpy(span->trace_id, trace_id, sizeof(trace_id));
        memcpy(span->span_id, &id, sizeof(id));
        span->start_ns = start_ns;
        if (step->parent >= 0) {
            memcpy(span->parent_id, spans[step->parent].span_id, SPAN_ID_BYTES);
            span->start_ns = spans[step->parent].start_ns + shopspans_around(shop, step->after_us);
        }
        span->duration_ns = shopspans_around(shop, step->took_us);
        span->status = is_error && (i == 0 || i == 8) ? SPAN_ERROR : SPAN_UNSET;
        span->resource = &shop->resources[step->service][shopspans_random(shop) % SHOPSPANS_INSTANCES];
        span->scope = &shop->scope;
        shopspans_fill(shop, i, user, is_error && i == 8, arena, span);
    }
}
