// SPDX-License-Identifier: Apache-2.0
/* The spans of a shop as the requests that its services would make of them (OTLP by HTTP, protobuf), on standard output, for
 * bench_senders.c: in front of each request stands its length (u32, little endian).
 *
 *     spans [-start SECONDS] [-rate SPANS] [-gzip yes] COUNT >FILE
 *
 * A trace is ten spans of four services: a call that comes in, calls between services, a cache, a database, a message and
 * who takes it. Each has eight attributes, as the semantic conventions name them; ids of users, carts, orders and messages
 * have entropy, as have sizes, amounts and durations. Each service has three instances, and each instance sends what is its
 * own, 512 spans at a time: so the spans of a trace come in different requests. Always the same spans. With -start the first
 * one begins then (seconds since 1970; now unless given), and -rate spans (20,000) begin each second. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "measure.h"
#include "pack/packer.h"
#include "trace/otlptraces.h"

#include <stdarg.h>

enum { SERVICES = 4, INSTANCES = 3, SENDERS = SERVICES * INSTANCES, SPANS = 10, ATTRIBUTES = 8, BATCH = 512 };

enum service { SHOP, CART, PAYMENT, ORDERS };
static const char *const services[SERVICES] = { "shop", "cart", "payment", "orders" };

enum form { INCOMING, CALL, DATABASE, WORK, MESSAGE };

/* What a trace is made of: who does it, within what, what it is. Operations that end in a slash go on with the endpoint. */
static const struct step {
    enum service service;
    int parent; /* of the steps; -1 = none */
    enum form form;
    enum span_kind kind;
    const char *operation;
} steps[SPANS] = {
    { SHOP, -1, INCOMING, SPAN_SERVER, "POST /" },
    { SHOP, 0, CALL, SPAN_CLIENT, "POST" },
    { CART, 1, INCOMING, SPAN_SERVER, "POST /cart/{id}/" },
    { CART, 2, DATABASE, SPAN_CLIENT, "HGETALL" },
    { SHOP, 0, CALL, SPAN_CLIENT, "POST" },
    { PAYMENT, 4, INCOMING, SPAN_SERVER, "POST /charge/{id}/" },
    { PAYMENT, 5, WORK, SPAN_INTERNAL, "validate" },
    { PAYMENT, 5, DATABASE, SPAN_CLIENT, "INSERT payments" },
    { SHOP, 0, MESSAGE, SPAN_PRODUCER, "send orders" },
    { ORDERS, 8, MESSAGE, SPAN_CONSUMER, "process orders" },
};

static const char *const endpoints[] = { "checkout", "quote", "gift", "return", "refund", "reserve" };
static const char *const agents[] = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 "
     "Safari/605.1.15"),
    "shop-android/7.14.2",
    "shop-ios/7.14.0",
    "python-requests/2.32.3",
};
static const char *const statements[] = {
    "INSERT INTO payments (order_id, amount, currency, card) VALUES ($1, $2, $3, $4) RETURNING id",
    "SELECT sku, amount, price FROM cart_items WHERE cart_id = $1 ORDER BY position",
};

/* One instance, and what it has not sent yet. */
struct sender {
    struct arena arena;
    struct span_resource resource;
    struct span_attribute about[6];
    char texts[3][64];
    struct span spans[BATCH];
    size_t n;
};

struct making {
    uint64_t state; /* of chance */
    uint64_t n_sent;
    bool is_packed;
    struct packer *packer;
    struct buffer body, packed, request;
    struct sender senders[SENDERS];
};

/* What the spans of one trace share. */
struct shopping {
    uint64_t ids[2], spans[SPANS];
    uint32_t user, cart;
    uint64_t order;
    const char *endpoint;
    bool has_failed;
    int64_t start_ns;
};

static void die(const char *what)
{
    measure_die("spans", what);
}

static uint64_t chance(struct making *making)
{
    return hash_mix64(++making->state);
}

static struct slice print(struct sender *sender, const char *fmt, ...) PRINTF(2, 3);
static struct slice print(struct sender *sender, const char *fmt, ...)
{
    struct error err;
    char text[512];
    struct slice copy;
    va_list arguments;

    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    copy = arena_copy(&sender->arena, slice_from(text), &err);
    if (!copy.ptr)
        die(err.text);
    return copy;
}

