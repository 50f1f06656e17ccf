// SPDX-License-Identifier: Apache-2.0
/* What the files of kv share: the database with its table of families, and how a call of RocksDB ends.
 *
 *     kv.c            errors, opening and closing, families
 *     kv_settings.c   RocksDB's settings, what all databases of a process share
 *     kv_data.c       keys and values: get, batches, snapshots, iterators
 *     kv_files.c      files: flush, compaction, SST files, copies, sizes */
#pragma once

#include "base/lock.h"
#include "base/vec.h"
#include "kv/kv.h"

#include <rocksdb/c.h>

#define KV_USES 3

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
/* NULL with ERR_CLOSED if it was dropped. */
MUST_CHECK rocksdb_column_family_handle_t *kv_find_handle(struct kv *kv, uint32_t family, struct error *err);

enum kv_use kv_use_of(const char *name);
/* Fills in all the ..options of `kv`, whose mode is set. */
void kv_make_options(struct kv *kv, const struct kv_shared *shared, const struct kv_options *options);
