// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "cli/census.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"

struct cardinality_config {
    struct census_config census;
    const char *label;
    uint64_t top;
    bool is_exact;
    bool is_json;
};

static const struct option_spec cardinality_cli_options[] = {
    { "label", OPTION_TEXT, FIELD(cardinality_config, label), NULL, "This label alone.", .value_name = "NAME",
      .is_flag_only = true },
    { "top", OPTION_UINT, FIELD(cardinality_config, top), "3",
      "How many values of each label to show, those with the most series.", .min = "1", .max = "100000",
      .is_flag_only = true },
    { "exact", OPTION_BOOL, FIELD(cardinality_config, is_exact), "false",
      "Count the series that have profiles in the range, and not on its days: reads when each of them began.",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(cardinality_config, is_json), "false", "Write JSON." },
};

/* "api (12), web (3), ..." */
static int top_cell(const struct cardinality_label *label, struct table *table, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    for (uint32_t i = 0; i < label->n_top; i++) {
        const struct cardinality_value *value = &label->top[i];

        buffer_append_text(&text, i ? ", " : "");
        table_append_text(&text, value->text);
        buffer_printf(&text, " (%s)", census_count(value->n_series, value->is_column).text);
    }
    if (label->n_values > label->n_top)
        buffer_append_text(&text, ", ...");
    if (buffer_check(&text, err) < 0)
        return -1;
    table_cell(table, buffer_slice(&text));
    return 0;
}

static int print_text(struct command_context *context, const struct cardinality *found, struct buffer *out,
                      struct error *err)
{
    static const struct table_column columns[] = {
        { "VALUES", TABLE_RIGHT }, { "SERIES", TABLE_RIGHT }, { "LABEL", TABLE_LEFT }, { "TOP VALUES", TABLE_LEFT }
    };
    struct table table;

    buffer_printf(out, "%llu series, %u label%s, %u profile type%s\n", (unsigned long long)found->n_series,
                  found->n_labels, found->n_labels == 1 ? "" : "s", found->n_types, found->n_types == 1 ? "" : "s");
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < found->n_labels; i++) {
        const struct cardinality_label *label = &found->labels[i];

        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%llu", (unsigned long long)label->n_values);
        table_printf(&table, "%s", census_count(label->n_series, label->is_column).text);
        table_cell_name(&table, "", label->name, "");
        if (top_cell(label, &table, err) < 0)
            return -1;
    }
    return found->n_labels ? table_print(&table, context->has_colour, out, err) : 0;
}

static void json_label(const struct cardinality_label *label, struct json *json)
{
    json_object_begin(json);
    json_key(json, "name");
    json_string(json, label->name);
    json_key(json, "values");
    json_uint(json, label->n_values);
    json_key(json, "series");
    json_uint(json, label->n_series);
    json_key(json, "of_samples");
    json_bool(json, label->is_column);
    json_key(json, "top");
    json_array_begin(json);
    for (uint32_t i = 0; i < label->n_top; i++) {
        json_object_begin(json);
        json_key(json, "value");
        json_string(json, label->top[i].text);
        json_key(json, "series");
        json_uint(json, label->top[i].n_series);
        json_key(json, "of_samples");
        json_bool(json, label->top[i].is_column);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void print_json(const struct cardinality *found, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "series");
    json_uint(&json, found->n_series);
    json_key(&json, "labels");
    json_array_begin(&json);
    for (uint32_t i = 0; i < found->n_labels; i++)
        json_label(&found->labels[i], &json);
    json_array_end(&json);
    census_json_types(found, false, &json);
    json_object_end(&json);
    json_done(&json);
}

static int run(struct command_context *context, struct error *err)
{
    const struct cardinality_config *config = context->config;
    struct cardinality_options options = { .is_exact = config->is_exact,
                                           .label = slice_from(config->label),
                                           .top = (uint32_t)config->top };
    AUTO(cardinality_freep) struct cardinality *found = NULL;
    struct buffer out;
    int result = 0;

    if (census_take(context, &config->census, storage_argument(context, 0), &options, &found, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(found, &out);
    else
        result = print_text(context, found, &out, err);
    return view_finish(context, &out, result, err);
}

const struct command cmd_cardinality = {
    .name = "cardinality",
    .summary = "Show which labels make how many series in a store",
    .description = "Prints how many series there are and, for each label, how many values it has and how many series "
                   "have it, those "
                   "with the most values first, with the values that most series have. A dash stands for labels of "
                   "single profiles "
                   "or samples, which make no series.\n\n"
                   "Each series costs memory and disk, so a label with very many values is worth a look: one for each "
                   "request, say, "
                   "belongs to samples. 'hearth stats' lists the series that cost most.\n\n"
                   "The range is taken to the day, unless --exact is given.",
    .config_bytes = sizeof(struct cardinality_config),
    .options = { OPTION_GROUP("Options", cardinality_cli_options), CENSUS_GROUPS(cardinality_config, census) },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to count, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth cardinality --from 1d", "Which labels made the series of yesterday and today." },
                  { "hearth cardinality 'service_name=api' --label pod --top 20 --json",
                    "The pods of one service with the most series, for scripts." } },
    .run = run,
};
