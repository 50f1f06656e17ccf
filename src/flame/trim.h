// SPDX-License-Identifier: Apache-2.0
/* Cuts a flame tree down to its heaviest nodes without losing a sample: what is cut below a node appears there as one
 * child "other", so totals stay exact (F2 holds for the result, too).
 *
 * The weight of a node is its share of all samples (the largest one where several columns count), and never below that
 * of its children: with negative values a small node may have large children, and they are not cut off from the root.
 * Of equal weights the one that comes first in the tree is kept. */
#pragma once

#include "flame/flame.h"

#define TRIM_ALL_COLUMNS UINT32_MAX

struct trim_options {
    uint32_t max_nodes; /* keep so many, the root included; the "other" nodes come on top. 0 = no limit */
    double min_share;   /* cut nodes with a smaller share of all samples: 0.001 is a thousandth. 0 = none */
    uint32_t column;    /* whose values count, or TRIM_ALL_COLUMNS */
    uint32_t root;      /* make this node the root and leave out all that is not below it */
};

/* Makes a trimmed copy. It uses the symbols of `flame`, which must outlive it; node 0 keeps the symbol of the root that
 * was asked for. Others that are in the tree already are joined to the new ones. Errors: ERR_MEMORY. Thread: any. */
MUST_CHECK int trim_flame(const struct flame *flame, const struct trim_options *options, struct flame **ret_flame,
                          struct error *err);
