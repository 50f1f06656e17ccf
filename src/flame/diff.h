// SPDX-License-Identifier: Apache-2.0
/* What changed between two profiles: by function and along the paths of one tree that holds both sides.
 *
 * Column 0 of the tree and the graph is "before", column 1 is "after". Both sides share their symbols, which are equal
 * by content, so nothing is compared as text.
 *
 * Values of two runs seldom compare as they are. Normalised, the side "after" is multiplied by one factor:
 *   absolute         1
 *   equal totals     total before / total after: compares shares, whatever ran longer or had more to do
 *   equal durations  duration before / duration after: compares rates, such as CPU per second
 *   equal counts     count before / count after, of whatever the caller counts: compares what one of them costs
 * With nothing on one side neither can be made equal, and the values stay as they are.
 * Where the two sides have different units of one family, the factor brings "after" into the unit of "before", too. */
#pragma once

#include "flame/graph.h"
#include "flame/noise.h"

enum diff_scaling { DIFF_ABSOLUTE, DIFF_EQUAL_TOTALS, DIFF_EQUAL_DURATIONS, DIFF_EQUAL_COUNTS };
enum diff_order {
    DIFF_BY_SELF,  /* largest change of self first, then by name */
    DIFF_BY_TOTAL, /* largest change of total first, then by name */
};

struct diff_options {
    enum symbol_granularity granularity;
    enum diff_scaling scaling;
    enum diff_order order;
    bool collapses_recursion; /* in the tree; the functions do not change by it */
    uint32_t max_nodes;       /* of the tree; 0 = FLAME_MAX_NODES */
    uint64_t counts[2];       /* of DIFF_EQUAL_COUNTS: how many spans, say, are before and after; else 0 */
};

struct diff {
    struct flame *flame;
    struct graph *graph;
    uint32_t *functions; /* of the graph, in order; those that are zero on both sides are left out */
    uint32_t n_functions;
    enum diff_scaling scaling;
    double factor;     /* for values of "after" */
    struct slice unit; /* of "before"; lives as long as the diff */
    struct diff_side {
        int64_t total;       /* as it is, unscaled */
        int64_t duration_ns; /* 0 = unknown */
        double samples;      /* raw samples in all; negative = unknown */
        uint64_t count;      /* options->counts */
    } before, after;
};

enum diff_mark { DIFF_BOTH, DIFF_NEW, DIFF_GONE, DIFF_NEITHER };

/* One value on both sides. */
struct diff_value {
    int64_t before;
    int64_t after;                    /* scaled and rounded */
    int64_t delta;                    /* after - before */
    double share_before, share_after; /* of all samples of their side; 0 where that has none */
    bool has_percent;                 /* false where there was nothing before */
    double percent;                   /* 100 * delta / |before| */
    double error;                     /* standard error of delta; negative = unknown */
    enum diff_mark mark;
    enum noise_verdict verdict; /* whether the change is more than chance */
};

/* Compares type `before_type` of one profile with `after_type` of another; neither is kept. `options` may be NULL.
 * Errors: ERR_INVALID if the units do not fit together, or a duration is missing for DIFF_EQUAL_DURATIONS; ERR_MEMORY,
 * ERR_LIMIT. Thread: any. */
MUST_CHECK int diff_new(const struct profile *before, uint32_t before_type, const struct profile *after,
                        uint32_t after_type, const struct diff_options *options, struct diff **ret_diff,
                        struct error *err);

/* The two sides where they are added up already: a tree of two columns, trimmed or not, and the functions of both. Tree and
 * graph are taken over, also on failure. Of the options, those on how to make a tree do not matter. Errors: as diff_new. */
struct diff_parts {
    struct flame *flame;
    const struct flame
        *whole; /* a tree whose root is the whole, where `flame` may be a part; not kept. NULL = it is none */
    struct graph *graph;
    int64_t before_duration_ns, after_duration_ns; /* 0 = unknown */
    struct slice before_unit, after_unit;
};
MUST_CHECK int diff_new_of(const struct diff_parts *parts, const struct diff_options *options, struct diff **ret_diff,
                           struct error *err);
void diff_free(struct diff *diff);
void diff_freep(struct diff **diff);

/* The values of a function of the graph, or of a node of the tree (also of a trimmed copy of it). */
struct diff_value diff_function_self(const struct diff *diff, uint32_t function);
struct diff_value diff_function_total(const struct diff *diff, uint32_t function);
struct diff_value diff_node_self(const struct diff *diff, const struct flame *flame, uint32_t node);
struct diff_value diff_node_total(const struct diff *diff, const struct flame *flame, uint32_t node);

/* "absolute", "equal totals", "equal durations". */
const char *diff_scaling_name(enum diff_scaling scaling);
/* "", "new", "gone", "". */
const char *diff_mark_name(enum diff_mark mark);
