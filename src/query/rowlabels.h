// SPDX-License-Identifier: Apache-2.0
/* The values that series, rows and samples have for some labels, as small numbers: equal texts have equal numbers, in all
 * days of an answer.
 *
 * L1  A value is that of the sample's own label, else of the row's, else of the series', else "" (label/selector.h). Of
 *     several values that one label set has for a label, the first is taken. __name__ is the series' alone.
 * L2  Number 0 is "".
 * L3  Label sets are named in blocks of ids and stay named for the day, as long as there is memory for them; what is
 *     written together has ids side by side. */
#pragma once

#include "store/store.h"

#define ROWLABELS_MAX 32 /* labels that can be asked for */

struct rowlabels;

/* For the labels of these names, in any spelling. Holds at most `max_bytes`, but for what one block of label sets takes
 * while it is named. Errors: ERR_LIMIT (more than ROWLABELS_MAX names),
 * ERR_INVALID for ids, which are no labels, ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int rowlabels_new(const struct slice *names, uint32_t n_names, size_t max_bytes,
                             struct rowlabels **ret_labels, struct error *err);
void rowlabels_free(struct rowlabels *labels);
void rowlabels_freep(struct rowlabels **labels);

/* Whether the labels of the series say it all: no label of its rows and samples can change a value (labelrules.h, N6). */
bool rowlabels_are_of_series(const struct rowlabels *labels, const struct seriesinfo *series);
/* Whether a label of a row or sample, in any spelling, is one of those asked for. Errors: ERR_MEMORY. */
MUST_CHECK int rowlabels_is_asked(struct rowlabels *labels, struct slice name, bool *ret_is_asked, struct error *err);

/* The function of store_sink and store_sum_sink: what follows has ids of this dictionary. */
int rowlabels_names(void *context, struct names *names, struct error *err);
/* The values of the series, one for each label. Errors: ERR_LIMIT (more values than there is memory for), ERR_MEMORY. */
MUST_CHECK int rowlabels_of_series(struct rowlabels *labels, const struct seriesinfo *series, uint32_t *ret_values,
                                   struct error *err);
/* Puts the values of a label set over `values`, where it has any. Errors: as rowlabels_of_series, and those of
 * names_load. */
MUST_CHECK int rowlabels_overlay(struct rowlabels *labels, uint32_t label_set, uint32_t *values, struct error *err);

/* The text of a value, valid as long as the object. */
struct slice rowlabels_text(const struct rowlabels *labels, uint32_t value);
