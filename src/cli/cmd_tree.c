// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/showtree.h"

struct tree_config {
    struct view_config view;
    struct showtree_config tree;
};

static int show(struct command_context *context, const struct view *view, struct error *err)
{
    const struct tree_config *config = context->config;
    struct flame_options options =
        showtree_flame_options(&config->tree, (enum symbol_granularity)config->view.granularity);
    AUTO(flame_freep) struct flame *flame = NULL;
    struct buffer out;
    int result;

    if (flame_new(view->profile, &view->type, 1, &options, &flame, err) < 0)
        return -1;
    buffer_init(&out, 0);
    result = showtree_print(context, &config->tree, view, flame, config->view.is_json ? SHOWTREE_JSON : SHOWTREE_TEXT,
                            &out, err);
    input_warn(context, "tree", &flame->report);
    return view_finish(context, &out, result, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct tree_config *config = context->config;

    return view_run(context, &config->view, context->arguments, show, err);
}

const struct command cmd_tree = {
    .name = "tree",
    .summary = "Show the tree of calls: a flame graph as text",
    .description =
        "Prints every path of calls once, callers above callees, the largest first. What is too small to show is added "
        "up as `other` below its parent, so that totals stay exact.",
    .config_bytes = sizeof(struct tree_config),
    .options = { SHOWTREE_GROUP("Options", tree_config, tree), VIEW_GROUP(tree_config, view),
                 VIEW_FILTER_GROUP(tree_config, view.filter), VIEW_FILTER_LABEL_GROUP(tree_config, view.filter),
                 INPUT_GROUP(tree_config, view.input), INPUT_MERGE_GROUP(tree_config, view.input) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY,
                     "Profiles to read; - is standard input. Several are merged." } },
    .examples = { { "hearth tree cpu.pb.gz", "The tree of calls, without what is below half a percent." },
                  { "hearth tree --invert --depth 3 cpu.pb.gz", "The expensive functions and who calls them." },
                  { "hearth tree --json --min-share 0% cpu.pb.gz", "All of it, for other programs." } },
    .run = run,
};
