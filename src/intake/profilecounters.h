// SPDX-License-Identifier: Apache-2.0
/* What profiles come to since the server began, as counters for Prometheus: one family for each type of value, as in
 *
 *     hearth_profiles_cpu_total{service_name="checkout",env="production"} 1234.5
 *
 * Times are in seconds, all else in the unit of the type. Levels, like memory in use, have none: they do not add up over
 * time. CPU time is shown a second time as pyroscope_profiles_cpu_total, for rules that were written for that name.
 *
 * P1  There are at most max_rows counters. Past them the one that stood still for the longest time makes way if that is an
 *     hour or more, else the profile counts for the service "other".
 *
 * Thread: any. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#define PROFILECOUNTERS_MAX_LABELS 8 /* beside service_name and tenant */

struct profilecounters_options {
    uint32_t max_rows;
    const char *labels; /* which labels of profiles the counters have beside the service: names with ',' between them */
};

struct profilecounters;
/* Errors: ERR_INVALID for names that are no words, or too many; ERR_MEMORY. */
MUST_CHECK int profilecounters_new(const struct profilecounters_options *options, struct profilecounters **ret_counters,
                                   struct error *err);
void profilecounters_free(struct profilecounters *counters);

/* The names of the labels, [n]. */
const struct slice *profilecounters_labels(const struct profilecounters *counters, uint32_t *ret_n);

/* What one value of a profile is: "process_cpu", "cpu", "nanoseconds". */
struct profilecounters_type {
    struct slice name, type, unit;
};
/* Adds `amount` (nothing below 0 is) to the counter of a type, service and labels: `values` has one for each of
 * profilecounters_labels, empty = none. Tenant empty = it is not shown. Where memory runs out nothing is counted. */
void profilecounters_add(struct profilecounters *counters, const struct profilecounters_type *type, struct slice tenant,
                         struct slice service, const struct slice *values, int64_t amount);

/* Appends all counters in Prometheus' text format 0.0.4, sorted. */
void profilecounters_write(struct profilecounters *counters, struct buffer *out);
