// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/showplan.h"
#include "cli/table.h"

struct explain_config {
    struct ask_config ask;
    struct ask_selection selection;
    struct view_filter filter;
    bool is_json, is_dry;
};

static const struct option_spec explain_options[] = {
    { "json", OPTION_BOOL, FIELD(explain_config, is_json), "false", "Write JSON." },
    { "dry-run", OPTION_BOOL, FIELD(explain_config, is_dry), "false", "Say what would be read, and do not read it.",
      .is_flag_only = true },
};

/* As many as a page shows: the answer is made, but not all of its nodes. */
#define PAGE_NODES 8192u

/* What there is to say. */
struct explanation {
    const struct ask_question *question;
    const struct showplan *plan;
    const struct query_facts *plan_facts;
    const struct query_facts *facts; /* NULL: nothing was answered */
    uint32_t n_nodes;                /* at most PAGE_NODES */
};

/* --- text --- */

static const char *kind_text(const struct query_facts *facts)
{
    if (!facts->is_level)
        return "added up over time and instances";
    return facts->is_averaged ? "averaged over time, added up over instances (a level)"
                              : "added up over time and instances, although it is a level (--pyroscope-sums)";
}

static void print_reads(const struct store_reads *reads, struct buffer *out)
{
    const struct {
        uint64_t n;
        const char *one, *many;
    } sources[] = {
        { reads->n_hours, "roll-up of an hour", "roll-ups of an hour" },
        { reads->n_slots, "roll-up of five minutes", "roll-ups of five minutes" },
        { reads->n_series, "sum of a series", "sums of a series" },
        { reads->n_rows, "single profile", "single profiles" },
        { reads->n_parts, "list of windows", "lists of windows" },
        { reads->n_spans, "value of the span index", "values of the span index" },
    };

    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        buffer_printf(out, "%s%llu %s\n", i ? "        " : "read    ", (unsigned long long)sources[i].n,
                      sources[i].n == 1 ? sources[i].one : sources[i].many);
    buffer_printf(out, "        %s, as they are kept\n", units_human_bytes((int64_t)reads->n_bytes).text);
}

static int print_plan(const struct explanation *e, struct buffer *out, struct error *err)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];
    const struct query *query = &e->question->query;

    buffer_append_text(out, "query   ");
    table_append_text(out, e->question->text);
    buffer_append_byte(out, '\n');
    buffer_printf(out, "values  %s\n", kind_text(e->plan_facts));
    buffer_printf(out, "range   %s to %s (%s)\n", clock_format(query->from_ns, CLOCK_ZONE_UTC, 0, from),
                  clock_format(query->until_ns, CLOCK_ZONE_UTC, 0, until),
                  units_human_ns(query->until_ns - query->from_ns).text);
    if (!e->plan->days.n) {
        buffer_append_text(out, "plan    there is no day to read\n");
        return 0;
    }
    buffer_append_text(out, "plan    to be read at most, by day\n");
    return showplan_print(e->plan, "        ", out, err);
}

static void print_answer(const struct explanation *e, struct buffer *out)
{
    print_reads(&e->facts->reads, out);
    buffer_printf(out, "answer  %llu profile%s", (unsigned long long)e->facts->n_rows,
                  e->facts->n_rows == 1 ? "" : "s");
    if (e->facts->duration_ns)
        buffer_printf(out, " of %s", units_human_ns(e->facts->duration_ns).text);
    buffer_printf(out, e->n_nodes < PAGE_NODES ? ", a tree of %u node%s\n" : ", the %u heaviest node%s of a tree\n",
                  e->n_nodes, e->n_nodes == 1 ? "" : "s");
    buffer_printf(out, "time    %s planning, %s reading, %s finishing, %u thread%s\n",
                  units_human_ns(e->plan_facts->read_ns).text, units_human_ns(e->facts->read_ns).text,
                  units_human_ns(e->facts->finish_ns).text, e->facts->n_threads, e->facts->n_threads == 1 ? "" : "s");
}

/* --- JSON --- */

static void json_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void json_reads(const struct store_reads *reads, struct json *json)
{
    json_key(json, "read");
    json_object_begin(json);
    json_count(json, "hour_rollups", reads->n_hours);
    json_count(json, "slot_rollups", reads->n_slots);
    json_count(json, "series_sums", reads->n_series);
    json_count(json, "rows", reads->n_rows);
    json_count(json, "windows", reads->n_parts);
    json_count(json, "span_index_values", reads->n_spans);
    json_count(json, "bytes", reads->n_bytes);
    json_object_end(json);
}

static void json_answer(const struct explanation *e, struct json *json)
{
    json_reads(&e->facts->reads, json);
    json_count(json, "profiles", e->facts->n_rows);
    json_key(json, "duration_ns");
    json_int(json, e->facts->duration_ns);
    json_count(json, "nodes", e->n_nodes);
    json_key(json, "read_ns");
    json_int(json, e->facts->read_ns);
    json_key(json, "finish_ns");
    json_int(json, e->facts->finish_ns);
    json_count(json, "threads", e->facts->n_threads);
}

