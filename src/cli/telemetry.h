// SPDX-License-Identifier: Apache-2.0
/* The spans and metrics that commands look at: those of a data directory, opened for the run, or those that the server lends
 * which runs the command. */
#pragma once

#include "cli/storage.h"
#include "trace/tracestore.h"

struct telemetry_traces {
    struct tracestore *store;
    bool is_lent;
};
/* Opens the traces beside the store for looking. Errors: ERR_NOT_FOUND where there is no store, and those of
 * tracestore_open. */
MUST_CHECK int telemetry_use_traces(struct command_context *context, const struct storage_config *config,
                                    struct telemetry_traces *ret_use, struct error *err);
/* Takes a zeroed one, too. */
void telemetry_end_traces(struct telemetry_traces *use);
/* Who asks, for long answers, which may take so much memory (0 = as tracestore.h has it). The context outlives it. */
struct tracestore_asker telemetry_asker(struct command_context *context, size_t max_bytes);
