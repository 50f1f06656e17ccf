// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry's export of metrics (ExportMetricsServiceRequest): protobuf and JSON become points of series, and points
 * protobuf.
 *
 * Kept are metrics about processes and runtimes, by the beginning of their names (otlpmetrics_is_kept): gauges, sums and
 * histograms. Exponential histograms become explicit ones, of a coarser scale where they have too many buckets. Summaries and
 * all other names are left out and counted; so are points that no reader could use (no time, no temporality, buckets that do
 * not fit). Points flagged as "no recorded value" carry nothing and are passed over.
 *
 * The labels of a series are service_name, instance, version and host, from the resource, and the attributes of the point:
 * those whose values are single ones, as text. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "metric/metric.h"

struct otlpmetrics_read {
    struct metric_list points;
    uint32_t n_rejected; /* points that are not kept */
    /* A sentence for the sender, empty where all is kept: "12 data points of 3 metrics not kept, as http.server.duration;
     * kept are process.*, runtime.*, ...". */
    char rejection[512];
};
/* Reads a request; points borrow `bytes` and `arena`; those of one series that follow each other share it. Errors: ERR_CORRUPT saying where,
 * ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int otlpmetrics_decode(struct slice bytes, bool is_json, struct arena *arena,
                                  struct otlpmetrics_read *ret_read, struct error *err);

/* Appends a request with these points, which all are of one resource, with its attributes under OpenTelemetry's names
 * (service.name, ...). Points that follow each other and have the same name, unit and kind become one metric; the labels of
 * their series become attributes. What went wrong, if anything, says buffer_check. */
void otlpmetrics_encode(const struct metric_label *resource, size_t n_resource, const struct metric_list *points,
                        struct buffer *out);

/* Whether metrics of this name are kept. */
bool otlpmetrics_is_kept(struct slice name);
