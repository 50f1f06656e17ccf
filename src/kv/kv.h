// SPDX-License-Identifier: Apache-2.0
/* RocksDB behind one door: its C API with our errors, and the settings every database of ours shares.
 *
 * K1  All databases of a process share one kv_shared: one block cache.
 * K2  Errors say what was done to which directory. "Corruption" or a lost file is ERR_CORRUPT, "No space left on
 *     device" is ERR_FULL, a database that is not there is ERR_NOT_FOUND, one held by another process is ERR_BUSY, a
 *     column family that vanished or a file that is gone under a secondary is ERR_CLOSED (open again), a change to one
 *     that was opened for reading is ERR_DENIED, everything else ERR_IO.
 * K3  Thread: any, except that an iterator, a batch and an SST writer belong to one thread at a time. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

struct kv_shared;
struct kv;
struct kv_batch;
struct kv_iterator;
struct kv_sst;

/* `cache_bytes` bounds the block cache (index and filter blocks live in it, too). Errors: ERR_MEMORY. */
MUST_CHECK int kv_shared_new(uint64_t cache_bytes, struct kv_shared **ret_shared, struct error *err);
/* All databases must be closed. Accepts NULL. */
void kv_shared_free(struct kv_shared *shared);
uint64_t kv_shared_cache_used_bytes(const struct kv_shared *shared);

enum kv_mode {
    KV_WRITE,     /* the only process that has it open; creates it if missing */
    KV_READ_ONLY, /* nobody writes: a day of the past */
    KV_SECONDARY, /* another process may write: a moment of its life, see kv_catch_up */
};
enum kv_recovery {
    KV_STRICT, /* a damaged WAL (but for a torn end) is ERR_CORRUPT */
    KV_PREFIX, /* the same, but where others follow a torn end they are left out: for those who do not sync each write */
    KV_SALVAGE, /* take from a damaged WAL what can be read; KV_READ_ONLY also takes tables for others of their name */
};

struct kv_options {
    enum kv_mode mode;
    enum kv_recovery recovery;
    const char *secondary_dir; /* KV_SECONDARY: an empty directory of our own, for its log */
    uint64_t memtable_bytes;   /* of all families together; at least 1 MiB */
    bool is_unsynced;          /* tests only */
};

/* What a family is for decides its settings: */
enum kv_use {
    KV_INDEX, /* small records read by key: bloom filter, zstd, leveled compaction that waits for 20 files */
    KV_BLOCK, /* large values that are packed already: no compression, compaction only when many files pile up */
    KV_HEAD,  /* written once, read once, dropped: no compression, no compaction at all, no filter */
};

/* Opens the database at `path` with all the families it has; `default` is KV_INDEX, `block` is KV_BLOCK, names that
 * begin with "head-" are KV_HEAD. With KV_WRITE the family `block` is made if it is missing. The database is not
 * shared: whoever closes it must be the last to use it. Errors: see K2. */
MUST_CHECK int kv_open(struct kv_shared *shared, const char *path, const struct kv_options *options, struct kv **ret_kv,
                       struct error *err);
/* Whether the database at `path`, which need not be open, has a family whose name begins with `beginning`. Reads its list of
 * files, nothing else. Errors: see K2. */
MUST_CHECK int kv_has_family(const char *path, const char *beginning, bool *ret_has, struct error *err);
void kv_close(struct kv *kv);
void kv_closep(struct kv **kv);

/* Its directory. */
const char *kv_path(const struct kv *kv);
/* A number that tells databases apart, also those that stood at this path before: from RocksDB's file IDENTITY, or
 * from the path alone if that cannot be read. */
uint64_t kv_identity(const struct kv *kv);

/* Families by dense numbers: 0 is default. */
#define KV_NO_FAMILY UINT32_MAX
#define KV_DEFAULT   0u
uint32_t kv_family_find(struct kv *kv, const char *name);
uint32_t kv_families(struct kv *kv); /* how many numbers are in use; dropped ones are among them */
const char *kv_family_name(struct kv *kv, uint32_t family); /* NULL: dropped; the text lives as long as the database */
/* Errors: K2, ERR_EXISTS, ERR_LIMIT (65,536 numbers). */
MUST_CHECK int kv_family_create(struct kv *kv, const char *name, uint32_t *ret_family, struct error *err);
/* Drops the family and its files; the number is not used again. Nobody may be using it: the caller sees to that. */
MUST_CHECK int kv_family_drop(struct kv *kv, uint32_t family, struct error *err);

