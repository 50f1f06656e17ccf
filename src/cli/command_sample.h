// SPDX-License-Identifier: Apache-2.0
/* A small made-up program for the tests of this room, so that their expected pages do not change with hearth's own
 * commands. */
#pragma once

#include "cli/command.h"

extern const struct command_set command_sample;

/* What the last run of `sample top` was given. */
struct sample_top_config {
    uint64_t lines;
    bool json;
    bool cumulative;
    double share;
    struct sample_filter_config {
        const char *focus;
        struct option_list labels;
    } filter;
    const char *output;
    const char *directory;
    enum { SAMPLE_SORT_SELF, SAMPLE_SORT_TOTAL } sort;
};
extern struct sample_top_config command_sample_config;
