// SPDX-License-Identifier: Apache-2.0
/* The labels of a whole profile: those of its scope, resource and attributes and those of the request, the later ones
 * in place of the earlier, each sorted into series labels and row labels.
 *
 * B1  Labels are sorted by canonical name, each name once; __name__ and service_name are always there.
 * B2  A label is one of the series or a row label. Only two can be both: a service_name that rows or samples decide,
 *     which in the series is LABELRULES_OTHER_SERVICES, and a __name__ that is no text. */
#pragma once

#include "label/labelrules.h"

struct base_label {
    struct slice name;          /* canonical, cut */
    struct slice value;         /* of the series; meaningless without is_series */
    struct column_label column; /* as it came */
    uint64_t keep_rank;         /* with too many labels the highest go first */
    bool is_default;            /* ours, not the sender's */
    bool is_series;
    bool is_column;
    bool is_name_repaired, is_name_cut, is_value_repaired, is_value_cut;
};

struct labelbase {
    struct base_label *labels;
    uint32_t n;
};

/* Gathers the labels of `profile` and `extra`; everything comes from `arena` or is borrowed. Errors: ERR_MEMORY,
 * ERR_LIMIT (of the arena). */
MUST_CHECK int labelbase_make(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                              const struct label_limits *limits, struct arena *arena, struct labelbase *ret_base,
                              struct error *err);

/* The label with that canonical name, or NULL. */
struct base_label *labelbase_find(const struct labelbase *base, struct slice canonical);

/* Takes a label out of the series. True if it was there and came from the sender: then it is a row label now. A
 * service_name leaves LABELRULES_OTHER_SERVICES behind; __name__ stays. */
bool labelbase_move(struct base_label *label);

/* Moves labels until at most `max_labels` (at least 2) are of the series; says how many. Errors: as labelbase_make. */
MUST_CHECK int labelbase_limit(struct labelbase *base, uint32_t max_labels, struct arena *arena, uint64_t *ret_n_moved,
                               struct error *err);

/* How many labels are of the series. */
uint32_t labelbase_series_count(const struct labelbase *base);

/* The row labels, sorted as they are spelled. Errors: as labelbase_make. */
MUST_CHECK int labelbase_rows(const struct labelbase *base, struct arena *arena, struct column_labels *ret_labels,
                              struct error *err);

/* Adds what was cut and repaired in series labels. */
void labelbase_count(const struct labelbase *base, struct label_counts *counts);

/* A label of a table as a column. */
struct column_label labelbase_column(const struct tables *tables, const struct label *label);
/* N1: whether it is no label, for want of a name or, being a text, of a value. */
bool labelbase_is_empty(struct slice name, enum label_kind kind, struct slice text);

/* The canonical name, at most `max_bytes` of it. Errors: as labelbase_make. */
MUST_CHECK int labelbase_name(struct slice spelling, uint32_t max_bytes, struct arena *arena, struct slice *ret_name,
                              bool *ret_is_repaired, bool *ret_is_cut, struct error *err);
