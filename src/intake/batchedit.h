// SPDX-License-Identifier: Apache-2.0
/* Small changes to a batch that its decoder just made and nobody else has seen: other names, more labels, fewer samples,
 * without building it anew. Columns are changed where they are; tables that grow are copied within the arena of the
 * batch.
 *
 * Errors of all: ERR_MEMORY, ERR_LIMIT (of the arena). Thread: one at a time, as the batch. */
#pragma once

#include "profile/profile.h"

/* Adds strings, which are borrowed; the first gets the id `*ret_first`, the others follow. */
MUST_CHECK int batchedit_add_strings(struct batch *batch, const struct slice *texts, uint32_t n, uint32_t *ret_first,
                                     struct error *err);

/* For each label set that has a text label `from` and none called `to`, adds a set that has both, with the same text.
 * `*ret_map` says for each set there was which one that is, itself where there is no other; NULL if all are themselves. */
MUST_CHECK int batchedit_derive_label(struct batch *batch, struct slice from, struct slice to, uint32_t **ret_map,
                                      struct error *err);

/* Gives `link` to all samples of a profile that have none. */
MUST_CHECK int batchedit_link_all(struct batch *batch, struct profile *profile, const struct link *link,
                                  struct error *err);

/* Takes out samples whose values are all zero, and those with a negative one; returns how many of the latter. Times of
 * single events go too, for stores do not keep them. */
uint64_t batchedit_drop_empty_samples(struct profile *profile);
/* Takes out profiles without samples. */
void batchedit_drop_empty_profiles(struct batch *batch);

/* Makes one upload stand for `weight`: flows and counts are multiplied; what does not fit stays at the edge. Levels stay
 * as they are: a state is not more for being seen less often. So do counters, whose differences hold what was left out. */
void batchedit_weigh(struct profile *profile, uint32_t weight);
