// SPDX-License-Identifier: Apache-2.0
/* The query string of a URL: names and values between '&', percent-decoded, '+' a space.
 *
 * A broken escape (%zz, a lone %) stands for itself, as browsers have it: no request fails for it. */
#pragma once

#include "base/arena.h"

#define URLQUERY_MAX_PAIRS 256

struct urlquery_pair {
    struct slice name, value;
};

struct urlquery {
    struct urlquery_pair *pairs;
    uint32_t n;
};

/* Reads all pairs; texts without escapes borrow `text`, the others are in the arena. Errors: ERR_LIMIT (more than
 * URLQUERY_MAX_PAIRS; of the arena), ERR_MEMORY. Thread: any. */
MUST_CHECK int urlquery_parse(struct slice text, struct arena *arena, struct urlquery *ret_query, struct error *err);

/* The first value of this name; empty if there is none. */
struct slice urlquery_get(const struct urlquery *query, const char *name);
bool urlquery_has(const struct urlquery *query, const char *name);
