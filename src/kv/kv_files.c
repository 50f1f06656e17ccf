// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/memory.h"
#include "kv/kv_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ROCKS_COMPACT_FORCE 3 /* BottommostLevelCompaction::kForceOptimized: each file once */

struct kv_sst {
    char *path;
    rocksdb_sstfilewriter_t *rocks;
    rocksdb_envoptions_t *env_options;
};

/* --- memtables and compaction --- */

static int flush_handle(struct kv *kv, rocksdb_column_family_handle_t *handle, struct error *err)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    char *text = NULL;

    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush_cf(kv->db, options, handle, &text);
    rocksdb_flushoptions_destroy(options);
    return kv_finish(kv, text, "flushing", err);
}

/* Holds the lock for reading while one family is flushed, so that it is not dropped meanwhile; dropped ones
 * are done. */
static int flush_if_there(struct kv *kv, uint32_t family, struct error *err)
{
    rocksdb_column_family_handle_t *handle;
    int result = 0;

    lock_rw_acquire_read(&kv->lock);
    handle = kv->families.items[family].handle;
    if (handle)
        result = flush_handle(kv, handle, err);
    lock_rw_release(&kv->lock);
    return result;
}

int kv_flush(struct kv *kv, uint32_t family, struct error *err)
{
    rocksdb_column_family_handle_t *handle;

    if (kv_check_is_writer(kv, err) < 0)
        return -1;
    if (family != KV_NO_FAMILY) {
        handle = kv_find_handle(kv, family, err);
        if (!handle)
            return -1;
        return flush_handle(kv, handle, err) < 0 ? kv_remember_failure(kv, err) : 0;
    }
    for (uint32_t i = 0; i < kv_families(kv); i++)
        if (flush_if_there(kv, i, err) < 0)
            return kv_remember_failure(kv, err);
    return 0;
}

int kv_compact(struct kv *kv, uint32_t family, struct error *err)
{
    return kv_compact_range(kv, family, slice_of(NULL, 0), slice_of(NULL, 0), err);
}

int kv_compact_range(struct kv *kv, uint32_t family, struct slice from, struct slice until, struct error *err)
{
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, err);
    rocksdb_compactoptions_t *options;

    if (!handle || kv_check_is_writer(kv, err) < 0)
        return -1;
    options = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
    rocksdb_compactoptions_set_bottommost_level_compaction(options, ROCKS_COMPACT_FORCE);
    rocksdb_compact_range_cf_opt(kv->db, handle, options, from.ptr, from.len, until.ptr, until.len);
    rocksdb_compactoptions_destroy(options);
    /* The call itself does not tell whether it worked. */
    if (kv_check_writable(kv, err) < 0)
        return error_wrap(err, "compacting");
    return 0;
}

int kv_catch_up(struct kv *kv, struct error *err)
{
    char *text = NULL;

    rocksdb_try_catch_up_with_primary(kv->db, &text);
    return kv_finish(kv, text, "catching up with", err);
}

/* --- files made outside --- */

int kv_sst_new(struct kv *kv, uint32_t family, const char *path, struct kv_sst **ret_sst, struct error *err)
{
    const char *name = kv_family_name(kv, family);
    size_t path_bytes = strlen(path) + 1;
    struct kv_sst *sst;
    char *text = NULL;

    if (!name)
        return error_set(err, ERR_CLOSED, "'%s' has no family %u: it was dropped", kv->path, family);
    /* The path lies behind the struct. */
    sst = memory_alloc_zero(sizeof(*sst) + path_bytes, err);
    if (!sst)
        return -1;
    sst->path = memcpy(sst + 1, path, path_bytes);
    sst->env_options = rocksdb_envoptions_create();
    sst->rocks = rocksdb_sstfilewriter_create(sst->env_options, kv->options[kv_use_of(name)]);
    rocksdb_sstfilewriter_open(sst->rocks, path, &text);
    if (kv_finish_file(text, "making", path, err) < 0) {
        kv_sst_free(sst);
        return -1;
    }
    *ret_sst = sst;
    return 0;
}

int kv_sst_put(struct kv_sst *sst, struct slice key, struct slice value, struct error *err)
{
    char *text = NULL;

    rocksdb_sstfilewriter_put(sst->rocks, key.ptr, key.len, value.ptr, value.len, &text);
    return kv_finish_file(text, "writing to", sst->path, err);
}

int kv_sst_delete_range(struct kv_sst *sst, struct slice from, struct slice until, struct error *err)
{
    char *text = NULL;

    rocksdb_sstfilewriter_delete_range(sst->rocks, from.ptr, from.len, until.ptr, until.len, &text);
    return kv_finish_file(text, "writing to", sst->path, err);
}

int kv_sst_finish(struct kv_sst *sst, uint64_t *ret_bytes, struct error *err)
{
    char *text = NULL;

    rocksdb_sstfilewriter_finish(sst->rocks, &text);
    if (kv_finish_file(text, "finishing", sst->path, err) < 0)
        return -1;
    rocksdb_sstfilewriter_file_size(sst->rocks, ret_bytes);
    return 0;
}

void kv_sst_free(struct kv_sst *sst)
{
    if (!sst)
        return;
    rocksdb_sstfilewriter_destroy(sst->rocks);
    rocksdb_envoptions_destroy(sst->env_options);
    memory_free(sst);
}

