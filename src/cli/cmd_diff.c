// SPDX-License-Identifier: Apache-2.0
#include "flame/diff.h"

#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/htmlfile.h"
#include "cli/output.h"
#include "cli/showdiff.h"
#include "page/pagefile.h"

struct diff_config {
    struct view_config view;
    struct showdiff_config table;
    struct showtree_config tree;
    unsigned form; /* enum form */
    const char *output;
    struct ask_config ask;
    const char *baseline, *comparison; /* queries, instead of files */
    int64_t time_range_ns;
    const char *until, *baseline_from, *baseline_until;
};

enum form { FORM_AUTO, FORM_TABLE, FORM_FLAME, FORM_HTML };
static const char *const form_words[] = {
    [FORM_AUTO] = "auto", [FORM_TABLE] = "table", [FORM_FLAME] = "flame", [FORM_HTML] = "html", NULL
};

static const struct option_spec form_options[] = {
    { "format", OPTION_ENUM, FIELD(diff_config, form), "auto",
      "What to make of the answer: the table of functions, or the tree of both sides, in the compact form for pages "
      "(flame) or as a page of its own that opens without a server (html), with all of the tree unless --min-share or "
      "--max-nodes is given. By itself it follows the name of --output, and is the table without one.",
      .words = form_words },
    { "output", OPTION_FILE, FIELD(diff_config, output), "-", "Write to this file; - is standard output.",
      .letter = 'o', .is_flag_only = true, .is_of_machine = true },
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

static struct diff_options options_of(const struct diff_config *config)
{
    return (struct diff_options){ .granularity = (enum symbol_granularity)config->view.granularity,
                                  .scaling = (enum diff_scaling)config->table.scaling,
                                  .order = config->table.is_by_total ? DIFF_BY_TOTAL : DIFF_BY_SELF,
                                  .collapses_recursion = config->tree.collapses_recursion };
}

static enum form form_of(const struct diff_config *config)
{
    if (config->form != FORM_AUTO)
        return (enum form)config->form;
    return output_find_by_path(slice_from(config->output)) == &htmlfile_format ? FORM_HTML : FORM_TABLE;
}

/* A page cannot ask for what was cut: it has as much as it can show, unless somebody wants less. */
static struct showtree_config tree_of(const struct command_context *context)
{
    const struct diff_config *config = context->config;
    struct showtree_config tree = config->tree;

    if (form_of(config) != FORM_HTML)
        return tree;
    if (options_get_origin(context->options, "min-share") == OPTION_FROM_DEFAULT)
        tree.min_share = 0;
    if (tree.max_nodes == 0)
        tree.max_nodes = HTMLFILE_MAX_NODES;
    return tree;
}

/* "before.pb against after.pb", or the two queries. */
static struct slice title_of(const struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    struct slice before = slice_from(config->baseline), after = slice_from(config->comparison);

    if (!config->baseline) {
        before = output_base_name(context->arguments.items[0]);
        after = output_base_name(context->arguments.items[1]);
    }
    return slice_from(arena_printf(context->arena, err, "%.*s against %.*s", SLICE_ARG(before), SLICE_ARG(after)));
}

static int print_page(struct command_context *context, const struct showtree_config *tree, const struct diff *diff,
                      struct buffer *out, struct error *err)
{
    struct slice title = title_of(context, err);
    AUTO(buffer_done) struct buffer flame;

    buffer_init(&flame, 0);
    if (title.len == 0 || showdiff_encode(context, tree, diff, &flame, err) < 0)
        return -1;
    return pagefile_write(title, buffer_slice(&flame), out, err);
}

/* Of a diff whose tree begins at the end of the path already, `tree` has none. */
static int print(struct command_context *context, const struct showtree_config *tree, const struct view views[2],
                 const struct diff *diff, struct error *err)
{
    const struct diff_config *config = context->config;
    struct buffer out;
    int result = -1;

    buffer_init(&out, 0);
    switch (form_of(config)) {
    case FORM_AUTO:
    case FORM_TABLE:
        result = showdiff_print(context, &config->table, views, diff, config->view.is_json, &out, err);
        break;
    case FORM_FLAME: result = showdiff_encode(context, tree, diff, &out, err); break;
    case FORM_HTML: result = print_page(context, tree, diff, &out, err); break;
    }
    input_warn(context, "diff", &diff->flame->report);
    if (strcmp(config->output, "-") == 0)
        return view_finish(context, &out, result, err);
    if (result == 0)
        result = buffer_check(&out, err);
    if (result == 0)
        result = output_write_bytes(context, buffer_slice(&out), config->output, err);
    buffer_done(&out);
    return result;
}

static int show(struct command_context *context, const struct view views[2], struct error *err)
{
    const struct diff_config *config = context->config;
    struct diff_options options = options_of(config);
    struct showtree_config tree = tree_of(context);
    AUTO(diff_freep) struct diff *diff = NULL;

    if (diff_new(views[0].profile, views[0].type, views[1].profile, views[1].type, &options, &diff, err) < 0)
        return -1;
    return print(context, &tree, views, diff, err);
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
    struct showtree_config tree = tree_of(ask->context);
    struct engine_flame_options part = { .max_nodes = (uint32_t)tree.max_nodes, .min_share = tree.min_share };
    AUTO(diff_freep) struct diff *diff = NULL;
    struct query_facts facts[2];
    struct view views[2];
    struct slice *path;

    if (showtree_path(ask->context, &tree, &path, &part.n_path, err) < 0)
        return -1;
    part.path = path;
    if (form_of(config) == FORM_TABLE)
        part.max_nodes = 1;
    if (engine_diff_part(ask->engine, &questions[0].query, &questions[1].query, &options, &part, &diff, facts, err) < 0)
        return ask_failed(ask, err);
    tree.path = NULL; /* the tree begins at its end */
    for (unsigned i = 0; i < 2; i++) {
        ask_count(ask->context, &facts[i]);
        if (check_side(ask, &questions[i], &facts[i], err) < 0)
            return error_wrap(err, "--%s", side_options[i]);
        views[i] =
            ask_view(&questions[i], &facts[i], i ? diff->after.total : diff->before.total, config->view.is_local);
    }
    return print(ask->context, &tree, views, diff, err);
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

/* Finer than functions, or by file, or with recursion collapsed. */
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
    if (config->view.granularity != SYMBOL_FUNCTION || config->tree.collapses_recursion)
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

static int check_form(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    enum form form = form_of(config);

    if (form == FORM_TABLE && config->tree.path)
        return error_set(err, ERR_USAGE, "--path begins a tree elsewhere; add --format flame or html");
    if (form != FORM_TABLE && config->view.is_json)
        return error_set(err, ERR_USAGE, "--json writes the table, and --format %s a tree; leave one out",
                         form_words[form]);
    if (form == FORM_FLAME && output_is_terminal(context, config->output))
        return error_set(err, ERR_USAGE,
                         "the flame format is binary and would garble the terminal; name a file or use a pipe");
    return 0;
}

static int run(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    bool has_queries = config->baseline || config->comparison;

    if (check_form(context, err) < 0)
        return -1;
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
    .options = { OPTION_GROUP("Options", form_options), SHOWDIFF_GROUP("Table", diff_config, table),
                 SHOWTREE_DIFF_GROUP("Tree", diff_config, tree), OPTION_GROUP("Queries", query_options),
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
