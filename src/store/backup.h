// SPDX-License-Identifier: Apache-2.0
/* Copies of databases for backups: a checkpoint, then its files brought to another directory; what an earlier backup of
 * the same database has already is linked from there.
 *
 * A backup is complete when it has the file BACKUP, which the caller writes last; one without was interrupted and is
 * ignored. */
#pragma once

#include "base/arena.h"
#include "kv/kv.h"

struct backup_counts {
    uint64_t copied_bytes;
    uint64_t linked_bytes; /* shared with the earlier backup */
};

/* Takes a checkpoint of `kv` at `scratch`, a path on its file system that does not exist: quick, since files are linked.
 * Nobody needs the database for the copy that follows. Errors: those of kv_checkpoint. */
MUST_CHECK int backup_checkpoint(struct kv *kv, const char *scratch, struct error *err);
/* Brings the checkpoint at `scratch` to `path`, which must not exist; its parent must. `database` is where it was taken. `previous` is the same database in an earlier backup,
 * or NULL: table files that are the same there are hard-linked, where the file system can. The same are files of the
 * same IDENTITY, name and size with the same last bytes, in which RocksDB names the file and who wrote it. There is
 * nothing at `scratch` afterwards. Adds to `counts`. Everything is synced when
 * it returns; on failure nothing is left at `path`. Errors: ERR_EXISTS, ERR_FULL, ERR_IO, ERR_MEMORY, those of kv.h.
 * Thread: any. */
MUST_CHECK int backup_bring(const char *database, const char *scratch, const char *path, const char *previous,
                            struct backup_counts *counts, struct error *err);
/* Both, one after the other. */
MUST_CHECK int backup_database(struct kv *kv, const char *scratch, const char *path, const char *previous,
                               struct backup_counts *counts, struct error *err);
/* The newest complete backup in `directory`, its path from `arena`; NULL if there is none. Names sort by time. Errors:
 * ERR_IO, ERR_MEMORY, ... */
MUST_CHECK int backup_find_newest(const char *directory, struct arena *arena, const char **ret_path, struct error *err);
/* Logs a line for each directory in `directory` that is called as the backups of `hearth backup` are, and is none: one
 * that was interrupted. Nobody else says that it takes room for nothing. */
void backup_tell_unfinished(const char *directory);
/* Copies one file to `to`, which must not exist, and syncs it; the directory is for the caller to sync. */
MUST_CHECK int backup_copy_file(const char *from, const char *to, uint64_t *ret_bytes, struct error *err);
