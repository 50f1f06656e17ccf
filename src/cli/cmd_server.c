// SPDX-License-Identifier: Apache-2.0
/* `hearth server`: takes profiles in from everyone's senders and keeps them. */
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/notify.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "join/tracelink.h"
#include "scrape/scrapeconfig.h"
#include "server/server.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct server_config {
    struct storage_config store;
    struct storage_keeping keeping;
    const char *listen, *listen_otlp_grpc, *listen_otlp_http;
    struct option_list listen_also;
    const char *ports_file;
    bool is_multi_tenant;
    uint64_t max_body_bytes, queue_bytes, spill_bytes;
    uint64_t n_workers, n_readers, max_connections;
    int64_t head_timeout_ns, body_timeout_ns, idle_timeout_ns, stop_timeout_ns, query_timeout_ns;
    uint64_t query_bytes, query_cache_bytes, answer_bytes, adhoc_bytes;
    int64_t adhoc_retention_ns;
    int64_t traces_retention_ns, metrics_retention_ns;
    uint64_t traces_retention_bytes, metrics_retention_bytes;
    const char *trace_link;
    const char *cors_origin;
    bool has_access_log;
    bool has_self_profile;
    uint64_t counter_rows;
    const char *counter_labels;
    const char *log_file;
    unsigned storage_type;
};

#define SELF_PROFILE_NS (15 * CLOCK_NS_PER_SECOND)

static const char *const storage_types[] = { "filesystem", "s3", NULL };
enum { STORAGE_FILESYSTEM, STORAGE_S3 };

static const struct option_spec listen_options[] = {
    { "listen", OPTION_TEXT, FIELD(server_config, listen), "127.0.0.1:4040",
      "Where to listen, as HOST:PORT or unix:PATH; off = nowhere. Port 0 is one that is free. Every protocol is served "
      "on "
      "every listener.",
      .value_name = "ADDRESS", .alias = "http-address" },
    { "listen-otlp-grpc", OPTION_TEXT, FIELD(server_config, listen_otlp_grpc), "127.0.0.1:4317",
      "Where senders of OpenTelemetry expect gRPC; off = nowhere.", .value_name = "ADDRESS" },
    { "listen-otlp-http", OPTION_TEXT, FIELD(server_config, listen_otlp_http), "127.0.0.1:4318",
      "Where senders of OpenTelemetry expect HTTP; off = nowhere.", .value_name = "ADDRESS" },
    { "listen-also", OPTION_LIST, FIELD(server_config, listen_also), NULL, "Further addresses to listen on.",
      .value_name = "ADDRESS" },
    { "ports-file", OPTION_FILE, FIELD(server_config, ports_file), NULL,
      "Write the addresses that are listened on to this file, as the line on standard output has them." },
    { "multi-tenant", OPTION_BOOL, FIELD(server_config, is_multi_tenant), "false",
      "Keep tenants apart: every request says whose it is in the header X-Scope-OrgID. Without this the header means "
      "nothing, and all belongs to " STORE_TENANT_DEFAULT "." },
    { "cors-origin", OPTION_TEXT, FIELD(server_config, cors_origin), NULL,
      "Let pages of this origin ask the server from a browser; * = of any.", .value_name = "ORIGIN" },
};

