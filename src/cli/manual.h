// SPDX-License-Identifier: Apache-2.0
/* Man pages from the command tables, in man(7) macros. They carry the version and no date, so that the same tree gives
 * the same bytes. */
#pragma once

#include "cli/command.h"

/* hearth.1: the program, its commands, the options of all commands, environment, files, exit status. */
void manual_print_set(const struct command_set *set, const char *version, struct buffer *out);

/* hearth-top.1: one command. */
void manual_print_command(const struct command_set *set, const struct command *command, const char *version,
                          struct buffer *out);
