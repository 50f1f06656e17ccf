// SPDX-License-Identifier: Apache-2.0
/* What writing (part.c), reading (part_rows.c) and reading some of a part (part_some.c) have in common. */
#pragma once

#include "block/part.h"

#define PART_VERSION 1

/* The places of the stacks in the sums by rank: hot stacks first, as part.h says. They come from `arena`.
 * Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int part_find_ranks(const struct rollup *sums, struct arena *arena, uint32_t **ret_places,
                               struct error *err);

/* --- reading --- */

struct part_rows {
    const struct windows *windows;
    const struct rollup *sums;
    uint32_t n_samples;
    uint32_t *starts; /* where the samples of each row begin; one more for the end */
    uint32_t *stacks;
    int64_t *values;
    uint32_t *label_sets;
    uint32_t *links; /* within the row's part of the table */
    uint64_t *counts;
    struct link *link_table;
    struct link_range {
        uint32_t first; /* in the table, from 0 */
        uint32_t n;
    } * link_ranges; /* [n_rows] */
};

/* What opening needs beside what it makes. */
struct part_opening {
    struct part_rows *rows;
    struct arena *arena;
    struct slice rest;
    uint8_t flags;
    uint32_t n_links;
    uint32_t *places; /* where each sample, in the order in which they are kept, belongs among the rows */
};

/* Cuts a column of `n` values, which is called `what`, off the front of `rest`, or goes by it. Errors: ERR_CORRUPT,
 * ERR_LIMIT, ERR_MEMORY; so for those that follow. */
MUST_CHECK int part_next_u32(struct slice *rest, const char *what, uint32_t n, struct arena *arena,
                             uint32_t **ret_column, struct error *err);
MUST_CHECK int part_next_u64(struct slice *rest, const char *what, uint32_t n, struct arena *arena,
                             uint64_t **ret_column, struct error *err);
MUST_CHECK int part_skip_column(struct slice *rest, const char *what, uint32_t n, struct error *err);

/* The numbers in front of the columns, which must agree with windows and sums. */
MUST_CHECK int part_decode_head(struct part_opening *opening, struct error *err);
/* Behind the head: `rest` becomes the columns. */
MUST_CHECK int part_unpack(struct part_opening *opening, struct unpacker *unpacker, struct error *err);
/* Turns distances into the rows of the samples, and finds where the samples of each rank begin, and the end: there is one
 * more of `rank_starts` than stacks. */
MUST_CHECK int part_decode_positions(uint32_t *distances, const struct part_rows *rows, uint32_t *rank_starts,
                                     struct error *err);
MUST_CHECK int part_decode_link_table(struct part_opening *opening, struct link **ret_table, struct error *err);
/* Gives row `i` its own part of the table: from the first to the last link of its samples. */
void part_find_link_range(struct part_rows *rows, uint32_t i);
/* Whether the samples of each row are in order (R1). */
MUST_CHECK int part_check_order(struct part_rows *rows, struct error *err);
