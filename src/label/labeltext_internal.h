// SPDX-License-Identifier: Apache-2.0
/* The texts of labels: what the rules of labelrules.h and the matchers of selector.h know about names and values. */
#pragma once

#include "base/arena.h"

/* What a byte of a name becomes in its canonical form: itself or '_'. A digit at the front needs a '_' before it. */
static inline char labeltext_name_byte(char c)
{
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

    return is_letter || (c >= '0' && c <= '9') ? c : '_';
}

/* Whether a label that its sender spelled `spelling` is the one with the canonical name `canonical`
 * (labelrules_canonical). Costs no memory. */
bool labeltext_is_named(struct slice spelling, struct slice canonical);

/* Whether a canonical name is that of an id, a process or a thread (N2). */
bool labeltext_is_never(struct slice canonical);

/* Whether a canonical name belongs to the protocol of a sender (N4); __name__ is one of them. */
bool labeltext_is_reserved(struct slice canonical);

/* A value as a series may have it. */
struct labeltext {
    struct slice text; /* UTF-8; borrows what was given wherever that was right already */
    bool is_cut;
    bool is_repaired;
};

/* Cuts `text` to `max_bytes` (at least 4) at the end of a character and puts U+FFFD in place of each byte that is not
 * UTF-8. Looks at no more of a long text than it keeps. Errors: ERR_MEMORY, ERR_LIMIT (of the arena). */
MUST_CHECK int labeltext_clean(struct slice text, uint32_t max_bytes, struct arena *arena, struct labeltext *ret_text,
                               struct error *err);
