// SPDX-License-Identifier: Apache-2.0
/* The tree of calls, as text or JSON: of a file, and of what a store holds. */
#pragma once

#include "cli/view.h"
#include "flame/flame.h"

struct showtree_config {
    bool is_inverted;
    bool collapses_recursion;
    double min_share;
    uint64_t max_nodes;
    uint64_t depth;
    const char *path;
};

#define SHOWTREE_OPTIONS_N 6
extern const struct option_spec showtree_options[SHOWTREE_OPTIONS_N];
#define SHOWTREE_GROUP(title_text, config_struct, member)                                                              \
    {                                                                                                                  \
        .title = (title_text), .specs = showtree_options, .n = SHOWTREE_OPTIONS_N,                                     \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* Of these the ones that hold for a tree of two sides, too. */
#define SHOWTREE_DIFF_GROUP(title_text, config_struct, member)                                                         \
    {                                                                                                                  \
        .title = (title_text), .specs = showtree_options, .n = 4, .offset = offsetof(struct config_struct, member)     \
    }

enum showtree_form {
    SHOWTREE_TEXT,
    SHOWTREE_JSON,
    SHOWTREE_BYTES, /* the flame format (flame/flamebytes.h) */
};

/* How the tree is to be made of a profile. */
struct flame_options showtree_flame_options(const struct showtree_config *config, enum symbol_granularity granularity);

/* The names of --path, from the root; none if it is not given. From the arena of the context. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showtree_path(struct command_context *context, const struct showtree_config *config,
                             struct slice **ret_names, uint32_t *ret_n, struct error *err);

/* Appends the tree in column 0 of `flame`, which was made so and is cut here as asked, its path included; `view` describes
 * it. Errors: ERR_NOT_FOUND where the path leads nowhere, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showtree_print(struct command_context *context, const struct showtree_config *config,
                              const struct view *view, const struct flame *flame, enum showtree_form form,
                              struct buffer *out, struct error *err);
