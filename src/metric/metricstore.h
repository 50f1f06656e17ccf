// SPDX-License-Identifier: Apache-2.0
/* Where metrics are kept: metrics/DAY below the data directory (hourly.h). Points of an open hour are rows; closing the hour
 * makes chunks of them, one for a series and hour. The series of a day are records of its index.
 *
 * E1  Acknowledged means kept: when metricstore_write returns 0, the points survive the death of the process.
 * E2  A point that comes again (of the same series, at the same millisecond) is kept once; times are kept in milliseconds.
 * E3  A point belongs to a range when its time lies in [from, until).
 * E4  Tenants see only their own series.
 * E5  Each tenant has at most so many series a day; points of others are refused and counted, and those that are there go
 *     on.
 *
 * Receiving is two calls: otlpmetrics_decode makes points of a request, metricstore_write keeps them. What is told to the
 * sender as not kept is n_rejected of the one and n_refused of the other.
 *
 * Thread: any, but metricstore_close. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "metric/metric.h"

struct hourly;
struct metricstore;

struct metricstore_options {
    const char *data_dir;
    bool is_read_only;     /* another process may be writing */
    bool is_synced;        /* each write is on the disk when it returns; else once a second, by metricstore_maintain */
    uint64_t memory_bytes; /* caches and what waits to be written; 0 = 16 MiB */
    int64_t retention_ns;  /* 0 = 7 days */
    uint64_t retention_bytes; /* 0 = no limit beside the age */
    uint64_t min_free_bytes;  /* below it writes are refused (ERR_FULL) */
    int64_t max_ahead_ns;     /* 0 = 10 minutes: later points are refused; so are those past the retention */
    int64_t close_delay_ns;   /* an hour is closed this long after its end; 0 = 5 minutes */
    uint32_t max_series;      /* of a tenant and day; 0 = 10,000 */
};
/* Errors: those of hourly_open. A reader of a directory that has no metrics gets an empty store. */
MUST_CHECK int metricstore_open(const struct metricstore_options *options, struct metricstore **ret_store,
                                struct error *err);
/* Nobody may use it any more. Accepts NULL. */
void metricstore_close(struct metricstore *store);
void metricstore_closep(struct metricstore **store);

struct metricstore_receipt {
    uint32_t n_kept;    /* now or before */
    uint32_t n_refused; /* for their time, or as too many series; `refusal` says why for the first */
    struct error refusal;
};
/* Keeps the points. -1 when nothing is certain: ERR_FULL, ERR_BUSY, ERR_MEMORY, ERR_IO; trying again is safe. */
MUST_CHECK int metricstore_write(struct metricstore *store, struct slice tenant, const struct metric_list *points,
                                 struct metricstore_receipt *ret_receipt, struct error *err);

/* What is due: syncs, closes hours, forgets. Called about once a second by whoever owns a writing store. */
MUST_CHECK int metricstore_maintain(struct metricstore *store, int64_t now_ns, struct error *err);
/* Closes all there is, whatever its hour: for tests, benchmarks and `hearth compact`. */
MUST_CHECK int metricstore_close_hours(struct metricstore *store, struct error *err);
/* Has maintenance that goes on give up (ERR_CLOSED). Thread: any; signal: yes. */
void metricstore_stop(struct metricstore *store);
/* What it stands on: for copies, checks and numbers of all that is kept this way. */
struct hourly *metricstore_hourly(struct metricstore *store);

/* --- asking --- */

/* For long answers: asked now and then; -1 with an error ends the reading. */
struct metricstore_asker {
    int (*check)(void *context, struct error *err); /* NULL = always goes on */
    void *context;
    size_t max_bytes; /* of memory that an answer may take; 0 = 64 MiB; ERR_LIMIT names it */
};

/* The names that a service (empty = any) has in the days of the range, by name. */
struct metricstore_name {
    struct slice name, unit;
    uint8_t kind; /* enum point_kind */
    bool is_monotonic;
    uint32_t n_series; /* of the day that has most */
};
struct metricstore_names {
    struct metricstore_name *items;
    size_t n;
};
/* From `arena`. Errors: those of the asker, ERR_LIMIT, ERR_MEMORY, ERR_IO, ... */
MUST_CHECK int metricstore_list_names(struct metricstore *store, struct slice tenant, struct slice service,
                                      int64_t from_ns, int64_t until_ns, const struct metricstore_asker *asker,
                                      struct arena *arena, struct metricstore_names *ret_names, struct error *err);

/* What is asked: lines over a grid of steps, point i for [from + i * step, from + (i + 1) * step). A line is one statistic
 * of one metric of one service, over all its instances and attributes, or those that agree in the labels of `by`:
 *
 *   gauges, and sums that go up and down: each series averaged over the step (one that reports less often than that holds
 *     its value meanwhile), added up over the series. Of delta sums it is what they added up to since `from`.
 *   sums that only rise: what they grew a second. A counter that began again is seen by its start, or by falling.
 *   histograms: the mean, the median, the 99th percentile, and how many values a second. */
struct metricstore_query {
    struct slice service;      /* empty = all, each with lines of its own */
    const struct slice *names; /* exact; none = all */
    size_t n_names;
    const struct slice *by; /* names of labels */
    size_t n_by;
    int64_t from_ns, until_ns;
    int64_t step_ns; /* at most METRICSTORE_MAX_POINTS points, else ERR_LIMIT saying which step would do */
};
#define METRICSTORE_MAX_POINTS 11000u
#define METRICSTORE_MAX_LINES  1000u
#define METRICSTORE_MAX_BY     8u

enum metricstore_statistic {
    METRICSTORE_VALUE,
    METRICSTORE_RATE, /* a second */
    METRICSTORE_MEAN,
    METRICSTORE_P50,
    METRICSTORE_P99,
};
#define METRICSTORE_STATISTIC_COUNT (METRICSTORE_P99 + 1)
/* "value", "rate", "mean", "p50", "p99". */
const char *metricstore_statistic_name(enum metricstore_statistic statistic);

struct metricstore_line {
    struct slice name, unit; /* the unit is that of the metric, also of rates */
    uint8_t kind;            /* enum point_kind */
    enum metricstore_statistic statistic;
    const struct metric_label *labels; /* those that all series of the line have alike */
    uint32_t n_labels;
    double *points; /* NaN = there is none */
};
/* By service, name, unit, kind, the labels of `by`, statistic. */
struct metricstore_answer {
    struct metricstore_line *lines;
    size_t n;
    uint32_t n_points;        /* of each line */
    int64_t from_ns, step_ns; /* of the grid */
    bool is_cut;              /* at METRICSTORE_MAX_LINES */
};
/* From `arena`. Lines without a point are left out. Errors: ERR_INVALID, ERR_LIMIT, those of the asker, ... */
MUST_CHECK int metricstore_ask(struct metricstore *store, struct slice tenant, const struct metricstore_query *query,
                               const struct metricstore_asker *asker, struct arena *arena,
                               struct metricstore_answer *ret_answer, struct error *err);

struct metricstore_stats {
    uint32_t n_days;
    uint64_t disk_bytes, head_bytes, block_bytes;
    int64_t first_ns, last_ns; /* beginning of the first day and of the last; 0 without days */
    uint64_t n_damaged;
};
MUST_CHECK int metricstore_stats(struct metricstore *store, struct metricstore_stats *ret_stats, struct error *err);
