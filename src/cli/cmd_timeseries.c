// SPDX-License-Identifier: Apache-2.0
#include "query/timeseries.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/showexemplars.h"
#include "cli/sparkline.h"
#include "cli/table.h"
#include "profile/unit.h"

#include <math.h>

struct timeseries_config {
    struct ask_config ask;
    struct ask_selection selection;
    struct view_filter filter;
    struct option_list by;
    int64_t step_ns; /* 0 = by the range */
    unsigned kind;   /* enum timeseries_kind */
    uint64_t top;
    struct showexemplars_config exemplars;
    bool is_json, is_csv;
};

/* The line is as wide as the numbers and names leave room for, within these. */
#define LINE_WIDTH_MIN 10
#define LINE_WIDTH_MAX 60

static const char *const kind_words[] = {
    [TIMESERIES_SUM] = "sum",   [TIMESERIES_AVERAGE] = "average", [TIMESERIES_COUNT] = "count",
    [TIMESERIES_RATE] = "rate", [TIMESERIES_CORES] = "cores",     NULL
};

static const struct option_spec timeseries_options[] = {
    { "by", OPTION_LIST, FIELD(timeseries_config, by), NULL,
      "Label to group by: a line for each of its values. Several may be given with commas between them; without one, "
      "all is one line.",
      .value_name = "LABEL", .is_flag_only = true },
    { "step", OPTION_DURATION, FIELD(timeseries_config, step_ns), NULL,
      "How much time a point covers; about a sixtieth of the range unless given.", .min = "1ms", .is_flag_only = true },
    { "kind", OPTION_ENUM, FIELD(timeseries_config, kind), "sum",
      "What a point is: the sum of its profiles, their average, their number, the sum per second, or, of CPU time, how "
      "many cores were busy.",
      .words = kind_words, .is_flag_only = true },
    { "top", OPTION_UINT, FIELD(timeseries_config, top), "20",
      "How many groups to show, those with the largest sums; 0 shows all.", .max = "10000", .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(timeseries_config, is_json), "false", "Write JSON." },
    { "csv", OPTION_BOOL, FIELD(timeseries_config, is_csv), "false",
      "Write a line for each point that has profiles: time, labels, value.", .is_flag_only = true },
};

/* --- text --- */

/* Of the points of a group that are there. */
struct summary {
    double last, mean, max;
};

static struct summary summarise(const struct timeseries *series, const struct timeseries_group *group)
{
    struct summary summary = { 0 };
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < series->n_points; i++) {
        if (!group->has_rows[i])
            continue;
        summary.last = group->points[i];
        summary.max = n++ ? MAX(summary.max, group->points[i]) : group->points[i];
        sum += group->points[i];
    }
    summary.mean = n ? sum / n : 0;
    return summary;
}

static int64_t rounded(double value)
{
    return fabs(value) < 9e18 ? llround(value) : value < 0 ? INT64_MIN : INT64_MAX;
}

/* "1.23s", "512kB/s", "0.85": times and sizes in human units, all else as the number. */
static void value_cell(struct table *table, double value, struct slice unit)
{
    bool is_rate = slice_ends_with(unit, SLICE("/second"));
    struct slice base = is_rate ? slice_sub(unit, 0, unit.len - strlen("/second")) : unit;
    const struct unit *known = unit_find(base);

    if (known && known->family != UNIT_COUNT && fabs(value) >= 1)
        table_printf(table, "%s%s", unit_format(rounded(value), base).text, is_rate ? "/s" : "");
    else if (fabs(value) >= 1000)
        table_printf(table, "%.0f%s", value, is_rate ? "/s" : "");
    else
        table_printf(table, "%.3g%s", value, is_rate ? "/s" : "");
}

/* "checkout, eu-1"; a label that is not there is "-". */
static void append_labels(const struct timeseries_group *group, uint32_t n, struct buffer *out)
{
    for (uint32_t i = 0; i < n; i++) {
        buffer_append_text(out, i ? ", " : "");
        table_append_text(out, group->values[i].len ? group->values[i] : SLICE("-"));
    }
    if (n == 0)
        buffer_append_text(out, "all");
}

/* What the rows of the table have in common. */
struct lines {
    struct command_context *context;
    const struct timeseries *series;
    const struct slice *by;
    uint32_t n_by;
    struct sparkline_options line;
    struct showexemplars exemplars; /* without exemplars where none are asked for */
};

