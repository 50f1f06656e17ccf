// SPDX-License-Identifier: Apache-2.0
#include "query/heatmap.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/sparkline.h"
#include "cli/table.h"
#include "profile/unit.h"
#include "query/idtext.h"

#include <math.h>

struct heatmap_config {
    struct ask_config ask;
    struct ask_selection selection;
    struct view_filter filter;
    int64_t step_ns; /* 0 = by the range */
    unsigned kind;   /* enum heatmap_kind */
    unsigned scale;  /* enum heatmap_scale */
    uint64_t buckets;
    bool is_json;
};

/* What the names of buckets leave of a line. */
#define MAP_WIDTH_MIN 10

static const char *const kind_words[] = { [HEATMAP_PROFILES] = "profile", [HEATMAP_SPANS] = "span", NULL };
static const char *const scale_words[] = {
    [HEATMAP_AUTO] = "auto", [HEATMAP_LINEAR] = "linear", [HEATMAP_LOG2] = "log2", NULL
};

static const struct option_spec heatmap_options[] = {
    { "kind", OPTION_ENUM, FIELD(heatmap_config, kind), "profile",
      "What is counted: profiles, or what profiles have of single spans.", .words = kind_words, .is_flag_only = true },
    { "step", OPTION_DURATION, FIELD(heatmap_config, step_ns), NULL,
      "How much time a column covers; about a sixtieth of the range unless given.", .min = "1ms",
      .is_flag_only = true },
    { "buckets", OPTION_UINT, FIELD(heatmap_config, buckets), "20", "How many rows of values, at most.", .min = "1",
      .max = "60", .is_flag_only = true },
    { "scale", OPTION_ENUM, FIELD(heatmap_config, scale), "auto",
      "How values are cut into rows: evenly, by powers of two, or as they are spread.", .words = scale_words,
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(heatmap_config, is_json), "false", "Write JSON." },
};

/* --- text --- */

/* "1.23s/s", "512kB", "0.85". */
static void value_cell(struct table *table, const struct heatmap *map, double value)
{
    struct slice unit = map->unit;
    const struct unit *known;

    if (map->is_per_second)
        unit = slice_sub(unit, 0, unit.len - strlen("/second"));
    known = unit_find(unit);
    if (known && known->family != UNIT_COUNT && fabs(value) >= 1 && fabs(value) < 9e18)
        table_printf(table, "%s%s", unit_format(llround(value), unit).text, map->is_per_second ? "/s" : "");
    else
        table_printf(table, fabs(value) >= 1000 ? "%.0f%s" : "%.3g%s", value, map->is_per_second ? "/s" : "");
}

/* Points that share column `i` of `width` begin here. */
static uint32_t begin_of(const struct heatmap *map, uint32_t i, uint32_t width)
{
    return (uint32_t)((uint64_t)i * map->n_points / width);
}

static uint64_t count_of(const struct heatmap *map, uint32_t bucket, uint32_t column, uint32_t width)
{
    uint64_t count = 0;

    for (uint32_t point = begin_of(map, column, width); point < begin_of(map, column + 1, width); point++)
        count += map->counts[(size_t)point * map->n_buckets + bucket];
    return count;
}

static uint64_t largest_count(const struct heatmap *map, uint32_t width)
{
    uint64_t most = 0;

    for (uint32_t bucket = 0; bucket < map->n_buckets; bucket++)
        for (uint32_t column = 0; column < width; column++)
            most = MAX(most, count_of(map, bucket, column, width));
    return most;
}

/* A cell is as dark as its count, by its logarithm: one profile is to be seen beside thousands. */
static const char *shade(uint64_t count, uint64_t most, bool is_ascii)
{
    static const char *const shades[] = { "\u2591", "\u2592", "\u2593", "\u2588" }, *const ascii[] = { ".", "+", "#",
                                                                                                       "@" };
    size_t step;

    if (count == 0)
        return " ";
    step = most > 1 ? (size_t)(log((double)count) / log((double)most) * 3 + 0.5) : 3;
    return is_ascii ? ascii[step] : shades[step];
}

