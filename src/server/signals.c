// SPDX-License-Identifier: Apache-2.0
#include "server/signals.h"

#include "base/log.h"
#include "base/memory.h"
#include "metric/metricstore.h"
#include "metric/otlpmetrics.h"
#include "server/otlpcall.h"
#include "server/server_internal.h"
#include "trace/otlptraces.h"
#include "trace/tracestore.h"

#define RETRY_AFTER_NS       (5 * CLOCK_NS_PER_SECOND)
#define UPKEEP_EVERY_NS      CLOCK_NS_PER_SECOND
#define MIN_MEMORY_BYTES     ((uint64_t)4 << 20)
#define TRACES_MEMORY_BYTES  ((uint64_t)24 << 20)
#define METRICS_MEMORY_BYTES ((uint64_t)8 << 20)
#define ARENA_BYTES          ((size_t)96 << 20) /* what a request may become: hardly more than its body, mostly */

static struct server *server_of(const struct exchange *exchange)
{
    return exchange->context;
}

/* --- one request --- */

/* An export with its body as plain bytes. */
struct taking {
    struct rpc_call call;
    struct slice tenant, content;
    struct intake_worker *worker;
    struct arena arena;
    bool is_read; /* what goes wrong from here on is no fault of the sender's */
};

static void end_taking(struct taking *taking)
{
    arena_done(&taking->arena);
    if (taking->worker)
        intake_trim(taking->worker);
}

/* False: it is answered. */
static bool begin_taking(struct exchange *exchange, struct taking *taking)
{
    struct server *server = server_of(exchange);
    struct error err;

    *taking = (struct taking){ .worker = server->workers[exchange->worker] };
    arena_init(&taking->arena, ARENA_BYTES);
    if (!answer_tenant(exchange, server->options.is_multi_tenant, &taking->tenant) ||
        !otlpcall_open(exchange, &taking->call))
        return false;
    if (intake_unpack(taking->worker, taking->call.encoding, taking->call.message, &taking->content, &err) == 0)
        return true;
    otlpcall_reject(exchange, &taking->call, &err, 0);
    return false;
}

static void refuse(struct exchange *exchange, const struct taking *taking, enum signal signal, const struct error *err)
{
    /* What the sender did wrong stays wrong; what is wrong here may pass. */
    int64_t retry_after_ns = taking->is_read || err->code == ERR_MEMORY ? RETRY_AFTER_NS : 0;

    servermetrics_count_signal(server_of(exchange), signal, &(struct signal_counts){ .n_failed = 1 });
    if (retry_after_ns > 0)
        LOG_EVERY(10, LOG_WARN, "server", "%s could not be kept: %s", signal == SIGNAL_TRACES ? "spans" : "metrics",
                  err->text);
    otlpcall_reject(exchange, &taking->call, err, retry_after_ns);
}

/* --- traces --- */

static int keep_spans(struct server *server, struct taking *taking, struct otlptraces_read *read,
                      struct tracestore_receipt *ret_receipt, struct error *err)
{
    *ret_receipt = (struct tracestore_receipt){ 0 };
    if (otlptraces_decode(taking->content, taking->call.codec == RPC_JSON, &taking->arena, read, err) < 0)
        return -1;
    taking->is_read = true;
    if (read->spans.n == 0)
        return 0;
    return tracestore_write(server->traces, taking->tenant, &read->spans, ret_receipt, err);
}

void signals_take_traces(struct exchange *exchange)
{
    struct server *server = server_of(exchange);
    struct otlpcall_rejected rejected = { .name = "rejectedSpans" };
    struct tracestore_receipt receipt;
    struct otlptraces_read read;
    struct taking taking;
    struct error err;

    if (!begin_taking(exchange, &taking)) {
        end_taking(&taking);
        return;
    }
    if (keep_spans(server, &taking, &read, &receipt, &err) < 0) {
        refuse(exchange, &taking, SIGNAL_TRACES, &err);
    } else {
        rejected.n = read.n_rejected + receipt.n_refused;
        if (rejected.n > 0)
            rejected.why = read.n_rejected > 0 ? read.rejection.text : receipt.refusal.text;
        servermetrics_count_signal(server, SIGNAL_TRACES,
                                   &(struct signal_counts){ .n_kept = receipt.n_kept, .n_rejected = rejected.n });
        otlpcall_accept(exchange, &taking.call, &rejected);
    }
    end_taking(&taking);
}

/* --- metrics --- */

static int keep_points(struct server *server, struct taking *taking, struct otlpmetrics_read *read,
                       struct metricstore_receipt *ret_receipt, struct error *err)
{
    *ret_receipt = (struct metricstore_receipt){ 0 };
    if (otlpmetrics_decode(taking->content, taking->call.codec == RPC_JSON, &taking->arena, read, err) < 0)
        return -1;
    taking->is_read = true;
    if (read->points.n == 0)
        return 0;
    return metricstore_write(server->runtime_metrics, taking->tenant, &read->points, ret_receipt, err);
}

