// SPDX-License-Identifier: Apache-2.0
/* Copies of spans that outlive what they were read from: texts that come often, resources and scopes are there once. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "trace/span.h"

#define SPANCOPY_MAX_KNOWN 100000u /* more are copied each time */

struct spancopy {
    struct arena *arena;
    struct hash_set known; /* texts, resources and scopes by what they say; the copies are in `copies` */
    VEC(const void *) copies;
    const struct span_resource *last_resource;   /* which was copied last; */
    const struct span_resource *copied_resource; /* this is the copy */
};

/* Copies come from `arena`. Thread: one at a time. */
void spancopy_init(struct spancopy *copy, struct arena *arena);
void spancopy_done(struct spancopy *copy);
/* To be called before resources that were copied are freed: the next at the same place is another. */
void spancopy_forget(struct spancopy *copy);
/* With `is_whole` all there is, else ids, times, status, operation and service. Errors: ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int spancopy_make(struct spancopy *copy, const struct span *span, bool is_whole, struct span *ret_span,
                             struct error *err);
