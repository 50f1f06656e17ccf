// SPDX-License-Identifier: Apache-2.0
/* Which spans of a block pass a filter. Headers say whether a look is worth it, classes (spanblock.h, B3) whether a span may
 * pass, and only then are its columns read. */
#pragma once

#include "trace/spanblock.h"
#include "trace/tracestore.h"

/* Whether a block with this header may have spans that pass, and the longest that they may be. */
bool tracepick_may_have(const struct tracestore_filter *filter, const struct spanblock_header *header,
                        int64_t *ret_max_duration_ns);

struct tracepick {
    const struct tracestore_filter *filter;
    struct spanblock *block;
    const bool *is_class_taken;
    bool has_classes; /* at least one is taken */
};
/* Looks at the classes; all is borrowed, the rest comes from `arena`. Errors: ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int tracepick_init(struct tracepick *pick, const struct tracestore_filter *filter, struct spanblock *block,
                              struct arena *arena, struct error *err);
/* Whether span number `i` passes: the same as tracestore_filter_takes says of it. Errors: as spanblock_open. */
MUST_CHECK int tracepick_takes(struct tracepick *pick, uint32_t i, bool *ret_takes, struct error *err);
