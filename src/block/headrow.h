// SPDX-License-Identifier: Apache-2.0
/* One profile of one series, as it is kept: what a write puts into the head of its hour, and what reading gives back,
 * from the head and from closed blocks alike.
 *
 * R1  Samples are sorted by (stack, label set, link), each combination once.
 * R2  Stack and label-set ids are those of the dictionary of the row's tenant and day (chunk.h). Id 0 is "none".
 * R3  Links are rows of the row's own table; 0 is "none", link k is links_table[k - 1].
 *
 * As bytes (all integers are varints, signed ones zigzag; docs/format-store.md is normative):
 *
 *     byte      1, the version
 *     byte      flags: 1 label sets, 2 links, 4 counts
 *     int       duration_ns        signed
 *     int       period             signed
 *     int       label_set
 *     int       n_types
 *     int       n_samples
 *     n_types * how the values of a type are kept:
 *         int   0: a column of its own, then int the divisor, at least 1: value = divisor * quotient
 *               k: value = ratio * the value of type k - 1, which is an earlier type with a column of its own; then int
 *               the ratio, signed. CPU profiles have samples and nanoseconds, one a multiple of the other: this is
 *               half a row
 *     n_samples * int   (stack - stack before) << 2 | code; code 0, 1, 2: the quotient of type 0 is code + 1;
 *                       3: the quotient follows, signed. Without types the code is 0
 *     each further own column: n_samples * int   the quotient, signed
 *     label sets: n_samples * int
 *     links:      int n_links, n_links * 24 bytes, n_samples * int
 *     counts:     n_samples * int
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "profile/profile.h"

struct headrow {
    int64_t start_ns;   /* in the key, not in the bytes */
    uint32_t sequence;  /* likewise: the number of the row within its day, unique */
    uint32_t label_set; /* labels of the whole profile that are no series labels */
    int64_t duration_ns;
    int64_t period;
    uint32_t n_types;
    uint32_t n_samples;
    uint32_t stride; /* distance between two value columns, >= n_samples */
    uint32_t n_links;
    uint32_t *stacks;        /* [n_samples], rising */
    int64_t *values;         /* values[type * stride + sample] */
    uint32_t *label_sets;    /* [n_samples] or NULL */
    uint32_t *links;         /* [n_samples] or NULL */
    struct link *link_table; /* [n_links] */
    uint64_t *counts;        /* [n_samples] or NULL */
};

#define HEADROW_MAX_SAMPLES (1u << 24)

/* The bits of `flags`: which columns there are beside stacks and values. */
enum {
    HEADROW_HAS_LABEL_SETS = 1,
    HEADROW_HAS_LINKS = 2,
    HEADROW_HAS_COUNTS = 4,
    HEADROW_ALL_FLAGS = 7,
};

/* Appends the row as bytes. It must obey R1 and have at most PROFILE_MAX_TYPES types and HEADROW_MAX_SAMPLES samples.
 * What went wrong, if anything, says buffer_check. */
void headrow_encode(const struct headrow *row, struct buffer *out);

/* Reads a row; everything in it comes from `arena`. start_ns and sequence are left 0. Checks R1, that every link exists
 * and that nothing follows. Errors: ERR_CORRUPT with the offset, ERR_VERSION, ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int headrow_decode(struct slice bytes, struct arena *arena, struct headrow *ret_row, struct error *err);

/* Sorts the samples of a row that was just filled into the order of R1 and adds up equal ones (saturating; `*saturated`
 * counts). Scratch comes from `arena`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int headrow_sort(struct headrow *row, struct arena *arena, uint64_t *saturated, struct error *err);
/* Puts sample `from` in the place of sample `to`: for leaving some out where they are. */
void headrow_move_sample(struct headrow *row, uint32_t from, uint32_t to);
/* What the samples come to in all; stays at the edge of 64 bits. */
int64_t headrow_total(const struct headrow *row, uint32_t type);
/* Whether a row obeys R1. */
bool headrow_is_sorted(const struct headrow *row);

/* Leaves those samples in the row whose numbers, rising, `kept` has; its arrays come from `arena`, but the table of links
 * stays as it is. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int headrow_cut(struct headrow *row, const uint32_t *kept, uint32_t n, struct arena *arena,
                           struct error *err);
/* Whether a row as bytes may have links: a look at its flags. The table is among the bytes as it is. */
bool headrow_may_have_links(struct slice bytes);
