// SPDX-License-Identifier: Apache-2.0
#include "flame/diff.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"
#include "profile/unit.h"

#include <math.h>

struct diff_config {
    struct view_config view;
    unsigned scaling; /* enum diff_scaling */
    bool is_by_total;
    bool is_significant_only;
    double threshold;
    uint64_t rows;
    struct ask_config ask;
    const char *baseline, *comparison; /* queries, instead of files */
    int64_t time_range_ns;
    const char *until, *baseline_from, *baseline_until;
};

static const char *const scaling_words[] = {
    [DIFF_ABSOLUTE] = "none", [DIFF_EQUAL_TOTALS] = "totals", [DIFF_EQUAL_DURATIONS] = "durations", NULL
};

static const struct option_spec diff_options[] = {
    { "scale", OPTION_ENUM, FIELD(diff_config, scaling), "none",
      "Scale B before comparing: not at all, to equal totals (compares shares), or to equal durations (compares "
      "rates).",
      .words = scaling_words },
    { "cum", OPTION_BOOL, FIELD(diff_config, is_by_total), "false", "Sort by the change of total instead of self." },
    { "significant", OPTION_BOOL, FIELD(diff_config, is_significant_only), "false",
      "Leave out changes that are within the sampling noise." },
    { "threshold", OPTION_PERCENT, FIELD(diff_config, threshold), "0%",
      "Leave out changes of less than this part of what the function cost before; new and gone ones stay.",
      .max = "100000%" },
    { "rows", OPTION_UINT, FIELD(diff_config, rows), "30", "How many functions to show; 0 shows all.", .letter = 'n' },
};

/* No variables and no keys: these are different each time. --from is the format of a file here. */
static const struct option_spec query_options[] = {
    { "baseline", OPTION_TEXT, FIELD(diff_config, baseline), NULL,
      "What a store holds of this query is the profile before.", .value_name = "QUERY", .is_flag_only = true },
    { "comparison", OPTION_TEXT, FIELD(diff_config, comparison), NULL,
      "What a store holds of this query is the profile after.", .value_name = "QUERY", .is_flag_only = true },
    { "time-range", OPTION_DURATION, FIELD(diff_config, time_range_ns), "1h",
      "How much time before --until to look at, on both sides.", .min = "1s", .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(diff_config, until), NULL,
      "Profiles whose window began before this time; now unless given. " STORAGE_TIME_HELP, .value_name = "TIME",
      .is_flag_only = true },
    { "baseline-from", OPTION_TEXT, FIELD(diff_config, baseline_from), NULL,
      "Where another range of time begins, for the baseline; --time-range before its end unless given.",
      .value_name = "TIME", .is_flag_only = true },
    { "baseline-until", OPTION_TEXT, FIELD(diff_config, baseline_until), NULL,
      "Where that range ends; --time-range behind its beginning unless given.", .value_name = "TIME",
      .is_flag_only = true },
};

/* One row of the answer: a function with both its values. */
struct row {
    struct slice name;
    struct diff_value self, total;
};

static const struct diff_value *sorted_by(const struct diff_config *config, const struct row *row)
{
    return config->is_by_total ? &row->total : &row->self;
}

/* Whether the change is none of those that the options leave out. */
static bool is_wanted(const struct diff_config *config, const struct diff_value *value)
{
    if (config->is_significant_only && (value->verdict != NOISE_SIGNIFICANT || value->delta == 0))
        return false;
    if (config->threshold > 0 && value->has_percent && fabs(value->percent) < 100 * config->threshold)
        return false;
    return config->threshold <= 0 || value->delta != 0;
}

/* The rows that are to be shown, in order. */
static int choose_rows(struct command_context *context, const struct diff *diff, struct row **ret_rows, uint32_t *ret_n,
                       uint32_t *ret_more, struct error *err)
{
    const struct diff_config *config = context->config;
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
    if (view->query.text.len > 0)
        print_query(view, out);
    buffer_append_byte(out, '\n');
}

