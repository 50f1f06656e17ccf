// SPDX-License-Identifier: Apache-2.0
/* Which labels make the series of a profile, and which stay with its samples. Common to every kind of store.
 *
 * Series labels come from, later ones winning: resource attributes, profile attributes, labels the sender's request
 * gave (extra), then the string labels of samples, which split the profile into several series.
 *
 * N1  Names are canonical: letters, digits and '_', not beginning with a digit; '.' is '_' (service.name is
 *     service_name), any other byte becomes '_' and is counted as repaired, and a digit in front gets a '_' before it.
 *     Names that become equal: the later wins; only a sample may have several values of one name, as columns. Empty
 *     names and empty values are no labels.
 * N2  Ids, pids and threads never make a series: the table of labeltext.c (trace_id, span_id, profile_id, pid,
 *     process_pid, tid, thread, thread_id, thread_name ... in any spelling). They stay columns. Neither do labels that
 *     are not strings, except that booleans and numbers without a unit among resource and profile attributes become
 *     text. What describes the scope is a row label.
 * N3  Limits, each counted: a name longer than max_name_bytes and a value longer than max_value_bytes are cut (at a
 *     UTF-8 boundary); bytes that are not UTF-8 become U+FFFD; labels beyond max_labels are moved to sample level,
 *     those of samples first, then profile and resource attributes from the back, never service_name, __name__ or extra
 *     labels before all others; more than max_splits different series from one profile: the label with the most
 *     different values goes to sample level, then the next, until they fit; service_name last.
 * N4  Every series has service_name (else "unknown_service") and __name__ (given, else derived from the types:
 *     labelrules_name). Other names that begin with two underscores belong to senders' protocols: row labels, or
 *     columns.
 * N5  Nothing is lost: what is no series label is a row label (of the whole profile) or a sample label (column).
 * N6  A name is a label of the series or of its row and samples, never of both, so a series can be judged by its
 *     labels: where any sample keeps a name as a column, the profile's own label of that name is a row label. Two names
 *     stand apart. __name__ is the series' alone: a row or sample label spelled so is kept and means nothing. And if
 *     rows or samples must keep the service_name, the series has LABELRULES_OTHER_SERVICES. */
#pragma once

#include "base/arena.h"
#include "block/seriesinfo.h"
#include "profile/profile.h"

/* The service_name of a series whose rows and samples know better. */
#define LABELRULES_OTHER_SERVICES "other_services"

/* 0 = the default. */
struct label_limits {
    uint32_t max_labels;      /* of a series, __name__ and service_name included: 40 */
    uint32_t max_name_bytes;  /* 256 */
    uint32_t max_value_bytes; /* 1024 */
    uint32_t max_splits;      /* series made from one profile: 100 */
};
extern const struct label_limits label_default_limits;

/* What was repaired or moved, for metrics and receipts. */
struct label_counts {
    uint64_t names_repaired;
    uint64_t names_cut;
    uint64_t values_cut;
    uint64_t values_repaired;
    uint64_t moved_to_samples; /* labels */
    uint64_t splits_moved;     /* labels of samples that would have made too many series */
};

/* A label of a row or of samples: text resolved, not yet a dictionary id. Order is by name. */
struct column_label {
    struct slice name; /* as it came: columns keep the sender's spelling */
    struct slice text; /* LABEL_STRING, LABEL_BYTES, LABEL_JSON */
    struct slice unit;
    int64_t number;
    enum label_kind kind;
};
struct column_labels {
    struct column_label *labels;
    uint32_t n; /* 0 = none */
};

struct series_piece {
    struct seriesinfo info; /* group is 0 */
    uint32_t n_samples;
    uint32_t *samples; /* indexes into the profile's columns, rising; NULL = all of them, in order */
};

struct series_plan {
    struct series_piece *pieces; /* at least one, also for a profile without samples */
    uint32_t n_pieces;
    struct column_labels row_labels; /* of the whole profile */
    /* [tables->n_label_sets]: what stays of each label set; NULL = nothing of any. Only label sets that a sample of
     * this profile has are filled in: many profiles can share large tables. */
    struct column_labels *sample_labels;
};

/* Makes the plan; all of it comes from `arena` or borrows the profile's tables and `extra`. The same labels give the
 * same series, whatever the order of samples; pieces come in the order of their first samples. Adds to `counts`.
 * Errors: ERR_MEMORY, ERR_LIMIT (of the arena). Thread: any. */
MUST_CHECK int labelrules_plan(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                               const struct label_limits *limits, struct label_counts *counts, struct arena *arena,
                               struct series_plan *ret_plan, struct error *err);

/* The same profile as one series that has no labels but __name__ and service_name (or, with `is_last_resort`, none but
 * __name__ and service_name="other_services"): for a tenant that has all the series it may have. What was a series
 * label is now a row or sample label. Samples of several services: "other_services" too. Counts. */
MUST_CHECK int labelrules_plan_collapsed(const struct profile *profile, const struct series_label *extra,
                                         uint32_t n_extra, const struct label_limits *limits, bool is_last_resort,
                                         struct label_counts *counts, struct arena *arena, struct series_plan *ret_plan,
                                         struct error *err);

/* The name of a kind of profile by its types: "process_cpu" for cpu or samples with period type cpu, "memory" for
 * alloc_ and inuse_ types, "mutex", "block", "goroutine", "wall", "off_cpu", ... else the period type, else the first
 * type. */
struct slice labelrules_name(const struct profile *profile);

/* The canonical form of a label name (N1), from `arena` unless it is canonical already. */
MUST_CHECK int labelrules_canonical(struct slice name, struct arena *arena, struct slice *ret_name,
                                    bool *ret_is_repaired, struct error *err);
