// SPDX-License-Identifier: Apache-2.0
/* `hearth query`: what a store holds of a selection, as a table, a tree or a file. Tables and trees of functions come from
 * the engine; all else goes through a profile, as files do. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/showpeek.h"
#include "cli/showtop.h"
#include "cli/showtree.h"

struct query_config {
    struct ask_config ask;
    struct ask_selection selection;
    struct view_config view; /* of which granularity, filter, is_json and is_local are options here */
    struct showtop_config table;
    struct showtree_config tree;
    unsigned format; /* of answer_words, or behind them an index into the formats that can be written */
    const char *output;
    const char *function; /* of ANSWER_PEEK */
};

enum answer { ANSWER_AUTO, ANSWER_TOP, ANSWER_PEEK, ANSWER_TREE, ANSWER_TREE_JSON, ANSWER_TREE_BYTES, ANSWER_FILE };
static const char *const answer_words[] = { "auto", "top", "peek", "tree", "json", "flame" };

static const char *format_word(size_t index)
{
    const struct format *format;

    if (index < ARRAY_LEN(answer_words))
        return answer_words[index];
    format = output_format(index - ARRAY_LEN(answer_words));
    return format ? format->name : NULL;
}

static const struct option_spec query_options[] = {
    { "format", OPTION_ENUM, FIELD(query_config, format), "auto",
      "What to make of the answer: the table of functions (top), some functions with their callers and callees (peek), "
      "the tree of calls, as text, as JSON or in the compact form for pages (flame), or a profile. By itself it "
      "follows the name of --output, and is the "
      "table "
      "without one.",
      .word_at = format_word },
    { "json", OPTION_BOOL, FIELD(query_config, view.is_json), "false",
      "Write tables and trees as JSON; --format json is the tree alone." },
    { "function", OPTION_REGEX, FIELD(query_config, function), NULL,
      "Show functions whose name matches with their callers and callees; what --format peek is about." },
    { "output", OPTION_FILE, FIELD(query_config, output), "-",
      "Write to this file; - is standard output. Profiles are compressed as its name says.", .letter = 'o',
      .is_flag_only = true, .is_of_machine = true },
    { "granularity", OPTION_ENUM, FIELD(query_config, view.granularity), "function", "What counts as one function.",
      .words = view_granularity_words },
    { "local", OPTION_BOOL, FIELD(query_config, view.is_local), "false",
      "Show times in the local zone instead of UTC." },
};

/* What to make of the answer. */
struct shape {
    enum answer answer;          /* once it is chosen, ANSWER_TREE for every form of it, and never ANSWER_AUTO */
    const struct format *format; /* of a file */
    bool is_json;                /* of what is no file */
    bool is_bytes;               /* a tree in the flame format */
};

/* --function and --format peek are about each other. */
static int check_function(const struct query_config *config, const struct shape *shape, struct error *err)
{
    if (shape->answer == ANSWER_PEEK && !config->function)
        return error_set(err, ERR_USAGE,
                         "--format peek needs --function, a pattern for the names of functions to show");
    if (shape->answer != ANSWER_PEEK && config->function)
        return error_set(err, ERR_USAGE, "--function is what --format peek shows; --focus filters other answers");
    return 0;
}

static int check_path(const struct query_config *config, const struct shape *shape, struct error *err)
{
    if (config->tree.path && shape->answer != ANSWER_TREE)
        return error_set(err, ERR_USAGE, "--path begins a tree elsewhere; add --format tree, json or flame");
    return 0;
}

static int check_json(const struct query_config *config, const struct shape *shape, struct error *err)
{
    if (shape->is_bytes && config->view.is_json)
        return error_set(err, ERR_USAGE, "--json and --format flame are two forms of a tree; leave one out");
    if (shape->answer == ANSWER_FILE && config->view.is_json)
        return error_set(err, ERR_USAGE,
                         "--json writes tables and trees, and this is a file of format %s; leave it out",
                         shape->format->name);
    return 0;
}