static void print_title(const struct diff_config *config, const struct view views[2], const struct diff *diff,
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

static void print_nothing(const struct diff_config *config, struct buffer *out)
{
    buffer_append_text(out, "nothing changed");
    if (config->threshold > 0)
        buffer_printf(out, " by %s or more", units_human_percent(config->threshold).text);
    buffer_append_text(out, config->is_significant_only ? " beyond the sampling noise\n" : "\n");
}

static int print_text(struct command_context *context, const struct view views[2], const struct diff *diff,
                      struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "SELF BEFORE", TABLE_RIGHT }, { "AFTER", TABLE_RIGHT },  { "CHANGE", TABLE_RIGHT },  { "ERROR", TABLE_RIGHT },
        { "%", TABLE_RIGHT },           { "TOTAL", TABLE_RIGHT },  { "CHANGE", TABLE_RIGHT },  { "ERROR", TABLE_RIGHT },
        { "%", TABLE_RIGHT },           { "VERDICT", TABLE_LEFT }, { "FUNCTION", TABLE_LEFT },
    };
    const struct diff_config *config = context->config;
    uint32_t n, more;
    struct row *rows;
    struct table table;
    struct slice unit;

    if (choose_rows(context, diff, &rows, &n, &more, err) < 0)
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
    json_object_end(json);
}

static int print_json(struct command_context *context, const struct view views[2], const struct diff *diff,
                      struct buffer *out, struct error *err)
{
    struct row *rows;
    uint32_t n, more;
    struct json json;

    if (choose_rows(context, diff, &rows, &n, &more, err) < 0)
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

static struct diff_options options_of(const struct diff_config *config)
{
    return (struct diff_options){ .granularity = (enum symbol_granularity)config->view.granularity,
                                  .scaling = (enum diff_scaling)config->scaling,
                                  .order = config->is_by_total ? DIFF_BY_TOTAL : DIFF_BY_SELF };
}

static int print(struct command_context *context, const struct view views[2], const struct diff *diff,
                 struct error *err)
{
    const struct diff_config *config = context->config;
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    result = config->view.is_json ? print_json(context, views, diff, &out, err)
                                  : print_text(context, views, diff, &out, err);
    input_warn(context, "diff", &diff->flame->report);
    return view_finish(context, &out, result, err);
}

static int show(struct command_context *context, const struct view views[2], struct error *err)
{
    struct diff_options options = options_of(context->config);
    AUTO(diff_freep) struct diff *diff = NULL;

    if (diff_new(views[0].profile, views[0].type, views[1].profile, views[1].type, &options, &diff, err) < 0)
        return -1;
    return print(context, views, diff, err);
}

/* --- two files --- */

static int compare_files(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    const char *const *paths = context->arguments.items;
    struct view_config second = config->view;
    struct view views[2];
    int result;

    if (view_open(&views[0], context, &config->view, (struct option_list){ paths, 1 }, err) < 0)
        return -1;
    second.like = &views[0];
    if (view_open(&views[1], context, &second, (struct option_list){ paths + 1, 1 }, err) < 0) {
        view_close(&views[0]);
        return error_wrap(err, "comparing '%s' with '%s'", paths[0], paths[1]);
    }
    result = show(context, views, err);
    view_close(&views[0]);
    view_close(&views[1]);
    return result;
}

/* --- two selections --- */

struct range {
    int64_t from_ns, until_ns;
};

/* Nothing is before 1970. */
static int64_t before(int64_t time_ns, int64_t length_ns)
{
    return MAX(MAX(time_ns, 0) - length_ns, 0);
}

static int64_t behind(int64_t time_ns, int64_t length_ns)
{
    int64_t sum_ns;

    return __builtin_add_overflow(time_ns, length_ns, &sum_ns) ? INT64_MAX : sum_ns;
}

static int find_ranges(const struct ask *ask, struct range *ret_baseline, struct range *ret_comparison,
                       struct error *err)
{
    const struct diff_config *config = ask->context->config;
    struct range comparison = { .until_ns = ask->now_ns }, baseline;

