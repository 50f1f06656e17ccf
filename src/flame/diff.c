// SPDX-License-Identifier: Apache-2.0
#include "flame/diff.h"

#include "profile/unit.h"

#include <math.h>
#include <stdlib.h>

enum { BEFORE, AFTER };

/* --- one value --- */

static int64_t round_to_i64(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : llround(value);
}

static double share(const struct diff *diff, uint32_t column, int64_t value)
{
    int64_t magnitude = diff->flame->magnitudes[column];

    return magnitude ? (double)value / (double)magnitude : 0;
}

static enum diff_mark mark_of(int64_t before, int64_t after)
{
    if (before == 0)
        return after == 0 ? DIFF_NEITHER : DIFF_NEW;
    return after == 0 ? DIFF_GONE : DIFF_BOTH;
}

/* Value per raw sample of a whole side. */
static double weight(const struct diff *diff, uint32_t column, double samples)
{
    return samples > 0 ? (double)diff->flame->magnitudes[column] / samples : 0;
}

static struct noise_side noise_side_of(const struct diff *diff, uint32_t column, int64_t value, double samples)
{
    double factor = column == AFTER ? diff->factor : 1;
    double all = column == AFTER ? diff->after.samples : diff->before.samples;

    return (struct noise_side){ .value = (double)value * factor,
                                .samples = samples,
                                .weight = weight(diff, column, all) * factor };
}

static struct diff_value compare(const struct diff *diff, int64_t before, int64_t after, double before_samples,
                                 double after_samples)
{
    struct noise_side a = noise_side_of(diff, BEFORE, before, before_samples);
    struct noise_side b = noise_side_of(diff, AFTER, after, after_samples);
    struct diff_value value = { .before = before, .mark = mark_of(before, after) };
    uint64_t saturated = 0;
    double part = 0;

    value.after = diff->factor == 1 ? after : round_to_i64(b.value);
    value.delta = value_subtract(value.after, before, &saturated);
    value.share_before = share(diff, BEFORE, before);
    value.share_after = share(diff, AFTER, after);
    value.has_percent = before != 0;
    if (before != 0)
        value.percent = 100 * (double)value.delta / fabs((double)before);
    if (diff->scaling == DIFF_EQUAL_TOTALS)
        part = fabs(value.share_before + value.share_after) / 2;
    value.error = noise_difference_error(a, b, part);
    value.verdict = noise_compare(a, b, part);
    return value;
}

struct diff_value diff_function_self(const struct diff *diff, uint32_t function)
{
    const struct graph *g = diff->graph;

    return compare(diff, graph_self(g, BEFORE, function), graph_self(g, AFTER, function),
                   graph_self_count(g, BEFORE, function), graph_self_count(g, AFTER, function));
}

struct diff_value diff_function_total(const struct diff *diff, uint32_t function)
{
    const struct graph *g = diff->graph;

    return compare(diff, graph_total(g, BEFORE, function), graph_total(g, AFTER, function),
                   graph_total_count(g, BEFORE, function), graph_total_count(g, AFTER, function));
}

struct diff_value diff_node_self(const struct diff *diff, const struct flame *flame, uint32_t node)
{
    return compare(diff, flame_self(flame, BEFORE, node), flame_self(flame, AFTER, node),
                   flame_self_count(flame, BEFORE, node), flame_self_count(flame, AFTER, node));
}

struct diff_value diff_node_total(const struct diff *diff, const struct flame *flame, uint32_t node)
{
    return compare(diff, flame_total(flame, BEFORE, node), flame_total(flame, AFTER, node),
                   flame_total_count(flame, BEFORE, node), flame_total_count(flame, AFTER, node));
}

/* --- order --- */

struct change {
    uint64_t size;
    uint32_t function;
};

static int compare_changes(const void *left, const void *right, void *context)
{
    const struct change *x = left, *y = right;
    const struct graph *graph = context;
    int by_name;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    by_name = slice_compare(graph_name(graph, x->function), graph_name(graph, y->function));
    return by_name ? by_name : x->function < y->function ? -1 : x->function > y->function;
}

static bool is_on_a_side(const struct graph *graph, uint32_t function)
{
    return graph_total(graph, BEFORE, function) || graph_total(graph, AFTER, function) ||
           graph_self(graph, BEFORE, function) || graph_self(graph, AFTER, function);
}

static int put_in_order(struct diff *diff, enum diff_order order, struct error *err)
{
    struct graph *graph = diff->graph;
    struct change *changes = ARENA_ARRAY(&graph->arena, struct change, graph->n_functions, err);
    uint32_t n = 0;

    diff->functions = changes ? ARENA_ARRAY(&graph->arena, uint32_t, graph->n_functions, err) : NULL;
    if (!diff->functions)
        return -1;
    for (uint32_t f = 0; f < graph->n_functions; f++) {
        struct diff_value value = order == DIFF_BY_SELF ? diff_function_self(diff, f) : diff_function_total(diff, f);

        if (is_on_a_side(graph, f))
            changes[n++] = (struct change){ flame_magnitude(value.delta), f };
    }
    qsort_r(changes, n, sizeof(*changes), compare_changes, graph);
    for (uint32_t i = 0; i < n; i++)
        diff->functions[i] = changes[i].function;
    diff->n_functions = n;
    return 0;
}

/* --- making one --- */

