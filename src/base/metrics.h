// SPDX-License-Identifier: Apache-2.0
/* Counters, gauges and histograms, declared in tables: /metrics and docs/reference/metrics.md both come from them.
 *
 *     enum { BLOCKS_SKIPPED, WRITE_TIME, STORE_METRICS };
 *     static const struct metric_spec specs[] = {
 *         [BLOCKS_SKIPPED] = { .name = "hearth_store_blocks_skipped", .kind = METRIC_COUNTER,
 *                              .help = "Blocks that could not be read.", .labels = { "reason" } },
 *         ...
 *     metrics_register(specs, STORE_METRICS, &metrics, err)
 *     metrics_add(metrics_get_labelled(metrics, BLOCKS_SKIPPED, (struct slice[]){ SLICE("checksum") }), 1);
 *
 * M1  Adding to a series takes no lock and no memory. Finding a labelled series takes a lock; hot paths keep the
 * pointer. M2  A metric has at most `max_series` series. Label values beyond them are counted in one whose values all
 * are "other", so that input can make neither memory nor /metrics grow. M3  The name shown is the declared one, then
 * the unit, then "_total" for counters: hearth_store_written_bytes_total. */
#pragma once

#include "base/buffer.h"

#define METRICS_MAX_LABELS     4
#define METRICS_MAX_BUCKETS    32
#define METRICS_DEFAULT_SERIES 64
#define METRICS_NAME_BYTES     128 /* the longest name shown, with a NUL */
#define METRICS_VALUE_BYTES    128 /* longer label values are cut */

enum metric_kind {
    METRIC_COUNTER,   /* only rises */
    METRIC_GAUGE,     /* a level */
    METRIC_HISTOGRAM, /* how values are spread */
};

struct metric_spec {
    const char *name; /* "hearth_ROOM_WHAT": lower-case words joined by '_' */
    enum metric_kind kind;
    const char *unit; /* "bytes", "seconds"; NULL for plain numbers */
    const char *help; /* a sentence */
    const char *labels[METRICS_MAX_LABELS];
    uint32_t max_series;   /* 0 = METRICS_DEFAULT_SERIES; for metrics with labels */
    const double *buckets; /* histograms only: the upper bounds, rising; one for the rest is added */
    size_t n_buckets;
};

/* The values of one registered table, and those of one metric under one set of label values. */
struct metrics;
struct metrics_series;

/* Makes the values for a table, which must outlive them, and shows them from now on. A table that breaks the rules
 * above or repeats a name that is already shown is ERR_INVALID. Other errors: ERR_MEMORY.  Thread: any. */
MUST_CHECK int metrics_register(const struct metric_spec *specs, size_t n_specs, struct metrics **ret_metrics,
                                struct error *err);
/* Frees the values; nobody may still use a series. Accepts NULL.  Thread: any. */
void metrics_unregister(struct metrics *metrics);

/* The series of the metric at `index` of the table: one without labels, or the one with these label values in the order
 * of `labels`. Stays valid until metrics_unregister. A new series that cannot be had is "other" (M2).  Thread: any. */
struct metrics_series *metrics_get(struct metrics *metrics, size_t index);
struct metrics_series *metrics_get_labelled(struct metrics *metrics, size_t index, const struct slice *values);

/* Counters.  Thread: any, these and those below. */
void metrics_add(struct metrics_series *series, uint64_t amount);
/* A counter that is kept elsewhere has come to `total`. It never goes down: a lower total changes nothing. */
void metrics_advance(struct metrics_series *series, uint64_t total);
/* Gauges: to a value, or by a difference. */
void metrics_set(struct metrics_series *series, double value);
void metrics_adjust(struct metrics_series *series, double difference);
/* Histograms. NaN is ignored. */
void metrics_observe(struct metrics_series *series, double value);

/* Appends all registered metrics in Prometheus text format 0.0.4, in order of registration. */
void metrics_write(struct buffer *buffer);

/* The name as shown (M3); for the reference page. Returns `ret_name`. */
const char *metrics_name(const struct metric_spec *spec, char ret_name[static METRICS_NAME_BYTES]);
/* Calls `visit` for each registered metric, in order of registration. `visit` must not come back here. */
void metrics_each(void (*visit)(void *context, const struct metric_spec *spec), void *context);
