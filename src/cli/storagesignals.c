// SPDX-License-Identifier: Apache-2.0
#include "cli/storagesignals.h"

static int check_asker(void *context, struct error *err)
{
    const struct storagesignals_traces *use = context;

    if (command_check_asker(use->context, err) < 0)
        return -1;
    if (use->patience.deadline_mono_ns && clock_mono_ns() > use->patience.deadline_mono_ns) {
        error_set(err, ERR_TIMEOUT, "reading traces took too long");
        return command_too_slow(&use->patience, err);
    }
    return 0;
}

int storagesignals_use_traces(struct command_context *context, const struct storage_config *config,
                              struct telemetry_limits limits, struct storagesignals_traces *ret_use, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct tracestore_options options = { .data_dir = config->data_dir, .is_read_only = true };

    *ret_use = (struct storagesignals_traces){ .store = served ? served->traces : NULL,
                                               .asker = { check_asker, ret_use, limits.query_bytes },
                                               .context = context,
                                               .patience = command_patience(context, limits.timeout_ns),
                                               .is_lent = served != NULL };
    if (served && !served->traces)
        return error_set(err, ERR_UNSUPPORTED, "this server keeps no traces");
    if (served)
        return 0;
    if (storage_check_is_there(config, err) < 0)
        return -1;
    return tracestore_open(&options, &ret_use->store, err);
}

void storagesignals_end_traces(struct storagesignals_traces *use)
{
    if (!use->is_lent)
        tracestore_close(use->store);
    *use = (struct storagesignals_traces){ 0 };
}
