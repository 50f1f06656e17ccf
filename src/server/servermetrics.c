// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "server/server_internal.h"
#include "unwind/framesampler.h"

#include <stdio.h>

enum {
    SERVERMETRIC_DURATION,
    SERVERMETRIC_RECEIVED,
    SERVERMETRIC_SENT,
    SERVERMETRIC_CONNECTIONS,
    SERVERMETRIC_ACCEPTED,
    SERVERMETRIC_TIMEOUTS,
    SERVERMETRIC_INFLIGHT,
    SERVERMETRIC_WAITING,
    SERVERMETRIC_WAITING_BYTES,
    SERVERMETRIC_OVERFLOWED,
    SERVERMETRIC_REFUSED,
    SERVERMETRIC_QUERIES_WAITING,
    SERVERMETRIC_QUERIES_REFUSED,
    SERVERMETRIC_ANSWERS,
    SERVERMETRIC_ANSWERS_REFUSED,
    SERVERMETRIC_SPILL,
    SERVERMETRIC_SPILLED,
    SERVERMETRIC_DRAINED,
    SERVERMETRIC_DAMAGED,
    SERVERMETRIC_OVERLOAD,
    SERVERMETRIC_SIGNAL_ITEMS,
    SERVERMETRIC_SIGNAL_FAILURES,
    SERVERMETRIC_SELF_SAMPLES,
    SERVERMETRIC_SELF_LOST,
};

static const double seconds[] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

