// SPDX-License-Identifier: Apache-2.0
#include "cli/showpeek.h"

#include "cli/table.h"
#include "profile/unit.h"

/* Calls into or out of one function, with what to print of them. */
struct calls {
    const uint32_t *ids;
    uint32_t n;
    bool is_callers;
};

static struct calls calls_of(const struct graph *graph, uint32_t function, bool is_callers)
{
    const uint32_t *starts = is_callers ? graph->caller_starts : graph->callee_starts;
    const uint32_t *ids = is_callers ? graph->callers : graph->callees;

    return (struct calls){ ids + starts[function], starts[function + 1] - starts[function], is_callers };
}

static uint32_t other_end(const struct graph *graph, const struct calls *calls, uint32_t i)
{
    const struct graph_call *call = &graph->calls[calls->ids[i]];

    return calls->is_callers ? call->caller : call->callee;
}

/* Share of a part in a whole, as percent. */
static double percent(int64_t part, int64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_calls(struct table *table, uint64_t rows, const struct view *view, const struct graph *graph,
                        const struct calls *calls, uint32_t function)
{
    int64_t total = graph_total(graph, 0, function), rest = 0;
    uint64_t saturated = 0;
    uint32_t shown = rows ? (uint32_t)MIN(rows, calls->n) : calls->n;

    for (uint32_t i = 0; i < calls->n; i++) {
        int64_t value = graph_call_value(graph, 0, calls->ids[i]);
        struct slice name = graph_name(graph, other_end(graph, calls, i));

        if (i >= shown) {
            rest = value_add(rest, value, &saturated);
            continue;
        }
        table_row(table, TABLE_PLAIN);
        table_cell(table, SLICE(""));
        table_cell(table, slice_from(unit_format(value, view->unit).text));
        table_printf(table, "%.2f%%", percent(value, total));
        table_cell_name(table, calls->is_callers ? "  from " : "  to ", name,
                        graph->calls[calls->ids[i]].flags & GRAPH_IS_INLINED ? " (inline)" : "");
    }
    if (shown < calls->n) {
        table_row(table, TABLE_DIM);
        table_cell(table, SLICE(""));
        table_cell(table, slice_from(unit_format(rest, view->unit).text));
        table_printf(table, "%.2f%%", percent(rest, total));
        table_printf(table, "  %s %u others", calls->is_callers ? "from" : "to", calls->n - shown);
    }
}

static int print_text(struct command_context *context, uint64_t rows, const struct view *view, const struct top *top,
                      struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "SELF", TABLE_RIGHT }, { "TOTAL", TABLE_RIGHT }, { "SHARE", TABLE_RIGHT }, { "FUNCTION", TABLE_LEFT }
    };
    const struct graph *graph = top->graph;
    struct table table;

    view_print_title(view, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < top->n; i++) {
        uint32_t function = top->functions[i];
        struct calls callers = calls_of(graph, function, true), callees = calls_of(graph, function, false);

        if (i > 0)
            table_row(&table, TABLE_PLAIN);
        print_calls(&table, rows, view, graph, &callers, function);
        table_row(&table, TABLE_BOLD);
        table_cell(&table, slice_from(unit_format(graph_self(graph, 0, function), view->unit).text));
        table_cell(&table, slice_from(unit_format(graph_total(graph, 0, function), view->unit).text));
        table_printf(&table, "%.2f%%", view_percent(view, graph_total(graph, 0, function)));
        table_cell(&table, graph_name(graph, function));
        print_calls(&table, rows, view, graph, &callees, function);
    }
    return table_print(&table, context->has_colour, out, err);
}

static void json_calls(struct json *json, const struct graph *graph, const struct calls *calls)
{
    json_key(json, calls->is_callers ? "callers" : "callees");
    json_array_begin(json);
    for (uint32_t i = 0; i < calls->n; i++) {
        json_object_begin(json);
        json_key(json, "name");
        json_string(json, graph_name(graph, other_end(graph, calls, i)));
        json_key(json, "value");
        json_int(json, graph_call_value(graph, 0, calls->ids[i]));
        json_key(json, "inlined");
        json_bool(json, graph->calls[calls->ids[i]].flags & GRAPH_IS_INLINED);
        json_object_end(json);
    }
    json_array_end(json);
}

static void print_json(const struct view *view, const struct top *top, struct buffer *out)
{
    const struct graph *graph = top->graph;
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    view_json_title(view, &json);
    json_key(&json, "functions");
    json_array_begin(&json);
    for (uint32_t i = 0; i < top->n; i++) {
        uint32_t function = top->functions[i];
        struct calls callers = calls_of(graph, function, true), callees = calls_of(graph, function, false);

        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, graph_name(graph, function));
        json_key(&json, "self");
        json_int(&json, graph_self(graph, 0, function));
        json_key(&json, "total");
        json_int(&json, graph_total(graph, 0, function));
        json_calls(&json, graph, &callers);
        json_calls(&json, graph, &callees);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

int showpeek_pattern(const char *what, const char *text, struct pattern **ret_pattern, struct error *err)
{
    if (pattern_new(slice_from(text), PATTERN_SEARCH, ret_pattern, err) == 0)
        return 0;
    if (err->code == ERR_INVALID)
        err->code = ERR_USAGE;
    return error_wrap(err, "%s", what);
}

int showpeek_print(struct command_context *context, const char *pattern, uint64_t rows, const struct view *view,
                   const struct top *top, bool is_json, struct buffer *out, struct error *err)
{
    /* Where there are no profiles, that was told already. */
    if (top->n == 0 && (view->n_profiles > 0 || !is_json))
        return error_set(err, ERR_NOT_FOUND, "no function matches '%s'; 'hearth %s' lists their names", pattern,
                         view->query.text.len ? "query" : "top");
    if (!is_json)
        return print_text(context, rows, view, top, out, err);
    print_json(view, top, out);
    return 0;
}
