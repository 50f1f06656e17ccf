// SPDX-License-Identifier: Apache-2.0
/* Changing profiles on their way from one file to another: what `hearth convert` can do beside converting. */
#pragma once

#include "cli/input.h"

struct reshape_config {
    const char *subtract;
    struct option_list renames;
    const char *drop;
    const char *unit;
    bool collapses_recursion;
    bool is_inverted;
};

#define RESHAPE_OPTIONS_N 6
extern const struct option_spec reshape_options[RESHAPE_OPTIONS_N];
#define RESHAPE_GROUP(config_struct, member)                                                                           \
    {                                                                                                                  \
        .title = "Changing", .specs = reshape_options, .n = RESHAPE_OPTIONS_N,                                         \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* Changes the profiles of `input` as asked, in the order in which the options are listed. Errors name the option. */
MUST_CHECK int reshape_apply(struct command_context *context, const struct reshape_config *config,
                             const struct input_config *reading, struct input *input, struct error *err);
