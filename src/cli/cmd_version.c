// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"
#include "cli/commands.h"

static int run(struct command_context *context, struct error *err)
{
    fprintf(context->out, "%s %s\n", context->set->name, version_text());
    return 0;
}

const struct command cmd_version = {
    .name = "version",
    .summary = "Print the version",
    .description = "Prints the name and the version of this program, as --version does.",
    .run = run,
};
