// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/showpeek.h"

struct peek_config {
    struct view_config view;
    uint64_t rows;
};

static const struct option_spec peek_options[] = {
    { "rows", OPTION_UINT, FIELD(peek_config, rows), "20",
      "How many callers and callees of each function to show; 0 shows all.", .letter = 'n' },
};

static int match(struct top *top, const struct pattern *pattern, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;

    if (pattern_scratch_new(&scratch, err) < 0)
        return -1;
    return top_match(top->graph, pattern, scratch, top->functions, &top->n, err);
}

static int show(struct command_context *context, const struct view *view, struct error *err)
{
    const struct peek_config *config = context->config;
    const char *text = context->arguments.items[0];
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(top_freep) struct top *top = NULL;
    struct buffer out;
    int result;

    if (showpeek_pattern("PATTERN", text, &pattern, err) < 0 ||
        top_new(view->profile, &view->type, 1, (enum symbol_granularity)config->view.granularity, TOP_BY_TOTAL, &top,
                err) < 0 ||
        match(top, pattern, err) < 0)
        return -1;
    buffer_init(&out, 0);
    result = showpeek_print(context, text, config->rows, view, top, config->view.is_json, &out, err);
    input_warn(context, "peek", &top->flame->report);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct peek_config *config = context->config;
    struct option_list files = { context->arguments.items + 1, context->arguments.n - 1 };

    return view_run(context, &config->view, files, show, err);
}

const struct command cmd_peek = {
    .name = "peek",
    .summary = "Show the callers and callees of functions",
    .description = "For each function whose name matches the pattern: who calls it and what it calls, with the value "
                   "that flows through each call as a share of the function's total. A sample in which a call recurs "
                   "counts once.",
    .config_bytes = sizeof(struct peek_config),
    .options = { OPTION_GROUP("Options", peek_options), VIEW_GROUP(peek_config, view),
                 VIEW_FILTER_GROUP(peek_config, view.filter), VIEW_FILTER_LABEL_GROUP(peek_config, view.filter),
                 INPUT_GROUP(peek_config, view.input), INPUT_MERGE_GROUP(peek_config, view.input) },
    .arguments = { { "PATTERN", COMMAND_ARGUMENT_TEXT, 1, 1, "Regular expression that function names must match." },
                   { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged." } },
    .examples = { { "hearth peek 'malloc$' cpu.pb.gz", "Who calls malloc, and what it calls." } },
    .run = run,
};
