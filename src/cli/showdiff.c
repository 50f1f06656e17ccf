// SPDX-License-Identifier: Apache-2.0
#include "cli/showdiff.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/table.h"
#include "flame/flamebytes.h"
#include "flame/trim.h"
#include "profile/unit.h"

#include <math.h>

static const char *const scaling_words[] = {
    [DIFF_ABSOLUTE] = "none", [DIFF_EQUAL_TOTALS] = "totals", [DIFF_EQUAL_DURATIONS] = "durations", NULL
};

const struct option_spec showdiff_options[SHOWDIFF_OPTIONS_N] = {
    { "scale", OPTION_ENUM, FIELD(showdiff_config, scaling), "none",
      "Scale B before comparing: not at all, to equal totals (compares shares), or to equal durations (compares "
      "rates).",
      .words = scaling_words },
    { "cum", OPTION_BOOL, FIELD(showdiff_config, is_by_total), "false",
      "Sort by the change of total instead of self." },
    { "significant", OPTION_BOOL, FIELD(showdiff_config, is_significant_only), "false",
      "Leave out changes that are within the sampling noise." },
    { "threshold", OPTION_PERCENT, FIELD(showdiff_config, threshold), "0%",
      "Leave out changes of less than this part of what the function cost before; new and gone ones stay.",
      .max = "100000%" },
    { "rows", OPTION_UINT, FIELD(showdiff_config, rows), "30", "How many functions to show; 0 shows all.",
      .letter = 'n' },
};

/* One row of the answer: a function with both its values. */
struct row {
    struct slice name;
    struct diff_value self, total;
};

static const struct diff_value *sorted_by(const struct showdiff_config *config, const struct row *row)
{
    return config->is_by_total ? &row->total : &row->self;
}

/* Whether the change is none of those that the options leave out. */
static bool is_wanted(const struct showdiff_config *config, const struct diff_value *value)
{
    if (config->is_significant_only && (value->verdict != NOISE_SIGNIFICANT || value->delta == 0))
        return false;
    if (config->threshold > 0 && value->has_percent && fabs(value->percent) < 100 * config->threshold)
        return false;
    return config->threshold <= 0 || value->delta != 0;
}

/* The rows that are to be shown, in order. */
static int choose_rows(struct command_context *context, const struct showdiff_config *config, const struct diff *diff,
                       struct row **ret_rows, uint32_t *ret_n, uint32_t *ret_more, struct error *err)
{
    struct row *rows = ARENA_ARRAY(context->arena, struct row, diff->n_functions, err);
    uint32_t n = 0, more = 0;

    if (!rows)
        return -1;
    for (uint32_t i = 0; i < diff->n_functions; i++) {
        struct row row = { .name = graph_name(diff->graph, diff->functions[i]),
                           .self = diff_function_self(diff, diff->functions[i]),
                           .total = diff_function_total(diff, diff->functions[i]) };

        if (row.self.delta == 0 && row.total.delta == 0)
            continue;
        if (!is_wanted(config, sorted_by(config, &row)))
            continue;
        if (config->rows && n >= config->rows)
            more++;
        else
            rows[n++] = row;
    }
    *ret_rows = rows;
    *ret_n = n;
    *ret_more = more;
    return 0;
}

/* --- text --- */

static void print_query(const struct view *view, struct buffer *out)
{
    enum clock_zone zone = view->is_local ? CLOCK_ZONE_LOCAL : CLOCK_ZONE_UTC;
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    buffer_printf(out, ", %llu profile%s of ", (unsigned long long)view->n_profiles, view->n_profiles == 1 ? "" : "s");
    table_append_text(out, view->query.text);
    buffer_printf(out, ", %s to %s", clock_format(view->query.from_ns, zone, 0, from),
                  clock_format(view->query.until_ns, zone, 0, until));
}

static void print_side(const char *title, const struct view *view, const struct diff_side *side, struct buffer *out)
{
    buffer_printf(out, "%s  %s", title, unit_format(side->total, view->unit).text);
    if (side->duration_ns)
        buffer_printf(out, " in %s", unit_format(side->duration_ns, SLICE("nanoseconds")).text);
    if (side->samples >= 0)
        buffer_printf(out, ", %.0f samples", side->samples);
    if (side->count > 0)
        buffer_printf(out, ", %llu span%s", (unsigned long long)side->count, side->count == 1 ? "" : "s");
    if (view->query.text.len > 0)
        print_query(view, out);
    buffer_append_byte(out, '\n');
}

static void print_title(const struct showdiff_config *config, const struct view views[2], const struct diff *diff,
                        struct buffer *out)
{
    double a = fabs((double)diff->before.total), b = fabs((double)diff->after.total * diff->factor);

