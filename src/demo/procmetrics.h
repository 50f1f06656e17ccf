// SPDX-License-Identifier: Apache-2.0
/* What a process says of itself as OTLP metrics: its CPU time, memory and threads, and what its owner adds. */
#pragma once

#include "base/buffer.h"
#include "metric/metric.h"
#include "unwind/framesampler.h"

#define PROCMETRICS_MAX_POINTS   32
#define PROCMETRICS_MAX_RESOURCE 8

/* Points of one moment. Names, units and what histograms point to live until they are encoded. */
struct procmetrics {
    int64_t time_ns;
    int64_t start_ns; /* since when sums count */
    struct metric_label labels[PROCMETRICS_MAX_POINTS];
    struct metric_series series[PROCMETRICS_MAX_POINTS];
    struct metric_histogram histograms[PROCMETRICS_MAX_POINTS];
    struct metric_point points[PROCMETRICS_MAX_POINTS];
    uint32_t n;
};

void procmetrics_init(struct procmetrics *metrics, int64_t time_ns, int64_t start_ns);
/* One point too many is left out. */
void procmetrics_gauge(struct procmetrics *metrics, const char *name, const char *unit, double value);
/* What only rises. */
void procmetrics_sum(struct procmetrics *metrics, const char *name, const char *unit, double value);
void procmetrics_histogram(struct procmetrics *metrics, const char *name, const char *unit,
                           const struct metric_histogram *histogram);

/* Adds what the kernel and malloc know of this process: process.cpu.time, .memory.usage, .memory.virtual, .thread.count,
 * .context_switches, .open_file_descriptor.count, and runtime.memory.heap_alloc_bytes and .heap_free_bytes. What cannot be read
 * is left out. */
void procmetrics_add_own(struct procmetrics *metrics);

/* Appends them as one request of OTLP. What went wrong, if anything, says buffer_check. */
void procmetrics_encode(const struct procmetrics *metrics, const struct framesampler_label *resource,
                        uint32_t n_resource, struct buffer *out);