static int print_row(const struct lines *lines, const struct timeseries_group *group, struct table *table,
                     struct buffer *scratch, struct error *err)
{
    struct summary summary = summarise(lines->series, group);

    table_row(table, TABLE_PLAIN);
    value_cell(table, summary.last, lines->series->unit);
    value_cell(table, summary.mean, lines->series->unit);
    value_cell(table, summary.max, lines->series->unit);
    buffer_clear(scratch);
    sparkline_print(group->points, group->has_rows, lines->series->n_points, &lines->line, scratch);
    if (buffer_check(scratch, err) < 0)
        return -1;
    table_cell(table, buffer_slice(scratch));
    buffer_clear(scratch);
    append_labels(group, lines->n_by, scratch);
    if (buffer_check(scratch, err) < 0)
        return -1;
    table_cell(table, buffer_slice(scratch));
    return 0;
}

static void print_title(const struct timeseries *series, const struct ask_question *question, struct buffer *out)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    table_append_text(out, series->unit);
    buffer_printf(out, ", %s to %s, %u point%s of %s\n", clock_format(question->query.from_ns, CLOCK_ZONE_UTC, 0, from),
                  clock_format(question->query.until_ns, CLOCK_ZONE_UTC, 0, until), series->n_points,
                  series->n_points == 1 ? "" : "s", units_human_ns(series->step_ns).text);
}

/* Columns that the line gets: what three numbers and the longest name leave of the terminal. */
static size_t line_width(const struct lines *lines, struct buffer *scratch, struct error *err)
{
    const size_t numbers = 3 * 10;
    size_t names = 0;

    for (uint32_t i = 0; i < lines->series->n_groups; i++) {
        buffer_clear(scratch);
        append_labels(&lines->series->groups[i], lines->n_by, scratch);
        if (buffer_check(scratch, err) < 0)
            return 0;
        names = MAX(names, table_width(buffer_slice(scratch)));
    }
    names += numbers + 2;
    return names + LINE_WIDTH_MIN > lines->context->world->width
               ? LINE_WIDTH_MIN
               : MIN(lines->context->world->width - names, LINE_WIDTH_MAX);
}

static int print_text(struct lines *lines, const struct ask_question *question, struct buffer *out, struct error *err)
{
    AUTO(buffer_done) struct buffer scratch;
    AUTO(buffer_done) struct buffer title;
    struct table table;
    struct table_column columns[] = { { "LAST", TABLE_RIGHT },
                                      { "MEAN", TABLE_RIGHT },
                                      { "MAX", TABLE_RIGHT },
                                      { "OVER TIME", TABLE_LEFT },
                                      { NULL, TABLE_LEFT } };

    buffer_init(&scratch, 0);
    buffer_init(&title, 0);
    for (uint32_t i = 0; i < lines->n_by; i++) {
        buffer_append_text(&title, i ? ", " : "");
        table_append_text(&title, lines->by[i]);
    }
    buffer_append_byte(&title, '\0');
    lines->line.width = line_width(lines, &scratch, err);
    if (lines->line.width == 0 || buffer_check(&title, err) < 0)
        return -1;
    columns[ARRAY_LEN(columns) - 1].title = title.data;
    print_title(lines->series, question, out);
    table_init(&table, lines->context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < lines->series->n_groups; i++)
        if (print_row(lines, &lines->series->groups[i], &table, &scratch, err) < 0)
            return -1;
    if (table_print(&table, lines->context->has_colour, out, err) < 0)
        return -1;
    if (lines->series->n_left_out)
        buffer_printf(out, "%u more group%s; --top 0 shows all\n", lines->series->n_left_out,
                      lines->series->n_left_out == 1 ? "" : "s");
    if (lines->exemplars.exemplars)
        return showexemplars_print(&lines->exemplars, lines->context, out, err);
    return 0;
}

/* --- JSON --- */

