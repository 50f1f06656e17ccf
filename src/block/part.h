// SPDX-License-Identifier: Apache-2.0
/* A part: up to an hour of one series as columns, in three values that are read apart:
 *
 *   windows   one entry per row: when, how long, how much in all. Enough for a time series.
 *   sums      a roll-up (rollup.h) over the rows: enough for a flame graph of the whole part.
 *   samples   the rows themselves, with stacks as places in the roll-up's list.
 *
 * Rows are in order of (start_ns, sequence).
 *
 * The samples are kept stack by stack, not row by row, hot stacks first: then what lies together is alike, and an hour
 * compresses to little more than the entropy of which stack was seen when (16 % less than row by row). Stacks are
 * ranked by their sum of type 0, the largest first, equal ones (or all, without types) by stack: the reader has the
 * sums and finds the same ranks. The samples of a stack are in order of rows, those of the same row in order of (label
 * set, link). A sample's position is rank * n_rows + row; kept is its distance from the position before (the first
 * counts from 0).
 *
 * As bytes (integers are varints, signed ones zigzag; columns as in column.h, pieces as in pieces.h, values as in
 * valuecolumns.h; docs/format-store.md is normative):
 *
 *   windows   byte 1 (the version), int n_types, int n_rows; then pieces of the columns start_ns (zigzag, delta of
 *             delta), duration_ns (zigzag), sequence (zigzag delta), label_set, period (zigzag), n_samples, and the
 *             totals of each type as values
 *   samples   byte 1 (the version), byte flags as in headrow.h, int n_types, int n_rows, int n_samples, int n_links (at
 *             most n_samples); then pieces of the column of distances, the values, and as the flags say: the column of
 *             label sets; n_links * 24 bytes and the column of links, which count through the whole part; the column of
 *             counts
 *
 * Every stack of the sums occurs. Sums and totals stay at the edge of 64 bits; they are added up in the order of rows,
 * and in a row in the order of headrow.h. */
#pragma once

#include "block/rollup.h"

struct windows {
    uint32_t n_types;
    uint32_t n_rows;
    int64_t *starts_ns;      /* [n_rows], never falling */
    int64_t *durations_ns;   /* [n_rows] */
    uint32_t *sequences;     /* [n_rows] */
    uint32_t *label_sets;    /* [n_rows] */
    int64_t *periods;        /* [n_rows] */
    uint32_t *sample_counts; /* [n_rows] */
    int64_t *totals;         /* totals[type * n_rows + row] */
};

/* Collects rows of one series in order and turns them into the three values. */
struct part_builder;
#define PART_MAX_SAMPLES 400000u /* a fuller builder wants to be finished before the next row */
#define PART_MAX_ROWS    65536u

/* Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int part_builder_new(struct part_builder **ret_builder, struct error *err);
void part_builder_free(struct part_builder *builder);
void part_builder_freep(struct part_builder **builder);
/* Empties it for rows of `n_types` types; keeps its memory, unless a row larger than a whole part made it grow. */
void part_builder_clear(struct part_builder *builder, uint32_t n_types);
bool part_builder_is_empty(const struct part_builder *builder);
/* Whether a row of `n_samples` still fits. A row larger than a whole part is taken by an empty builder. */
bool part_builder_has_room(const struct part_builder *builder, uint32_t n_samples);
/* The memory it holds, which is what finishing the fullest part so far has taken. */
size_t part_builder_bytes(const struct part_builder *builder);
/* Copies a row in. Links that no sample has are left out. Errors: ERR_INVALID (the row comes before the last one by
 * (start_ns, sequence), has another number of types, or disobeys R1 of headrow.h), ERR_LIMIT (there is no room),
 * ERR_MEMORY; then the builder is as before. */
MUST_CHECK int part_builder_add(struct part_builder *builder, const struct headrow *row, struct error *err);
/* Appends the three values to three buffers, which are as before on failure. The rows stay until part_builder_clear.
 * Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int part_builder_finish(struct part_builder *builder, struct packer *packer, struct buffer *windows,
                                   struct buffer *sums, struct buffer *samples, struct error *err);

/* Reads the windows; everything comes from `arena`. Errors: ERR_CORRUPT, ERR_VERSION, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int windows_decode(struct slice bytes, struct unpacker *unpacker, struct arena *arena,
                              struct windows *ret_windows, struct error *err);
/* The same for whoever needs no more than starts, durations and totals: the other columns are NULL and not checked. */
MUST_CHECK int windows_decode_brief(struct slice bytes, struct unpacker *unpacker, struct arena *arena,
                                    struct windows *ret_windows, struct error *err);

/* The links that the samples of a part have, without the samples: quick where there are none. They come from `arena`.
 * Errors: as windows_decode. */
MUST_CHECK int part_links_decode(struct slice samples, struct unpacker *unpacker, struct arena *arena,
                                 struct link **ret_links, uint32_t *ret_n, struct error *err);

/* The rows of a part, one after another. Everything comes from `arena` and borrows `windows` and `sums`, which were
 * decoded from the same part. Errors (ERR_CORRUPT ...) also when the three do not belong together. */
struct part_rows;
MUST_CHECK int part_rows_open(struct slice samples, const struct windows *windows, const struct rollup *sums,
                              struct unpacker *unpacker, struct arena *arena, struct part_rows **ret_rows,
                              struct error *err);
/* Some of the samples: those of certain rows, and with certain links. What is left out is not put into rows, which is most
 * of the work; the other rows have no samples. Not for part_rows_check. That counts and sums agree is not checked. */
struct part_choice {
    const bool *rows;                                           /* [n_rows]; NULL = all */
    bool (*takes_link)(void *context, const struct link *link); /* NULL = all samples, also those without a link */
    void *context;
};
MUST_CHECK int part_rows_open_some(struct slice samples, const struct windows *windows, const struct rollup *sums,
                                   const struct part_choice *choice, struct unpacker *unpacker, struct arena *arena,
                                   struct part_rows **ret_rows, struct error *err);
/* Row `i` (0 <= i < windows->n_rows), complete with start and sequence, as it was added, but with its label sets, links
 * or counts NULL where all of them are 0. Its arrays point into the arena. Rows may be asked for in any order. */
void part_rows_get(struct part_rows *rows, uint32_t i, struct headrow *ret_row);
/* Whether windows, sums and samples agree: totals of the windows and sums of the roll-up are those of the samples.
 * Errors: ERR_CORRUPT naming the first that does not, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int part_rows_check(struct part_rows *rows, struct error *err);
