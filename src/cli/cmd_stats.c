// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "block/chunk.h"
#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/table.h"
#include "cli/view.h"

struct stats_config {
    struct storage_config store;
    uint64_t rows;
    bool is_json;
};

static const struct option_spec stats_options[] = {
    { "rows", OPTION_UINT, FIELD(stats_config, rows), "10",
      "How many services and series to show, those that cost most. JSON has all services.", .letter = 'n',
      .max = "20" },
    { "json", OPTION_BOOL, FIELD(stats_config, is_json), "false", "Write JSON." },
};

/* Rows of tables, as text and JSON alike. */
struct part {
    const char *name; /* for people */
    const char *key;  /* for programs */
    uint64_t bytes;
    uint64_t n;
};
#define PARTS_MAX (10 + CHUNK_KINDS)

/* Bytes of all files by what is in them. */
static size_t files_of(const struct store_stats *stats, struct part parts[static PARTS_MAX])
{
    uint64_t known =
        stats->block_bytes + stats->index_bytes + stats->head_bytes + stats->wal_bytes + stats->quarantine_bytes;
    const struct part all[] = {
        { "closed hours", "blocks", stats->block_bytes, 0 },
        { "index and dictionary", "index", stats->index_bytes, 0 },
        { "open hours", "heads", stats->head_bytes, 0 },
        { "write-ahead logs", "wal", stats->wal_bytes, 0 },
        { "set aside", "quarantine", stats->quarantine_bytes, 0 },
        { "everything else", "other", stats->disk_bytes - MIN(known, stats->disk_bytes), 0 },
    };

    memcpy(parts, all, sizeof(all));
    return ARRAY_LEN(all);
}

/* Values by kind. */
static size_t values_of(const struct store_stats *stats, struct part parts[static PARTS_MAX])
{
    const struct part all[] = {
        { "samples of closed hours", "samples", stats->samples.bytes, stats->samples.n },
        { "windows", "windows", stats->windows.bytes, stats->windows.n },
        { "sums of stacks", "sums", stats->sums.bytes, stats->sums.n },
        { "5-minute roll-ups", "slot_rollups", stats->slot_rollups.bytes, stats->slot_rollups.n },
        { "hourly roll-ups", "hour_rollups", stats->hour_rollups.bytes, stats->hour_rollups.n },
        { "span index", "spans", stats->spans.bytes, stats->spans.n },
        { "rows of open hours", "head_rows", stats->head_rows.bytes, stats->head_rows.n },
        { "series", "series", stats->series.bytes, stats->series.n },
        { "profile ids", "profile_ids", stats->profile_ids.bytes, stats->profile_ids.n },
        { "tombstones", "tombstones", stats->tombstones.bytes, stats->tombstones.n },
    };

    memcpy(parts, all, sizeof(all));
    return ARRAY_LEN(all);
}

static double ratio(uint64_t dividend, uint64_t divisor)
{
    return divisor ? (double)dividend / (double)divisor : 0;
}

/* --- text --- */

static struct units_text bytes_text(uint64_t bytes)
{
    return units_human_bytes((int64_t)MIN(bytes, (uint64_t)INT64_MAX));
}

static struct units_text count_text(uint64_t count)
{
    return units_human_count((int64_t)MIN(count, (uint64_t)INT64_MAX));
}

static void print_overview(const struct store_stats *stats, struct buffer *out)
{
    char first[CLOCK_TEXT_BYTES], last[CLOCK_TEXT_BYTES];

    buffer_printf(out, "%-10s%u\n", "days", stats->n_days);
    if (stats->first_ns)
        buffer_printf(out, "%-10s%s to %s\n", "time", clock_format(stats->first_ns, CLOCK_ZONE_UTC, 0, first),
                      clock_format(stats->last_ns, CLOCK_ZONE_UTC, 0, last));
    buffer_printf(out, "%-10s%s\n", "rows", count_text(stats->n_rows).text);
    buffer_printf(out, "%-10s%s, %s of them in closed hours\n", "samples", count_text(stats->n_samples).text,
                  count_text(stats->n_closed_samples).text);
    buffer_printf(out, "%-10s%s", "disk", bytes_text(stats->disk_bytes).text);
    if (stats->n_samples)
        buffer_printf(out, ", %.2f bytes per sample", ratio(stats->disk_bytes, stats->n_samples));
    buffer_printf(out, "\n%-10s%s", "written", bytes_text(stats->written_bytes).text);
    if (stats->block_bytes)
        buffer_printf(out, ", %.2f times the closed hours", ratio(stats->written_bytes, stats->block_bytes));
    buffer_append_byte(out, '\n');
    if (stats->n_quarantined)
        buffer_printf(out, "%-10s%u in quarantine/, %s\n", "aside", stats->n_quarantined,
                      bytes_text(stats->quarantine_bytes).text);
    if (stats->n_damaged)
        buffer_printf(out, "%-10s%llu values could not be read; 'hearth verify' tells more\n", "damaged",
                      (unsigned long long)stats->n_damaged);
}