static const struct metric_spec specs[] = {
    [SERVERMETRIC_DURATION] = { .name = "hearth_http_request_duration",
                                .kind = METRIC_HISTOGRAM,
                                .unit = "seconds",
                                .help = "From the first byte of a request to its answer.",
                                .labels = { "method", "route", "status" },
                                .max_series = 256,
                                .buckets = seconds,
                                .n_buckets = ARRAY_LEN(seconds) },
    [SERVERMETRIC_RECEIVED] = { .name = "hearth_http_received",
                                .kind = METRIC_COUNTER,
                                .unit = "bytes",
                                .help = "Bodies of requests, as they came." },
    [SERVERMETRIC_SENT] = { .name = "hearth_http_sent",
                            .kind = METRIC_COUNTER,
                            .unit = "bytes",
                            .help = "Bodies of answers." },
    [SERVERMETRIC_CONNECTIONS] = { .name = "hearth_http_connections",
                                   .kind = METRIC_GAUGE,
                                   .help = "Connections that are open." },
    [SERVERMETRIC_ACCEPTED] = { .name = "hearth_http_connections_accepted",
                                .kind = METRIC_COUNTER,
                                .help = "Connections that were accepted." },
    [SERVERMETRIC_TIMEOUTS] = { .name = "hearth_http_timeouts",
                                .kind = METRIC_COUNTER,
                                .help = "Connections ended because the peer was too slow." },
    [SERVERMETRIC_INFLIGHT] = { .name = "hearth_http_inflight",
                                .kind = METRIC_GAUGE,
                                .unit = "bytes",
                                .help = "Bodies of requests that are not answered yet." },
    [SERVERMETRIC_WAITING] = { .name = "hearth_queue_waiting",
                               .kind = METRIC_GAUGE,
                               .help = "Requests that wait for a worker." },
    [SERVERMETRIC_WAITING_BYTES] = { .name = "hearth_queue_waiting_bodies",
                                     .kind = METRIC_GAUGE,
                                     .unit = "bytes",
                                     .help = "Bodies of requests that wait for a worker." },
    [SERVERMETRIC_OVERFLOWED] = { .name = "hearth_queue_overflowed",
                                  .kind = METRIC_COUNTER,
                                  .help = "Requests that found the queue full." },
    [SERVERMETRIC_REFUSED] = { .name = "hearth_queue_refused",
                               .kind = METRIC_COUNTER,
                               .help = "Requests that were refused, since nothing had room for them." },
    [SERVERMETRIC_QUERIES_WAITING] = { .name = "hearth_queries_waiting",
                                       .kind = METRIC_GAUGE,
                                       .help = "Queries that wait for a worker of theirs." },
    [SERVERMETRIC_QUERIES_REFUSED] = { .name = "hearth_queries_refused",
                                       .kind = METRIC_COUNTER,
                                       .help = "Queries that were refused, since as many wait as may." },
    [SERVERMETRIC_ANSWERS] = { .name = "hearth_answers_unread",
                               .kind = METRIC_GAUGE,
                               .unit = "bytes",
                               .help = "Answers that were given and not yet read." },
    [SERVERMETRIC_ANSWERS_REFUSED] = { .name = "hearth_answers_refused",
                                       .kind = METRIC_COUNTER,
                                       .help = "Answers that were not given, since those that nobody has read yet "
                                               "take all the memory there is for them." },
    [SERVERMETRIC_SPILL] = { .name = "hearth_spill_size",
                             .kind = METRIC_GAUGE,
                             .unit = "bytes",
                             .help = "What lies in the spill files." },
    [SERVERMETRIC_SPILLED] = { .name = "hearth_spill_uploads",
                               .kind = METRIC_COUNTER,
                               .help = "Uploads that went into the spill files." },
    [SERVERMETRIC_DRAINED] = { .name = "hearth_spill_drained",
                               .kind = METRIC_COUNTER,
                               .help = "Uploads that were taken out of the spill files." },
    [SERVERMETRIC_DAMAGED] = { .name = "hearth_spill_damaged",
                               .kind = METRIC_COUNTER,
                               .help = "Records of spill files, or files, that could not be read." },
    [SERVERMETRIC_OVERLOAD] = { .name = "hearth_overload_uploads",
                                .kind = METRIC_COUNTER,
                                .help = "Uploads that were not kept, since there were more than can be stored: left "
                                        "out, so that others count for them, or refused.",
                                .labels = { "outcome" } },
    [SERVERMETRIC_SIGNAL_ITEMS] = { .name = "hearth_signal_items",
                                    .kind = METRIC_COUNTER,
                                    .help = "Spans of traces and points of metrics that came, and what became of them.",
                                    .labels = { "signal", "outcome" } },
    [SERVERMETRIC_SIGNAL_FAILURES] = { .name = "hearth_signal_failures",
                                       .kind = METRIC_COUNTER,
                                       .help = "Requests with traces or metrics of which nothing was kept.",
                                       .labels = { "signal" } },
    [SERVERMETRIC_SELF_SAMPLES] = { .name = "hearth_self_profile_samples",
                                    .kind = METRIC_COUNTER,
                                    .help = "Samples of the server's own CPU." },
    [SERVERMETRIC_SELF_LOST] = { .name = "hearth_self_profile_lost",
                                 .kind = METRIC_COUNTER,
                                 .help = "Samples of the server's own CPU that found no room." },
};

int server_register_metrics(struct metrics **ret_metrics, struct error *err)
{
    return metrics_register(specs, ARRAY_LEN(specs), ret_metrics, err);
}

void servermetrics_count_overload(struct server *server, bool is_refused)
{
    struct slice outcome = is_refused ? SLICE("refused") : SLICE("left_out");

    metrics_add(metrics_get_labelled(server->metrics, SERVERMETRIC_OVERLOAD, &outcome), 1);
}

static const char *const signal_names[] = { [SIGNAL_TRACES] = "traces", [SIGNAL_METRICS] = "metrics" };

void servermetrics_count_signal(struct server *server, enum signal signal, const struct signal_counts *counts)
{
    struct slice kept[] = { slice_from(signal_names[signal]), SLICE("kept") };
    struct slice rejected[] = { slice_from(signal_names[signal]), SLICE("rejected") };

    metrics_add(metrics_get_labelled(server->metrics, SERVERMETRIC_SIGNAL_ITEMS, kept), counts->n_kept);
    metrics_add(metrics_get_labelled(server->metrics, SERVERMETRIC_SIGNAL_ITEMS, rejected), counts->n_rejected);
    if (counts->n_failed)
        metrics_add(metrics_get_labelled(server->metrics, SERVERMETRIC_SIGNAL_FAILURES, kept), counts->n_failed);
}

