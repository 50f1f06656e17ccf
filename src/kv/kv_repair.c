// SPDX-License-Identifier: Apache-2.0
/* A database of files whose manifest is not to be trusted. RocksDB makes one of the tables. What it would make of the logs is
 * too little, since it takes only writes to the families of these tables from them, and what it writes to tables again
 * may not lie beside those that have it already: so the logs are out of its sight, the families that they write to are
 * added to its manifest, and whoever opens the database for reading has what they hold in memory. */
#include "base/fs.h"
#include "kv/kv_internal.h"

#include <errno.h>
#include <stdio.h>

/* Moves the logs from one directory to another. */
static int move_logs(const char *from, const char *to, struct arena *scratch, struct error *err)
{
    struct fs_listing listing;

    if (fs_list(from, scratch, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        const char *old, *new;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(".log")))
            continue;
        old = arena_printf(scratch, err, "%s/%s", from, listing.names[i]);
        new = old ? arena_printf(scratch, err, "%s/%s", to, listing.names[i]) : NULL;
        if (!new)
            return -1;
        if (rename(old, new) < 0)
            return error_set_errno(err, errno, "moving '%s' to '%s'", old, new);
    }
    return 0;
}

/* Reads all manifests there are, the newest last. */
static int read_manifests(struct kv_roster *roster, const char *path, struct arena *scratch, struct error *err)
{
    struct fs_listing listing;

    if (fs_list(path, scratch, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        const char *manifest;

        if (!slice_starts_with(slice_from(listing.names[i]), SLICE("MANIFEST-")))
            continue;
        manifest = arena_printf(scratch, err, "%s/%s", path, listing.names[i]);
        if (!manifest || kv_roster_read_manifest(roster, manifest, err) < 0)
            return -1;
    }
    return 0;
}

static int repair_tables(struct kv_shared *shared, const char *path, struct error *err)
{
    char *text = NULL;

    rocksdb_repair_db(shared->options[KV_INDEX], path, &text);
    return kv_finish_file(text, "repairing", path, err);
}

/* Adds the families of the logs to the manifest that RocksDB has made. */
static int add_families(const char *path, const char *logs, const struct kv_roster *before,
                        const struct kv_namer *namer, struct error *err)
{
    char manifest[KV_PATH_BYTES];
    struct kv_roster roster;
    int result;

    if (kv_records_find_manifest(path, manifest, err) < 0)
        return -1;
    kv_roster_init(&roster);
    result = kv_roster_read_manifest(&roster, manifest, err);
    if (!result)
        result = kv_roster_merge(&roster, before, err);
    if (!result)
        result = kv_roster_read_logs(&roster, logs, namer, err);
    if (!result)
        result = kv_roster_write(&roster, manifest, err);
    kv_roster_done(&roster);
    return result;
}

static const char *name_logs(const char *path, struct arena *scratch, struct error *err)
{
    return arena_printf(scratch, err, "%s/logs", path);
}

int kv_repair(struct kv_shared *shared, const char *path, const struct kv_namer *namer, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    struct kv_roster before;
    const char *logs;
    int result;

    arena_init(&scratch, 0);
    logs = name_logs(path, &scratch, err);
    if (!logs || fs_make_directories(logs, 0700, err) < 0 || move_logs(path, logs, &scratch, err) < 0)
        return -1;
    kv_roster_init(&before);
    result = read_manifests(&before, path, &scratch, err);
    if (!result)
        result = repair_tables(shared, path, err);
    if (!result)
        result = add_families(path, logs, &before, namer, err);
    kv_roster_done(&before);
    return result;
}

int kv_repair_logs(const char *path, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    const char *logs;

    arena_init(&scratch, 0);
    logs = name_logs(path, &scratch, err);
    return logs ? move_logs(logs, path, &scratch, err) : -1;
}