    if (config->until && storage_parse_time("until", config->until, ask->now_ns, &comparison.until_ns, err) < 0)
        return -1;
    comparison.from_ns = before(comparison.until_ns, config->time_range_ns);
    baseline = comparison;
    if (config->baseline_from &&
        storage_parse_time("baseline-from", config->baseline_from, ask->now_ns, &baseline.from_ns, err) < 0)
        return -1;
    if (config->baseline_until &&
        storage_parse_time("baseline-until", config->baseline_until, ask->now_ns, &baseline.until_ns, err) < 0)
        return -1;
    if (config->baseline_from && !config->baseline_until)
        baseline.until_ns = behind(baseline.from_ns, config->time_range_ns);
    if (config->baseline_until && !config->baseline_from)
        baseline.from_ns = before(baseline.until_ns, config->time_range_ns);
    if (baseline.from_ns >= baseline.until_ns || comparison.from_ns >= comparison.until_ns)
        return error_set(err, ERR_USAGE,
                         "a range of time ends before it begins; look at --until, --baseline-from and "
                         "--baseline-until");
    *ret_baseline = baseline;
    *ret_comparison = comparison;
    return 0;
}

static const char *const side_options[] = { "baseline", "comparison" };

/* A side that is empty is no side: a name with a slip in it would pass for a great change. */
static int check_side(const struct ask *ask, const struct ask_question *question, const struct query_facts *facts,
                      struct error *err)
{
    if (facts->n_rows > 0)
        return 0;
    if (ask_tell_empty(ask, question, err) < 0)
        return -1;
    return error_set(err, ERR_NOT_FOUND, "there is nothing to compare");
}

/* Where no type is named, each query has its own. */
static int check_types(const struct view views[2], struct error *err)
{
    if (slice_equal(views[0].type_name, views[1].type_name))
        return 0;
    return error_set(err, ERR_INVALID, "this is about '%.*s', and --baseline about '%.*s'; --type names one for both",
                     SLICE_ARG(views[1].type_name), SLICE_ARG(views[0].type_name));
}

static int compare_by_engine(const struct ask *ask, const struct ask_question questions[2], struct error *err)
{
    const struct diff_config *config = ask->context->config;
    struct diff_options options = options_of(config);
    AUTO(diff_freep) struct diff *diff = NULL;
    struct query_facts facts[2];
    struct view views[2];

    if (engine_diff(ask->engine, &questions[0].query, &questions[1].query, &options, &diff, facts, err) < 0)
        return ask_failed(ask, err);
    for (unsigned i = 0; i < 2; i++) {
        ask_count(ask->context, &facts[i]);
        if (check_side(ask, &questions[i], &facts[i], err) < 0)
            return error_wrap(err, "--%s", side_options[i]);
        views[i] = ask_view(&questions[i], &facts[i], flame_total(diff->flame, i, 0), config->view.is_local);
    }
    return print(ask->context, views, diff, err);
}

/* One side as a view. */
static int open_answer(struct view *view, const struct ask *ask, struct ask_question *question, const struct view *like,
                       struct error *err)
{
    const struct diff_config *config = ask->context->config;
    struct view_config viewing = config->view;
    struct query_facts facts;
    struct view_query about;
    struct batch batch;

