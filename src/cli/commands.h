// SPDX-License-Identifier: Apache-2.0
/* Every command of hearth. A new one is a file cmd_<name>.c, a line here and a line in commands.c. */
#pragma once

#include "cli/command.h"

/* The program itself; its commands are in the order in which help lists them. */
extern const struct command_set commands;

extern const struct command cmd_backup;
extern const struct command cmd_cardinality;
extern const struct command cmd_compact;
extern const struct command cmd_convert;
extern const struct command cmd_delete;
extern const struct command cmd_demo;
extern const struct command cmd_diff;
extern const struct command cmd_explain;
extern const struct command cmd_heatmap;
extern const struct command cmd_help;
extern const struct command cmd_import;
extern const struct command cmd_server;
extern const struct command cmd_inspect;
extern const struct command cmd_keep;
extern const struct command cmd_label_values;
extern const struct command cmd_labels;
extern const struct command cmd_metrics;
extern const struct command cmd_operations;
extern const struct command cmd_peek;
extern const struct command cmd_query;
extern const struct command cmd_restore;
extern const struct command cmd_series;
extern const struct command cmd_slow_fast;
extern const struct command cmd_stats;
extern const struct command cmd_status;
extern const struct command cmd_timeseries;
extern const struct command cmd_top;
extern const struct command cmd_trace;
extern const struct command cmd_traces;
extern const struct command cmd_tree;
extern const struct command cmd_types;
extern const struct command cmd_verify;
extern const struct command cmd_version;
