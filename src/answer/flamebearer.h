// SPDX-License-Identifier: Apache-2.0
/* A flame tree as Pyroscope's clients draw it: names, and levels of numbers from the root down.
 *
 * B1  Level 0 is the root, "total", which is name 0. Siblings are in bytewise order of their names. The children of a
 *     node begin behind its own self value, one after the other.
 * B2  A node of one profile is x, total, self, name; of a diff it is x, total and self of the left side, the same of the
 *     right side, name. x is written as the distance from the end of the node before it on the same level: of the first
 *     one, from 0.
 * B3  Distances are computed modulo 2^64, so that whoever adds them up gets every place back. Negative values are written
 *     as they are, and a node may then begin left of its parent; a diff does not take them, as Pyroscope does not.
 * B4  Which nodes there are is the engine's choice (flame/trim.h). It differs from Pyroscope's in two ways: of nodes with
 *     equal totals as many are kept as max_nodes allows, where Pyroscope keeps all of them; and a function that is really
 *     called "other" stays beside the node that stands for what was cut.
 * B5  Names are UTF-8: bytes that are not become U+FFFD.
 *
 * Nothing here recurses: a tree may be as deep as stacks are. */
#pragma once

#include "answer/rpcwriter.h"
#include "flame/flame.h"

#define FLAMEBEARER_DEFAULT_NODES 8192
#define FLAMEBEARER_MAX_NODES     1048576

#define FLAMEBEARER_WIDTH      4 /* numbers of a node */
#define FLAMEBEARER_DIFF_WIDTH 7

struct flamebearer_level {
    int64_t *values; /* as B2 */
    uint32_t n_values;
};

struct flamebearer {
    struct slice *names;
    uint32_t n_names;
    struct flamebearer_level *levels;
    uint32_t n_levels;
    int64_t total; /* of a diff, of both sides together */
    int64_t max_self;
    bool is_diff;
    int64_t left_ticks, right_ticks; /* of a diff: the totals of its sides */
};

/* The form of column 0 of a tree, or of a diff's tree of two columns. All of it is from `arena`, but for names, which may
 * point into the tree. Errors: ERR_MEMORY, ERR_LIMIT; of a diff, ERR_INVALID for negative values. Thread: any. */
MUST_CHECK int flamebearer_from_flame(const struct flame *flame, struct arena *arena, struct flamebearer *ret_bearer,
                                      struct error *err);
MUST_CHECK int flamebearer_from_diff(const struct flame *flame, struct arena *arena, struct flamebearer *ret_bearer,
                                     struct error *err);

/* Writes the object "flamebearer" of /render: names, levels, numTicks, maxSelf. */
void flamebearer_write_json(const struct flamebearer *bearer, struct json *json);

/* Writes the fields of querier.v1.FlameGraph, or of FlameGraphDiff. */
void flamebearer_write_message(const struct flamebearer *bearer, struct rpcwriter *writer);

/* Appends column 0 of a tree as the bytes of Pyroscope's format TREE: nodes before their children, the last child first,
 * each as length of its name, name, self and number of children. The root has no name. Nothing for a tree without
 * samples. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int flamebearer_write_tree(const struct flame *flame, struct buffer *out, struct error *err);

/* Checks how many nodes an asker wants: 0 is whatever is usual. Errors: ERR_INVALID naming the range. */
MUST_CHECK int flamebearer_check_nodes(int64_t asked, struct error *err);
/* The same, and how many nodes the engine's tree may have by it: one more, since "total" is none that Pyroscope counts. */
MUST_CHECK int flamebearer_max_nodes(int64_t asked, uint32_t *ret_max_nodes, struct error *err);