/* Appends the value of `key` to `into`. Errors: K2. */
MUST_CHECK int kv_get(struct kv *kv, uint32_t family, struct slice key, struct buffer *into, bool *ret_found,
                      struct error *err);

MUST_CHECK int kv_batch_new(struct kv_batch **ret_batch, struct error *err);
void kv_batch_free(struct kv_batch *batch);
void kv_batch_clear(struct kv_batch *batch);
uint32_t kv_batch_count(const struct kv_batch *batch);
size_t kv_batch_bytes(const struct kv_batch *batch);
void kv_batch_put(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice key, struct slice value);
void kv_batch_delete(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice key);
/* Deletes all keys in [from, until). */
void kv_batch_delete_range(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice from,
                           struct slice until);
/* All of the batch or nothing, in the WAL when this returns; with `is_synced` on the disk. */
MUST_CHECK int kv_write(struct kv *kv, struct kv_batch *batch, bool is_synced, struct error *err);
/* The WAL to the disk. After a failed write it fails as that did. */
MUST_CHECK int kv_sync(struct kv *kv, struct error *err);
/* Memtables of a family (or of all: KV_NO_FAMILY) to files; waits. */
MUST_CHECK int kv_flush(struct kv *kv, uint32_t family, struct error *err);
/* Rewrites a family so that deleted keys are gone from disk; waits. */
MUST_CHECK int kv_compact(struct kv *kv, uint32_t family, struct error *err);
/* The same for the keys in [from, until]; empty = no end. */
MUST_CHECK int kv_compact_range(struct kv *kv, uint32_t family, struct slice from, struct slice until,
                                struct error *err);
/* KV_SECONDARY: sees what was written meanwhile. Errors: ERR_CLOSED: open again. */
MUST_CHECK int kv_catch_up(struct kv *kv, struct error *err);
/* 0, or -1 with the background error that stopped writing (ERR_FULL, ERR_IO ...): the database must be closed and
 * opened again. */
MUST_CHECK int kv_check_writable(struct kv *kv, struct error *err);

/* A frozen look at the database, shared by iterators and gets made with it. */
struct kv_snapshot;
MUST_CHECK int kv_snapshot_new(struct kv *kv, struct kv_snapshot **ret_snapshot, struct error *err);
void kv_snapshot_free(struct kv_snapshot *snapshot);
/* As kv_get, of that moment; pushes nothing out of the cache. */
MUST_CHECK int kv_get_at(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice key,
                         struct buffer *into, bool *ret_found, struct error *err);

/* Walks the keys of a family that begin with `prefix` (empty: all), rising. `snapshot` may be NULL. Big scans set
 * `is_scan`, so that they do not push everything else out of the cache. The prefix is copied. */
MUST_CHECK int kv_iterator_new(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice prefix,
                               bool is_scan, struct kv_iterator **ret_iterator, struct error *err);
/* The same for whoever wants little here and there of much: nothing is read ahead, nothing is pushed out of the cache, and
 * it stands on no key until it is told where to go. */
MUST_CHECK int kv_iterator_new_sparse(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot,
                                      struct slice prefix, struct kv_iterator **ret_iterator, struct error *err);
void kv_iterator_free(struct kv_iterator *iterator);
void kv_iterator_freep(struct kv_iterator **iterator);
/* Goes to the first key >= `key` / the last one <= `key`, within the prefix. */
void kv_iterator_seek(struct kv_iterator *iterator, struct slice key);
void kv_iterator_seek_back(struct kv_iterator *iterator, struct slice key);
void kv_iterator_next(struct kv_iterator *iterator);
/* Whether it stands on a key. A new iterator stands on the first. */
bool kv_iterator_is_valid(const struct kv_iterator *iterator);
/* Valid until the iterator moves. */
struct slice kv_iterator_key(const struct kv_iterator *iterator);
struct slice kv_iterator_value(const struct kv_iterator *iterator);
/* 0 when it stopped because there was nothing more, -1 when reading failed. To be asked at the end of every walk. */
MUST_CHECK int kv_iterator_check(const struct kv_iterator *iterator, struct error *err);
/* Where a move ended in ERR_CORRUPT: goes to the first key behind the damage that can be reached. `before` is the key it
 * stood on before, or where the walk began; at most KV_PASS_KEY_BYTES of it count. `*ret_has` is false when nothing
 * behind the damage can be read. Errors: those of K2 but ERR_CORRUPT. */
