// SPDX-License-Identifier: Apache-2.0
/* When rows of a group started and what they come to, packed, in memory: for time series over hours that go on
 * (slotcache.h). A row takes one byte where starts are steady, and four or five where they jitter.
 *
 * Rows are packed a chunk at a time, in the order in which they come, which is that of their keys: series by series, and by
 * their starts. Chunks follow each other without knowing of each other, so that more are added by appending:
 *
 *     int       how many bytes of the chunk follow (integers are varints, signed ones zigzag)
 *     int       n_types
 *     int       n_rows
 *     int       the first start and the last one, signed
 *     the rest  pieces (pieces.h) of the columns (column.h) series (delta), start_ns (zigzag delta), duration_ns (zigzag),
 *               and the totals of each type as in valuecolumns.h
 *
 * This is never on the disk: it has no version, and changes whenever somebody knows better. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "block/headrow.h"
#include "pack/packer.h"
#include "pack/unpacker.h"

#define OPENWINDOWS_MAX_ROWS 4096u /* of a chunk */

struct openwindows_row {
    uint32_t series;
    uint32_t n_types;
    int64_t start_ns, duration_ns;
    const int64_t *totals; /* [n_types]: headrow_total */
};

struct openwindows_key {
    uint32_t series;
    int64_t start_ns, duration_ns;
};

/* Collects rows; what fills a chunk is packed at once. */
struct openwindows_builder {
    uint32_t n_types; /* of the rows so far */
    VEC(struct openwindows_key) rows;
    VEC(int64_t) totals; /* row by row */
    struct buffer chunks;
};
void openwindows_builder_init(struct openwindows_builder *builder);
void openwindows_builder_done(struct openwindows_builder *builder);
/* Empty again; keeps the memory unless it is more than `keep_bytes`. */
void openwindows_builder_clear(struct openwindows_builder *builder, size_t keep_bytes);
size_t openwindows_builder_bytes(const struct openwindows_builder *builder);
/* Errors: ERR_INVALID (another number of types than the rows before); ERR_MEMORY, after which the builder can only be
 * cleared. */
MUST_CHECK int openwindows_builder_add(struct openwindows_builder *builder, const struct openwindows_row *row,
                                       struct packer *packer, struct error *err);
/* Appends all rows as chunks; nothing if there are none. On failure `out` is as before, and the builder can only be cleared.
 * Errors: ERR_MEMORY, ERR_LIMIT (of `out`). */
MUST_CHECK int openwindows_builder_finish(struct openwindows_builder *builder, struct packer *packer,
                                          struct buffer *out, struct error *err);

/* A chunk. */
struct openwindows {
    uint32_t n_types;
    uint32_t n_rows;
    uint32_t *series;      /* [n_rows] */
    int64_t *starts_ns;    /* [n_rows] */
    int64_t *durations_ns; /* [n_rows] */
    int64_t *totals;       /* totals[type * n_rows + row] */
};
/* Cuts chunks off the front of `rest` until there is one that may have rows which start in [from_ns, until_ns), and reads
 * that; it comes from `arena` and may have other rows, too. False in `*ret_has` at the end. Errors: ERR_CORRUPT, ERR_LIMIT
 * (of the arena), ERR_MEMORY; then `rest` is somewhere inside. */
MUST_CHECK int openwindows_next(struct slice *rest, int64_t from_ns, int64_t until_ns, struct unpacker *unpacker,
                                struct arena *arena, struct openwindows *ret_chunk, bool *ret_has, struct error *err);
