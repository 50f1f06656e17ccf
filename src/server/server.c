// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include "answer/adhocfiles.h"
#include "base/log.h"
#include "base/memory.h"
#include "page/page.h"
#include "server/annotations.h"
#include "server/server_internal.h"
#include "server/signals.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t default_workers(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 2 ? 2 : (uint32_t)MIN(n, 64);
}

static int open_store(struct server *server, struct error *err)
{
    struct store_options store = server->options.store;
    struct signals_memory others = signals_memory(store.memory_limit_bytes);
    char path[PATH_MAX];

    if (store.memory_limit_bytes)
        store.memory_limit_bytes -= others.traces_bytes + others.metrics_bytes;
    if (store_open(&store, &server->store, err) < 0)
        return -1;
    if ((size_t)snprintf(path, sizeof(path), "%s/spill", server->options.store.data_dir) >= sizeof(path))
        return error_set(err, ERR_LIMIT, "the path of the data directory is too long");
    return spill_open(path, server->options.max_spill_bytes, &server->spill, err);
}

static int make_workers(struct server *server, struct error *err)
{
    struct intake_options options = { .store = server->store,
                                      .data_dir = server->options.store.data_dir,
                                      .max_body_bytes = server->options.max_body_bytes,
                                      .counters = server->options.counters };

    server->n_workers = server->options.n_workers ? server->options.n_workers : default_workers();
    if (intake_new(&options, &server->intake, err) < 0)
        return -1;
    server->workers = memory_alloc_zero((server->n_workers + 2) * sizeof(struct intake_worker *), err);
    if (!server->workers)
        return -1;
    for (uint32_t i = 0; i < server->n_workers + 2; i++)
        if (intake_worker_new(server->intake, &server->workers[i], err) < 0)
            return -1;
    return 0;
}

/* Who answers questions, and where. */
static int open_answers(struct server *server, struct error *err)
{
    const struct server_options *options = &server->options;
    struct engine_options engine = { .store = server->store,
                                     .cache_bytes = options->query_cache_bytes,
                                     .query_bytes = options->query_bytes };
    struct adhocfiles_options adhoc = { .data_dir = options->store.data_dir,
                                        .max_bytes = options->max_adhoc_bytes,
                                        .retention_ns = options->adhoc_retention_ns };
    const struct server_guest *guest = &options->guest;
    struct server_parts parts;
    struct route_mount mounts[] = { { &server_routes, server },
                                    { &answer_routes, &server->answer },
                                    { &page_routes, NULL },
                                    { guest->routes, guest->self } };

    if (engine_new(&engine, &server->engine, err) < 0 ||
        settings_open(options->store.data_dir, &server->settings, err) < 0 ||
        annotations_open(options->store.data_dir, &server->annotations, err) < 0 ||
        adhocfiles_open(&adhoc, &server->adhocfiles, err) < 0)
        return -1;
    server->answer = (struct answer){ .store = server->store,
                                      .engine = server->engine,
                                      .settings = server->settings,
                                      .adhocfiles = server->adhocfiles,
                                      .is_multi_tenant = options->is_multi_tenant,
                                      .timeout_ns = options->query_timeout_ns };
    parts = (struct server_parts){
        .store = server->store, .engine = server->engine, .traces = server->traces, .metrics = server->runtime_metrics
    };
    if (guest->routes && guest->begin(guest->self, &parts, err) < 0)
        return -1;
    return route_join(mounts, ARRAY_LEN(mounts) - !guest->routes, &server->routes, err);
}

static int listen_all(struct server *server, struct error *err)
{
    const struct server_options *options = &server->options;
    struct address addresses[SERVER_MAX_LISTENERS];
    struct httpserver_options http = {
        .listen = addresses,
        .n_listen = options->n_listeners,
        .routes = server->routes,
        .context = server,
        .pool = { .n_workers = server->n_workers, .max_waiting_bytes = options->max_waiting_bytes },
        .read_pool = { .n_workers = options->n_readers },
        .max_answer_bytes = options->max_answer_bytes,
        .settle = receive_settle,
        .max_connections = options->max_connections,
        .max_body_bytes = options->max_body_bytes,
        .head_timeout_ns = options->head_timeout_ns,
        .body_timeout_ns = options->body_timeout_ns,
        .idle_timeout_ns = options->idle_timeout_ns,
        .cors_origin = options->cors_origin,
        .answered = servermetrics_answered,
    };

    for (size_t i = 0; i < options->n_listeners; i++)
        addresses[i] = options->listeners[i].address;
    return httpserver_start(&http, &server->http, err);
}

