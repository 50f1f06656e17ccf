// SPDX-License-Identifier: Apache-2.0
/* Which rows and samples an answer takes: those that match a selector, have the ids that are asked for, and that no
 * tombstone has deleted.
 *
 * Series are judged once; only where labels of rows or samples decide are those looked at, through the dictionary. Of
 * all series together only their verdicts are held, twelve bytes each, and up to a MiB of those that were read: labels of
 * the others are read again for one at a time, so their size does not matter. */
#pragma once

#include "store/day.h"
#include "store/idfilter.h"

struct rowfilter;

/* For one tenant of a view, which is borrowed like the query's selector. Judges the tenant's series; which tenant the
 * query names does not matter. Tombstones that cannot touch its range are left out; until_ns 0 = all time. Errors:
 * ERR_MEMORY, ERR_LIMIT (more series than a reader has memory for), those of kv.h. */
MUST_CHECK int rowfilter_new(const struct day_view *view, uint32_t tenant, const struct store_query *query,
                             struct rowfilter **ret_filter, struct error *err);
/* For closing hours: leaves out what was deleted and, with ranges, what is in none of them (n_ranges 0 = no such rule).
 * Borrows them. Judges each series when its rows come: what it takes does not depend on how many there are. For
 * rowfilter_apply alone. */
struct rowfilter_range {
    const struct selector *selector; /* NULL = everything */
    int64_t from_ns, until_ns;
};
MUST_CHECK int rowfilter_new_ranges(const struct day_view *view, uint32_t tenant, const struct rowfilter_range *ranges,
                                    size_t n_ranges, int64_t from_ns, int64_t until_ns, struct rowfilter **ret_filter,
                                    struct error *err);
void rowfilter_free(struct rowfilter *filter);
void rowfilter_freep(struct rowfilter **filter);

/* The groups of which some series may match, in order of their ids. Of a rowfilter_new alone. */
struct rowfilter_group {
    uint32_t id;
    uint32_t n_series; /* of the tenant */
    uint32_t n_whole;  /* those of which every row matches the selector, and is taken whatever ids it has */
    bool has_others;   /* tombstones may concern a series of it */
};
const struct rowfilter_group *rowfilter_groups(const struct rowfilter *filter, size_t *ret_n);
/* The place of a series' group in that list; UINT32_MAX if the series is not wanted. `*ret_is_whole`: as n_whole. */
uint32_t rowfilter_group_of(const struct rowfilter *filter, uint32_t series, bool *ret_is_whole);
/* Calls `visit` for each wanted series of the group at `place`, in order. */
MUST_CHECK int rowfilter_each_of_group(const struct rowfilter *filter, uint32_t place,
                                       int (*visit)(void *context, uint32_t series, bool is_whole, struct error *err),
                                       void *context, struct error *err);

/* The first wanted series of the group at `place` that is `series` or behind it; UINT32_MAX if there is none. */
uint32_t rowfilter_next_of_group(const struct rowfilter *filter, uint32_t place, uint32_t series);

/* Whether rows of the series can match at all; series that are not known cannot. */
bool rowfilter_wants(const struct rowfilter *filter, uint32_t series);
/* Whether there are series of which only their rows can say whether they match. */
bool rowfilter_is_open(const struct rowfilter *filter);
/* Remembers that a row of the series was found. */
void rowfilter_note_found(struct rowfilter *filter, uint32_t series);
bool rowfilter_is_found(const struct rowfilter *filter, uint32_t series);
/* From now on only the series that were found are wanted. */
void rowfilter_limit_to_found(struct rowfilter *filter);
/* The series, valid until another is asked for or applied; NULL if it is not there or damaged. Errors: those of kv.h,
 * ERR_MEMORY. */
MUST_CHECK int rowfilter_series(struct rowfilter *filter, uint32_t series, const struct seriesinfo **ret_series,
                                struct error *err);
/* Calls `visit` for the labels of a label set, as selectors see them. */
MUST_CHECK int rowfilter_each_label(struct rowfilter *filter, uint32_t label_set,
                                    int (*visit)(void *context, struct slice name, struct slice value,
                                                 struct error *err),
                                    void *context, struct error *err);
/* The dictionary of the tenant. */
struct names *rowfilter_names(struct rowfilter *filter);
/* What the query asks of ids, for rowstream_filter; NULL = nothing. */
struct idfilter *rowfilter_ids(const struct rowfilter *filter);

/* Cuts the row down to the samples that are left; `*ret_keeps` is false when none is, or the row as a whole is gone.
 * Rows without samples stay if their labels match. `row` may point into memory of the filter afterwards, until the next
 * call. Errors: those of patterns, ERR_MEMORY. */
MUST_CHECK int rowfilter_apply(struct rowfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps,
                               struct error *err);

/* Calls `visit` for each series that may match, in order of their ids. */
MUST_CHECK int rowfilter_each_series(struct rowfilter *filter,
                                     int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                                     void *context, struct error *err);