static void json_group(struct json *json, const struct lines *lines, const struct timeseries_group *group)
{
    json_object_begin(json);
    json_key(json, "labels");
    json_object_begin(json);
    for (uint32_t i = 0; i < lines->n_by; i++) {
        json_key_slice(json, lines->by[i]);
        json_string(json, group->values[i]);
    }
    json_object_end(json);
    json_key(json, "sum");
    json_double(json, group->sum);
    json_key(json, "points");
    json_array_begin(json);
    for (uint32_t i = 0; i < lines->series->n_points; i++) {
        if (group->has_rows[i])
            json_double(json, group->points[i]);
        else
            json_null(json);
    }
    json_array_end(json);
    if (lines->exemplars.exemplars) {
        json_key(json, "exemplars");
        showexemplars_json(&lines->exemplars, group, json);
    }
    json_object_end(json);
}

static void print_json(const struct lines *lines, const struct ask_question *question, const struct query_facts *facts,
                       struct buffer *out)
{
    const struct timeseries_config *config = lines->context->config;
    struct view_query about = ask_view_query(question, facts);
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    view_json_query(&about, &json);
    json_key(&json, "kind");
    json_text(&json, kind_words[config->kind]);
    json_key(&json, "unit");
    json_string(&json, lines->series->unit);
    json_key(&json, "step_ns");
    json_int(&json, lines->series->step_ns);
    json_key(&json, "groups");
    json_array_begin(&json);
    for (uint32_t i = 0; i < lines->series->n_groups; i++)
        json_group(&json, lines, &lines->series->groups[i]);
    json_array_end(&json);
    json_key(&json, "groups_left_out");
    json_uint(&json, lines->series->n_left_out);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

/* --- CSV (RFC 4180) --- */

static void csv_field(struct slice text, struct buffer *out)
{
    bool is_quoted = false;

    for (size_t i = 0; i < text.len; i++)
        is_quoted |= strchr("\",\r\n", text.ptr[i]) != NULL;
    buffer_append_text(out, is_quoted ? "\"" : "");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buffer_append_byte(out, '"');
        buffer_append_byte(out, text.ptr[i]);
    }
    buffer_append_text(out, is_quoted ? "\"" : "");
}

static void print_csv(const struct lines *lines, struct buffer *out)
{
    const struct timeseries *series = lines->series;
    char time[CLOCK_TEXT_BYTES];

    buffer_append_text(out, "time");
    for (uint32_t i = 0; i < lines->n_by; i++) {
        buffer_append_byte(out, ',');
        csv_field(lines->by[i], out);
    }
    buffer_append_text(out, ",value\n");
    for (uint32_t g = 0; g < series->n_groups; g++)
        for (uint32_t i = 0; i < series->n_points; i++) {
            const struct timeseries_group *group = &series->groups[g];

            if (!group->has_rows[i])
                continue;
            buffer_append_text(out, clock_format(series->from_ns + i * series->step_ns, CLOCK_ZONE_UTC, 3, time));
            for (uint32_t k = 0; k < lines->n_by; k++) {
                buffer_append_byte(out, ',');
                csv_field(group->values[k], out);
            }
            buffer_printf(out, ",%.17g\n", group->points[i]);
        }
}

/* --- the run --- */

static int show(struct lines *lines, const struct ask_question *question, const struct query_facts *facts,
                struct error *err)
{
    const struct timeseries_config *config = lines->context->config;
    struct buffer out;
    int result = 0;

    buffer_init(&out, 0);
    if (config->is_json)
        print_json(lines, question, facts, &out);
    else if (config->is_csv)
        print_csv(lines, &out);
    else if (lines->series->n_groups > 0)
        result = print_text(lines, question, &out, err);
    return view_finish(lines->context, &out, result, err);
}

/* Fills in the exemplars of the series, if they are asked for; whoever owns `*ret_exemplars` frees them. */
static int find_exemplars(const struct ask *ask, const struct ask_question *question, struct lines *lines,
                          struct exemplars **ret_exemplars, struct error *err)
{
    const struct showexemplars_config *config = &((const struct timeseries_config *)ask->context->config)->exemplars;
    struct exemplars_options options = { .kind = (enum exemplars_kind)config->kind,
                                         .step_ns = lines->series->step_ns,
                                         .by = lines->by,
                                         .n_by = lines->n_by,
                                         .n_per_point = (uint32_t)config->n };
    struct slice type;
    struct query_facts facts;

