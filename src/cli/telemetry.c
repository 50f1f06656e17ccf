// SPDX-License-Identifier: Apache-2.0
#include "cli/telemetry.h"

int telemetry_use_traces(struct command_context *context, const struct storage_config *config,
                         struct telemetry_traces *ret_use, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct tracestore_options options = { .data_dir = config->data_dir, .is_read_only = true };

    *ret_use = (struct telemetry_traces){ served ? served->traces : NULL, served != NULL };
    if (served)
        return 0;
    if (storage_check_is_there(config, err) < 0)
        return -1;
    return tracestore_open(&options, &ret_use->store, err);
}

void telemetry_end_traces(struct telemetry_traces *use)
{
    if (!use->is_lent)
        tracestore_close(use->store);
    *use = (struct telemetry_traces){ 0 };
}

struct tracestore_asker telemetry_asker(struct command_context *context, size_t max_bytes)
{
    return (struct tracestore_asker){ .check = command_check_asker, .context = context, .max_bytes = max_bytes };
}
