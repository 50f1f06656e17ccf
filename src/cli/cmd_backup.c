// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/table.h"
#include "cli/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define SERVED_DIRECTORY "backups" /* in the data directory */

struct backup_config {
    struct storage_config store;
    bool is_json;
};

static const struct option_spec backup_options[] = {
    { "json", OPTION_BOOL, FIELD(backup_config, is_json), "false", "Write JSON." },
};

/* DIRECTORY/2026-11-15T10-00-00Z: sorts by time, and has no colon, which some file systems and tools take for their
 * own. */
static const char *choose_path(struct command_context *context, const char *directory, struct error *err)
{
    enum { MAX_EACH_SECOND = 10 };
    char name[CLOCK_TEXT_BYTES];
    const char *path;
    struct stat info;
    struct error none;

    clock_format(clock_now_ns(), CLOCK_ZONE_UTC, 0, name);
    for (char *at = name; *at; at++)
        if (*at == ':')
            *at = '-';
    path = arena_printf(context->arena, err, "%s/%s", directory, name);
    /* Another one of the same second. */
    for (unsigned i = 2; path && i < MAX_EACH_SECOND && fs_stat(path, &info, &none) == 0; i++)
        path = arena_printf(context->arena, err, "%s/%s-%u", directory, name, i);
    return path;
}

/* A backup inside of the store is lost with it. `directory` exists. */
static int check_is_outside(const char *directory, const char *data_dir, struct error *err)
{
    char backups[PATH_MAX], store[PATH_MAX];
    size_t len;

    if (!realpath(directory, backups))
        return error_set_errno(err, errno, "looking for '%s'", directory);
    if (!realpath(data_dir, store))
        return error_set_errno(err, errno, "looking for '%s'", data_dir);
    len = strlen(store);
    if (strncmp(backups, store, len) == 0 && (backups[len] == '/' || backups[len] == '\0'))
        return error_set(err, ERR_USAGE,
                         "'%s' lies in the data directory; name a place outside of it, best on another disk",
                         directory);
    return 0;
}

static int make(const struct command_context *context, struct store *store, struct store_backup *backup,
                struct error *err)
{
    int result;

    command_progress(context, "copying");
    result = store_backup(store, backup, err);
    command_progress_end(context);
    return result;
}

static void print(const struct backup_config *config, const struct store_backup *backup, struct buffer *out)
{
    struct json json;

    if (!config->is_json) {
        table_append_text(out, slice_from(backup->path));
        buffer_printf(out, ": %s copied, %s shared with the backup before\n",
                      units_human_bytes((int64_t)backup->copied_bytes).text,
                      units_human_bytes((int64_t)backup->linked_bytes).text);
        return;
    }
    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_key(&json, "path");
    json_text(&json, backup->path);
    json_key(&json, "copied_bytes");
    json_uint(&json, backup->copied_bytes);
    json_key(&json, "shared_bytes");
    json_uint(&json, backup->linked_bytes);
    json_object_end(&json);
    json_done(&json);
}

/* A server chooses the place itself: a stranger names no path of its machine. */
static int choose_directory(struct command_context *context, const char **ret_directory, struct error *err)
{
    const struct command_served *served = context->world->served;

    if (served)
        *ret_directory = arena_printf(context->arena, err, "%s/" SERVED_DIRECTORY, served->data_dir);
    else
        *ret_directory = storage_argument(context, 0);
    if (!*ret_directory)
        return served ? -1 : error_set(err, ERR_USAGE, "'hearth backup' needs DIRECTORY, where backups are to be");
    return 0;
}

static int prepare_directory(const struct command_context *context, const char *directory, struct error *err)
{
    const struct backup_config *config = context->config;

    if (fs_make_directories(directory, 0777, err) < 0)
        return -1;
    return context->world->served ? 0 : check_is_outside(directory, config->store.data_dir, err);
}

static int run(struct command_context *context, struct error *err)
{
    const struct backup_config *config = context->config;
    const char *directory = NULL;
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(beside_end) struct beside beside = { 0 };
    struct store_backup backup = { .add = beside_add_to_backup, .context = &beside };
    struct buffer out;

    if (choose_directory(context, &directory, err) < 0 || !(backup.path = choose_path(context, directory, err)) ||
        storage_use_to_change(context, &config->store, &use, err) < 0 ||
        beside_use(context, &config->store, false, &beside, err) < 0 ||
        prepare_directory(context, directory, err) < 0 || make(context, use.store, &backup, err) < 0)
        return -1;
    buffer_init(&out, 0);
    print(config, &backup, &out);
    return view_finish(context, &out, 0, err);
}

const struct command cmd_backup = {
    .name = "backup",
    .summary = "Make a copy of a store",
    .description =
        "Makes a consistent copy of the store, its traces and metrics included, in a new directory, "
        "DIRECTORY/2026-11-15T10-00-00Z, named after the time "
        "in UTC. Files that have not changed since the newest backup there are shared with it (as hard links), so that "
        "a backup every hour costs little; each is whole by itself, and any of them may be removed.\n\n"
        "A backup is a data directory like another: the commands that look at a store work on it, and 'hearth restore' "
        "puts it back in place.",
    .config_bytes = sizeof(struct backup_config),
    .options = { OPTION_GROUP("Options", backup_options), STORAGE_URL_GROUP(backup_config, store) },
    .arguments = { { "DIRECTORY", COMMAND_ARGUMENT_FILE, 0, 1,
                     "Directory of backups; made if it is missing. With --url there is none: the server writes "
                     "to " SERVED_DIRECTORY "/ in its data directory." } },
    .examples = { { "hearth backup --data-dir hearth-data backups",
                    "Makes a backup, and shares what is in the last." } },
    .run = run,
};
