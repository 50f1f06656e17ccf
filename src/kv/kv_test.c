// SPDX-License-Identifier: Apache-2.0
#include "kv/kv.h"

#include "base/thread.h"
#include "kv/kv_fixture_test.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- opening --- */

TEST(kv_makes_a_database_with_an_index_and_a_block_family)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "deep/below/day", KV_WRITE);

    CHECK_EQ(kv_families(kv), 2);
    CHECK_EQ(kv_family_find(kv, "default"), KV_DEFAULT);
    CHECK_EQ(kv_family_find(kv, "block"), 1);
    CHECK_EQ(kv_family_find(kv, "head-00-0"), KV_NO_FAMILY);
    CHECK_TEXT(kv_family_name(kv, 1), "block");
    CHECK(!kv_family_name(kv, 2));
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_opens_all_families_that_are_there)
{
    static const enum kv_mode modes[] = { KV_WRITE, KV_READ_ONLY, KV_SECONDARY };
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t head;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-07-0", &head, &err), &err);
    kv_fixture_put(kv, head, "key", "in the head");
    kv_fixture_put(kv, KV_DEFAULT, "key", "in the index");
    kv_close(kv);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        kv = kv_fixture_open(shared, "day", modes[i]);
        CHECK_EQ(kv_families(kv), 3);
        CHECK_EQ(kv_family_find(kv, "default"), KV_DEFAULT);
        CHECK_TEXT(kv_fixture_get(kv, kv_family_find(kv, "head-07-0"), "key"), "in the head");
        CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "key"), "in the index");
        kv_close(kv);
    }
    kv_shared_free(shared);
}

TEST(kv_finds_families_without_opening)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t head;
    struct error err;
    char path[300];
    bool has = true;

    snprintf(path, sizeof(path), "%s", kv_path(kv));
    CHECK_OK(kv_has_family(path, "head-", &has, &err), &err);
    CHECK(!has);
    CHECK_OK(kv_family_create(kv, "head-07-0", &head, &err), &err);
    CHECK_OK(kv_has_family(path, "head-", &has, &err), &err);
    CHECK(has);
    kv_close(kv);
    CHECK_OK(kv_has_family(path, "head-", &has, &err), &err);
    CHECK(has);
    CHECK_OK(kv_has_family(path, "tail-", &has, &err), &err);
    CHECK(!has);
    CHECK_ERROR(kv_has_family("/no/such/place", "head-", &has, &err), &err, ERR_NOT_FOUND);
    snprintf(path + strlen(path), sizeof(path) - strlen(path), "/CURRENT");
    CHECK_OK(fs_write_file(path, SLICE("rubbish"), &err), &err);
    *strrchr(path, '/') = '\0';
    CHECK_ERROR(kv_has_family(path, "head-", &has, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "listing the families of");
    kv_shared_free(shared);
}

TEST(kv_makes_nothing_when_opened_for_reading)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = NULL;
    struct stat info;
    struct error err;

    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_READ_ONLY, &kv, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "looking for the database");
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_SECONDARY, &kv, &err), &err, ERR_NOT_FOUND);
    CHECK_ERROR(fs_stat(kv_fixture_path("day"), &info, &err), &err, ERR_NOT_FOUND);
    CHECK(!kv);
    kv_shared_free(shared);
}

TEST(kv_refuses_a_path_that_is_too_long)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_options options = { .mode = KV_READ_ONLY };
    static char path[5000];
    struct kv *kv;
    struct error err;

    memset(path, 'a', sizeof(path) - 1);
    CHECK_ERROR(kv_open(shared, path, &options, &kv, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "has 4999 bytes");
    kv_shared_free(shared);
}

TEST(kv_does_not_take_a_directory_that_lost_its_current_file_for_a_new_one)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    CHECK_OK(kv_flush(kv, KV_NO_FAMILY, &err), &err);
    kv_close(kv);
    CHECK(rename(kv_fixture_path("day/CURRENT"), kv_fixture_path("kept")) == 0);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no file CURRENT");
    CHECK(rename(kv_fixture_path("kept"), kv_fixture_path("day/CURRENT")) == 0);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "key"), "value");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_is_busy_when_this_process_has_it_open)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *second = NULL;
    struct error err;

    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &second, &err), &err, ERR_BUSY);
    CHECK_HAS(err.text, "opening '");
    kv_close(kv);
    kv_shared_free(shared);
}

