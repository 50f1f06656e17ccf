// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include "base/fs.h"
#include "base/memory.h"
#include "base/progress.h"

static const char *format_word(size_t index)
{
    return index == 0 ? "auto" : formats[index - 1].name;
}

/* The defaults are those of profile_default_limits; a test compares. */
const struct option_spec input_options[INPUT_OPTIONS_N] = {
    { "from", OPTION_ENUM, FIELD(input_config, from), "auto", "Format of the input; found by content unless given.",
      .word_at = format_word, .is_of_machine = true,
      .hint = "times of queries are --time-range, --until, --baseline-from" },
    { "max-inflated-size", OPTION_SIZE, FIELD(input_config, max_inflated_bytes), "512MiB",
      "Refuse an input that is larger than this after decompression.", .min = "1", .is_of_machine = true },
    { "max-memory", OPTION_SIZE, FIELD(input_config, max_memory_bytes), "2GiB",
      "The most memory to allocate. Merging stays below it by adding up rare stacks as [overflow]; what else needs "
      "more fails.",
      .min = "1MiB", .is_of_machine = true },
    { "max-samples", OPTION_UINT, FIELD(input_config, max_samples), "16777216", "Refuse an input with more samples.",
      .min = "1", .max = "1073741824", .is_of_machine = true },
    { "max-strings", OPTION_UINT, FIELD(input_config, max_strings), "8388608", "Refuse an input with more strings.",
      .min = "1", .max = "1073741824", .is_of_machine = true },
    { "max-depth", OPTION_UINT, FIELD(input_config, max_depth), "1024",
      "Cut deeper stacks at the root end, and say so.", .min = "1", .max = "4096", .is_of_machine = true },
    { "max-labels", OPTION_UINT, FIELD(input_config, max_labels), "128",
      "Labels to keep of one sample; more are dropped and counted.", .min = "0", .max = "65535",
      .is_of_machine = true },
};

const struct option_spec input_merge_options[INPUT_MERGE_OPTIONS_N] = {
    { "average-levels", OPTION_BOOL, FIELD(input_config, average_levels), "false",
      "Average levels, like memory in use, over several inputs instead of adding them up.", .is_of_machine = true },
    { "drop-labels", OPTION_BOOL, FIELD(input_config, drop_labels), "false",
      "Ignore the labels and span links of samples when several profiles are merged.", .is_of_machine = true },
};

static struct profile_limits limits_of(const struct input_config *config)
{
    struct profile_limits limits = profile_default_limits;

    limits.max_inflated_bytes = config->max_inflated_bytes;
    limits.max_memory_bytes = config->max_memory_bytes / 2; /* the other half is for what is made from it */
    limits.max_samples = (uint32_t)config->max_samples;
    limits.max_strings = (uint32_t)config->max_strings;
    limits.max_depth = (uint32_t)config->max_depth;
    limits.max_labels_per_sample = (uint32_t)config->max_labels;
    return limits;
}

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static void tell_entry(struct command_context *context, const char *name, const struct report_entry *entry)
{
    if (entry->count == 1)
        command_warn(context, "%s: %s (%s)", name, entry->kind, entry->example);
    else
        command_warn(context, "%s: %s (%llu; first: %s)", name, entry->kind, (unsigned long long)entry->count,
                     entry->example);
}

void input_warn(struct command_context *context, const char *name, const struct report *report)
{
    if (report_total(report) == 0)
        return;
    progress_hide();
    for (uint32_t i = 0; i < report->n; i++)
        tell_entry(context, name, &report->entries[i]);
    if (report->unlisted)
        command_warn(context, "%s: %llu more of other kinds", name, (unsigned long long)report->unlisted);
}

/* Decodes one file into `batch`; the bytes stay in input->file and input->unpacker. */
static int read_one(struct input *input, struct command_context *context, const struct input_config *config,
                    const char *path, struct batch *batch, struct error *err)
{
    const struct format *wanted = config->from ? &formats[config->from - 1] : NULL;
    const struct format *format;

    buffer_clear(&input->file);
    if (fs_read_file(path, config->max_inflated_bytes, &input->file, err) < 0)
        return -1;
    if (format_read(buffer_slice(&input->file), wanted, input->unpacker, batch, &format, err) < 0)
        return error_wrap(err, "reading '%s'", input_name(path));
    input_warn(context, input_name(path), &batch->report);
    if (!input->format)
        input->format = format;
    input->n_files++;
    input->n_profiles += batch->n_profiles;
    return 0;
}

