// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/storagesignals.h"
#include "cli/table.h"
#include "join/spansamples.h"
#include "query/idtext.h"
#include "query/spanvalues.h"

struct traces_config {
    struct ask_config ask;
    const char *service, *operation;
    int64_t min_duration_ns, max_duration_ns;
    bool is_error, is_root;
    struct option_list attributes;
    const char *from, *until;
    unsigned order; /* enum tracestore_order */
    uint64_t limit;
    const char *page;
    const char *query, *function, *type;
    bool is_json;
};

/* Spans in which a function was seen that are looked for, those with the largest values. */
#define MAX_FUNCTION_SPANS 100000u
#define MAX_ATTRIBUTES     16

static const char *const order_words[] = { [TRACESTORE_NEWEST] = "newest", [TRACESTORE_SLOWEST] = "slowest", NULL };

static const struct option_spec traces_options[] = {
    { "service", OPTION_TEXT, FIELD(traces_config, service), NULL, "With a span of this service.", .value_name = "NAME",
      .is_flag_only = true },
    { "operation", OPTION_TEXT, FIELD(traces_config, operation), NULL,
      "With a span of this operation. 'hearth operations' lists them.", .value_name = "NAME", .is_flag_only = true },
    { "min-duration", OPTION_DURATION, FIELD(traces_config, min_duration_ns), NULL,
      "With a span that took so long, or longer.", .is_flag_only = true },
    { "max-duration", OPTION_DURATION, FIELD(traces_config, max_duration_ns), NULL,
      "With a span that took so long at most.", .is_flag_only = true },
    { "error", OPTION_BOOL, FIELD(traces_config, is_error), "false", "With a span that failed.", .is_flag_only = true },
    { "root", OPTION_BOOL, FIELD(traces_config, is_root), "false",
      "Look at the first span of each trace alone, which has no parent.", .is_flag_only = true },
    { "attribute", OPTION_LIST, FIELD(traces_config, attributes), NULL,
      "With a span that has this attribute, or whose resource has it; of several, all: http.status_code=500.",
      .value_name = "KEY=VALUE", .is_flag_only = true },
    { "from", OPTION_TEXT, FIELD(traces_config, from), NULL,
      "With a span that started at this time or later; an hour before --until unless given. " STORAGE_TIME_HELP,
      .value_name = "TIME", .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(traces_config, until), NULL,
      "With a span that started before this time; now unless given. Written as --from.", .value_name = "TIME",
      .is_flag_only = true },
};

static const struct option_spec function_options[] = {
    { "query", OPTION_TEXT, FIELD(traces_config, query), NULL,
      "With a span that has samples of this query, as for 'hearth query'.", .value_name = "QUERY",
      .is_flag_only = true },
    { "function", OPTION_REGEX, FIELD(traces_config, function), NULL,
      "With a span that has samples of --query in which a function, file or binary on the stack matches.",
      .is_flag_only = true },
    { "type", OPTION_TEXT, FIELD(traces_config, type), NULL, "Profile type, for a --query that does not name it.",
      .value_name = "TYPE", .is_flag_only = true },
};

static const struct option_spec listing_options[] = {
    { "order", OPTION_ENUM, FIELD(traces_config, order), "newest",
      "Which traces come first: those whose span started last, or took longest.", .words = order_words,
      .is_flag_only = true },
    { "limit", OPTION_UINT, FIELD(traces_config, limit), "20", "How many traces to list, at most.", .letter = 'n',
      .min = "1", .max = "1000", .is_flag_only = true },
    { "page", OPTION_TEXT, FIELD(traces_config, page), NULL,
      "Go on where the page before ended: the word that it told for this.", .value_name = "WORD",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(traces_config, is_json), "false", "Write JSON." },
};

/* --- what is asked --- */

static int read_attributes(struct command_context *context, struct tracestore_filter *filter, struct error *err)
{
    const struct traces_config *config = context->config;
    struct span_attribute *attributes;

    if (config->attributes.n > MAX_ATTRIBUTES)
        return error_set(err, ERR_USAGE, "--attribute is given %zu times; %d will do", config->attributes.n,
                         MAX_ATTRIBUTES);
    attributes = ARENA_ARRAY(context->arena, struct span_attribute, config->attributes.n, err);
    if (!attributes)
        return -1;
    for (size_t i = 0; i < config->attributes.n; i++) {
        struct slice text = slice_from(config->attributes.items[i]);
        ptrdiff_t sign = slice_find_byte(text, '=');

        if (sign <= 0)
            return error_set(err, ERR_USAGE, "--attribute: '%.*s' is not like KEY=VALUE",
                             SLICE_ARG(slice_sub(text, 0, 64)));
        attributes[i] =
            (struct span_attribute){ .key = slice_sub(text, 0, (size_t)sign), .value = { .kind = SPAN_VALUE_TEXT } };
        attributes[i].value.text = slice_sub(text, (size_t)sign + 1, SIZE_MAX);
    }
    filter->attributes = attributes;
    filter->n_attributes = (uint32_t)config->attributes.n;
    return 0;
}

