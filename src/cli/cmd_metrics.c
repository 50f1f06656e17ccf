// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/sparkline.h"
#include "cli/storagesignals.h"
#include "cli/table.h"

#include <math.h>

struct metrics_config {
    struct ask_config ask;
    const char *service;
    struct option_list names;
    struct option_list by;
    const char *from, *until;
    int64_t step_ns; /* 0 = by the range */
    bool is_listing;
    bool is_json;
};

static const struct option_spec metrics_options[] = {
    { "service", OPTION_TEXT, FIELD(metrics_config, service), NULL,
      "Metrics of this service alone; without one, each service has lines of its own.", .value_name = "NAME",
      .is_flag_only = true },
    { "name", OPTION_LIST, FIELD(metrics_config, names), NULL,
      "The metric of this name, like runtime.memory.heap_alloc_bytes. All there are unless given.",
      .value_name = "NAME", .is_flag_only = true },
    { "by", OPTION_LIST, FIELD(metrics_config, by), NULL,
      "Label to group by: a line for each of its values, like instance, version or an attribute. Several may be given "
      "with commas between them; without one, all is added up.",
      .value_name = "LABEL", .is_flag_only = true },
    { "from", OPTION_TEXT, FIELD(metrics_config, from), NULL,
      "Points of this time or later; an hour before --until unless given. " STORAGE_TIME_HELP, .value_name = "TIME",
      .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(metrics_config, until), NULL,
      "Points before this time; now unless given. Written as --from.", .value_name = "TIME", .is_flag_only = true },
    { "step", OPTION_DURATION, FIELD(metrics_config, step_ns), NULL,
      "How much time a point covers; about a sixtieth of the range unless given. Points begin at multiples of it.",
      .min = "1s", .is_flag_only = true },
    { "names", OPTION_BOOL, FIELD(metrics_config, is_listing), "false",
      "List the names there are on the days of the range instead, with how many series each has.",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(metrics_config, is_json), "false", "Write JSON." },
};

static const char *const kind_names[] = {
    [POINT_GAUGE] = "gauge", [POINT_SUM] = "sum", [POINT_HISTOGRAM] = "histogram"
};

/* The line is as wide as the numbers and names leave room for, within these. */
#define LINE_WIDTH_MIN 10
#define LINE_WIDTH_MAX 60

/* --- numbers --- */

/* OpenTelemetry writes units as UCUM does. Nanoseconds of a unit of time, or 0. */
static double unit_ns(struct slice unit)
{
    static const struct {
        const char *unit;
        double ns;
    } times[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { "min", 60e9 }, { "h", 3600e9 } };

    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        if (slice_is(unit, times[i].unit))
            return times[i].ns;
    return 0;
}

static int64_t rounded(double value)
{
    return fabs(value) < 9e18 ? llround(value) : value < 0 ? INT64_MIN : INT64_MAX;
}

/* "12ms", "64MiB", "3.2/s": times and sizes in human units, all else as the number. */
static void value_cell(struct table *table, const struct metricstore_line *line, double value)
{
    bool is_rate = line->statistic == METRICSTORE_RATE, is_count = is_rate && line->kind == POINT_HISTOGRAM;
    double ns = is_count ? 0 : unit_ns(line->unit);
    const char *suffix = is_rate ? "/s" : "";

    if (isnan(value))
        table_printf(table, "-");
    else if (ns > 0)
        table_printf(table, "%s%s", units_human_ns(rounded(value * ns)).text, suffix);
    else if (!is_count && slice_is(line->unit, "By"))
        table_printf(table, "%s%s", units_human_bytes(rounded(value)).text, suffix);
    else if (fabs(value) >= 1000)
        table_printf(table, "%s%s", units_human_count(rounded(value)).text, suffix);
    else
        table_printf(table, "%.3g%s", value, suffix);
}

/* --- text --- */

/* Of the points of a line that are there. */
struct summary {
    double last, mean, max;
};

