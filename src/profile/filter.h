// SPDX-License-Identifier: Apache-2.0
/* Leaving out samples and frames, by name and by label, as pprof does it.
 *
 *   focus      keep samples in which some frame matches
 *   ignore     leave out samples in which some frame matches
 *   hide       take matching functions out of the stacks; a frame of which nothing is left goes, and a sample of which
 *              nothing is left
 *   show       take all but matching functions out, likewise; frames without names always go
 *   show_from  cut off what called the matching function nearest the root; samples without one go
 *   call_site  keep samples whose stacks begin, at the root, with these functions, one called by the other; names are those
 *              of symbolname.h, whole
 *   tag_focus, tag_ignore   keep, or leave out, samples by their labels (labelmatch.h, tags)
 *   labels     keep samples that match every one of these (labelmatch.h, selections)
 *
 * A pattern is matched against the name of the function, its file, and the file of the mapping, anywhere in them.
 * focus, ignore and call_site look at frames as they were, show at what hide left, show_from at what show left. As in pprof, with
 * any pattern for names a sample without frames goes. */
#pragma once

#include "profile/profile.h"

struct filter;

/* Empty texts filter nothing. The texts are not kept. */
struct filter_spec {
    struct slice focus, ignore, hide, show, show_from; /* regular expressions */
    const struct slice *call_site;
    uint32_t n_call_site;
    struct slice tag_focus, tag_ignore;
    const struct slice *labels;
    uint32_t n_labels;
};

/* Reads the patterns. Errors: ERR_INVALID naming the one that is wrong, ERR_LIMIT, ERR_MEMORY. Thread: any number of
 * filter_apply may share a filter. */
MUST_CHECK int filter_new(const struct filter_spec *spec, struct filter **ret_filter, struct error *err);
void filter_free(struct filter *filter);
void filter_freep(struct filter **filter);

/* Fills `out`, initialised and empty, with what the filter leaves of every profile of `in`; values are exact. Patterns
 * that matched nothing are told in out->report, as is what the model cannot carry over (times of single events).
 * Errors: ERR_LIMIT when a pattern takes too many steps or `out` is full, ERR_MEMORY. */
MUST_CHECK int filter_apply(const struct filter *filter, const struct batch *in, struct batch *out, struct error *err);

/* Whether samples with each of the stacks of `tables` stay, by the filters on names; `ret_stays` has room for them all. For
 * whoever needs no new profile. Errors: as filter_apply. */
MUST_CHECK int filter_stacks(const struct filter *filter, const struct tables *tables, bool *ret_stays,
                             struct error *err);
