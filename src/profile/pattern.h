// SPDX-License-Identifier: Apache-2.0
/* Regular expressions over names and label values: Perl's syntax (PCRE2), which has nearly all of Go's in it, with
 * limits, so that no pattern from a user can keep us busy for long.
 *
 * As in Go, text is UTF-8, \w \d \s mean ASCII, `$` is the very end, and `.` is any character but a line feed. Bytes
 * that are not UTF-8 match nothing, and what stands around them still can.
 *
 * A compiled pattern never changes: any number of threads may share it, each with a scratch of its own. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

enum pattern_mode {
    PATTERN_SEARCH, /* matches anywhere in the text, as pprof's focus and the like do */
    PATTERN_WHOLE,  /* must match the whole text, `.` also matches a line feed: for label values */
};

#define PATTERN_MAX_BYTES 8192

struct pattern;

/* Compiles `text`. Errors: ERR_INVALID with the position, ERR_LIMIT for a pattern over PATTERN_MAX_BYTES, ERR_MEMORY.
 */
MUST_CHECK int pattern_new(struct slice text, enum pattern_mode mode, struct pattern **ret_pattern, struct error *err);
void pattern_free(struct pattern *pattern);
void pattern_freep(struct pattern **pattern);

/* What matching needs to write to; serves any pattern, one call at a time. Errors: ERR_MEMORY. */
struct pattern_scratch;
MUST_CHECK int pattern_scratch_new(struct pattern_scratch **ret_scratch, struct error *err);
void pattern_scratch_free(struct pattern_scratch *scratch);
void pattern_scratch_freep(struct pattern_scratch **scratch);

/* Whether `subject` matches. Errors: ERR_LIMIT when the pattern needs too many steps for it; ERR_MEMORY. */
MUST_CHECK int pattern_test(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                            bool *ret_matches, struct error *err);

/* Replaces every match in `subject` and appends the result to `out`; *ret_n is the number of replacements (with 0,
 * nothing is appended). In the replacement $1 or ${1} is a group, ${name} a named one and $$ a dollar; a group that
 * took no part is empty. Errors: ERR_INVALID for a bad replacement, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int pattern_replace(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                               struct slice replacement, struct buffer *out, uint32_t *ret_n, struct error *err);

/* Matches as pattern_test does and, where it matches, appends `text` with its groups put in: $1, ${1}, $name or ${name},
 * and $$ for a dollar. As in Go, a name without braces is the longest run of letters, digits and '_', so "$1x" is the
 * group "1x"; a group that is not there or took no part is empty; any other dollar is itself. Errors: those of
 * pattern_test, and those of `out`. */
MUST_CHECK int pattern_expand(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                              struct slice text, struct buffer *out, bool *ret_matches, struct error *err);