/* Locks the file as RocksDB does, says so, and holds it until killed. */
NORETURN static void hold_lock(const char *path, int ready_fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open(path, O_RDWR);

    if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0 || write(ready_fd, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

TEST(kv_is_busy_when_another_process_has_it_open)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *lock_path = kv_fixture_path("day/LOCK");
    struct error err;
    int ready[2];
    char byte;
    pid_t child;

    kv_close(kv);
    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        hold_lock(lock_path, ready[1]);
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_BUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_close_accepts_null)
{
    kv_close(NULL);
    kv_shared_free(NULL);
    kv_batch_free(NULL);
    kv_snapshot_free(NULL);
    kv_iterator_free(NULL);
    kv_sst_free(NULL);
}

TEST(kv_read_only_refuses_writes)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_batch *batch;
    struct kv *kv;
    struct error err;
    uint32_t family;

    kv_close(kv_fixture_open(shared, "day", KV_WRITE));
    kv = kv_fixture_open(shared, "day", KV_READ_ONLY);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("key"), SLICE("value"));
    CHECK_ERROR(kv_write(kv, batch, false, &err), &err, ERR_DENIED);
    CHECK_HAS(err.text, "opened for reading only");
    CHECK_ERROR(kv_family_create(kv, "head-01-0", &family, &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_family_drop(kv, 1, &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_sync(kv, &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_flush(kv, KV_NO_FAMILY, &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_compact(kv, 1, &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_ingest(kv, 1, kv_fixture_path("x.sst"), &err), &err, ERR_DENIED);
    CHECK_ERROR(kv_checkpoint(kv, kv_fixture_path("copy"), &err), &err, ERR_DENIED);
    CHECK_EQ(kv_families(kv), 2);
    kv_batch_free(batch);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- families --- */

TEST(kv_families_come_and_go_and_their_numbers_are_not_used_again)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    AUTO(buffer_done) struct buffer value;
    uint32_t first, second;
    struct error err;
    bool found;

    CHECK_OK(kv_family_create(kv, "head-01-0", &first, &err), &err);
    CHECK_EQ(first, 2);
    kv_fixture_put(kv, first, "key", "value");
    CHECK_OK(kv_flush(kv, first, &err), &err);
    CHECK(kv_family_bytes(kv, first) > 0);
    CHECK_OK(kv_family_drop(kv, first, &err), &err);
    CHECK(!kv_family_name(kv, first));
    CHECK_EQ(kv_family_find(kv, "head-01-0"), KV_NO_FAMILY);
    CHECK_EQ(kv_family_bytes(kv, first), 0);

    buffer_init(&value, 0);
    CHECK_ERROR(kv_get(kv, first, SLICE("key"), &value, &found, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "has no family 2");
    CHECK_ERROR(kv_family_drop(kv, first, &err), &err, ERR_CLOSED);
    CHECK_ERROR(kv_flush(kv, first, &err), &err, ERR_CLOSED);
    CHECK_ERROR(kv_compact(kv, first, &err), &err, ERR_CLOSED);

    CHECK_OK(kv_family_create(kv, "head-01-0", &second, &err), &err);
    CHECK_EQ(second, 3);
    CHECK_EQ(kv_families(kv), 4);
    CHECK_TEXT(kv_fixture_get(kv, second, "key"), "(none)");
    CHECK_OK(kv_flush(kv, KV_NO_FAMILY, &err), &err);
    kv_close(kv);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_EQ(kv_families(kv), 3);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_family_create_refuses_a_name_that_is_taken)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t family = 77;
    struct error err;

    CHECK_ERROR(kv_family_create(kv, "block", &family, &err), &err, ERR_EXISTS);
    CHECK_EQ(family, 77);
    CHECK_EQ(kv_family_find(kv, "block"), 1);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_family_drop_removes_the_files)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t head;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-01-0", &head, &err), &err);
    kv_fixture_put(kv, head, "key", "value");
    CHECK_OK(kv_flush(kv, head, &err), &err);
    CHECK_EQ(kv_fixture_count_files(kv_fixture_path("day"), ".sst"), 1);
    CHECK_OK(kv_family_drop(kv, head, &err), &err);
    /* A thread in the background removes them. */
    for (int i = 0; i < 1000 && kv_fixture_count_files(kv_fixture_path("day"), ".sst") > 0; i++)
        usleep(10000);
    CHECK_EQ(kv_fixture_count_files(kv_fixture_path("day"), ".sst"), 0);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- a second process --- */

TEST(kv_secondary_sees_more_when_it_catches_up)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *reader;
    struct kv_snapshot *snapshot;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "a", "1");
    reader = kv_fixture_open(shared, "day", KV_SECONDARY);
    CHECK_OK(kv_snapshot_new(reader, &snapshot, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "b", "2");
    CHECK_TEXT(kv_fixture_keys(reader, KV_DEFAULT, snapshot, ""), "a");
    kv_snapshot_free(snapshot);
    CHECK_OK(kv_catch_up(reader, &err), &err);
    CHECK_TEXT(kv_fixture_keys(reader, KV_DEFAULT, NULL, ""), "a b");
    CHECK_OK(kv_flush(kv, KV_NO_FAMILY, &err), &err);
    CHECK_OK(kv_compact(kv, KV_DEFAULT, &err), &err);
    CHECK_OK(kv_catch_up(reader, &err), &err);
    CHECK_TEXT(kv_fixture_get(reader, KV_DEFAULT, "b"), "2");
    kv_close(reader);
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_secondary_outlives_a_family_that_is_dropped)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *reader;
    uint32_t head;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-01-0", &head, &err), &err);
    kv_fixture_put(kv, head, "key", "value");
    CHECK_OK(kv_flush(kv, head, &err), &err);
    reader = kv_fixture_open(shared, "day", KV_SECONDARY);
    CHECK_OK(kv_family_drop(kv, head, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "later", "1");
    CHECK_TEXT(kv_fixture_get(reader, kv_family_find(reader, "head-01-0"), "key"), "value");
    if (kv_catch_up(reader, &err) < 0)
        CHECK_EQ(err.code, ERR_CLOSED);
    else
        CHECK_TEXT(kv_fixture_get(reader, KV_DEFAULT, "later"), "1");
    kv_close(reader);
    reader = kv_fixture_open(shared, "day", KV_SECONDARY);
    CHECK_EQ(kv_family_find(reader, "head-01-0"), KV_NO_FAMILY);
    CHECK_TEXT(kv_fixture_get(reader, KV_DEFAULT, "later"), "1");
    kv_close(reader);
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- damage --- */

TEST(kv_open_calls_a_missing_table_damage)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    kv_close(kv);
    CHECK(unlink(kv_fixture_find_file(kv_fixture_path("day"), ".sst")) == 0);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_READ_ONLY, &kv, &err), &err, ERR_CORRUPT);
    kv_shared_free(shared);
}

TEST(kv_open_calls_data_without_a_beginning_damage)
{
    static const enum kv_mode modes[] = { KV_WRITE, KV_READ_ONLY, KV_SECONDARY };
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    kv_close(kv);
    CHECK(unlink(kv_fixture_path("day/CURRENT")) == 0);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        CHECK_ERROR(kv_fixture_try_open(shared, "day", modes[i], &kv, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "has data");
    }
    kv_shared_free(shared);
}

TEST(kv_open_calls_a_damaged_manifest_damage)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    kv_close(kv);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE("MANIFEST-999999\n"), &err), &err);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_CORRUPT);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE("rubbish"), &err), &err);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_READ_ONLY, &kv, &err), &err, ERR_CORRUPT);
    kv_shared_free(shared);
}

