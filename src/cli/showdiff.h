// SPDX-License-Identifier: Apache-2.0
/* A diff of two files, or of what a store holds of two queries: its functions as a table or JSON, and its tree. */
#pragma once

#include "cli/showtree.h"
#include "cli/view.h"
#include "flame/diff.h"

struct showdiff_config {
    unsigned scaling; /* enum diff_scaling */
    bool is_by_total;
    bool is_significant_only;
    double threshold;
    uint64_t rows;
};

#define SHOWDIFF_OPTIONS_N 5
extern const struct option_spec showdiff_options[SHOWDIFF_OPTIONS_N];
#define SHOWDIFF_GROUP(title_text, config_struct, member)                                                              \
    {                                                                                                                  \
        .title = (title_text), .specs = showdiff_options, .n = SHOWDIFF_OPTIONS_N,                                     \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* The same without --scale. */
#define SHOWDIFF_UNSCALED_GROUP(title_text, config_struct, member)                                                     \
    {                                                                                                                  \
        .title = (title_text), .specs = showdiff_options + 1, .n = SHOWDIFF_OPTIONS_N - 1,                             \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* Appends the functions that changed; `views` describe the two sides. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showdiff_print(struct command_context *context, const struct showdiff_config *config,
                              const struct view views[2], const struct diff *diff, bool is_json, struct buffer *out,
                              struct error *err);
/* Appends the tree of both sides in the flame format, cut here as asked, its path included. Errors: ERR_NOT_FOUND where the
 * path leads nowhere, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showdiff_encode(struct command_context *context, const struct showtree_config *config,
                               const struct diff *diff, struct buffer *out, struct error *err);