/* --- attributes --- */

static void add_text(struct span_attribute **at, const char *key, struct slice text)
{
    *(*at)++ = (struct span_attribute){ slice_from(key), { .kind = SPAN_VALUE_TEXT, .text = text } };
}

static void add_int(struct span_attribute **at, const char *key, int64_t value)
{
    *(*at)++ = (struct span_attribute){ slice_from(key), { .kind = SPAN_VALUE_INT, .integer = value } };
}

static void add_incoming(struct making *making, struct sender *sender, const struct shopping *shopping,
                         struct slice operation, struct span_attribute *at)
{
    uint64_t dice = chance(making);

    add_text(&at, "http.request.method", SLICE("POST"));
    add_text(&at, "url.path", print(sender, "/%s/%08x", shopping->endpoint, shopping->cart));
    add_text(&at, "http.route", slice_sub(operation, strlen("POST "), SIZE_MAX));
    add_int(&at, "http.response.status_code", shopping->has_failed ? 500 : 200);
    add_text(&at, "server.address", print(sender, "%s.shop.internal", sender->resource.service.ptr));
    add_text(&at, "client.address", print(sender, "10.7.%u.%u", (unsigned)dice % 4, (unsigned)(dice >> 8) % 200));
    add_text(&at, "user_agent.original", slice_from(agents[shopping->user % ARRAY_LEN(agents)]));
    add_text(&at, "enduser.id", print(sender, "user-%06u", shopping->user));
}

static void add_call(struct making *making, struct sender *sender, const struct shopping *shopping,
                     struct span_attribute *at)
{
    uint64_t dice = chance(making);

    add_text(&at, "http.request.method", SLICE("POST"));
    add_text(&at, "url.full",
             print(sender, "http://cart.shop.internal:8080/cart/%08x/%s", shopping->cart, shopping->endpoint));
    add_text(&at, "server.address", SLICE("cart.shop.internal"));
    add_int(&at, "server.port", 8080);
    add_int(&at, "http.response.status_code", shopping->has_failed ? 500 : 200);
    add_text(&at, "network.protocol.version", SLICE("1.1"));
    add_text(&at, "network.peer.address", print(sender, "10.7.0.%u", (unsigned)dice % 8));
    add_int(&at, "http.request.body.size", (int64_t)(dice >> 8) % 4096);
}

static void add_database(struct making *making, struct sender *sender, bool is_cache, struct span_attribute *at)
{
    uint64_t dice = chance(making);

    add_text(&at, "db.system.name", is_cache ? SLICE("redis") : SLICE("postgresql"));
    add_text(&at, "db.namespace", is_cache ? SLICE("0") : SLICE("shop"));
    add_text(&at, "db.operation.name", is_cache ? SLICE("HGETALL") : SLICE("INSERT"));
    add_text(&at, "db.collection.name", is_cache ? SLICE("carts") : SLICE("payments"));
    add_text(&at, "db.query.text", slice_from(statements[is_cache]));
    add_text(&at, "server.address", print(sender, "db-%u.shop.internal", (unsigned)dice % 3));
    add_int(&at, "server.port", is_cache ? 6379 : 5432);
    add_int(&at, "db.response.returned_rows", (int64_t)(dice >> 8) % 16);
}

static void add_work(struct making *making, struct sender *sender, const struct shopping *shopping,
                     struct span_attribute *at)
{
    uint64_t dice = chance(making);

    add_text(&at, "code.function.name", SLICE("com.example.payment.Validator.validate"));
    add_text(&at, "code.file.path", SLICE("Validator.java"));
    add_int(&at, "code.line.number", 118);
    add_int(&at, "thread.id", 30 + (int64_t)dice % 16);
    add_text(&at, "thread.name", print(sender, "worker-%u", (unsigned)dice % 16));
    add_text(&at, "app.order.id", print(sender, "%016llx", (unsigned long long)shopping->order));
    *at++ = (struct span_attribute){ SLICE("app.order.amount"),
                                     { .kind = SPAN_VALUE_DOUBLE, .real = (double)((dice >> 8) % 50000) / 100 } };
    *at++ = (struct span_attribute){ SLICE("app.user.is_member"),
                                     { .kind = SPAN_VALUE_BOOL, .integer = shopping->user % 3 == 0 } };
}