    table_append_text(out, views[0].type_name);
    buffer_append_byte(out, '/');
    table_append_text(out, views[0].unit);
    buffer_append_byte(out, '\n');
    print_side("before", &views[0], &diff->before, out);
    print_side("after ", &views[1], &diff->after, out);
    if (!slice_equal(views[0].unit, views[1].unit)) {
        buffer_append_text(out, "after is in ");
        table_append_text(out, views[1].unit);
        buffer_append_text(out, ", shown in the unit of before\n");
    }
    if (diff->scaling != DIFF_ABSOLUTE)
        buffer_printf(out, "after is multiplied by %.4g (%s)\n", diff->factor, diff_scaling_name(diff->scaling));
    else if (config->scaling == DIFF_ABSOLUTE && a > 0 && b > 0 && MAX(a, b) > 1.2 * MIN(a, b))
        buffer_append_text(out, "the totals differ: --scale totals compares shares, --scale durations rates\n");
}

/* "+12.3%", "new", "gone". */
static void percent_cell(struct table *table, const struct diff_value *value)
{
    if (value->mark == DIFF_NEW || value->mark == DIFF_GONE)
        table_cell(table, slice_from(diff_mark_name(value->mark)));
    else if (value->has_percent)
        table_printf(table, "%+.1f%%", value->percent);
    else
        table_cell(table, SLICE(""));
}

static void delta_cell(struct table *table, const struct diff_value *value, const struct diff *diff, struct slice unit)
{
    table_printf(table, "%s%s", value->delta > 0 ? "+" : "", unit_format_in(value->delta, diff->unit, unit).text);
}

static void error_cell(struct table *table, const struct diff_value *value, const struct diff *diff, struct slice unit)
{
    if (value->error >= 0 && value->error < 9e18)
        table_printf(table, "\302\261%s", unit_format_in((int64_t)llround(value->error), diff->unit, unit).text);
    else
        table_cell(table, SLICE(""));
}

static enum table_colour colour_of(const struct diff_value *value)
{
    if (value->verdict == NOISE_WITHIN)
        return TABLE_DIM;
    if (value->verdict == NOISE_UNKNOWN || value->delta == 0)
        return TABLE_PLAIN;
    return value->delta > 0 ? TABLE_RED : TABLE_GREEN;
}

static const char *verdict_text(const struct diff_value *value)
{
    if (value->delta == 0)
        return "";
    switch (value->verdict) {
    case NOISE_WITHIN: return "noise";
    case NOISE_SIGNIFICANT: return value->delta > 0 ? "grew" : "shrank";
    case NOISE_UNKNOWN: break;
    }
    return "?";
}

/* One unit for the whole table, fit for its smallest and largest change. */
static struct slice unit_of_table(const struct diff *diff, const struct row *rows, uint32_t n)
{
    uint64_t least = 0, most = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t delta = MAX(flame_magnitude(rows[i].self.delta), flame_magnitude(rows[i].total.delta));

        most = MAX(most, delta);
        if (delta && (!least || delta < least))
            least = delta;
    }
    return unit_choose((int64_t)MIN(least, (uint64_t)INT64_MAX), (int64_t)MIN(most, (uint64_t)INT64_MAX), diff->unit);
}

static void print_nothing(const struct showdiff_config *config, struct buffer *out)
{
    buffer_append_text(out, "nothing changed");
    if (config->threshold > 0)
        buffer_printf(out, " by %s or more", units_human_percent(config->threshold).text);
    buffer_append_text(out, config->is_significant_only ? " beyond the sampling noise\n" : "\n");
}

static int print_text(struct command_context *context, const struct showdiff_config *config, const struct view views[2],
                      const struct diff *diff, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "SELF BEFORE", TABLE_RIGHT }, { "AFTER", TABLE_RIGHT },  { "CHANGE", TABLE_RIGHT },  { "ERROR", TABLE_RIGHT },
        { "%", TABLE_RIGHT },           { "TOTAL", TABLE_RIGHT },  { "CHANGE", TABLE_RIGHT },  { "ERROR", TABLE_RIGHT },
        { "%", TABLE_RIGHT },           { "VERDICT", TABLE_LEFT }, { "FUNCTION", TABLE_LEFT },
    };
    uint32_t n, more;
    struct row *rows;
    struct table table;
    struct slice unit;

    if (choose_rows(context, config, diff, &rows, &n, &more, err) < 0)
        return -1;
    print_title(config, views, diff, out);
    if (n == 0) {
        print_nothing(config, out);
        return 0;
    }
    unit = unit_of_table(diff, rows, n);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < n; i++) {
        const struct row *row = &rows[i];

        table_row(&table, colour_of(sorted_by(config, row)));
        table_cell(&table, slice_from(unit_format_in(row->self.before, diff->unit, unit).text));
        table_cell(&table, slice_from(unit_format_in(row->self.after, diff->unit, unit).text));
        delta_cell(&table, &row->self, diff, unit);
        error_cell(&table, &row->self, diff, unit);
        percent_cell(&table, &row->self);
        table_cell(&table, slice_from(unit_format_in(row->total.after, diff->unit, unit).text));
        delta_cell(&table, &row->total, diff, unit);
        error_cell(&table, &row->total, diff, unit);
        percent_cell(&table, &row->total);
        table_cell(&table, slice_from(verdict_text(sorted_by(config, row))));
        table_cell(&table, row->name);
    }
    if (table_print(&table, context->has_colour, out, err) < 0)
        return -1;
    if (more)
        buffer_printf(out, "%u more changed; -n 0 shows all\n", more);
    return 0;
}

