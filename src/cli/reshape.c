// SPDX-License-Identifier: Apache-2.0
#include "cli/reshape.h"

#include "profile/scale.h"
#include "profile/subtract.h"
#include "profile/transform.h"

const struct option_spec reshape_options[RESHAPE_OPTIONS_N] = {
    { "subtract", OPTION_FILE, FIELD(reshape_config, subtract), NULL,
      "An older profile of the same process: leaves what its counters (Go's alloc, mutex and block profiles) gained "
      "since. A counter that fell means a restart, and the newer profile is taken whole." },
    { "rename", OPTION_LIST, FIELD(reshape_config, renames), NULL,
      "Replace what matches in function names: PATTERN=REPLACEMENT, where $1 is the first group.",
      .value_name = "PATTERN=TEXT" },
    { "drop", OPTION_REGEX, FIELD(reshape_config, drop), NULL,
      "Take matching functions out of the stacks; every sample stays." },
    { "unit", OPTION_TEXT, FIELD(reshape_config, unit), NULL,
      "Write values in this unit where they can be converted: ms, MB.", .value_name = "UNIT" },
    { "collapse-recursion", OPTION_BOOL, FIELD(reshape_config, collapses_recursion), "false",
      "Make one frame of a function that calls itself directly." },
    { "invert", OPTION_BOOL, FIELD(reshape_config, is_inverted), "false",
      "Turn stacks upside down: leaves become roots." },
};

/* Takes what a step made as the new content of the input, or throws it away. */
static int finish_step(struct command_context *context, struct input *input, const char *option, struct batch *made,
                       int result, struct error *err)
{
    if (result < 0) {
        batch_done(made);
        return error_wrap(err, "--%s", option);
    }
    input_warn(context, option, &made->report);
    report_clear(&made->report);
    input_replace(input, made);
    return 0;
}

static int subtract(struct command_context *context, const struct reshape_config *config,
                    const struct input_config *reading, struct input *input, struct error *err)
{
    struct option_list files = { &config->subtract, 1 };
    struct input older;
    struct batch made;
    int result;

    if (input->batch.n_profiles != 1)
        return error_set(err, ERR_USAGE, "--subtract works on one profile; the input has %u", input->batch.n_profiles);
    if (input_open(&older, context, reading, files, INPUT_MERGED, err) < 0)
        return -1;
    batch_init(&made, &input->batch.limits);
    result = subtract_profiles(&older.batch.profiles[0], &input->batch.profiles[0], &made, err);
    result = finish_step(context, input, "subtract", &made, result, err);
    input_close(&older);
    return result;
}

/* A pattern of the command line that is wrong is wrong usage. */
static int compile(const char *option, struct slice text, struct pattern **ret_pattern, struct error *err)
{
    if (pattern_new(text, PATTERN_SEARCH, ret_pattern, err) == 0)
        return 0;
    if (err->code == ERR_INVALID)
        err->code = ERR_USAGE;
    return error_wrap(err, "--%s", option);
}

static int rename_functions(struct command_context *context, struct input *input, const char *text, struct error *err)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct slice whole = slice_from(text);
    ptrdiff_t split = slice_find_last_byte(whole, '=');
    struct batch made;

    if (split < 0)
        return error_set(err, ERR_USAGE, "--rename '%s': write PATTERN=REPLACEMENT", text);
    if (compile("rename", slice_sub(whole, 0, (size_t)split), &pattern, err) < 0)
        return -1;
    batch_init(&made, &input->batch.limits);
    return finish_step(
        context, input, "rename", &made,
        transform_rename(&input->batch, pattern, slice_sub(whole, (size_t)split + 1, SIZE_MAX), &made, err), err);
}

static int drop(struct command_context *context, struct input *input, const char *text, struct error *err)
{
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    struct batch made;

    if (compile("drop", slice_from(text), &pattern, err) < 0)
        return -1;
    batch_init(&made, &input->batch.limits);
    return finish_step(context, input, "drop", &made, transform_drop(&input->batch, pattern, &made, err), err);
}

static int scale(struct command_context *context, struct input *input, const char *unit, struct error *err)
{
    struct batch made;

    batch_init(&made, &input->batch.limits);
    return finish_step(context, input, "unit", &made,
                       scale_unit(&input->batch, SLICE(""), slice_from(unit), &made, err), err);
}

int reshape_apply(struct command_context *context, const struct reshape_config *config,
                  const struct input_config *reading, struct input *input, struct error *err)
{
    struct batch made;

    if (config->subtract && subtract(context, config, reading, input, err) < 0)
        return -1;
    for (size_t i = 0; i < config->renames.n; i++)
        if (rename_functions(context, input, config->renames.items[i], err) < 0)
            return -1;
    if (config->drop && drop(context, input, config->drop, err) < 0)
        return -1;
    if (config->unit && scale(context, input, config->unit, err) < 0)
        return -1;
    if (config->collapses_recursion) {
        batch_init(&made, &input->batch.limits);
        if (finish_step(context, input, "collapse-recursion", &made,
                        transform_collapse_recursion(&input->batch, &made, err), err) < 0)
            return -1;
    }
    if (config->is_inverted) {
        batch_init(&made, &input->batch.limits);
        if (finish_step(context, input, "invert", &made, transform_invert(&input->batch, &made, err), err) < 0)
            return -1;
    }
    return 0;
}
