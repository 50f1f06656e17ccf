// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include "base/fs.h"
#include "base/progress.h"

#include <unistd.h>

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

static bool would_garble_terminal(const struct format *format, const struct format_write_options *options,
                                  const char *path)
{
    return (options->pack != PACK_NONE || format->is_binary) && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
}

int output_write(const struct batch *batch, const struct format *format, const struct format_write_options *options,
                 const char *path, struct error *err)
{
    struct buffer out;
    int result;

    if (would_garble_terminal(format, options, path))
        return error_set(err, ERR_USAGE, "%s is binary and would garble the terminal; name a file or use a pipe",
                         format->name);
    buffer_init(&out, 0);
    progress_start("writing", 0);
    result = format->encode(batch, options, &out, err);
    if (result == 0)
        result = fs_write_file(path, buffer_slice(&out), err);
    progress_finish();
    buffer_done(&out);
    return result;
}
