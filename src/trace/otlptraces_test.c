// SPDX-License-Identifier: Apache-2.0
#include "trace/otlptraces.h"

#include "trace/random_span_test.h"
#include "wire/keyvalue.h"

/* What the OpenTelemetry SDK for Python (1.45.2) sends for two spans, one inside the other. */
static const char python_hex[] =
    "0ae6030a430a160a0c736572766963652e6e616d6512060a0473686f700a180a0f736572766963652e76657273696f6e12050a03"
    "312e320a0f0a09686f73742e6370757312021804129e030a120a0b73686f702e6f72646572731203302e3912c2010a101bf74cdd"
    "3e331e08703ab0f1e1e35c3d12083dccb4dcd90469e52208a9840c3193db672d2a0663686172676530033940423236f32cd71841"
    "c0c65036f32cd7185a320980844136f32cd7181209657863657074696f6e1a1c0a0e657863657074696f6e2e74797065120a0a08"
    "4465636c696e65646a310a101bf74cdd3e331e08703ab0f1e1e35c3d1208a9840c3193db672d220e0a0377687912070a05726574"
    "727935000100007a11120d63617264206465636c696e6564180285010001000012c2010a101bf74cdd3e331e08703ab0f1e1e35c"
    "3d1208a9840c3193db672d2a0e504f5354202f636865636b6f757430023900002336f32cd71841404b6f36f32cd7184a1d0a1368"
    "7474702e726571756573742e6d6574686f6412060a04504f53544a200a19687474702e726573706f6e73652e7374617475735f63"
    "6f6465120318f4034a0d0a0773616d706c6564120210014a120a057368617265120921000000000000d03f4a140a047461677312"
    "0c2a0a0a030a01610a030a01627a00850100010000";

