// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/help.h"

static int run(struct command_context *context, struct error *err)
{
    const struct command *command = NULL;

    if (context->arguments.n > 0 &&
        command_get(context->set, slice_from(context->arguments.items[0]), &command, err) < 0)
        return -1;
    return help_show(context->set, command, context->world, err);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "Explain a command",
    .description = "Prints the usage, options and examples of a command, as 'hearth COMMAND --help' does. Without an "
                   "argument it lists the commands.",
    .arguments = { { "COMMAND", COMMAND_ARGUMENT_COMMAND, 0, 1, "The command to explain." } },
    .examples = { { "hearth help version", "Explains the command 'version'." } },
    .run = run,
};
