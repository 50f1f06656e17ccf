// SPDX-License-Identifier: Apache-2.0
/* The pages of docs/reference, in Markdown, from the tables of the program. Each function appends a whole page. */
#pragma once

#include "cli/command.h"
#include "net/route.h"

void reference_print_commands(const struct command_set *set, struct buffer *out);
/* Every option with its variable, type, range and default; how each type is written; configuration files. */
void reference_print_options(const struct command_set *set, struct buffer *out);
/* Every variable and the commands that read it. */
void reference_print_environment(const struct command_set *set, struct buffer *out);
/* Error codes with their HTTP and exit status. */
void reference_print_errors(const struct command_set *set, struct buffer *out);
/* The routes of a server with their scope, and the parameters of those that have any. */
void reference_print_routes(const struct route_table *table, struct buffer *out);
/* The metrics registered with base/metrics.h. */
void reference_print_metrics(const struct command_set *set, struct buffer *out);