/* What --format auto means: peek, or by the name of the file, or a table. */
static int guess_shape(const struct query_config *config, struct shape *ret_shape, struct error *err)
{
    const struct format *format = output_find_by_path(slice_from(config->output));

    if (config->function)
        ret_shape->answer = ANSWER_PEEK;
    else if (format && format->encode)
        *ret_shape = (struct shape){ .answer = ANSWER_FILE, .format = format };
    else if (strcmp(config->output, "-") == 0 || config->view.is_json)
        ret_shape->answer = ANSWER_TOP;
    else
        return error_set(err, ERR_USAGE, "'%s' does not tell which format to write; add --format", config->output);
    return 0;
}

static int choose_shape(const struct query_config *config, struct shape *ret_shape, struct error *err)
{
    struct shape shape = { .answer = ANSWER_FILE, .is_json = config->view.is_json };

    if (config->format >= ARRAY_LEN(answer_words))
        shape.format = output_format(config->format - ARRAY_LEN(answer_words));
    else
        shape.answer = (enum answer)config->format;
    if (shape.answer == ANSWER_TREE_JSON) {
        shape.answer = ANSWER_TREE;
        shape.is_json = true;
    } else if (shape.answer == ANSWER_TREE_BYTES) {
        shape.answer = ANSWER_TREE;
        shape.is_bytes = true;
    }
    if (shape.answer == ANSWER_AUTO && guess_shape(config, &shape, err) < 0)
        return -1;
    *ret_shape = shape;
    return 0;
}

/* --- text --- */

/* What there is to print: functions for a table or with their callers and callees, else a tree. */
struct shown {
    const struct flame *flame;
    const struct top *top; /* NULL for trees */
};

static enum showtree_form tree_form(const struct shape *shape)
{
    return shape->is_bytes ? SHOWTREE_BYTES : shape->is_json ? SHOWTREE_JSON : SHOWTREE_TEXT;
}

static int print(struct command_context *context, const struct shape *shape, const struct view *view,
                 const struct showtree_config *tree, const struct shown *shown, struct error *err)
{
    const struct query_config *config = context->config;
    struct buffer out;
    int result;

    if (shape->is_bytes && output_is_terminal(context, config->output))
        return error_set(err, ERR_USAGE,
                         "the flame format is binary and would garble the terminal; name a file or use a pipe");
    buffer_init(&out, 0);
    result =
        shape->answer == ANSWER_TOP
            ? showtop_print(context, &config->table, view, shown->top, shape->is_json, &out, err)
        : shape->answer == ANSWER_PEEK
            ? showpeek_print(context, config->function, config->table.rows, view, shown->top, shape->is_json, &out, err)
            : showtree_print(context, tree, view, shown->flame, tree_form(shape), &out, err);
    input_warn(context, "query", &shown->flame->report);
    if (strcmp(config->output, "-") == 0)
        return view_finish(context, &out, result, err);
    if (result == 0)
        result = buffer_check(&out, err);
    if (result == 0)
        result = output_write_bytes(context, buffer_slice(&out), config->output, err);
    buffer_done(&out);
    return result;
}

/* --- by the engine --- */

static bool is_table(const struct shape *shape)
{
    return shape->answer == ANSWER_TOP || shape->answer == ANSWER_PEEK;
}

/* Whether the engine makes the very answer. */
static bool is_plain(const struct query_config *config, const struct shape *shape)
{
    return shape->answer != ANSWER_FILE && config->view.granularity == SYMBOL_FUNCTION &&
           (is_table(shape) || !(config->tree.is_inverted || config->tree.collapses_recursion));
}

static int find_functions(const struct ask *ask, const struct ask_question *question, const struct shape *shape,
                          struct top **ret_top, struct query_facts *facts, struct error *err)
{
    const struct query_config *config = ask->context->config;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    int result;

    if (shape->answer == ANSWER_PEEK) {
        if (showpeek_pattern("--function", config->function, &pattern, err) < 0)
            return -1;
        result = engine_peek(ask->engine, &question->query, pattern, ret_top, facts, err);
    } else
        result = engine_top(ask->engine, &question->query, showtop_order(&config->table),
                            (uint32_t)MIN(config->table.rows, (uint64_t)UINT32_MAX), ret_top, facts, err);
    if (result < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, facts);
    return 0;
}

