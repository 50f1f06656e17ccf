// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "cli/census.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdlib.h>

struct values_config {
    struct census_config census;
    bool has_counts;
    bool is_json;
};

static const struct option_spec values_options[] = {
    { "counts", OPTION_BOOL, FIELD(values_config, has_counts), "false",
      "With the number of series that have each value, those with the most first.", .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(values_config, is_json), "false", "Write JSON." },
};

static int by_text(const void *left, const void *right)
{
    const struct cardinality_value *a = left, *b = right;

    return slice_compare(a->text, b->text);
}

static void print_lines(const struct cardinality_label *label, struct buffer *out)
{
    for (uint32_t i = 0; i < label->n_top; i++) {
        table_append_text(out, label->top[i].text);
        buffer_append_byte(out, '\n');
    }
}

static int print_counts(struct command_context *context, const struct cardinality_label *label, struct buffer *out,
                        struct error *err)
{
    static const struct table_column columns[] = { { "SERIES", TABLE_RIGHT }, { "VALUE", TABLE_LEFT } };
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < label->n_top; i++) {
        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%s", census_count(label->top[i].n_series, label->top[i].is_column).text);
        table_cell_name(&table, "", label->top[i].text, "");
    }
    return label->n_top ? table_print(&table, context->has_colour, out, err) : 0;
}

static void print_json(const struct cardinality_label *label, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "values");
    json_array_begin(&json);
    for (uint32_t i = 0; i < label->n_top; i++) {
        json_object_begin(&json);
        json_key(&json, "value");
        json_string(&json, label->top[i].text);
        json_key(&json, "series");
        json_uint(&json, label->top[i].n_series);
        json_key(&json, "of_samples");
        json_bool(&json, label->top[i].is_column);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static int run(struct command_context *context, struct error *err)
{
    const struct values_config *config = context->config;
    struct cardinality_options options = { .label = slice_from(storage_argument(context, 0)),
                                           .top = CARDINALITY_MAX_TOP };
    AUTO(cardinality_freep) struct cardinality *found = NULL;
    struct cardinality_label none = { 0 }, *label;
    struct buffer out;
    int result = 0;

    if (options.label.len == 0)
        return error_set(err, ERR_USAGE, "the name of the label is empty; 'hearth labels' lists them");
    if (census_take(context, &config->census, storage_argument(context, 1), &options, &found, err) < 0)
        return -1;
    label = found->n_labels ? &found->labels[0] : &none;
    if (!config->has_counts && label->n_top)
        qsort(label->top, label->n_top, sizeof(*label->top), by_text);
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(label, &out);
    else if (config->has_counts)
        result = print_counts(context, label, &out, err);
    else
        print_lines(label, &out);
    return view_finish(context, &out, result, err);
}

const struct command cmd_label_values = {
    .name = "label-values",
    .summary = "List the values of a label in a store",
    .description =
        "Prints all values that a label has in the store, sorted, one on a line; nothing if no profile has "
        "the label. In names a dot is an underscore: service.name is service_name.\n\n"
        "With --counts the number of series that have a value stands before it, or a dash where it is a label of "
        "single "
        "profiles or samples alone. In JSON it is always there.\n\n"
        "The range is taken to the day: a value is listed if a matching series has it on a day of the range.",
    .config_bytes = sizeof(struct values_config),
    .options = { OPTION_GROUP("Options", values_options), CENSUS_GROUPS(values_config, census) },
    .arguments = { { "NAME", COMMAND_ARGUMENT_TEXT, 1, 1, "Name of the label; 'hearth labels' lists them." },
                   { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to look at, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth label-values service_name", "All services in ./hearth-data." },
                  { "hearth label-values service_name --counts", "Which of them have the most series." },
                  { "hearth label-values zone 'service_name=~\"api.*\"' --from 2026-11-01",
                    "Where some services ran since the first of November." } },
    .run = run,
};
