// SPDX-License-Identifier: Apache-2.0
/* The bodies of Pyroscope's /ingest that are older than pprof there. All have stacks and one number for each.
 *
 *     groups   a stack on each line, frames root first between semicolons, a space, the number
 *     lines    the same without the number: each line counts one
 *     trie     nodes in pre-order: length of name, name, number, how many children (varints). Names are pieces that follow
 *              each other down the path; where a number is, the path so far is a stack, as in groups
 *     tree     likewise, but names are whole frames, and the first node is the root of all, which is none */
#pragma once

#include "profile/profile.h"

enum legacybody_form { LEGACYBODY_GROUPS, LEGACYBODY_LINES, LEGACYBODY_TRIE, LEGACYBODY_TREE };

/* What the numbers are, and what they are multiplied with. */
struct legacybody_shape {
    struct slice type, unit;
    struct slice period_type; /* empty = none; its unit is nanoseconds */
    int64_t period;
    int64_t factor;
};

/* Decodes into `batch`, which is empty; it gets one profile, equal stacks added up. Lines without a space are passed
 * over. Errors: ERR_CORRUPT (with line or byte), ERR_LIMIT (paths that are too long, or too many of them), ERR_MEMORY.
 * Thread: any. */
MUST_CHECK int legacybody_decode(enum legacybody_form form, struct slice bytes, const struct legacybody_shape *shape,
                                 struct batch *batch, struct error *err);
