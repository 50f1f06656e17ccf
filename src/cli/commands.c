// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include "cli/remote.h"

static const struct command *const all[] = {
    /* on files */
    &cmd_top,
    &cmd_tree,
    &cmd_peek,
    &cmd_diff,
    &cmd_convert,
    &cmd_inspect,
    /* on the network */
    &cmd_server,
    &cmd_demo,
    &cmd_status,
    /* on a store */
    &cmd_import,
    &cmd_query,
    &cmd_timeseries,
    &cmd_heatmap,
    &cmd_explain,
    &cmd_series,
    &cmd_labels,
    &cmd_label_values,
    &cmd_types,
    &cmd_cardinality,
    /* on traces and metrics */
    &cmd_traces,
    &cmd_trace,
    &cmd_operations,
    &cmd_slow_fast,
    &cmd_metrics,
    /* keeping a store */
    &cmd_stats,
    &cmd_keep,
    &cmd_delete,
    &cmd_compact,
    &cmd_verify,
    &cmd_backup,
    &cmd_restore,
    /* on the program itself */
    &cmd_help,
    &cmd_version,
};

const struct command_set commands = {
    .name = "hearth",
    .summary = "Continuous profiling for Linux fleets",
    .description = "hearth collects, keeps and compares profiles: where programs spend their time and memory.",
    .commands = all,
    .n = ARRAY_LEN(all),
    .elsewhere = remote_run,
};
