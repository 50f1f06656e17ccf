// SPDX-License-Identifier: Apache-2.0
/* The labels of samples: which of them split a profile into series, and which stay columns.
 *
 * Work is per label of a distinct label set, and linear but for sorting distinct names: a sample costs one lookup.
 * Everything is found through maps whose keys are mixed with a seed that senders do not know.
 *
 * L1  A name splits in every label set of the profile or is a column in every one. It is a column where N2 or N4 say
 *     so, where a label of it is no text, where a sample has two values of it, and where the row has it.
 * L2  A name that is a column is no series label: labelbase_move takes it out. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "block/idsort.h"
#include "label/labelbase_internal.h"

/* A label set that some sample has. */
struct split_set {
    uint32_t set;
    uint32_t first_use, n_uses;
    uint32_t first_entry, n_entries;
    uint32_t piece;
};

/* A label of such a set. */
struct split_use {
    uint32_t label; /* in the tables */
    uint32_t key;
    uint32_t value; /* NONE where it need not be known */
};

/* A name as it is spelled. */
struct split_key {
    struct slice spelling;
    uint32_t name;
    uint32_t rank; /* among the spellings; equal ones have one rank */
};

/* A canonical name. */
struct split_name {
    struct slice name;
    struct base_label *base; /* the label of the whole profile with that name, or NULL */
    uint32_t n_values;
    uint32_t rank;
    uint32_t removal;             /* its turn to become a column when there are too many series */
    uint32_t set_plus_one, value; /* where it was met last */
    bool is_column;
    bool is_repaired, is_cut;
};

/* A value of a name, as a series has it. */
struct split_value {
    struct slice text;
    uint32_t name;
    bool is_of_base; /* the whole profile has it anyway */
    bool is_repaired, is_cut;
};

struct labelsplit {
    const struct profile *profile;
    const struct label_limits *limits;
    struct labelbase *base;
    struct arena *arena;
    uint64_t seed;

    uint32_t *sample_sets; /* [n_samples]: index into sets */
    VEC(struct split_set) sets;
    VEC(struct split_use) uses;
    VEC(struct split_key) keys;
    VEC(struct split_name) names;
    VEC(struct split_value) values;
    VEC(uint64_t) entries;         /* pairs of idsort.h: of each set the values that split, by the rank of the name */
    VEC(uint32_t) pieces_of_nodes; /* piece + 1, or 0 */
    uint32_t *names_by_rank;       /* index into names */
    uint32_t n_most_uses;          /* of any set */
    uint64_t *scratch;             /* [n_most_uses], for sorting */
    struct map set_map, key_map, name_map, text_map, value_map, node_map;
};

/* The name of an entry. */
static inline struct split_name *labelsplit_name(const struct labelsplit *split, uint64_t entry)
{
    return &split->names.items[split->names_by_rank[idsort_id(entry)]];
}

/* Reads the label sets of the samples, finds the names that must be columns and takes those out of `base`. Borrows all
 * it is given until labelsplit_done. Errors: ERR_MEMORY, ERR_LIMIT (of the arena); labelsplit_done is due then too. */
MUST_CHECK int labelsplit_init(struct labelsplit *split, const struct profile *profile,
                               const struct label_limits *limits, struct labelbase *base, struct arena *arena,
                               struct label_counts *counts, struct error *err);
void labelsplit_done(struct labelsplit *split);

/* Decides which names split, within the limits of labels and of series, and assigns the label sets to pieces; says how
 * many there are. `base` must be within its limit by now; labels may still be taken out of it. */
MUST_CHECK int labelsplit_assign(struct labelsplit *split, struct label_counts *counts, uint32_t *ret_n_pieces,
                                 struct error *err);

/* Fills labels and samples of the pieces, which are zeroed. Labels are those of the series in `base` with what the
 * samples say in place of it. */
MUST_CHECK int labelsplit_fill_pieces(struct labelsplit *split, struct series_piece *pieces, uint32_t n_pieces,
                                      struct error *err);

/* What stays of each label set that a sample has: plan->sample_labels. */
MUST_CHECK int labelsplit_fill_columns(struct labelsplit *split, struct column_labels **ret_labels, struct error *err);
