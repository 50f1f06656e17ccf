// SPDX-License-Identifier: Apache-2.0
/* Sums by stack: what one series, or one service, spent in which stack over an hour or five minutes.
 *
 * As bytes (integers are varints; docs/format-store.md is normative):
 *
 *     byte      1, the version
 *     int       n_types
 *     int       n_stacks
 *     int       n_series
 *     int       n_rows
 *     int       duration_ns, signed (zigzag)
 *     the rest  pieces (pieces.h) of: the stacks as a column (column.h) of differences, then the sums as in
 *               valuecolumns.h */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "block/headrow.h"
#include "pack/packer.h"
#include "pack/unpacker.h"

struct rollup {
    uint32_t n_types;
    uint32_t n_stacks;
    uint32_t n_series;   /* that took part */
    uint64_t n_rows;     /* profiles added up */
    int64_t duration_ns; /* sum of their durations */
    uint32_t *stacks;    /* [n_stacks], rising */
    int64_t *sums;       /* sums[type * n_stacks + i] */
};

/* Appends the roll-up as bytes; on failure `out` is as before. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int rollup_encode(const struct rollup *rollup, struct packer *packer, struct buffer *out, struct error *err);
/* Reads one; everything in it comes from `arena`. At most `max_stacks` stacks. Errors: ERR_CORRUPT, ERR_VERSION,
 * ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int rollup_decode(struct slice bytes, uint32_t max_stacks, struct unpacker *unpacker, struct arena *arena,
                             struct rollup *ret_rollup, struct error *err);

/* Adds rows up, one after another. */
struct rollup_builder {
    struct map index; /* stack -> place in stacks */
    uint32_t n_types, n_stacks, capacity;
    uint32_t n_series;
    uint32_t last_series;
    uint64_t n_rows;
    int64_t duration_ns;
    uint64_t saturated;
    uint32_t *stacks;
    int64_t *sums; /* sums[i * n_types + type]: rows are added stack by stack */
};
void rollup_builder_init(struct rollup_builder *builder, uint32_t n_types);
void rollup_builder_done(struct rollup_builder *builder);
/* Empty again; keeps the memory unless it is more than `keep_bytes`. */
void rollup_builder_clear(struct rollup_builder *builder, size_t keep_bytes);
/* Empty again, for rows of another number of types. */
void rollup_builder_restart(struct rollup_builder *builder, uint32_t n_types, size_t keep_bytes);
size_t rollup_builder_bytes(const struct rollup_builder *builder);
/* Adds a row with n_types types. Rows of one series come one behind the other: `series` tells them apart for n_series.
 * Errors: ERR_INVALID (another number of types); ERR_MEMORY, ERR_LIMIT, after which the builder can only be cleared. */
MUST_CHECK int rollup_builder_add(struct rollup_builder *builder, uint32_t series, const struct headrow *row,
                                  struct error *err);
/* Adds a roll-up with n_types types: as if the rows it was made of were added. Its series count as one. Errors: likewise. */
MUST_CHECK int rollup_builder_merge(struct rollup_builder *builder, const struct rollup *rollup, struct error *err);
/* The sums so far with stacks rising, from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int rollup_builder_finish(const struct rollup_builder *builder, struct arena *arena,
                                     struct rollup *ret_rollup, struct error *err);
