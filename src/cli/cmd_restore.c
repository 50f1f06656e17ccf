// SPDX-License-Identifier: Apache-2.0
/* `hearth restore`: a backup becomes a store again. Everything is copied beside the place where it is to be, checked
 * there and then renamed, so that the data directory is either whole or not there. Copied and never linked: a store
 * that is written to must not change its backup. */
#include "base/fs.h"
#include "base/progress.h"
#include "base/units.h"
#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Of directories in directories; a store has three levels. */
#define MAX_DEPTH 16

struct restore_config {
    struct storage_config store;
};

struct restore {
    struct arena *arena; /* for paths and names */
    uint64_t n_files;
    uint64_t n_bytes;
};

/* --- copying --- */

static int sync_path(const char *path, struct error *err)
{
    AUTO(fd_closep) int fd = -1;

    if (fs_open(path, O_RDONLY, 0, &fd, err) < 0)
        return -1;
    if (fsync(fd) < 0)
        return error_set_errno(err, errno, "syncing '%s'", path);
    return 0;
}

static int copy_file(struct restore *restore, const char *from, const char *to, struct error *err)
{
    uint64_t bytes;

    if (backup_copy_file(from, to, &bytes, err) < 0)
        return -1;
    restore->n_bytes += bytes;
    progress_step(++restore->n_files);
    return 0;
}

/* What a backup has beside its data: the mark of a backup, and a lock if somebody looked at it. */
static bool is_left_behind(const char *name, unsigned depth)
{
    return depth == 0 && (strcmp(name, "BACKUP") == 0 || strcmp(name, "LOCK") == 0);
}

static int copy_tree(struct restore *restore, const char *from, const char *to, unsigned depth, struct error *err);

static int copy_entry(struct restore *restore, const char *from_directory, const char *to_directory, const char *name,
                      unsigned depth, struct error *err)
{
    const char *from = arena_printf(restore->arena, err, "%s/%s", from_directory, name);
    const char *to = arena_printf(restore->arena, err, "%s/%s", to_directory, name);
    struct stat info;

    if (!from || !to || fs_stat(from, &info, err) < 0)
        return -1;
    if (S_ISDIR(info.st_mode))
        return copy_tree(restore, from, to, depth + 1, err);
    if (S_ISREG(info.st_mode))
        return copy_file(restore, from, to, err);
    return error_set(err, ERR_INVALID, "'%s' is neither a file nor a directory: this is no backup", from);
}

static int copy_tree(struct restore *restore, const char *from, const char *to, unsigned depth, struct error *err)
{
    struct fs_listing listing;
    struct stat info;

    if (depth > MAX_DEPTH)
        return error_set(err, ERR_LIMIT, "'%s' is nested deeper than %d directories: this is no backup", from,
                         MAX_DEPTH);
    if (fs_stat(from, &info, err) < 0 || fs_list(from, restore->arena, &listing, err) < 0 ||
        fs_make_directories(to, info.st_mode & 0777, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++)
        if (!is_left_behind(listing.names[i], depth) && copy_entry(restore, from, to, listing.names[i], depth, err) < 0)
            return -1;
    return sync_path(to, err);
}

/* --- what to restore, and whereto --- */

/* The backup that is meant by `path`: itself, or the newest whole one in it. */
static int find_backup(struct restore *restore, const char *path, const char **ret_backup, struct error *err)
{
    const char *mark = arena_printf(restore->arena, err, "%s/BACKUP", path), *newest;
    struct stat info;

    if (!mark || fs_stat(path, &info, err) < 0)
        return -1;
    if (fs_stat(mark, &info, err) == 0) {
        *ret_backup = path;
        return 0;
    }
    if (err->code != ERR_NOT_FOUND || backup_find_newest(path, restore->arena, &newest, err) < 0)
        return -1;
    if (!newest)
        return error_set(err, ERR_NOT_FOUND, "'%s' is no backup, and there is none in it that was finished", path);
    *ret_backup = newest;
    return 0;
}

/* Nothing may be there but an empty directory. */
static int check_is_free(struct restore *restore, const char *data_dir, struct error *err)
{
    struct fs_listing listing;
    struct error cause;

    if (fs_list(data_dir, restore->arena, &listing, &cause) < 0) {
        if (cause.code == ERR_NOT_FOUND)
            return 0;
        *err = cause;
        return -1;
    }
    if (listing.n > 0)
        return error_set(err, ERR_EXISTS,
                         "'%s' is not empty; move it away, or name another place with --data-dir: nothing is "
                         "overwritten",
                         data_dir);
    return 0;
}

/* The directory without slashes at its end, so that a name can be put beside it. */
static const char *without_slashes(struct restore *restore, const char *path, struct error *err)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    return arena_printf(restore->arena, err, "%.*s", (int)len, path);
}

