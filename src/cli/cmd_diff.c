// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/comparing.h"
#include "cli/output.h"

struct diff_config {
    struct comparing_config comparing;
    struct ask_config ask;
    struct askspans_config spans;
    const char *baseline, *comparison; /* queries, instead of files */
    int64_t time_range_ns;
    const char *until, *baseline_from, *baseline_until;
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

/* --- two files --- */

static int compare_files(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    const char *const *paths = context->arguments.items;
    struct view_config second = config->comparing.view;
    struct slice title = title_of(context, err);
    struct view views[2];
    int result;

    if (!title.ptr || view_open(&views[0], context, &config->comparing.view, (struct option_list){ paths, 1 }, err) < 0)
        return -1;
    second.like = &views[0];
    if (view_open(&views[1], context, &second, (struct option_list){ paths + 1, 1 }, err) < 0) {
        view_close(&views[0]);
        return error_wrap(err, "comparing '%s' with '%s'", paths[0], paths[1]);
    }
    result = comparing_views(&(struct comparing){ .context = context, .config = &config->comparing, .title = title },
                             views, err);
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

/* Where no type is named, each query has its own. */
static int check_types(const struct view views[2], struct error *err)
{
    if (slice_equal(views[0].type_name, views[1].type_name))
        return 0;
    return error_set(err, ERR_INVALID, "this is about '%.*s', and --baseline about '%.*s'; --type names one for both",
                     SLICE_ARG(views[1].type_name), SLICE_ARG(views[0].type_name));
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
        if (ask_resolve(ask, texts[i], config->comparing.view.type, ranges[i].from_ns, ranges[i].until_ns,
                        &questions[i], err) < 0)
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
    struct comparing comparing = { .context = ask->context,
                                   .config = &config->comparing,
                                   .sides = { "--baseline", "--comparison" },
                                   .title = title_of(ask->context, err) };

    if (!comparing.title.ptr || resolve_sides(ask, questions, err) < 0)
        return -1;
    for (unsigned i = 0; i < 2; i++)
        if (askspans_narrow(ask, &config->spans, &questions[i], err) < 0)
            return error_wrap(err, "--%s", side_options[i]);
    return comparing_questions(&comparing, ask, questions, err);
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
static int check_no_queries(const struct diff_config *config, struct error *err)
{
    const char *option = config->until             ? "until"
                         : config->baseline_from   ? "baseline-from"
                         : config->baseline_until  ? "baseline-until"
                         : config->spans.operation ? "operation"
                                                   : NULL;

    if (!option)
        return 0;
    return error_set(err, ERR_USAGE, "--%s chooses profiles of a store; give --baseline and --comparison", option);
}

static int run(struct command_context *context, struct error *err)
{
    const struct diff_config *config = context->config;
    bool has_queries = config->baseline || config->comparison;

    if (comparing_check(context, &config->comparing, err) < 0)
        return -1;
    if (has_queries && context->arguments.n > 0)
        return error_set(err, ERR_USAGE,
                         "'%s' is a file, and --baseline and --comparison are queries; give one or the "
                         "other",
                         context->arguments.items[0]);
    if (has_queries && !(config->baseline && config->comparison))
        return error_set(err, ERR_USAGE, "--%s alone compares nothing; give --%s, too",
                         config->baseline ? "baseline" : "comparison", config->baseline ? "comparison" : "baseline");
    if (has_queries && config->comparing.view.filter.labels.n > 0)
        return error_set(err, ERR_USAGE,
                         "--label chooses samples of files; of queries, conditions go into their braces");
    if (has_queries && config->comparing.view.input.from)
        return error_set(
            err, ERR_USAGE,
            "--from is the format of files; of queries, --time-range, --until and --baseline-from say which "
            "time is meant");
    if (has_queries)
        return compare_answers(context, err);
    if (check_no_queries(config, err) < 0)
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
    .options = { COMPARING_GROUPS(diff_config, comparing), OPTION_GROUP("Queries", query_options),
                 ASKSPANS_GROUP(diff_config, spans), VIEW_GROUP(diff_config, comparing.view),
                 VIEW_FILTER_GROUP(diff_config, comparing.view.filter),
                 VIEW_FILTER_LABEL_GROUP(diff_config, comparing.view.filter),
                 INPUT_GROUP(diff_config, comparing.view.input), INPUT_MERGE_GROUP(diff_config, comparing.view.input),
                 ASK_GROUPS(diff_config, ask) },
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
