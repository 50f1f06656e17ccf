// SPDX-License-Identifier: Apache-2.0
/* The spans of a trace as a tree, in the order of a waterfall: depth first, children by their start.
 *
 * W1  Spans whose parent is not there are roots, and orphans if they name one. Parents that go round in a circle are cut
 *     before the span that started first, which is an orphan then: a sender can write anything.
 * W2  The two sides of a call may share an id (span.h, P1): then the caller's span is the parent of the other one, and spans
 *     that name the id as their parent hang below the one of their own service, or else below the side that was called.
 *     Of more than SPANTREE_MAX_TWINS spans of one id only the first by their start are looked at.
 * W3  A local root is where a service takes up work: a span without a parent, with one of another service, or that says itself
 *     that its parent is elsewhere (its kind, or its flags). What is below it up to the next local roots is what one
 *     process did for it.
 *
 * No recursion: a trace may be as deep as it has spans. */
#pragma once

#include "base/arena.h"
#include "trace/span.h"

#define SPANTREE_NONE      UINT32_MAX
#define SPANTREE_MAX_TWINS 16u /* two are usual; a sender that has thousands must not cost a look at each from each */

struct spantree_node {
    uint32_t span;    /* place in the list that was given */
    uint32_t parent;  /* place among the nodes, always an earlier one; SPANTREE_NONE = a root */
    uint32_t depth;   /* 0 for roots */
    uint32_t n_below; /* the nodes that follow are below it */
    bool is_orphan, is_local_root;
    int64_t children_ns; /* how much of its time is covered by that of its children */
};

struct spantree {
    struct spantree_node *nodes;
    uint32_t n;
};

/* Makes the tree of the spans of one trace, which are borrowed; all from `arena`. Errors: ERR_LIMIT (2^31 spans, the
 * arena), ERR_MEMORY. Thread: any. */
MUST_CHECK int spantree_build(const struct span *spans, size_t n, struct arena *arena, struct spantree *ret_tree,
                              struct error *err);

/* Whether a span says itself that its parent, if it has one, is in another process (W3). */
bool spantree_is_taking_up(const struct span *span);

/* When a span ended; stays at the edge of 64 bits. */
static inline int64_t spantree_end_ns(const struct span *span)
{
    int64_t end_ns;

    return __builtin_add_overflow(span->start_ns, span->duration_ns, &end_ns) ? INT64_MAX : end_ns;
}
