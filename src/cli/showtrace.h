// SPDX-License-Identifier: Apache-2.0
/* A trace with what samples say of its spans: as JSON, and as a waterfall for terminals. */
#pragma once

#include "cli/askspans.h"
#include "cli/command.h"
#include "join/spansamples.h"
#include "trace/tracestore.h"

struct showtrace {
    struct tracestore_trace trace; /* at least one span */
    struct spantree tree;
    struct spansamples samples; /* by `attribution` */
    enum askspans_attribution attribution;
    const char *link; /* a template of tracelink.h; NULL = none */
};

/* Errors of both: ERR_MEMORY, ERR_LIMIT. What went wrong with `out` says buffer_check. */
MUST_CHECK int showtrace_json(const struct showtrace *show, struct arena *arena, struct buffer *out, struct error *err);
MUST_CHECK int showtrace_print(const struct showtrace *show, struct command_context *context, struct buffer *out,
                               struct error *err);