/* Ten writes in the log, and a damaged byte in the middle of it. */
static void damage_log(struct kv_shared *shared)
{
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *log_path;
    uint64_t bytes;
    struct error err;

    for (char key[2] = "a"; key[0] <= 'j'; key[0]++)
        kv_fixture_put(kv, KV_DEFAULT, key, "0123456789012345678901234567890123456789");
    kv_close(kv);
    log_path = kv_fixture_find_file(kv_fixture_path("day"), ".log");
    CHECK_OK(fs_size(log_path, &bytes, &err), &err);
    kv_fixture_flip_byte(log_path, (long)bytes / 2);
}

TEST(kv_strict_refuses_a_log_damaged_in_the_middle)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv;
    struct error err;

    damage_log(shared);
    CHECK_ERROR(kv_fixture_try_open(shared, "day", KV_WRITE, &kv, &err), &err, ERR_CORRUPT);
    kv_shared_free(shared);
}

TEST(kv_salvage_takes_what_it_can_from_a_damaged_log)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_options options = { .mode = KV_WRITE, .recovery = KV_SALVAGE };
    struct kv *kv;
    struct error err;

    damage_log(shared);
    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    CHECK_TEXT(slice_sub(slice_from(kv_fixture_keys(kv, KV_DEFAULT, NULL, "")), 0, strlen("a b c d")), "a b c d");
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "f"), "(none)");
    kv_fixture_put(kv, KV_DEFAULT, "new", "value");
    kv_close(kv);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "new"), "value");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_strict_accepts_a_log_with_a_torn_end)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *log_path;
    uint64_t bytes;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "whole", "value");
    kv_fixture_put(kv, KV_DEFAULT, "torn", "value");
    kv_close(kv);
    log_path = kv_fixture_find_file(kv_fixture_path("day"), ".log");
    CHECK_OK(fs_size(log_path, &bytes, &err), &err);
    CHECK(truncate(log_path, (off_t)bytes - 3) == 0);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "whole");
    kv_close(kv);
    kv_shared_free(shared);
}

