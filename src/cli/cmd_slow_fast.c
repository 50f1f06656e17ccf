// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "cli/commands.h"
#include "cli/comparing.h"
#include "cli/storagesignals.h"
#include "join/operationspans.h"
#include "join/spanfamily.h"

struct slow_fast_config {
    struct comparing_config comparing;
    struct ask_config ask;
    struct askspans_config spans;
    double share;
    unsigned scale;
    const char *from, *until;
};

enum { SCALE_SPANS, SCALE_TOTALS, SCALE_NONE };
static const char *const scale_words[] = {
    [SCALE_SPANS] = "spans", [SCALE_TOTALS] = "totals", [SCALE_NONE] = "none", NULL
};
static const enum diff_scaling scalings[] = {
    [SCALE_SPANS] = DIFF_EQUAL_COUNTS, [SCALE_TOTALS] = DIFF_EQUAL_TOTALS, [SCALE_NONE] = DIFF_ABSOLUTE
};

static const struct option_spec slow_fast_options[] = {
    { "share", OPTION_PERCENT, FIELD(slow_fast_config, share), "5%", "How many of the spans are the slow ones.",
      .min = "0.01%", .max = "90%", .is_flag_only = true },
    { "scale", OPTION_ENUM, FIELD(slow_fast_config, scale), "spans",
      "Scale the slow ones before comparing: to as many spans (what a span costs), to equal totals (which share of "
      "it), "
      "or not at all.",
      .words = scale_words },
    { "from", OPTION_TEXT, FIELD(slow_fast_config, from), NULL,
      "Spans and profiles that began at this time or later; an hour before --until unless given. " STORAGE_TIME_HELP,
      .value_name = "TIME", .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(slow_fast_config, until), NULL,
      "Spans and profiles that began before this time; now unless given. Written as --from.", .value_name = "TIME",
      .is_flag_only = true },
};

enum { FAST, SLOW };
static const char *const side_names[] = { [FAST] = "the other spans", [SLOW] = "the slowest spans" };

/* "2 spans of 19.2ms and more": from which duration on spans are slow, and how many there are. */
static void tell_split(const struct ask *ask, const struct operationspans *spans, size_t n_slow)
{
    const struct slow_fast_config *config = ask->context->config;
    char slow[64] = "is one span";

    if (n_slow > 1)
        snprintf(slow, sizeof(slow), "are %zu spans", n_slow);
    askspans_tell_cut(ask, config->spans.operation, spans);
    command_note(ask->context, "the slowest %s of '%s' %s of %s and more, against %zu up to %s",
                 units_human_percent(config->share).text, config->spans.operation, slow,
                 units_human_ns(spans->items[n_slow - 1].duration_ns).text, spans->n - n_slow,
                 units_human_ns(spans->items[n_slow].duration_ns).text);
}

/* Gives each side its spans; `spans` are two or more, and gone afterwards. */
static int split(const struct ask *ask, const struct storagesignals_traces *traces,
                 const struct operationspans_query *query, struct operationspans *spans,
                 struct ask_question questions[2], uint64_t ret_counts[2], struct error *err)
{
    const struct slow_fast_config *config = ask->context->config;
    size_t n_slow = operationspans_split(spans, config->share);
    struct spanids *sets[] = { [FAST] = &questions[FAST].spans.set, [SLOW] = &questions[SLOW].spans.set };
    struct spanfamily_query family = { .traces = traces->store,
                                       .tenant = query->tenant,
                                       .from_ns = query->from_ns,
                                       .until_ns = query->until_ns,
                                       .asker = query->asker };

    for (unsigned i = 0; i < 2; i++) {
        spanids_init(sets[i], SPANFAMILY_MAX_SPANS);
        questions[i].spans.ids = (struct store_ids){ .span_set = sets[i] };
        questions[i].query.ids = &questions[i].spans.ids;
        questions[i].spans.is_own = config->spans.attribution == ASKSPANS_OWN;
    }
    if (operationspans_ids(spans, 0, n_slow, sets[SLOW], err) < 0 ||
        operationspans_ids(spans, n_slow, spans->n, sets[FAST], err) < 0)
        return -1;
    tell_split(ask, spans, n_slow);
    ret_counts[FAST] = spans->n - n_slow;
    ret_counts[SLOW] = n_slow;
    operationspans_done(spans); /* families need the memory */
    if (config->spans.attribution == ASKSPANS_OWN)
        return 0;
    return spanfamily_of_service(&family, query->service, sets, ARRAY_LEN(sets), err);
}

static int split_all(const struct ask *ask, const struct storagesignals_traces *traces,
                     struct ask_question questions[2], uint64_t ret_counts[2], struct error *err)
{
    const struct slow_fast_config *config = ask->context->config;
    struct operationspans_query query = { .traces = traces->store,
                                          .tenant = slice_from(config->ask.tenant),
                                          .operation = slice_from(config->spans.operation),
                                          .from_ns = questions[0].query.from_ns,
                                          .until_ns = questions[0].query.until_ns,
                                          .asker = traces->asker };
    AUTO(operationspans_done) struct operationspans spans = { 0 };