/* Text of strangers, cut to fit, that can end neither its quotes nor the line. */
static const char *quotable(struct slice text, size_t max, char *to)
{
    size_t len = MIN(text.len, max - 1);

    for (size_t i = 0; i < len; i++)
        to[i] = text.ptr[i] == '"' || text.ptr[i] == '\0' ? '?' : text.ptr[i];
    to[len] = '\0';
    return to;
}

static void log_access(const struct exchange *exchange, uint64_t sent_bytes, int64_t duration_ns)
{
    static const char *const versions[] = { [HTTP_1_0] = "HTTP/1.0", [HTTP_1_1] = "HTTP/1.1", [HTTP_2] = "HTTP/2" };
    const struct request *request = &exchange->request;
    char path[1024], agent[256];

    log_info("access", "%.*s \"%.*s %s %s\" %d %zu %llu %.3fms \"%s\"", SLICE_ARG(request->peer),
             SLICE_ARG(slice_sub(request->method_text, 0, 32)), quotable(request->path, sizeof(path), path),
             versions[request->version], exchange->response.status, request->body.len, (unsigned long long)sent_bytes,
             (double)duration_ns / 1e6, quotable(http_header(&request->headers, "user-agent"), sizeof(agent), agent));
}

void servermetrics_answered(void *context, const struct exchange *exchange, uint64_t sent_bytes, int64_t duration_ns)
{
    struct server *server = context;
    const struct request *request = &exchange->request;
    char status[8];
    struct slice values[] = { slice_from(http_method_name(request->method)),
                              slice_from(exchange->route ? exchange->route->path : "none"),
                              { 0 } };

    snprintf(status, sizeof(status), "%d", exchange->response.status);
    values[2] = slice_from(status);
    metrics_observe(metrics_get_labelled(server->metrics, SERVERMETRIC_DURATION, values), (double)duration_ns / 1e9);
    metrics_add(metrics_get(server->metrics, SERVERMETRIC_RECEIVED), request->body.len);
    metrics_add(metrics_get(server->metrics, SERVERMETRIC_SENT), sent_bytes);
    if (atomic_load_explicit(&server->has_access_log, memory_order_relaxed))
        log_access(exchange, sent_bytes, duration_ns);
}

void servermetrics_refresh(struct server *server)
{
    struct httpserver_counts http = httpserver_counts(server->http);
    struct spill_counts spill = spill_counts(server->spill);
    struct framesampler_counts samples = framesampler_counts();
    const struct {
        int metric;
        uint64_t value;
    } values[] = {
        { SERVERMETRIC_CONNECTIONS, http.n_connections },
        { SERVERMETRIC_ACCEPTED, http.n_accepted },
        { SERVERMETRIC_TIMEOUTS, http.n_timeouts },
        { SERVERMETRIC_INFLIGHT, http.inflight_bytes },
        { SERVERMETRIC_WAITING, http.pool.n_waiting },
        { SERVERMETRIC_WAITING_BYTES, http.pool.waiting_bytes },
        { SERVERMETRIC_OVERFLOWED, http.pool.n_overflowed },
        { SERVERMETRIC_REFUSED, http.pool.n_refused },
        { SERVERMETRIC_QUERIES_WAITING, http.read_pool.n_waiting },
        { SERVERMETRIC_QUERIES_REFUSED, http.read_pool.n_refused },
        { SERVERMETRIC_ANSWERS, http.answer_bytes },
        { SERVERMETRIC_ANSWERS_REFUSED, http.n_answers_refused },
        { SERVERMETRIC_SPILL, spill.bytes },
        { SERVERMETRIC_SPILLED, spill.n_appended },
        { SERVERMETRIC_DRAINED, spill.n_done },
        { SERVERMETRIC_DAMAGED, spill.n_damaged },
        { SERVERMETRIC_SELF_SAMPLES, samples.n_taken },
        { SERVERMETRIC_SELF_LOST, samples.n_lost },
    };

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct metrics_series *series = metrics_get(server->metrics, (size_t)values[i].metric);

        if (specs[values[i].metric].kind == METRIC_COUNTER)
            metrics_advance(series, values[i].value);
        else
            metrics_set(series, (double)values[i].value);
    }
}
