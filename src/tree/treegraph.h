// SPDX-License-Identifier: Apache-2.0
/* Functions of sums in order, as flame/graph.h counts them, without a flame tree: one walk over each call tree adds up what
 * is spent in each function, and below it where it is not on the path already. Calls are followed only for functions that
 * are asked for. */
#pragma once

#include "flame/top.h"
#include "tree/treeorder.h"

struct treegraph_options {
    enum top_order order; /* by column 0 */
    uint32_t n;           /* so many functions; 0 = all */
    /* Only functions whose name matches, with all calls into and out of them; NULL = all functions, no calls. */
    const struct pattern *pattern;
    bool is_plain; /* as they come: not in order, and without knowing which are inlined; of all functions alone */
};

/* The functions in order, in `top`: its graph holds these and the other ends of their calls. A flame tree is given and stays
 * the caller's: the symbols of functions are added to its set. Errors: ERR_MEMORY, ERR_LIMIT, those of pattern_test. */
MUST_CHECK int treegraph_new(const struct treeorder *order, const struct treegraph_options *options,
                             struct flame *flame, struct top **ret_top, struct error *err);
