// SPDX-License-Identifier: Apache-2.0
/* Where spans are kept: traces/DAY below the data directory (hourly.h), found by trace, service, operation, time, duration,
 * status and attributes.
 *
 * T1  Acknowledged means kept: when tracestore_write returns 0, the spans survive the death of the process.
 * T2  A span that comes again is kept once. What has the ids of another but another start, duration, status, parent or
 *     operation is another span: senders that use ids twice lose nothing.
 * T3  A span belongs to a range when it started in [from, until).
 * T4  Tenants see only their own spans.
 *
 * Thread: any, but tracestore_close. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "trace/span.h"

struct hourly;
struct spanids; /* a set of span ids: profile/spanids.h */
struct tracestore;

struct tracestore_options {
    const char *data_dir;
    bool is_read_only;     /* another process may be writing */
    bool is_synced;        /* each write is on the disk when it returns; else once a second, by tracestore_maintain */
    uint64_t memory_bytes; /* caches and what waits to be written; 0 = 32 MiB */
    int64_t retention_ns;  /* 0 = 7 days */
    uint64_t retention_bytes; /* 0 = no limit beside the age */
    uint64_t min_free_bytes;  /* below it writes are refused (ERR_FULL) */
    int64_t max_ahead_ns;     /* 0 = 10 minutes: spans that start later are refused; so are those past the retention */
    int64_t close_delay_ns;   /* an hour is closed this long after its end; 0 = 5 minutes */
};
/* Errors: those of hourly_open. A reader of a directory that has no traces gets an empty store. */
MUST_CHECK int tracestore_open(const struct tracestore_options *options, struct tracestore **ret_store,
                               struct error *err);
/* Accepts NULL. */
void tracestore_close(struct tracestore *store);
void tracestore_closep(struct tracestore **store);

struct tracestore_receipt {
    uint32_t n_kept;    /* now or before */
    uint32_t n_refused; /* for their time; `refusal` says why for the first */
    struct error refusal;
};
/* Keeps the spans. -1 when nothing is certain: ERR_FULL, ERR_BUSY, ERR_MEMORY, ERR_IO; trying again is safe. */
MUST_CHECK int tracestore_write(struct tracestore *store, struct slice tenant, const struct span_list *spans,
                                struct tracestore_receipt *ret_receipt, struct error *err);

/* What is due: syncs, closes hours, forgets. Called about once a second by whoever owns a writing store. */
MUST_CHECK int tracestore_maintain(struct tracestore *store, int64_t now_ns, struct error *err);
/* Closes all there is, whatever its hour: for tests, benchmarks and `hearth compact`. */
MUST_CHECK int tracestore_close_hours(struct tracestore *store, struct error *err);
/* Has work that goes on give up (ERR_CLOSED). Thread: any; signal: yes. */
void tracestore_stop(struct tracestore *store);
/* What keeps the days, for copies and their like. */
struct hourly *tracestore_hourly(struct tracestore *store);

/* --- asking --- */

/* For long answers: asked now and then; -1 with an error ends the reading. */
struct tracestore_asker {
    int (*check)(void *context, struct error *err); /* NULL = always goes on */
    void *context;
    size_t max_bytes; /* of memory that an answer may take; 0 = 64 MiB; ERR_LIMIT names it */
};
/* What an answer may take; there may be no asker. */
static inline size_t tracestore_asker_bytes(const struct tracestore_asker *asker)
{
    return asker && asker->max_bytes ? asker->max_bytes : (size_t)64 << 20;
}

/* All spans of a trace that started in [from, until), by start, from `arena`. None is no error. At most
 * TRACESTORE_MAX_SPANS; `*ret_is_cut` says that there are more. */
#define TRACESTORE_MAX_SPANS 100000u
struct tracestore_trace {
    struct span *spans;
    size_t n;
    bool is_cut;
};
MUST_CHECK int tracestore_get(struct tracestore *store, struct slice tenant,
                              const uint8_t trace_id[static SPAN_TRACE_ID_BYTES], int64_t from_ns, int64_t until_ns,
                              const struct tracestore_asker *asker, struct arena *arena,
                              struct tracestore_trace *ret_trace, struct error *err);