    viewing.type = NULL; /* it is part of the question */
    viewing.like = like;
    if (ask_filter_tags(ask, &config->view.filter, question, &viewing.filter, err) < 0 ||
        ask_profile(ask, question, &batch, &facts, err) < 0)
        return -1;
    if (check_side(ask, question, &facts, err) < 0) {
        batch_done(&batch);
        return -1;
    }
    input_warn(ask->context, "query", &batch.report);
    about = ask_view_query(question, &facts);
    return view_open_batch(view, ask->context, &viewing, &batch, facts.n_rows, &about, err);
}

/* Finer than functions, or by file. */
static int compare_profiles(const struct ask *ask, struct ask_question questions[2], struct error *err)
{
    struct view views[2];
    int result;

    if (open_answer(&views[0], ask, &questions[0], NULL, err) < 0)
        return error_wrap(err, "--%s", side_options[0]);
    result = open_answer(&views[1], ask, &questions[1], &views[0], err);
    if (result == 0) {
        result = show(ask->context, views, err);
        view_close(&views[1]);
    } else
        error_wrap(err, "--%s", side_options[1]);
    view_close(&views[0]);
    return result;
}

static int resolve_sides(const struct ask *ask, struct ask_question questions[2], struct error *err)
{
    const struct diff_config *config = ask->context->config;
    const char *texts[] = { config->baseline, config->comparison };
    struct range ranges[2] = { 0 };
    struct view views[2] = { 0 };

    if (find_ranges(ask, &ranges[0], &ranges[1], err) < 0)
        return -1;
    for (unsigned i = 0; i < 2; i++) {
        if (ask_resolve(ask, texts[i], config->view.type, ranges[i].from_ns, ranges[i].until_ns, &questions[i], err) <
            0)
            return error_wrap(err, "--%s", side_options[i]);
        if (i == 0 || strcmp(questions[0].resolved.note, questions[1].resolved.note) != 0)
            ask_tell_choice(ask, &questions[i]);
        ask_type_parts(&questions[i], &views[i].type_name, &views[i].unit);
    }
    return check_types(views, err) < 0 ? error_wrap(err, "--comparison") : 0;
}

static int answer_sides(const struct ask *ask, struct ask_question questions[2], struct error *err)
{
    const struct diff_config *config = ask->context->config;

    if (resolve_sides(ask, questions, err) < 0)
        return -1;
    if (config->view.granularity != SYMBOL_FUNCTION)
        return compare_profiles(ask, questions, err);
    for (unsigned i = 0; i < 2; i++)
        if (ask_filter(ask, &config->view.filter, &questions[i], err) < 0)
            return -1;
    return compare_by_engine(ask, questions, err);
}

static int compare_answers(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    struct ask_question questions[2] = { 0 };
    int result;

    if (ask_open(&ask, context, &config->ask, err) < 0)
        return -1;
    result = answer_sides(&ask, questions, err);
    for (unsigned i = 0; i < 2; i++)
        ask_question_done(&questions[i]);
    return result;
}

/* --- the run --- */

/* Options that mean nothing where files are compared should not pass in silence. */
static int check_no_times(const struct diff_config *config, struct error *err)
{
    const char *option = config->until            ? "until"
                         : config->baseline_from  ? "baseline-from"
                         : config->baseline_until ? "baseline-until"
                                                  : NULL;

    if (!option)
        return 0;
    return error_set(err, ERR_USAGE, "--%s chooses profiles of a store; give --baseline and --comparison", option);
}

static int run(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    bool has_queries = config->baseline || config->comparison;

    if (has_queries && context->arguments.n > 0)
        return error_set(err, ERR_USAGE,
                         "'%s' is a file, and --baseline and --comparison are queries; give one or the "
                         "other",
                         context->arguments.items[0]);
    if (has_queries && !(config->baseline && config->comparison))
        return error_set(err, ERR_USAGE, "--%s alone compares nothing; give --%s, too",
                         config->baseline ? "baseline" : "comparison", config->baseline ? "comparison" : "baseline");
    if (has_queries && config->view.filter.labels.n > 0)
        return error_set(err, ERR_USAGE,
                         "--label chooses samples of files; of queries, conditions go into their braces");
    if (has_queries && config->view.input.from)
        return error_set(
            err, ERR_USAGE,
            "--from is the format of files; of queries, --time-range, --until and --baseline-from say which "
            "time is meant");
    if (has_queries)
        return compare_answers(context, err);
    if (check_no_times(config, err) < 0)
        return -1;
    if (context->arguments.n < 2)
        return error_set(err, ERR_USAGE,
                         "'hearth diff' needs two files, the one before and the one after, or "
                         "--baseline and --comparison");
    return compare_files(context, err);
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "Show what grew and what shrank between two profiles or queries",
    .description =
        "Compares profile B with profile A, function by function: what each cost itself (SELF) and with all it called "
        "(TOTAL), the change and its sampling error as one standard deviation. VERDICT says whether the change of the "
        "value sorted by is more than chance: `grew` and `shrank` exceed three standard errors, `noise` does not, and "
        "`?` means that the profiles do not tell how many samples are behind their values.\n\n"
        "Instead of two files, --baseline and --comparison compare what a store holds of two queries (see 'hearth "
        "query') "
        "over the last hour, or over --time-range. --type then names a profile type. A side without profiles is an "
        "error.",
    .config_bytes = sizeof(struct diff_config),
    .options = { OPTION_GROUP("Options", diff_options), OPTION_GROUP("Queries", query_options),
                 VIEW_GROUP(diff_config, view), VIEW_FILTER_GROUP(diff_config, view.filter),
                 VIEW_FILTER_LABEL_GROUP(diff_config, view.filter), INPUT_GROUP(diff_config, view.input),
                 INPUT_MERGE_GROUP(diff_config, view.input), ASK_GROUPS(diff_config, ask) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 0, 2,
                     "The profile before (A) and the one after (B); - is standard input. Both, or none with "
                     "--baseline and --comparison." } },
    .examples = { { "hearth diff before.pb.gz after.pb.gz", "What changed most in the functions themselves." },
                  { "hearth diff --cum --scale totals --significant a.pb.gz b.pb.gz",
                    "Changes of shares that are more than chance, by total." },
                  { "hearth diff --baseline 'api{commit=abc123}' --comparison 'api{commit=def456}' --threshold 5%",
                    "Two versions of a service in the last hour: what changed by a twentieth or more." },
                  { "hearth diff --baseline api --comparison api --baseline-until now-1d --scale durations",
                    "The last hour of a service and the same hour of yesterday." } },
    .run = run,
};
