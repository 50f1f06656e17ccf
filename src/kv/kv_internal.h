// SPDX-License-Identifier: Apache-2.0
/* What the files of kv share: the database with its table of families, and how a call of RocksDB ends.
 *
 *     kv.c            errors, opening and closing, families
 *     kv_settings.c   RocksDB's settings, what all databases of a process share
 *     kv_data.c       keys and values: get, batches, snapshots, iterators
 *     kv_files.c      files: flush, compaction, SST files, copies, sizes
 *     kv_guard.c      files on their way into the database keep a second name until they are in
 *     kv_records.c    the records of logs and manifests, and damage among them
 *     kv_wal.c        the write-ahead logs of a database
 *     kv_roster.c     which families there are, by what is left of manifests and logs
 *     kv_tables.c     whether a secondary sees all tables that there are
 *     kv_repair.c     a database of files without a manifest */
#pragma once

#include "base/arena.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/vec.h"
#include "kv/kv.h"

#include <rocksdb/c.h>

#define KV_USES       3
#define KV_PATH_BYTES 4096

struct kv_shared {
    rocksdb_cache_t *cache;
    rocksdb_options_t *options[KV_USES]; /* by use */
};

struct kv_family {
    char *name;                             /* lives as long as the database, so that whoever asked may keep it */
    rocksdb_column_family_handle_t *handle; /* NULL: dropped, or being made */
};

struct kv {
    char *path;
    enum kv_mode mode;
    bool is_unsynced;
    uint64_t identity;
    bool ends_at_hole; /* nothing behind a hole in the write-ahead log is taken */
    rocksdb_t *db;
    rocksdb_options_t *options[KV_USES];
    rocksdb_readoptions_t *read_options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_writeoptions_t *synced_write_options;
    struct lock_rw lock;
    /* Guarded by lock. What a handle points to is the business of whoever uses the family. */
    VEC(struct kv_family) families;
    struct error failed_write; /* guarded by lock: the first write that failed for good */
};

/* Turns what the C API left in its error pointer into an error and frees it; 0 if there was none. */
MUST_CHECK int kv_finish(const struct kv *kv, char *text, const char *doing, struct error *err);
/* The same for a file outside of a database: if it is missing, that is ERR_NOT_FOUND. */
MUST_CHECK int kv_finish_file(char *text, const char *doing, const char *path, struct error *err);

/* -1 with ERR_DENIED unless the database was opened with KV_WRITE. RocksDB itself would let readers change families. */
MUST_CHECK int kv_check_is_writer(struct kv *kv, struct error *err);

/* NULL if the family was dropped. */
rocksdb_column_family_handle_t *kv_handle(struct kv *kv, uint32_t family);
/* Keeps the first failure after which RocksDB cannot be trusted with more; kv_check_is_writer tells it. Returns -1. */
int kv_remember_failure(struct kv *kv, const struct error *err);
/* NULL with ERR_CLOSED if it was dropped. */
MUST_CHECK rocksdb_column_family_handle_t *kv_find_handle(struct kv *kv, uint32_t family, struct error *err);

/* kv_guard.c: second names for files that are being taken in, and putting them back where they went missing. `names` are those
 * of all families. -1 when there is nothing to put back. */
MUST_CHECK int kv_guard_set(const struct kv *kv, const char *const *paths, size_t n, struct error *err);
void kv_guard_remove(const struct kv *kv);
MUST_CHECK int kv_guard_restore(const struct kv *kv, size_t n_families, const char *const *names, struct arena *scratch,
                                struct error *err);

/* kv_wal.c: whether a write-ahead log in `directory` ends in the middle of a record although a later one goes on. Errors:
 * ERR_IO, ERR_MEMORY, ERR_NOT_FOUND. */
MUST_CHECK int kv_wal_find_hole(const char *directory, bool *ret_has_hole, struct error *err);

/* kv_records.c: ERR_CORRUPT where a log or a manifest is damaged and RocksDB might go on without what follows. A record
 * that was not written whole is no damage. Errors: ERR_CORRUPT, ERR_IO, ERR_NOT_FOUND. */
MUST_CHECK int kv_records_check(const char *path, struct error *err);
/* The same for the manifest of a database. What keeps it from being read is left to RocksDB to say. Errors: ERR_CORRUPT,
 * ERR_MEMORY. */
