// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/storagesignals.h"
#include "cli/table.h"

struct operations_config {
    struct ask_config ask;
    const char *service;
    const char *from, *until;
    bool is_json;
};

static const struct option_spec operations_options[] = {
    { "service", OPTION_TEXT, FIELD(operations_config, service), NULL, "Operations of this service alone.",
      .value_name = "NAME", .is_flag_only = true },
    { "from", OPTION_TEXT, FIELD(operations_config, from), NULL,
      "Spans that started at this time or later; an hour before --until unless given. " STORAGE_TIME_HELP,
      .value_name = "TIME", .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(operations_config, until), NULL,
      "Spans that started before this time; now unless given. Written as --from.", .value_name = "TIME",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(operations_config, is_json), "false", "Write JSON." },
};

static void put_number(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_int(json, value);
}

static void print_json(const struct tracestore_operations *found, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "operations");
    json_array_begin(&json);
    for (size_t i = 0; i < found->n; i++) {
        const struct tracestore_operation *operation = &found->items[i];

        json_object_begin(&json);
        json_key(&json, "service");
        json_string(&json, operation->service);
        json_key(&json, "operation");
        json_string(&json, operation->name);
        json_key(&json, "n_spans");
        json_uint(&json, operation->n_spans);
        json_key(&json, "n_errors");
        json_uint(&json, operation->n_errors);
        put_number(&json, "total_ns", operation->total_ns);
        put_number(&json, "p50_ns", operation->p50_ns);
        put_number(&json, "p95_ns", operation->p95_ns);
        put_number(&json, "p99_ns", operation->p99_ns);
        put_number(&json, "max_ns", operation->max_ns);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key(&json, "is_cut");
    json_bool(&json, found->is_cut);
    json_object_end(&json);
    json_done(&json);
}

static void duration_cell(struct table *table, int64_t ns)
{
    table_cell(table, slice_from(units_human_ns(ns).text));
}

static int print_table(struct command_context *context, const struct tracestore_operations *found, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = { { "SERVICE", TABLE_LEFT },  { "SPANS", TABLE_RIGHT },
                                                   { "ERRORS", TABLE_RIGHT },  { "P50", TABLE_RIGHT },
                                                   { "P95", TABLE_RIGHT },     { "P99", TABLE_RIGHT },
                                                   { "MAX", TABLE_RIGHT },     { "TOTAL", TABLE_RIGHT },
                                                   { "OPERATION", TABLE_LEFT } };
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < found->n; i++) {
        const struct tracestore_operation *operation = &found->items[i];

        table_row(&table, TABLE_PLAIN);
        table_cell_name(&table, "", operation->service, "");
        table_printf(&table, "%llu", (unsigned long long)operation->n_spans);
        table_printf(&table, "%llu", (unsigned long long)operation->n_errors);
        duration_cell(&table, operation->p50_ns);
        duration_cell(&table, operation->p95_ns);
        duration_cell(&table, operation->p99_ns);
        duration_cell(&table, operation->max_ns);
        duration_cell(&table, operation->total_ns);
        table_cell_name(&table, "", operation->name, "");
    }
    return table_print(&table, context->has_colour, out, err);
}

static int print(struct command_context *context, const struct tracestore_operations *found, struct error *err)
{
    const struct operations_config *config = context->config;
    struct buffer out;
    int result = 0;

    if (found->is_cut)
        command_warn(context, "there are more than %u operations; --service shows those of one service",
                     TRACESTORE_MAX_OPERATIONS);
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(found, &out);
    else if (found->n > 0)
        result = print_table(context, found, &out, err);
    else
        command_note(context, "no spans started in this time; --from and --until ask for another");
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct operations_config *config = context->config;
    AUTO(storagesignals_end_traces) struct storagesignals_traces use = { 0 };
    struct tracestore_filter filter = { .service = slice_from(config->service) };
    struct tracestore_operations found;

    if (storage_check_tenant(config->ask.tenant, err) < 0 ||
        storage_parse_range(config->from, config->until, clock_now_ns(), &filter.from_ns, &filter.until_ns, err) < 0 ||
        ask_use_traces(context, &config->ask, &use, err) < 0 ||
        tracestore_list_operations(use.store, slice_from(config->ask.tenant), &filter, &use.asker, context->arena,
                                   &found, err) < 0)
        return -1;
    return print(context, &found, err);
}

const struct command cmd_operations = {
    .name = "operations",
    .summary = "List the operations that services did, and how long they took",
    .description =
        "Prints each operation that has spans in a range of time, the last hour unless given: how many spans, how many "
        "of "
        "them failed, how long they took (the median, the 95th and the 99th percentile, the longest), and all "
        "together. "
        "Percentiles are within a few percent. Those of a service stand together, what took most time first.",
    .config_bytes = sizeof(struct operations_config),
    .options = { OPTION_GROUP("Options", operations_options), ASK_PLAIN_GROUPS(operations_config, ask) },
    .examples = { { "hearth operations --service checkout", "What a service did in the last hour." },
                  { "hearth operations --from now-1d --json", "All operations of a day, for programs." } },
    .run = run,
};
