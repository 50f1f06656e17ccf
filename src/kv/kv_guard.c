// SPDX-License-Identifier: Apache-2.0
/* Second names for files on their way into a database. When the manifest cannot be synced while RocksDB 7.8 takes files in, it
 * removes them again, although the manifest may name them from then on: the database could not be opened any more. Until
 * the call has succeeded the files keep a name of ours in the database's directory, and opening puts them back. */
#include "kv/kv_internal.h"

#include "base/arena.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GUARD_PREFIX "guard-"
#define MAX_GUARDS   64u

static int guard_path(const struct kv *kv, size_t number, char path[static 4096], struct error *err)
{
    if (number >= MAX_GUARDS || snprintf(path, 4096, "%s/" GUARD_PREFIX "%zu", kv->path, number) >= 4096)
        return error_set(err, ERR_LIMIT, "guarding file %zu of '%s'", number, kv->path);
    return 0;
}

void kv_guard_remove(const struct kv *kv)
{
    char path[4096];
    struct error err;

    /* Numbered from 0 without a gap: removed from behind, they stay so. */
    for (size_t n = MAX_GUARDS; n > 0; n--)
        if (guard_path(kv, n - 1, path, &err) == 0)
            unlink(path);
}

/* RocksDB copies where the file system knows no second names; there, nothing is guarded. */
static bool has_no_links(int code)
{
    return code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK;
}

int kv_guard_set(const struct kv *kv, const char *const *paths, size_t n, struct error *err)
{
    char path[4096];

    for (size_t i = 0; i < n; i++) {
        if (guard_path(kv, i, path, err) < 0)
            return -1;
        unlink(path);
        if (link(paths[i], path) < 0 && !has_no_links(errno))
            return error_set_errno(err, errno, "guarding '%s' as '%s'", paths[i], path);
    }
    return 0;
}

/* --- putting them back --- */

struct missing {
    char path[4096];
    uint64_t size_bytes;
};

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct missing *)a)->path, ((const struct missing *)b)->path);
}

/* The files that the manifest names and that are not there, in order of their numbers; how many there are of them. */
static size_t find_missing(const struct kv *kv, rocksdb_t *db, struct missing missing[static MAX_GUARDS])
{
    const rocksdb_livefiles_t *files = rocksdb_livefiles(db);
    int n_files = rocksdb_livefiles_count(files);
    size_t n = 0;

    for (int i = 0; i < n_files && n < MAX_GUARDS; i++) {
        struct missing *file = &missing[n];

        snprintf(file->path, sizeof(file->path), "%s%s", kv->path, rocksdb_livefiles_name(files, i));
        file->size_bytes = rocksdb_livefiles_size(files, i);
        n += access(file->path, F_OK) < 0;
    }
    rocksdb_livefiles_destroy(files);
    qsort(missing, n, sizeof(*missing), by_path);
    return n;
}

/* RocksDB numbers files in the order in which it was given them. The sizes must agree, or nothing is put back. */
static int put_back(const struct kv *kv, const struct missing *missing, size_t n, struct error *err)
{
    char path[4096];
    uint64_t size_bytes;

    for (size_t i = 0; i < n; i++) {
        if (guard_path(kv, i, path, err) < 0 || fs_size(path, &size_bytes, err) < 0)
            return -1;
        if (size_bytes != missing[i].size_bytes)
            return error_set(err, ERR_CORRUPT, "'%s' is missing, and '%s' has another size", missing[i].path, path);
    }
    for (size_t i = 0; i < n; i++) {
        if (guard_path(kv, i, path, err) < 0)
            return -1;
        if (link(path, missing[i].path) < 0)
            return error_set_errno(err, errno, "putting '%s' back", missing[i].path);
    }
    return 0;
}

static bool has_guards(const struct kv *kv)
{
    char path[4096];
    struct error err;

    return guard_path(kv, 0, path, &err) == 0 && access(path, F_OK) == 0;
}

/* Opens the database although files are missing, and asks it for its files. */
static int look(const struct kv *kv, rocksdb_options_t *options, size_t n_families, const char *const *names,
                struct arena *scratch, struct missing missing[static MAX_GUARDS], size_t *ret_n, struct error *err)
{
    rocksdb_column_family_handle_t **handles = ARENA_ARRAY(scratch, rocksdb_column_family_handle_t *, n_families, err);
    const rocksdb_options_t **family_options = ARENA_ARRAY(scratch, const rocksdb_options_t *, n_families, err);
    char *text = NULL;
    rocksdb_t *db;

    if (!handles || !family_options)
        return -1;
    for (size_t i = 0; i < n_families; i++)
        family_options[i] = options;
    db = rocksdb_open_for_read_only_column_families(options, kv->path, (int)n_families, names, family_options, handles,
                                                    0, &text);
    if (kv_finish(kv, text, "looking for missing files of", err) < 0)
        return -1;
    *ret_n = find_missing(kv, db, missing);
    for (size_t i = 0; i < n_families; i++)
        rocksdb_column_family_handle_destroy(handles[i]);
    rocksdb_close(db);
    return 0;
}

int kv_guard_restore(const struct kv *kv, size_t n_families, const char *const *names, struct arena *scratch,
                     struct error *err)
{
    rocksdb_options_t *options;
    struct missing *missing;
    size_t n = 0;
    int result;

    if (!has_guards(kv))
        return error_set(err, ERR_NOT_FOUND, "nothing was being taken in");
    missing = ARENA_ARRAY(scratch, struct missing, MAX_GUARDS, err);
    if (!missing)
        return -1;
    options = rocksdb_options_create_copy(kv->options[KV_INDEX]);
    rocksdb_options_set_paranoid_checks(options, 0);
    rocksdb_options_set_avoid_unnecessary_blocking_io(options, 0); /* RocksDB asserts that readers do not ask for it */
    result = look(kv, options, n_families, names, scratch, missing, &n, err);
    rocksdb_options_destroy(options);
    if (result < 0)
        return -1;
    return n ? put_back(kv, missing, n, err) : error_set(err, ERR_NOT_FOUND, "no file is missing");
}
