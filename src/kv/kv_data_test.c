// SPDX-License-Identifier: Apache-2.0
/* Keys and values: kv_data.c. */
#include "kv/kv_fixture_test.h"

/* Copies the files; those that RocksDB removes meanwhile were of no use any more. */
static void copy_directory(const char *from, const char *to)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_make_directories(to, 0755, &err), &err);
    CHECK_OK(fs_list(from, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        AUTO(buffer_done) struct buffer content;
        const char *source = arena_printf(&arena, &err, "%s/%s", from, listing.names[i]);
        const char *target = arena_printf(&arena, &err, "%s/%s", to, listing.names[i]);

        buffer_init(&content, 0);
        if (fs_read_file(source, 0, &content, &err) < 0) {
            CHECK_EQ(err.code, ERR_NOT_FOUND);
            continue;
        }
        CHECK_OK(fs_write_file(target, buffer_slice(&content), &err), &err);
    }
}

TEST(kv_appends_what_it_reads_and_tells_when_there_is_nothing)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    AUTO(buffer_done) struct buffer value;
    struct error err;
    bool found;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    kv_fixture_put(kv, KV_DEFAULT, "empty", "");
    buffer_init(&value, 8);
    buffer_append_text(&value, "a ");
    CHECK_OK(kv_get(kv, KV_DEFAULT, SLICE("key"), &value, &found, &err), &err);
    CHECK(found);
    CHECK_TEXT(buffer_slice(&value), "a value");
    CHECK_OK(kv_get(kv, KV_DEFAULT, SLICE("empty"), &value, &found, &err), &err);
    CHECK(found);
    CHECK_OK(kv_get(kv, KV_DEFAULT, SLICE("other"), &value, &found, &err), &err);
    CHECK(!found);
    CHECK_TEXT(buffer_slice(&value), "a value");
    CHECK_ERROR(kv_get(kv, KV_DEFAULT, SLICE("key"), &value, &found, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "reading a value of 5 bytes");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_batch_writes_and_deletes_in_several_families_at_once)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_batch *batch;
    struct error err;

    for (char key[2] = "a"; key[0] <= 'f'; key[0]++)
        kv_fixture_put(kv, KV_DEFAULT, key, "old");
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("x"), SLICE("discarded"));
    kv_batch_clear(batch);
    CHECK_EQ(kv_batch_count(batch), 0);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("a"), SLICE("new"));
    kv_batch_put(batch, kv, 1, SLICE("block key"), SLICE("block value"));
    kv_batch_delete(batch, kv, KV_DEFAULT, SLICE("b"));
    kv_batch_delete_range(batch, kv, KV_DEFAULT, SLICE("d"), SLICE("f"));
    CHECK_EQ(kv_batch_count(batch), 4);
    CHECK(kv_batch_bytes(batch) > strlen("anewblock keyblock value"));
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "a"), "old");
    CHECK_OK(kv_write(kv, batch, true, &err), &err);
    kv_batch_free(batch);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "a c f");
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "a"), "new");
    CHECK_TEXT(kv_fixture_get(kv, 1, "block key"), "block value");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_write_is_in_the_log_when_it_returns)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *copy;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    /* What is in the files now is what a killed process leaves behind. */
    copy_directory(kv_fixture_path("day"), kv_fixture_path("copy"));
    copy = kv_fixture_open(shared, "copy", KV_WRITE);
    CHECK_TEXT(kv_fixture_get(copy, KV_DEFAULT, "key"), "value");
    kv_close(copy);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_sync_and_synced_writes_reach_the_disk_without_complaint)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_options options = { .mode = KV_WRITE, .memtable_bytes = 1 << 20 };
    struct kv_batch *batch;
    struct kv *kv;
    struct error err;

    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("key"), SLICE("value"));
    CHECK_OK(kv_write(kv, batch, true, &err), &err);
    CHECK_OK(kv_write(kv, batch, false, &err), &err);
    CHECK_OK(kv_sync(kv, &err), &err);
    kv_batch_free(batch);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_cache_fills_by_reading_but_not_by_scanning_or_looking_here_and_there)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    static char value[100000];
    struct kv_iterator *iterator;
    uint64_t before;
    struct error err;

    memset(value, 'v', sizeof(value) - 1);
    kv_fixture_put(kv, 1, "key", value);
    CHECK_OK(kv_flush(kv, 1, &err), &err);
    before = kv_shared_cache_used_bytes(shared);
    CHECK_OK(kv_iterator_new(kv, 1, NULL, SLICE(""), true, &iterator, &err), &err);
    CHECK(kv_iterator_is_valid(iterator));
    CHECK_EQ(kv_iterator_value(iterator).len, sizeof(value) - 1);
    kv_iterator_free(iterator);
    CHECK(kv_shared_cache_used_bytes(shared) < before + 50000);
    CHECK_OK(kv_iterator_new_sparse(kv, 1, NULL, SLICE(""), &iterator, &err), &err);
    CHECK(!kv_iterator_is_valid(iterator)); /* it is nowhere yet */
    CHECK_OK(kv_iterator_check(iterator, &err), &err);
    kv_iterator_seek(iterator, SLICE("a"));
    CHECK_EQ(kv_iterator_value(iterator).len, sizeof(value) - 1);
    kv_iterator_free(iterator);
    CHECK(kv_shared_cache_used_bytes(shared) < before + 50000);
    CHECK_OK(kv_iterator_new(kv, 1, NULL, SLICE(""), false, &iterator, &err), &err);
    kv_iterator_free(iterator);
    CHECK(kv_shared_cache_used_bytes(shared) > before + 50000);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_tells_a_damaged_table_from_a_missing_key)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    AUTO(buffer_done) struct buffer value;
    struct kv_iterator *iterator;
    struct error err;
    bool found;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    kv_close(kv);
    kv_fixture_flip_byte(kv_fixture_find_file(kv_fixture_path("day"), ".sst"), 10);
    kv = kv_fixture_open(shared, "day", KV_READ_ONLY);
    buffer_init(&value, 0);
    CHECK_ERROR(kv_get(kv, KV_DEFAULT, SLICE("key"), &value, &found, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "reading from '");
    CHECK_OK(kv_iterator_new(kv, KV_DEFAULT, NULL, SLICE(""), true, &iterator, &err), &err);
    CHECK(!kv_iterator_is_valid(iterator));
    CHECK_ERROR(kv_iterator_check(iterator, &err), &err, ERR_CORRUPT);
    kv_iterator_free(iterator);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_remembers_a_failed_write_until_it_is_opened_again)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_options options = { .mode = KV_WRITE };
    static char value[100000];
    struct kv_batch *batch;
    struct kv *kv;
    struct error err;
    int result;

    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    memset(value, 'v', sizeof(value));
    kv_fixture_put(kv, KV_DEFAULT, "acknowledged", "value");
    CHECK_OK(kv_check_writable(kv, &err), &err);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("refused"), slice_of(value, sizeof(value)));
    kv_fixture_limit_file_size(50000);
    result = kv_write(kv, batch, false, &err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_ERROR(result, &err, ERR_IO);
    CHECK_HAS(err.text, "writing to '");
    CHECK_ERROR(kv_check_writable(kv, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "File too large");
    CHECK_ERROR(kv_write(kv, batch, false, &err), &err, ERR_IO);
    CHECK_ERROR(kv_sync(kv, &err), &err, ERR_IO);
    kv_close(kv);

    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_OK(kv_check_writable(kv, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "acknowledged");
    CHECK_OK(kv_write(kv, batch, false, &err), &err);
    kv_batch_free(batch);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- iterators and snapshots --- */

TEST(kv_iterator_walks_the_keys_of_a_prefix)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);

    kv_fixture_put(kv, KV_DEFAULT, "a1", "1");
    kv_fixture_put(kv, KV_DEFAULT, "b1", "2");
    kv_fixture_put(kv, KV_DEFAULT, "b2", "3");
    kv_fixture_put(kv, KV_DEFAULT, "c", "4");
    kv_fixture_put(kv, KV_DEFAULT, "\xff", "5");
    kv_fixture_put(kv, KV_DEFAULT, "\xff\xff x", "6");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, "b"), "b1 b2");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, "bb"), "");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, "\xff"), "\xff \xff\xff x");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, "\xff\xff"), "\xff\xff x");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, "c"), "c");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "a1 b1 b2 c \xff \xff\xff x");
    kv_close(kv);
    kv_shared_free(shared);
}

