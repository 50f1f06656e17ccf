// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/table.h"
#include "cli/view.h"

struct keep_config {
    struct storage_config store;
    struct storage_range range;
    const char *name;
    const char *remove;
    bool is_json;
};

static const struct option_spec keep_options[] = {
    { "name", OPTION_TEXT, FIELD(keep_config, name), NULL, "What to call the kept range. One of that name is replaced.",
      .is_flag_only = true },
    { "remove", OPTION_TEXT, FIELD(keep_config, remove), NULL,
      "Keep the range of this name no longer: from now on the retention decides about it.", .value_name = "NAME",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(keep_config, is_json), "false", "Write JSON." },
};

/* --- listing --- */

struct keep_listing {
    struct slice tenant;
    struct table table;
    struct json json;
    bool is_json;
    size_t n;
};

static void json_keep(struct json *json, const struct store_keep *keep)
{
    json_object_begin(json);
    json_key(json, "name");
    json_string(json, keep->name);
    json_key(json, "selector");
    json_string(json, keep->selector);
    json_key(json, "tenant");
    json_string(json, keep->tenant);
    json_key(json, "from_ns");
    json_int(json, keep->from_ns);
    json_key(json, "until_ns");
    json_int(json, keep->until_ns);
    json_key(json, "made_ns");
    json_int(json, keep->made_ns);
    json_object_end(json);
}

static int list_one(void *context, const struct store_keep *keep, struct error *err)
{
    struct keep_listing *listing = context;
    char text[CLOCK_TEXT_BYTES];

    if (!slice_equal(keep->tenant, listing->tenant))
        return 0;
    listing->n++;
    if (listing->is_json) {
        json_keep(&listing->json, keep);
        return 0;
    }
    table_row(&listing->table, TABLE_PLAIN);
    table_cell(&listing->table, keep->name);
    table_cell(&listing->table, slice_from(clock_format(keep->from_ns, CLOCK_ZONE_UTC, 0, text)));
    table_cell(&listing->table, slice_from(clock_format(keep->until_ns, CLOCK_ZONE_UTC, 0, text)));
    table_cell(&listing->table, slice_from(clock_format(keep->made_ns, CLOCK_ZONE_UTC, 0, text)));
    table_cell(&listing->table, keep->selector);
    return 0;
}

static int print_listing(struct command_context *context, struct store *store, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "NAME", TABLE_LEFT }, { "FROM", TABLE_LEFT },     { "UNTIL", TABLE_LEFT },
        { "MADE", TABLE_LEFT }, { "SELECTOR", TABLE_LEFT },
    };
    const struct keep_config *config = context->config;
    struct keep_listing listing = { .tenant = slice_from(config->range.tenant), .is_json = config->is_json };

    table_init(&listing.table, context->arena, columns, ARRAY_LEN(columns));
    json_init(&listing.json, out, JSON_INDENTED);
    if (listing.is_json) {
        json_object_begin(&listing.json);
        json_key(&listing.json, "kept");
        json_array_begin(&listing.json);
    }
    if (store_each_keep(store, list_one, &listing, err) < 0)
        return -1;
    if (listing.is_json) {
        json_array_end(&listing.json);
        json_object_end(&listing.json);
        json_done(&listing.json);
        return 0;
    }
    if (listing.n == 0) {
        buffer_append_text(out, "no range is kept beyond the retention\n");
        return 0;
    }
    return table_print(&listing.table, context->has_colour, out, err);
}

static int list(struct command_context *context, struct error *err)
{
    const struct keep_config *config = context->config;
    AUTO(storage_use_end) struct storage_use use = { 0 };
    struct buffer out;

    if (storage_use_to_read(context, &config->store, &use, err) < 0)
        return -1;
    buffer_init(&out, 0);
    return view_finish(context, &out, print_listing(context, use.store, &out, err), err);
}

/* --- changing --- */

static int check_complete(const struct keep_config *config, struct error *err)
{
    if (!config->name || config->name[0] == '\0')
        return error_set(err, ERR_USAGE, "a kept range needs a name, like --name v1.2.3");
    if (!config->range.from || !config->range.until)
        return error_set(err, ERR_USAGE, "a kept range has two ends: give --from and --until");
    return 0;
}