static void add_message(struct making *making, struct sender *sender, const struct shopping *shopping, bool is_sent,
                        struct span_attribute *at)
{
    add_text(&at, "messaging.system", SLICE("kafka"));
    add_text(&at, "messaging.operation.type", is_sent ? SLICE("send") : SLICE("process"));
    add_text(&at, "messaging.destination.name", SLICE("orders"));
    add_text(&at, "messaging.message.id", print(sender, "%016llx", (unsigned long long)hash_mix64(shopping->order)));
    add_int(&at, "messaging.kafka.offset", (int64_t)(making->state / 7));
    add_text(&at, "messaging.destination.partition.id", print(sender, "%u", shopping->user % 12));
    add_text(&at, "messaging.client.id", print(sender, "%s-1", sender->resource.service.ptr));
    add_int(&at, "messaging.message.body.size", 300 + (int64_t)(shopping->order % 900));
}

static const struct span_attribute *make_attributes(struct making *making, struct sender *sender,
                                                    const struct shopping *shopping, const struct step *step,
                                                    struct slice operation)
{
    struct error err;
    struct span_attribute *items = ARENA_ARRAY(&sender->arena, struct span_attribute, ATTRIBUTES, &err);

    if (!items)
        die(err.text);
    switch (step->form) {
    case INCOMING: add_incoming(making, sender, shopping, operation, items); break;
    case CALL: add_call(making, sender, shopping, items); break;
    case DATABASE: add_database(making, sender, step->service == CART, items); break;
    case WORK: add_work(making, sender, shopping, items); break;
    case MESSAGE: add_message(making, sender, shopping, step->kind == SPAN_PRODUCER, items); break;
    }
    return items;
}

/* --- requests --- */

static void put_request(struct making *making, struct slice body, const char *encoding)
{
    char length[4];

    buffer_clear(&making->request);
    buffer_printf(&making->request,
                  "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n%s"
                  "Content-Length: %zu\r\n\r\n",
                  encoding, body.len);
    buffer_append_slice(&making->request, body);
    bytes_put_le32(length, (uint32_t)making->request.len);
    if (fwrite(length, sizeof(length), 1, stdout) != 1 ||
        fwrite(making->request.data, making->request.len, 1, stdout) != 1)
        die("writing to standard output failed");
}

static void send(struct making *making, struct sender *sender)
{
    struct error err;

    if (!sender->n)
        return;
    buffer_clear(&making->body);
    otlptraces_encode(&(struct span_list){ sender->spans, sender->n }, &making->body);
    if (buffer_check(&making->body, &err) < 0)
        die(err.text);
    if (making->is_packed) {
        buffer_clear(&making->packed);
        if (packer_pack(making->packer, PACK_GZIP, PACK_LEVEL_DEFAULT, buffer_slice(&making->body), &making->packed,
                        &err) < 0)
            die(err.text);
        put_request(making, buffer_slice(&making->packed), "Content-Encoding: gzip\r\n");
    } else
        put_request(making, buffer_slice(&making->body), "");
    sender->n = 0;
    arena_reset(&sender->arena);
}

static void init_sender(struct sender *sender, enum service service, unsigned instance)
{
    struct span_attribute *at = sender->about;

    arena_init(&sender->arena, 0);
    snprintf(sender->texts[0], sizeof(sender->texts[0]), "%s-6d4cf56db%u-x%04x", services[service], service,
             instance * 40503 & 0xffff);
    snprintf(sender->texts[1], sizeof(sender->texts[1]), "node-%u.shop.internal", instance);
    snprintf(sender->texts[2], sizeof(sender->texts[2]), "1.%u.0", instance == 2);
    sender->resource.service = slice_from(services[service]);
    add_text(&at, "service.name", sender->resource.service);
    add_text(&at, "service.version", slice_from(sender->texts[2]));
    add_text(&at, "service.instance.id", slice_from(sender->texts[0]));
    add_text(&at, "host.name", slice_from(sender->texts[1]));
    add_text(&at, "telemetry.sdk.language", SLICE("java"));
    add_text(&at, "telemetry.sdk.version", SLICE("1.44.1"));
    sender->resource.attributes = (struct span_attributes){ .items = sender->about, .n = ARRAY_LEN(sender->about) };
}

