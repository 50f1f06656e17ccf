// SPDX-License-Identifier: Apache-2.0
/* Filters on single samples of rows (engine.h, E4), for answers that are not added up by stack, and for labels always.
 *
 * X1  tag_focus and tag_ignore choose samples as a selector does. They see the labels of the sample, of its row and of its
 *     series alike, by their canonical names; a row of which they leave nothing is no part of the answer. A row that has no
 *     samples matches nothing, so tag_focus leaves it out.
 * X2  Filters by functions leave the samples and take their values: a row, and what groups its samples are in, stays.
 *
 * Label sets and stacks are looked up once for each day, as long as there is memory to remember them. */
#pragma once

#include "profile/filter.h"
#include "store/store.h"
#include "tree/latenames.h"

struct samplefilter;

/* Whether there is anything to do: for labels, or for functions. */
static inline bool samplefilter_has_tags(const struct filter_spec *spec)
{
    return spec->tag_focus.len || spec->tag_ignore.len;
}

static inline bool samplefilter_has_functions(const struct filter_spec *spec)
{
    return spec->focus.len || spec->ignore.len || spec->hide.len || spec->show.len || spec->show_from.len ||
           spec->n_call_site;
}

/* Reads the patterns; those of functions only if they are wanted. `late` gives names that the store does not have; NULL = none;
 * borrowed. `max_bytes` is what it may take of memory, that of a query. Errors: those of filter_new. Thread: one at a time. */
MUST_CHECK int samplefilter_new(const struct filter_spec *spec, bool wants_functions, const struct latenames *late,
                                size_t max_bytes, struct samplefilter **ret_filter, struct error *err);
void samplefilter_free(struct samplefilter *filter);
void samplefilter_freep(struct samplefilter **filter);

/* What follows has ids of this dictionary. */
void samplefilter_names(struct samplefilter *filter, struct names *names);
/* What the filter leaves of a row, valid until the next call; `*ret_stays` is false where it is no part of the answer.
 * Errors: those of names_load, ERR_LIMIT (of patterns, or naming the limit of memory), ERR_MEMORY. */
MUST_CHECK int samplefilter_cut(struct samplefilter *filter, const struct seriesinfo *series, const struct headrow *row,
                                struct headrow *ret_row, bool *ret_stays, struct error *err);
