// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/reshape.h"
#include "cli/view.h"

#include <string.h>

struct convert_config {
    struct input_config input;
    struct view_filter filter;
    struct reshape_config reshape;
    unsigned to;       /* 0 = by the name of OUT, else 1 + index of a format that can be written */
    unsigned compress; /* enum compress_word */
    uint64_t level;
    const char *type;
};

enum compress_word { COMPRESS_AUTO, COMPRESS_NONE, COMPRESS_GZIP, COMPRESS_ZSTD, COMPRESS_LZ4 };
static const char *const compress_words[] = { "auto", "none", "gzip", "zstd", "lz4", NULL };

static const char *to_word(size_t index)
{
    const struct format *format = index ? output_format(index - 1) : NULL;

    return index == 0 ? "auto" : format ? format->name : NULL;
}

static const struct option_spec convert_options[] = {
    { "to", OPTION_ENUM, FIELD(convert_config, to), "auto", "Format of the output; by the name of OUT unless given.",
      .word_at = to_word },
    { "compress", OPTION_ENUM, FIELD(convert_config, compress), "auto",
      "Compression of the output. By itself it follows the name of OUT (.gz, .zst, .lz4), else the custom of the "
      "format: pprof is gzip, the others are plain.",
      .words = compress_words },
    { "level", OPTION_UINT, FIELD(convert_config, level), "0",
      "Compression level; 0 is the usual one of the compression.", .max = "19" },
    { "type", OPTION_TEXT, FIELD(convert_config, type), NULL,
      "Value type to write where the format holds one only (folded, html), as TYPE or TYPE/UNIT." },
};

static int choose_format(const struct convert_config *config, const char *path, const struct format **ret_format,
                         struct error *err)
{
    const struct format *format = config->to ? output_format(config->to - 1) : output_find_by_path(slice_from(path));
    struct buffer known;

    if (format) {
        *ret_format = format;
        return 0;
    }
    buffer_init(&known, 128);
    for (size_t i = 0; output_format(i); i++)
        buffer_printf(&known, "%s%s", i ? ", " : "", output_format(i)->name);
    error_set(err, ERR_USAGE, "'%s' does not tell which format to write; add --to with one of %.*s", path,
              SLICE_ARG(buffer_slice(&known)));
    buffer_done(&known);
    return -1;
}

static void choose_packing(const struct convert_config *config, const char *path, struct format_write_options *options)
{
    static const enum pack_kind kinds[] = { PACK_NONE, PACK_NONE, PACK_GZIP, PACK_ZSTD, PACK_LZ4 };

    options->level = (int)config->level;
    options->pack = kinds[config->compress];
    options->plain = config->compress == COMPRESS_NONE;
    if (config->compress == COMPRESS_AUTO)
        output_pack_by_name(path, options);
}

/* The range of --level depends on the compression, which may come from the name of OUT. */
static int check_level(const struct convert_config *config, const struct format *format,
                       const struct format_write_options *options, struct error *err)
{
    enum pack_kind kind = options->plain ? PACK_NONE : options->pack ? options->pack : format->custom_pack;
    uint64_t most = kind == PACK_ZSTD ? 19 : 12;

    if (config->level > 0 && kind == PACK_NONE)
        return error_set(err, ERR_USAGE, "--level %llu, but the output is not compressed; add --compress",
                         (unsigned long long)config->level);
    if (config->level > most)
        return error_set(err, ERR_USAGE, "--level %llu: %s has levels 1 to %llu", (unsigned long long)config->level,
                         compress_kind_name(kind), (unsigned long long)most);
    return 0;
}

/* A format with one value per stack gets one profile, so its type is found there. For the others --type would mean
 * nothing, and a wrong word should not pass in silence. */
