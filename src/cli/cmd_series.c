// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/table.h"
#include "cli/view.h"

#include <stdlib.h>

/* Bounds what a store of any size can make of this command; so many lines nobody reads. */
#define SERIES_MAX (1u << 24)

struct series_entry {
    struct slice text; /* {service_name="api"} */
    struct slice *types;
    uint32_t n_types;
    struct series_label *labels;
    uint32_t n_labels;
};

/* Series come while the store is being read; all of it is copied to the arena. */
struct series_catalog {
    struct arena *arena;
    struct buffer scratch;
    VEC(struct series_entry) entries;
};

static void catalog_done(struct series_catalog *catalog)
{
    buffer_done(&catalog->scratch);
    VEC_DONE(&catalog->entries);
}

/* What `scratch` holds, in the arena. */
static int keep_scratch(struct series_catalog *catalog, struct slice *ret_text, struct error *err)
{
    struct slice text;

    if (buffer_check(&catalog->scratch, err) < 0)
        return -1;
    text = arena_copy(catalog->arena, buffer_slice(&catalog->scratch), err);
    if (!text.ptr)
        return -1;
    buffer_clear(&catalog->scratch);
    *ret_text = text;
    return 0;
}

static int keep_labels(struct series_catalog *catalog, const struct seriesinfo *series, struct series_entry *entry,
                       struct error *err)
{
    entry->labels = ARENA_ARRAY(catalog->arena, struct series_label, series->n_labels, err);
    if (!entry->labels)
        return -1;
    for (uint32_t i = 0; i < series->n_labels; i++) {
        struct series_label *label = &entry->labels[i];

        label->name = arena_copy(catalog->arena, series->labels[i].name, err);
        label->value = arena_copy(catalog->arena, series->labels[i].value, err);
        if (!label->name.ptr || !label->value.ptr)
            return -1;
    }
    entry->n_labels = series->n_labels;
    return 0;
}

static int add_series(void *context, const struct seriesinfo *series, struct error *err)
{
    struct series_catalog *catalog = context;
    struct series_entry entry = { .n_types = series->n_types };
    struct series_entry *place;

    entry.types = ARENA_ARRAY(catalog->arena, struct slice, series->n_types, err);
    if (!entry.types)
        return -1;
    for (uint32_t i = 0; i < series->n_types; i++) {
        seriesinfo_profile_type(series, i, &catalog->scratch);
        if (keep_scratch(catalog, &entry.types[i], err) < 0)
            return -1;
    }
    seriesinfo_text(series, &catalog->scratch);
    if (keep_scratch(catalog, &entry.text, err) < 0 || keep_labels(catalog, series, &entry, err) < 0)
        return -1;
    place = VEC_PUSH(&catalog->entries, SERIES_MAX, err);
    if (!place)
        return -1;
    *place = entry;
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct series_entry *a = left, *b = right;
    int order = slice_compare(a->text, b->text);

    for (uint32_t i = 0; order == 0 && i < MIN(a->n_types, b->n_types); i++)
        order = slice_compare(a->types[i], b->types[i]);
    return order ? order : (a->n_types > b->n_types) - (a->n_types < b->n_types);
}

static void print_text(struct series_catalog *catalog, struct buffer *out)
{
    VEC_EACH (&catalog->entries, entry) {
        table_append_text(out, entry->text);
        for (uint32_t i = 0; i < entry->n_types; i++) {
            buffer_append_text(out, i ? " " : "  ");
            table_append_text(out, entry->types[i]);
        }
        buffer_append_byte(out, '\n');
    }
}

static void print_json(struct series_catalog *catalog, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "series");
    json_array_begin(&json);
    VEC_EACH (&catalog->entries, entry) {
        json_object_begin(&json);
        json_key(&json, "labels");
        json_object_begin(&json);
        for (uint32_t i = 0; i < entry->n_labels; i++) {
            json_key_slice(&json, entry->labels[i].name);
            json_string(&json, entry->labels[i].value);
        }
        json_object_end(&json);
        json_key(&json, "types");
        json_array_begin(&json);
        for (uint32_t i = 0; i < entry->n_types; i++)
            json_string(&json, entry->types[i]);
        json_array_end(&json);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

static int show(struct command_context *context, struct series_catalog *catalog, struct error *err)
{
    const struct storage_list_config *config = context->config;
    struct buffer out;

    if (catalog->entries.n > 1)
        qsort(catalog->entries.items, catalog->entries.n, sizeof(*catalog->entries.items), compare_entries);
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(catalog, &out);
    else
        print_text(catalog, &out);
    return view_finish(context, &out, 0, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct storage_list_config *config = context->config;
    AUTO(storage_query_done) struct storage_query query = { 0 };
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(catalog_done) struct series_catalog catalog = { .arena = context->arena };

    buffer_init(&catalog.scratch, 0);
    if (storage_query_init(&query, &config->range, storage_argument(context, 0), err) < 0 ||
        storage_use_to_read(context, &config->store, &use, err) < 0)
        return -1;
    storage_query_watch(&query, context);
    if (store_each_series(use.store, &query.query, add_series, &catalog, err) < 0)
        return -1;
    return show(context, &catalog, err);
}

const struct command cmd_series = {
    .name = "series",
    .summary = "List the series in a store",
    .description =
        "Prints the series that a selector chooses, sorted, one on a line: its labels, written so that they are a "
        "selector themselves, then the types of its profiles as name:type:unit:period_type:period_unit.\n\n"
        "A selector is a list of conditions on labels: '{service_name=\"api\", zone=~\"eu-.*\"}', or "
        "'service_name=api,zone!=eu-1'. Operators are =, !=, =~ and !~; expressions match whole values, and a label "
        "that is not there has the value \"\". A profile type may stand in front of the braces.\n\n"
        "The range is taken to the day: a series is listed if it has profiles on a day of the range.",
    .config_bytes = sizeof(struct storage_list_config),
    .options = { STORAGE_LIST_GROUPS },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "Which series to list, like '{service_name=\"api\"}'; all unless given." } },
    .examples = { { "hearth series", "All series in ./hearth-data." },
                  { "hearth series '{service_name=\"api\", zone=~\"eu-.*\"}' --from 1d",
                    "Those of one service in some zones since yesterday." },
                  { "hearth series --json service_name=api", "The same for scripts." } },
    .run = run,
};
