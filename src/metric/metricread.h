// SPDX-License-Identifier: Apache-2.0
/* Reading one day of the store of metrics: which series it has, and the points of a series hour by hour. */
#pragma once

#include "metric/metricstore_internal.h"

/* Calls `visit` for each series that a service (empty = any) has in the index of the day, with its number; in no order. The
 * series is valid during the call, in `scratch`, which is reset for each. Records that are damaged are noted and left out.
 * Errors: those of `visit`, kv.h, ERR_MEMORY. */
MUST_CHECK int metricread_each_series(struct metricstore *store, const struct hourly_view *view, struct slice tenant,
                                      struct slice service, struct arena *scratch,
                                      int (*visit)(void *context, uint64_t number, const struct metric_series *series,
                                                   struct error *err),
                                      void *context, struct error *err);

/* What holds points of one hour of a tenant: heads and closings. */
struct metricread_source {
    struct kv_iterator *iterator;
    struct metricrow_key prefix;
    bool is_head;
};
struct metricread_hour {
    struct metricstore *store;
    const struct hourly_view *view;
    struct metricread_source *sources; /* from `arena` */
    size_t n;
};
/* Opens the hour; `view` and `arena` outlive it. To be closed whatever comes of it. Errors: kv.h, ERR_MEMORY. */
MUST_CHECK int metricread_hour_open(struct metricread_hour *hour, struct metricstore *store,
                                    const struct hourly_view *view, uint8_t number, struct slice tenant,
                                    struct arena *arena, struct error *err);
void metricread_hour_close(struct metricread_hour *hour);

/* The points of a series in [from, until), by time, each time once, from `arena`. Series that are asked for in rising order
 * of their numbers are found sooner. Chunks that are damaged are noted and left out. Errors: kv.h, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricread_points(struct metricread_hour *hour, uint64_t series, int64_t from_ns, int64_t until_ns,
                                 struct arena *arena, struct metric_point **ret_points, size_t *ret_n,
                                 struct error *err);
