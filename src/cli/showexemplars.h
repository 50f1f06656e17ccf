// SPDX-License-Identifier: Apache-2.0
/* Exemplars of a time series, for people and as JSON. */
#pragma once

#include "base/json.h"
#include "cli/command.h"
#include "query/exemplars.h"
#include "query/timeseries.h"

struct showexemplars_config {
    uint64_t n;    /* 0 = none */
    unsigned kind; /* enum exemplars_kind */
};
#define SHOWEXEMPLARS_OPTIONS_N 2
extern const struct option_spec showexemplars_options[SHOWEXEMPLARS_OPTIONS_N];
#define SHOWEXEMPLARS_GROUP(config_struct, member)                                                                     \
    {                                                                                                                  \
        .title = "Exemplars", .specs = showexemplars_options, .n = SHOWEXEMPLARS_OPTIONS_N,                            \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

/* What there is to show: exemplars of a time series that was grouped by the same labels. */
struct showexemplars {
    const struct showexemplars_config *config;
    const struct exemplars *exemplars;
    const struct timeseries *series;
    uint32_t n_by;
    struct slice unit; /* of the values */
};

/* Appends a table of the largest of each group. */
MUST_CHECK int showexemplars_print(const struct showexemplars *show, struct command_context *context,
                                   struct buffer *out, struct error *err);
/* Writes those of one group as a list. */
void showexemplars_json(const struct showexemplars *show, const struct timeseries_group *group, struct json *json);