static const struct option_spec limit_options[] = {
    { "max-body-size", OPTION_SIZE, FIELD(server_config, max_body_bytes), "64MiB",
      "Refuse requests with larger bodies, before and after decompression.", .min = "64KiB", .max = "1GiB" },
    { "queue-size", OPTION_SIZE, FIELD(server_config, queue_bytes), "32MiB",
      "What may wait in memory to be stored. More goes to the spill file.", .min = "1MiB" },
    { "spill-size", OPTION_SIZE, FIELD(server_config, spill_bytes), "1GiB",
      "What may wait on disk to be stored. From half of it on, senders that bring most are thinned out: some of their "
      "profiles are left out and the others count for them. Past it, profiles are refused.",
      .min = "1MiB" },
    { "workers", OPTION_UINT, FIELD(server_config, n_workers), NULL,
      "Threads that decode and store. Unless given, one for each processor, and at least 2.", .min = "1", .max = "64" },
    { "max-connections", OPTION_UINT, FIELD(server_config, max_connections), "16384",
      "Connections at one time; more wait to be accepted.", .min = "1", .max = "1000000" },
    { "head-timeout", OPTION_DURATION, FIELD(server_config, head_timeout_ns), "10s",
      "How long a request's head may take to come.", .min = "100ms" },
    { "body-timeout", OPTION_DURATION, FIELD(server_config, body_timeout_ns), "30s",
      "How long a request's body may stand still. All of it may take ten times as long.", .min = "100ms" },
    { "idle-timeout", OPTION_DURATION, FIELD(server_config, idle_timeout_ns), "2m",
      "How long a connection may wait for its next request.", .min = "100ms" },
    { "query-memory", OPTION_SIZE, FIELD(server_config, query_bytes), "256MiB",
      "What the answer to a query may take of memory while it is made.", .min = "1MiB" },
    { "query-workers", OPTION_UINT, FIELD(server_config, n_readers), "4",
      "Threads that answer queries; they take nothing from those that store. 256 queries may wait for them, more are "
      "refused.",
      .min = "1", .max = "64" },
    { "answer-memory", OPTION_SIZE, FIELD(server_config, answer_bytes), "256MiB",
      "What answers may take of memory until they are read. More are refused.", .min = "1MiB" },
    { "query-cache", OPTION_SIZE, FIELD(server_config, query_cache_bytes), "128MiB",
      "Call trees that stay in memory between queries: one that was asked for lately is many times faster than a new "
      "one. "
      "The trees of a busy service take some megabytes.",
      .min = "1MiB" },
    { "adhoc-size", OPTION_SIZE, FIELD(server_config, adhoc_bytes), "1GiB",
      "What profiles that are uploaded to be looked at may take on disk. More are refused.", .min = "1MiB" },
    { "adhoc-retention", OPTION_DURATION, FIELD(server_config, adhoc_retention_ns), "30d",
      "How long profiles that are uploaded to be looked at are kept.", .min = "1ms" },
    { "query-timeout", OPTION_DURATION, FIELD(server_config, query_timeout_ns), "30s",
      "How long a query may take; 0 = as long as it needs." },
    { "stop-timeout", OPTION_DURATION, FIELD(server_config, stop_timeout_ns), "10s",
      "How long requests that were begun may take to end when the server stops." },
};

static const struct option_spec signal_options[] = {
    { "traces-retention", OPTION_DURATION, FIELD(server_config, traces_retention_ns), "7d",
      "Forget whole days of traces that are older than this.", .min = "1h" },
    { "traces-retention-size", OPTION_SIZE, FIELD(server_config, traces_retention_bytes), "10GiB",
      "Forget the oldest days of traces while they take more of the disk than this; 0 = no limit." },
    { "metrics-retention", OPTION_DURATION, FIELD(server_config, metrics_retention_ns), "30d",
      "Forget whole days of metrics that are older than this.", .min = "1h" },
    { "metrics-retention-size", OPTION_SIZE, FIELD(server_config, metrics_retention_bytes), "2GiB",
      "Forget the oldest days of metrics while they take more of the disk than this; 0 = no limit." },
    { "trace-link", OPTION_TEXT, FIELD(server_config, trace_link), NULL,
      "Where else traces can be seen, for a link on the page: an address with {trace_id} in it, and {span_id}, "
      "{service}, {start_ms} or {end_ms} where they are wanted, as in https://tempo.example/trace/{trace_id}.",
      .value_name = "URL" },
};

static const struct option_spec running_options[] = {
    { "access-log", OPTION_BOOL, FIELD(server_config, has_access_log), "false", "Log each request.",
      .is_reloadable = true },
    { "self-profile", OPTION_BOOL, FIELD(server_config, has_self_profile), "true",
      "Store what the server itself spends CPU on, as the service 'hearth', every 15 seconds." },
    { "profile-metrics", OPTION_UINT, FIELD(server_config, counter_rows), "1000",
      "How many counters /metrics may have of what profiles come to, one for each service, type and set of the labels "
      "below, as in hearth_profiles_cpu_total; 0 = none.",
      .max = "100000" },
    { "profile-metrics-labels", OPTION_TEXT, FIELD(server_config, counter_labels),
      "env,environment,deployment_environment,namespace,region",
      "Labels that these counters have beside service_name: names with commas between them, at most 8.",
      .value_name = "NAMES" },
    { "log-file", OPTION_FILE, FIELD(server_config, log_file), NULL,
      "Write the log to this file instead of standard error. It is opened again at SIGHUP, so that it can be "
      "rotated." },
    { "storage-type", OPTION_ENUM, FIELD(server_config, storage_type), "filesystem",
      "Where profiles are kept. Object storage does not exist yet.", .words = storage_types,
      .alias_variable = "PYROSCOPE_STORAGE_TYPE" },
};