static void print_title(const struct heatmap *map, const struct heatmap_config *config,
                        const struct ask_question *question, uint64_t n, struct buffer *out)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    table_append_text(out, map->unit);
    buffer_printf(out, " of %llu %s%s, %s to %s, %u point%s of %s\n", (unsigned long long)n, kind_words[config->kind],
                  n == 1 ? "" : "s", clock_format(question->query.from_ns, CLOCK_ZONE_UTC, 0, from),
                  clock_format(question->query.until_ns, CLOCK_ZONE_UTC, 0, until), map->n_points,
                  map->n_points == 1 ? "" : "s", units_human_ns(map->step_ns).text);
}

static int print_text(struct command_context *context, const struct heatmap *map, const struct ask_question *question,
                      const struct query_facts *facts, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = { { "FROM", TABLE_RIGHT },
                                                   { "COUNT", TABLE_RIGHT },
                                                   { "OVER TIME", TABLE_LEFT } };
    bool is_ascii = !sparkline_has_utf8(context->world->environment);
    uint32_t width = MIN(map->n_points, MAX(context->world->width, 24u + MAP_WIDTH_MIN) - 24u);
    uint64_t most = largest_count(map, width);
    AUTO(buffer_done) struct buffer line;
    struct table table;

    buffer_init(&line, 0);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t bucket = map->n_buckets; bucket-- > 0;) {
        uint64_t total = 0;

        buffer_clear(&line);
        for (uint32_t column = 0; column < width; column++) {
            uint64_t count = count_of(map, bucket, column, width);

            buffer_append_text(&line, shade(count, most, is_ascii));
            total += count;
        }
        if (buffer_check(&line, err) < 0)
            return -1;
        table_row(&table, TABLE_PLAIN);
        value_cell(&table, map, map->borders[bucket]);
        table_printf(&table, "%llu", (unsigned long long)total);
        table_cell(&table, buffer_slice(&line));
    }
    print_title(map, context->config, question, facts->n_rows, out);
    if (table_print(&table, context->has_colour, out, err) < 0)
        return -1;
    if (map->n_left_out)
        buffer_printf(out, "%llu profiles without a duration are left out\n", (unsigned long long)map->n_left_out);
    return 0;
}

/* --- JSON --- */

static void json_counts(struct json *json, const struct heatmap *map)
{
    json_key(json, "counts");
    json_array_begin(json);
    for (uint32_t point = 0; point < map->n_points; point++) {
        json_array_begin(json);
        for (uint32_t bucket = 0; bucket < map->n_buckets; bucket++)
            json_uint(json, map->counts[(size_t)point * map->n_buckets + bucket]);
        json_array_end(json);
    }
    json_array_end(json);
}

static void json_exemplar(struct json *json, const struct heatmap *map, uint32_t point, uint32_t bucket)
{
    const struct heatmap_exemplar *exemplar = &map->exemplars[(size_t)point * map->n_buckets + bucket];

    json_object_begin(json);
    json_key(json, "point");
    json_uint(json, point);
    json_key(json, "bucket");
    json_uint(json, bucket);
    json_key(json, "time_ns");
    json_int(json, exemplar->start_ns);
    json_key(json, "value");
    json_double(json, exemplar->value);
    json_key(json, "profile_id");
    json_text(json, idtext_of_profile(exemplar->profile_id).text);
    if (idtext_is_there(exemplar->link.span_id, sizeof(exemplar->link.span_id))) {
        json_key(json, "span_id");
        json_text(json, idtext_of_span(exemplar->link.span_id).text);
    }
    if (idtext_is_there(exemplar->link.trace_id, sizeof(exemplar->link.trace_id))) {
        json_key(json, "trace_id");
        json_text(json, idtext_of_trace(exemplar->link.trace_id).text);
    }
    json_key(json, "series");
    json_string(json, map->series[exemplar->series]);
    json_object_end(json);
}

static void json_exemplars(struct json *json, const struct heatmap *map)
{
    json_key(json, "exemplars");
    json_array_begin(json);
    for (uint32_t point = 0; point < map->n_points; point++)
        for (uint32_t bucket = 0; bucket < map->n_buckets; bucket++)
            if (map->counts[(size_t)point * map->n_buckets + bucket])
                json_exemplar(json, map, point, bucket);
    json_array_end(json);
}