static void print_json(const struct explanation *e, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "query");
    json_string(&json, e->question->text);
    json_key(&json, "profile_type");
    json_string(&json, e->question->resolved.profile_type);
    json_key(&json, "note");
    json_text(&json, e->question->resolved.note);
    json_key(&json, "level");
    json_bool(&json, e->plan_facts->is_level);
    json_key(&json, "averaged");
    json_bool(&json, e->plan_facts->is_averaged);
    json_key(&json, "from_ns");
    json_int(&json, e->question->query.from_ns);
    json_key(&json, "until_ns");
    json_int(&json, e->question->query.until_ns);
    json_key(&json, "plan");
    showplan_json(e->plan, &json);
    json_key(&json, "plan_ns");
    json_int(&json, e->plan_facts->read_ns);
    if (e->facts)
        json_answer(e, &json);
    json_object_end(&json);
    json_done(&json);
}

/* --- the run --- */

static int print(const struct ask *ask, const struct explanation *e, struct error *err)
{
    const struct explain_config *config = ask->context->config;
    struct buffer out;

    buffer_init(&out, 0);
    if (config->is_json)
        print_json(e, &out);
    else if (print_plan(e, &out, err) < 0) {
        buffer_done(&out);
        return -1;
    } else if (e->facts)
        print_answer(e, &out);
    return view_finish(ask->context, &out, 0, err);
}

static int explain(const struct ask *ask, struct explanation *e, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct query_facts facts;

    if (engine_flame(ask->engine, &e->question->query, PAGE_NODES, &flame, &facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, &facts);
    if (facts.n_rows == 0 && ask_tell_empty(ask, e->question, err) < 0)
        return -1;
    for (uint32_t i = 0; i < flame->n_nodes; i++)
        e->n_nodes += !(flame->flags[i] & FLAME_IS_OTHER);
    e->facts = &facts;
    return print(ask, e, err);
}

static int plan_and_explain(const struct ask *ask, const struct ask_question *question, struct error *err)
{
    const struct explain_config *config = ask->context->config;
    AUTO(showplan_done) struct showplan plan;
    struct query_facts plan_facts;
    struct explanation e = { .question = question, .plan = &plan, .plan_facts = &plan_facts };

    showplan_init(&plan, ask->context->arena);
    if (engine_plan(ask->engine, &question->query, showplan_add, &plan, &plan_facts, err) < 0)
        return ask_failed(ask, err);
    return config->is_dry ? print(ask, &e, err) : explain(ask, &e, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct explain_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    AUTO(ask_question_done) struct ask_question question = { 0 };

    if (ask_begin(&ask, &question, context, &config->ask, &config->selection, err) < 0 ||
        ask_filter(&ask, &config->filter, &question, err) < 0)
        return -1;
    return plan_and_explain(&ask, &question, err);
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "Show how a query is answered, and what that costs",
    .description =
        "Says what a query means and what is to be read for it, then answers it as 'hearth query' does and says, "
        "instead "
        "of the answer, what was read and where the time went. With --dry-run nothing is answered.\n\n"
        "The plan has a line for each day: how many series match, in how many groups (of one service, name and set of "
        "types), how many hours of the range are closed and open, how many roll-ups of an hour and of five minutes, "
        "sums "
        "of single series and lists of windows there are to read at most, about how many bytes of files that is (with "
        "a "
        "plus where rows are not in files yet), and of which times single profiles are read.\n\n"
        "Roll-ups, which hold the sums of a service over an hour or five minutes, are the cheapest to read. The sums "
        "of "
        "single series are read where a query asks for some instances of a service only, and single profiles at the "
        "ragged ends of a range and where labels of samples decide. Of levels, the windows are read first. Where spans "
        "are "
        "asked for, the span index of each hour says which series may have them.",
    .config_bytes = sizeof(struct explain_config),
    .options = { OPTION_GROUP("Options", explain_options), ASK_SELECTION_GROUPS(explain_config, selection),
                 VIEW_FILTER_GROUP(explain_config, filter), VIEW_FILTER_TAG_GROUP(explain_config, filter),
                 ASK_GROUPS(explain_config, ask) },
    .arguments = { { "QUERY", COMMAND_ARGUMENT_TEXT, 1, 1, "The query, as for 'hearth query'." } },
    .examples = { { "hearth explain checkout --from now-1d", "What it takes to add up a day of a service." },
                  { "hearth explain '{}' --type cpu --from now-7d --dry-run",
                    "What a week of all services would take." },
                  { "hearth explain '{version=\"2\"}' --type cpu --json", "The same for scripts." } },
    .run = run,
};