static int find_tree(const struct ask *ask, const struct ask_question *question, struct flame **ret_flame,
                     struct query_facts *facts, struct error *err)
{
    const struct query_config *config = ask->context->config;
    struct engine_flame_options options = { .max_nodes = (uint32_t)config->tree.max_nodes,
                                            .min_share = config->tree.min_share };
    struct slice *path;

    if (showtree_path(ask->context, &config->tree, &path, &options.n_path, err) < 0)
        return -1;
    options.path = path;
    if (engine_flame_part(ask->engine, &question->query, &options, ret_flame, facts, err) < 0)
        return ask_failed(ask, err);
    ask_count(ask->context, facts);
    return 0;
}

static int answer_by_engine(const struct ask *ask, const struct ask_question *question, const struct shape *shape,
                            struct error *err)
{
    const struct query_config *config = ask->context->config;
    struct showtree_config tree = config->tree;
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(top_freep) struct top *top = NULL;
    struct shown shown;
    struct query_facts facts;
    struct view view;

    if (is_table(shape) ? find_functions(ask, question, shape, &top, &facts, err) < 0
                        : find_tree(ask, question, &flame, &facts, err) < 0)
        return -1;
    if (facts.n_rows == 0 && ask_tell_empty(ask, question, err) < 0)
        return -1;
    if (facts.n_rows == 0 && !shape->is_json && !shape->is_bytes)
        return 0;
    shown = (struct shown){ top ? top->flame : flame, top };
    view = ask_view(question, &facts, flame_total(shown.flame, 0, 0), config->view.is_local);
    tree.path = NULL; /* the tree begins at its end */
    return print(ask->context, shape, &view, &tree, &shown, err);
}

/* --- by way of a profile --- */

static int find_functions_of(const struct view *view, const struct shape *shape, const struct query_config *config,
                             struct top **ret_top, struct error *err)
{
    AUTO(top_freep) struct top *top = NULL;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    enum top_order order = shape->answer == ANSWER_PEEK ? TOP_BY_TOTAL : showtop_order(&config->table);

    if (top_new(view->profile, &view->type, 1, (enum symbol_granularity)config->view.granularity, order, &top, err) < 0)
        return -1;
    if (shape->answer == ANSWER_PEEK && (showpeek_pattern("--function", config->function, &pattern, err) < 0 ||
                                         pattern_scratch_new(&scratch, err) < 0 ||
                                         top_match(top->graph, pattern, scratch, top->functions, &top->n, err) < 0))
        return -1;
    *ret_top = TAKE(top);
    return 0;
}

static int show_profile(struct command_context *context, const struct shape *shape, const struct view *view,
                        struct error *err)
{
    const struct query_config *config = context->config;
    enum symbol_granularity granularity = (enum symbol_granularity)config->view.granularity;
    struct flame_options options = showtree_flame_options(&config->tree, granularity);
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(top_freep) struct top *top = NULL;
    struct shown shown;

    if (is_table(shape) ? find_functions_of(view, shape, config, &top, err) < 0
                        : flame_new(view->profile, &view->type, 1, &options, &flame, err) < 0)
        return -1;
    shown = (struct shown){ top ? top->flame : flame, top };
    return print(context, shape, view, &config->tree, &shown, err);
}

static int write_profile(struct command_context *context, const struct shape *shape, const struct batch *batch,
                         struct error *err)
{
    const struct query_config *config = context->config;
    struct format_write_options options = { .type = PROFILE_NO_TYPE, .title = slice_from(context->arguments.items[0]) };

    output_pack_by_name(config->output, &options);
    return output_write(context, batch, shape->format, &options, config->output, err);
}

/* Nothing as a file is a profile without samples; else it is the same whichever way it is found. */
static int answer_nothing(const struct ask *ask, const struct ask_question *question, const struct shape *shape,
                          const struct batch *batch, struct error *err)
{
    if (shape->answer != ANSWER_FILE)
        return answer_by_engine(ask, question, shape, err);
    if (ask_tell_empty(ask, question, err) < 0)
        return -1;
    return write_profile(ask->context, shape, batch, err);
}

static int answer_by_profile(const struct ask *ask, struct ask_question *question, const struct shape *shape,
                             struct error *err)
{
    const struct query_config *config = ask->context->config;
    struct view_config viewing = config->view;
    struct query_facts facts;
    struct view_query about;
    struct batch batch;
    struct view view;
    int result;