#define KV_PASS_KEY_BYTES 40
MUST_CHECK int kv_iterator_pass_damage(struct kv_iterator *iterator, struct slice before, bool *ret_has,
                                       struct error *err);

/* A file of sorted keys made outside the database and then taken in whole. Keys must rise. */
MUST_CHECK int kv_sst_new(struct kv *kv, uint32_t family, const char *path, struct kv_sst **ret_sst, struct error *err);
MUST_CHECK int kv_sst_put(struct kv_sst *sst, struct slice key, struct slice value, struct error *err);
/* Deletes all keys in [from, until) of files that are older. */
MUST_CHECK int kv_sst_delete_range(struct kv_sst *sst, struct slice from, struct slice until, struct error *err);
/* Writes the end of the file and syncs it. */
MUST_CHECK int kv_sst_finish(struct kv_sst *sst, uint64_t *ret_bytes, struct error *err);
void kv_sst_free(struct kv_sst *sst);
/* Moves the finished file at `path` into the family, all at once; survives power loss when it returns. */
MUST_CHECK int kv_ingest(struct kv *kv, uint32_t family, const char *path, struct error *err);
/* The same for several files whose ranges of keys do not overlap: all of them or none. */
MUST_CHECK int kv_ingest_all(struct kv *kv, uint32_t family, const char *const *paths, size_t n, struct error *err);

/* Makes the file at `path`, a copy of one that a database took in, such that it can be taken in again: the place among other
 * writes that it was given is forgotten. Errors: ERR_NOT_FOUND: it has none; ERR_IO. */
MUST_CHECK int kv_sst_renew(const char *path, struct error *err);

/* Removes files that hold nothing by their own account: what RocksDB 7.8 makes of a file it takes in while it cannot read
 * it. Left alone, they make every later compaction fail. */
void kv_drop_keyless_files(struct kv *kv);

/* Names the family `id` of which nothing is left but writes in a log, by the key of one of them; false if that key does not
 * tell. A name that another family has does not count. */
#define KV_NAME_BYTES 64
struct kv_namer {
    void *context;
    bool (*name)(void *context, uint32_t id, struct slice key, char ret_name[static KV_NAME_BYTES]);
};
/* Makes a database of the files at `path`, which nobody has open and whose manifest may be damaged or missing: of the
 * tables that can be read from the first byte to the last, with the families that they say they belong to, and those that
 * the logs write to. These are named by what can be read of the manifest, else by `namer`. Other tables are moved into
 * `path`/lost, the logs into `path`/logs. For copies: what is deleted elsewhere may come back. Errors: see K2. */
MUST_CHECK int kv_repair(struct kv_shared *shared, const char *path, const struct kv_namer *namer, struct error *err);
/* Moves the logs back, after which the database is to be opened KV_READ_ONLY alone. Errors: ERR_IO, ERR_MEMORY. */
MUST_CHECK int kv_repair_logs(const char *path, struct error *err);

/* A consistent copy at `path` (must not exist: ERR_EXISTS), files hard-linked where they can be. Flushes first. */
MUST_CHECK int kv_checkpoint(struct kv *kv, const char *path, struct error *err);

/* What RocksDB wrote of this database since it was opened for writing, by its own count, without files taken in. */
struct kv_io {
    uint64_t wal_bytes;
    uint64_t flush_bytes;
    uint64_t compaction_bytes;
};
struct kv_io kv_io(const struct kv *kv);

/* A number RocksDB knows of a family ("rocksdb.cur-size-all-mem-tables", ...); 0 if it does not. */
uint64_t kv_property(struct kv *kv, uint32_t family, const char *name);
/* About how many bytes of files the keys in [from, until) of a family take. */
uint64_t kv_range_bytes(struct kv *kv, uint32_t family, struct slice from, struct slice until);
/* Bytes in files (SST) of a family. */
uint64_t kv_family_bytes(struct kv *kv, uint32_t family);
