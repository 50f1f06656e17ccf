// SPDX-License-Identifier: Apache-2.0
/* Which rows and samples an answer takes: those that match a selector and that no tombstone has deleted.
 *
 * Series are judged once; only where labels of rows or samples decide are those looked at, through the dictionary. */
#pragma once

#include "base/map.h"
#include "store/day.h"

struct rowfilter;

/* For one tenant of a view, which is borrowed like `selector` (NULL = everything). Loads the tenant's series.
 * Tombstones that cannot touch [from_ns, until_ns) are left out; until_ns 0 = all time. Errors: ERR_MEMORY, ERR_LIMIT,
 * those of kv.h. */
MUST_CHECK int rowfilter_new(const struct day_view *view, uint32_t tenant, const struct selector *selector,
                             int64_t from_ns, int64_t until_ns, struct rowfilter **ret_filter, struct error *err);
/* For closing hours: leaves out what was deleted and, with ranges, what is in none of them (n_ranges 0 = no such rule).
 * Borrows them. Of the series it knows only those that this may concern: rows of the others stay, or with ranges go. */
struct rowfilter_range {
    const struct selector *selector; /* NULL = everything */
    int64_t from_ns, until_ns;
};
MUST_CHECK int rowfilter_new_ranges(const struct day_view *view, uint32_t tenant, const struct rowfilter_range *ranges,
                                    size_t n_ranges, int64_t from_ns, int64_t until_ns, struct rowfilter **ret_filter,
                                    struct error *err);
void rowfilter_free(struct rowfilter *filter);
void rowfilter_freep(struct rowfilter **filter);

/* Whether rows of the series can match at all; series that are not known cannot. */
bool rowfilter_wants(const struct rowfilter *filter, uint32_t series);
/* Whether there are series of which only their rows can say whether they match. */
bool rowfilter_is_open(const struct rowfilter *filter);
/* From now on only those of its series that are keys of `found` are wanted. */
void rowfilter_limit(struct rowfilter *filter, const struct map *found);
/* The series, or NULL. */
const struct seriesinfo *rowfilter_series(const struct rowfilter *filter, uint32_t series);
/* Calls `visit` for the labels of a label set, as selectors see them. */
MUST_CHECK int rowfilter_each_label(struct rowfilter *filter, uint32_t label_set,
                                    int (*visit)(void *context, struct slice name, struct slice value,
                                                 struct error *err),
                                    void *context, struct error *err);
/* The dictionary of the tenant. */
struct names *rowfilter_names(struct rowfilter *filter);

/* Cuts the row down to the samples that are left; `*ret_keeps` is false when none is, or the row as a whole is gone.
 * Rows without samples stay if their labels match. `row` may point into memory of the filter afterwards, until the next
 * call. Errors: those of patterns, ERR_MEMORY. */
MUST_CHECK int rowfilter_apply(struct rowfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps,
                               struct error *err);

/* Calls `visit` for each series that may match, in order of their ids. */
MUST_CHECK int rowfilter_each_series(const struct rowfilter *filter,
                                     int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                                     void *context, struct error *err);