    if (ask_filter_tags(ask, &config->view.filter, question, &viewing.filter, err) < 0 ||
        ask_profile(ask, question, &batch, &facts, err) < 0)
        return -1;
    if (facts.n_rows == 0) {
        result = answer_nothing(ask, question, shape, &batch, err);
        batch_done(&batch);
        return result;
    }
    input_warn(ask->context, "query", &batch.report);
    about = ask_view_query(question, &facts);
    if (view_open_batch(&view, ask->context, &viewing, &batch, facts.n_rows, &about, err) < 0)
        return -1;
    result = shape->answer == ANSWER_FILE
                 ? write_profile(ask->context, shape, view.is_filtered ? &view.filtered : &view.input.batch, err)
                 : show_profile(ask->context, shape, &view, err);
    view_close(&view);
    return result;
}

/* --- the run --- */

static int run(struct command_context *context, struct error *err)
{
    const struct query_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    AUTO(ask_question_done) struct ask_question question = { 0 };
    struct shape shape;

    if (choose_shape(config, &shape, err) < 0 || check_function(config, &shape, err) < 0 ||
        check_path(config, &shape, err) < 0 || check_json(config, &shape, err) < 0 ||
        ask_begin(&ask, &question, context, &config->ask, &config->selection, err) < 0)
        return -1;
    if (!is_plain(config, &shape))
        return answer_by_profile(&ask, &question, &shape, err);
    if (ask_filter(&ask, &config->view.filter, &question, err) < 0)
        return -1;
    return answer_by_engine(&ask, &question, &shape, err);
}

const struct command cmd_query = {
    .name = "query",
    .summary = "Show what a store holds: a table, a tree, or a file",
    .description =
        "Adds up all profiles that a query chooses and that began in a range of time, the last hour unless given.\n\n"
        "A query is a service, a service and a short type, or a profile type, and conditions on labels in braces: "
        "'checkout', 'checkout.cpu{zone=eu-1}', "
        "'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"checkout\"}', or '{version=~\"1\\..*\"}'. Labels "
        "of "
        "samples, like thread_name, are seen as those of series are. A query that names no type asks for CPU time if "
        "there is any, and what was chosen is told on standard error.\n\n"
        "CPU time, allocations and other flows are added up. Levels, like memory in use, are averaged over the range "
        "and added up over the instances; --pyroscope-sums adds them up over time as well.\n\n"
        "--span-id, --trace-id and --profile-id take single spans, traces and profiles, within the query and the range "
        "of time. Each kind narrows further; of several ids of a kind any will do.\n\n"
        "If nothing matches, standard error says what there is, and the exit status is 0.",
    .config_bytes = sizeof(struct query_config),
    .options = { OPTION_GROUP("Options", query_options), ASK_SELECTION_GROUPS(query_config, selection),
                 VIEW_FILTER_GROUP(query_config, view.filter), VIEW_FILTER_TAG_GROUP(query_config, view.filter),
                 SHOWTOP_GROUP("Table", query_config, table), SHOWTREE_GROUP("Tree", query_config, tree),
                 ASK_GROUPS(query_config, ask) },
    .arguments = { { "QUERY", COMMAND_ARGUMENT_TEXT, 1, 1, "What to add up, like 'checkout.cpu{zone=\"eu-1\"}'." } },
    .examples = { { "hearth query checkout", "The functions of a service that cost most CPU time in the last hour." },
                  { "hearth query 'checkout.alloc_space{version=\"2\"}' --from now-1d --format tree",
                    "Who allocated in one version since yesterday." },
                  { "hearth query checkout --function '^malloc$'", "Who calls malloc, and what it calls." },
                  { "hearth query checkout --tagfocus thread_name=io", "What threads of that name did." },
                  { "hearth query '{}' --type cpu --span-id 00f067aa0ba902b7", "What one span spent its CPU time on." },
                  { "hearth query '{zone=~\"eu-.*\"}' --type cpu --until 2026-11-15T11:00:00Z -o cpu.pb.gz",
                    "An hour of several services as a file for other tools." } },
    .run = run,
};
