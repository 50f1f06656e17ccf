// SPDX-License-Identifier: Apache-2.0
/* "Did you mean ...?": the known name nearest to what somebody typed.
 *
 *     struct suggest nearest = suggest_start(typed);
 *     for each known name: suggest_offer(&nearest, name);
 *     if (nearest.name) ...
 */
#pragma once

#include "base/slice.h"

struct suggest {
    struct slice typed;
    const char *name; /* the nearest so far, NULL while none is near enough to be meant */
    unsigned distance;
};

static inline struct suggest suggest_start(struct slice typed)
{
    return (struct suggest){ .typed = typed };
}

/* Considers one more name, which is kept by reference. Distance counts inserted, deleted, changed and swapped
 * neighbouring letters, case aside; a name is near when a third of its letters or fewer differ, or when what was typed
 * is its beginning. Of two equally near names the first offered stays. Names over 48 bytes are never near. */
void suggest_offer(struct suggest *suggest, const char *name);
