// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/showtrace.h"
#include "cli/storagesignals.h"
#include "query/idtext.h"

struct trace_config {
    struct ask_config ask;
    const char *from, *until;
    unsigned attribution; /* enum askspans_attribution */
    bool is_json;
};

static const struct option_spec trace_options[] = {
    { "from", OPTION_TEXT, FIELD(trace_config, from), NULL,
      "Spans that started at this time or later; all unless given. " STORAGE_TIME_HELP, .value_name = "TIME",
      .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(trace_config, until), NULL,
      "Spans that started before this time; all unless given. Written as --from.", .value_name = "TIME",
      .is_flag_only = true },
    { "attribution", OPTION_ENUM, FIELD(trace_config, attribution), "own",
      "Which samples a span has in JSON: those that carry its own id, or (root) also those of all spans below it in "
      "the "
      "same process.",
      .words = askspans_words, .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(trace_config, is_json), "false", "Write JSON." },
};

static int read_range(const struct trace_config *config, int64_t now_ns, int64_t *ret_from_ns, int64_t *ret_until_ns,
                      struct error *err)
{
    int64_t from_ns = INT64_MIN, until_ns = INT64_MAX;

    if ((config->from && storage_parse_time("from", config->from, now_ns, &from_ns, err) < 0) ||
        (config->until && storage_parse_time("until", config->until, now_ns, &until_ns, err) < 0))
        return -1;
    if (from_ns >= until_ns)
        return error_set(err, ERR_USAGE, "the range ends before it begins; look at --from and --until");
    *ret_from_ns = from_ns;
    *ret_until_ns = until_ns;
    return 0;
}

/* ERR_NOT_FOUND if there is none. */
static int load_trace(struct command_context *context, const struct storagesignals_traces *traces, const uint8_t *id,
                      struct showtrace *show, struct error *err)
{
    const struct trace_config *config = context->config;
    int64_t from_ns = 0, until_ns = 0;

    if (read_range(config, clock_now_ns(), &from_ns, &until_ns, err) < 0 ||
        tracestore_get(traces->store, slice_from(config->ask.tenant), id, from_ns, until_ns, &traces->asker,
                       context->arena, &show->trace, err) < 0)
        return -1;
    if (show->trace.n == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no trace %s%s; its spans may not be here yet, or not any more",
                         idtext_of_trace(id).text, config->from || config->until ? " in this time" : "");
    if (show->trace.is_cut)
        command_warn(context, "the trace has more than %u spans; these are the first", TRACESTORE_MAX_SPANS);
    return spantree_build(show->trace.spans, show->trace.n, context->arena, &show->tree, err);
}

static int load_samples(struct command_context *context, const struct storagesignals_traces *traces,
                        struct showtrace *show, struct error *err)
{
    const struct trace_config *config = context->config;
    struct storage_use use = { 0 };
    struct query_facts facts = { 0 };
    int result;

    if (storage_use_to_read(context, &config->ask.store, &use, err) < 0)
        return -1;
    result = spansamples_read(&(struct spansamples_query){ .store = use.store,
                                                           .tenant = slice_from(config->ask.tenant),
                                                           .spans = show->trace.spans,
                                                           .n = show->trace.n,
                                                           .patience = { traces->asker.check, traces->asker.context } },
                              context->arena, &show->samples, &facts.reads, err);
    storage_use_end(&use);
    if (result < 0)
        return -1;
    ask_count(context, &facts);
    if (show->samples.is_cut)
        command_warn(context, "its samples are of more than %u types; some are left out", SPANSAMPLES_MAX_TYPES);
    if (show->attribution == ASKSPANS_ROOT)
        spansamples_to_roots(&show->tree, &show->samples);
    return 0;
}

/* The answer takes no more memory than what it is made of may. */
static int print(struct command_context *context, const struct showtrace *show, size_t max_bytes, struct error *err)
{
    const struct trace_config *config = context->config;
    struct buffer out;
    int result;

    buffer_init(&out, max_bytes);
    if (config->is_json) {
        result = showtrace_json(show, context->arena, &out, err);
        buffer_append_byte(&out, '\n');
    } else
        result = showtrace_print(show, context, &out, err);
    if (view_finish(context, &out, result, err) == 0)
        return 0;
    return err->code == ERR_LIMIT ? error_wrap(err, "ask for a part of the trace with --from and --until, or raise "
                                                    "--query-memory")
                                  : -1;
}

static int run(struct command_context *context, struct error *err)
{
    const struct trace_config *config = context->config;
    const struct command_served *served = context->world->served;
    AUTO(storagesignals_end_traces) struct storagesignals_traces use = { 0 };
    struct showtrace show = { .attribution = (enum askspans_attribution)config->attribution,
                              .link = served ? served->trace_link : NULL };
    uint8_t id[IDTEXT_TRACE_BYTES];

    if (idtext_parse_trace(slice_from(context->arguments.items[0]), id, err) < 0) {
        err->code = ERR_USAGE;
        return -1;
    }
    if (storage_check_tenant(config->ask.tenant, err) < 0 || ask_use_traces(context, &config->ask, &use, err) < 0 ||
        load_trace(context, &use, id, &show, err) < 0 || load_samples(context, &use, &show, err) < 0)
        return -1;
    return print(context, &show, use.asker.max_bytes, err);
}

const struct command cmd_trace = {
    .name = "trace",
    .summary = "Show a trace: its spans, and what samples say of them",
    .description =
        "Prints the spans of a trace as a waterfall: when each was, how long it took, how much of that it was on a CPU "
        "(the "
        "filled part of its bar) and how much no span below it explains (ITSELF). CPU time is that of samples that "
        "carry "
        "the span's id, from profiles of whichever service.\n\n"
        "As JSON each span comes with all that it was sent with, the number of its samples of each type, and where its "
        "time went: on a CPU, off it where that was sampled, in its children, or nobody knows; these sum to its "
        "duration. "
        "'hearth query' with --span-id shows what the samples are.",
    .config_bytes = sizeof(struct trace_config),
    .options = { OPTION_GROUP("Options", trace_options), ASK_PLAIN_GROUPS(trace_config, ask) },
    .arguments = { { "ID", COMMAND_ARGUMENT_TEXT, 1, 1, "The trace: 32 hexadecimal digits." } },
    .examples = { { "hearth trace 4bf92f3577b34da6a3ce929d0e0e4736", "A trace as a waterfall." },
                  { "hearth trace 4bf92f3577b34da6a3ce929d0e0e4736 --json --attribution root",
                    "All of it for programs, the samples of each span with those below." } },
    .run = run,
};
