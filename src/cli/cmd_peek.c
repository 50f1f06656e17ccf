// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"
#include "flame/top.h"
#include "profile/unit.h"

struct peek_config {
    struct view_config view;
    uint64_t rows;
};

static const struct option_spec peek_options[] = {
    { "rows", OPTION_UINT, FIELD(peek_config, rows), "20",
      "How many callers and callees of each function to show; 0 shows all.", .letter = 'n' },
};

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

static void print_calls(struct table *table, const struct peek_config *config, const struct view *view,
                        const struct graph *graph, const struct calls *calls, uint32_t function)
{
    int64_t total = graph_total(graph, 0, function), rest = 0;
    uint64_t saturated = 0;
    uint32_t shown = config->rows ? (uint32_t)MIN(config->rows, calls->n) : calls->n;

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

static int print_text(struct command_context *context, const struct view *view, const struct graph *graph,
                      const uint32_t *functions, uint32_t n, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "SELF", TABLE_RIGHT }, { "TOTAL", TABLE_RIGHT }, { "SHARE", TABLE_RIGHT }, { "FUNCTION", TABLE_LEFT }
    };
    struct table table;

    view_print_title(view, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t function = functions[i];
        struct calls callers = calls_of(graph, function, true), callees = calls_of(graph, function, false);

        if (i > 0)
            table_row(&table, TABLE_PLAIN);
        print_calls(&table, context->config, view, graph, &callers, function);
        table_row(&table, TABLE_BOLD);
        table_cell(&table, slice_from(unit_format(graph_self(graph, 0, function), view->unit).text));
        table_cell(&table, slice_from(unit_format(graph_total(graph, 0, function), view->unit).text));
        table_printf(&table, "%.2f%%", view_percent(view, graph_total(graph, 0, function)));
        table_cell(&table, graph_name(graph, function));
        print_calls(&table, context->config, view, graph, &callees, function);
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

static void print_json(const struct view *view, const struct graph *graph, const uint32_t *functions, uint32_t n,
                       struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    view_json_title(view, &json);
    json_key(&json, "functions");
    json_array_begin(&json);
    for (uint32_t i = 0; i < n; i++) {
        struct calls callers = calls_of(graph, functions[i], true), callees = calls_of(graph, functions[i], false);

        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, graph_name(graph, functions[i]));
        json_key(&json, "self");
        json_int(&json, graph_self(graph, 0, functions[i]));
        json_key(&json, "total");
        json_int(&json, graph_total(graph, 0, functions[i]));
        json_calls(&json, graph, &callers);
        json_calls(&json, graph, &callees);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static int find(const char *text, struct top *top, struct error *err)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;

    if (pattern_new(slice_from(text), PATTERN_SEARCH, &pattern, err) < 0)
        return error_wrap(err, "the pattern '%s'", text);
    if (pattern_scratch_new(&scratch, err) < 0 ||
        top_match(top->graph, pattern, scratch, top->functions, &top->n, err) < 0)
        return -1;
    if (top->n == 0)
        return error_set(err, ERR_NOT_FOUND, "no function matches '%s'; 'hearth top' lists their names", text);
    return 0;
}

static int show(struct command_context *context, const struct view *view, struct error *err)
{
    const struct peek_config *config = context->config;
    AUTO(top_freep) struct top *top = NULL;
    struct buffer out;
    int result = 0;

    if (top_new(view->profile, &view->type, 1, (enum symbol_granularity)config->view.granularity, TOP_BY_TOTAL, &top,
                err) < 0 ||
        find(context->arguments.items[0], top, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->view.is_json)
        print_json(view, top->graph, top->functions, top->n, &out);
    else
        result = print_text(context, view, top->graph, top->functions, top->n, &out, err);
    input_warn(context, "peek", &top->flame->report);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct peek_config *config = context->config;
    struct option_list files = { context->arguments.items + 1, context->arguments.n - 1 };

    return view_run(context, &config->view, files, show, err);
}

const struct command cmd_peek = {
    .name = "peek",
    .summary = "Show the callers and callees of functions",
    .description = "For each function whose name matches the pattern: who calls it and what it calls, with the value "
                   "that flows through each call as a share of the function's total. A sample in which a call recurs "
                   "counts once.",
    .config_bytes = sizeof(struct peek_config),
    .options = { OPTION_GROUP("Options", peek_options), VIEW_GROUP(peek_config, view),
                 VIEW_FILTER_GROUP(peek_config, view.filter), VIEW_FILTER_LABEL_GROUP(peek_config, view.filter),
                 INPUT_GROUP(peek_config, view.input), INPUT_MERGE_GROUP(peek_config, view.input) },
    .arguments = { { "PATTERN", COMMAND_ARGUMENT_TEXT, 1, 1, "Regular expression that function names must match." },
                   { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged." } },
    .examples = { { "hearth peek 'malloc$' cpu.pb.gz", "Who calls malloc, and what it calls." } },
    .run = run,
};
