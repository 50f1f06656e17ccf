// SPDX-License-Identifier: Apache-2.0
#include "cli/beside.h"

#include "base/fs.h"
#include "metric/metricstore.h"
#include "store/backup.h"
#include "trace/tracestore.h"

/* --- opening --- */

static int open_both(const struct storage_config *config, bool is_read_only, struct beside *beside, struct error *err)
{
    struct tracestore_options traces = { .data_dir = config->data_dir, .is_read_only = is_read_only };
    struct metricstore_options metrics = { .data_dir = config->data_dir, .is_read_only = is_read_only };

    /* Changes are synced one by one, as those of the store are. */
    traces.is_synced = metrics.is_synced = !is_read_only;
    if (tracestore_open(&traces, &beside->traces, err) < 0)
        return -1;
    return metricstore_open(&metrics, &beside->metrics, err);
}

int beside_use(struct command_context *context, const struct storage_config *config, bool is_read_only,
               struct beside *ret_beside, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct beside beside = { 0 };

    if (served)
        beside = (struct beside){ .traces = served->traces, .metrics = served->metrics, .are_lent = true };
    else if (open_both(config, is_read_only, &beside, err) < 0) {
        beside_end(&beside);
        return -1;
    }
    beside.stores[BESIDE_TRACES].name = "traces";
    beside.stores[BESIDE_TRACES].hourly = beside.traces ? tracestore_hourly(beside.traces) : NULL;
    beside.stores[BESIDE_METRICS].name = "metrics";
    beside.stores[BESIDE_METRICS].hourly = beside.metrics ? metricstore_hourly(beside.metrics) : NULL;
    *ret_beside = beside;
    return 0;
}

void beside_end(struct beside *beside)
{
    if (!beside->are_lent) {
        tracestore_close(beside->traces);
        metricstore_close(beside->metrics);
    }
    *beside = (struct beside){ 0 };
}

/* --- care --- */

int beside_compact(struct beside *beside, struct error *err)
{
    for (size_t i = 0; i < BESIDE_N; i++)
        if (beside->stores[i].hourly && hourly_close_heads(beside->stores[i].hourly, err) < 0)
            return -1;
    return 0;
}

int beside_verify(struct beside *beside, const struct store_verify *verify, struct beside_verify *ret_verify,
                  struct error *err)
{
    for (size_t i = 0; i < BESIDE_N; i++) {
        ret_verify->stores[i] = (struct hourly_verify){ .is_repairing = verify->is_repairing,
                                                        .tell = verify->tell,
                                                        .context = verify->context };
        if (beside->stores[i].hourly && hourly_verify(beside->stores[i].hourly, &ret_verify->stores[i], err) < 0)
            return error_wrap(err, "reading %s", beside->stores[i].name);
    }
    return 0;
}

bool beside_is_damaged(const struct beside_verify *verify)
{
    bool is_damaged = false;

    for (size_t i = 0; i < BESIDE_N; i++)
        is_damaged |= verify->stores[i].n_bad_values > 0 || verify->stores[i].n_bad_days > 0;
    return is_damaged;
}

static int measure_traces(struct tracestore *store, struct beside_part *ret_part, struct error *err)
{
    struct tracestore_stats stats;

    if (tracestore_stats(store, &stats, err) < 0)
        return -1;
    *ret_part = (struct beside_part){ .n_days = stats.n_days,
                                      .n_spans = stats.n_spans,
                                      .disk_bytes = stats.disk_bytes,
                                      .head_bytes = stats.head_bytes,
                                      .block_bytes = stats.block_bytes,
                                      .first_ns = stats.first_ns,
                                      .last_ns = stats.last_ns,
                                      .n_damaged = stats.n_damaged };
    return 0;
}

static int measure_metrics(struct metricstore *store, struct beside_part *ret_part, struct error *err)
{
    struct metricstore_stats stats;

    if (metricstore_stats(store, &stats, err) < 0)
        return -1;
    *ret_part = (struct beside_part){ .n_days = stats.n_days,
                                      .disk_bytes = stats.disk_bytes,
                                      .head_bytes = stats.head_bytes,
                                      .block_bytes = stats.block_bytes,
                                      .first_ns = stats.first_ns,
                                      .last_ns = stats.last_ns,
                                      .n_damaged = stats.n_damaged };
    return 0;
}

int beside_stats(struct beside *beside, struct beside_stats *ret_stats, struct error *err)
{
    struct beside_stats stats = { 0 };

    if ((beside->traces && measure_traces(beside->traces, &stats.stores[BESIDE_TRACES], err) < 0) ||
        (beside->metrics && measure_metrics(beside->metrics, &stats.stores[BESIDE_METRICS], err) < 0))
        return -1;
    *ret_stats = stats;
    return 0;
}

/* --- backups --- */

struct adding {
    const char *name;
    const char *previous; /* backup, or NULL */
    struct store_backup *backup;
    struct arena *arena;
};

static int add_day(void *context, const struct hourly_copy *copy, struct error *err)
{
    struct adding *adding = context;
    struct backup_counts counts = { 0 };
    const char *to = arena_printf(adding->arena, err, "%s/%s/%s", adding->backup->path, adding->name, copy->name);
    const char *previous = NULL;

    if (to && adding->previous)
        previous = arena_printf(adding->arena, err, "%s/%s/%s", adding->previous, adding->name, copy->name);
    if (!to || (adding->previous && !previous) ||
        backup_bring(copy->database, copy->path, to, previous, &counts, err) < 0)
        return -1;
    adding->backup->copied_bytes += counts.copied_bytes;
    adding->backup->linked_bytes += counts.linked_bytes;
    return 0;
}

int beside_add_to_backup(void *context, struct store_backup *backup, const char *previous, struct error *err)
{
    struct beside *beside = context;
    AUTO(arena_done) struct arena arena;

    arena_init(&arena, 0);
    for (size_t i = 0; i < BESIDE_N; i++) {
        struct adding adding = {
            .name = beside->stores[i].name, .previous = previous, .backup = backup, .arena = &arena
        };
        const char *folder = arena_printf(&arena, err, "%s/%s", backup->path, adding.name);

        if (!beside->stores[i].hourly)
            continue;
        if (!folder || fs_make_directories(folder, 0700, err) < 0 ||
            hourly_each_copy(beside->stores[i].hourly, add_day, &adding, err) < 0)
            return -1;
    }
    return 0;
}
