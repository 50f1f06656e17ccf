// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include "base/fs.h"
#include "cli/htmlfile.h"
#include "pack/packer.h"

#include <string.h>
#include <unistd.h>

const struct format *output_format(size_t index)
{
    for (const struct format *format = formats; format->name; format++)
        if (format->encode && index-- == 0)
            return format;
    return index == 0 ? &htmlfile_format : NULL;
}

const struct format *output_find(struct slice name)
{
    const struct format *format;

    for (size_t i = 0; (format = output_format(i)); i++)
        if (slice_is(name, format->name))
            return format;
    return NULL;
}

const struct format *output_find_by_path(struct slice path)
{
    return format_has_ending(&htmlfile_format, path) ? &htmlfile_format : format_find_by_path(path);
}

struct slice output_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slice_from(slash ? slash + 1 : path);
}

void output_pack_by_name(const char *path, struct format_write_options *options)
{
    struct slice name = slice_from(path);

    if (slice_ends_with(name, SLICE(".gz")))
        options->pack = PACK_GZIP;
    else if (slice_ends_with(name, SLICE(".zst")))
        options->pack = PACK_ZSTD;
    else if (slice_ends_with(name, SLICE(".lz4")))
        options->pack = PACK_LZ4;
    else if (slice_ends_with(name, SLICE(".pb")))
        options->plain = true;
}

bool output_is_terminal(const struct command_context *context, const char *path)
{
    return !context->world->served && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
}

static bool would_garble_terminal(const struct command_context *context, const struct format *format,
                                  const struct format_write_options *options, const char *path)
{
    return (options->pack != PACK_NONE || format->is_binary) && output_is_terminal(context, path);
}

static int write_all(struct command_context *context, struct slice bytes, const char *path, struct error *err)
{
    if (!context->world->served)
        return fs_write_file(path, bytes, err);
    if (bytes.len > 0 && fwrite(bytes.ptr, 1, bytes.len, context->out) != bytes.len)
        return error_set(err, ERR_IO, "the answer could not be written");
    return 0;
}

int output_write(struct command_context *context, const struct batch *batch, const struct format *format,
                 const struct format_write_options *options, const char *path, struct error *err)
{
    struct buffer out;
    int result;

    if (would_garble_terminal(context, format, options, path))
        return error_set(err, ERR_USAGE, "%s is binary and would garble the terminal; name a file or use a pipe",
                         format->name);
    buffer_init(&out, 0);
    command_progress(context, "writing");
    result = format->encode(batch, options, &out, err);
    if (result == 0)
        result = write_all(context, buffer_slice(&out), path, err);
    command_progress_end(context);
    buffer_done(&out);
    return result;
}

int output_write_bytes(struct command_context *context, struct slice bytes, const char *path, struct error *err)
{
    struct format_write_options options = { .pack = PACK_NONE };
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer packed;

    buffer_init(&packed, 0);
    output_pack_by_name(path, &options);
    if (options.pack == PACK_NONE)
        return write_all(context, bytes, path, err);
    if (packer_new(&packer, err) < 0 || packer_pack(packer, options.pack, PACK_LEVEL_DEFAULT, bytes, &packed, err) < 0)
        return -1;
    return write_all(context, buffer_slice(&packed), path, err);
}
