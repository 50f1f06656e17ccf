// SPDX-License-Identifier: Apache-2.0
/* The server: profiles come in from everyone's senders and go into the store.
 *
 * V1  A 2xx answer means that the profiles are kept: in the store, or in the spill file on disk until the store can take
 *     them. Or that they were left out on purpose, since neither keeps up, and counted (thinning.h): refusing them would
 *     lose them just the same, as hardly any sender tries again.
 * V2  Nothing waits without a bound: bodies, queues and the spill file all have one.
 * V3  Every profile that came is counted for its source: stored, left out, or dropped and why (/api/v1/status). */
#pragma once

#include "base/address.h"
#include "base/metrics.h"
#include "base/options.h"
#include "intake/profilecounters.h"
#include "net/route.h"
#include "query/engine.h"
#include "scrape/scrapeconfig.h"
#include "store/store.h"

#define SERVER_MAX_LISTENERS 16

struct tracestore;
struct metricstore;

struct server_listener {
    const char *name; /* "listen", "otlp-grpc", ... */
    struct address address;
};

/* An option that was given by the name that another program has for it. */
struct server_alias {
    const char *given;  /* "PYROSCOPE_RETENTION_PERIOD" */
    const char *option; /* "retention" */
};
#define SERVER_MAX_ALIASES 8

/* What the server has open, lent to whoever answers for it. */
struct server_parts {
    struct store *store;
    struct engine *engine;
    struct tracestore *traces;
    struct metricstore *metrics;
};

/* Routes that somebody else brings along, with what belongs to them. */
struct server_guest {
    const struct route_table *routes; /* NULL = there are none */
    /* Called when the store is open and nobody asks yet: makes the context of the routes. */
    int (*begin)(void *self, const struct server_parts *parts, struct error *err);
    void *self; /* the context */
};

struct server_options {
    struct server_listener listeners[SERVER_MAX_LISTENERS];
    size_t n_listeners;
    struct store_options store;
    bool is_multi_tenant;
    uint32_t n_workers;         /* 0 = one for each processor, at least 2 */
    uint32_t n_readers;         /* that answer queries; 0 = chosen by net/ */
    uint64_t max_answer_bytes;  /* of answers that are not read yet; 0 = chosen by net/ */
    uint32_t max_connections;   /* 0 = chosen by net/ */
    uint64_t max_body_bytes;    /* 0 = 64 MiB */
    uint64_t max_waiting_bytes; /* of bodies that wait for a worker; 0 = 32 MiB */
    uint64_t max_spill_bytes;   /* 0 = 1 GiB */
    int64_t head_timeout_ns, body_timeout_ns, idle_timeout_ns; /* 0 = chosen by net/ */
    uint64_t query_cache_bytes; /* of call trees that stay between queries; 0 = chosen by the engine */
    uint64_t query_bytes;       /* what a query may take; 0 = chosen by the engine */
    int64_t query_timeout_ns;   /* 0 = none */
    int64_t traces_retention_ns, metrics_retention_ns;        /* 0 = chosen by their stores */
    uint64_t traces_retention_bytes, metrics_retention_bytes; /* 0 = no limit */
    const char *trace_link;     /* where else traces can be seen, for the status; NULL = nowhere; borrowed */
    uint64_t max_adhoc_bytes;   /* of profiles uploaded to be looked at; 0 = 1 GiB */
    int64_t adhoc_retention_ns; /* of those; 0 = 30 days */
    const char *cors_origin;    /* NULL = pages of other origins may not ask */
    bool has_access_log;
    struct profilecounters_options counters;         /* max_rows 0 = none */
    struct server_alias aliases[SERVER_MAX_ALIASES]; /* for the status */
    size_t n_aliases;
    const struct options *effective; /* what all this was made from, for the status; NULL = nobody knows; borrowed */
    struct server_guest guest;
    int64_t self_profile_ns;     /* how long a profile of the server itself is, which it stores; 0 = it stores none */
    struct scrapeconfig *scrape; /* what to scrape; taken by a start that succeeds. NULL = nothing */
};

struct server;
/* Opens the store and begins to serve. Errors: those of store_open and httpserver_start. */
MUST_CHECK int server_start(const struct server_options *options, struct server **ret_server, struct error *err);
/* Takes nothing new, answers what was begun (for at most `timeout_ns`), closes the store. Accepts NULL. */
void server_stop(struct server *server, int64_t timeout_ns);

/* Where a listener listens, with the port it got. */
struct address server_address(const struct server *server, size_t listener);
/* Can be changed while it runs. Thread: any. */
void server_set_access_log(struct server *server, bool is_on);
/* What was read again: of these options the status shows the ones that can be changed while it runs. Borrowed until the next
 * call, and until the server is stopped. Thread: the owner. */
void server_set_effective(struct server *server, const struct options *reread);
/* Scrapes by another configuration, which it takes. Thread: the owner. */
void server_set_scrape(struct server *server, struct scrapeconfig *config);

/* Shows the server's own metrics; for the reference pages, too. */
MUST_CHECK int server_register_metrics(struct metrics **ret_metrics, struct error *err);
/* The table of all routes, for the reference pages. */
extern const struct route_table server_routes;
