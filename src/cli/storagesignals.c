// SPDX-License-Identifier: Apache-2.0
#include "cli/storagesignals.h"

static int check_patience(struct command_context *context, const struct command_patience *patience, const char *what,
                          struct error *err)
{
    if (command_check_asker(context, err) < 0)
        return -1;
    if (patience->deadline_mono_ns && clock_mono_ns() > patience->deadline_mono_ns) {
        error_set(err, ERR_TIMEOUT, "reading %s took too long", what);
        return command_too_slow(patience, err);
    }
    return 0;
}

/* --- traces --- */

static int check_traces_asker(void *context, struct error *err)
{
    const struct storagesignals_traces *use = context;

    return check_patience(use->context, &use->patience, "traces", err);
}

int storagesignals_use_traces(struct command_context *context, const struct storage_config *config,
                              struct telemetry_limits limits, struct storagesignals_traces *ret_use, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct tracestore_options options = { .data_dir = config->data_dir, .is_read_only = true };

    *ret_use = (struct storagesignals_traces){ .store = served ? served->traces : NULL,
                                               .asker = { check_traces_asker, ret_use, limits.query_bytes },
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

/* --- metrics --- */

static int check_metrics_asker(void *context, struct error *err)
{
    const struct storagesignals_metrics *use = context;

    return check_patience(use->context, &use->patience, "metrics", err);
}

int storagesignals_use_metrics(struct command_context *context, const struct storage_config *config,
                               struct telemetry_limits limits, struct storagesignals_metrics *ret_use,
                               struct error *err)
{
    const struct command_served *served = context->world->served;
    struct metricstore_options options = { .data_dir = config->data_dir, .is_read_only = true };

    *ret_use = (struct storagesignals_metrics){ .store = served ? served->metrics : NULL,
                                                .asker = { check_metrics_asker, ret_use, limits.query_bytes },
                                                .context = context,
                                                .patience = command_patience(context, limits.timeout_ns),
                                                .is_lent = served != NULL };
    if (served && !served->metrics)
        return error_set(err, ERR_UNSUPPORTED, "this server keeps no metrics");
    if (served)
        return 0;
    if (storage_check_is_there(config, err) < 0)
        return -1;
    return metricstore_open(&options, &ret_use->store, err);
}

void storagesignals_end_metrics(struct storagesignals_metrics *use)
{
    if (!use->is_lent)
        metricstore_close(use->store);
    *use = (struct storagesignals_metrics){ 0 };
}
