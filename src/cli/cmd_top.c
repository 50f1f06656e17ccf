// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/showtop.h"

struct top_config {
    struct view_config view;
    struct showtop_config table;
};

static int show(struct command_context *context, const struct view *view, struct error *err)
{
    const struct top_config *config = context->config;
    AUTO(top_freep) struct top *top = NULL;
    struct buffer out;
    int result;

    if (top_new(view->profile, &view->type, 1, (enum symbol_granularity)config->view.granularity,
                showtop_order(&config->table), &top, err) < 0)
        return -1;
    buffer_init(&out, 0);
    result = showtop_print(context, &config->table, view, top, config->view.is_json, &out, err);
    input_warn(context, "top", &top->flame->report);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct top_config *config = context->config;

    return view_run(context, &config->view, context->arguments, show, err);
}

const struct command cmd_top = {
    .name = "top",
    .summary = "Show the functions that cost most",
    .description =
        "Lists functions by what was spent in them. SELF is what the function itself cost, TOTAL includes all it "
        "called (recursion is counted once), SUM% adds up SELF% from the top. ERROR is the sampling error of the value "
        "sorted by, as one standard deviation: a value of 16 samples is only known to a quarter.\n\n"
        "Self and total are those that pprof calls flat and cum.",
    .config_bytes = sizeof(struct top_config),
    .options = { SHOWTOP_GROUP("Options", top_config, table), VIEW_GROUP(top_config, view),
                 VIEW_FILTER_GROUP(top_config, view.filter), VIEW_FILTER_LABEL_GROUP(top_config, view.filter),
                 INPUT_GROUP(top_config, view.input), INPUT_MERGE_GROUP(top_config, view.input) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged." } },
    .examples = { { "hearth top cpu.pb.gz", "The thirty most expensive functions." },
                  { "hearth top --cum -n 10 --focus 'json\\.' cpu.pb.gz",
                    "The ten largest by total, in samples that pass through JSON code." },
                  { "hearth top --type alloc_space heap.pb.gz",
                    "What allocated most, of the four types of a Go heap." } },
    .run = run,
};
