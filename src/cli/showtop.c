// SPDX-License-Identifier: Apache-2.0
#include "cli/showtop.h"

#include "cli/table.h"
#include "profile/unit.h"

const struct option_spec showtop_options[SHOWTOP_OPTIONS_N] = {
    { "cum", OPTION_BOOL, FIELD(showtop_config, is_by_total), "false",
      "Sort by total (the function and all it calls) instead of self." },
    { "rows", OPTION_UINT, FIELD(showtop_config, rows), "30", "How many functions to show; 0 shows all.",
      .letter = 'n' },
};

static const char *inline_mark(const struct graph *graph, uint32_t function)
{
    if (graph->flags[function] & GRAPH_IS_INLINED)
        return " (inline)";
    return graph->flags[function] & GRAPH_IS_PARTLY_INLINED ? " (partial-inline)" : "";
}

static uint32_t rows_to_show(const struct showtop_config *config, const struct top *top)
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

static int print_text(struct command_context *context, const struct showtop_config *config, const struct view *view,
                      const struct top *top, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = { { "SELF", TABLE_RIGHT },   { "SELF%", TABLE_RIGHT },
                                                   { "SUM%", TABLE_RIGHT },   { "TOTAL", TABLE_RIGHT },
                                                   { "TOTAL%", TABLE_RIGHT }, { "ERROR", TABLE_RIGHT },
                                                   { "FUNCTION", TABLE_LEFT } };
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
    if (n < top->n + top->n_more)
        buffer_printf(out, "%u more functions; -n 0 shows all\n", top->n + top->n_more - n);
    return 0;
}

static void print_json(const struct showtop_config *config, const struct view *view, const struct top *top,
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
    json_uint(&json, top->n + top->n_more);
    json_object_end(&json);
    json_done(&json);
}

enum top_order showtop_order(const struct showtop_config *config)
{
    return config->is_by_total ? TOP_BY_TOTAL : TOP_BY_SELF;
}

int showtop_print(struct command_context *context, const struct showtop_config *config, const struct view *view,
                  const struct top *top, bool is_json, struct buffer *out, struct error *err)
{
    if (!is_json)
        return print_text(context, config, view, top, out, err);
    print_json(config, view, top, out);
    return 0;
}
