// SPDX-License-Identifier: Apache-2.0
#include "kv/kv.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kv/kv_internal.h"

#include <stdio.h>

/* Numbers of dropped families are not used again, so this is for as long as a database is open. */
#define MAX_FAMILIES       (1u << 16)
#define SECONDARY_ATTEMPTS 5

/* --- errors --- */

/* What RocksDB's texts contain, and what that means to us (K2). The first row that fits decides. */
static const struct {
    const char *words;
    enum error_code code;
} meanings[] = {
    { "No space left on device", ERR_FULL },
    { "Disk quota exceeded", ERR_FULL },
    { "While lock file", ERR_BUSY },
    { "lock hold by current process", ERR_BUSY },
    { "lock : ", ERR_BUSY },
    { "Column family already exists", ERR_EXISTS },
    { "Directory exists", ERR_EXISTS },
    { "Column family not found", ERR_CLOSED },
    { "Column family has been dropped", ERR_CLOSED },
    { "Invalid column family specified", ERR_CLOSED },
    { "Column family dropped", ERR_CLOSED },
};

static enum error_code code_of(const char *text, enum error_code missing)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (strstr(text, meanings[i].words))
            return meanings[i].code;
    if (slice_starts_with(slice_from(text), SLICE("Corruption")))
        return ERR_CORRUPT;
    return strstr(text, "No such file or directory") ? missing : ERR_IO;
}

static int finish_call(char *text, enum error_code missing, const char *doing, const char *path, struct error *err)
{
    if (!text)
        return 0;
    error_set(err, code_of(text, missing), "%s '%s': %s", doing, path, text);
    rocksdb_free(text);
    return -1;
}

int kv_finish(const struct kv *kv, char *text, const char *doing, struct error *err)
{
    /* A database that is not there was found out before it was opened, so what is missing is one of its files. */
    return finish_call(text, kv->mode == KV_SECONDARY ? ERR_CLOSED : ERR_CORRUPT, doing, kv->path, err);
}

int kv_finish_file(char *text, const char *doing, const char *path, struct error *err)
{
    return finish_call(text, ERR_NOT_FOUND, doing, path, err);
}

/* After a write that failed, builds of RocksDB with assertions, such as Debian's, abort at the next one to the same log: it
 * is not asked again before the database was closed. */
int kv_check_is_writer(struct kv *kv, struct error *err)
{
    if (kv->mode != KV_WRITE)
        return error_set(err, ERR_DENIED, "'%s' was opened for reading only", kv->path);
    lock_rw_acquire_read(&kv->lock);
    *err = kv->failed_write;
    lock_rw_release(&kv->lock);
    return err->code == ERR_OK ? 0 : -1;
}

/* --- opening and closing --- */

/* The families to open, `default` first. */
struct family_list {
    const char **names;
    size_t n;
};

static int check_is_there(const char *path, struct error *err)
{
    char current[4096];
    struct stat info;
    int n = snprintf(current, sizeof(current), "%s/CURRENT", path);

    if (n < 0 || (size_t)n >= sizeof(current))
        return error_set(err, ERR_INVALID, "the path of a database has %zu bytes, at most %zu are allowed",
                         strlen(path), sizeof(current) - sizeof("/CURRENT"));
    if (fs_stat(current, &info, err) < 0)
        return error_wrap(err, "looking for the database '%s'", path);
    return 0;
}

/* RocksDB would take a directory that has lost its CURRENT for a new one, and remove the files that are in it. Before a
 * new database has its CURRENT, it has neither a table nor a log of writes. */