int kv_ingest(struct kv *kv, uint32_t family, const char *path, struct error *err)
{
    return kv_ingest_all(kv, family, &path, 1, err);
}

int kv_ingest_all(struct kv *kv, uint32_t family, const char *const *paths, size_t n, struct error *err)
{
    rocksdb_ingestexternalfileoptions_t *options;
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, err);
    char *text = NULL;

    if (!handle || kv_check_is_writer(kv, err) < 0 || kv_guard_set(kv, paths, n, err) < 0)
        return -1;
    options = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    rocksdb_ingestexternalfileoptions_set_snapshot_consistency(options, 1);
    rocksdb_ingestexternalfileoptions_set_allow_global_seqno(options, 1);
    rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(options, 1);
    rocksdb_ingest_external_file_cf(kv->db, handle, paths, n, options, &text);
    rocksdb_ingestexternalfileoptions_destroy(options);
    if (kv_finish_file(text, "taking in", paths[0], err) < 0)
        return error_wrap(err, "'%s'", kv->path);
    kv_guard_remove(kv);
    return 0;
}

/* The sequence is a property of the file, near its end: eight bytes behind the name. The checksum is made as if they were
 * zero. Keys and values of the file come before all properties. */
int kv_sst_renew(const char *path, struct error *err)
{
    static const char name[] = "_sst_file.global_seqno"; /* its beginning is that of the one before */
    enum { TAIL_BYTES = 16384, NAME_LEN = sizeof(name) - 1, VALUE_BYTES = 8 };
    static const char zeros[VALUE_BYTES];
    AUTO(fd_closep) int fd = -1;
    char tail[TAIL_BYTES];
    uint64_t bytes, from;
    size_t len, at;

    if (fs_size(path, &bytes, err) < 0 || fs_open(path, O_RDWR, 0, &fd, err) < 0)
        return -1;
    from = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;
    if (lseek(fd, (off_t)from, SEEK_SET) < 0)
        return error_set_errno(err, errno, "reading '%s'", path);
    if (fs_read(fd, tail, sizeof(tail), &len, err) < 0)
        return error_wrap(err, "reading '%s'", path);
    for (at = len; at > 0; at--)
        if (len - at >= NAME_LEN + VALUE_BYTES && memcmp(tail + at, name, NAME_LEN) == 0)
            break;
    if (!at)
        return error_set(err, ERR_NOT_FOUND, "'%s' was not made outside of a database", path);
    if (lseek(fd, (off_t)(from + at + NAME_LEN), SEEK_SET) < 0)
        return error_set_errno(err, errno, "writing '%s'", path);
    if (fs_write(fd, zeros, VALUE_BYTES, err) < 0)
        return error_wrap(err, "writing '%s'", path);
    return 0;
}

/* --- copies and numbers --- */

int kv_checkpoint(struct kv *kv, const char *path, struct error *err)
{
    rocksdb_checkpoint_t *checkpoint;
    char *text = NULL;

    if (kv_check_is_writer(kv, err) < 0)
        return -1;
    checkpoint = rocksdb_checkpoint_object_create(kv->db, &text);
    if (kv_finish(kv, text, "copying", err) < 0)
        return -1;
    rocksdb_checkpoint_create(checkpoint, path, 0, &text);
    rocksdb_checkpoint_object_destroy(checkpoint);
    /* It flushes first: after a failed one RocksDB tries to recover by itself, and aborts if it is used meanwhile. */
    if (kv_finish(kv, text, "copying", err) < 0)
        return err->code == ERR_EXISTS ? -1 : kv_remember_failure(kv, err);
    return 0;
}

uint64_t kv_property(struct kv *kv, uint32_t family, const char *name)
{
    rocksdb_column_family_handle_t *handle = kv_handle(kv, family);
    uint64_t value = 0;

    if (!handle || rocksdb_property_int_cf(kv->db, handle, name, &value) < 0)
        return 0;
    return value;
}

uint64_t kv_family_bytes(struct kv *kv, uint32_t family)
{
    return kv_property(kv, family, "rocksdb.live-sst-files-size");
}

uint64_t kv_range_bytes(struct kv *kv, uint32_t family, struct slice from, struct slice until)
{
    struct error err;
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, &err);
    const char *starts[] = { from.ptr }, *ends[] = { until.ptr };
    const size_t start_lens[] = { from.len }, end_lens[] = { until.len };
    uint64_t size = 0;
    char *text = NULL;

    if (!handle)
        return 0;
    rocksdb_approximate_sizes_cf(kv->db, handle, 1, starts, start_lens, ends, end_lens, &size, &text);
    if (text)
        rocksdb_free(text);
    return text ? 0 : size;
}

void kv_drop_keyless_files(struct kv *kv)
{
    const rocksdb_livefiles_t *files = rocksdb_livefiles(kv->db);
    int n = rocksdb_livefiles_count(files);

    for (int i = 0; i < n; i++) {
        size_t len;

        rocksdb_livefiles_smallestkey(files, i, &len);
        if (len == 0)
            rocksdb_delete_file(kv->db, rocksdb_livefiles_name(files, i));
    }
    rocksdb_livefiles_destroy(files);
}