static void print_json(const struct heatmap_config *config, const struct heatmap *map,
                       const struct ask_question *question, const struct query_facts *facts, struct buffer *out)
{
    struct view_query about = ask_view_query(question, facts);
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    view_json_query(&about, &json);
    json_key(&json, "kind");
    json_text(&json, kind_words[config->kind]);
    json_key(&json, "unit");
    json_string(&json, map->unit);
    json_key(&json, "step_ns");
    json_int(&json, map->step_ns);
    json_key(&json, "scale");
    json_text(&json, scale_words[map->is_log2 ? HEATMAP_LOG2 : HEATMAP_LINEAR]);
    json_key(&json, "borders");
    json_array_begin(&json);
    for (uint32_t i = 0; map->n_buckets && i <= map->n_buckets; i++)
        json_double(&json, map->borders[i]);
    json_array_end(&json);
    json_counts(&json, map);
    json_exemplars(&json, map);
    json_key(&json, "left_out");
    json_uint(&json, map->n_left_out);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

/* --- the run --- */

static int answer(const struct ask *ask, const struct ask_question *question, struct error *err)
{
    const struct heatmap_config *config = ask->context->config;
    struct heatmap_options options = { .kind = (enum heatmap_kind)config->kind,
                                       .step_ns = config->step_ns,
                                       .n_buckets = (uint32_t)config->buckets,
                                       .scale = (enum heatmap_scale)config->scale };
    AUTO(heatmap_freep) struct heatmap *map = NULL;
    struct query_facts facts;
    struct buffer out;
    int result = 0;

    if (!options.step_ns)
        options.step_ns = ask_usual_step(question->query.until_ns - question->query.from_ns);
    if (heatmap_new(ask->engine, &question->query, &options, &map, &facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, &facts);
    if (map->n_buckets == 0 && ask_tell_empty(ask, question, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(config, map, question, &facts, &out);
    else if (map->n_buckets > 0)
        result = print_text(ask->context, map, question, &facts, &out, err);
    return view_finish(ask->context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct heatmap_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    AUTO(ask_question_done) struct ask_question question = { 0 };

    if (ask_begin(&ask, &question, context, &config->ask, &config->selection, err) < 0 ||
        ask_filter(&ask, &config->filter, &question, err) < 0)
        return -1;
    return answer(&ask, &question, err);
}

const struct command cmd_heatmap = {
    .name = "heatmap",
    .summary = "Show how the values of single profiles are spread over time",
    .description =
        "Prints a map of the profiles that a query chooses (see 'hearth query'): columns are points of time, rows are "
        "ranges of values, and a cell is the darker the more profiles, or spans of profiles, have such a value then. A "
        "line that splits in two, or a few dark cells far above the others, are things that a sum hides.\n\n"
        "The value of a profile is its total per second of its duration; of levels, like memory in use, it is the "
        "total itself. FROM is the least value of a row, and COUNT how many are in it. With --json each cell has an "
        "exemplar: the profile with the largest value, by the id that 'hearth query --profile-id' takes.",
    .config_bytes = sizeof(struct heatmap_config),
    .options = { OPTION_GROUP("Options", heatmap_options), ASK_SELECTION_GROUPS(heatmap_config, selection),
                 VIEW_FILTER_GROUP(heatmap_config, filter), VIEW_FILTER_TAG_GROUP(heatmap_config, filter),
                 ASK_GROUPS(heatmap_config, ask) },
    .arguments = { { "QUERY", COMMAND_ARGUMENT_TEXT, 1, 1, "The query, as for 'hearth query'." } },
    .examples = { { "hearth heatmap checkout", "How much CPU time single profiles of a service had in the last hour." },
                  { "hearth heatmap checkout --kind span --scale log2 --from now-1d",
                    "What single requests took since yesterday." },
                  { "hearth heatmap checkout --json", "The cells with an exemplar each, for programs." } },
    .run = run,
};
