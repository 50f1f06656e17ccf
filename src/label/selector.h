// SPDX-License-Identifier: Apache-2.0
/* Choosing series and samples by labels:
 *
 *     {service_name="api", zone=~"eu-.*"}        service.name=api,zone!~us.*        {}        (empty)
 *     process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="api"}     the part in front asks for a profile type
 *
 * Operators = != =~ !~; expressions match whole values; a label that is not there has the value "". Names become
 * canonical (labelrules.h, N1), so '.' is '_', and a name may stand in quotes. Values in double or single quotes have
 * Go's escapes, in backquotes none; without quotes they end at a comma or '}'. The grammar is in selectortext.c.
 *
 * Series labels and labels of samples (columns) are seen alike: a sample's own label wins over the row's, the row's
 * over the series'. Of several values that a sample has for one label, any can match. __name__ is the series' alone.
 *
 * A profile type is a label as well, as it is for Pyroscope: __profile_type__, and its parts __type__, __unit__,
 * __period_type__ and __period_unit__. A series matches if one of its types meets all that is asked of these; rows and samples
 * have no say. */
#pragma once

#include "base/arena.h"
#include "block/seriesinfo.h"
#include "profile/pattern.h"

struct selector;

/* Reads a selector. Errors: ERR_INVALID saying where and what would be right, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int selector_new(struct slice text, struct selector **ret_selector, struct error *err);
/* The same, for queries: the name of a service, or whatever the caller takes it for, may stand where a type can, before
 * the braces or alone: my-service{zone="eu"}, order-service.cpu. A name has no ':', no quotes and none of {}=!~, in it.
 * It chooses nothing by itself: the caller gives it a meaning. */
MUST_CHECK int selector_new_named(struct slice text, struct selector **ret_selector, struct error *err);
/* A copy of a selector that asks for `profile_type` (empty = for any) instead of its own type or name and, unless
 * `label` is NULL, first of all for that label, if it does not so already; the label's name is canonical. Its text can
 * be read again unless the type has bytes that no text can have there. Where a type is given, matchers on types have had their
 * say and are left out. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int selector_new_narrowed(const struct selector *selector, struct slice profile_type,
                                     const struct series_label *label, struct selector **ret_selector,
                                     struct error *err);
void selector_free(struct selector *selector);
void selector_freep(struct selector **selector);

/* The profile type in front of the braces, or empty. */
struct slice selector_profile_type(const struct selector *selector);
/* The name in front of the braces, or empty; only selector_new_named allows one. */
struct slice selector_name(const struct selector *selector);
/* Appends the canonical text: matchers in order given, names canonical, values quoted. Reading it gives an equal
 * selector. */
void selector_text(const struct selector *selector, struct buffer *out);
bool selector_is_empty(const struct selector *selector);
/* Whether a matcher is on the profile type or a part of it; and whether none of these refuses a full profile type. Errors:
 * those of pattern_test. */
bool selector_has_type_matchers(const struct selector *selector);
MUST_CHECK int selector_allows_type(const struct selector *selector, struct slice profile_type,
                                    struct pattern_scratch *scratch, bool *ret_allows, struct error *err);

/* What is asked of one label, whose name is given in canonical form. selector_value: whether a matcher asks for one
 * value, and for which (of several the first). selector_allows: whether no matcher on that label refuses the value;
 * errors: those of pattern_test. */
bool selector_value(const struct selector *selector, struct slice name, struct slice *ret_value);
MUST_CHECK int selector_allows(const struct selector *selector, struct slice name, struct slice value,
                               struct pattern_scratch *scratch, bool *ret_allows, struct error *err);

/* The labels that are asked to have one value, in the order given, from `arena`. Of a selector that seriesinfo_text wrote
 * these are the labels of the series. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int selector_labels(const struct selector *selector, struct arena *arena, struct series_label **ret_labels,
                               uint32_t *ret_n, struct error *err);

/* What is known of a series before its rows are read. */
enum selector_verdict {
    SELECTOR_NO,    /* no row of it can match */
    SELECTOR_YES,   /* every row and sample matches */
    SELECTOR_MAYBE, /* the labels of rows and samples decide */
};
/* Judges a series by its labels; the profile type is not looked at. A matcher on a label that the series does not have
 * can still be met, or failed, by a label of its rows and samples: MAYBE, when `has_columns` says that rows of this
 * store have such labels at all, else it is judged with "". Labels that the series has are no one else's (labelrules.h,
 * N6), but for the service_name "other_services". Errors: those of pattern_test. Thread: any, one at a time per
 * scratch. */
MUST_CHECK int selector_judge(const struct selector *selector, const struct seriesinfo *series, bool has_columns,
                              struct pattern_scratch *scratch, enum selector_verdict *ret_verdict, struct error *err);

/* Whether a sample matches all: series labels, overlaid by the labels of its row, overlaid by its own. Labels with
 * numbers match as decimal text. Label keys and texts are slices here, resolved by the caller. */
struct selector_label {
    struct slice name; /* any spelling: '.' is '_' */
    struct slice value;
};
MUST_CHECK int selector_test(const struct selector *selector, const struct seriesinfo *series,
                             const struct selector_label *row_labels, uint32_t n_row_labels,
                             const struct selector_label *sample_labels, uint32_t n_sample_labels,
                             struct pattern_scratch *scratch, bool *ret_matches, struct error *err);