MUST_CHECK int kv_records_check_manifest(const char *directory, struct error *err);
/* The manifest that CURRENT names; whether it is there is not looked at. Errors: ERR_CORRUPT, ERR_IO, ERR_NOT_FOUND,
 * ERR_MEMORY. */
MUST_CHECK int kv_records_find_manifest(const char *directory, char path[static KV_PATH_BYTES], struct error *err);
/* Calls `take` for each record of a log or a manifest that can be read, passing by what is damaged. Errors: ERR_IO,
 * ERR_NOT_FOUND, ERR_MEMORY, those of `take`. */
MUST_CHECK int kv_records_each(const char *path, int (*take)(void *context, struct slice record, struct error *err),
                               void *context, struct error *err);
/* Appends a record to `out`, which holds a manifest from its first byte on. */
void kv_records_append(struct buffer *out, struct slice record);

/* kv_wal.c: kv_records_check for all logs of a database. Errors: those of kv_records_check, ERR_MEMORY. */
MUST_CHECK int kv_wal_check(const char *directory, struct error *err);
/* kv_records_each for all logs of a database, oldest first. */
MUST_CHECK int kv_wal_each(const char *directory, int (*take)(void *context, struct slice record, struct error *err),
                           void *context, struct error *err);

/* kv_roster.c: the families of a database, by the numbers under which its logs know them. */
struct kv_roster {
    VEC(struct kv_roster_family {
        uint32_t id;
        const char *name; /* in the arena */
        bool is_dropped;
        bool is_new; /* not in the manifest with which the roster began */
    })
    families;
    struct map places; /* by id */
    struct arena arena;
};
void kv_roster_init(struct kv_roster *roster);
void kv_roster_done(struct kv_roster *roster);
/* Takes the families that a manifest names, and that it drops, as far as it can be read. Errors: those of
 * kv_records_each, ERR_LIMIT. */
MUST_CHECK int kv_roster_read_manifest(struct kv_roster *roster, const char *path, struct error *err);
/* Takes what another roster knows and this one does not: families as new ones, unless their name is taken, and that a family
 * was dropped. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int kv_roster_merge(struct kv_roster *roster, const struct kv_roster *other, struct error *err);
/* Takes the families that the logs in a directory write to and that the roster does not know, as new ones, by the names
 * that `namer` gives them. Errors: those of kv_wal_each, ERR_LIMIT. */
MUST_CHECK int kv_roster_read_logs(struct kv_roster *roster, const char *directory, const struct kv_namer *namer,
                                   struct error *err);
/* Adds to the manifest with which the roster began what came in since. Errors: ERR_IO, ERR_FULL, ERR_MEMORY. */
MUST_CHECK int kv_roster_write(const struct kv_roster *roster, const char *path, struct error *err);

/* kv_roster.c: what a record of a manifest says of a family and its tables. The record begins with id KV_DEFAULT. */
struct kv_edit {
    /* of all fields so far; the id comes behind the tables */
    uint64_t id;
    struct slice name;
    bool is_added, is_dropped;
    /* of the last field */
    uint64_t table, table_bytes;
    bool is_table_added, is_table_gone;
};
/* Reads one field; false where the record cannot be followed. */
bool kv_edit_next(struct slice *rest, struct kv_edit *edit);

/* kv_tables.c: the tables that a manifest has named. */
struct kv_table {
    uint64_t number, bytes, family;
    bool is_gone; /* the manifest takes it back */
    bool is_seen; /* by the database that is looked at */
};
struct kv_tables {
    VEC(struct kv_table) items;
    struct map places; /* by number */
    bool is_unclear;   /* not all of it could be read */
};
void kv_tables_init(struct kv_tables *tables);
void kv_tables_done(struct kv_tables *tables);
/* Reads the manifest of a database, which another process may write to. Whatever keeps it from being read is left to RocksDB
 * to say. Errors: ERR_MEMORY. */
MUST_CHECK int kv_tables_read(struct kv_tables *tables, const char *directory, struct error *err);
/* ERR_CORRUPT where a secondary does not see a table that is there since before it was opened. Errors: ERR_CORRUPT,
 * ERR_MEMORY. */
MUST_CHECK int kv_tables_check(struct kv_tables *before, const char *directory, rocksdb_t *db, struct error *err);

enum kv_use kv_use_of(const char *name);
/* Fills in all the ..options of `kv`, whose mode is set. */
void kv_make_options(struct kv *kv, const struct kv_shared *shared, const struct kv_options *options);
