// SPDX-License-Identifier: Apache-2.0
/* Files: kv_files.c. */
#include "kv/kv_fixture_test.h"

TEST(kv_counts_what_it_writes)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_io before = kv_io(kv), after;
    static char value[50000];
    struct error err;

    memset(value, 'v', sizeof(value) - 1);
    kv_fixture_put(kv, 1, "key", value);
    CHECK_OK(kv_flush(kv, 1, &err), &err);
    CHECK_OK(kv_compact(kv, 1, &err), &err);
    after = kv_io(kv);
    CHECK(after.wal_bytes - before.wal_bytes > 50000 && after.wal_bytes - before.wal_bytes < 51000);
    CHECK(after.flush_bytes - before.flush_bytes > 50000 && after.flush_bytes - before.flush_bytes < 60000);
    CHECK(after.compaction_bytes >= before.compaction_bytes);
    CHECK(kv_family_bytes(kv, 1) > 50000);
    CHECK_EQ(kv_family_bytes(kv, KV_DEFAULT), 0);
    CHECK_EQ(kv_property(kv, 1, "rocksdb.no-such-thing"), 0);
    CHECK(kv_property(kv, 1, "rocksdb.cur-size-all-mem-tables") > 0);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_compact_takes_deleted_keys_off_the_disk)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    static char value[200000];
    struct kv_batch *batch;
    struct error err;

    memset(value, 'v', sizeof(value) - 1);
    kv_fixture_put(kv, 1, "gone", value);
    kv_fixture_put(kv, 1, "kept", "small");
    CHECK_OK(kv_flush(kv, 1, &err), &err);
    CHECK_OK(kv_compact(kv, 1, &err), &err);
    CHECK(kv_family_bytes(kv, 1) > 200000);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_delete_range(batch, kv, 1, SLICE("g"), SLICE("h"));
    CHECK_OK(kv_write(kv, batch, false, &err), &err);
    kv_batch_free(batch);
    CHECK_OK(kv_compact(kv, 1, &err), &err);
    CHECK(kv_family_bytes(kv, 1) < 20000);
    CHECK_TEXT(kv_fixture_keys(kv, 1, NULL, ""), "kept");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_head_files_are_never_compacted_by_themselves)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t head;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-01-0", &head, &err), &err);
    for (int i = 0; i < 40; i++) {
        kv_fixture_put(kv, head, "key", "value");
        CHECK_OK(kv_flush(kv, head, &err), &err);
    }
    CHECK_EQ(kv_fixture_count_files(kv_fixture_path("day"), ".sst"), 40);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_notices_a_flush_that_failed)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    static char value[250];
    struct error err;
    int result;

    memset(value, 'v', sizeof(value) - 1);
    for (char key[2] = "a"; key[0] <= 'z'; key[0]++)
        kv_fixture_put(kv, 1, key, value);
    kv_fixture_limit_file_size(5000);
    result = kv_flush(kv, 1, &err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_ERROR(result, &err, ERR_IO);
    CHECK_ERROR(kv_check_writable(kv, &err), &err, ERR_IO);
    kv_close(kv);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_OK(kv_check_writable(kv, &err), &err);
    CHECK_TEXT(kv_fixture_get(kv, 1, "z"), value);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- files from outside --- */

static const char *make_sst(struct kv *kv, const char *name, const char *const *pairs, size_t n_pairs)
{
    const char *path = kv_fixture_path(name);
    struct kv_sst *sst;
    uint64_t bytes = 0, size_bytes;
    struct error err;

    CHECK_OK(kv_sst_new(kv, 1, path, &sst, &err), &err);
    for (size_t i = 0; i < n_pairs; i++)
        CHECK_OK(kv_sst_put(sst, slice_from(pairs[2 * i]), slice_from(pairs[2 * i + 1]), &err), &err);
    CHECK_OK(kv_sst_finish(sst, &bytes, &err), &err);
    CHECK_OK(fs_size(path, &size_bytes, &err), &err);
    CHECK_EQ(bytes, size_bytes);
    kv_sst_free(sst);
    return path;
}

TEST(kv_ingest_takes_a_file_in_and_away)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *const pairs[] = { "a", "1", "b", "2" }, *const later[] = { "b", "3" };
    const char *path = make_sst(kv, "new.sst", pairs, 2);
    struct kv_snapshot *snapshot;
    struct stat info;
    struct error err;

    CHECK_OK(kv_snapshot_new(kv, &snapshot, &err), &err);
    CHECK_OK(kv_ingest(kv, 1, path, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, 1, NULL, ""), "a b");
    CHECK_TEXT(kv_fixture_keys(kv, 1, snapshot, ""), "");
    CHECK_ERROR(fs_stat(path, &info, &err), &err, ERR_NOT_FOUND);
    kv_snapshot_free(snapshot);

    kv_fixture_put(kv, 1, "c", "in memory");
    CHECK_OK(kv_ingest(kv, 1, make_sst(kv, "later.sst", later, 1), &err), &err);
    CHECK_TEXT(kv_fixture_get(kv, 1, "b"), "3");
    kv_close(kv);
    kv = kv_fixture_open(shared, "day", KV_READ_ONLY);
    CHECK_TEXT(kv_fixture_get(kv, 1, "a"), "1");
    CHECK_TEXT(kv_fixture_get(kv, 1, "b"), "3");
    CHECK_TEXT(kv_fixture_get(kv, 1, "c"), "in memory");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_ingest_all_takes_all_files_or_none)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *const first[] = { "a", "1" }, *const second[] = { "b", "2" };
    const char *paths[] = { make_sst(kv, "1.sst", first, 1), kv_fixture_path("no-such.sst") };
    struct error err;

    CHECK_ERROR(kv_ingest_all(kv, 1, paths, 2, &err), &err, ERR_NOT_FOUND);
    CHECK_TEXT(kv_fixture_keys(kv, 1, NULL, ""), "");
    paths[1] = make_sst(kv, "2.sst", second, 1);
    CHECK_OK(kv_ingest_all(kv, 1, paths, 2, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, 1, NULL, ""), "a b");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_ingest_replaces_what_lies_in_memory)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *const pairs[] = { "a", "new" };
    struct error err;

    kv_fixture_put(kv, 1, "a", "old");
    CHECK_OK(kv_ingest(kv, 1, make_sst(kv, "new.sst", pairs, 1), &err), &err);
    CHECK_TEXT(kv_fixture_get(kv, 1, "a"), "new");
    kv_close(kv);
    kv_shared_free(shared);
}