/* With nothing to scrape nothing is started; there may be something later. Takes the configuration if it succeeds. */
static int start_scraping(struct server *server, struct scrapeconfig *config, struct error *err)
{
    struct scrape_options options = { .take = receive_scraped,
                                      .context = server,
                                      .tenant = SLICE(STORE_TENANT_DEFAULT),
                                      .max_body_bytes = server->options.max_body_bytes };
    struct scrape *scrape;

    if (!config || config->n == 0) {
        scrapeconfig_free(config);
        return 0;
    }
    if (scrape_start(&options, config, &scrape, err) < 0)
        return -1;
    atomic_store(&server->scrape, scrape);
    return 0;
}

static int start(struct server *server, struct error *err)
{
    if (server_register_metrics(&server->metrics, err) < 0 || open_store(server, err) < 0 ||
        signals_open(server, err) < 0 || make_workers(server, err) < 0 || open_answers(server, err) < 0 ||
        selfprofiling_open(server, err) < 0 || listen_all(server, err) < 0)
        return -1;
    if (thread_start(&server->drainer, "drainer", drain_run, server, err) < 0 || selfprofiling_start(server, err) < 0)
        return -1;
    return start_scraping(server, server->options.scrape, err);
}

int server_start(const struct server_options *options, struct server **ret_server, struct error *err)
{
    struct server *server = MEMORY_NEW(struct server, err);

    if (!server)
        return -1;
    server->options = *options;
    server->started_ns = clock_now_ns();
    server->started_mono_ns = clock_mono_ns();
    atomic_store(&server->has_access_log, options->has_access_log);
    lock_mutex_init(&server->effective_lock, LOCK_SERVER_OPTIONS);
    thinning_init(&server->thinning, (uint64_t)server->started_ns);
    if (start(server, err) < 0) {
        server_stop(server, 0);
        return -1;
    }
    atomic_store(&server->is_ready, true);
    *ret_server = server;
    return 0;
}

void server_stop(struct server *server, int64_t timeout_ns)
{
    if (!server)
        return;
    atomic_store(&server->is_draining, true);
    scrape_stop(atomic_load(&server->scrape));
    thread_stop(&server->self_profiler);
    if (server->http)
        httpserver_drain(server->http, timeout_ns);
    thread_stop(&server->drainer);
    httpserver_free(server->http);
    selfprofiling_close(server);
    for (uint32_t i = 0; server->workers && i < server->n_workers + 2; i++)
        intake_worker_free(server->workers[i]);
    memory_free(server->workers);
    intake_free(server->intake);
    spill_close(server->spill);
    memory_free((void *)server->routes.routes);
    adhocfiles_close(server->adhocfiles);
    annotations_close(server->annotations);
    settings_close(server->settings);
    engine_free(server->engine);
    signals_close(server);
    store_close(server->store);
    metrics_unregister(server->metrics);
    lock_mutex_done(&server->effective_lock);
    memory_free(server);
}

struct address server_address(const struct server *server, size_t listener)
{
    return httpserver_address(server->http, listener);
}

void server_set_access_log(struct server *server, bool is_on)
{
    atomic_store(&server->has_access_log, is_on);
}

void server_set_effective(struct server *server, const struct options *reread)
{
    LOCK_SCOPE(&server->effective_lock);
    server->reread = reread;
}

void server_set_scrape(struct server *server, struct scrapeconfig *config)
{
    struct scrape *scrape = atomic_load(&server->scrape);
    struct error err;

    if (scrape) {
        scrape_apply(scrape, config);
    } else if (start_scraping(server, config, &err) < 0) {
        scrapeconfig_free(config);
        log_error("server", "nothing is scraped: %s", err.text);
    }
}
