// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "cli/command_sample.h"
#include "cli/commands.h"

struct sample_top_config command_sample_config;

static const char *const sort_words[] = { "self", "total", NULL };

static const struct option_spec top_options[] = {
    { "lines", OPTION_UINT, FIELD(sample_top_config, lines), "30", "How many rows to show.", .letter = 'n', .min = "1",
      .max = "1000" },
    { "json", OPTION_BOOL, FIELD(sample_top_config, json), NULL,
      "Print JSON. It's for programs [and jq]: no colours." },
    { "cumulative", OPTION_BOOL, FIELD(sample_top_config, cumulative), "yes", "Count callees too." },
    { "share", OPTION_PERCENT, FIELD(sample_top_config, share), "90%", "Stop at this share of the total." },
    { "output", OPTION_FILE, FIELD(sample_top_config, output), NULL, "Write to this file.", .letter = 'o' },
    { "work-dir", OPTION_DIRECTORY, FIELD(sample_top_config, directory), NULL, "Keep temporary files here.",
      .alias = "scratch-path", .alias_variable = "OTHER_SCRATCH", .is_reloadable = true },
    { "sort", OPTION_ENUM, FIELD(sample_top_config, sort), "self", "What to sort by.", .words = sort_words },
    { "debug-trace", OPTION_BOOL, FIELD(sample_top_config, json), NULL, "Hidden.", .is_hidden = true },
};

static const struct option_spec filter_options[] = {
    { "focus", OPTION_REGEX, FIELD(sample_filter_config, focus), NULL, "Keep stacks with a matching function." },
    { "label", OPTION_LIST, FIELD(sample_filter_config, labels), NULL, "Keep samples with this label.",
      .value_name = "KEY=VALUE", .letter = 'l' },
};

static int run_top(struct command_context *context, struct error *err)
{
    const struct sample_top_config *config = context->config;

    command_sample_config = *config;
    fprintf(context->out, "lines %llu, colour %d, debug %d, files", (unsigned long long)config->lines,
            context->has_colour, log_is_on(LOG_DEBUG));
    for (size_t i = 0; i < context->arguments.n; i++)
        fprintf(context->out, " %s", context->arguments.items[i]);
    fprintf(context->out, "\n");
    return 0;
}

static const struct command top = {
    .name = "top",
    .summary = "Show the functions that cost most",
    .description = "Reads profiles, merges them and prints one row for each function, the costliest first.\n\n"
                   "Rows show what a function costs itself and with everything that it calls.",
    .config_bytes = sizeof(struct sample_top_config),
    .options = { OPTION_GROUP("Options", top_options),
                 OPTION_GROUP_AT("Filters", filter_options, offsetof(struct sample_top_config, filter)) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY, "A profile; '-' is standard input." } },
    .examples = { { "sample top -n 5 cpu.pb.gz", "Shows the five costliest functions." },
                  { "sample top --focus '^json' a.pb b.pb", "Merges two profiles and looks at one library." } },
    .run = run_top,
};

/* Fails as told, or gives a verdict. */
static int run_fail(struct command_context *context, struct error *err)
{
    const char *how = context->arguments.items[0];

    fprintf(context->out, "before\n");
    if (strcmp(how, "usage") == 0)
        return error_set(err, ERR_USAGE, "this cannot be used so");
    if (strcmp(how, "note") == 0)
        command_note(context, "%s was chosen", "blue\x1b[31m");
    if (strcmp(how, "verdict") == 0 || strcmp(how, "note") == 0) {
        context->exit_status = 3;
        return 0;
    }
    return error_set(err, ERR_CORRUPT, "'%s' is damaged\x1b[31m", how);
}

static const struct command fail = {
    .name = "fail",
    .summary = "Fail in a chosen way",
    .description = "Fails.",
    .arguments = { { "HOW", COMMAND_ARGUMENT_TEXT, 1, 1, "The way to fail." },
                   { "WHY", COMMAND_ARGUMENT_TEXT, 0, 2, "Reasons." } },
    .run = run_fail,
    .is_hidden = true,
};

static const struct command tree = {
    .name = "tree",
    .summary = "Show calls as a tree",
    .description = "Prints a tree.",
    .config_bytes = sizeof(struct sample_filter_config),
    .options = { OPTION_GROUP("Filters", filter_options) },
    .arguments = { { "IN", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY, "Profiles." },
                   { "OUT", COMMAND_ARGUMENT_FILE, 1, 1, "The result." } },
    .run = run_fail,
};

static const struct command *const all[] = { &top, &tree, &cmd_help, &fail };

const struct command_set command_sample = {
    .name = "sample",
    .summary = "A program for tests",
    .description = "sample shows what the tables of a program turn into.",
    .commands = all,
    .n = ARRAY_LEN(all),
};