/* --- what it is told --- */

static int add_listener(struct server_options *options, const char *name, const char *text, struct error *err)
{
    struct server_listener *listener = &options->listeners[options->n_listeners];

    if (strcmp(text, "off") == 0)
        return 0;
    if (options->n_listeners == SERVER_MAX_LISTENERS)
        return error_set(err, ERR_USAGE, "--listen-also: there are more than %d listeners", SERVER_MAX_LISTENERS);
    if (address_parse(slice_from(text), &listener->address, err) < 0) {
        err->code = ERR_USAGE;
        return error_wrap(err, "--%s", name);
    }
    listener->name = name;
    options->n_listeners++;
    return 0;
}

static int add_listeners(const struct server_config *config, struct server_options *options, struct error *err)
{
    if (add_listener(options, "listen", config->listen, err) < 0 ||
        add_listener(options, "listen-otlp-grpc", config->listen_otlp_grpc, err) < 0 ||
        add_listener(options, "listen-otlp-http", config->listen_otlp_http, err) < 0)
        return -1;
    for (size_t i = 0; i < config->listen_also.n; i++)
        if (add_listener(options, "listen-also", config->listen_also.items[i], err) < 0)
            return -1;
    if (options->n_listeners == 0)
        return error_set(err, ERR_USAGE, "every listener is off, so nobody could reach the server; leave one on");
    return 0;
}

static bool is_loopback(const struct address *address)
{
    return address->kind == ADDRESS_UNIX || strncmp(address->name, "127.", 4) == 0 ||
           strcmp(address->name, "::1") == 0 || strcmp(address->name, "localhost") == 0;
}

static void warn_of_strangers(const struct server_options *options)
{
    for (size_t i = 0; i < options->n_listeners; i++)
        if (!is_loopback(&options->listeners[i].address))
            log_warn(
                "server",
                "--%s %s can be reached from other machines, and there is no authentication yet: whoever reaches it "
                "can write profiles and see what the server tells. Put a firewall or a proxy in front of it",
                options->listeners[i].name, address_format(&options->listeners[i].address).text);
}

/* Which options were given by the names of others, so that people see what such a name did. */
static void list_aliases(const struct command_context *context, struct server_options *options)
{
    static const char *const aliased[] = { "listen", "data-dir", "retention", "storage-type", "log-level" };

    static_assert(ARRAY_LEN(aliased) <= SERVER_MAX_ALIASES, "all of them may be given");
    for (size_t i = 0; i < ARRAY_LEN(aliased); i++) {
        enum option_origin origin = options_get_origin(context->options, aliased[i]);
        const char *given = options_get_origin_name(context->options, aliased[i]);

        if ((origin == OPTION_FROM_ENVIRONMENT && strncmp(given, "HEARTH_", 7) != 0) ||
            (origin == OPTION_FROM_FLAG && strcmp(given + 2, aliased[i]) != 0))
            options->aliases[options->n_aliases++] = (struct server_alias){ given, aliased[i] };
    }
}

