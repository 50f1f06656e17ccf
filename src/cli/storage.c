// SPDX-License-Identifier: Apache-2.0
#include "cli/storage.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/timetext.h"
#include "base/units.h"
#include "cli/table.h"
#include "cli/view.h"

const struct option_spec storage_options[STORAGE_ALL_OPTIONS_N] = {
    { "data-dir", OPTION_DIRECTORY, FIELD(storage_config, data_dir), "hearth-data", "The directory of the store.",
      .alias = "storage-path", .is_of_machine = true },
    { "memory-limit", OPTION_SIZE, FIELD(storage_config, memory_limit_bytes), NULL,
      "What the store may use of memory, all in all. Unless given, a quarter of the memory of the control group or the "
      "machine, and at most 1GiB.",
      .min = "32MiB", .is_of_machine = true },
    { "url", OPTION_TEXT, FIELD(storage_config, url), NULL,
      "Ask this server instead of a directory: http://HOST:PORT, https://HOST:PORT or unix:PATH. The answer is the "
      "same.",
      .is_of_machine = true },
};

static const char *const wal_sync_words[] = {
    [STORE_SYNC_ALWAYS] = "always", [STORE_SYNC_EACH_SECOND] = "1s", [STORE_SYNC_OFF] = "off", NULL
};

const struct option_spec storage_keeping_options[STORAGE_KEEPING_OPTIONS_N] = {
    { "tenant", OPTION_TEXT, FIELD(storage_keeping, tenant), STORE_TENANT_DEFAULT, STORAGE_TENANT_HELP },
    { "wal-sync", OPTION_ENUM, FIELD(storage_keeping, wal_sync), "1s",
      "When written profiles are forced to the disk: before each is acknowledged, once a second, or when the system "
      "likes. Whatever is chosen, the death of the process loses nothing; this is about the loss of power.",
      .words = wal_sync_words },
    { "retention", OPTION_DURATION, FIELD(storage_keeping, retention_ns), NULL,
      "Forget whole days that are older than this. Unless given, a server forgets after 30d and 'hearth import' never.",
      .min = "1h", .alias = "storage-retention-time", .alias_variable = "PYROSCOPE_RETENTION_PERIOD" },
    { "retention-size", OPTION_SIZE, FIELD(storage_keeping, retention_bytes), NULL,
      "Forget the oldest days while the store takes more of the disk than this.", .min = "1MiB" },
    { "min-free", OPTION_SIZE, FIELD(storage_keeping, min_free_bytes), NULL,
      "Refuse to write while less than this is free on the disk. Unless given, a hundredth of the disk, and at most "
      "1GiB.",
      .min = "1" },
    { "max-age", OPTION_DURATION, FIELD(storage_keeping, max_age_ns), NULL,
      "Refuse profiles whose window began longer ago. The retention, or 30d where none is given.", .min = "1s" },
    { "max-ahead", OPTION_DURATION, FIELD(storage_keeping, max_ahead_ns), "10m",
      "Refuse profiles whose window begins later than this from now.", .min = "1s" },
    { "max-series", OPTION_UINT, FIELD(storage_keeping, max_series), "20000",
      "Series of a tenant and day. Profiles beyond are kept in one series of their service, other labels moved to "
      "their "
      "samples.",
      .min = "1", .max = "16777216" },
    { "max-splits", OPTION_UINT, FIELD(storage_keeping, max_splits), "100",
      "Series that the labels of its samples may split one profile into; labels with more values stay with the "
      "samples.",
      .min = "1", .max = "100000" },
    { "max-series-labels", OPTION_UINT, FIELD(storage_keeping, max_series_labels), "40",
      "Labels of a series; more are moved to the samples.", .min = "2", .max = "256" },
    { "max-label-name", OPTION_SIZE, FIELD(storage_keeping, max_name_bytes), "256",
      "Longer names of series labels are cut.", .min = "16", .max = "64KiB" },
    { "max-label-value", OPTION_SIZE, FIELD(storage_keeping, max_value_bytes), "1024",
      "Longer values of series labels are cut.", .min = "16", .max = "64KiB" },
};

const struct option_spec storage_range_options[STORAGE_RANGE_OPTIONS_N] = {
    { "tenant", OPTION_TEXT, FIELD(storage_range, tenant), STORE_TENANT_DEFAULT, STORAGE_TENANT_HELP },
    /* No variable and no key: --from is something else where files are read. */
    { "from", OPTION_TEXT, FIELD(storage_range, from), NULL,
      "Profiles whose window began at this time or later. " STORAGE_TIME_HELP, .value_name = "TIME",
      .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(storage_range, until), NULL,
      "Profiles whose window began before this time; written as --from.", .value_name = "TIME", .is_flag_only = true },
};

/* --- times --- */

