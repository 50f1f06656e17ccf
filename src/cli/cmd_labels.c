// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/storage.h"

static int run(struct command_context *context, struct error *err)
{
    struct storage_list list = { .key = "labels", .selector = storage_argument(context, 0), .ask = store_label_names };

    return storage_list(context, &list, err);
}

const struct command cmd_labels = {
    .name = "labels",
    .summary = "List the names of the labels in a store",
    .description =
        "Prints the names of all labels that profiles in the store have, sorted, one on a line. Labels of "
        "series and labels of single samples are listed alike.\n\n"
        "The range is taken to the day: a label is listed if a matching series has it on a day of the range.",
    .config_bytes = sizeof(struct storage_list_config),
    .options = { STORAGE_LIST_GROUPS },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to look at, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth labels --data-dir hearth-data", "The names of all labels." },
                  { "hearth labels --from 1d 'service_name=api'", "Those that one service had since yesterday." } },
    .run = run,
};
