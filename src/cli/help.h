// SPDX-License-Identifier: Apache-2.0
/* Help for people at a terminal: `hearth --help` and `hearth CMD --help`, from the command tables.
 *
 * Lines wrap at `width` columns. The pieces that man pages, completions and reference pages also need are here too. */
#pragma once

#include "cli/command.h"

/* The page of the whole program: usage, commands, the options that all commands take. */
void help_print_set(const struct command_set *set, unsigned width, struct buffer *out);

/* The page of one command. */
void help_print_command(const struct command_set *set, const struct command *command, unsigned width,
                        struct buffer *out);

/* Prints the page of `command`, or of the whole program when it is NULL, to world->out. Errors: ERR_MEMORY. */
MUST_CHECK int help_show(const struct command_set *set, const struct command *command,
                         const struct command_world *world, struct error *err);

/* "hearth convert [OPTIONS] IN... OUT" */
void help_print_usage(const struct command_set *set, const struct command *command, struct buffer *out);

/* "IN...", "[FILE]", "[FILE...]" */
void help_print_argument(const struct command_argument *argument, struct buffer *out);

/* What the table knows beside the help sentence: "One of text, json. From 1 to 1000. Default: 30. Also --rows,
 * OTHER_LINES. Can be changed while running (SIGHUP)." Nothing, or whole sentences. */
void help_print_notes(const struct option_spec *spec, struct buffer *out);

/* Whether the switch is on unless negated, so that --no-NAME is how it is used. */
bool help_is_negated(const struct option_spec *spec);
