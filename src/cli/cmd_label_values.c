// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/storage.h"

static int ask(struct store *store, const struct store_query *query, const char *argument, struct arena *arena,
               struct store_texts *ret_texts, struct error *err)
{
    return store_label_values(store, query, slice_from(argument), arena, ret_texts, err);
}

static int run(struct command_context *context, struct error *err)
{
    struct storage_list list = {
        .key = "values", .selector = storage_argument(context, 1), .argument = storage_argument(context, 0), .ask = ask
    };

    return storage_list(context, &list, err);
}

const struct command cmd_label_values = {
    .name = "label-values",
    .summary = "List the values of a label in a store",
    .description =
        "Prints all values that a label has in the store, sorted, one on a line; nothing if no profile has "
        "the label. In names a dot is an underscore: service.name is service_name.\n\n"
        "The range is taken to the day: a value is listed if a matching series has it on a day of the range.",
    .config_bytes = sizeof(struct storage_list_config),
    .options = { STORAGE_LIST_GROUPS },
    .arguments = { { "NAME", COMMAND_ARGUMENT_TEXT, 1, 1, "Name of the label; 'hearth labels' lists them." },
                   { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to look at, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth label-values service_name", "All services in ./hearth-data." },
                  { "hearth label-values zone 'service_name=~\"api.*\"' --from 2026-11-01",
                    "Where some services ran since the first of November." } },
    .run = run,
};