static int choose_type(const struct convert_config *config, const struct format *format, const struct batch *batch,
                       uint32_t *ret_type, struct error *err)
{
    if (!config->type)
        return 0;
    if (!format->holds_one_type)
        return error_set(err, ERR_USAGE, "--type is for formats with one value for each stack; %s keeps all types",
                         format->name);
    *ret_type = profile_find_type(&batch->profiles[0], slice_from(config->type));
    if (*ret_type == PROFILE_NO_TYPE)
        return input_no_such_type(&batch->profiles[0], config->type, err);
    return 0;
}

/* What was read, by the name of its first file. */
static struct slice title_of(const struct command_context *context)
{
    const char *path = context->arguments.items[0];

    return strcmp(path, "-") == 0 ? SLICE("") : output_base_name(path);
}

static int write_out(struct command_context *context, const struct convert_config *config, const struct batch *batch,
                     const struct format *format, const char *path, struct error *err)
{
    struct format_write_options options = { .type = PROFILE_NO_TYPE, .title = title_of(context) };

    choose_packing(config, path, &options);
    if (check_level(config, format, &options, err) < 0 || choose_type(config, format, batch, &options.type, err) < 0)
        return -1;
    return output_write(context, batch, format, &options, path, err);
}

static int change(struct command_context *context, const struct convert_config *config, struct input *input,
                  struct error *err)
{
    struct batch filtered;
    bool is_filtered;

    batch_init(&filtered, &input->batch.limits);
    if (view_filter_apply(context, &config->filter, &input->batch, &filtered, &is_filtered, err) < 0) {
        batch_done(&filtered);
        return -1;
    }
    if (is_filtered)
        input_replace(input, &filtered);
    return reshape_apply(context, &config->reshape, &config->input, input, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct convert_config *config = context->config;
    const char *path = context->arguments.items[context->arguments.n - 1];
    struct option_list files = { context->arguments.items, context->arguments.n - 1 };
    const struct format *format;
    struct input input;
    int result;

    if (choose_format(config, path, &format, err) < 0)
        return -1;
    if (input_open(&input, context, &config->input, files, format->holds_many ? INPUT_AS_IS : INPUT_MERGED, err) < 0)
        return -1;
    result = change(context, config, &input, err);
    if (result == 0)
        result = write_out(context, config, &input.batch, format, path, err);
    input_close(&input);
    return result;
}

const struct command cmd_convert = {
    .name = "convert",
    .summary = "Convert profiles between formats, merging several into one",
    .description =
        "Reads one or more profiles of any format, compressed or not, and writes them in another. Several inputs are "
        "merged: equal stacks add up, value types are united by name and unit. On the way samples can be filtered and "
        "stacks changed.\n\n"
        "Formats are found by content; the output format by --to or by the name of OUT. HTML is a page with the flame "
        "graph of one value type that opens in a browser without a server; it cannot be read back.",
    .config_bytes = sizeof(struct convert_config),
    .options = { OPTION_GROUP("Writing", convert_options), VIEW_FILTER_GROUP(convert_config, filter),
                 VIEW_FILTER_LABEL_GROUP(convert_config, filter), RESHAPE_GROUP(convert_config, reshape),
                 INPUT_GROUP(convert_config, input), INPUT_MERGE_GROUP(convert_config, input) },
    .arguments = { { "IN", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY, "Profiles to read; - is standard input." },
                   { "OUT", COMMAND_ARGUMENT_FILE, 1, 1, "File to write; - is standard output." } },
    .examples = { { "hearth convert cpu.pb.gz cpu.folded", "Turns a pprof profile into lines for other tools." },
                  { "hearth convert 1.pb.gz 2.pb.gz 3.pb.gz all.pb.gz", "Merges three profiles into one." },
                  { "hearth convert cpu.pb.gz cpu.otlp", "Writes OpenTelemetry's profiles format." },
                  { "hearth convert cpu.pb.gz cpu.html", "Makes a page with its flame graph, to send to somebody." },
                  { "curl -s localhost:6060/debug/pprof/heap | hearth convert --to folded - -",
                    "Reads from a pipe and writes to one." } },
    .run = run,
};