static struct summary summarise(const struct metricstore_line *line, uint32_t n_points)
{
    struct summary summary = { NAN, NAN, NAN };
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_points; i++) {
        if (isnan(line->points[i]))
            continue;
        summary.last = line->points[i];
        summary.max = n++ ? fmax(summary.max, line->points[i]) : line->points[i];
        sum += line->points[i];
    }
    if (n > 0)
        summary.mean = sum / n;
    return summary;
}

struct lines {
    struct command_context *context;
    const struct metricstore_answer *answer;
    const struct slice *by;
    uint32_t n_by;
    bool has_services; /* lines of several services: each says whose it is */
    struct sparkline_options line;
};

static struct slice label_of(const struct metricstore_line *line, struct slice key)
{
    for (uint32_t i = 0; i < line->n_labels; i++)
        if (slice_equal(line->labels[i].key, key))
            return line->labels[i].value;
    return SLICE("-");
}

/* "runtime.gc.pause p99 checkout, i-1": what a line is, the service only where there are several. */
static void append_name(const struct lines *lines, const struct metricstore_line *line, struct buffer *out)
{
    bool is_first = true;

    table_append_text(out, line->name);
    if (line->kind == POINT_HISTOGRAM)
        buffer_printf(out, " %s", metricstore_statistic_name(line->statistic));
    if (lines->has_services) {
        buffer_append_text(out, "  ");
        table_append_text(out, label_of(line, SLICE("service_name")));
        is_first = false;
    }
    for (uint32_t i = 0; i < lines->n_by; i++) {
        buffer_append_text(out, is_first ? "  " : ", ");
        table_append_text(out, label_of(line, lines->by[i]));
        is_first = false;
    }
}

static int print_row(const struct lines *lines, const struct metricstore_line *line, bool *is_there,
                     struct table *table, struct buffer *scratch, struct error *err)
{
    struct summary summary = summarise(line, lines->answer->n_points);

    for (uint32_t i = 0; i < lines->answer->n_points; i++)
        is_there[i] = !isnan(line->points[i]);
    table_row(table, TABLE_PLAIN);
    value_cell(table, line, summary.last);
    value_cell(table, line, summary.mean);
    value_cell(table, line, summary.max);
    buffer_clear(scratch);
    sparkline_print(line->points, is_there, lines->answer->n_points, &lines->line, scratch);
    if (buffer_check(scratch, err) < 0)
        return -1;
    table_cell(table, buffer_slice(scratch));
    buffer_clear(scratch);
    append_name(lines, line, scratch);
    if (buffer_check(scratch, err) < 0)
        return -1;
    table_cell(table, buffer_slice(scratch));
    return 0;
}

/* Columns that the line gets: what three numbers and the longest name leave of the terminal. */
static size_t line_width(const struct lines *lines, struct buffer *scratch)
{
    const size_t numbers = 3 * 10;
    size_t names = 0;

    for (size_t i = 0; i < lines->answer->n; i++) {
        buffer_clear(scratch);
        append_name(lines, &lines->answer->lines[i], scratch);
        names = MAX(names, table_width(buffer_slice(scratch)));
    }
    names += numbers + 2;
    return names + LINE_WIDTH_MIN > lines->context->world->width
               ? LINE_WIDTH_MIN
               : MIN(lines->context->world->width - names, LINE_WIDTH_MAX);
}

static void print_title(const struct metricstore_answer *answer, struct buffer *out)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    buffer_printf(out, "%s to %s, %u point%s of %s\n", clock_format(answer->from_ns, CLOCK_ZONE_UTC, 0, from),
                  clock_format(answer->from_ns + answer->n_points * answer->step_ns, CLOCK_ZONE_UTC, 0, until),
                  answer->n_points, answer->n_points == 1 ? "" : "s", units_human_ns(answer->step_ns).text);
}