static int choose_factor(struct diff *diff, double unit_factor, struct error *err)
{
    double before = (double)diff->flame->magnitudes[BEFORE], after = (double)diff->flame->magnitudes[AFTER];

    diff->factor = unit_factor;
    switch (diff->scaling) {
    case DIFF_ABSOLUTE: break;
    case DIFF_EQUAL_TOTALS:
        if (before > 0 && after > 0)
            diff->factor = before / after;
        break;
    case DIFF_EQUAL_DURATIONS:
        if (before == 0 || after == 0)
            break; /* a side without profiles has no duration either */
        if (diff->before.duration_ns <= 0 || diff->after.duration_ns <= 0)
            return error_set(err, ERR_INVALID,
                             "the profile %s does not say how long it took, so rates cannot be compared; scale to "
                             "equal totals instead",
                             diff->before.duration_ns <= 0 ? "before" : "after");
        diff->factor = unit_factor * (double)diff->before.duration_ns / (double)diff->after.duration_ns;
        break;
    case DIFF_EQUAL_COUNTS:
        if (diff->before.count > 0 && diff->after.count > 0)
            diff->factor = unit_factor * (double)diff->before.count / (double)diff->after.count;
        break;
    }
    return 0;
}

static struct diff_side side_of(const struct flame *flame, uint32_t column, int64_t duration_ns)
{
    return (struct diff_side){ .total = flame_total(flame, column, 0),
                               .duration_ns = duration_ns,
                               .samples = flame_total_count(flame, column, 0) };
}

static int check_units(struct slice to, struct slice from, double *ret_factor, struct error *err)
{
    int64_t up, down;

    if (!unit_ratio(from, to, &up, &down))
        return error_set(err, ERR_INVALID, "values before are in '%.*s' and after in '%.*s', which do not compare",
                         SLICE_ARG(to), SLICE_ARG(from));
    *ret_factor = (double)up / (double)down;
    return 0;
}

static int compare_sides(struct diff *diff, const struct diff_parts *parts, const struct diff_options *options,
                         struct error *err)
{
    const struct flame *whole = parts->whole ? parts->whole : diff->flame;
    double unit_factor = 1;

    if (check_units(parts->before_unit, parts->after_unit, &unit_factor, err) < 0)
        return -1;
    diff->scaling = options->scaling;
    diff->before = side_of(whole, BEFORE, parts->before_duration_ns);
    diff->after = side_of(whole, AFTER, parts->after_duration_ns);
    diff->before.count = options->counts[0];
    diff->after.count = options->counts[1];
    diff->unit = arena_copy(&diff->graph->arena, parts->before_unit, err);
    if (!diff->unit.ptr || choose_factor(diff, unit_factor, err) < 0)
        return -1;
    return put_in_order(diff, options->order, err);
}

int diff_new_of(const struct diff_parts *parts, const struct diff_options *options, struct diff **ret_diff,
                struct error *err)
{
    AUTO(diff_freep) struct diff *diff = MEMORY_NEW(struct diff, err);

    if (!diff) {
        graph_free(parts->graph);
        flame_free(parts->flame);
        return -1;
    }
    diff->flame = parts->flame;
    diff->graph = parts->graph;
    if (compare_sides(diff, parts, options, err) < 0)
        return -1;
    *ret_diff = TAKE(diff);
    return 0;
}

static struct slice unit_of(const struct profile *profile, uint32_t type)
{
    return tables_string(profile->tables, profile->types[type].unit);
}

static int build_tree(const struct profile *before, uint32_t before_type, const struct profile *after,
                      uint32_t after_type, const struct diff_options *options, struct flame **ret_flame,
                      struct error *err)
{
    struct flame_options tree = { .granularity = options->granularity,
                                  .collapses_recursion = options->collapses_recursion,
                                  .is_ordered_by_all = true,
                                  .max_nodes = options->max_nodes };
    AUTO(flame_builder_freep) struct flame_builder *builder = NULL;

    if (flame_builder_new(&tree, 2, &builder, err) < 0 ||
        flame_builder_add(builder, before, &before_type, 1, BEFORE, err) < 0 ||
        flame_builder_add(builder, after, &after_type, 1, AFTER, err) < 0)
        return -1;
    return flame_builder_finish(builder, ret_flame, err);
}

int diff_new(const struct profile *before, uint32_t before_type, const struct profile *after, uint32_t after_type,
             const struct diff_options *options, struct diff **ret_diff, struct error *err)
{
    static const struct diff_options defaults;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct diff_parts parts = { .before_duration_ns = before->duration_ns, .after_duration_ns = after->duration_ns };
    double unit_factor;

    ASSERT(before_type < before->n_types && after_type < after->n_types);
    if (!options)
        options = &defaults;
    parts.before_unit = unit_of(before, before_type);
    parts.after_unit = unit_of(after, after_type);
    /* First, since a tree takes long. */
    if (check_units(parts.before_unit, parts.after_unit, &unit_factor, err) < 0 ||
        build_tree(before, before_type, after, after_type, options, &flame, err) < 0 ||
        graph_new(flame, BEFORE, &parts.graph, err) < 0)
        return -1;
    parts.flame = TAKE(flame);
    return diff_new_of(&parts, options, ret_diff, err);
}

void diff_free(struct diff *diff)
{
    if (!diff)
        return;
    graph_free(diff->graph);
    flame_free(diff->flame);
    memory_free(diff);
}

void diff_freep(struct diff **diff)
{
    diff_free(*diff);
}

const char *diff_scaling_name(enum diff_scaling scaling)
{
    switch (scaling) {
    case DIFF_ABSOLUTE: return "absolute";
    case DIFF_EQUAL_TOTALS: return "equal totals";
    case DIFF_EQUAL_DURATIONS: return "equal durations";
    case DIFF_EQUAL_COUNTS: return "equal counts";
    }
    return "";
}

const char *diff_mark_name(enum diff_mark mark)
{
    switch (mark) {
    case DIFF_NEW: return "new";
    case DIFF_GONE: return "gone";
    case DIFF_BOTH:
    case DIFF_NEITHER: break;
    }
    return "";
}
