// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share: the running server, and its handlers. */
#pragma once

#include "answer/answer.h"
#include "answer/settings.h"
#include "base/lock.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "intake/intake.h"
#include "intake/spill.h"
#include "intake/thinning.h"
#include "net/httpserver.h"
#include "scrape/scrape.h"
#include "server/server.h"
#include "unwind/selfprofile.h"

/* What came of the signals that have stores of their own. */
enum signal { SIGNAL_TRACES, SIGNAL_METRICS };
#define SIGNAL_COUNT (SIGNAL_METRICS + 1)
struct signal_counts {
    uint64_t n_kept, n_rejected; /* spans, or points */
    uint64_t n_failed;           /* requests of which nothing was kept */
};

struct server {
    struct server_options options;
    struct store *store;
    struct engine *engine;
    struct tracestore *traces;
    struct metricstore *runtime_metrics;
    struct thread trace_upkeep, metric_upkeep; /* of those two */
    struct settings *settings;
    struct annotations *annotations;
    struct adhocfiles *adhocfiles;
    struct answer answer;
    struct route_table routes; /* all that are mounted */
    struct intake *intake;
    struct intake_worker **workers; /* [n_workers + 2]; the last two are the drainer's and the scraper's */
    uint32_t n_workers;
    struct spill *spill;
    struct thinning thinning; /* of the overflow thread */
    struct httpserver *http;
    struct thread drainer;
    struct scrape *_Atomic scrape; /* NULL until there is something to scrape */
    struct selfprofile *self_profile;
    struct thread self_profiler;       /* stores it */
    struct intake_worker *self_worker; /* of that thread */
    _Atomic bool is_profiled;          /* by somebody who asks */
    struct metrics *metrics;
    int64_t started_ns, started_mono_ns;
    _Atomic bool is_ready, is_draining, has_access_log;
    struct lock_mutex effective_lock;
    const struct options *reread; /* guarded by effective_lock; NULL = not since the start */
};

/* Handlers of uploads (receive.c). */
void receive_ingest(struct exchange *exchange);
void receive_ingest_overflow(struct exchange *exchange);
void receive_plain(struct exchange *exchange);
void receive_plain_overflow(struct exchange *exchange);
void receive_push(struct exchange *exchange);
void receive_push_overflow(struct exchange *exchange);
void receive_otlp(struct exchange *exchange);
void receive_otlp_overflow(struct exchange *exchange);
void receive_refuse(struct exchange *exchange);
void receive_too_large(struct exchange *exchange);
void receive_admit(struct exchange *exchange);
void receive_admit_otlp(struct exchange *exchange);
uint64_t receive_lane(const struct exchange *exchange);
/* Makes what overflow handlers put into the spill file durable, or takes their answers back. */
void receive_settle(void *context, struct exchange **exchanges, size_t n);

/* Takes what a target of scraping answered. */
MUST_CHECK int receive_scraped(void *context, const struct upload *upload, struct error *err);

/* Handlers of annotations (annotate.c). */
void annotate_add(struct exchange *exchange);
void annotate_list(struct exchange *exchange);
void annotate_remove(struct exchange *exchange);

/* The thread that takes uploads out of the spill file (drain.c). */
void drain_run(struct thread *thread, void *context);

/* Handlers about the server itself (health.c, status.c). */
void health_ready(struct exchange *exchange);
void health_alive(struct exchange *exchange);
void status_metrics(struct exchange *exchange);
void status_all(struct exchange *exchange);
void status_build(struct exchange *exchange);

/* The server's own profile (selfprofiling.c): it can be recorded; it is stored now and then; the end of both, when nobody
 * records any more. */
MUST_CHECK int selfprofiling_open(struct server *server, struct error *err);
MUST_CHECK int selfprofiling_start(struct server *server, struct error *err);
void selfprofiling_close(struct server *server);
void selfprofiling_run(struct thread *thread, void *context);
void selfprofiling_index(struct exchange *exchange);
void selfprofiling_cmdline(struct exchange *exchange);
void selfprofiling_profile(struct exchange *exchange);

/* Metrics of requests (servermetrics.c). */
void servermetrics_answered(void *context, const struct exchange *exchange, uint64_t sent_bytes, int64_t duration_ns);
/* Counts an upload that there was no room for. */
void servermetrics_count_overload(struct server *server, bool is_refused);
/* Counts what became of a request. */
void servermetrics_count_signal(struct server *server, enum signal signal, const struct signal_counts *counts);
/* Sets the gauges to what is now, and counters that are kept elsewhere. */
void servermetrics_refresh(struct server *server);