void signals_take_metrics(struct exchange *exchange)
{
    struct server *server = server_of(exchange);
    struct otlpcall_rejected rejected = { .name = "rejectedDataPoints" };
    struct metricstore_receipt receipt;
    struct otlpmetrics_read read;
    struct taking taking;
    struct error err;

    if (!begin_taking(exchange, &taking)) {
        end_taking(&taking);
        return;
    }
    if (keep_points(server, &taking, &read, &receipt, &err) < 0) {
        refuse(exchange, &taking, SIGNAL_METRICS, &err);
    } else {
        rejected.n = read.n_rejected + receipt.n_refused;
        if (rejected.n > 0)
            rejected.why = receipt.n_refused > 0 ? receipt.refusal.text : read.rejection;
        servermetrics_count_signal(server, SIGNAL_METRICS,
                                   &(struct signal_counts){ .n_kept = receipt.n_kept, .n_rejected = rejected.n });
        otlpcall_accept(exchange, &taking.call, &rejected);
    }
    end_taking(&taking);
}

/* --- logs --- */

void signals_refuse_logs(struct exchange *exchange)
{
    static const char sentence[] = "hearth keeps profiles, traces and metrics of runtimes, but no logs; send those "
                                   "elsewhere, or leave them out with OTEL_LOGS_EXPORTER=none";
    struct rpc_call call;

    if (!exchange->route->is_procedure)
        exchange_fail_with(exchange, 404, "%s", sentence);
    else if (rpc_open(exchange, &call) == 0)
        rpc_fail(exchange, &call, RPC_UNIMPLEMENTED, sentence, 0);
}

/* --- upkeep --- */

/* A thread each, so that a long closing of one does not keep the other from being synced. ERR_CLOSED says that the server
 * stops: heads that were being closed stay as they are. */
static void maintain_traces(struct thread *thread, void *context)
{
    struct server *server = context;
    struct error err;

    while (thread_sleep(thread, UPKEEP_EVERY_NS))
        if (tracestore_maintain(server->traces, clock_now_ns(), &err) < 0 && err.code != ERR_CLOSED)
            LOG_EVERY(60, LOG_WARN, "server", "the upkeep of traces failed: %s", err.text);
}

static void maintain_metrics(struct thread *thread, void *context)
{
    struct server *server = context;
    struct error err;

    while (thread_sleep(thread, UPKEEP_EVERY_NS))
        if (metricstore_maintain(server->runtime_metrics, clock_now_ns(), &err) < 0 && err.code != ERR_CLOSED)
            LOG_EVERY(60, LOG_WARN, "server", "the upkeep of metrics failed: %s", err.text);
}

/* What a store beside that of profiles may have of the memory that all of them have together. */
static uint64_t share_of(uint64_t limit_bytes, uint64_t max_bytes)
{
    return limit_bytes ? MIN(MAX(limit_bytes / 8, MIN_MEMORY_BYTES), max_bytes) : max_bytes;
}

struct signals_memory signals_memory(uint64_t limit_bytes)
{
    return (struct signals_memory){ .traces_bytes = share_of(limit_bytes, TRACES_MEMORY_BYTES),
                                    .metrics_bytes = share_of(limit_bytes, METRICS_MEMORY_BYTES) };
}

int signals_open(struct server *server, struct error *err)
{
    const struct server_options *options = &server->options;
    bool is_synced = options->store.wal_sync == STORE_SYNC_ALWAYS;
    struct signals_memory memory = signals_memory(options->store.memory_limit_bytes);
    uint64_t min_free_bytes = store_min_free_bytes(&options->store);
    struct tracestore_options traces = { .data_dir = options->store.data_dir,
                                         .is_synced = is_synced,
                                         .memory_bytes = memory.traces_bytes,
                                         .retention_ns = options->traces_retention_ns,
                                         .retention_bytes = options->traces_retention_bytes,
                                         .min_free_bytes = min_free_bytes,
                                         .max_ahead_ns = options->store.max_ahead_ns };
    struct metricstore_options metrics = { .data_dir = options->store.data_dir,
                                           .is_synced = is_synced,
                                           .memory_bytes = memory.metrics_bytes,
                                           .retention_ns = options->metrics_retention_ns,
                                           .retention_bytes = options->metrics_retention_bytes,
                                           .min_free_bytes = min_free_bytes,
                                           .max_ahead_ns = options->store.max_ahead_ns };

    if (tracestore_open(&traces, &server->traces, err) < 0 ||
        metricstore_open(&metrics, &server->runtime_metrics, err) < 0)
        return -1;
    if (thread_start(&server->trace_upkeep, "trace-upkeep", maintain_traces, server, err) < 0)
        return -1;
    return thread_start(&server->metric_upkeep, "metric-upkeep", maintain_metrics, server, err);
}

void signals_close(struct server *server)
{
    if (server->traces)
        tracestore_stop(server->traces);
    if (server->runtime_metrics)
        metricstore_stop(server->runtime_metrics);
    thread_stop(&server->trace_upkeep);
    thread_stop(&server->metric_upkeep);
    metricstore_close(server->runtime_metrics);
    tracestore_close(server->traces);
}
