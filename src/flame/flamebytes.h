// SPDX-License-Identifier: Apache-2.0
/* The flame format: a flame tree in few bytes, for readers that want columns. docs/format-flame.md is normative; this is its
 * only encoder, and a decoder for whoever wants to know what was written.
 *
 * Names of nodes are their numbers, or their places among the callees of the parent's name, whichever is likely to be
 * shorter: places where nodes are many and pairs of caller and callee few. */
#pragma once

#include "flame/diff.h"

#define FLAMEBYTES_TYPE "application/vnd.hearth.flame"

enum {
    FLAMEBYTES_RANKS = 1,
    FLAMEBYTES_SIGNED = 2,
    FLAMEBYTES_INVERTED = 4,
};

/* Appends column `column` of a tree. `unit` may be empty. Errors: ERR_LIMIT if its values do not add up within 64 bits;
 * ERR_MEMORY. Thread: any. */
MUST_CHECK int flamebytes_encode(const struct flame *flame, uint32_t column, struct slice unit, struct buffer *out,
                                 struct error *err);
/* Appends both sides of a diff: its tree, or a trimmed copy of it. */
MUST_CHECK int flamebytes_encode_diff(const struct diff *diff, const struct flame *flame, struct buffer *out,
                                      struct error *err);

/* A decoded tree. Everything lies in the arena it was decoded to, but texts in the bytes. */
struct flamebytes {
    uint8_t flags;
    uint32_t n_columns, n_nodes, n_leaves, n_names, n_texts, max_depth;
    uint64_t divisor;  /* what values were divided by; those below are whole again */
    double factor;     /* 1 with one column */
    double samples[2]; /* raw samples in all; negative = unknown */
    struct slice unit;
    struct slice *names; /* [n_names] */
    struct flamebytes_detail {
        uint32_t kind;             /* enum frame_kind; a reader takes one that it does not know for unknown */
        struct slice module, file; /* "" = unknown */
        uint32_t line;             /* 0 = unknown */
    } * details;                   /* [n_names] */
    uint32_t *node_names;          /* [n_nodes] */
    uint32_t *parents, *depths;    /* [n_nodes] */
    uint8_t *node_flags;           /* [n_nodes] */
    int64_t *self[2], *total[2];
};

/* Errors: ERR_CORRUPT, saying where and what; ERR_VERSION; ERR_LIMIT and ERR_MEMORY of the arena. */
MUST_CHECK int flamebytes_decode(struct slice bytes, struct arena *arena, struct flamebytes *ret_tree,
                                 struct error *err);