static void copy_file(const char *from, const char *to)
{
    struct buffer content;
    struct error err;

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(from, 0, &content, &err), &err);
    CHECK_OK(fs_write_file(to, buffer_slice(&content), &err), &err);
    buffer_done(&content);
}

static void copy_database(const char *from, const char *to)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_make_directories(to, 0700, &err), &err);
    CHECK_OK(fs_list(from, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        copy_file(arena_printf(&arena, &err, "%s/%s", from, listing.names[i]),
                  arena_printf(&arena, &err, "%s/%s", to, listing.names[i]));
}

/* Two logs, as a loss of power may leave them: the first has "whole" and "torn", of which `cut` bytes are missing, the
 * second "later". */
static void make_two_logs(struct kv_shared *shared, off_t cut)
{
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    const char *log_path;
    uint64_t bytes;
    struct error err;

    kv_fixture_put(kv, KV_DEFAULT, "whole", "value");
    kv_fixture_put(kv, KV_DEFAULT, "torn", "value");
    kv_close(kv);
    copy_database(kv_fixture_path("day"), kv_fixture_path("next"));
    kv = kv_fixture_open(shared, "next", KV_WRITE);
    kv_fixture_put(kv, KV_DEFAULT, "later", "value");
    kv_close(kv);
    copy_file(kv_fixture_find_file(kv_fixture_path("next"), ".log"), kv_fixture_path("day/000099.log"));
    log_path = kv_fixture_find_file(kv_fixture_path("day"), ".log");
    CHECK(!strstr(log_path, "000099"));
    CHECK_OK(fs_size(log_path, &bytes, &err), &err);
    CHECK(truncate(log_path, (off_t)bytes - cut) == 0);
}

TEST(kv_prefix_leaves_out_what_follows_a_hole_in_the_log)
{
    struct kv_options options = { .mode = KV_WRITE, .recovery = KV_PREFIX };
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv;
    struct error err;

    make_two_logs(shared, 3);
    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "whole");
    kv_fixture_put(kv, KV_DEFAULT, "new", "value");
    kv_close(kv);
    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "new whole");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_prefix_takes_all_of_logs_without_a_hole)
{
    struct kv_options options = { .mode = KV_WRITE, .recovery = KV_PREFIX };
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv;
    struct error err;

    make_two_logs(shared, 0);
    CHECK_OK(kv_open(shared, kv_fixture_path("day"), &options, &kv, &err), &err);
    CHECK_TEXT(kv_fixture_keys(kv, KV_DEFAULT, NULL, ""), "later torn whole");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_open_fails_cleanly_when_nothing_can_be_written)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE), *second = NULL;
    struct error err;
    int result;

    kv_fixture_put(kv, KV_DEFAULT, "key", "value");
    kv_close(kv);
    kv_fixture_limit_file_size(0);
    result = kv_fixture_try_open(shared, "day", KV_WRITE, &second, &err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_ERROR(result, &err, ERR_IO);
    kv = kv_fixture_open(shared, "day", KV_WRITE);
    CHECK_TEXT(kv_fixture_get(kv, KV_DEFAULT, "key"), "value");
    kv_close(kv);
    kv_shared_free(shared);
}

/* --- memory --- */