/* Nothing of stores that are empty. */
static void print_beside(const struct beside *beside, const struct beside_stats *stats, struct buffer *out)
{
    for (size_t i = 0; i < BESIDE_N; i++) {
        const struct beside_part *part = &stats->stores[i];

        if (!part->n_days)
            continue;
        buffer_printf(out, "%-10s%u days, %s", beside->stores[i].name, part->n_days, bytes_text(part->disk_bytes).text);
        if (part->n_spans)
            buffer_printf(out, ", %s spans of %.2f bytes", count_text(part->n_spans).text,
                          ratio(part->disk_bytes, part->n_spans));
        buffer_append_byte(out, '\n');
    }
}

static int print_files(struct command_context *context, const struct store_stats *stats, struct buffer *out,
                       struct error *err)
{
    static const struct table_column columns[] = { { "ON DISK", TABLE_LEFT },
                                                   { "SIZE", TABLE_RIGHT },
                                                   { "SHARE", TABLE_RIGHT } };
    struct part parts[PARTS_MAX];
    size_t n = files_of(stats, parts);
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++) {
        table_row(&table, TABLE_PLAIN);
        table_cell(&table, slice_from(parts[i].name));
        table_cell(&table, slice_from(bytes_text(parts[i].bytes).text));
        table_cell(&table, slice_from(units_human_percent(ratio(parts[i].bytes, stats->disk_bytes)).text));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, context->has_colour, out, err);
}

static void value_row(struct table *table, const char *name, uint64_t n, uint64_t bytes)
{
    if (n == 0 && bytes == 0)
        return;
    table_row(table, TABLE_PLAIN);
    table_cell(table, slice_from(name));
    table_cell(table, slice_from(count_text(n).text));
    table_cell(table, slice_from(bytes_text(bytes).text));
}

static int print_values(struct command_context *context, const struct store_stats *stats, struct buffer *out,
                        struct error *err)
{
    static const struct table_column columns[] = { { "VALUES", TABLE_LEFT },
                                                   { "NUMBER", TABLE_RIGHT },
                                                   { "SIZE", TABLE_RIGHT } };
    struct part parts[PARTS_MAX];
    size_t n = values_of(stats, parts);
    struct table table;

    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++)
        value_row(&table, parts[i].name, parts[i].n, parts[i].bytes);
    for (unsigned kind = 1; kind < CHUNK_KINDS; kind++) {
        char name[64];

        snprintf(name, sizeof(name), "dictionary: %s", chunk_kind_name(kind));
        value_row(&table, name, stats->dictionary[kind].n, stats->dictionary[kind].bytes);
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, context->has_colour, out, err);
}

static int print_top(struct command_context *context, const struct store_stats *stats, struct buffer *out,
                     struct error *err)
{
    static const struct table_column columns[] = {
        { "SIZE", TABLE_RIGHT }, { "ROWS", TABLE_RIGHT }, { "SAMPLES", TABLE_RIGHT }, { "SERIES", TABLE_LEFT }
    };
    const struct stats_config *config = context->config;
    struct table table;

    if (stats->n_top == 0 || config->rows == 0)
        return 0;
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < stats->n_top && i < config->rows; i++) {
        const struct store_series_cost *cost = &stats->top[i];

        table_row(&table, TABLE_PLAIN);
        table_cell(&table, slice_from(bytes_text(cost->bytes).text));
        table_cell(&table, slice_from(count_text(cost->n_rows).text));
        table_cell(&table, slice_from(count_text(cost->n_samples).text));
        table_cell(&table, slice_from(cost->labels));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, context->has_colour, out, err);
}

