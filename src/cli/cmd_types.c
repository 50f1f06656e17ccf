// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/storage.h"

static int ask(struct store *store, const struct store_query *query, const char *argument, struct arena *arena,
               struct store_texts *ret_texts, struct error *err)
{
    return store_profile_types(store, query, arena, ret_texts, err);
}

static int run(struct command_context *context, struct error *err)
{
    struct storage_list list = { .key = "types", .selector = storage_argument(context, 0), .ask = ask };

    return storage_list(context, &list, err);
}

const struct command cmd_types = {
    .name = "types",
    .summary = "List the types of profiles in a store",
    .description = "Prints what was measured by the profiles in the store, sorted, one on a line, as "
                   "name:type:unit:period_type:period_unit.\n\n"
                   "The range is taken to the day: a type is listed if a matching series has it on a day of the range.",
    .config_bytes = sizeof(struct storage_list_config),
    .options = { STORAGE_LIST_GROUPS },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to look at, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth types", "All types in ./hearth-data." },
                  { "hearth types 'service_name=api' --json", "Those of one service, for scripts." } },
    .run = run,
};
