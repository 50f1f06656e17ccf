// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"
#include "flame/top.h"
#include "profile/unit.h"

struct top_config {
    struct view_config view;
    bool is_by_total;
    uint64_t rows;
};

static const struct option_spec top_options[] = {
    { "cum", OPTION_BOOL, FIELD(top_config, is_by_total), "false",
      "Sort by total (the function and all it calls) instead of self." },
    { "rows", OPTION_UINT, FIELD(top_config, rows), "30", "How many functions to show; 0 shows all.", .letter = 'n' },
};

static const char *inline_mark(const struct graph *graph, uint32_t function)
{
    if (graph->flags[function] & GRAPH_IS_INLINED)
        return " (inline)";
    return graph->flags[function] & GRAPH_IS_PARTLY_INLINED ? " (partial-inline)" : "";
}

static uint32_t rows_to_show(const struct top_config *config, const struct top *top)
{
    return config->rows && config->rows < top->n ? (uint32_t)config->rows : top->n;
}

/* The unit in which all values of the table are shown, so that they compare at a glance. */
static struct slice unit_of_table(const struct view *view, const struct top *top, uint32_t n)
{
    uint64_t least = 0, most = flame_magnitude(view->whole);

    for (uint32_t i = 0; i < n; i++) {
        uint64_t total = flame_magnitude(graph_total(top->graph, 0, top->functions[i]));

        if (total && (!least || total < least))
            least = total;
    }
    return unit_choose((int64_t)MIN(least, (uint64_t)INT64_MAX), (int64_t)MIN(most, (uint64_t)INT64_MAX), view->unit);
}

static int print_text(struct command_context *context, const struct view *view, const struct top *top,
                      struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = { { "SELF", TABLE_RIGHT },   { "SELF%", TABLE_RIGHT },
                                                   { "SUM%", TABLE_RIGHT },   { "TOTAL", TABLE_RIGHT },
                                                   { "TOTAL%", TABLE_RIGHT }, { "ERROR", TABLE_RIGHT },
                                                   { "FUNCTION", TABLE_LEFT } };
    const struct top_config *config = context->config;
    uint32_t n = rows_to_show(config, top);
    struct slice unit = unit_of_table(view, top, n);
    uint64_t saturated = 0;
    int64_t sum = 0;
    struct table table;

    view_print_title(view, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t function = top->functions[i];
        int64_t self = graph_self(top->graph, 0, function), total = graph_total(top->graph, 0, function);
        struct slice name = graph_name(top->graph, function);
        double samples = config->is_by_total ? graph_total_count(top->graph, 0, function)
                                             : graph_self_count(top->graph, 0, function);

        sum = value_add(sum, self, &saturated);
        table_row(&table, TABLE_PLAIN);
        table_cell(&table, slice_from(unit_format_in(self, view->unit, unit).text));
        table_printf(&table, "%.2f%%", view_percent(view, self));
        table_printf(&table, "%.2f%%", view_percent(view, sum));
        table_cell(&table, slice_from(unit_format_in(total, view->unit, unit).text));
        table_printf(&table, "%.2f%%", view_percent(view, total));
        table_cell(&table, slice_from(view_format_error(samples).text));
        table_cell_name(&table, "", name, inline_mark(top->graph, function));
    }
    if (table_print(&table, context->has_colour, out, err) < 0)
        return -1;
    if (n < top->n)
        buffer_printf(out, "%u more functions; -n 0 shows all\n", top->n - n);
    return 0;
}

static void print_json(const struct top_config *config, const struct view *view, const struct top *top,
                       struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    view_json_title(view, &json);
    json_key(&json, "functions");
    json_array_begin(&json);
    for (uint32_t i = 0; i < rows_to_show(config, top); i++) {
        uint32_t function = top->functions[i];
        const struct symbol *symbol = graph_symbol(top->graph, function);
        double samples = graph_self_count(top->graph, 0, function);

        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, symbol->text);
        json_key(&json, "file");
        json_string(&json, symbol->file);
        json_key(&json, "line");
        json_uint(&json, symbol->line);
        json_key(&json, "self");
        json_int(&json, graph_self(top->graph, 0, function));
        json_key(&json, "total");
        json_int(&json, graph_total(top->graph, 0, function));
        if (samples >= 0) {
            json_key(&json, "self_samples");
            json_double(&json, samples);
            json_key(&json, "total_samples");
            json_double(&json, graph_total_count(top->graph, 0, function));
        }
        json_key(&json, "inlined");
        json_bool(&json, top->graph->flags[function] & GRAPH_IS_INLINED);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key(&json, "functions_total");
    json_uint(&json, top->n);
    json_object_end(&json);
    json_done(&json);
}

static int show(struct command_context *context, const struct view *view, struct error *err)
{
    const struct top_config *config = context->config;
    AUTO(top_freep) struct top *top = NULL;
    struct buffer out;
    int result = 0;

    if (top_new(view->profile, &view->type, 1, (enum symbol_granularity)config->view.granularity,
                config->is_by_total ? TOP_BY_TOTAL : TOP_BY_SELF, &top, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->view.is_json)
        print_json(config, view, top, &out);
    else
        result = print_text(context, view, top, &out, err);
    input_warn(context, "top", &top->flame->report);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct top_config *config = context->config;

    return view_run(context, &config->view, context->arguments, show, err);
}

const struct command cmd_top = {
    .name = "top",
    .summary = "Show the functions that cost most",
    .description =
        "Lists functions by what was spent in them. SELF is what the function itself cost, TOTAL includes all it "
        "called (recursion is counted once), SUM% adds up SELF% from the top. ERROR is the sampling error of the value "
        "sorted by, as one standard deviation: a value of 16 samples is only known to a quarter.\n\n"
        "Self and total are those that pprof calls flat and cum.",
    .config_bytes = sizeof(struct top_config),
    .options = { OPTION_GROUP("Options", top_options), VIEW_GROUP(top_config, view),
                 VIEW_FILTER_GROUP(top_config, view.filter), INPUT_GROUP(top_config, view.input),
                 INPUT_MERGE_GROUP(top_config, view.input) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged." } },
    .examples = { { "hearth top cpu.pb.gz", "The thirty most expensive functions." },
                  { "hearth top --cum -n 10 --focus 'json\\.' cpu.pb.gz",
                    "The ten largest by total, in samples that pass through JSON code." },
                  { "hearth top --type alloc_space heap.pb.gz",
                    "What allocated most, of the four types of a Go heap." } },
    .run = run,
};