static void time_cell(struct table *table, int64_t time_ns)
{
    char text[CLOCK_TEXT_BYTES];

    table_cell(table, time_ns ? slice_from(clock_format(time_ns, CLOCK_ZONE_UTC, 0, text)) : SLICE(""));
}

static int print_services(struct command_context *context, const struct servicecosts *services, struct buffer *out,
                          struct error *err)
{
    static const struct table_column columns[] = {
        { "SIZE", TABLE_RIGHT }, { "ROWS", TABLE_RIGHT }, { "SAMPLES", TABLE_RIGHT },
        { "FIRST", TABLE_LEFT }, { "LAST", TABLE_LEFT },  { "SERVICE", TABLE_LEFT },
    };
    const struct stats_config *config = context->config;
    struct table table;

    if (services->items.n == 0 || config->rows == 0)
        return 0;
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < services->items.n && i < config->rows; i++) {
        const struct servicecost *cost = &services->items.items[i];

        table_row(&table, TABLE_PLAIN);
        table_cell(&table, slice_from(bytes_text(cost->bytes).text));
        table_cell(&table, slice_from(count_text(cost->n_rows).text));
        table_cell(&table, slice_from(count_text(cost->n_samples).text));
        time_cell(&table, cost->first_ns);
        time_cell(&table, cost->last_ns);
        if (slice_is(cost->tenant, STORE_TENANT_DEFAULT))
            table_cell(&table, cost->service);
        else
            table_printf(&table, "%.*s of %.*s", SLICE_ARG(cost->service), SLICE_ARG(cost->tenant));
    }
    buffer_append_byte(out, '\n');
    return table_print(&table, context->has_colour, out, err);
}

static int print_text(struct command_context *context, const struct store_stats *stats,
                      const struct servicecosts *services, struct buffer *out, struct error *err)
{
    if (print_files(context, stats, out, err) < 0 || print_values(context, stats, out, err) < 0 ||
        print_services(context, services, out, err) < 0)
        return -1;
    return print_top(context, stats, out, err);
}

/* --- JSON --- */

static void json_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void json_time(struct json *json, const char *key, int64_t time_ns)
{
    json_key(json, key);
    json_int(json, time_ns);
}

static void json_usage(struct json *json, const char *key, uint64_t n, uint64_t bytes)
{
    json_key(json, key);
    json_object_begin(json);
    json_count(json, "n", n);
    json_count(json, "bytes", bytes);
    json_object_end(json);
}

static void json_overview(struct json *json, const struct store_stats *stats)
{
    json_count(json, "days", stats->n_days);
    json_count(json, "open_days", stats->n_open_days);
    json_count(json, "quarantined", stats->n_quarantined);
    json_count(json, "damaged", stats->n_damaged);
    json_time(json, "first_ns", stats->first_ns);
    json_time(json, "last_ns", stats->last_ns);
    json_count(json, "rows", stats->n_rows);
    json_count(json, "samples", stats->n_samples);
    json_count(json, "closed_samples", stats->n_closed_samples);
    json_count(json, "disk_bytes", stats->disk_bytes);
    json_count(json, "written_bytes", stats->written_bytes);
    json_key(json, "bytes_per_sample");
    json_double(json, ratio(stats->disk_bytes, stats->n_samples));
    json_key(json, "write_amplification");
    json_double(json, ratio(stats->written_bytes, stats->block_bytes));
}

static void json_parts(struct json *json, const struct store_stats *stats)
{
    struct part parts[PARTS_MAX];
    size_t n = files_of(stats, parts);

    json_key(json, "files");
    json_object_begin(json);
    for (size_t i = 0; i < n; i++)
        json_count(json, parts[i].key, parts[i].bytes);
    json_object_end(json);
    json_key(json, "values");
    json_object_begin(json);
    n = values_of(stats, parts);
    for (size_t i = 0; i < n; i++)
        json_usage(json, parts[i].key, parts[i].n, parts[i].bytes);
    json_object_end(json);
    json_key(json, "dictionary");
    json_object_begin(json);
    for (unsigned kind = 1; kind < CHUNK_KINDS; kind++)
        json_usage(json, chunk_kind_name(kind), stats->dictionary[kind].n, stats->dictionary[kind].bytes);
    json_object_end(json);
}

