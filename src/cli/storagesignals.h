// SPDX-License-Identifier: Apache-2.0
/* The spans and metrics that commands look at: those of a data directory, opened for the run, or those that the server lends
 * which runs the command. */
#pragma once

#include "cli/storage.h"
#include "metric/metricstore.h"
#include "trace/tracestore.h"

/* How much an answer may take. */
struct telemetry_limits {
    int64_t timeout_ns; /* 0 = any time */
    size_t query_bytes; /* 0 = as tracestore.h has it */
};

struct storagesignals_traces {
    struct tracestore *store;
    struct tracestore_asker asker; /* of those who ask the store */
    struct command_context *context;
    struct command_patience patience;
    bool is_lent;
};
/* Opens the traces beside the store for looking; `ret_use` stays where it is until it is ended. Errors: ERR_NOT_FOUND where there
 * is no store, ERR_UNSUPPORTED where the server keeps no traces, those of tracestore_open. */
MUST_CHECK int storagesignals_use_traces(struct command_context *context, const struct storage_config *config,
                                         struct telemetry_limits limits, struct storagesignals_traces *ret_use,
                                         struct error *err);
/* Takes a zeroed one, too. */
void storagesignals_end_traces(struct storagesignals_traces *use);

struct storagesignals_metrics {
    struct metricstore *store;
    struct metricstore_asker asker; /* of those who ask the store */
    struct command_context *context;
    struct command_patience patience;
    bool is_lent;
};
/* The same for metrics. */
MUST_CHECK int storagesignals_use_metrics(struct command_context *context, const struct storage_config *config,
                                          struct telemetry_limits limits, struct storagesignals_metrics *ret_use,
                                          struct error *err);
void storagesignals_end_metrics(struct storagesignals_metrics *use);