int storage_parse_time(const char *option, const char *text, int64_t now_ns, int64_t *ret_time_ns, struct error *err)
{
    if (timetext_parse(slice_from(text), now_ns, ret_time_ns, err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return error_wrap(err, "--%s", option);
}

/* --- queries --- */

int storage_check_tenant(const char *tenant, struct error *err)
{
    if (store_check_tenant(slice_from(tenant), err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return error_wrap(err, "--tenant");
}

static int parse_range(const struct storage_range *range, struct store_query *query, struct error *err)
{
    int64_t now_ns = clock_now_ns();

    query->from_ns = 0;
    query->until_ns = INT64_MAX;
    if (range->from && storage_parse_time("from", range->from, now_ns, &query->from_ns, err) < 0)
        return -1;
    if (range->until && storage_parse_time("until", range->until, now_ns, &query->until_ns, err) < 0)
        return -1;
    query->from_ns = MAX(query->from_ns, 0); /* "9999w" is before 1970, where nothing is */
    if (query->from_ns >= query->until_ns) {
        char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

        return error_set(err, ERR_USAGE, "the range is empty: it begins at %s and ends at %s",
                         clock_format(query->from_ns, CLOCK_ZONE_UTC, 0, from),
                         clock_format(query->until_ns, CLOCK_ZONE_UTC, 0, until));
    }
    return 0;
}

int storage_query_init(struct storage_query *query, const struct storage_range *range, const char *selector,
                       struct error *err)
{
    *query = (struct storage_query){ .query = { .tenant = slice_from(range->tenant) } };
    if (storage_check_tenant(range->tenant, err) < 0 || parse_range(range, &query->query, err) < 0)
        return -1;
    if (!selector)
        return 0;
    if (selector_new(slice_from(selector), &query->selector, err) < 0) {
        if (err->code == ERR_INVALID)
            err->code = ERR_USAGE;
        return -1;
    }
    query->query.selector = query->selector;
    return 0;
}

int storage_parse_range(const char *from, const char *until, int64_t now_ns, int64_t *ret_from_ns,
                        int64_t *ret_until_ns, struct error *err)
{
    struct timetext_range range;
    int64_t time_ns;

    /* First each for itself, so that an error names the option. */
    if (from && storage_parse_time("from", from, now_ns, &time_ns, err) < 0)
        return -1;
    if (until && storage_parse_time("until", until, now_ns, &time_ns, err) < 0)
        return -1;
    if (timetext_range(slice_from(from), slice_from(until), now_ns, &range, err) < 0) {
        err->code = ERR_USAGE;
        return -1;
    }
    *ret_from_ns = range.from_ns;
    *ret_until_ns = range.until_ns;
    return 0;
}

void storage_query_watch(struct storage_query *query, struct command_context *context)
{
    query->query.check = command_check_asker;
    query->query.check_context = context;
}

void storage_query_done(struct storage_query *query)
{
    selector_free(query->selector);
    *query = (struct storage_query){ 0 };
}

/* --- opening --- */

int storage_check_is_there(const struct storage_config *config, struct error *err)
{
    AUTO(buffer_done) struct buffer path;
    struct stat info;

    buffer_init(&path, 0);
    buffer_printf(&path, "%s/FORMAT", config->data_dir);
    if (buffer_check(&path, err) < 0)
        return -1;
    if (fs_stat(config->data_dir, &info, err) == 0 && !S_ISDIR(info.st_mode))
        return error_set(err, ERR_INVALID, "'%s' is no directory, so there is no store in it", config->data_dir);
    if (fs_stat(path.data, &info, err) == 0)
        return 0;
    if (err->code == ERR_NOT_FOUND)
        return error_set(err, ERR_NOT_FOUND,
                         "there is no store in '%s'; 'hearth import' makes one, and --data-dir names another",
                         config->data_dir);
    return -1;
}

int storage_open_to_read(const struct storage_config *config, struct store **ret_store, struct error *err)
{
    struct store_options options = { .data_dir = config->data_dir,
                                     .is_read_only = true,
                                     .memory_limit_bytes = config->memory_limit_bytes };

    if (storage_check_is_there(config, err) < 0)
        return -1;
    return store_open(&options, ret_store, err);
}

int storage_use_to_read(struct command_context *context, const struct storage_config *config,
                        struct storage_use *ret_use, struct error *err)
{
    const struct command_served *served = context->world->served;

    *ret_use = (struct storage_use){ served ? served->store : NULL, served != NULL };
    return served ? 0 : storage_open_to_read(config, &ret_use->store, err);
}

int storage_use_to_change(struct command_context *context, const struct storage_config *config,
                          struct storage_use *ret_use, struct error *err)
{
    const struct command_served *served = context->world->served;

    *ret_use = (struct storage_use){ served ? served->store : NULL, served != NULL };
    return served ? 0 : storage_open_to_change(config, &ret_use->store, err);
}

void storage_use_end(struct storage_use *use)
{
    if (!use->is_lent)
        store_close(use->store);
    *use = (struct storage_use){ 0 };
}

static int open_alone(const struct store_options *options, struct store **ret_store, struct error *err)
{
    struct error cause;

    if (store_open(options, ret_store, &cause) == 0)
        return 0;
    if (cause.code == ERR_BUSY)
        return error_set(
            err, ERR_BUSY,
            "%s; only one process may change a store: stop that one, or, if it is a server, let it do this itself with "
            "--url",
            cause.text);
    *err = cause;
    return -1;
}

int storage_open_to_change(const struct storage_config *config, struct store **ret_store, struct error *err)
{
    struct store_options options = { .data_dir = config->data_dir,
                                     .wal_sync = STORE_SYNC_ALWAYS,
                                     .memory_limit_bytes = config->memory_limit_bytes,
                                     .retention_ns = INT64_MAX,
                                     .retention_bytes = UINT64_MAX };

    if (storage_check_is_there(config, err) < 0)
        return -1;
    return open_alone(&options, ret_store, err);
}

/* With zeros where the store chooses: for a server, which forgets by itself. */
int storage_server_options(const struct storage_config *config, const struct storage_keeping *keeping,
                           struct store_options *ret_options, struct error *err)
{
    *ret_options = (struct store_options){
        .data_dir = config->data_dir,
        .has_background = true,
        .wal_sync = (enum store_wal_sync)keeping->wal_sync,
        .memory_limit_bytes = config->memory_limit_bytes,
        .retention_ns = keeping->retention_ns,
        .retention_bytes = keeping->retention_bytes,
        .min_free_bytes = keeping->min_free_bytes,
        .max_age_ns = keeping->max_age_ns,
        .max_ahead_ns = keeping->max_ahead_ns,
        .labels = { .max_labels = (uint32_t)keeping->max_series_labels,
                    .max_name_bytes = (uint32_t)keeping->max_name_bytes,
                    .max_value_bytes = (uint32_t)keeping->max_value_bytes,
                    .max_splits = (uint32_t)keeping->max_splits },
        .max_series = (uint32_t)keeping->max_series,
    };
    if (keeping->retention_ns && keeping->max_age_ns > keeping->retention_ns)
        return error_set(
            err, ERR_USAGE,
            "--max-age %s is more than --retention %s: older profiles would be taken and forgotten at once",
            units_human_ns(keeping->max_age_ns).text, units_human_ns(keeping->retention_ns).text);
    return 0;
}

int storage_open_to_write(const struct storage_config *config, const struct storage_keeping *keeping,
                          struct store **ret_store, struct error *err)
{
    struct store_options options;

    if (storage_check_tenant(keeping->tenant, err) < 0 || storage_server_options(config, keeping, &options, err) < 0)
        return -1;
    /* This one forgets nothing that it was not told to. */
    if (!options.max_age_ns)
        options.max_age_ns = keeping->retention_ns ? keeping->retention_ns : STORAGE_MAX_AGE_NS;
    if (!options.retention_ns)
        options.retention_ns = INT64_MAX;
    if (!options.retention_bytes)
        options.retention_bytes = UINT64_MAX;
    return open_alone(&options, ret_store, err);
}

/* --- listing --- */

const struct option_spec storage_list_options[STORAGE_LIST_OPTIONS_N] = {
    { "json", OPTION_BOOL, FIELD(storage_list_config, is_json), "false", "Write JSON." },
};

static void print_lines(const struct store_texts *texts, struct buffer *out)
{
    for (size_t i = 0; i < texts->n; i++) {
        table_append_text(out, texts->texts[i]);
        buffer_append_byte(out, '\n');
    }
}

static void print_json(const char *key, const struct store_texts *texts, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, key);
    json_array_begin(&json);
    for (size_t i = 0; i < texts->n; i++)
        json_string(&json, texts->texts[i]);
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
}

int storage_list(struct command_context *context, const struct storage_list *list, struct error *err)
{
    const struct storage_list_config *config = context->config;
    AUTO(storage_query_done) struct storage_query query = { 0 };
    AUTO(storage_use_end) struct storage_use use = { 0 };
    struct store_texts texts;
    struct buffer out;

    if (storage_query_init(&query, &config->range, list->selector, err) < 0 ||
        storage_use_to_read(context, &config->store, &use, err) < 0)
        return -1;
    storage_query_watch(&query, context);
    if (list->ask(use.store, &query.query, context->arena, &texts, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json)
        print_json(list->key, &texts, &out);
    else
        print_lines(&texts, &out);
    return view_finish(context, &out, 0, err);
}

const char *storage_argument(const struct command_context *context, size_t index)
{
    return index < context->arguments.n ? context->arguments.items[index] : NULL;
}
