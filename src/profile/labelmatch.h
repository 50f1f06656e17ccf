// SPDX-License-Identifier: Apache-2.0
/* Choosing samples by their labels, in two dialects.
 *
 * Selections, hearth's own. The whole value must match; a label that is not there has the value "".
 *     thread=main       thread!=main       thread=~"work.*"       thread!~"work.*"       (quotes are optional)
 *     bytes:4kB:64kB    bytes:4kB:         bytes::64kB            bytes:512B             (both ends included)
 * A label is looked for in the sample, else among the profile's attributes, else in its resource. In its name `.` and
 * `_` are the same: service.name is service_name. Names that hold an operator are put in double quotes.
 *
 * Tags, pprof's tagfocus and tagignore, on labels of samples alone.
 *     RE                any label, as "name:value", matches; with several after commas, each must be matched by some
 *     name=RE           a value of that label matches; of several after commas one is enough
 *     64kb  4mb:  :4mb  1kb:4mb, or name=1kb:4mb     a numeric label is in the range, by its unit */
#pragma once

#include "profile/pattern.h"
#include "profile/profile.h"

struct labelmatch;

/* Reads a selection. Errors: ERR_INVALID saying what is wrong and what would be right, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int labelmatch_new(struct slice text, struct labelmatch **ret_match, struct error *err);
/* Reads a tag filter of pprof. Errors: as labelmatch_new. */
MUST_CHECK int labelmatch_new_tag(struct slice text, struct labelmatch **ret_match, struct error *err);
void labelmatch_free(struct labelmatch *match);
void labelmatch_freep(struct labelmatch **match);

/* Matches the samples of one profile after another; label sets met before are remembered. Borrows the match, which any
 * number of runs may share, and the scratch. */
struct labelmatch_run;
MUST_CHECK int labelmatch_run_new(const struct labelmatch *match, struct pattern_scratch *scratch,
                                  struct labelmatch_run **ret_run, struct error *err);
void labelmatch_run_free(struct labelmatch_run *run);
void labelmatch_run_freep(struct labelmatch_run **run);
/* Says from which profile the following samples are. Errors: ERR_MEMORY. */
MUST_CHECK int labelmatch_run_profile(struct labelmatch_run *run, const struct profile *profile, struct error *err);
/* Whether a sample of that profile matches. Errors: those of pattern_test. */
MUST_CHECK int labelmatch_run_test(struct labelmatch_run *run, uint32_t sample, bool *ret_matches, struct error *err);