/* --- JSON --- */

static void json_value(struct json *json, const char *name, const struct diff_value *value)
{
    json_key(json, name);
    json_object_begin(json);
    json_key(json, "before");
    json_int(json, value->before);
    json_key(json, "after");
    json_int(json, value->after);
    json_key(json, "delta");
    json_int(json, value->delta);
    json_key(json, "share_before");
    json_double(json, value->share_before);
    json_key(json, "share_after");
    json_double(json, value->share_after);
    json_key(json, "percent");
    if (value->has_percent)
        json_double(json, value->percent);
    else
        json_null(json);
    json_key(json, "error");
    if (value->error >= 0)
        json_double(json, value->error);
    else
        json_null(json);
    json_key(json, "mark");
    json_text(json, diff_mark_name(value->mark));
    json_key(json, "verdict");
    json_text(json, noise_verdict_name(value->verdict));
    json_object_end(json);
}

static void json_side(struct json *json, const char *name, const struct view *view, const struct diff_side *side)
{
    json_key(json, name);
    json_object_begin(json);
    if (view->query.text.len > 0) {
        view_json_query(&view->query, json);
        json_key(json, "profiles");
        json_uint(json, view->n_profiles);
    }
    json_key(json, "total");
    json_int(json, side->total);
    json_key(json, "duration_ns");
    json_int(json, side->duration_ns);
    json_key(json, "samples");
    if (side->samples >= 0)
        json_double(json, side->samples);
    else
        json_null(json);
    if (side->count > 0) {
        json_key(json, "spans");
        json_uint(json, side->count);
    }
    json_object_end(json);
}

static int print_json(struct command_context *context, const struct showdiff_config *config, const struct view views[2],
                      const struct diff *diff, struct buffer *out, struct error *err)
{
    struct row *rows;
    uint32_t n, more;
    struct json json;

    if (choose_rows(context, config, diff, &rows, &n, &more, err) < 0)
        return -1;
    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "type");
    json_string(&json, views[0].type_name);
    json_key(&json, "unit");
    json_string(&json, diff->unit);
    json_key(&json, "scaling");
    json_text(&json, diff_scaling_name(diff->scaling));
    json_key(&json, "factor");
    json_double(&json, diff->factor);
    json_side(&json, "before", &views[0], &diff->before);
    json_side(&json, "after", &views[1], &diff->after);
    json_key(&json, "functions");
    json_array_begin(&json);
    for (uint32_t i = 0; i < n; i++) {
        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, rows[i].name);
        json_value(&json, "self", &rows[i].self);
        json_value(&json, "total", &rows[i].total);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key(&json, "not_shown");
    json_uint(&json, more);
    json_object_end(&json);
    json_done(&json);
    return 0;
}

int showdiff_print(struct command_context *context, const struct showdiff_config *config, const struct view views[2],
                   const struct diff *diff, bool is_json, struct buffer *out, struct error *err)
{
    return is_json ? print_json(context, config, views, diff, out, err)
                   : print_text(context, config, views, diff, out, err);
}

int showdiff_encode(struct command_context *context, const struct showtree_config *config, const struct diff *diff,
                    struct buffer *out, struct error *err)
{
    struct trim_options trim = { .max_nodes = (uint32_t)config->max_nodes,
                                 .min_share = config->min_share,
                                 .column = TRIM_ALL_COLUMNS };
    AUTO(flame_freep) struct flame *trimmed = NULL;
    struct slice *path;
    uint32_t n;

    if (showtree_path(context, config, &path, &n, err) < 0 ||
        flame_find_path(diff->flame, path, n, &trim.root, err) < 0 || trim_flame(diff->flame, &trim, &trimmed, err) < 0)
        return -1;
    return flamebytes_encode_diff(diff, trimmed, out, err);
}