    if (askspans_service(&questions[0], &query.service, err) < 0 || operationspans_read(&query, &spans, err) < 0)
        return -1;
    if (spans.n >= 2)
        return split(ask, traces, &query, &spans, questions, ret_counts, err);
    if (spans.n == 0 && askspans_tell_none(ask, traces, query.service, config->spans.operation, &questions[0], err) < 0)
        return -1;
    return error_set(err, ERR_NOT_FOUND,
                     "operation '%s' of service '%.*s' has %s in this time, and there is nothing to compare",
                     config->spans.operation, SLICE_ARG(query.service), spans.n ? "one span" : "no spans");
}

static int resolve_both(const struct ask *ask, struct ask_question questions[2], struct error *err)
{
    const struct slow_fast_config *config = ask->context->config;
    int64_t from_ns, until_ns;

    if (storage_parse_range(config->from, config->until, ask->now_ns, &from_ns, &until_ns, err) < 0)
        return -1;
    for (unsigned i = 0; i < 2; i++)
        if (ask_resolve(ask, ask->context->arguments.items[0], config->comparing.view.type, from_ns, until_ns,
                        &questions[i], err) < 0)
            return -1;
    ask_tell_choice(ask, &questions[0]);
    return 0;
}

static int answer(const struct ask *ask, struct ask_question questions[2], struct error *err)
{
    const struct slow_fast_config *config = ask->context->config;
    AUTO(storagesignals_end_traces) struct storagesignals_traces use = { 0 };
    const char *title = arena_printf(ask->context->arena, err, "%s: the slowest %s against the others",
                                     config->spans.operation, units_human_percent(config->share).text);
    struct comparing_config scaled = config->comparing;
    struct comparing comparing = { .context = ask->context,
                                   .config = &scaled,
                                   .sides = { side_names[FAST], side_names[SLOW] },
                                   .title = slice_from(title) };

    scaled.table.scaling = scalings[config->scale];
    if (!title || resolve_both(ask, questions, err) < 0 || ask_use_traces(ask->context, ask->config, &use, err) < 0 ||
        split_all(ask, &use, questions, comparing.counts, err) < 0)
        return -1;
    return comparing_questions(&comparing, ask, questions, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct slow_fast_config *config = context->config;
    AUTO(ask_close) struct ask ask = { 0 };
    struct ask_question questions[2] = { 0 };
    int result;

    if (comparing_check(context, &config->comparing, err) < 0)
        return -1;
    if (!config->spans.operation)
        return error_set(err, ERR_USAGE, "'hearth slow-fast' needs --operation; 'hearth operations' lists them");
    if (ask_open(&ask, context, &config->ask, err) < 0)
        return -1;
    result = answer(&ask, questions, err);
    for (unsigned i = 0; i < 2; i++)
        ask_question_done(&questions[i]);
    return result;
}

const struct command cmd_slow_fast = {
    .name = "slow-fast",
    .summary = "Show what the slowest spans of an operation did that the others did not",
    .description =
        "Compares the samples of the slowest spans of an operation with those of its other spans, function by "
        "function, "
        "as 'hearth diff' does: before are the others, after are the slow ones. The service is that of the query. How "
        "many "
        "spans each side has, and from which duration on they are slow, is told on standard error.\n\n"
        "What a span costs is compared: where slow spans do more of everything, everything grew. --scale totals "
        "compares "
        "shares, and so answers what they do differently.\n\n"
        "Samples must carry the ids of spans. By --attribution root those of spans below count as well, where these "
        "are of the same process.",
    .config_bytes = sizeof(struct slow_fast_config),
    .options = { COMPARING_UNSCALED_GROUPS(slow_fast_config, comparing), OPTION_GROUP("Selecting", slow_fast_options),
                 ASKSPANS_GROUP(slow_fast_config, spans), VIEW_GROUP(slow_fast_config, comparing.view),
                 VIEW_FILTER_GROUP(slow_fast_config, comparing.view.filter),
                 VIEW_FILTER_TAG_GROUP(slow_fast_config, comparing.view.filter), ASK_GROUPS(slow_fast_config, ask) },
    .arguments = { { "QUERY", COMMAND_ARGUMENT_TEXT, 1, 1, "Which samples, as for 'hearth query': 'checkout.cpu'." } },
    .examples = { { "hearth slow-fast shop.cpu --operation 'GET /pay' --attribution root",
                    "What the slowest twentieth of an operation spends more CPU time on than the rest, with all that "
                    "is below." },
                  { "hearth slow-fast shop.cpu --operation 'GET /pay' --share 1% -o slow.html",
                    "The slowest hundredth, by samples of these very spans, as a page." } },
    .run = run,
};
