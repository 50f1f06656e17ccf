// SPDX-License-Identifier: Apache-2.0
/* Two sides against each other, as a table of functions or as a tree: what the commands have in common that compare. */
#pragma once

#include "cli/ask.h"
#include "cli/showdiff.h"

struct comparing_config {
    struct view_config view;
    struct showdiff_config table;
    struct showtree_config tree;
    unsigned form;
    const char *output;
};
#define COMPARING_OPTIONS_N 2
extern const struct option_spec comparing_options[COMPARING_OPTIONS_N];
/* The form, the table and the tree, as option groups of a command whose config struct has a comparing_config at `member`. The
 * options of `view` are the command's. */
#define COMPARING_GROUPS(config_struct, member)                                                                        \
    { .title = "Options",                                                                                              \
      .specs = comparing_options,                                                                                      \
      .n = COMPARING_OPTIONS_N,                                                                                        \
      .offset = offsetof(struct config_struct, member) },                                                              \
        SHOWDIFF_GROUP("Table", config_struct, member.table), SHOWTREE_DIFF_GROUP("Tree", config_struct, member.tree)
/* The same for a command with a --scale of its own. */
#define COMPARING_UNSCALED_GROUPS(config_struct, member)                                                               \
    { .title = "Options",                                                                                              \
      .specs = comparing_options,                                                                                      \
      .n = COMPARING_OPTIONS_N,                                                                                        \
      .offset = offsetof(struct config_struct, member) },                                                              \
        SHOWDIFF_UNSCALED_GROUP("Table", config_struct, member.table),                                                 \
        SHOWTREE_DIFF_GROUP("Tree", config_struct, member.tree)

/* What is compared: how errors call the two sides, and what a page is called. */
struct comparing {
    struct command_context *context;
    const struct comparing_config *config;
    const char *sides[2]; /* "--baseline" */
    struct slice title;   /* "a against b" */
    uint64_t counts[2];   /* of spans, where that is what is made equal; else 0 */
};

/* Whether the options fit together. Errors: ERR_USAGE. */
MUST_CHECK int comparing_check(struct command_context *context, const struct comparing_config *config,
                               struct error *err);
/* Compares two profiles, the one before first, and prints what came of it. */
MUST_CHECK int comparing_views(const struct comparing *comparing, const struct view views[2], struct error *err);
/* Likewise what a store holds of two questions. A side that has nothing is ERR_NOT_FOUND, naming it: a name with a slip in it
 * would pass for a great change. */
MUST_CHECK int comparing_questions(const struct comparing *comparing, const struct ask *ask,
                                   struct ask_question questions[2], struct error *err);
