// SPDX-License-Identifier: Apache-2.0
/* Every command of hearth. A new one is a file cmd_<name>.c, a line here and a line in commands.c. */
#pragma once

#include "cli/command.h"

/* The program itself; its commands are in the order in which help lists them. */
extern const struct command_set commands;

extern const struct command cmd_convert;
extern const struct command cmd_diff;
extern const struct command cmd_help;
extern const struct command cmd_inspect;
extern const struct command cmd_peek;
extern const struct command cmd_tree;
extern const struct command cmd_top;
extern const struct command cmd_version;
