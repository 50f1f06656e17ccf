// SPDX-License-Identifier: Apache-2.0
/* Every path that the server knows. */
#include "server/server_internal.h"
#include "server/signals.h"

#define OTLP_SERVICE "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define OTLP_TRACES  "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define OTLP_METRICS "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
#define OTLP_LOGS    "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
#define OTLP_TYPES   "application/json, application/x-protobuf"

// clang-format off
#define INGEST_PARAMETERS {                                                                                            \
    { "name", "The application and its labels, as app{key=value,...}; app.cpu names the type of folded stacks too." },  \
    { "from", "When the profile began: seconds, milliseconds, microseconds or nanoseconds since 1970, or now-10s." },   \
    { "until", "When it ended." },                                                                                     \
    { "format", "pprof, trie, tree, lines or groups; without it a form with a profile is pprof, the rest groups." },    \
    { "sampleRate", "Samples per second: what one sample of folded stacks stands for." },                              \
    { "spyName", "Which profiler it was; kept as the label pyroscope_spy." },                                          \
    { "units", "What the values are; may be empty." },                                                                 \
    { "aggregationType", "sum or average; may be empty." },                                                            \
}
// clang-format on

static const struct route routes[] = {
    { HTTP_POST, "/ingest", ROUTE_WRITE, "Takes a profile as Pyroscope's SDKs send it, or plain pprof without a name.",
      receive_ingest, receive_ingest_overflow, receive_refuse, receive_lane, receive_admit, receive_too_large,
      .parameters = INGEST_PARAMETERS, .produces = "" },
    { HTTP_POST, "/pyroscope/ingest", ROUTE_WRITE, "The same as /ingest.", receive_ingest, receive_ingest_overflow,
      receive_refuse, receive_lane, receive_admit, receive_too_large, .parameters = INGEST_PARAMETERS, .produces = "" },
    { HTTP_POST, "/profiles", ROUTE_WRITE,
      "Takes one pprof profile; the headers X-Profile-Type, X-Profile-Timestamp and X-Trace-ID say more about it.",
      receive_plain, receive_plain_overflow, receive_refuse, receive_lane, receive_admit, receive_too_large,
      .produces = "" },
    { HTTP_POST, "/push.v1.PusherService/Push", ROUTE_WRITE,
      "Takes series of profiles: push.v1.PushRequest by Connect, gRPC or gRPC-Web.", receive_push,
      receive_push_overflow, receive_refuse, receive_lane, receive_admit, receive_too_large, .is_procedure = true },
    { HTTP_POST, OTLP_SERVICE, ROUTE_WRITE, "Takes OpenTelemetry profiles by gRPC.", receive_otlp,
      receive_otlp_overflow, receive_refuse, receive_lane, receive_admit_otlp, receive_too_large,
      .is_procedure = true },
    { HTTP_POST, "/v1development/profiles", ROUTE_WRITE, "Takes OpenTelemetry profiles by HTTP, protobuf or JSON.",
      receive_otlp, receive_otlp_overflow, receive_refuse, receive_lane, receive_admit_otlp, receive_too_large,
      .consumes = OTLP_TYPES, .produces = OTLP_TYPES, .failure = ROUTE_FAILS_AS_STATUS },
    { HTTP_POST, "/v1/profiles", ROUTE_WRITE, "The same as /v1development/profiles.", receive_otlp,
      receive_otlp_overflow, receive_refuse, receive_lane, receive_admit_otlp, receive_too_large,
      .consumes = OTLP_TYPES, .produces = OTLP_TYPES, .failure = ROUTE_FAILS_AS_STATUS },

    { HTTP_POST, OTLP_TRACES, ROUTE_WRITE, "Takes OpenTelemetry traces by gRPC.", signals_take_traces,
      .lane = receive_lane, .admit = receive_admit, .is_procedure = true },
    { HTTP_POST, "/v1/traces", ROUTE_WRITE, "Takes OpenTelemetry traces by HTTP, protobuf or JSON.",
      signals_take_traces, .lane = receive_lane, .admit = receive_admit, .consumes = OTLP_TYPES, .produces = OTLP_TYPES,
      .failure = ROUTE_FAILS_AS_STATUS },
    { HTTP_POST, OTLP_METRICS, ROUTE_WRITE, "Takes OpenTelemetry metrics of processes and runtimes by gRPC.",
      signals_take_metrics, .lane = receive_lane, .admit = receive_admit, .is_procedure = true },
    { HTTP_POST, "/v1/metrics", ROUTE_WRITE,
      "Takes OpenTelemetry metrics of processes and runtimes by HTTP, protobuf or JSON.", signals_take_metrics,
      .lane = receive_lane, .admit = receive_admit, .consumes = OTLP_TYPES, .produces = OTLP_TYPES,
      .failure = ROUTE_FAILS_AS_STATUS },
    { HTTP_POST, OTLP_LOGS, ROUTE_WRITE, "Logs are not kept: always unimplemented.", signals_refuse_logs,
      .is_procedure = true, .is_absent = true },
    { HTTP_POST, "/v1/logs", ROUTE_WRITE, "Logs are not kept: always 404.", signals_refuse_logs, .consumes = OTLP_TYPES,
      .failure = ROUTE_FAILS_AS_STATUS, .is_absent = true },

    { HTTP_POST, "/api/v1/annotations", ROUTE_WRITE,
      "Notes that something happened: {\"time\": ..., \"text\": ..., \"labels\": {...}}; without a time, now.",
      annotate_add, .max_body_bytes = 64 << 10, .consumes = "application/json", .good_status = 201 },
    { HTTP_GET, "/api/v1/annotations", ROUTE_READ, "What was noted, by time.", annotate_list,
      .parameters = { { "from", "Not before this time: 2026-11-15T10:00:00Z, seconds since 1970, or now-1h." },
                      { "until", "Before this time." },
                      { "selector", "With these labels, as {service_name=\"api\"}." } } },
    { HTTP_DELETE, "/api/v1/annotations/*", ROUTE_ADMIN, "Forgets the annotation with this id.", annotate_remove,
      .produces = "", .good_status = 204 },

    { HTTP_GET, "/ready", ROUTE_PUBLIC, "200 when profiles are taken, else 503 with the reason.", health_ready,
      .is_quick = true, .produces = "text/plain", .failure = ROUTE_FAILS_AS_TEXT },
    { HTTP_GET, "/healthz", ROUTE_PUBLIC, "200 while the server runs.", health_alive, .is_quick = true,
      .produces = "text/plain" },
    { HTTP_GET, "/metrics", ROUTE_PUBLIC, "The server's own metrics in the format of Prometheus.", status_metrics,
      .produces = "text/plain" },
    { HTTP_GET, "/api/v1/status", ROUTE_READ,
      "What came from whom and what became of it, the queues and the listeners, options, retention and limits, as "
      "JSON.",
      status_all },
    { HTTP_GET, "/api/v1/status/buildinfo", ROUTE_PUBLIC, "The version, as Pyroscope tells it.", status_build,
      .is_quick = true },

    { HTTP_GET, "/debug/pprof/", ROUTE_READ, "What there is to see of what the server itself does, as a page.",
      selfprofiling_index, .is_quick = true, .produces = "text/html" },
    { HTTP_GET, "/debug/pprof/profile", ROUTE_READ,
      "A CPU profile of the server itself, as pprof. One at a time: 429 while another is recorded.",
      selfprofiling_profile, .parameters = { { "seconds", "How long to record: 1 to 300; 30 unless given." } },
      .produces = "application/octet-stream" },
    { HTTP_GET, "/debug/pprof/cmdline", ROUTE_READ, "The command line of the server, words separated by NUL.",
      selfprofiling_cmdline, .produces = "text/plain" },
};

const struct route_table server_routes = { routes, ARRAY_LEN(routes) };