static int read_filter(struct command_context *context, struct tracestore_filter *ret_filter, struct error *err)
{
    const struct traces_config *config = context->config;
    struct tracestore_filter filter = { .service = slice_from(config->service),
                                        .operation = slice_from(config->operation),
                                        .min_duration_ns = config->min_duration_ns,
                                        .max_duration_ns = config->max_duration_ns,
                                        .is_error = config->is_error,
                                        .is_root = config->is_root };

    if (config->max_duration_ns && config->max_duration_ns < config->min_duration_ns)
        return error_set(err, ERR_USAGE, "--max-duration is less than --min-duration");
    if (storage_parse_range(config->from, config->until, clock_now_ns(), &filter.from_ns, &filter.until_ns, err) < 0 ||
        read_attributes(context, &filter, err) < 0)
        return -1;
    *ret_filter = filter;
    return 0;
}

/* --- traces through a function --- */

static int add_ids(const struct ask *ask, const struct ask_question *question, struct spanids *ids, struct error *err)
{
    struct spanvalues values;
    struct query_facts facts;
    int result = 0;

    if (spanvalues_read(ask->engine, &question->query, MAX_FUNCTION_SPANS, &values, &facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, &facts);
    for (size_t i = 0; result == 0 && i < values.n; i++)
        result = spanids_add(ids, values.items[i].span_id, err);
    if (values.is_cut)
        command_warn(ask->context, "more than %zu spans have such samples; looked for are those with the most",
                     values.n);
    if (values.n == 0)
        command_note(ask->context, "no span has such samples in this time");
    spanvalues_done(&values);
    return result;
}

static int wrong_function(struct error *err)
{
    static const char name[] = "focus: "; /* what filters call the pattern */
    size_t len = sizeof(name) - 1;

    if (strncmp(err->text, name, len) == 0)
        memmove(err->text, err->text + len, strlen(err->text + len) + 1);
    err->code = ERR_USAGE;
    return error_wrap(err, "--function");
}

/* The spans that have samples as --query and --function say; those at the beginning of the range may have them in profiles
 * that began before. */
static int find_ids(struct command_context *context, const struct tracestore_filter *filter, struct spanids *ids,
                    struct error *err)
{
    const struct traces_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    AUTO(ask_question_done) struct ask_question question = { 0 };

    if (!config->query)
        return error_set(err, ERR_USAGE, "--function looks at the samples of --query; name one, like 'shop.cpu'");
    if (ask_open(&ask, context, &config->ask, err) < 0 ||
        ask_resolve(&ask, config->query, config->type,
                    MAX(filter->from_ns, SPANSAMPLES_BEFORE_NS) - SPANSAMPLES_BEFORE_NS, filter->until_ns, &question,
                    err) < 0)
        return -1;
    ask_tell_choice(&ask, &question);
    question.query.filter.focus = slice_from(config->function);
    if (add_ids(&ask, &question, ids, err) == 0)
        return 0;
    return err->code == ERR_INVALID ? wrong_function(err) : -1;
}

/* --- JSON --- */

static void put_text(struct json *json, const char *key, struct slice text)
{
    json_key(json, key);
    json_string(json, text);
}

static void put_number(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_int(json, value);
}

static void put_name(struct json *json, const struct span *span)
{
    put_text(json, "span_id", slice_from(idtext_of_span(span->span_id).text));
    put_text(json, "service", span->resource->service);
    put_text(json, "operation", span->name);
}

static void put_services(struct json *json, const struct tracestore_found *found)
{
    json_key(json, "services");
    json_array_begin(json);
    for (uint32_t i = 0; i < found->n_services; i++) {
        json_object_begin(json);
        put_text(json, "name", found->services[i].name);
        put_number(json, "n_spans", found->services[i].n_spans);
        put_number(json, "n_errors", found->services[i].n_errors);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_found(struct json *json, const struct tracestore_found *found)
{
    json_object_begin(json);
    put_text(json, "trace_id", slice_from(idtext_of_trace(found->matched.trace_id).text));
    put_number(json, "start_ns", found->start_ns);
    put_number(json, "duration_ns", found->duration_ns);
    put_number(json, "n_spans", found->n_spans);
    put_number(json, "n_errors", found->n_errors);
    json_key(json, "is_cut");
    json_bool(json, found->is_cut);
    json_key(json, "root");
    json_object_begin(json);
    put_name(json, &found->root);
    json_object_end(json);
    put_services(json, found);
    json_key(json, "matched");
    json_object_begin(json);
    put_name(json, &found->matched);
    put_number(json, "start_ns", found->matched.start_ns);
    put_number(json, "duration_ns", found->matched.duration_ns);
    json_key(json, "is_error");
    json_bool(json, found->matched.status == SPAN_ERROR);
    json_object_end(json);
    put_number(json, "n_matched", found->n_matched);
    json_object_end(json);
}

static void print_json(const struct tracestore_results *results, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "traces");
    json_array_begin(&json);
    for (size_t i = 0; i < results->n; i++)
        put_found(&json, &results->items[i]);
    json_array_end(&json);
    json_key(&json, "n_searched");
    json_uint(&json, results->n_searched);
    json_key(&json, "next_page");
    if (results->next_page[0])
        json_text(&json, results->next_page);
    else
        json_null(&json);
    json_object_end(&json);
    json_done(&json);
}

/* --- text --- */

static void print_row(struct table *table, const struct tracestore_found *found)
{
    char time[CLOCK_TEXT_BYTES];

    table_row(table, TABLE_PLAIN);
    table_cell(table, slice_from(idtext_of_trace(found->matched.trace_id).text));
    table_cell(table, slice_from(clock_format(found->start_ns, CLOCK_ZONE_UTC, 3, time)));
    table_cell(table, slice_from(units_human_ns(found->duration_ns).text));
    table_printf(table, "%u%s", found->n_spans, found->is_cut ? "+" : "");
    table_printf(table, "%u%s", found->n_errors, found->is_cut ? "+" : "");
    table_cell(table, slice_from(units_human_ns(found->matched.duration_ns).text));
    table_cell_name(table, "", found->matched.resource->service, "");
    table_cell_name(table, "", found->matched.name, found->matched.status == SPAN_ERROR ? " (failed)" : "");
}

static int print_table(struct command_context *context, const struct tracestore_results *results, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = { { "TRACE", TABLE_LEFT },   { "STARTED", TABLE_LEFT },
                                                   { "TOOK", TABLE_RIGHT },   { "SPANS", TABLE_RIGHT },
                                                   { "ERRORS", TABLE_RIGHT }, { "SPAN TOOK", TABLE_RIGHT },
                                                   { "SERVICE", TABLE_LEFT }, { "OPERATION", TABLE_LEFT } };
    struct table table;

    if (results->n == 0) {
        command_note(context, "no trace matches; %llu spans were looked at", (unsigned long long)results->n_searched);
        return 0;
    }
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < results->n; i++)
        print_row(&table, &results->items[i]);
    if (results->next_page[0])
        command_note(context, "there are more: add --page %s", results->next_page);
    return table_print(&table, context->has_colour, out, err);
}

/* --- the run --- */

static int search(struct command_context *context, const struct tracestore_filter *filter, struct error *err)
{
    const struct traces_config *config = context->config;
    AUTO(storagesignals_end_traces) struct storagesignals_traces use = { 0 };
    struct tracestore_search asked = { .filter = *filter,
                                       .order = (enum tracestore_order)config->order,
                                       .limit = (uint32_t)config->limit,
                                       .page = slice_from(config->page) };
    struct tracestore_results results;
    struct buffer out;
    int result = 0;

    if (ask_use_traces(context, &config->ask, &use, err) < 0 ||
        tracestore_search(use.store, slice_from(config->ask.tenant), &asked, &use.asker, context->arena, &results,
                          err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(&results, &out);
    else
        result = print_table(context, &results, &out, err);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct traces_config *config = context->config;
    struct tracestore_filter filter;
    struct spanids ids;
    int result = 0;

    if (storage_check_tenant(config->ask.tenant, err) < 0 || read_filter(context, &filter, err) < 0)
        return -1;
    spanids_init(&ids, MAX_FUNCTION_SPANS);
    if (config->query || config->function) {
        result = find_ids(context, &filter, &ids, err);
        filter.ids = &ids;
    }
    if (result == 0)
        result = search(context, &filter, err);
    spanids_done(&ids);
    return result;
}

const struct command cmd_traces = {
    .name = "traces",
    .summary = "Search traces",
    .description =
        "Lists traces that have a span as asked for: of a service, of an operation, of some duration, failed, with an "
        "attribute; in a range of time, the last hour unless given. All that is asked must hold for one and the same "
        "span. The table shows the trace, and of it the span by which it was found: the newest, or the slowest. "
        "Counted are the spans that started within an hour of it; of a very long trace not all of these, and a + says "
        "that there are more.\n\n"
        "With --query and --function, traces that went through a function: the span has samples in which it was seen.",
    .config_bytes = sizeof(struct traces_config),
    .options = { OPTION_GROUP("Options", listing_options), OPTION_GROUP("Selecting", traces_options),
                 OPTION_GROUP("By samples", function_options), ASK_PLAIN_GROUPS(traces_config, ask) },
    .examples = { { "hearth traces --service checkout --min-duration 500ms --order slowest",
                    "The slowest traces through a service." },
                  { "hearth traces --error --attribute http.route=/pay", "Those in which a route failed." },
                  { "hearth traces --query shop.cpu --function '^json_parse$' --order slowest",
                    "The slowest traces in which a function was seen." } },
    .run = run,
};
