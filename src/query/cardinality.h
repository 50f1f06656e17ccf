// SPDX-License-Identifier: Apache-2.0
/* How many series there are, and which labels, values and profile types make them.
 *
 * K1  Series are those that match, of the days that the range touches: a look into the index of each day. With `is_exact`
 *     they are those that have rows in the range, and types say when they were seen, to the row: windows are read. A series
 *     whose profiles changed their types counts once for each shape.
 * K2  Labels of rows and samples are no labels of series: their names and values are here and count none, and is_column
 *     says so. They are those of the days, or where there is a selector those of the rows that match.
 * K3  The type of the query does not matter, and neither do its levels and filters; its selector may ask for a type. */
#pragma once

#include "query/engine.h"

#define CARDINALITY_MAX_TOP (1u << 24)

struct cardinality_options {
    bool is_exact;      /* K1 */
    bool skips_columns; /* labels of series alone: without looking through the dictionary */
    struct slice label; /* only the label of this name, any spelling; empty = all */
    uint32_t top;       /* so many values of each label, those with the most series first; 0 = 10 */
};

struct cardinality_value {
    struct slice text;
    uint64_t n_series;
    bool is_column; /* rows or samples have it, too or alone */
};

struct cardinality_label {
    struct slice name; /* canonical */
    uint64_t n_values; /* all of them */
    uint64_t n_series; /* that have the label */
    bool is_column;
    struct cardinality_value *top; /* most series first, then by text */
    uint32_t n_top;
};

struct cardinality_type {
    struct slice profile_type;
    uint64_t n_series;
    int64_t first_ns, last_ns; /* starts of windows; 0 unless is_exact */
};

struct cardinality {
    uint64_t n_series;
    struct cardinality_label *labels; /* those with the most values first, then by name */
    uint32_t n_labels;
    struct cardinality_type *types; /* in bytewise order */
    uint32_t n_types;
    struct arena arena;
};

/* Errors: those of engine.h E3, ERR_LIMIT. Thread: any. */
MUST_CHECK int cardinality_new(struct engine *engine, const struct query *query,
                               const struct cardinality_options *options, struct cardinality **ret_cardinality,
                               struct query_facts *ret_facts, struct error *err);
void cardinality_free(struct cardinality *cardinality);
void cardinality_freep(struct cardinality **cardinality);
