// SPDX-License-Identifier: Apache-2.0
#include "answer/dot.h"

#include "base/units.h"
#include "flame/top.h"
#include "profile/unit.h"

#include <math.h>

#define FONT_MIN   8.0 /* points */
#define FONT_RANGE 16.0
#define PEN_RANGE  4.0
#define WEIGHT_MAX 100.0

struct drawing {
    const struct graph *graph;
    const struct dot_options *options;
    struct buffer *out;
    uint32_t *numbers; /* [function] from 1 in the order shown; 0 = not shown */
};

/* --- texts --- */

/* Within quotes. Control characters stand for nothing in a label. */
static void put_escaped(struct buffer *out, struct slice text)
{
    while (text.len > 0) {
        size_t len = slice_utf8_len(text);

        if (len == 0) {
            buffer_append_text(out, "\xef\xbf\xbd");
            len = 1;
        } else if (text.ptr[0] == '"' || text.ptr[0] == '\\') {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, text.ptr[0]);
        } else if ((unsigned char)text.ptr[0] < ' ' || text.ptr[0] == 0x7f) {
            buffer_append_byte(out, ' ');
        } else {
            buffer_append(out, text.ptr, len);
        }
        text = slice_sub(text, len, SIZE_MAX);
    }
}

static double share(const struct drawing *d, int64_t value)
{
    int64_t whole = d->graph->flame->magnitudes[d->options->column];

    return whole > 0 ? (double)flame_magnitude(value) / (double)whole : 0;
}

static struct unit_text value_text(const struct drawing *d, int64_t value)
{
    return unit_format(value, d->options->unit);
}

/* --- boxes and arrows --- */

/* A scale from grey, for nothing, to red, for everything. */
struct scale {
    unsigned grey; /* of each colour */
    double fading; /* how much of green and blue is taken away for everything */
};
static const struct scale line_scale = { 0xb2, 0xb2 }, fill_scale = { 0xed, 0x18 };

static void put_colour(const struct drawing *d, const char *name, struct scale scale, double part)
{
    unsigned faded = scale.grey - (unsigned)lround(scale.fading * sqrt(MIN(part, 1.0)));

    buffer_printf(d->out, " %s=\"#%02x%02x%02x\"", name, scale.grey, faded, faded);
}

static void put_function(const struct drawing *d, uint32_t function)
{
    int64_t self = graph_self(d->graph, d->options->column, function);
    int64_t total = graph_total(d->graph, d->options->column, function);
    struct slice name = graph_name(d->graph, function);
    struct unit_text total_text = value_text(d, total);
    uint32_t number = d->numbers[function];

    buffer_printf(d->out, "N%u [label=\"", number);
    put_escaped(d->out, name);
    buffer_printf(d->out, "\\n%s (%s)", value_text(d, self).text, units_human_percent(share(d, self)).text);
    if (total != self)
        buffer_printf(d->out, "\\nof %s (%s)", total_text.text, units_human_percent(share(d, total)).text);
    buffer_printf(d->out, "\" id=\"node%u\" fontsize=%u shape=box tooltip=\"", number,
                  (unsigned)lround(FONT_MIN + FONT_RANGE * sqrt(MIN(share(d, self), 1.0))));
    put_escaped(d->out, name);
    buffer_printf(d->out, " (%s)\"", total_text.text);
    put_colour(d, "color", line_scale, share(d, total));
    put_colour(d, "fillcolor", fill_scale, share(d, total));
    buffer_append_text(d->out, "]\n");
}

static void put_call(const struct drawing *d, uint32_t call)
{
    const struct graph_call *c = &d->graph->calls[call];
    int64_t value = graph_call_value(d->graph, d->options->column, call);
    double part = MIN(share(d, value), 1.0);
    struct unit_text text = value_text(d, value);

    buffer_printf(d->out, "N%u -> N%u [label=\" %s%s\" weight=%u penwidth=%u tooltip=\"", d->numbers[c->caller],
                  d->numbers[c->callee], text.text, c->flags & GRAPH_IS_INLINED ? "\\n (inline)" : "",
                  1 + (unsigned)(WEIGHT_MAX * part), 1 + (unsigned)(PEN_RANGE * part));
    put_escaped(d->out, graph_name(d->graph, c->caller));
    buffer_append_text(d->out, " -> ");
    put_escaped(d->out, graph_name(d->graph, c->callee));
    buffer_printf(d->out, " (%s)\"", text.text);
    put_colour(d, "color", line_scale, part);
    buffer_append_text(d->out, "]\n");
}

static void put_calls(const struct drawing *d, uint32_t caller)
{
    const struct graph *g = d->graph;

    for (uint32_t i = g->callee_starts[caller]; i < g->callee_starts[caller + 1]; i++)
        if (d->numbers[g->calls[g->callees[i]].callee] && graph_call_value(g, d->options->column, g->callees[i]) != 0)
            put_call(d, g->callees[i]);
}

/* --- the whole --- */

static void put_title(const struct drawing *d, uint32_t n_shown, uint32_t n_functions)
{
    int64_t whole = flame_total(d->graph->flame, d->options->column, 0);

    buffer_append_text(d->out, "digraph \"");
    put_escaped(d->out, d->options->title);
    buffer_append_text(d->out, "\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\nsubgraph cluster_L { \"");
    put_escaped(d->out, d->options->title);
    buffer_append_text(d->out, "\" [shape=box fontsize=16 label=\"");
    put_escaped(d->out, d->options->title);
    buffer_printf(d->out, "\\lTotal: %s\\lShowing %u of %u functions\\l\"] }\n", value_text(d, whole).text, n_shown,
                  n_functions);
}

static int write_with(const struct graph *graph, const struct dot_options *options, struct arena *arena,
                      struct buffer *out, struct error *err)
{
    struct drawing d = { graph, options, out, NULL };
    uint32_t *functions, n_functions, n;

    d.numbers = arena_alloc_zero(arena, (size_t)graph->n_functions * sizeof(uint32_t), err);
    if (!d.numbers || top_sort(graph, TOP_BY_TOTAL, options->column, arena, &functions, &n_functions, err) < 0)
        return -1;
    if (n_functions == 0)
        return 0;
    n = MIN(n_functions, options->max_nodes ? options->max_nodes : DOT_MAX_NODES);
    for (uint32_t i = 0; i < n; i++)
        d.numbers[functions[i]] = i + 1;
    put_title(&d, n, n_functions);
    for (uint32_t i = 0; i < n; i++)
        put_function(&d, functions[i]);
    for (uint32_t i = 0; i < n; i++)
        put_calls(&d, functions[i]);
    buffer_append_text(out, "}\n");
    return buffer_check(out, err);
}

int dot_write(const struct graph *graph, const struct dot_options *options, struct buffer *out, struct error *err)
{
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = write_with(graph, options, &arena, out, err);
    arena_done(&arena);
    return result;
}

int dot_write_flame(const struct flame *flame, const struct dot_options *options, struct buffer *out, struct error *err)
{
    AUTO(graph_freep) struct graph *graph = NULL;

    if (graph_new(flame, options->column, &graph, err) < 0)
        return -1;
    return dot_write(graph, options, out, err);
}