static int print_text(struct lines *lines, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = { { "LAST", TABLE_RIGHT },
                                                   { "MEAN", TABLE_RIGHT },
                                                   { "MAX", TABLE_RIGHT },
                                                   { "OVER TIME", TABLE_LEFT },
                                                   { "METRIC", TABLE_LEFT } };
    struct command_context *context = lines->context;
    AUTO(buffer_done) struct buffer scratch;
    struct table table;
    bool *is_there;

    buffer_init(&scratch, 0);
    is_there = ARENA_ARRAY(context->arena, bool, lines->answer->n_points, err);
    if (!is_there)
        return -1;
    lines->line = (struct sparkline_options){ .width = line_width(lines, &scratch),
                                              .is_ascii = !sparkline_has_utf8(context->world->environment) };
    print_title(lines->answer, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < lines->answer->n; i++)
        if (print_row(lines, &lines->answer->lines[i], is_there, &table, &scratch, err) < 0)
            return -1;
    return table_print(&table, context->has_colour, out, err);
}

/* --- JSON --- */

static void json_line(struct json *json, const struct metricstore_answer *answer, const struct metricstore_line *line)
{
    json_object_begin(json);
    json_key(json, "name");
    json_string(json, line->name);
    json_key(json, "unit");
    json_string(json, line->unit);
    json_key(json, "kind");
    json_text(json, kind_names[line->kind]);
    json_key(json, "statistic");
    json_text(json, metricstore_statistic_name(line->statistic));
    json_key(json, "labels");
    json_object_begin(json);
    for (uint32_t i = 0; i < line->n_labels; i++) {
        json_key_slice(json, line->labels[i].key);
        json_string(json, line->labels[i].value);
    }
    json_object_end(json);
    json_key(json, "points");
    json_array_begin(json);
    for (uint32_t i = 0; i < answer->n_points; i++) {
        if (isnan(line->points[i]))
            continue;
        json_array_begin(json);
        json_double(json, (double)((answer->from_ns + i * answer->step_ns) / 1000000) / 1e3);
        json_double(json, line->points[i]);
        json_array_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void print_json(const struct metricstore_answer *answer, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "series");
    json_array_begin(&json);
    for (size_t i = 0; i < answer->n; i++)
        json_line(&json, answer, &answer->lines[i]);
    json_array_end(&json);
    json_key(&json, "step_s");
    json_double(&json, (double)answer->step_ns / CLOCK_NS_PER_SECOND);
    json_key(&json, "is_cut");
    json_bool(&json, answer->is_cut);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

/* --- names --- */

static int names_table(struct command_context *context, const struct metricstore_names *names, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = {
        { "SERIES", TABLE_RIGHT }, { "KIND", TABLE_LEFT }, { "UNIT", TABLE_LEFT }, { "NAME", TABLE_LEFT }
    };
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < names->n; i++) {
        table_row(&table, TABLE_PLAIN);
        table_printf(&table, "%u", names->items[i].n_series);
        table_printf(&table, "%s", kind_names[names->items[i].kind]);
        table_cell_name(&table, "", names->items[i].unit.len ? names->items[i].unit : SLICE("-"), "");
        table_cell_name(&table, "", names->items[i].name, "");
    }
    return table_print(&table, context->has_colour, out, err);
}

static void names_json(const struct metricstore_names *names, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "names");
    json_array_begin(&json);
    for (size_t i = 0; i < names->n; i++) {
        json_object_begin(&json);
        json_key(&json, "name");
        json_string(&json, names->items[i].name);
        json_key(&json, "unit");
        json_string(&json, names->items[i].unit);
        json_key(&json, "kind");
        json_text(&json, kind_names[names->items[i].kind]);
        json_key(&json, "n_series");
        json_uint(&json, names->items[i].n_series);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

/* --- the run --- */

static void tell_empty(struct command_context *context)
{
    const struct metrics_config *config = context->config;

    command_note(context,
                 "no such metrics%s%s in this time; --names lists those there are, --from and --until ask for "
                 "another time",
                 config->service ? " of the service " : "", config->service ? config->service : "");
}

static int list_names(struct command_context *context, const struct storagesignals_metrics *use, int64_t from_ns,
                      int64_t until_ns, struct error *err)
{
    const struct metrics_config *config = context->config;
    struct metricstore_names names;
    struct buffer out;
    int result = 0;

    if (metricstore_list_names(use->store, slice_from(config->ask.tenant), slice_from(config->service), from_ns,
                               until_ns, &use->asker, context->arena, &names, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        names_json(&names, &out);
    else if (names.n > 0)
        result = names_table(context, &names, &out, err);
    else
        tell_empty(context);
    return view_finish(context, &out, result, err);
}

static int show(struct lines *lines, struct error *err)
{
    const struct metrics_config *config = lines->context->config;
    struct buffer out;
    int result = 0;

    if (lines->answer->is_cut)
        command_warn(lines->context, "there are more than %u lines; --service and --name ask for fewer",
                     METRICSTORE_MAX_LINES);
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(lines->answer, &out);
    else if (lines->answer->n > 0)
        result = print_text(lines, &out, err);
    else
        tell_empty(lines->context);
    return view_finish(lines->context, &out, result, err);
}

static int answer(struct command_context *context, const struct storagesignals_metrics *use, int64_t from_ns,
                  int64_t until_ns, struct error *err)
{
    const struct metrics_config *config = context->config;
    struct lines lines = { .context = context, .has_services = !config->service };
    struct metricstore_query query = { .service = slice_from(config->service),
                                       .n_names = config->names.n,
                                       .until_ns = until_ns,
                                       .step_ns =
                                           config->step_ns ? config->step_ns : ask_usual_step(until_ns - from_ns) };
    struct metricstore_answer found;
    struct slice *names, *by;

    names = ARENA_ARRAY(context->arena, struct slice, config->names.n, err);
    if (!names || ask_split_names(&config->by, context->arena, &by, &lines.n_by, err) < 0)
        return -1;
    for (size_t i = 0; i < config->names.n; i++)
        names[i] = slice_from(config->names.items[i]);
    query.names = names;
    query.by = lines.by = by;
    query.n_by = lines.n_by;
    query.from_ns = MAX(from_ns - from_ns % query.step_ns, 0);
    if (metricstore_ask(use->store, slice_from(config->ask.tenant), &query, &use->asker, context->arena, &found, err) <
        0)
        return -1;
    lines.answer = &found;
    return show(&lines, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct metrics_config *config = context->config;
    AUTO(storagesignals_end_metrics) struct storagesignals_metrics use = { 0 };
    int64_t from_ns, until_ns;

    if (storage_check_tenant(config->ask.tenant, err) < 0 ||
        storage_parse_range(config->from, config->until, clock_now_ns(), &from_ns, &until_ns, err) < 0 ||
        ask_use_metrics(context, &config->ask, &use, err) < 0)
        return -1;
    return config->is_listing ? list_names(context, &use, from_ns, until_ns, err)
                              : answer(context, &use, from_ns, until_ns, err);
}

const struct command cmd_metrics = {
    .name = "metrics",
    .summary = "Show metrics of processes and runtimes over time",
    .description =
        "Prints metrics that came by OpenTelemetry, of a service or of all, over a range of time, the last hour unless "
        "given. Kept are those about processes and runtimes: process.*, runtime.*, hearth.*, go.*, jvm.*, cpython.*, "
        "nodejs.*, v8js.* and dotnet.*.\n\n"
        "Gauges, and sums that go up and down, are averaged over each step and added up over instances and attributes. "
        "Sums that only rise are what they grew a second, also where a process began again. Histograms have four "
        "lines: how many values a second, their mean, their median and their 99th percentile.",
    .config_bytes = sizeof(struct metrics_config),
    .options = { OPTION_GROUP("Options", metrics_options), ASK_PLAIN_GROUPS(metrics_config, ask) },
    .examples = { { "hearth metrics --service checkout", "All metrics of a service in the last hour." },
                  { "hearth metrics --service checkout --names", "Which there are." },
                  { "hearth metrics --name runtime.memory.heap_alloc_bytes --by instance --from now-1d --json",
                    "The heap of each instance over a day, for programs." } },
    .run = run,
};
