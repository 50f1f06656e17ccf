// SPDX-License-Identifier: Apache-2.0
/* The table of the functions that cost most, as text or JSON: of a file, and of what a store holds. */
#pragma once

#include "cli/view.h"
#include "flame/top.h"

struct showtop_config {
    bool is_by_total;
    uint64_t rows;
};

#define SHOWTOP_OPTIONS_N 2
extern const struct option_spec showtop_options[SHOWTOP_OPTIONS_N];
#define SHOWTOP_GROUP(title_text, config_struct, member)                                                               \
    {                                                                                                                  \
        .title = (title_text), .specs = showtop_options, .n = SHOWTOP_OPTIONS_N,                                       \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* In which order the functions are to be found. */
enum top_order showtop_order(const struct showtop_config *config);

/* Appends the table of functions that were found in that order; `view` describes what they are of. Of what is in `top` as
 * many are shown as asked for. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showtop_print(struct command_context *context, const struct showtop_config *config,
                             const struct view *view, const struct top *top, bool is_json, struct buffer *out,
                             struct error *err);