static int check_trace_link(const char *link, struct error *err)
{
    if (tracelink_check(slice_from(link), err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return error_wrap(err, "--trace-link");
}

static int make_options(const struct server_config *config, struct server_options *options, struct error *err)
{
    if (config->storage_type == STORAGE_S3)
        return error_set(err, ERR_USAGE,
                         "--storage-type s3: object storage does not exist yet; use filesystem and a "
                         "directory, --data-dir");
    *options = (struct server_options){
        .is_multi_tenant = config->is_multi_tenant,
        .n_workers = (uint32_t)config->n_workers,
        .n_readers = (uint32_t)config->n_readers,
        .max_answer_bytes = config->answer_bytes,
        .max_connections = (uint32_t)config->max_connections,
        .max_body_bytes = config->max_body_bytes,
        .max_waiting_bytes = config->queue_bytes,
        .max_spill_bytes = config->spill_bytes,
        .head_timeout_ns = config->head_timeout_ns,
        .body_timeout_ns = config->body_timeout_ns,
        .idle_timeout_ns = config->idle_timeout_ns,
        .query_bytes = config->query_bytes,
        .query_cache_bytes = config->query_cache_bytes,
        .query_timeout_ns = config->query_timeout_ns,
        .max_adhoc_bytes = config->adhoc_bytes,
        .adhoc_retention_ns = config->adhoc_retention_ns,
        .traces_retention_ns = config->traces_retention_ns,
        .metrics_retention_ns = config->metrics_retention_ns,
        .traces_retention_bytes = config->traces_retention_bytes,
        .metrics_retention_bytes = config->metrics_retention_bytes,
        .trace_link = config->trace_link,
        .cors_origin = config->cors_origin,
        .has_access_log = config->has_access_log,
        .self_profile_ns = config->has_self_profile ? SELF_PROFILE_NS : 0,
        .counters = { (uint32_t)config->counter_rows, config->counter_labels },
    };
    if (config->trace_link && check_trace_link(config->trace_link, err) < 0)
        return -1;
    if (storage_server_options(&config->store, &config->keeping, &options->store, err) < 0)
        return -1;
    return add_listeners(config, options, err);
}

/* --- what it tells --- */

/* One line for programs: {"ready":true,"pid":123,"listen":"127.0.0.1:4040",...}. */
static void write_ports(const struct server *server, const struct server_options *options, struct buffer *out)
{
    struct json json;
    bool has_also = false;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "ready");
    json_bool(&json, true);
    json_key(&json, "pid");
    json_int(&json, getpid());
    for (size_t i = 0; i < options->n_listeners; i++) {
        struct address address = server_address(server, i);
        bool is_also = strcmp(options->listeners[i].name, "listen-also") == 0;

        if (!is_also) {
            json_key(&json, options->listeners[i].name);
        } else if (!has_also) {
            json_key(&json, "listen-also");
            json_array_begin(&json);
            has_also = true;
        }
        json_text(&json, address_format(&address).text);
    }
    if (has_also)
        json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

static int tell_ports(struct command_context *context, const struct server *server,
                      const struct server_options *options, struct error *err)
{
    const struct server_config *config = context->config;
    struct buffer line;
    int result;

    buffer_init(&line, 0);
    write_ports(server, options, &line);
    result = buffer_check(&line, err);
    if (result == 0 && config->ports_file)
        result = fs_write_file(config->ports_file, buffer_slice(&line), err);
    if (result == 0) {
        fwrite(line.data, 1, line.len, context->out);
        fflush(context->out);
    }
    buffer_done(&line);
    return result;
}

/* --- the run --- */

static void block_signals(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The server is stopping; somebody who does not want to wait for that presses Ctrl-C once more. */
static void let_interrupt_end_it(void)
{
    sigset_t interrupt;

    signal(SIGINT, SIG_DFL);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
}

static void tell_manager(const char *lines)
{
    struct error err;

    if (notify_send(lines, &err) < 0)
        log_warn("server", "the service manager could not be told: %s", err.text);
}

/* Takes what can be taken; the rest is told. The configuration of scraping is taken over, what was read is not. */
static void apply_changes(const struct command_reread *reread, struct scrapeconfig *scrape, struct server *server)
{
    const struct server_config *config = reread->config;

    for (size_t i = 0; i < reread->changes.n; i++) {
        const struct option_change *change = &reread->changes.items[i];

        if (change->spec->is_reloadable)
            log_info("server", "%s is now '%s'", change->spec->name, change->new_text);
        else
            log_warn("server", "%s is '%s' in the configuration, but stays '%s' until the server is started again",
                     change->spec->name, change->new_text, change->old_text);
    }
    log_set_level(reread->log_level);
    server_set_access_log(server, config->has_access_log);
    server_set_effective(server, reread->options);
    server_set_scrape(server, scrape);
}

static int read_scrape(const struct config *file, struct scrapeconfig **ret_config, struct error *err)
{
    return scrapeconfig_new(config_section(file, SCRAPECONFIG_SECTION), ret_config, err);
}

/* `*options_arena` holds what the server knows of the options since the last time. */
static void reload(const struct command_context *context, struct server *server, struct arena *options_arena)
{
    struct command_reread reread;
    struct scrapeconfig *scrape;
    struct error err;

    if (notify_reloading(&err) < 0)
        log_warn("server", "the service manager could not be told: %s", err.text);
    if (log_reopen(&err) < 0)
        log_warn("server", "%s", err.text);
    if (command_reread(context, &reread, &err) < 0) {
        log_error("server", "the configuration cannot be used, so the old settings stay: %s", err.text);
    } else {
        if (read_scrape(&reread.file, &scrape, &err) < 0) {
            log_error("server", "the configuration cannot be used, so the old settings stay: %s", err.text);
            arena_done(&reread.arena);
        } else {
            apply_changes(&reread, scrape, server);
            arena_done(options_arena);
            *options_arena = reread.arena;
            log_info("server", "the configuration was read again");
        }
    }
    tell_manager("READY=1");
}

static void serve(const struct command_context *context, struct server *server, const sigset_t *signals,
                  struct arena *options_arena)
{
    for (;;) {
        int signal_number = 0;

        if (sigwait(signals, &signal_number) != 0)
            continue;
        if (signal_number == SIGHUP) {
            reload(context, server, options_arena);
            continue;
        }
        log_info("server", "stopping: %s", strsignal(signal_number));
        tell_manager("STOPPING=1");
        return;
    }
}

static int run(struct command_context *context, struct error *err)
{
    const struct server_config *config = context->config;
    struct server_options options;
    struct server *server;
    struct api api = { .set = context->set,
                       .is_multi_tenant = config->is_multi_tenant,
                       .data_dir = config->store.data_dir,
                       .query_bytes = config->query_bytes,
                       .timeout_ns = config->query_timeout_ns,
                       .trace_link = config->trace_link };
    struct arena options_arena;
    sigset_t signals;
    int result;

    if (make_options(config, &options, err) < 0)
        return -1;
    list_aliases(context, &options);
    options.guest = api_guest(&api);
    options.effective = context->options;
    if (config->log_file && log_open_file(config->log_file, err) < 0)
        return -1;
    if (read_scrape(context->file, &options.scrape, err) < 0)
        return -1;
    block_signals(&signals);
    warn_of_strangers(&options);
    if (server_start(&options, &server, err) < 0) {
        scrapeconfig_free(options.scrape);
        return -1;
    }
    arena_init(&options_arena, 0);
    result = tell_ports(context, server, &options, err);
    if (result == 0) {
        log_info("server", "ready: profiles are kept in '%s'", config->store.data_dir);
        tell_manager("READY=1\nSTATUS=taking profiles");
        serve(context, server, &signals, &options_arena);
    }
    let_interrupt_end_it();
    server_stop(server, config->stop_timeout_ns);
    arena_done(&options_arena);
    log_info("server", "stopped");
    return result;
}

const struct command cmd_server = {
    .name = "server",
    .summary = "Take profiles in over the network and keep them",
    .description =
        "Listens for profiles from Pyroscope's SDKs, from anything that speaks OpenTelemetry (gRPC or HTTP), and from "
        "programs that post pprof, and keeps them in a store. An answer of success means that they survive the death "
        "of "
        "the server.\n\n"
        "When it is ready it prints one line of JSON with the addresses it listens on. SIGTERM and SIGINT stop it: it "
        "takes nothing new, answers what was begun and closes the store; a second SIGINT ends it at once. SIGHUP reads "
        "the configuration file again and "
        "opens the log file anew; what cannot be changed while running is told in the log.\n\n"
        "All listeners are on the loopback interface unless told otherwise, since there is no authentication yet.",
    .config_bytes = sizeof(struct server_config),
    .options = { OPTION_GROUP("Listening", listen_options), STORAGE_GROUP(server_config, store),
                 STORAGE_SERVER_GROUP(server_config, keeping), OPTION_GROUP("Limits", limit_options),
                 OPTION_GROUP("Traces and metrics", signal_options), OPTION_GROUP("Running", running_options) },
    .examples = { { "hearth server", "Takes profiles on 127.0.0.1, ports 4040, 4317 and 4318." },
                  { "hearth server --data-dir /var/lib/hearth --retention 7d", "Keeps them elsewhere, for a week." },
                  { "hearth server --listen 127.0.0.1:0 --listen-otlp-grpc off --listen-otlp-http off",
                    "Listens on one free port, which the first line tells." },
                  { "hearth query --url http://127.0.0.1:4040 my-service.cpu", "Asks a running server." } },
    .run = run,
};