    if (!config->n)
        return 0;
    lines->exemplars = (struct showexemplars){ .config = config, .series = lines->series, .n_by = lines->n_by };
    ask_type_parts(question, &type, &lines->exemplars.unit);
    if (exemplars_new(ask->engine, &question->query, &options, ret_exemplars, &facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, &facts);
    lines->exemplars.exemplars = *ret_exemplars;
    return 0;
}

static int answer(const struct ask *ask, const struct ask_question *question, struct error *err)
{
    const struct timeseries_config *config = ask->context->config;
    struct lines lines = { .context = ask->context,
                           .line.is_ascii = !sparkline_has_utf8(ask->context->world->environment) };
    struct timeseries_options options = { .kind = (enum timeseries_kind)config->kind,
                                          .step_ns = config->step_ns,
                                          .top = (uint32_t)config->top };
    AUTO(timeseries_freep) struct timeseries *series = NULL;
    AUTO(exemplars_freep) struct exemplars *exemplars = NULL;
    struct query_facts facts;
    struct slice *by = NULL;

    if (ask_split_names(&config->by, ask->context->arena, &by, &lines.n_by, err) < 0)
        return -1;
    if (!options.step_ns)
        options.step_ns = ask_usual_step(question->query.until_ns - question->query.from_ns);
    options.by = lines.by = by;
    options.n_by = lines.n_by;
    if (timeseries_new(ask->engine, &question->query, &options, &series, &facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, &facts);
    if (series->n_groups == 0 && ask_tell_empty(ask, question, err) < 0)
        return -1;
    lines.series = series;
    if (find_exemplars(ask, question, &lines, &exemplars, err) < 0)
        return -1;
    return show(&lines, question, &facts, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct timeseries_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    AUTO(ask_question_done) struct ask_question question = { 0 };

    if (config->is_json && config->is_csv)
        return error_set(err, ERR_USAGE, "--json and --csv are two ways of writing the same; give one of them");
    if (config->exemplars.n && config->is_csv)
        return error_set(err, ERR_USAGE, "--csv has a line for each point and no place for --exemplars; use --json");
    if (ask_begin(&ask, &question, context, &config->ask, &config->selection, err) < 0 ||
        ask_filter(&ask, &config->filter, &question, err) < 0)
        return -1;
    return answer(&ask, &question, err);
}

const struct command cmd_timeseries = {
    .name = "timeseries",
    .summary = "Show what a store holds over time",
    .description =
        "Prints a line for each group of the profiles that a query chooses (see 'hearth query'): the last value, the "
        "mean and the largest of the points that have profiles, and how they went, each line on its own scale from 0 "
        "to "
        "its largest value. Points without profiles are blank.\n\n"
        "A point covers the profiles whose windows began in its time. Flows, like CPU time, are added up in it; of "
        "levels, like memory in use, it has what each series reports on average, added up over the series, and in a "
        "point of more than five minutes the average of that over its time. Filters on functions leave the profiles "
        "and take what does not pass out of their values; single profiles are read for them.\n\n"
        "With --exemplars single profiles, or spans, are shown that have the largest values; 'hearth query' takes "
        "their ids.",
    .config_bytes = sizeof(struct timeseries_config),
    .options = { OPTION_GROUP("Options", timeseries_options), ASK_SELECTION_GROUPS(timeseries_config, selection),
                 SHOWEXEMPLARS_GROUP(timeseries_config, exemplars), VIEW_FILTER_GROUP(timeseries_config, filter),
                 VIEW_FILTER_TAG_GROUP(timeseries_config, filter), ASK_GROUPS(timeseries_config, ask) },
    .arguments = { { "QUERY", COMMAND_ARGUMENT_TEXT, 1, 1, "The query, as for 'hearth query'." } },
    .examples = { { "hearth timeseries '{}' --type cpu --kind cores --by service_name --step 1m",
                    "How many cores each service kept busy in the last hour." },
                  { "hearth timeseries checkout.inuse_space --by version,zone --from now-1d",
                    "Memory in use since yesterday, by version and zone." },
                  { "hearth timeseries checkout --exemplars 3 --exemplar-kind span",
                    "The three spans that cost most, by what single profiles have of them." },
                  { "hearth timeseries checkout --focus '^gc::' --kind cores", "What the garbage collector took." },
                  { "hearth timeseries checkout --csv", "The points for a spreadsheet." } },
    .run = run,
};