/* Copies the newest table of the database "day". */
static void copy_newest_table(const char *to)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    const char *newest = NULL;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(kv_fixture_path("day"), &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        if (slice_ends_with(slice_from(listing.names[i]), SLICE(".sst")))
            newest = arena_printf(&arena, &err, "%s/%s", kv_fixture_path("day"), listing.names[i]);
    CHECK(newest != NULL);
    kv_fixture_copy_file(newest, to);
}

TEST(kv_sst_can_be_taken_in_again_once_it_has_forgotten_its_place)
{
    static const char *const first[] = { "a", "old", "c", "old" }, *const second[] = { "b", "new", "c", "new" };
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *other = kv_fixture_open(shared, "other", KV_WRITE);
    const char *copy = kv_fixture_path("copy.sst");
    struct error err;

    CHECK_OK(kv_ingest(kv, 1, make_sst(kv, "one.sst", first, 2), &err), &err);
    kv_fixture_put(kv, 1, "d", "written");
    CHECK_OK(kv_ingest(kv, 1, make_sst(kv, "two.sst", second, 2), &err), &err);
    copy_newest_table(copy);
    CHECK_ERROR(kv_ingest(other, 1, copy, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "global seqno");
    CHECK_OK(kv_sst_renew(copy, &err), &err);
    CHECK_OK(kv_ingest(other, 1, copy, &err), &err);
    CHECK_TEXT(kv_fixture_get(other, 1, "b"), "new");
    CHECK_TEXT(kv_fixture_get(other, 1, "c"), "new");

    CHECK_OK(fs_write_file(copy, SLICE("no table"), &err), &err);
    CHECK_ERROR(kv_sst_renew(copy, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "was not made outside of a database");
    CHECK_ERROR(kv_sst_renew(kv_fixture_path("none.sst"), &err), &err, ERR_NOT_FOUND);
    kv_close(kv);
    kv_close(other);
    kv_shared_free(shared);
}

TEST(kv_sst_refuses_keys_that_do_not_rise_and_places_that_do_not_exist)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_sst *sst;
    uint64_t bytes;
    struct error err;

    CHECK_OK(kv_sst_new(kv, 1, kv_fixture_path("x.sst"), &sst, &err), &err);
    CHECK_OK(kv_sst_put(sst, SLICE("b"), SLICE(""), &err), &err);
    CHECK_ERROR(kv_sst_put(sst, SLICE("a"), SLICE(""), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "x.sst");
    kv_sst_free(sst);
    CHECK_OK(kv_sst_new(kv, 1, kv_fixture_path("empty.sst"), &sst, &err), &err);
    CHECK_ERROR(kv_sst_finish(sst, &bytes, &err), &err, ERR_IO);
    kv_sst_free(sst);
    CHECK_ERROR(kv_sst_new(kv, 1, kv_fixture_path("no/such/place.sst"), &sst, &err), &err, ERR_NOT_FOUND);
    CHECK_ERROR(kv_sst_new(kv, 9, kv_fixture_path("x.sst"), &sst, &err), &err, ERR_CLOSED);
    CHECK_ERROR(kv_ingest(kv, 1, kv_fixture_path("no-such.sst"), &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no-such.sst");
    CHECK_ERROR(kv_ingest(kv, 9, kv_fixture_path("x.sst"), &err), &err, ERR_CLOSED);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_ingest_refuses_a_damaged_file)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *const pairs[] = { "a", "1" };
    const char *path = make_sst(kv, "new.sst", pairs, 1);
    uint64_t bytes;
    struct error err;

    CHECK_OK(fs_size(path, &bytes, &err), &err);
    kv_fixture_flip_byte(path, (long)bytes - 3);
    CHECK_ERROR(kv_ingest(kv, 1, path, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(kv_fixture_keys(kv, 1, NULL, ""), "");
    kv_fixture_put(kv, 1, "still", "writable");
    CHECK_OK(kv_check_writable(kv, &err), &err);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_notices_a_file_that_could_not_be_made)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    static char value[100000];
    struct kv_sst *sst;
    uint64_t bytes;
    struct error err;
    uint32_t head;
    int result, create_result;

    memset(value, 'v', sizeof(value));
    CHECK_OK(kv_sst_new(kv, 1, kv_fixture_path("x.sst"), &sst, &err), &err);
    kv_fixture_limit_file_size(50000);
    for (char key[2] = "a"; key[0] <= 'z'; key[0]++)
        IGNORE(kv_sst_put(sst, slice_from(key), slice_of(value, sizeof(value)), &err), "told by kv_sst_finish");
    result = kv_sst_finish(sst, &bytes, &err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_ERROR(result, &err, ERR_IO);
    kv_sst_free(sst);
    CHECK_OK(kv_check_writable(kv, &err), &err);

    kv_fixture_limit_file_size(10);
    create_result = kv_family_create(kv, "head-01-0", &head, &err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_ERROR(create_result, &err, ERR_IO);
    CHECK_EQ(kv_family_find(kv, "head-01-0"), KV_NO_FAMILY);
    kv_close(kv);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_OK(kv_family_create(kv, "head-01-0", &head, &err), &err);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- copies --- */

TEST(kv_checkpoint_is_a_database_of_its_own)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *copy;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "a", "1");
    kv_fixture_put(kv, 1, "b", "2");
    CHECK_OK(kv_checkpoint(kv, kv_fixture_path("copy"), &err), &err);
    CHECK_ERROR(kv_checkpoint(kv, kv_fixture_path("copy"), &err), &err, ERR_EXISTS);
    kv_fixture_put(kv, KV_DEFAULT, "later", "3");
    copy = kv_fixture_open(shared, "copy", KV_WRITE);
    CHECK_TEXT(kv_fixture_keys(copy, KV_DEFAULT, NULL, ""), "a");
    CHECK_TEXT(kv_fixture_get(copy, 1, "b"), "2");
    kv_close(copy);
    kv_close(kv);
    kv_shared_free(shared);
}
