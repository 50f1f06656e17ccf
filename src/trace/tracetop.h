// SPDX-License-Identifier: Apache-2.0
/* The traces of a search that come first, of all whose spans were met: each once, where its first span stands.
 *
 * Those that stood on earlier pages are known by their spans that stand there: whoever fills it gives those, too. */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "trace/traceplace.h"

struct tracetop {
    enum tracestore_order order;
    size_t n_wanted;
    bool has_after;          /* a later page: what stands there or before is not wanted */
    struct traceplace after; /* where the page before ended */
    VEC(struct traceplace) places;
    bool has_cut;
    struct traceplace cut; /* what stands behind it was left out */
    struct hash_set shown; /* traces that stood on earlier pages */
};

#define TRACETOP_MAX_SHOWN 1000000u

/* `after` may be NULL. Thread: one at a time. */
void tracetop_init(struct tracetop *top, enum tracestore_order order, size_t n_wanted, const struct traceplace *after);
void tracetop_done(struct tracetop *top);
/* A span that passes. Errors: ERR_MEMORY, ERR_LIMIT: so many pages before this one. */
MUST_CHECK int tracetop_add(struct tracetop *top, const struct traceplace *place, struct error *err);
/* Whether spans that start no later than `max_start_ns` and take no longer than `max_duration_ns` can make a difference. */
bool tracetop_may_take(const struct tracetop *top, int64_t max_start_ns, int64_t max_duration_ns);
/* Leaves the best: then `places` has at most n_wanted, each trace once, in order. To be called before tracetop_may_take, and
 * at the end. */
void tracetop_settle(struct tracetop *top);
