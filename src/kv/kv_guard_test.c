// SPDX-License-Identifier: Apache-2.0
#include "kv/kv_fixture_test.h"

#include <unistd.h>

static const char *make_sst(struct kv *kv, const char *name, const char *key)
{
    const char *path = kv_fixture_path(name);
    struct kv_sst *sst;
    struct error err;
    uint64_t bytes;

    CHECK_OK(kv_sst_new(kv, 1, path, &sst, &err), &err);
    CHECK_OK(kv_sst_put(sst, slice_from(key), slice_from("value"), &err), &err);
    CHECK_OK(kv_sst_finish(sst, &bytes, &err), &err);
    kv_sst_free(sst);
    return path;
}

/* A database that has taken in a file with the key "a". */
static void make_day(struct kv_shared *shared)
{
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    CHECK_OK(kv_ingest(kv, 1, make_sst(kv, "new.sst", "a"), &err), &err);
    kv_close(kv);
}

TEST(kv_ingest_leaves_no_second_name_behind)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct stat info;
    struct error err;

    make_day(shared);
    CHECK_ERROR(fs_stat(kv_fixture_path("day/guard-0"), &info, &err), &err, ERR_NOT_FOUND);
    kv_shared_free(shared);
}

TEST(kv_open_puts_back_a_file_that_the_manifest_names_but_rocksdb_removed)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct stat info;
    struct error err;
    struct kv *kv;

    make_day(shared);
    for (enum kv_mode mode = KV_WRITE; mode <= KV_READ_ONLY; mode++) {
        CHECK_EQ(rename(kv_fixture_find_file(kv_fixture_path("day"), ".sst"), kv_fixture_path("day/guard-0")), 0);
        kv = kv_fixture_open(shared, "day", mode);
        CHECK_TEXT(kv_fixture_get(kv, 1, "a"), "value");
        CHECK_ERROR(fs_stat(kv_fixture_path("day/guard-0"), &info, &err), &err, ERR_NOT_FOUND);
        kv_close(kv);
    }
    kv_shared_free(shared);
}

TEST(kv_open_puts_back_no_file_of_another_size)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct error err;
    struct kv *kv;

    make_day(shared);
    CHECK_EQ(unlink(kv_fixture_find_file(kv_fixture_path("day"), ".sst")), 0);
    CHECK_OK(fs_write_file(kv_fixture_path("day/guard-0"), SLICE("another"), &err), &err);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "No such file");
    kv_shared_free(shared);
}

TEST(kv_open_forgets_second_names_that_nothing_needs)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct stat info;
    struct error err;
    struct kv *kv;

    make_day(shared);
    CHECK_OK(fs_write_file(kv_fixture_path("day/guard-0"), SLICE("never taken in"), &err), &err);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_ERROR(fs_stat(kv_fixture_path("day/guard-0"), &info, &err), &err, ERR_NOT_FOUND);
    kv_close(kv);
    kv_shared_free(shared);
}
