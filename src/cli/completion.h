// SPDX-License-Identifier: Apache-2.0
/* Shell completions from the command tables: commands, flags, the words of enums, files where files are meant.
 *
 * Each function appends a whole script. Hidden commands and options are left out. */
#pragma once

#include "cli/command.h"

/* For bash 4 and later; needs no bash-completion package. */
void completion_print_bash(const struct command_set *set, struct buffer *out);
/* To be found as _hearth in $fpath. */
void completion_print_zsh(const struct command_set *set, struct buffer *out);
void completion_print_fish(const struct command_set *set, struct buffer *out);
