// SPDX-License-Identifier: Apache-2.0
/* Matching frames as pprof does: a pattern is tried on the name of a function, on its file, and on the file of the
 * mapping. Each string is tried once and remembered. */
#pragma once

#include "profile/pattern.h"
#include "profile/tables.h"

struct framematch {
    const struct pattern *pattern;
    struct pattern_scratch *scratch;
    const struct tables *tables;
    const char *option; /* whose pattern it is, for errors; or NULL */
    uint8_t *known;     /* [string] 0 = not tried yet, 1 = does not match, 2 = matches */
};

/* All is borrowed; `tables` may be edited meanwhile, but for its strings. Errors: ERR_MEMORY. */
MUST_CHECK int framematch_init(struct framematch *match, const struct pattern *pattern, struct pattern_scratch *scratch,
                               const struct tables *tables, const char *option, struct arena *arena, struct error *err);

/* The errors of these are those of pattern_test.
 * A line without a function matches nothing, not even a pattern for the empty text; nor does a frame without mapping.
 */
MUST_CHECK int framematch_line(struct framematch *match, const struct line *line, bool *ret_matches, struct error *err);
MUST_CHECK int framematch_mapping(struct framematch *match, const struct frame *frame, bool *ret_matches,
                                  struct error *err);
/* Any of its lines, or its mapping. */
MUST_CHECK int framematch_frame(struct framematch *match, const struct frame *frame, bool *ret_matches,
                                struct error *err);