static int merge_one(struct input *input, struct merge *merge, struct command_context *context,
                     const struct input_config *config, const char *path, struct batch *scratch, struct error *err)
{
    batch_reset(scratch);
    if (read_one(input, context, config, path, scratch, err) < 0)
        return -1;
    report_clear(&scratch->report); /* told already */
    if (merge_add(merge, scratch, err) < 0)
        return error_wrap(err, "merging '%s'", input_name(path));
    return 0;
}

static int merge_files(struct input *input, struct merge *merge, struct command_context *context,
                       const struct input_config *config, struct option_list files, struct error *err)
{
    struct batch scratch;
    int result = 0;

    batch_init(&scratch, &input->batch.limits);
    progress_start("reading", files.n);
    for (size_t i = 0; i < files.n && result == 0; i++) {
        result = merge_one(input, merge, context, config, files.items[i], &scratch, err);
        progress_step(i + 1);
    }
    progress_finish();
    batch_done(&scratch);
    return result;
}

void input_replace(struct input *input, struct batch *batch)
{
    batch_done(&input->batch);
    input->batch = *batch;
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        input->batch.profiles[i].tables = &input->batch.tables;
}

static int merge_batch(struct input *input, struct merge *merge, struct error *err)
{
    struct batch *batch = &input->batch;
    struct batch merged;

    batch_init(&merged, &batch->limits);
    report_clear(&batch->report);
    if (merge_add(merge, batch, err) < 0 || merge_finish(merge, &merged, err) < 0) {
        batch_done(&merged);
        return -1;
    }
    input_replace(input, &merged);
    return 0;
}

static int read_all(struct input *input, struct command_context *context, const struct input_config *config,
                    struct option_list files, enum input_shape shape, struct error *err)
{
    struct merge_options options = { .limits = input->batch.limits,
                                     .average_levels = config->average_levels,
                                     .drop_labels = config->drop_labels };
    AUTO(merge_freep) struct merge *merge = NULL;

    if (merge_new(&options, &merge, err) < 0)
        return -1;
    if (files.n == 1) {
        int result;

        progress_start("reading", 0);
        result = read_one(input, context, config, files.items[0], &input->batch, err);
        progress_finish();
        if (result < 0)
            return -1;
        if (shape == INPUT_AS_IS || (input->batch.n_profiles == 1 && !config->drop_labels))
            return 0;
        if (merge_batch(input, merge, err) < 0)
            return error_wrap(err, "merging the profiles of '%s'", input_name(files.items[0]));
    } else if (merge_files(input, merge, context, config, files, err) < 0 ||
               merge_finish(merge, &input->batch, err) < 0) {
        return -1;
    }
    input_warn(context, "merged result", &input->batch.report);
    return 0;
}

int input_start(struct input *input, const struct input_config *config, struct error *err)
{
    struct profile_limits limits = limits_of(config);

    memory_set_limit(config->max_memory_bytes);
    *input = (struct input){ 0 };
    buffer_init(&input->file, 0);
    batch_init(&input->batch, &limits);
    if (unpacker_new(&input->unpacker, err) < 0) {
        input_close(input);
        return -1;
    }
    return 0;
}

int input_read(struct input *input, struct command_context *context, const struct input_config *config,
               const char *path, struct error *err)
{
    batch_reset(&input->batch);
    return read_one(input, context, config, path, &input->batch, err);
}

int input_open(struct input *input, struct command_context *context, const struct input_config *config,
               struct option_list files, enum input_shape shape, struct error *err)
{
    if (input_start(input, config, err) < 0)
        return -1;
    if (read_all(input, context, config, files, shape, err) < 0) {
        input_close(input);
        return -1;
    }
    return 0;
}

void input_close(struct input *input)
{
    batch_done(&input->batch);
    buffer_done(&input->file);
    unpacker_free(input->unpacker);
    input->unpacker = NULL;
}

int input_no_such_type(const struct profile *profile, const char *name, struct error *err)
{
    struct buffer known;
    int result;

    buffer_init(&known, 4096);
    for (uint32_t i = 0; i < profile->n_types; i++) {
        struct slice type = tables_string(profile->tables, profile->types[i].type);
        struct slice unit = tables_string(profile->tables, profile->types[i].unit);

        buffer_printf(&known, "%s%.*s/%.*s", i ? ", " : "", SLICE_ARG(type), SLICE_ARG(unit));
    }
    if (known.len == 0)
        result = error_set(err, ERR_USAGE, "there is no value type '%s': the profile has none", name);
    else
        result = error_set(err, ERR_USAGE, "there is no value type '%s'; the profile has %.*s", name,
                           SLICE_ARG(buffer_slice(&known)));
    buffer_done(&known);
    return result;
}