/* What a span must be. Texts that are empty, and numbers that are 0, ask nothing. */
struct tracestore_filter {
    int64_t from_ns, until_ns;
    struct slice service, operation;          /* exact */
    int64_t min_duration_ns, max_duration_ns; /* both included */
    bool is_error;                            /* of status error */
    bool is_root;                             /* without a parent */
    const struct span_attribute
        *attributes;           /* all of them: of the span, or of its resource where the span has no such key */
    uint32_t n_attributes;     /* values are texts (tracestore_value_is); an empty one asks that there is such a key */
    const struct spanids *ids; /* one of these spans; NULL = any */
};
/* Whether a span passes. */
bool tracestore_filter_takes(const struct tracestore_filter *filter, const struct span *span);
/* Whether a value looks like `text`: numbers are compared as such (200, 1.5), booleans are true and false, bytes base64. */
bool tracestore_value_is(const struct span_value *value, struct slice text);

enum tracestore_order { TRACESTORE_NEWEST, TRACESTORE_SLOWEST };

/* A search finds traces: those with at least one span that passes. A trace stands where its first span in the order stands:
 * the newest or the slowest one that passes; equal ones by start, newest first, then by trace id and span id. */
struct tracestore_search {
    struct tracestore_filter filter;
    enum tracestore_order order;
    uint32_t limit;    /* of traces; 1 to TRACESTORE_MAX_FOUND */
    struct slice page; /* what the last page said; empty = the first */
};
#define TRACESTORE_MAX_FOUND  1000u
#define TRACESTORE_PAGE_BYTES 96

struct tracestore_found {
    struct span matched; /* where the trace stands */
    /* What follows is of the whole trace, as far as its spans start within an hour of `matched`. */
    uint32_t n_matched; /* spans that pass */
    uint32_t n_spans, n_errors;
    bool is_cut; /* there are more spans, of which nothing is told */
    int64_t start_ns, duration_ns;
    struct span root; /* its first span without a parent, else its first; without attributes, as `matched` */
    const struct tracestore_service {
        struct slice name;
        uint32_t n_spans, n_errors;
    } * services; /* most spans first */
    uint32_t n_services;
};
struct tracestore_results {
    struct tracestore_found *items;
    size_t n;
    uint64_t n_searched;                   /* spans that were looked at */
    char next_page[TRACESTORE_PAGE_BYTES]; /* empty = that was all */
};
/* From `arena`, as far as it is not borrowed from what was asked. Errors: ERR_INVALID (a page that is none of this search), ERR_LIMIT, those of the asker, ... */
MUST_CHECK int tracestore_search(struct tracestore *store, struct slice tenant, const struct tracestore_search *search,
                                 const struct tracestore_asker *asker, struct arena *arena,
                                 struct tracestore_results *ret_results, struct error *err);

/* Calls `visit` for each span that passes, once, in no order; the span is valid during the call and has what `wants` names,
 * at least: the rest may be empty, and costs nothing then. */
enum { TRACESTORE_WANTS_ATTRIBUTES = 1, TRACESTORE_WANTS_ALL = 3 };
MUST_CHECK int tracestore_each(struct tracestore *store, struct slice tenant, const struct tracestore_filter *filter,
                               unsigned wants, const struct tracestore_asker *asker,
                               int (*visit)(void *context, const struct span *span, struct error *err), void *context,
                               struct error *err);

/* The operations of the spans that pass; of durations, total and max are exact, the others within a few percent. A span that
 * came again after its hour was closed may count twice. By service, then most time first. */
struct tracestore_operation {
    struct slice service, name;
    uint64_t n_spans, n_errors;
    int64_t total_ns, max_ns, p50_ns, p95_ns, p99_ns;
};
struct tracestore_operations {
    struct tracestore_operation *items;
    size_t n;
    bool is_cut; /* at TRACESTORE_MAX_OPERATIONS */
};
#define TRACESTORE_MAX_OPERATIONS 10000u
MUST_CHECK int tracestore_list_operations(struct tracestore *store, struct slice tenant,
                                          const struct tracestore_filter *filter, const struct tracestore_asker *asker,
                                          struct arena *arena, struct tracestore_operations *ret_operations,
                                          struct error *err);

struct tracestore_stats {
    uint32_t n_days;
    uint64_t disk_bytes, head_bytes, block_bytes;
    uint64_t n_spans; /* as far as blocks and heads say it; those that came twice may count twice */
    int64_t first_ns, last_ns;
    uint64_t n_damaged;
};
MUST_CHECK int tracestore_stats(struct tracestore *store, struct tracestore_stats *ret_stats, struct error *err);
