// SPDX-License-Identifier: Apache-2.0
/* The printable name of one line of a frame, as fine as asked for. Texts are those of pprof:
 *
 *   function        main.work
 *   function+file   main.work /src/main.go
 *   file            /src/main.go
 *   line            main.work /src/main.go:12
 *   address         00000000004a1b2c main.work /src/main.go:12
 *
 * What has neither function nor file is called by its binary, [libc.so.6], or <unknown> without one; by address it is
 * 00007f12a1b2c3d4 [libc.so.6]. So below the address, all unnamed frames of a binary are one. */
#pragma once

#include "base/buffer.h"
#include "profile/tables.h"

enum symbol_granularity { SYMBOL_FUNCTION, SYMBOL_FUNCTION_FILE, SYMBOL_FILE, SYMBOL_LINE, SYMBOL_ADDRESS };

/* What makes up a name at some granularity; parts that play no role there are 0. Two lines have the same name exactly
 * if all parts are equal (the strings by content). */
struct symbolname {
    uint64_t address;
    uint32_t function, file; /* strings */
    uint32_t module;         /* string: file of the mapping; only where there is neither function nor file */
    uint32_t line;
};

/* The name of line `index` of a frame, counted from the innermost. A frame without lines has one name, at index 0. */
struct symbolname symbolname_get(const struct tables *tables, uint32_t frame, uint32_t index,
                                 enum symbol_granularity granularity);

/* How many names a frame has: its lines, or 1. */
static inline uint32_t symbolname_count(const struct frame *frame)
{
    return frame->n_lines ? frame->n_lines : 1;
}

/* Appends the text. */
void symbolname_print(const struct tables *tables, const struct symbolname *name, struct buffer *out);

/* Whether the frame is kernel code: by its kind, else by the name of its mapping ("[kernel.kallsyms]"). */
bool symbolname_is_kernel(const struct tables *tables, uint32_t frame);
/* Whether line `index` was inlined into the next one. The last line is the function that really was called. */
static inline bool symbolname_is_inlined(const struct frame *frame, uint32_t index)
{
    return index + 1 < frame->n_lines;
}
