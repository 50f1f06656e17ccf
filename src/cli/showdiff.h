// SPDX-License-Identifier: Apache-2.0
/* The functions of a diff, as a table or JSON: of two files, and of what a store holds of two queries. */
#pragma once

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

/* Appends the functions that changed; `views` describe the two sides. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showdiff_print(struct command_context *context, const struct showdiff_config *config,
                              const struct view views[2], const struct diff *diff, bool is_json, struct buffer *out,
                              struct error *err);