static int check_is_new(const char *path, struct arena *scratch, struct error *err)
{
    struct fs_listing listing;

    if (fs_list(path, scratch, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        struct slice name = slice_from(listing.names[i]);

        if (slice_ends_with(name, SLICE(".sst")) || slice_ends_with(name, SLICE(".log")))
            return error_set(err, ERR_CORRUPT, "'%s' has data ('%s') but no file CURRENT: move it away, or repair it",
                             path, listing.names[i]);
    }
    return 0;
}

/* Adds `name` unless it is there. The array has room. */
static void add_name(struct family_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return;
    list->names[list->n++] = name;
}

static int copy_names(char *const *found, size_t n_found, bool needs_block, struct arena *scratch,
                      struct family_list *ret_list, struct error *err)
{
    struct family_list list = { .names = ARENA_ARRAY(scratch, const char *, n_found + 2, err) };

    if (!list.names)
        return -1;
    add_name(&list, "default");
    for (size_t i = 0; i < n_found; i++) {
        struct slice copy = arena_copy(scratch, slice_from(found[i]), err);

        if (!copy.ptr)
            return -1;
        add_name(&list, copy.ptr);
    }
    if (needs_block)
        add_name(&list, "block");
    *ret_list = list;
    return 0;
}

/* The list is made even where the call fails, and is ours to free. */
static int list_existing(const struct kv *kv, struct arena *scratch, struct family_list *ret_list, struct error *err)
{
    char *text = NULL;
    size_t n;
    char **names = rocksdb_list_column_families(kv->options[KV_INDEX], kv->path, &n, &text);
    int result = kv_finish(kv, text, "listing the families of", err);

    if (result == 0)
        result = copy_names(names, n, kv->mode == KV_WRITE, scratch, ret_list, err);
    rocksdb_list_column_families_destroy(names, n);
    return result;
}

int kv_has_family(const char *path, const char *beginning, bool *ret_has, struct error *err)
{
    rocksdb_options_t *options;
    char *text = NULL, **names;
    size_t n = 0;
    int result;

    if (check_is_there(path, err) < 0)
        return -1;
    options = rocksdb_options_create();
    names = rocksdb_list_column_families(options, path, &n, &text);
    result = finish_call(text, ERR_CORRUPT, "listing the families of", path, err);
    if (result == 0)
        *ret_has = false;
    for (size_t i = 0; result == 0 && i < n; i++)
        *ret_has |= strncmp(names[i], beginning, strlen(beginning)) == 0;
    rocksdb_list_column_families_destroy(names, n);
    rocksdb_options_destroy(options);
    return result;
}

static int list_families(const struct kv *kv, struct arena *scratch, struct family_list *ret_list, struct error *err)
{
    struct error lost;

    if (check_is_there(kv->path, err) == 0)
        return list_existing(kv, scratch, ret_list, err);
    if (err->code != ERR_NOT_FOUND)
        return -1;
    if (kv->mode != KV_WRITE) {
        if (check_is_new(kv->path, scratch, &lost) < 0 && lost.code == ERR_CORRUPT)
            *err = lost;
        return -1;
    }
    if (fs_make_directories(kv->path, 0755, err) < 0 || check_is_new(kv->path, scratch, err) < 0)
        return -1;
    return copy_names(NULL, 0, true, scratch, ret_list, err);
}

static int open_rocks(struct kv *kv, const struct kv_options *options, const struct family_list *list,
                      const rocksdb_options_t *const *family_options, rocksdb_column_family_handle_t **handles,
                      struct error *err)
{
    const rocksdb_options_t *db_options = kv->options[KV_INDEX];
    char *text = NULL;

    switch (kv->mode) {
    case KV_WRITE:
        kv->db = rocksdb_open_column_families(db_options, kv->path, (int)list->n, list->names, family_options, handles,
                                              &text);
        break;
    case KV_READ_ONLY:
        kv->db = rocksdb_open_for_read_only_column_families(db_options, kv->path, (int)list->n, list->names,
                                                            family_options, handles, 0, &text);
        break;
    case KV_SECONDARY:
        kv->db = rocksdb_open_as_secondary_column_families(db_options, kv->path, options->secondary_dir, (int)list->n,
                                                           list->names, family_options, handles, &text);
        break;
    }
    return kv_finish(kv, text, "opening", err);
}

/* Nothing may fail between opening and keeping the handles, so everything is made before. */
static int open_families(struct kv *kv, const struct kv_options *options, const struct family_list *list,
                         struct arena *scratch, struct error *err)
{
    rocksdb_column_family_handle_t **handles = ARENA_ARRAY(scratch, rocksdb_column_family_handle_t *, list->n, err);
    const rocksdb_options_t **family_options = ARENA_ARRAY(scratch, const rocksdb_options_t *, list->n, err);

    if (!handles || !family_options)
        return -1;
    for (size_t i = kv->families.n; i < list->n; i++)
        if (!VEC_PUSH(&kv->families, MAX_FAMILIES, err))
            return -1;
    kv->families.n = list->n;
    for (size_t i = 0; i < list->n; i++) {
        struct kv_family *family = &kv->families.items[i];
        size_t size_bytes = strlen(list->names[i]) + 1;

        memory_free(TAKE(family->name));
        family->name = memory_alloc(size_bytes, err);
        if (!family->name)
            return -1;
        memcpy(family->name, list->names[i], size_bytes);
        family_options[i] = kv->options[kv_use_of(family->name)];
    }
    if (open_rocks(kv, options, list, family_options, handles, err) < 0)
        return -1;
    for (size_t i = 0; i < list->n; i++)
        kv->families.items[i].handle = handles[i];
    return 0;
}

static int open_once(struct kv *kv, const struct kv_options *options, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    struct family_list list;
    struct error restoring;
    int result;

    arena_init(&scratch, 0);
    if (list_families(kv, &scratch, &list, err) < 0)
        return -1;
    result = open_families(kv, options, &list, &scratch, err);
    if (result < 0 && err->code == ERR_CORRUPT && kv->mode != KV_SECONDARY &&
        kv_guard_restore(kv, list.n, list.names, &scratch, &restoring) == 0)
        result = open_families(kv, options, &list, &scratch, err);
    if (result == 0 && kv->mode != KV_SECONDARY)
        kv_guard_remove(kv);
    return result;
}

static uint64_t read_identity(const char *path)
{
    char name[4096];
    struct buffer text;
    struct error err;
    uint64_t identity;

    buffer_init(&text, sizeof(name));
    buffer_append_slice(&text, slice_from(path));
    snprintf(name, sizeof(name), "%s/IDENTITY", path);
    IGNORE(fs_read_file(name, sizeof(name) / 2, &text, &err), "then the path tells it");
    identity = hash_bytes(buffer_slice(&text), 0).a;
    buffer_done(&text);
    return identity;
}

/* Looks for a hole in the write-ahead log before RocksDB would take in what is around it. Logs that a killed process has
 * not removed yet may seem to have one: nothing is left out for these. */
static int look_for_hole(struct kv *kv, enum kv_recovery recovery, struct error *err)
{
    struct stat info;
    struct error none;

    if (kv->mode == KV_SECONDARY || recovery != KV_PREFIX || fs_stat(kv->path, &info, &none) < 0)
        return 0;
    return kv_wal_find_hole(kv->path, &kv->ends_at_hole, err);
}

/* Looks for damage that RocksDB might not tell from an end. Who wants what there is takes what is left of a log; those who
 * only look on take an older list of files, too. */
static int look_for_damage(struct kv *kv, enum kv_recovery recovery, struct error *err)
{
    struct stat info;
    struct error none;

    if (fs_stat(kv->path, &info, &none) < 0)
        return 0;
    if (recovery == KV_SALVAGE)
        return kv->mode == KV_SECONDARY ? 0 : kv_records_check_manifest(kv->path, err);
    if (kv_records_check_manifest(kv->path, err) < 0)
        return -1;
    /* Others may write to a log while a secondary looks at it. */
    return kv->mode == KV_SECONDARY ? 0 : kv_wal_check(kv->path, err);
}

/* CURRENT names a manifest that is not there: whoever writes has both at all times. */
static bool lacks_manifest(const struct kv *kv)
{
    char manifest[KV_PATH_BYTES];
    struct stat info;
    struct error err;

    return kv_records_find_manifest(kv->path, manifest, &err) == 0 && fs_stat(manifest, &info, &err) < 0 &&
           err.code == ERR_NOT_FOUND;
}

/* The writer may drop a family or a file while a secondary opens it: then it is looked at afresh. */
static int open_secondary(struct kv *kv, const struct kv_options *options, struct error *err)
{
    AUTO(kv_tables_done) struct kv_tables tables;
    int attempts = SECONDARY_ATTEMPTS;

    kv_tables_init(&tables);
    if (kv_tables_read(&tables, kv->path, err) < 0)
        return -1;
    while (open_once(kv, options, err) < 0) {
        if (err->code == ERR_CLOSED && --attempts > 0)
            continue;
        if (err->code == ERR_CLOSED && lacks_manifest(kv))
            err->code = ERR_CORRUPT;
        return -1;
    }
    return options->recovery == KV_SALVAGE ? 0 : kv_tables_check(&tables, kv->path, kv->db, err);
}

int kv_open(struct kv_shared *shared, const char *path, const struct kv_options *options, struct kv **ret_kv,
            struct error *err)
{
    AUTO(kv_closep) struct kv *kv = MEMORY_NEW(struct kv, err);
    size_t path_bytes = strlen(path) + 1;

    if (!kv)
        return -1;
    lock_rw_init(&kv->lock, LOCK_STORE_KV);
    kv->mode = options->mode;
    kv->is_unsynced = options->is_unsynced;
    kv->path = memory_alloc(path_bytes, err);
    if (!kv->path)
        return -1;
    memcpy(kv->path, path, path_bytes);
    if (look_for_hole(kv, options->recovery, err) < 0 || look_for_damage(kv, options->recovery, err) < 0)
        return -1;
    kv_make_options(kv, shared, options);
    if ((kv->mode == KV_SECONDARY ? open_secondary(kv, options, err) : open_once(kv, options, err)) < 0)
        return -1;
    kv->identity = read_identity(path);
    *ret_kv = TAKE(kv);
    return 0;
}

void kv_close(struct kv *kv)
{
    if (!kv)
        return;
    VEC_EACH (&kv->families, family) {
        if (family->handle)
            rocksdb_column_family_handle_destroy(family->handle);
        memory_free(family->name);
    }
    VEC_DONE(&kv->families);
    if (kv->db)
        rocksdb_close(kv->db);
    for (size_t i = 0; i < KV_USES; i++)
        if (kv->options[i])
            rocksdb_options_destroy(kv->options[i]);
    if (kv->read_options)
        rocksdb_readoptions_destroy(kv->read_options);
    if (kv->write_options)
        rocksdb_writeoptions_destroy(kv->write_options);
    if (kv->synced_write_options)
        rocksdb_writeoptions_destroy(kv->synced_write_options);
    lock_rw_done(&kv->lock);
    memory_free(kv->path);
    memory_free(kv);
}

void kv_closep(struct kv **kv)
{
    kv_close(*kv);
}

/* --- families --- */

rocksdb_column_family_handle_t *kv_handle(struct kv *kv, uint32_t family)
{
    rocksdb_column_family_handle_t *handle = NULL;

    lock_rw_acquire_read(&kv->lock);
    if (family < kv->families.n)
        handle = kv->families.items[family].handle;
    lock_rw_release(&kv->lock);
    return handle;
}

rocksdb_column_family_handle_t *kv_find_handle(struct kv *kv, uint32_t family, struct error *err)
{
    rocksdb_column_family_handle_t *handle = kv_handle(kv, family);

    if (!handle)
        error_set(err, ERR_CLOSED, "'%s' has no family %u: it was dropped", kv->path, family);
    return handle;
}

uint32_t kv_family_find(struct kv *kv, const char *name)
{
    uint32_t found = KV_NO_FAMILY;

    lock_rw_acquire_read(&kv->lock);
    for (uint32_t i = 0; i < kv->families.n && found == KV_NO_FAMILY; i++)
        if (kv->families.items[i].handle && strcmp(kv->families.items[i].name, name) == 0)
            found = i;
    lock_rw_release(&kv->lock);
    return found;
}

uint32_t kv_families(struct kv *kv)
{
    uint32_t n;

    lock_rw_acquire_read(&kv->lock);
    n = (uint32_t)kv->families.n;
    lock_rw_release(&kv->lock);
    return n;
}

const char *kv_family_name(struct kv *kv, uint32_t family)
{
    const char *name = NULL;

    lock_rw_acquire_read(&kv->lock);
    if (family < kv->families.n && kv->families.items[family].handle)
        name = kv->families.items[family].name;
    lock_rw_release(&kv->lock);
    return name;
}

/* A number with a name and no handle yet: for everybody else a family that was dropped. Takes `name` unless
 * it fails. */
static int reserve_family(struct kv *kv, char *name, uint32_t *ret_family, struct error *err)
{
    struct kv_family *family;

    lock_rw_acquire_write(&kv->lock);
    family = VEC_PUSH(&kv->families, MAX_FAMILIES, err);
    if (family) {
        family->name = name;
        *ret_family = (uint32_t)kv->families.n - 1;
    }
    lock_rw_release(&kv->lock);
    return family ? 0 : -1;
}

static void set_handle(struct kv *kv, uint32_t family, rocksdb_column_family_handle_t *handle)
{
    lock_rw_acquire_write(&kv->lock);
    kv->families.items[family].handle = handle;
    lock_rw_release(&kv->lock);
}

int kv_family_create(struct kv *kv, const char *name, uint32_t *ret_family, struct error *err)
{
    rocksdb_column_family_handle_t *handle;
    size_t size_bytes = strlen(name) + 1;
    char *copy, *text = NULL;
    uint32_t family;

    if (kv_check_is_writer(kv, err) < 0)
        return -1;
    copy = memory_alloc(size_bytes, err);
    if (!copy)
        return -1;
    memcpy(copy, name, size_bytes);
    if (reserve_family(kv, copy, &family, err) < 0) {
        memory_free(copy);
        return error_wrap(err, "making the family '%s' in '%s'", name, kv->path);
    }
    /* This writes and syncs files, so nobody is kept waiting for the lock meanwhile. */
    handle = rocksdb_create_column_family(kv->db, kv->options[kv_use_of(name)], name, &text);
    if (kv_finish(kv, text, "making a family in", err) < 0) {
        rocksdb_column_family_handle_destroy(handle);
        return -1;
    }
    set_handle(kv, family, handle);
    *ret_family = family;
    return 0;
}

int kv_family_drop(struct kv *kv, uint32_t family, struct error *err)
{
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, err);
    char *text = NULL;

    if (!handle || kv_check_is_writer(kv, err) < 0)
        return -1;
    set_handle(kv, family, NULL);
    rocksdb_drop_column_family(kv->db, handle, &text);
    if (kv_finish(kv, text, "dropping a family of", err) < 0) {
        set_handle(kv, family, handle);
        return -1;
    }
    rocksdb_column_family_handle_destroy(handle);
    return 0;
}

uint64_t kv_identity(const struct kv *kv)
{
    return kv->identity;
}

const char *kv_path(const struct kv *kv)
{
    return kv->path;
}
