// SPDX-License-Identifier: Apache-2.0
/* For tests with a RocksDB: small databases below the test's directory, and ways to damage them. */
#pragma once

#include "base/arena.h"
#include "base/fs.h"
#include "base/test.h"
#include "kv/kv.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A path below the test's directory; each call gives another of a few buffers. */
static inline const char *kv_fixture_path(const char *name)
{
    static char paths[8][300];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", test_directory(), name);
    return path;
}

static inline struct kv_shared *kv_fixture_shared(void)
{
    struct kv_shared *shared;
    struct error err;

    CHECK_OK(kv_shared_new(4 << 20, &shared, &err), &err);
    return shared;
}

static inline int kv_fixture_try_open(struct kv_shared *shared, const char *name, enum kv_mode mode, struct kv **ret_kv,
                                      struct error *err)
{
    struct kv_options options = {
        .mode = mode,
        .secondary_dir = kv_fixture_path("secondary"),
        .memtable_bytes = 1 << 20,
        .is_unsynced = true,
    };

    return kv_open(shared, kv_fixture_path(name), &options, ret_kv, err);
}

static inline struct kv *kv_fixture_open(struct kv_shared *shared, const char *name, enum kv_mode mode)
{
    struct kv *kv;
    struct error err;

    CHECK_OK(kv_fixture_try_open(shared, name, mode, &kv, &err), &err);
    return kv;
}

static inline void kv_fixture_put(struct kv *kv, uint32_t family, const char *key, const char *value)
{
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, family, slice_from(key), slice_from(value));
    CHECK_OK(kv_write(kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

/* The value of a key, or "(none)". */
static inline const char *kv_fixture_get(struct kv *kv, uint32_t family, const char *key)
{
    static char text[256];
    AUTO(buffer_done) struct buffer value;
    struct error err;
    bool found;

    buffer_init(&value, sizeof(text) - 1);
    CHECK_OK(kv_get(kv, family, slice_from(key), &value, &found, &err), &err);
    snprintf(text, sizeof(text), "%.*s", SLICE_ARG(buffer_slice(&value)));
    return found ? text : "(none)";
}

/* The keys that begin with `prefix`, joined by spaces. */
static inline const char *kv_fixture_keys(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot,
                                          const char *prefix)
{
    static char joined[512];
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct error err;

    joined[0] = '\0';
    CHECK_OK(kv_iterator_new(kv, family, snapshot, slice_from(prefix), false, &iterator, &err), &err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%.*s", joined[0] ? " " : "",
                 SLICE_ARG(kv_iterator_key(iterator)));
    CHECK_OK(kv_iterator_check(iterator, &err), &err);
    return joined;
}

/* The path of the largest file of `directory` whose name ends in `ending`. */
static inline const char *kv_fixture_find_file(const char *directory, const char *ending)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    const char *found = NULL;
    uint64_t found_bytes = 0, bytes;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(directory, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *path = arena_printf(&arena, &err, "%s/%s", directory, listing.names[i]);

        CHECK_OK(fs_size(path, &bytes, &err), &err);
        if (slice_ends_with(slice_from(path), slice_from(ending)) && bytes >= found_bytes) {
            found = path;
            found_bytes = bytes;
        }
    }
    CHECK(found);
    return kv_fixture_path(found + strlen(test_directory()) + 1);
}

static inline size_t kv_fixture_count_files(const char *directory, const char *ending)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;
    size_t n = 0;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(directory, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        n += slice_ends_with(slice_from(listing.names[i]), slice_from(ending));
    return n;
}

static inline void kv_fixture_flip_byte(const char *path, long offset)
{
    FILE *file = fopen(path, "r+");
    int byte;

    CHECK(file && fseek(file, offset, SEEK_SET) == 0 && (byte = fgetc(file)) != EOF);
    CHECK(fseek(file, offset, SEEK_SET) == 0 && fputc(byte ^ 0x10, file) != EOF);
    CHECK(fclose(file) == 0);
}

static inline int kv_fixture_remove(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    return remove(path);
}

static inline void kv_fixture_copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out;
    char bytes[4096];
    size_t len;

    /* RocksDB removes files it no longer needs when it likes. */
    if (!in && errno == ENOENT)
        return;
    out = fopen(to, "w");
    CHECK(in && out);
    while ((len = fread(bytes, 1, sizeof(bytes), in)) > 0)
        CHECK(fwrite(bytes, 1, len, out) == len);
    CHECK(fclose(in) == 0 && fclose(out) == 0);
}

/* Copies the files of a directory to another, which has nothing else afterwards. Of a database that is open this is what a
 * kill would leave. Allocates nothing that a test could make fail. */
static inline void kv_fixture_copy_directory(const char *from, const char *to)
{
    char source[600], target[600];
    const struct dirent *entry;
    DIR *directory;

    if (access(to, F_OK) == 0)
        CHECK(nftw(to, kv_fixture_remove, 8, FTW_DEPTH | FTW_PHYS) == 0);
    CHECK(mkdir(to, 0700) == 0);
    directory = opendir(from);
    CHECK(directory != NULL);
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        kv_fixture_copy_file(source, target);
    }
    if (directory)
        closedir(directory);
}

/* Files of this process end at `bytes`: a disk that fails, for a while. */
static inline void kv_fixture_limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = MIN(bytes, limit.rlim_max);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}
