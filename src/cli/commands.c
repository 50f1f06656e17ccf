// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

static const struct command *const all[] = {
    &cmd_top, &cmd_tree, &cmd_peek, &cmd_diff, &cmd_convert, &cmd_inspect, &cmd_help, &cmd_version,
};

const struct command_set commands = {
    .name = "hearth",
    .summary = "Continuous profiling for Linux fleets",
    .description = "hearth collects, keeps and compares profiles: where programs spend their time and memory.",
    .commands = all,
    .n = ARRAY_LEN(all),
};