static const char *parent_of(struct restore *restore, const char *path, struct error *err)
{
    ptrdiff_t slash = slice_find_last_byte(slice_from(path), '/');

    if (slash < 0)
        return ".";
    return arena_printf(restore->arena, err, "%.*s", (int)MAX(slash, 1), path);
}

/* --- the run --- */

static int check_copy(struct command_context *context, const char *path, struct store_verify *verify,
                      struct beside_verify *beside_found, struct error *err)
{
    const struct restore_config *config = context->config;
    struct storage_config copy = { .data_dir = path, .memory_limit_bytes = config->store.memory_limit_bytes };
    AUTO(store_closep) struct store *store = NULL;
    AUTO(beside_end) struct beside beside = { 0 };

    if (storage_open_to_read(&copy, &store, err) < 0 || beside_use(context, &copy, true, &beside, err) < 0 ||
        store_verify(store, verify, err) < 0)
        return -1;
    return beside_verify(&beside, verify, beside_found, err);
}

static int put_in_place(struct restore *restore, const char *copy, const char *data_dir, struct error *err)
{
    const char *parent = parent_of(restore, data_dir, err);

    if (!parent)
        return -1;
    if (rename(copy, data_dir) < 0)
        return error_set_errno(err, errno, "renaming '%s' to '%s'", copy, data_dir);
    return sync_path(parent, err);
}

static int copy_and_check(struct command_context *context, struct restore *restore, const char *backup,
                          const char *copy, struct store_verify *verify, struct beside_verify *beside_found,
                          struct error *err)
{
    int result;

    progress_start("copying", 0);
    result = copy_tree(restore, backup, copy, 0, err);
    progress_finish();
    return result < 0 ? -1 : check_copy(context, copy, verify, beside_found, err);
}

static int restore_backup(struct command_context *context, struct restore *restore, struct error *err)
{
    const struct restore_config *config = context->config;
    const char *data_dir = without_slashes(restore, config->store.data_dir, err);
    const char *copy = data_dir ? arena_printf(restore->arena, err, "%s.restoring", data_dir) : NULL;
    struct store_verify verify = { 0 };
    struct beside_verify beside_found = { 0 };
    const char *backup = NULL;
    struct error ignored;

    /* What an interrupted restore left is ours to remove. */
    if (!copy || find_backup(restore, storage_argument(context, 0), &backup, err) < 0 ||
        check_is_free(restore, data_dir, err) < 0 || fs_remove_tree(copy, err) < 0)
        return -1;
    if (copy_and_check(context, restore, backup, copy, &verify, &beside_found, err) < 0 ||
        put_in_place(restore, copy, data_dir, err) < 0) {
        IGNORE(fs_remove_tree(copy, &ignored), "the first error matters more, and the next restore removes it");
        return -1;
    }
    fprintf(context->out, "'%s' is now in '%s': %llu files, %s, %llu samples of %llu days\n", backup, data_dir,
            (unsigned long long)restore->n_files, units_human_bytes((int64_t)restore->n_bytes).text,
            (unsigned long long)verify.n_samples, (unsigned long long)verify.n_days);
    for (size_t i = 0; i < BESIDE_N; i++) {
        verify.n_bad_values += beside_found.stores[i].n_bad_values;
        verify.n_bad_days += beside_found.stores[i].n_bad_days;
    }
    if (verify.n_bad_values || verify.n_bad_days) {
        command_warn(context,
                     "%llu values and %llu days of it are damaged, as in the backup; 'hearth verify' tells more",
                     (unsigned long long)verify.n_bad_values, (unsigned long long)verify.n_bad_days);
        context->exit_status = 1;
    }
    return 0;
}

static int run(struct command_context *context, struct error *err)
{
    struct restore restore = { .arena = context->arena };

    return restore_backup(context, &restore, err);
}

const struct command cmd_restore = {
    .name = "restore",
    .summary = "Make a store from a backup",
    .description =
        "Copies a backup to the data directory, which must be empty or missing, reads all of the copy to see that it "
        "is "
        "whole, and only then puts it in place: an interrupted restore leaves nothing but DIRECTORY.restoring, which "
        "the next one removes. The backup itself is not changed.",
    .config_bytes = sizeof(struct restore_config),
    .options = { STORAGE_GROUP(restore_config, store) },
    .arguments = { { "BACKUP", COMMAND_ARGUMENT_FILE, 1, 1,
                     "A backup, or a directory of backups, of which the newest is taken." } },
    .examples = { { "hearth restore backups --data-dir hearth-data", "Goes back to the newest backup." },
                  { "hearth restore backups/2026-11-15T10-00-00Z --data-dir elsewhere",
                    "Looks at an older one without touching anything." } },
    .run = run,
};
