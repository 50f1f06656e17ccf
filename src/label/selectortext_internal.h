// SPDX-License-Identifier: Apache-2.0
/* What a selector is made of, and how it is read and written; selector.c matches with it. */
#pragma once

#include "base/vec.h"
#include "label/selector.h"

enum matcher_kind { MATCH_EQUAL, MATCH_NOT_EQUAL, MATCH_REGEXP, MATCH_NOT_REGEXP };

struct matcher {
    enum matcher_kind kind;
    struct slice name; /* canonical */
    struct slice value;
    struct pattern *pattern; /* of the two with expressions */
    bool is_of_type;         /* on the profile type or a part of it */
};

struct selector {
    struct slice profile_type;
    struct slice name; /* of what the caller knows; never beside a type */
    VEC(struct matcher) matchers;
    struct arena arena; /* what the slices point to */
};

/* Reads `text` into an empty selector; a name instead of a type only if `is_name_allowed`. Errors: as selector_new; then
 * it is to be freed. */
MUST_CHECK int selectortext_read(struct slice text, bool is_name_allowed, struct selector *selector, struct error *err);
void selectortext_write(const struct selector *selector, struct buffer *out);
/* The braces and what is in them, matchers on types only if asked for; in front of all others, unless it is NULL, a matcher on
 * `label`. */
void selectortext_write_braces(const struct selector *selector, const struct series_label *label, bool has_types,
                               struct buffer *out);

/* Labels of the profile type and of its parts. */
#define SELECTORTEXT_TYPE_LABEL "__profile_type__"
extern const char *const selectortext_part_labels[5]; /* of part i; part 0 is the label __name__ of series */