static const char *key_at(const struct kv_iterator *iterator)
{
    static char key[64];

    if (!kv_iterator_is_valid(iterator))
        return "(end)";
    snprintf(key, sizeof(key), "%.*s", SLICE_ARG(kv_iterator_key(iterator)));
    return key;
}

TEST(kv_iterator_seeks_both_ways_within_its_prefix)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_iterator *iterator;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "a9", "");
    kv_fixture_put(kv, KV_DEFAULT, "b2", "two");
    kv_fixture_put(kv, KV_DEFAULT, "b4", "four");
    kv_fixture_put(kv, KV_DEFAULT, "c0", "");
    CHECK_OK(kv_iterator_new(kv, KV_DEFAULT, NULL, SLICE("b"), false, &iterator, &err), &err);
    CHECK_TEXT(key_at(iterator), "b2");
    CHECK_TEXT(kv_iterator_value(iterator), "two");
    kv_iterator_seek(iterator, SLICE("b3"));
    CHECK_TEXT(key_at(iterator), "b4");
    kv_iterator_seek(iterator, SLICE("b5"));
    CHECK_TEXT(key_at(iterator), "(end)");
    kv_iterator_seek(iterator, SLICE("a"));
    CHECK_TEXT(key_at(iterator), "b2");
    kv_iterator_seek_back(iterator, SLICE("b3"));
    CHECK_TEXT(key_at(iterator), "b2");
    kv_iterator_seek_back(iterator, SLICE("b4"));
    CHECK_TEXT(key_at(iterator), "b4");
    kv_iterator_seek_back(iterator, SLICE("d"));
    CHECK_TEXT(key_at(iterator), "b4");
    kv_iterator_seek_back(iterator, SLICE("b1"));
    CHECK_TEXT(key_at(iterator), "(end)");
    CHECK_OK(kv_iterator_check(iterator, &err), &err);
    kv_iterator_free(iterator);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_get_at_sees_what_was_there_at_that_moment)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_snapshot *snapshot;
    struct buffer value;
    struct error err;
    bool found;

    buffer_init(&value, 0);
    kv_fixture_put(kv, 1, "old", "1");
    CHECK_OK(kv_snapshot_new(kv, &snapshot, &err), &err);
    kv_fixture_put(kv, 1, "new", "2");
    CHECK_OK(kv_get_at(kv, 1, snapshot, SLICE("old"), &value, &found, &err), &err);
    CHECK(found);
    CHECK_TEXT(buffer_slice(&value), "1");
    CHECK_OK(kv_get_at(kv, 1, snapshot, SLICE("new"), &value, &found, &err), &err);
    CHECK(!found);
    CHECK_TEXT(buffer_slice(&value), "1");
    CHECK_EQ(kv_get_at(kv, 99, snapshot, SLICE("new"), &value, &found, &err), -1);
    kv_snapshot_free(snapshot);
    buffer_done(&value);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_snapshot_does_not_see_what_comes_later)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_snapshot *snapshot;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "a", "");
    CHECK_OK(kv_snapshot_new(kv, &snapshot, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "b", "");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, snapshot, ""), "a");
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "a b");
    kv_snapshot_free(snapshot);
    kv_close(kv);
    kv_shared_free(shared);
}