static void json_service(struct json *json, const struct servicecost *cost)
{
    json_count(json, "bytes", cost->bytes);
    json_count(json, "rows", cost->n_rows);
    json_count(json, "samples", cost->n_samples);
    json_time(json, "first_ns", cost->first_ns);
    json_time(json, "last_ns", cost->last_ns);
}

static void json_services(struct json *json, const struct servicecosts *services)
{
    json_key(json, "services");
    json_array_begin(json);
    for (size_t i = 0; i < services->items.n; i++) {
        json_object_begin(json);
        json_key(json, "tenant");
        json_string(json, services->items.items[i].tenant);
        json_key(json, "service");
        json_string(json, services->items.items[i].service);
        json_service(json, &services->items.items[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_key(json, "other_services");
    json_object_begin(json);
    json_service(json, &services->others);
    json_object_end(json);
}

static void json_beside(struct json *json, const struct beside *beside, const struct beside_stats *stats)
{
    for (size_t i = 0; i < BESIDE_N; i++) {
        const struct beside_part *part = &stats->stores[i];

        json_key(json, beside->stores[i].name);
        json_object_begin(json);
        json_count(json, "days", part->n_days);
        json_count(json, "damaged", part->n_damaged);
        json_time(json, "first_ns", part->first_ns);
        json_time(json, "last_ns", part->last_ns);
        if (i == BESIDE_TRACES)
            json_count(json, "spans", part->n_spans);
        json_count(json, "disk_bytes", part->disk_bytes);
        json_count(json, "block_bytes", part->block_bytes);
        json_count(json, "head_bytes", part->head_bytes);
        json_object_end(json);
    }
}

static void print_json(const struct store_stats *stats, const struct servicecosts *services,
                       const struct beside *beside, const struct beside_stats *beside_stats, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_overview(&json, stats);
    json_parts(&json, stats);
    json_services(&json, services);
    json_beside(&json, beside, beside_stats);
    json_key(&json, "top_series");
    json_array_begin(&json);
    for (uint32_t i = 0; i < stats->n_top; i++) {
        json_object_begin(&json);
        json_key(&json, "series");
        json_text(&json, stats->top[i].labels);
        json_count(&json, "bytes", stats->top[i].bytes);
        json_count(&json, "rows", stats->top[i].n_rows);
        json_count(&json, "samples", stats->top[i].n_samples);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static int run(struct command_context *context, struct error *err)
{
    const struct stats_config *config = context->config;
    AUTO(memory_freep) struct store_stats *stats = MEMORY_NEW(struct store_stats, err);
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(servicecosts_done) struct servicecosts services;
    AUTO(beside_end) struct beside beside = { 0 };
    struct beside_stats kept;
    struct buffer out;
    int result = 0;

    servicecosts_init(&services);
    if (!stats || storage_use_to_read(context, &config->store, &use, err) < 0 ||
        beside_use(context, &config->store, true, &beside, err) < 0 ||
        store_stats(use.store, &services, stats, err) < 0 || beside_stats(&beside, &kept, err) < 0)
        return -1;
    servicecosts_sort(&services);
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(stats, &services, &beside, &kept, &out);
    else {
        print_overview(stats, &out);
        print_beside(&beside, &kept, &out);
        result = print_text(context, stats, &services, &out, err);
    }
    return view_finish(context, &out, result, err);
}

const struct command cmd_stats = {
    .name = "stats",
    .summary = "Show what a store holds and what it costs",
    .description =
        "Shows how many days, rows and samples of profiles a store holds, what they take of the disk, by kind of file "
        "and by "
        "kind of value, and the services and series that cost most; then what traces and metrics take. A profile is a "
        "row of each series that its labels "
        "split it "
        "into. "
        "Sizes of values are those before the files are compressed.\n\n"
        "WRITTEN is everything that went to the disk since the days that are there began, also what has been rewritten "
        "since; divided by the size of the closed hours it is the write amplification.",
    .config_bytes = sizeof(struct stats_config),
    .options = { OPTION_GROUP("Options", stats_options), STORAGE_URL_GROUP(stats_config, store) },
    .examples = { { "hearth stats --data-dir hearth-data", "What is in a store, also one that is in use." },
                  { "hearth stats --json | jq .bytes_per_sample", "One number, for scripts." } },
    .run = run,
};
