// SPDX-License-Identifier: Apache-2.0
/* Which rows and samples of a day are those of certain spans, traces or profiles (struct store_ids).
 *
 * I1  Where ids of spans are asked for, the span index of a closing says which series may have them. A closing without an
 *     index, or with one that is damaged or has gaps, has all of its links looked at; so are those of heads. Few ids are
 *     searched for in each value of the index; of many (store_ids.span_set), its entries are looked up in the set.
 * I2  Of a profile with an id its record says which rows it has; the ids of rowid.h say it themselves. Sequences never
 *     repeat within a day: the sequence and the series are enough to know a row.
 *
 * Thread: one at a time. */
#pragma once

#include "base/map.h"
#include "store/day.h"

struct idfilter;

/* For one tenant of a view, which is borrowed, and the ids of the query. Errors: ERR_MEMORY, ERR_LIMIT (profiles of too
 * many rows), those of kv.h. */
MUST_CHECK int idfilter_new(const struct day_view *view, uint32_t tenant, const struct store_query *query,
                            struct idfilter **ret_filter, struct error *err);
void idfilter_free(struct idfilter *filter);
void idfilter_freep(struct idfilter **filter);

/* What the check of the query says: for whoever leaves something out. */
MUST_CHECK int idfilter_check(const struct idfilter *filter, struct error *err);
/* Whether only samples with certain links are taken. */
bool idfilter_needs_links(const struct idfilter *filter);
bool idfilter_takes_link(const struct idfilter *filter, const struct link *link);
/* Whether rows of the series, and a row, may be among those of the profiles asked for; true if none are. */
bool idfilter_takes_series(const struct idfilter *filter, uint32_t series);
bool idfilter_takes_row(const struct idfilter *filter, uint32_t series, uint32_t sequence);
/* Whether a row as bytes may have links that are taken. A guess that is quicker than reading it, and never wrongly no. */
bool idfilter_may_take(const struct idfilter *filter, struct slice row);

/* Cuts the row down to the samples whose links are taken; `*ret_keeps` is false when none is left, or the row is none of
 * the profiles'. `row` may point into memory of the filter afterwards, until the next call. Errors: ERR_MEMORY. */
MUST_CHECK int idfilter_apply(struct idfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps,
                              struct error *err);

/* Adds the series of a closing that may have samples of the spans asked for to the keys of `series`; false in
 * `*ret_is_known` if it has no index that could say so (I1), or no spans are asked for. Errors: ERR_MEMORY, those of
 * kv.h. */
MUST_CHECK int idfilter_find_series(struct idfilter *filter, uint8_t hour, uint32_t number, struct map *series,
                                    bool *ret_is_known, struct error *err);
/* How many values of span indexes were looked into so far. */
uint64_t idfilter_n_spans_read(const struct idfilter *filter);
