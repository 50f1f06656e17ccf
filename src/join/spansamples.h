// SPDX-License-Identifier: Apache-2.0
/* What samples say of the spans of a trace: how many each has of every type, and where its time went.
 *
 * J1  A sample belongs to the span whose id it carries, whichever service sent it: senders of span profiles tell no trace.
 *     Of two spans of one id (span.h, P1) it is the one of the sample's service, else the first in the list; of more than
 *     SPANTREE_MAX_TWINS only the first are looked at.
 * J2  All services are read at once, from profiles whose window began up to SPANSAMPLES_BEFORE_NS before the first span,
 *     and not behind the last.
 * J3  By `own`, a span has the samples that carry its id. By `root`, also those of all spans below it that the same process
 *     did for it (spantree.h, W3). */
#pragma once

#include "base/patience.h"
#include "join/spantree.h"
#include "store/store.h"

#define SPANSAMPLES_BEFORE_NS (15 * 60 * CLOCK_NS_PER_SECOND) /* no profile covers more, as they are sent */
#define SPANSAMPLES_MAX_TYPES 32u

/* What a type says of a span's time. A wall clock counts both the time on a CPU and off it. */
enum spansamples_kind { SPANSAMPLES_OTHER, SPANSAMPLES_CPU, SPANSAMPLES_OFF_CPU, SPANSAMPLES_WALL };

struct spansamples_type {
    struct slice type; /* in full: process_cpu:cpu:nanoseconds:cpu:nanoseconds */
    struct slice unit;
    enum spansamples_kind kind;
    /* By the span's place in the list. */
    uint64_t *n_samples; /* raw ones, where that is known, else rows; 0 = the span has none of this type */
    int64_t *values;
    int64_t *times_ns; /* NULL for SPANSAMPLES_OTHER */
};
struct spansamples {
    struct spansamples_type *types; /* by name */
    uint32_t n_types;
    bool is_cut; /* there are more types than SPANSAMPLES_MAX_TYPES, and those that came later were left out */
    uint32_t n_spans;
};

struct spansamples_query {
    struct store *store;
    struct slice tenant;
    const struct span *spans; /* of one trace; borrowed */
    size_t n;
    struct patience patience; /* asked now and then */
};
/* One reading of the store; all from `arena`. `reads` is added to. Errors: those of store_scan and of the patience,
 * ERR_LIMIT (the arena), ERR_MEMORY. */
MUST_CHECK int spansamples_read(const struct spansamples_query *query, struct arena *arena,
                                struct spansamples *ret_samples, struct store_reads *reads, struct error *err);

/* From `own` to `root` (J3): adds to each span what those below it have; times stay as they are. */
void spansamples_to_roots(const struct spantree *tree, struct spansamples *samples);

/* Where the time of a span went; the four sum to its duration. Samples are of `own`; what they say beyond the time that
 * children leave over is cut, off-CPU time first. Asked before or behind spansamples_to_roots alike. */
struct spansamples_latency {
    int64_t cpu_ns;
    int64_t off_cpu_ns; /* 0 unless has_off_cpu */
    bool has_off_cpu;   /* the span has samples that tell it */
    int64_t children_ns;
    int64_t unknown_ns;
};
struct spansamples_latency spansamples_latency(const struct spansamples *samples, const struct span *span,
                                               const struct spantree_node *node);
