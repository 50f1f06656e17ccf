// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/view.h"

struct compact_config {
    struct storage_config store;
    bool is_json;
};

static const struct option_spec compact_options[] = {
    { "json", OPTION_BOOL, FIELD(compact_config, is_json), "false", "Write JSON." },
};

static int disk_bytes(struct store *store, struct beside *beside, uint64_t *ret_bytes, struct error *err)
{
    AUTO(memory_freep) struct store_stats *stats = MEMORY_NEW(struct store_stats, err);
    struct beside_stats others;

    if (!stats || store_stats(store, NULL, stats, err) < 0 || beside_stats(beside, &others, err) < 0)
        return -1;
    *ret_bytes = stats->disk_bytes;
    for (size_t i = 0; i < BESIDE_N; i++)
        *ret_bytes += others.stores[i].disk_bytes;
    return 0;
}

static void print(const struct compact_config *config, uint64_t before, uint64_t after, struct buffer *out)
{
    struct json json;

    if (!config->is_json) {
        buffer_printf(out, "%s on disk, %s before\n", units_human_bytes((int64_t)after).text,
                      units_human_bytes((int64_t)before).text);
        return;
    }
    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "disk_bytes_before");
    json_uint(&json, before);
    json_key(&json, "disk_bytes");
    json_uint(&json, after);
    json_object_end(&json);
    json_done(&json);
}

static int compact(const struct command_context *context, struct store *store, struct beside *beside, struct error *err)
{
    int result;

    command_progress(context, "compacting");
    result = store_compact(store, err) < 0 ? -1 : beside_compact(beside, err);
    command_progress_end(context);
    return result;
}

static int run(struct command_context *context, struct error *err)
{
    const struct compact_config *config = context->config;
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(beside_end) struct beside beside = { 0 };
    uint64_t before, after;
    struct buffer out;

    if (storage_use_to_change(context, &config->store, &use, err) < 0 ||
        beside_use(context, &config->store, false, &beside, err) < 0 ||
        disk_bytes(use.store, &beside, &before, err) < 0 || compact(context, use.store, &beside, err) < 0 ||
        disk_bytes(use.store, &beside, &after, err) < 0)
        return -1;
    buffer_init(&out, 0);
    print(config, before, after, &out);
    return view_finish(context, &out, 0, err);
}

const struct command cmd_compact = {
    .name = "compact",
    .summary = "Make a store as small as it can be",
    .description = "Does at once what a running store does bit by bit: closes hours that are over (of traces and "
                   "metrics also those "
                   "that go on), merges data that came late, drops what was deleted and rewrites files. Nothing else "
                   "changes; it may take a while, and "
                   "may be interrupted.",
    .config_bytes = sizeof(struct compact_config),
    .options = { OPTION_GROUP("Options", compact_options), STORAGE_URL_GROUP(compact_config, store) },
    .examples = { { "hearth compact --data-dir hearth-data", "Frees what deleted profiles took of the disk." } },
    .run = run,
};