static void print_added(const struct keep_config *config, const struct store_keep *keep, struct buffer *out)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];
    struct json json;

    if (config->is_json) {
        json_init(&json, out, JSON_INDENTED);
        json_keep(&json, keep);
        json_done(&json);
        return;
    }
    buffer_append_text(out, "kept as '");
    table_append_text(out, keep->name);
    buffer_append_text(out, "': ");
    table_append_text(out, keep->selector);
    buffer_printf(out, " from %s until %s\n", clock_format(keep->from_ns, CLOCK_ZONE_UTC, 0, from),
                  clock_format(keep->until_ns, CLOCK_ZONE_UTC, 0, until));
}

static int add(struct command_context *context, struct error *err)
{
    const struct keep_config *config = context->config;
    AUTO(storage_query_done) struct storage_query query = { 0 };
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(buffer_done) struct buffer selector;
    struct store_keep keep = { .name = slice_from(config->name), .made_ns = clock_now_ns() };
    struct buffer out;

    buffer_init(&selector, 0);
    if (check_complete(config, err) < 0 ||
        storage_query_init(&query, &config->range, storage_argument(context, 0), err) < 0)
        return -1;
    selector_text(query.selector, &selector);
    keep.selector = buffer_slice(&selector);
    keep.tenant = query.query.tenant;
    keep.from_ns = query.query.from_ns;
    keep.until_ns = query.query.until_ns;
    if (buffer_check(&selector, err) < 0 || storage_use_to_change(context, &config->store, &use, err) < 0 ||
        store_keep(use.store, &keep, err) < 0)
        return -1;
    buffer_init(&out, 0);
    print_added(config, &keep, &out);
    return view_finish(context, &out, 0, err);
}

static void print_removed(const struct keep_config *config, struct buffer *out)
{
    struct json json;

    if (config->is_json) {
        json_init(&json, out, JSON_INDENTED);
        json_object_begin(&json);
        json_key(&json, "removed");
        json_text(&json, config->remove);
        json_object_end(&json);
        json_done(&json);
        return;
    }
    buffer_append_byte(out, '\'');
    table_append_text(out, slice_from(config->remove));
    buffer_append_text(out, "' is no longer kept beyond the retention\n");
}

static int take_away(struct command_context *context, struct error *err)
{
    const struct keep_config *config = context->config;
    AUTO(storage_use_end) struct storage_use use = { 0 };
    struct buffer out;

    if (config->name || config->range.from || config->range.until || context->arguments.n > 0)
        return error_set(err, ERR_USAGE, "--remove takes a name and nothing else: neither a selector nor a range");
    if (storage_use_to_change(context, &config->store, &use, err) < 0 ||
        store_unkeep(use.store, slice_from(config->range.tenant), slice_from(config->remove), err) < 0)
        return -1;
    buffer_init(&out, 0);
    print_removed(config, &out);
    return view_finish(context, &out, 0, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct keep_config *config = context->config;

    if (config->remove)
        return take_away(context, err);
    if (context->arguments.n > 0)
        return add(context, err);
    if (config->name || config->range.from || config->range.until)
        return error_set(err, ERR_USAGE, "say what to keep: a selector like '{service_name=\"api\"}', or '{}' for all");
    return list(context, err);
}

const struct command cmd_keep = {
    .name = "keep",
    .summary = "Keep a range of profiles beyond the retention, or list what is kept",
    .description =
        "Gives a name to the profiles that a selector chooses from a range of time, and keeps them when their days "
        "are forgotten: the release before this one, to compare with. Without arguments it lists what is kept.\n\n"
        "Only what is there now or comes before the day is forgotten can be kept. A range that is kept can still be "
        "deleted with 'hearth delete'.\n\n"
        "While a kept range cannot be read, or after the list of them was lost, nothing is forgotten at all, not even "
        "when "
        "the store is larger than --retention-size. The first change to a lost list ends that: name the other ranges "
        "then, "
        "too.",
    .config_bytes = sizeof(struct keep_config),
    .options = { OPTION_GROUP("Options", keep_options), STORAGE_RANGE_GROUP(keep_config, range),
                 STORAGE_URL_GROUP(keep_config, store) },
    .arguments = { { "SELECTOR", COMMAND_ARGUMENT_TEXT, 0, 1,
                     "What to keep, like '{service_name=\"api\"}'; '{}' is everything." } },
    .examples = { { "hearth keep '{service_name=\"api\"}' --from 2026-11-14 --until 2026-11-15 --name v1.2.3",
                    "Keeps a day of one service." },
                  { "hearth keep", "Lists what is kept." },
                  { "hearth keep --remove v1.2.3", "Lets it go." } },
    .run = run,
};