/* The same two spans as the collector writes them, with keys that nobody knows. */
static const char collector_json[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}"
    ","
    "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2\"}},{\"key\":\"host.cpus\",\"value\":{\"intValue\":"
    "\"4\"}}]},\"schemaUrl\":\"x\",\"scopeSpans\":[{\"scope\":{\"name\":\"shop.orders\",\"version\":\"0.9\"},\"spans\":"
    "["
    "{\"traceId\":\"1bf74cdd3e331e08703ab0f1e1e35c3d\",\"spanId\":\"3dccb4dcd90469e5\",\"parentSpanId\":"
    "\"A9840C3193DB672D\",\"flags\":256,\"name\":\"charge\",\"kind\":3,\"startTimeUnixNano\":\"1789948800001000000\","
    "\"endTimeUnixNano\":\"1789948800003000000\",\"events\":[{\"timeUnixNano\":\"1789948800002000000\",\"name\":"
    "\"exception\",\"attributes\":[{\"key\":\"exception.type\",\"value\":{\"stringValue\":\"Declined\"}}]}],\"links\":["
    "{"
    "\"traceId\":\"1bf74cdd3e331e08703ab0f1e1e35c3d\",\"spanId\":\"a9840c3193db672d\",\"attributes\":[{\"key\":\"why\","
    "\"value\":{\"stringValue\":\"retry\"}}],\"flags\":256}],\"status\":{\"message\":\"card declined\",\"code\":2}},"
    "{\"traceId\":\"1bf74cdd3e331e08703ab0f1e1e35c3d\",\"spanId\":\"a9840c3193db672d\",\"parentSpanId\":\"\",\"name\":"
    "\"POST /checkout\",\"kind\":2,\"startTimeUnixNano\":1789948800000000000,\"endTimeUnixNano\":"
    "\"1789948800005000000\",\"attributes\":[{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"POST\"}},"
    "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":500}},{\"key\":\"sampled\",\"value\":{"
    "\"boolValue\":"
    "true}},{\"key\":\"share\",\"value\":{\"doubleValue\":0.25}},{\"key\":\"tags\",\"value\":{\"arrayValue\":{"
    "\"values\":"
    "[{\"stringValue\":\"a\"},{\"stringValue\":\"b\"}]}}}],\"status\":{},\"flags\":256,\"never\":{\"heard\":[1]}}]}]}]"
    "}";

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static struct slice python_bytes(void)
{
    static char bytes[sizeof(python_hex) / 2];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(digit(python_hex[2 * i]) << 4 | digit(python_hex[2 * i + 1]));
    return slice_of(bytes, sizeof(bytes));
}

static void check_value(const struct span_attributes *attributes, uint32_t i, const char *key,
                        enum span_value_kind kind)
{
    CHECK(i < attributes->n);
    CHECK_TEXT(attributes->items[i].key, key);
    CHECK_EQ(attributes->items[i].value.kind, kind);
}

static void check_the_two(const struct otlptraces_read *read)
{
    const struct span *charge = &read->spans.items[0], *checkout = &read->spans.items[1];
    const struct span_attributes *attributes = &checkout->attributes;

    CHECK_EQ(read->spans.n, 2);
    CHECK_EQ(read->n_rejected, 0);
    CHECK_TEXT(charge->name, "charge");
    CHECK_EQ(charge->kind, SPAN_CLIENT);
    CHECK_EQ(charge->status, SPAN_ERROR);
    CHECK_TEXT(charge->status_message, "card declined");
    CHECK_EQ(charge->start_ns, 1789948800001000000);
    CHECK_EQ(charge->duration_ns, 2000000);
    CHECK_EQ(charge->flags, 256);
    CHECK(memcmp(charge->parent_id, checkout->span_id, SPAN_ID_BYTES) == 0);
    CHECK(memcmp(charge->trace_id, "\x1b\xf7\x4c\xdd", 4) == 0);
    CHECK_EQ(charge->n_events, 1);
    CHECK_EQ(charge->events[0].time_ns, 1789948800002000000);
    CHECK_TEXT(charge->events[0].name, "exception");
    CHECK_TEXT(charge->events[0].attributes.items[0].value.text, "Declined");
    CHECK_EQ(charge->n_links, 1);
    CHECK(memcmp(charge->links[0].span_id, checkout->span_id, SPAN_ID_BYTES) == 0);
    CHECK_TEXT(charge->links[0].attributes.items[0].key, "why");
    CHECK(charge->resource == checkout->resource);
    CHECK(charge->scope == checkout->scope);
    CHECK_TEXT(charge->resource->service, "shop");
    check_value(&charge->resource->attributes, 2, "host.cpus", SPAN_VALUE_INT);
    CHECK_TEXT(charge->scope->name, "shop.orders");
    CHECK_TEXT(charge->scope->version, "0.9");
    CHECK_EQ(checkout->kind, SPAN_SERVER);
    CHECK_EQ(checkout->parent_id[0], 0);
    check_value(attributes, 0, "http.request.method", SPAN_VALUE_TEXT);
    check_value(attributes, 1, "http.response.status_code", SPAN_VALUE_INT);
    CHECK_EQ(attributes->items[1].value.integer, 500);
    check_value(attributes, 2, "sampled", SPAN_VALUE_BOOL);
    check_value(attributes, 3, "share", SPAN_VALUE_DOUBLE);
    CHECK_NEAR(attributes->items[3].value.real, 0.25, 0);
    check_value(attributes, 4, "tags", SPAN_VALUE_JSON);
    CHECK_TEXT(attributes->items[4].value.text, "[\"a\",\"b\"]");
}

TEST(otlptraces_reads_what_the_python_sdk_sends)
{
    struct otlptraces_read read;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(otlptraces_decode(python_bytes(), false, &arena, &read, &err), &err);
    check_the_two(&read);
    arena_done(&arena);
}

TEST(otlptraces_reads_what_the_collector_writes_as_json)
{
    struct otlptraces_read read;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(otlptraces_decode(slice_from(collector_json), true, &arena, &read, &err), &err);
    check_the_two(&read);
    CHECK_OK(otlptraces_decode(SLICE("{}"), true, &arena, &read, &err), &err);
    CHECK_EQ(read.spans.n, 0);
    CHECK_OK(otlptraces_decode(SLICE("{\"resource_spans\":[]}"), true, &arena, &read, &err), &err);
    CHECK_EQ(read.spans.n, 0);
    arena_done(&arena);
}

TEST(otlptraces_says_where_json_is_wrong)
{
    struct otlptraces_read read;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(otlptraces_decode(SLICE("{\"resourceSpans\":\n[{]"), true, &arena, &read, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "OTLP JSON: line 2, column");
    CHECK_ERROR(
        otlptraces_decode(SLICE("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"xyz0\"}]}]}]}"), true,
                          &arena, &read, &err),
        &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "expected an id in hexadecimal digits, found 'xyz0'");
    CHECK_ERROR(otlptraces_decode(SLICE("{} {}"), true, &arena, &read, &err), &err, ERR_CORRUPT);
    arena_done(&arena);
}

TEST(otlptraces_that_is_cut_is_an_error_or_has_less_spans)
{
    struct slice bytes = python_bytes();
    struct arena arena;
    size_t n_whole = 0;

    arena_init(&arena, 0);
    for (size_t len = 0; len < bytes.len; len++) {
        struct otlptraces_read read;
        struct error err;

        arena_reset(&arena);
        if (otlptraces_decode(slice_of(bytes.ptr, len), false, &arena, &read, &err) == 0) {
            CHECK_EQ(read.spans.n, 0);
            n_whole++;
            continue;
        }
        CHECK_EQ(err.code, ERR_CORRUPT);
        CHECK_HAS(err.text, "OTLP traces: ");
    }
    CHECK_EQ(n_whole, 1); /* nothing at all */
    arena_done(&arena);
}

TEST(otlptraces_gives_back_every_random_span)
{
    uint64_t state = 1;
    struct buffer out;
    struct arena arena;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    for (unsigned round = 0; round < test_times(60); round++) {
        const struct span_resource *resource = random_span_resource(&state, &arena);
        struct span spans[10];
        struct otlptraces_read read;
        struct error err;

        for (int i = 0; i < 10; i++) {
            if (i == 5)
                resource = random_span_resource(&state, &arena);
            spans[i] = random_span(&state, &arena, resource, i ? &spans[i - 1] : NULL);
        }
        buffer_clear(&out);
        otlptraces_encode(&(struct span_list){ spans, 10 }, &out);
        CHECK_OK(buffer_check(&out, &err), &err);
        CHECK_OK(otlptraces_decode(buffer_slice(&out), false, &arena, &read, &err), &err);
        CHECK_EQ(read.spans.n, 10);
        for (int i = 0; i < 10; i++)
            same_span(&read.spans.items[i], &spans[i]);
        CHECK(read.spans.items[0].resource == read.spans.items[4].resource);
        CHECK(read.spans.items[4].resource != read.spans.items[5].resource);
        arena_reset(&arena);
    }
    buffer_done(&out);
    arena_done(&arena);
}

/* --- what is left out, cut and mended --- */

/* Writes one span and reads it. */
static struct otlptraces_read write_and_read(const struct span *span, struct arena *arena)
{
    struct otlptraces_read read;
    struct slice bytes;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    otlptraces_encode(&(struct span_list){ span, 1 }, &out);
    bytes = arena_copy(arena, buffer_slice(&out), &err);
    CHECK_OK(otlptraces_decode(bytes, false, arena, &read, &err), &err);
    buffer_done(&out);
    return read;
}

static struct span plain_span(void)
{
    static const struct span_resource resource = { .service = { "shop", 4 } };
    struct span span = { .start_ns = RANDOM_SPAN_START_NS, .duration_ns = 1000, .resource = &resource };

    memset(span.trace_id, 1, sizeof(span.trace_id));
    memset(span.span_id, 2, sizeof(span.span_id));
    span.name = SLICE("work");
    return span;
}

TEST(otlptraces_leaves_out_spans_without_ids_or_start_and_says_why)
{
    struct otlptraces_read read;
    struct arena arena;
    struct span span = plain_span();

    arena_init(&arena, 0);
    memset(span.trace_id, 0, sizeof(span.trace_id));
    read = write_and_read(&span, &arena);
    CHECK_EQ(read.spans.n, 0);
    CHECK_EQ(read.n_rejected, 1);
    CHECK_TEXT(read.rejection.text, "a span 'work' was left out: its trace id is not 16 bytes, or zero");
    span = plain_span();
    memset(span.span_id, 0, sizeof(span.span_id));
    read = write_and_read(&span, &arena);
    CHECK_EQ(read.n_rejected, 1);
    CHECK_HAS(read.rejection.text, "its span id is not 8 bytes, or zero");
    span = plain_span();
    span.start_ns = 0;
    read = write_and_read(&span, &arena);
    CHECK_EQ(read.n_rejected, 1);
    CHECK_HAS(read.rejection.text, "it does not say when it started");
    span = plain_span();
    span.duration_ns = -1000;
    read = write_and_read(&span, &arena);
    CHECK_EQ(read.spans.n, 1);
    CHECK_EQ(read.spans.items[0].duration_ns, 0);
    arena_done(&arena);
}

TEST(otlptraces_keeps_no_more_than_a_span_may_have)
{
    enum { MANY = SPAN_MAX_ATTRIBUTES + 10 };
    struct span_attribute attributes[MANY];
    struct span_event events[MANY] = { { 0 } };
    struct span_link links[MANY] = { { .trace_id = { 1 }, .span_id = { 1 } } };
    struct span span = plain_span();
    struct otlptraces_read read;
    struct arena arena;
    char text[4000];
    const struct span *got;

    arena_init(&arena, 0);
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < MANY; i++) {
        attributes[i] = (struct span_attribute){ SLICE("key"), { .kind = SPAN_VALUE_TEXT } };
        attributes[i].value.text = slice_of(text, sizeof(text));
        events[i].time_ns = 1;
        links[i] = links[0];
    }
    span.attributes = (struct span_attributes){ attributes, MANY, 3 };
    span.events = events;
    span.n_events = MANY;
    span.links = links;
    span.n_links = MANY;
    span.name = slice_of(text, sizeof(text));
    read = write_and_read(&span, &arena);
    CHECK_EQ(read.spans.n, 1);
    got = read.spans.items;
    CHECK_EQ(got->attributes.n, SPAN_MAX_ATTRIBUTES);
    CHECK_EQ(got->attributes.n_dropped, 13);
    CHECK_EQ(got->attributes.items[0].value.text.len, SPAN_MAX_VALUE_BYTES);
    CHECK_EQ(got->n_events, SPAN_MAX_EVENTS);
    CHECK_EQ(got->n_dropped_events, MANY - SPAN_MAX_EVENTS);
    CHECK_EQ(got->n_links, SPAN_MAX_LINKS);
    CHECK_EQ(got->n_dropped_links, MANY - SPAN_MAX_LINKS);
    CHECK_EQ(got->name.len, SPAN_MAX_NAME_BYTES);
    arena_done(&arena);
}

TEST(otlptraces_names_services_as_profiles_do)
{
    struct span_attribute attributes[] = {
        { SLICE("process.executable.name"), { .kind = SPAN_VALUE_TEXT, .text = SLICE("redis-server") } },
        { SLICE("service.name"), { .kind = SPAN_VALUE_TEXT, .text = SLICE("cache") } },
    };
    struct span_resource resource = { .attributes = { attributes, 2, 0 } };
    struct span span = plain_span();
    struct arena arena;

    arena_init(&arena, 0);
    span.resource = &resource;
    CHECK_TEXT(write_and_read(&span, &arena).spans.items[0].resource->service, "cache");
    resource.attributes.n = 1;
    CHECK_TEXT(write_and_read(&span, &arena).spans.items[0].resource->service, "redis-server");
    resource.attributes.n = 0;
    CHECK_TEXT(write_and_read(&span, &arena).spans.items[0].resource->service, "unknown_service");
    arena_done(&arena);
}

TEST(otlptraces_mends_text_that_is_no_utf8_and_takes_unknown_numbers_as_none)
{
    struct span span = plain_span();
    struct otlptraces_read read;
    struct arena arena;

    arena_init(&arena, 0);
    span.name = SLICE("a\xff"
                      "b");
    span.kind = 77;
    span.status = 9;
    read = write_and_read(&span, &arena);
    CHECK_TEXT(read.spans.items[0].name, "a\xef\xbf\xbd"
                                         "b");
    CHECK_EQ(read.spans.items[0].kind, SPAN_UNSPECIFIED);
    CHECK_EQ(read.spans.items[0].status, SPAN_UNSET);
    arena_done(&arena);
}

TEST(otlptraces_finds_resource_and_scope_behind_their_spans)
{
    struct span span = plain_span();
    struct buffer out, spans;
    struct otlptraces_read read;
    struct keyvalue service = { .key = SLICE("service.name"), .kind = KEYVALUE_TEXT, .text = SLICE("late") };
    struct arena arena;
    struct error err;
    size_t request, inner;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    buffer_init(&spans, 0);
    otlptraces_encode(&(struct span_list){ &span, 1 }, &spans);
    request = protobuf_begin(&out, 1);
    /* The content of the ResourceSpans message, without its tag and length, then its resource. */
    buffer_append_slice(&out, slice_sub(buffer_slice(&spans), 2, SIZE_MAX));
    inner = protobuf_begin(&out, 1);
    keyvalue_put(&out, 1, &service);
    protobuf_end(&out, inner);
    protobuf_end(&out, request);
    CHECK_OK(otlptraces_decode(buffer_slice(&out), false, &arena, &read, &err), &err);
    CHECK_EQ(read.spans.n, 1);
    CHECK_TEXT(read.spans.items[0].resource->service, "late");
    buffer_done(&out);
    buffer_done(&spans);
    arena_done(&arena);
}

static int read_both(void *context, struct error *err)
{
    struct otlptraces_read read;
    struct buffer out;
    struct arena arena;
    int result;

    (void)context;
    arena_init(&arena, 0);
    buffer_init(&out, 0);
    result = otlptraces_decode(slice_from(collector_json), true, &arena, &read, err);
    if (result == 0)
        result = otlptraces_decode(python_bytes(), false, &arena, &read, err);
    if (result == 0) {
        otlptraces_encode(&read.spans, &out);
        result = buffer_check(&out, err);
    }
    buffer_done(&out);
    arena_done(&arena);
    return result;
}

TEST(otlptraces_survives_allocations_that_fail)
{
    test_each_allocation_failing(read_both, NULL);
}
