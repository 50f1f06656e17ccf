// SPDX-License-Identifier: Apache-2.0
#include "kv/kv_fixture_test.h"
#include "kv/kv_internal.h"

/* A database with two tables of the index, of which one was made of others, and one of a head that is gone. */
static void make_tables(struct kv_shared *shared)
{
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;
    uint32_t head;

    CHECK_OK(kv_family_create(kv, "head-07-0", &head, &err), &err);
    kv_fixture_put(kv, head, "row", "value");
    CHECK_OK(kv_flush(kv, head, &err), &err);
    CHECK_OK(kv_family_drop(kv, head, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        kv_fixture_put(kv, KV_DEFAULT, "a", "value");
        CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    }
    CHECK_OK(kv_compact(kv, KV_DEFAULT, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "b", "value");
    CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    kv_close(kv);
}

/* Opens it as one who looks on, and may not succeed; 0 or -1. */
static int look_on(struct kv_shared *shared, struct error *err)
{
    struct kv *kv = NULL;
    int result = kv_fixture_try_open(shared, "day", KV_SECONDARY, &kv, err);

    kv_close(kv);
    return result;
}

TEST(kv_tables_that_are_gone_for_good_are_not_missed)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct error err;

    make_tables(shared);
    CHECK_OK(look_on(shared, &err), &err);
    kv_shared_free(shared);
}

TEST(kv_tables_that_are_missing_or_cut_off_are_damage_to_those_who_look_on)
{
    struct kv_shared *shared = kv_fixture_shared();
    const char *path;
    struct stat info;
    struct error err;

    make_tables(shared);
    path = kv_fixture_find_file(kv_fixture_path("day"), ".sst");
    CHECK(stat(path, &info) == 0);
    CHECK(truncate(path, info.st_size - 1) == 0);
    CHECK_ERROR(look_on(shared, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "bytes, and should have");
    CHECK(unlink(path) == 0);
    CHECK_ERROR(look_on(shared, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, ".sst' is missing");
    kv_shared_free(shared);
}

/* The footer of a table, which is its last bytes, is needed to open it. */
TEST(kv_tables_that_cannot_be_opened_are_damage_to_those_who_look_on)
{
    struct kv_shared *shared = kv_fixture_shared();
    AUTO(buffer_done) struct buffer bytes;
    const char *path;
    struct error err;

    make_tables(shared);
    path = kv_fixture_find_file(kv_fixture_path("day"), ".sst");
    buffer_init(&bytes, 0);
    CHECK_OK(fs_read_file(path, 1 << 20, &bytes, &err), &err);
    bytes.data[bytes.len - 1] ^= 0x41;
    CHECK_OK(fs_write_file(path, buffer_slice(&bytes), &err), &err);
    CHECK_ERROR(look_on(shared, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "has a table that is damaged and cannot be opened");
    kv_shared_free(shared);
}

TEST(kv_tables_miss_the_manifest_that_they_are_named_in)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct error err;

    make_tables(shared);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE("MANIFEST-999999\n"), &err), &err);
    CHECK_ERROR(look_on(shared, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "MANIFEST-999999");
    kv_shared_free(shared);
}

static int read_tables(void *context, struct error *err)
{
    struct kv_tables tables;
    int result;

    kv_tables_init(&tables);
    result = kv_tables_read(&tables, context, err);
    CHECK(result < 0 || !tables.is_unclear);
    kv_tables_done(&tables);
    return result;
}

TEST(kv_tables_survive_failing_allocations)
{
    struct kv_shared *shared = kv_fixture_shared();

    make_tables(shared);
    test_each_allocation_failing(read_tables, (void *)kv_fixture_path("day"));
    kv_shared_free(shared);
}
