// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json.h"
#include "cli/census.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"

struct types_config {
    struct census_config census;
    bool is_brief;
    bool is_json;
};

static const struct option_spec types_options[] = {
    { "brief", OPTION_BOOL, FIELD(types_config, is_brief), "false",
      "The types alone, one on a line: quick also where there is much, since only the index is read.",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(types_config, is_json), "false", "Write JSON." },
};

static void print_lines(const struct cardinality *found, struct buffer *out)
{
    for (uint32_t i = 0; i < found->n_types; i++) {
        table_append_text(out, found->types[i].profile_type);
        buffer_append_byte(out, '\n');
    }
}

static int print_table(struct command_context *context, const struct cardinality *found, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = {
        { "SERIES", TABLE_RIGHT }, { "FIRST", TABLE_LEFT }, { "LAST", TABLE_LEFT }, { "TYPE", TABLE_LEFT }
    };
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < found->n_types; i++) {
        const struct cardinality_type *type = &found->types[i];
        char first[CLOCK_TEXT_BYTES], last[CLOCK_TEXT_BYTES];

        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%llu", (unsigned long long)type->n_series);
        table_printf(&table, "%s", clock_format(type->first_ns, CLOCK_ZONE_UTC, 0, first));
        table_printf(&table, "%s", clock_format(type->last_ns, CLOCK_ZONE_UTC, 0, last));
        table_cell_name(&table, "", type->profile_type, "");
    }
    return found->n_types ? table_print(&table, context->has_colour, out, err) : 0;
}

static void print_json(const struct cardinality *found, bool has_times, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    census_json_types(found, has_times, &json);
    json_object_end(&json);
    json_done(&json);
}

static int run(struct command_context *context, struct error *err)
{
    const struct types_config *config = context->config;
    struct cardinality_options options = { .is_exact = !config->is_brief, .skips_columns = true, .top = 1 };
    AUTO(cardinality_freep) struct cardinality *found = NULL;
    struct buffer out;
    int result = 0;

    if (census_take(context, &config->census, storage_argument(context, 0), &options, &found, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(found, !config->is_brief, &out);
    else if (config->is_brief)
        print_lines(found, &out);
    else
        result = print_table(context, found, &out, err);
    return view_finish(context, &out, result, err);
}

const struct command cmd_types = {
    .name = "types",
    .summary = "List the types of profiles in a store",
    .description = "Prints what was measured by the profiles in the store, sorted, as "
                   "name:type:unit:period_type:period_unit, with "
                   "the number of series that have it and when the first and the last profile of it began.\n\n"
                   "With --brief the range is taken to the day: a type is listed if a matching series has it on a day "
                   "of the range. "
                   "Else profiles count that begin in the range.",
    .config_bytes = sizeof(struct types_config),
    .options = { OPTION_GROUP("Options", types_options), CENSUS_GROUPS(types_config, census) },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to look at, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth types", "All types in ./hearth-data, and since when they are there." },
                  { "hearth types --brief --from 1d", "Those of yesterday and today, quickly." },
                  { "hearth types 'service_name=api' --json", "Those of one service, for scripts." } },
    .run = run,
};
