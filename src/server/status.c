// SPDX-License-Identifier: Apache-2.0
/* What the server knows about itself, for people and programs: /metrics and /api/v1/status. */
#include "base/json.h"
#include "base/version.h"
#include "server/server_internal.h"

/* A request may come while the server is still being put together. False: it is answered. */
static bool is_started(struct exchange *exchange)
{
    const struct server *server = exchange->context;

    if (atomic_load(&server->is_ready))
        return true;
    exchange_fail_with(exchange, 503, "the server is starting; try again in a moment");
    return false;
}

void status_metrics(struct exchange *exchange)
{
    struct server *server = exchange->context;
    struct buffer out;

    if (!is_started(exchange))
        return;
    buffer_init(&out, 0);
    servermetrics_refresh(server);
    metrics_write(&out);
    if (intake_counters(server->intake))
        profilecounters_write(intake_counters(server->intake), &out);
    exchange_answer(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", buffer_slice(&out));
    buffer_done(&out);
}

static void put_uint(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void put_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

static void put_slice(struct json *json, const char *key, struct slice text)
{
    json_key(json, key);
    json_string(json, text);
}

/* null = never. */
static void put_time(struct json *json, const char *key, int64_t time_ns)
{
    char text[CLOCK_TEXT_BYTES];

    json_key(json, key);
    if (time_ns)
        json_text(json, clock_format(time_ns, CLOCK_ZONE_UTC, 3, text));
    else
        json_null(json);
}

static void put_listeners(struct json *json, const struct server *server)
{
    json_key(json, "listeners");
    json_array_begin(json);
    for (size_t i = 0; i < server->options.n_listeners; i++) {
        struct address address = server_address(server, i);

        json_object_begin(json);
        put_text(json, "name", server->options.listeners[i].name);
        put_text(json, "address", address_format(&address).text);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_aliases(struct json *json, const struct server *server)
{
    json_key(json, "aliases");
    json_array_begin(json);
    for (size_t i = 0; i < server->options.n_aliases; i++) {
        json_object_begin(json);
        put_text(json, "given", server->options.aliases[i].given);
        put_text(json, "option", server->options.aliases[i].option);
        json_object_end(json);
    }
    json_array_end(json);
}

/* --- what it was told --- */

/* null = chosen by the server, or no limit. */
static void put_limit(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    if (value)
        json_uint(json, value);
    else
        json_null(json);
}

static void put_seconds(struct json *json, const char *key, int64_t time_ns)
{
    json_key(json, key);
    if (time_ns)
        json_double(json, (double)time_ns / 1e9);
    else
        json_null(json);
}

static void put_value(struct json *json, const struct option_given *given)
{
    if (given->spec->type == OPTION_LIST) {
        json_array_begin(json);
        for (size_t i = 0; i < given->list.n; i++)
            json_text(json, given->list.items[i]);
        json_array_end(json);
    } else if (given->text)
        json_text(json, given->text);
    else
        json_null(json);
}

static const char *origin_name(enum option_origin origin)
{
    switch (origin) {
    case OPTION_FROM_DEFAULT: return "default";
    case OPTION_FROM_FILE: return "file";
    case OPTION_FROM_ENVIRONMENT: return "environment";
    case OPTION_FROM_FLAG: return "flag";
    }
    return "";
}

static void put_option(struct json *json, const struct option_given *given, const struct options *options)
{
    json_object_begin(json);
    put_text(json, "name", given->spec->name);
    json_key(json, "value");
    put_value(json, given);
    put_text(json, "origin", origin_name(given->origin));
    put_text(json, "where", options_get_origin_name(options, given->spec->name));
    json_object_end(json);
}

/* Those that a configuration file may hold. */
static void put_options(struct json *json, struct server *server)
{
    const struct options *first = server->options.effective;
    struct option_given given;

    json_key(json, "options");
    json_array_begin(json);
    LOCK_SCOPE(&server->effective_lock);
    for (size_t i = 0; first && options_at(first, i, &given); i++) {
        bool is_reread = server->reread && given.spec->is_reloadable && options_at(server->reread, i, &given);

        if (!given.spec->is_flag_only && !given.spec->is_hidden)
            put_option(json, &given, is_reread ? server->reread : first);
    }
    json_array_end(json);
}

static void put_retention(struct json *json, const struct store_options *store)
{
    json_key(json, "retention");
    json_object_begin(json);
    put_seconds(json, "seconds", store->retention_ns ? store->retention_ns : STORE_RETENTION_NS);
    put_limit(json, "bytes", store->retention_bytes);
    put_limit(json, "min_free_bytes", store->min_free_bytes);
    json_object_end(json);
}

/* Those of the stores beside that of profiles. */
static void put_signal(struct json *json, const char *key, int64_t retention_ns, uint64_t retention_bytes)
{
    json_key(json, key);
    json_object_begin(json);
    put_seconds(json, "retention_seconds", retention_ns);
    put_limit(json, "retention_bytes", retention_bytes);
    json_object_end(json);
}

static void put_limits(struct json *json, const struct server_options *options)
{
    const struct store_options *store = &options->store;
    int64_t retention_ns = store->retention_ns ? store->retention_ns : STORE_RETENTION_NS;

    json_key(json, "limits");
    json_object_begin(json);
    put_limit(json, "body_bytes", options->max_body_bytes);
    put_limit(json, "queue_bytes", options->max_waiting_bytes);
    put_limit(json, "spill_bytes", options->max_spill_bytes);
    put_limit(json, "connections", options->max_connections);
    put_seconds(json, "profile_age_seconds", store->max_age_ns ? store->max_age_ns : retention_ns);
    put_seconds(json, "profile_ahead_seconds", store->max_ahead_ns);
    put_limit(json, "series", store->max_series);
    put_limit(json, "series_labels", store->labels.max_labels);
    put_limit(json, "splits", store->labels.max_splits);
    put_limit(json, "query_bytes", options->query_bytes);
    put_seconds(json, "query_seconds", options->query_timeout_ns);
    put_limit(json, "answer_bytes", options->max_answer_bytes);
    put_limit(json, "adhoc_bytes", options->max_adhoc_bytes);
    put_seconds(json, "adhoc_seconds", options->adhoc_retention_ns);
    json_object_end(json);
}

/* --- how it does --- */

static void put_queues(struct json *json, struct server *server)
{
    struct httpserver_counts http = httpserver_counts(server->http);
    struct spill_counts spill = spill_counts(server->spill);

    json_key(json, "queue");
    json_object_begin(json);
    put_uint(json, "waiting", http.pool.n_waiting);
    put_uint(json, "waiting_bytes", http.pool.waiting_bytes);
    put_uint(json, "inflight_bytes", http.inflight_bytes);
    put_uint(json, "overflowed", http.pool.n_overflowed);
    put_uint(json, "refused", http.pool.n_refused);
    json_object_end(json);
    json_key(json, "queries");
    json_object_begin(json);
    put_uint(json, "waiting", http.read_pool.n_waiting);
    put_uint(json, "refused", http.read_pool.n_refused);
    put_uint(json, "unread_bytes", http.answer_bytes);
    put_uint(json, "answers_refused", http.n_answers_refused);
    json_object_end(json);
    json_key(json, "spill");
    json_object_begin(json);
    put_uint(json, "bytes", spill.bytes);
    put_uint(json, "max_bytes", spill.max_bytes);
    put_uint(json, "uploads", spill.n_appended);
    put_uint(json, "drained", spill.n_done);
    put_uint(json, "damaged", spill.n_damaged);
    json_object_end(json);
    put_uint(json, "connections", http.n_connections);
}

static int put_source(void *context, const struct source_row *row, struct error *err UNUSED)
{
    struct json *json = context;

    json_object_begin(json);
    put_slice(json, "tenant", row->tenant);
    put_slice(json, "service", row->service);
    put_slice(json, "sender", row->sender);
    put_uint(json, "uploads", row->counts.n_uploads);
    put_uint(json, "seen", row->counts.n_seen);
    put_uint(json, "stored", row->counts.n_stored);
    put_uint(json, "downsampled", row->counts.n_downsampled);
    put_uint(json, "weighted", row->counts.n_weighted);
    put_uint(json, "spilled", row->counts.n_spilled);
    json_key(json, "dropped");
    json_object_begin(json);
    for (int reason = 0; reason < SOURCE_REASONS; reason++)
        if (row->counts.n_dropped[reason])
            put_uint(json, source_reason_name((enum source_reason)reason), row->counts.n_dropped[reason]);
    json_object_end(json);
    put_uint(json, "samples", row->counts.n_samples);
    put_uint(json, "bytes", row->counts.n_bytes);
    put_time(json, "first_seen", row->first_ns);
    put_time(json, "last_seen", row->last_ns);
    put_time(json, "last_error_at", row->last_error_ns);
    put_text(json, "last_error", row->last_error);
    json_object_end(json);
    return 0;
}

static int put_target(void *context, const struct scrape_row *row, struct error *err UNUSED)
{
    struct json *json = context;

    json_object_begin(json);
    put_slice(json, "job", row->job);
    put_slice(json, "kind", row->kind);
    put_slice(json, "instance", row->instance);
    put_slice(json, "url", row->url);
    put_text(json, "result", scrape_result_name(row->result));
    put_time(json, "last_scrape", row->last_ns);
    put_time(json, "last_success", row->last_ok_ns);
    json_key(json, "seconds");
    json_double(json, (double)row->duration_ns / 1e9);
    put_uint(json, "bytes", row->body_bytes);
    put_uint(json, "scrapes", row->n_scrapes);
    put_uint(json, "failures", row->n_failures);
    put_uint(json, "failures_in_row", row->n_failures_in_row);
    put_text(json, "last_error", row->last_error);
    json_object_end(json);
    return 0;
}

static int put_targets(struct json *json, struct server *server, struct error *err)
{
    struct scrape *scrape = atomic_load(&server->scrape);

    json_key(json, "scrape");
    json_array_begin(json);
    if (scrape && scrape_each(scrape, put_target, json, err) < 0)
        return -1;
    json_array_end(json);
    return 0;
}

static int put_sources(struct json *json, struct server *server, struct error *err)
{
    json_key(json, "sources");
    json_array_begin(json);
    if (sources_each(intake_sources(server->intake), put_source, json, err) < 0)
        return -1;
    json_array_end(json);
    return 0;
}

void status_all(struct exchange *exchange)
{
    struct server *server = exchange->context;
    struct buffer out;
    struct json json;
    struct error err;

    if (!is_started(exchange))
        return;
    buffer_init(&out, 0);
    json_init(&json, &out, JSON_INDENTED);
    json_object_begin(&json);
    put_text(&json, "version", version_text());
    put_time(&json, "started", server->started_ns);
    json_key(&json, "ready");
    json_bool(&json, !atomic_load(&server->is_draining) && store_ready(server->store, &err) == 0);
    put_listeners(&json, server);
    put_aliases(&json, server);
    put_options(&json, server);
    put_retention(&json, &server->options.store);
    put_limits(&json, &server->options);
    put_signal(&json, "traces", server->options.traces_retention_ns, server->options.traces_retention_bytes);
    put_signal(&json, "metrics", server->options.metrics_retention_ns, server->options.metrics_retention_bytes);
    json_key(&json, "trace_link");
    if (server->options.trace_link)
        json_text(&json, server->options.trace_link);
    else
        json_null(&json);
    put_queues(&json, server);
    if (put_sources(&json, server, &err) < 0 || put_targets(&json, server, &err) < 0) {
        exchange_fail(exchange, &err);
        buffer_done(&out);
        return;
    }
    json_object_end(&json);
    json_done(&json);
    exchange_answer(exchange, 200, "application/json", buffer_slice(&out));
    buffer_done(&out);
}

/* As Pyroscope tells it, whose clients look here for what they talk to. */
void status_build(struct exchange *exchange)
{
    struct buffer out;
    struct json json;

    buffer_init(&out, 0);
    json_init(&json, &out, JSON_COMPACT);
    json_object_begin(&json);
    put_text(&json, "status", "success");
    json_key(&json, "data");
    json_object_begin(&json);
    put_text(&json, "version", version_text());
    put_text(&json, "revision", "");
    put_text(&json, "branch", "");
    put_text(&json, "buildUser", "");
    put_text(&json, "buildDate", "");
    put_text(&json, "goVersion", "");
    json_object_end(&json);
    json_object_end(&json);
    json_done(&json);
    exchange_answer(exchange, 200, "application/json", buffer_slice(&out));
    buffer_done(&out);
}
