// SPDX-License-Identifier: Apache-2.0
/* Writing profiles to the file that a command was told. */
#pragma once

#include "cli/command.h"
#include "wire/format.h"

/* Format `index` of those that commands can write: those of wire/ that have an encoder, and then HTML. NULL behind the last. */
const struct format *output_format(size_t index);
/* The one called `name`, or the one that the ending of `path` tells; NULL if there is none. */
const struct format *output_find(struct slice name);
const struct format *output_find_by_path(struct slice path);

/* What is behind the last slash of a path. */
struct slice output_base_name(const char *path);

/* Compression by the ending of a name: .gz, .zst and .lz4 say it, .pb means none. Else the custom of the format stays. */
void output_pack_by_name(const char *path, struct format_write_options *options);

/* Whether what is written to `path` ("-" is standard output) shows on a terminal, which bytes would garble. */
bool output_is_terminal(const struct command_context *context, const char *path);

/* Writes the batch to `path` ("-" is standard output). A command that is served writes to its output whatever the path
 * says. Errors: ERR_USAGE for what would garble a terminal, those of the format, ERR_IO ... */
MUST_CHECK int output_write(struct command_context *context, const struct batch *batch, const struct format *format,
                            const struct format_write_options *options, const char *path, struct error *err);
/* The same for bytes that are there already; the ending of the name says how they are compressed. */
MUST_CHECK int output_write_bytes(struct command_context *context, struct slice bytes, const char *path,
                                  struct error *err);
