// SPDX-License-Identifier: Apache-2.0
/* Folded (collapsed) stacks: one line per stack, frames root first between semicolons, a space, the count.
 *
 *      main;parse;read_token 12
 *
 * A frame may end in an annotation: `_[k]` kernel, `_[j]` compiled at run time, `_[i]` inlined into the frame before it
 * (so it becomes a line of that frame), `_[0]` interpreted by a JVM, `_[1]` compiled by its first-tier compiler.
 * Writing gives back `_[k]`, `_[j]` (also for `_[1]`) and `_[i]`. `[FILE]+0xOFFSET` and `0xADDRESS` are frames without
 * a name.
 *
 * Where every line ends in two counts, the file is a differential one and has two value types, before and after; else
 * the type is samples. The unit is count. */
#pragma once

#include "wire/format.h"

/* 70 if the first lines are printable text whose lines end in a space and a number, with a semicolon among them; 30
 * without one; else 0. Thread: any. */
int folded_recognise(struct slice bytes);

/* Decodes into `batch`, which is empty; it gets one profile, equal stacks added up. Blank lines and lines that begin
 * with
 * '#' are passed over. Told in batch->report: lines without a count (dropped), counts that were rounded, empty frames.
 * Errors: ERR_INVALID (not one line has a count), ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int folded_decode(struct slice bytes, struct batch *batch, struct error *err);

/* Appends the one profile of `batch`, one line per distinct stack, sorted bytewise; stacks that come to 0 are left out.
 * The value is that of options->type. In names ';' becomes ':' and control characters become spaces.
 * Errors: ERR_INVALID (not exactly one profile, or no such type), ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int folded_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                             struct error *err);