static int use_everything(void *context, struct error *err)
{
    struct kv_shared *shared = context;
    AUTO(kv_closep) struct kv *kv = NULL;
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    AUTO(buffer_done) struct buffer value;
    struct kv_snapshot *snapshot;
    struct kv_batch *batch;
    struct kv_sst *sst;
    uint32_t family;
    bool found;

    buffer_init(&value, 0);
    if (kv_fixture_try_open(shared, "day", KV_WRITE, &kv, err) < 0 || kv_batch_new(&batch, err) < 0)
        return -1;
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("key"), SLICE("value"));
    CHECK_OK(kv_write(kv, batch, false, err), err);
    kv_batch_free(batch);
    if (kv_get(kv, KV_DEFAULT, SLICE("key"), &value, &found, err) < 0 || kv_snapshot_new(kv, &snapshot, err) < 0)
        return -1;
    kv_snapshot_free(snapshot);
    if (kv_sst_new(kv, 1, kv_fixture_path("x.sst"), &sst, err) < 0)
        return -1;
    kv_sst_free(sst);
    if (kv_iterator_new(kv, KV_DEFAULT, NULL, SLICE("k"), false, &iterator, err) < 0 ||
        kv_family_create(kv, "head-01-0", &family, err) < 0)
        return -1;
    return kv_family_drop(kv, family, err);
}

TEST(kv_survives_each_failing_allocation)
{
    struct kv_shared *shared = kv_fixture_shared();

    test_each_allocation_failing(use_everything, shared);
    kv_shared_free(shared);
}

static int make_shared(void *context, struct error *err)
{
    struct kv_shared *shared;

    if (kv_shared_new(1 << 20, &shared, err) < 0)
        return -1;
    kv_shared_free(shared);
    return 0;
}

TEST(kv_shared_survives_each_failing_allocation)
{
    test_each_allocation_failing(make_shared, NULL);
}

/* --- threads --- */

struct crowd {
    struct kv *kv;
    _Atomic uint32_t n_done; /* relaxed: read after the threads were joined */
};

static void write_and_read(struct thread *thread, void *context)
{
    struct crowd *crowd = context;
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    while (!thread_is_stopping(thread)) {
        struct kv_iterator *iterator;

        kv_batch_clear(batch);
        kv_batch_put(batch, crowd->kv, KV_DEFAULT, SLICE("key"), slice_from(thread->name));
        CHECK_OK(kv_write(crowd->kv, batch, false, &err), &err);
        CHECK_OK(kv_iterator_new(crowd->kv, KV_DEFAULT, NULL, SLICE("key"), false, &iterator, &err), &err);
        CHECK(kv_iterator_is_valid(iterator));
        kv_iterator_free(iterator);
        CHECK_OK(kv_check_writable(crowd->kv, &err), &err);
        atomic_fetch_add_explicit(&crowd->n_done, 1, memory_order_relaxed);
    }
    kv_batch_free(batch);
}

static void flush_all(struct thread *thread, void *context)
{
    struct crowd *crowd = context;
    struct error err;

    while (!thread_is_stopping(thread)) {
        CHECK_OK(kv_flush(crowd->kv, KV_NO_FAMILY, &err), &err);
        atomic_fetch_add_explicit(&crowd->n_done, 1, memory_order_relaxed);
    }
}

TEST(kv_families_come_and_go_while_others_work)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct crowd crowd = { .kv = kv_fixture_open(shared, "day", KV_WRITE) };
    struct thread threads[3];
    struct error err;

    CHECK_OK(thread_start(&threads[0], "writer-0", write_and_read, &crowd, &err), &err);
    CHECK_OK(thread_start(&threads[1], "writer-1", write_and_read, &crowd, &err), &err);
    CHECK_OK(thread_start(&threads[2], "flusher", flush_all, &crowd, &err), &err);
    for (int i = 0; i < 20; i++) {
        char name[32];
        uint32_t head;

        snprintf(name, sizeof(name), "head-00-%d", i);
        CHECK_OK(kv_family_create(crowd.kv, name, &head, &err), &err);
        kv_fixture_put(crowd.kv, head, "key", "value");
        CHECK_TEXT(kv_family_name(crowd.kv, head), name);
        CHECK_OK(kv_family_drop(crowd.kv, head, &err), &err);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        thread_stop(&threads[i]);
    CHECK(atomic_load_explicit(&crowd.n_done, memory_order_relaxed) > 20);
    CHECK_EQ(kv_families(crowd.kv), 22);
    kv_close(crowd.kv);
    kv_shared_free(shared);
}
