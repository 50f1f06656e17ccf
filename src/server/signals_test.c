// SPDX-License-Identifier: Apache-2.0
#include "server/signals.h"

#include "metric/metricstore.h"
#include "server/server_sample_test.h"
#include "trace/tracestore.h"

#define JSON_TYPE "Content-Type: application/json\r\n"
#define GRPC_TYPE "Content-Type: application/grpc\r\n"
#define TRACES    "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define LOGS      "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

static const uint8_t trace_id[SPAN_TRACE_ID_BYTES] = { 0x5b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* A request with two spans of that trace, one of them with a span id that is none. */
static void write_spans(struct buffer *out, int64_t start_ns)
{
    buffer_printf(out,
                  "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
                  "{\"stringValue\":\"shop\"}}]},\"scopeSpans\":[{\"spans\":["
                  "{\"traceId\":\"5b0102030405060708090a0b0c0d0e0f\",\"spanId\":\"0102030405060708\",\"name\":\"pay\","
                  "\"startTimeUnixNano\":\"%lld\",\"endTimeUnixNano\":\"%lld\"},"
                  "{\"traceId\":\"5b0102030405060708090a0b0c0d0e0f\",\"spanId\":\"00\",\"name\":\"lost\"}]}]}]}",
                  (long long)start_ns, (long long)start_ns + 1000);
}

static size_t n_spans(struct server *server, const char *tenant)
{
    struct tracestore_trace trace = { 0 };
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(tracestore_get(server->traces, slice_from(tenant), trace_id, 0, INT64_MAX, &(struct tracestore_asker){ 0 },
                            &arena, &trace, &err),
             &err);
    arena_done(&arena);
    return trace.n;
}

TEST(spans_that_were_sent_are_kept_once_and_bad_ones_told)
{
    struct server *server = start_with((struct server_options){ 0 });
    struct buffer out, body;

    buffer_init(&out, 0);
    buffer_init(&body, 0);
    write_spans(&body, clock_now_ns());
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ask(server, "POST /v1/traces", JSON_TYPE, buffer_slice(&body), &out), 200);
        CHECK_HAS(out.data, "\"rejectedSpans\":\"1\"");
        CHECK_HAS(out.data, "'lost' was left out");
    }
    CHECK_EQ(n_spans(server, STORE_TENANT_DEFAULT), 1);
    buffer_clear(&body);
    write_spans(&body, 1000);
    CHECK_EQ(ask(server, "POST /v1/traces", JSON_TYPE, buffer_slice(&body), &out), 200);
    CHECK_HAS(out.data, "\"rejectedSpans\":\"2\"");
    CHECK_EQ(ask(server, "GET /metrics", "", SLICE(""), &out), 200);
    CHECK_HAS(out.data, "hearth_signal_items_total{signal=\"traces\",outcome=\"kept\"} 2\n");
    CHECK_HAS(out.data, "hearth_signal_items_total{signal=\"traces\",outcome=\"rejected\"} 4\n");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
    buffer_done(&body);
}

TEST(spans_of_tenants_are_kept_apart)
{
    struct server *server = start_with((struct server_options){ .is_multi_tenant = true });
    struct buffer out, body;

    buffer_init(&out, 0);
    buffer_init(&body, 0);
    write_spans(&body, clock_now_ns());
    CHECK_EQ(ask(server, "POST /v1/traces", JSON_TYPE, buffer_slice(&body), &out), 401);
    CHECK_EQ(ask(server, "POST /v1/traces", JSON_TYPE "X-Scope-OrgID: a\r\n", buffer_slice(&body), &out), 200);
    CHECK_EQ(n_spans(server, "a"), 1);
    CHECK_EQ(n_spans(server, "b"), 0);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
    buffer_done(&body);
}

TEST(signals_that_cannot_be_read_or_kept_are_refused_with_a_sentence)
{
    static const struct {
        const char *line, *headers;
        struct slice body;
        int status;
        const char *words;
    } cases[] = {
        { "POST /v1/traces", JSON_TYPE, SLICE("{\"resourceSpans\":7}"), 400, "line 1" },
        { "POST /v1/traces", "Content-Type: text/plain\r\n", SLICE("x"), 415, "application/x-protobuf" },
        { "POST /v1/traces", JSON_TYPE "Content-Encoding: br\r\n", SLICE("x"), 415, "gzip, zstd, snappy" },
        { "POST /v1/metrics", JSON_TYPE, SLICE("[]"), 400, "line 1" },
        { "POST /v1/logs", JSON_TYPE, SLICE("{}"), 404, "but no logs" },
        { "POST " LOGS, GRPC_TYPE, SLICE("\0\0\0\0\0"), 200, "grpc-status: 12" },
        { "POST " TRACES, GRPC_TYPE, SLICE("\0\0\0\0\1x"), 200, "grpc-status: 3" },
        { "POST " TRACES, GRPC_TYPE, SLICE("\0\0\0\0\0"), 200, "grpc-status: 0" },
    };
    struct server *server = start_with((struct server_options){ 0 });
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(ask(server, cases[i].line, cases[i].headers, cases[i].body, &out), cases[i].status);
        CHECK_HAS(slice_of(out.data, out.len), cases[i].words);
    }
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(points_that_were_sent_are_kept_and_others_told)
{
    static const char form[] =
        "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
        "{\"stringValue\":\"shop\"}}]},\"scopeMetrics\":[{\"metrics\":["
        "{\"name\":\"process.thread.count\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":\"%lld\","
        "\"asInt\":\"7\"}]}},{\"name\":\"orders\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":"
        "\"%lld\",\"asInt\":\"7\"}]}}]}]}]}";
    struct server *server = start_with((struct server_options){ 0 });
    long long now_ns = clock_now_ns();
    struct metricstore_names names = { 0 };
    struct buffer out, body;
    struct arena arena;
    struct error err;

    buffer_init(&out, 0);
    buffer_init(&body, 0);
    arena_init(&arena, 0);
    buffer_printf(&body, form, now_ns, now_ns);
    CHECK_EQ(ask(server, "POST /v1/metrics", JSON_TYPE, buffer_slice(&body), &out), 200);
    CHECK_HAS(out.data, "\"rejectedDataPoints\":\"1\"");
    CHECK_HAS(out.data, "orders");
    CHECK_OK(metricstore_list_names(server->runtime_metrics, SLICE(STORE_TENANT_DEFAULT), SLICE("shop"), 0, INT64_MAX,
                                    &(struct metricstore_asker){ 0 }, &arena, &names, &err),
             &err);
    CHECK_EQ(names.n, 1);
    if (names.n == 1)
        CHECK_TEXT(names.items[0].name, "process.thread.count");
    server_stop(server, CLOCK_NS_PER_SECOND);
    arena_done(&arena);
    buffer_done(&out);
    buffer_done(&body);
}