static struct slice name_operation(struct sender *sender, const struct step *step, const struct shopping *shopping)
{
    bool goes_on = slice_ends_with(slice_from(step->operation), SLICE("/"));

    return print(sender, "%s%s", step->operation, goes_on ? shopping->endpoint : "");
}

static void make_trace(struct making *making, int64_t start_ns)
{
    static const struct span_scope scope = { .name = SLICE("io.opentelemetry.instrumentation"),
                                             .version = SLICE("2.10.0") };
    uint64_t dice = chance(making);
    struct shopping shopping = { .ids = { chance(making), chance(making) },
                                 .user = (uint32_t)dice % 50000,
                                 .cart = (uint32_t)chance(making),
                                 .order = chance(making),
                                 .endpoint = endpoints[(dice >> 32) % ARRAY_LEN(endpoints)],
                                 .has_failed = (dice >> 40) % 100 == 0,
                                 .start_ns = start_ns };
    int64_t starts_ns[SPANS], durations_ns[SPANS];

    for (size_t i = 0; i < SPANS; i++) {
        const struct step *step = &steps[i];
        struct sender *sender = &making->senders[step->service * INSTANCES + shopping.user % INSTANCES];
        struct span *span = &sender->spans[sender->n++];
        uint64_t time = chance(making);
        bool is_root = step->parent < 0;

        shopping.spans[i] = chance(making);
        starts_ns[i] = is_root ? start_ns : starts_ns[step->parent] + (int64_t)(time % 2000000);
        durations_ns[i] = is_root ? 5000000 + (int64_t)((time >> 32) % 400000000)
                                  : durations_ns[step->parent] / 2 + (int64_t)((time >> 32) % 3000000);
        *span = (struct span){ .kind = (uint8_t)step->kind,
                               .status = shopping.has_failed && step->form == INCOMING ? SPAN_ERROR : SPAN_UNSET,
                               .flags = 1,
                               .start_ns = starts_ns[i],
                               .duration_ns = durations_ns[i],
                               .name = name_operation(sender, step, &shopping),
                               .resource = &sender->resource,
                               .scope = &scope };
        memcpy(span->trace_id, shopping.ids, sizeof(span->trace_id));
        memcpy(span->span_id, &shopping.spans[i], sizeof(span->span_id));
        if (!is_root)
            memcpy(span->parent_id, &shopping.spans[step->parent], sizeof(span->parent_id));
        span->attributes =
            (struct span_attributes){ .items = make_attributes(making, sender, &shopping, step, span->name),
                                      .n = ATTRIBUTES };
        if (sender->n == BATCH)
            send(making, sender);
    }
}

int main(int argc, char **argv)
{
    static struct making making;
    int64_t start_s = time(NULL), rate = 20000, count;
    struct error err;
    int at = 1;

    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-start") == 0)
            start_s = atoll(argv[at + 1]);
        else if (strcmp(argv[at], "-rate") == 0)
            rate = MAX(atoll(argv[at + 1]), 1);
        else if (strcmp(argv[at], "-gzip") == 0)
            making.is_packed = strcmp(argv[at + 1], "yes") == 0;
        else
            die("usage: spans [-start SECONDS] [-rate SPANS] [-gzip yes] COUNT");
    }
    count = at < argc ? atoll(argv[at]) : 0;
    if (count <= 0)
        die("usage: spans [-start SECONDS] [-rate SPANS] [-gzip yes] COUNT");
    buffer_init(&making.body, 0);
    buffer_init(&making.packed, 0);
    buffer_init(&making.request, 0);
    if (packer_new(&making.packer, &err) < 0)
        die(err.text);
    for (unsigned i = 0; i < SENDERS; i++)
        init_sender(&making.senders[i], i / INSTANCES, i % INSTANCES);
    for (int64_t i = 0; i < count; i += SPANS)
        make_trace(&making, start_s * CLOCK_NS_PER_SECOND + i * (CLOCK_NS_PER_SECOND / rate));
    for (unsigned i = 0; i < SENDERS; i++)
        send(&making, &making.senders[i]);
    return fflush(stdout) == 0 ? 0 : 1;
}
