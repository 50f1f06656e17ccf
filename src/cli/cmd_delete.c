// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/storage.h"

struct delete_config {
    struct storage_config store;
    struct storage_range range;
    bool is_all_time;
    bool is_everything;
    bool is_json;
};

static const struct option_spec delete_options[] = {
    { "all-time", OPTION_BOOL, FIELD(delete_config, is_all_time), "false",
      "Delete from the whole store, instead of a range.", .is_flag_only = true },
    { "everything", OPTION_BOOL, FIELD(delete_config, is_everything), "false",
      "Delete all series of the range. Without it a selector that chooses everything is refused.",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(delete_config, is_json), "false", "Write JSON." },
};

static int check_range(const struct delete_config *config, struct error *err)
{
    bool has_both = config->range.from && config->range.until, has_any = config->range.from || config->range.until;

    if (config->is_all_time && has_any)
        return error_set(err, ERR_USAGE, "--all-time and a range contradict each other: give one of them");
    if (!config->is_all_time && !has_both)
        return error_set(err, ERR_USAGE, "say when: --from and --until, both of them, or --all-time");
    return 0;
}

static int check_selector(const struct delete_config *config, const struct storage_query *query, struct error *err)
{
    bool is_empty = !query->selector || selector_is_empty(query->selector);

    if (config->is_everything && !is_empty)
        return error_set(err, ERR_USAGE, "--everything and a selector contradict each other: give one of them");
    if (!config->is_everything && is_empty)
        return error_set(err, ERR_USAGE,
                         "say what to delete: a selector like '{service_name=\"api\"}', or --everything");
    return 0;
}

static int run(struct command_context *context, struct error *err)
{
    const struct delete_config *config = context->config;
    AUTO(storage_query_done) struct storage_query query = { 0 };
    AUTO(storage_use_end) struct storage_use use = { 0 };
    uint32_t n_days;

    if (check_range(config, err) < 0 ||
        storage_query_init(&query, &config->range, storage_argument(context, 0), err) < 0 ||
        check_selector(config, &query, err) < 0 || storage_use_to_change(context, &config->store, &use, err) < 0 ||
        store_delete(use.store, &query.query, &n_days, err) < 0)
        return -1;
    if (config->is_json)
        fprintf(context->out, "{\n  \"days\": %u\n}\n", n_days);
    else if (n_days == 0)
        fputs("nothing was deleted: the store has no day in that range\n", context->out);
    else
        fprintf(context->out,
                "deleted from %u day%s: gone from every answer now, from the disk with 'hearth compact'\n", n_days,
                n_days == 1 ? "" : "s");
    return 0;
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "Delete profiles from a store",
    .description =
        "Deletes the profiles that a selector chooses from a range of time. They are gone from every answer at once, "
        "and "
        "from the disk when the store rewrites their files: in the background, or now with 'hearth compact'. There is "
        "no question and no way back.\n\n"
        "Profiles that are written later are not concerned, even if they match. A profile of which everything was "
        "deleted "
        "may be sent again under the id it had; while anything of it is left, it is there already.",
    .config_bytes = sizeof(struct delete_config),
    .options = { OPTION_GROUP("Options", delete_options), STORAGE_RANGE_GROUP(delete_config, range),
                 STORAGE_URL_GROUP(delete_config, store) },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1, "What to delete, like '{service_name=\"api\"}'." } },
    .examples = { { "hearth delete '{service_name=\"api\"}' --from 2026-11-14T10:00:00Z --until 2026-11-14T12:00:00Z",
                    "Deletes two hours of one service." },
                  { "hearth delete 'customer=acme' --all-time", "Deletes whatever has a label." },
                  { "hearth delete --everything --from 2026-11-01 --until 2026-11-08",
                    "Deletes a week of everybody." } },
    .run = run,
};
