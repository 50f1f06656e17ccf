// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "kv/kv_fixture_test.h"
#include "kv/kv_internal.h"

#include <unistd.h>

static bool has_hole(void)
{
    struct error err;
    bool has = false;

    CHECK_OK(kv_wal_find_hole(kv_fixture_path("day"), &has, &err), &err);
    return has;
}

/* A log of four writes, two of which are larger than a block; its name is longer-lived than the next call. */
static const char *make_log(uint64_t *ret_bytes)
{
    static char path[300], large[50000];
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    memset(large, 'x', sizeof(large) - 1);
    kv_fixture_put(kv, KV_DEFAULT, "a", "small");
    kv_fixture_put(kv, KV_DEFAULT, "b", large);
    kv_fixture_put(kv, KV_DEFAULT, "c", large);
    kv_fixture_put(kv, KV_DEFAULT, "d", "small");
    kv_close(kv);
    kv_shared_free(shared);
    snprintf(path, sizeof(path), "%s", kv_fixture_find_file(kv_fixture_path("day"), ".log"));
    CHECK_OK(fs_size(path, ret_bytes, &err), &err);
    return path;
}

TEST(kv_wal_has_a_hole_where_a_log_is_cut_inside_a_record_and_another_follows)
{
    uint64_t bytes;
    const char *path = make_log(&bytes);
    unsigned n_whole = 0;
    struct error err;

    CHECK(!has_hole());
    CHECK_OK(fs_write_file(kv_fixture_path("day/000099.log"), SLICE("what follows"), &err), &err);
    CHECK(!has_hole());
    /* Anywhere in the large ones, then at every place in and around the first one. */
    for (uint64_t len = bytes - 1; len > 100; len -= MIN(len, 997)) {
        CHECK(truncate(path, (off_t)len) == 0);
        n_whole += !has_hole();
    }
    CHECK_EQ(n_whole, 0);
    for (off_t len = 100; len >= 0; len--) {
        CHECK(truncate(path, len) == 0);
        n_whole += !has_hole();
    }
    CHECK_EQ(n_whole, 2); /* behind the first, and without any */
}

TEST(kv_wal_has_no_hole_at_its_end)
{
    uint64_t bytes;
    const char *path = make_log(&bytes);
    struct error err;

    CHECK(truncate(path, (off_t)bytes - 3) == 0);
    CHECK(!has_hole());
    /* A log that was begun and is empty is none that follows. */
    CHECK_OK(fs_write_file(kv_fixture_path("day/000099.log"), SLICE(""), &err), &err);
    CHECK(!has_hole());
    /* Zeros are room that was never filled. */
    CHECK_OK(fs_write_file(kv_fixture_path("day/000099.log"), SLICE("what follows"), &err), &err);
    CHECK(has_hole());
    CHECK(truncate(path, 0) == 0 && truncate(path, 4096) == 0);
    CHECK(has_hole());
}

static int find(void *context, struct error *err)
{
    bool has;

    return kv_wal_find_hole(kv_fixture_path("day"), &has, err);
}

TEST(kv_wal_survives_failing_allocations)
{
    uint64_t bytes;

    make_log(&bytes);
    test_each_allocation_failing(find, NULL);
}
