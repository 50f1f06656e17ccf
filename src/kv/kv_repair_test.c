// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kv/kv_fixture_test.h"
#include "kv/kv_internal.h"

#include <unistd.h>

static bool name_by_number(void *context, uint32_t id, struct slice key, char ret_name[static KV_NAME_BYTES])
{
    snprintf(ret_name, KV_NAME_BYTES, "number-%u", id);
    return true;
}

static const struct kv_namer by_number = { NULL, name_by_number };

/* A database that was not closed: an index in tables and in the log, a head in both, one in the log alone, one dropped.
 * Its files are in "kept". */
static void make_database(void)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t first, second, third;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-07-0", &first, &err), &err);
    CHECK_OK(kv_family_create(kv, "head-08-0", &second, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "a", "first");
    kv_fixture_put(kv, first, "r1", "one");
    kv_fixture_put(kv, second, "r1", "one");
    CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    CHECK_OK(kv_flush(kv, second, &err), &err);
    CHECK_OK(kv_family_drop(kv, first, &err), &err);
    kv_fixture_put(kv, KV_DEFAULT, "a", "second");
    kv_fixture_put(kv, KV_DEFAULT, "b", "first");
    kv_fixture_put(kv, second, "r2", "two");
    CHECK_OK(kv_family_create(kv, "head-09-0", &third, &err), &err);
    kv_fixture_put(kv, third, "r3", "three");
    kv_fixture_copy_directory(kv_fixture_path("day"), kv_fixture_path("kept"));
    kv_close(kv);
    kv_shared_free(shared);
}

static const char *find_manifest(const char *directory)
{
    static char path[KV_PATH_BYTES];
    struct error err;

    CHECK_OK(kv_records_find_manifest(directory, path, &err), &err);
    return path;
}

/* Repairs what is in "copy" and opens it. */
static struct kv *repair(struct kv_shared *shared)
{
    struct kv_options options = { .mode = KV_READ_ONLY, .recovery = KV_SALVAGE };
    struct kv *kv = NULL;
    struct error err;

    CHECK_OK(kv_repair(shared, kv_fixture_path("copy"), &by_number, &err), &err);
    CHECK_OK(kv_repair_logs(kv_fixture_path("copy"), &err), &err);
    CHECK_OK(kv_open(shared, kv_fixture_path("copy"), &options, &kv, &err), &err);
    return kv;
}

static const char *get(struct kv *kv, const char *family, const char *key)
{
    uint32_t number = kv_family_find(kv, family);

    return number == KV_NO_FAMILY ? "(no family)" : kv_fixture_get(kv, number, key);
}

/* What is in it, `third` being the name of the head that is in the log alone. */
static void check_content(struct kv *kv, const char *third)
{
    CHECK_TEXT(get(kv, "default", "a"), "second");
    CHECK_TEXT(get(kv, "default", "b"), "first");
    CHECK_TEXT(get(kv, "head-08-0", "r1"), "one");
    CHECK_TEXT(get(kv, "head-08-0", "r2"), "two");
    CHECK_TEXT(get(kv, third, "r3"), "three");
}

TEST(kv_repair_has_all_that_is_in_tables_and_logs_whichever_record_of_the_manifest_is_damaged)
{
    struct kv_shared *shared = kv_fixture_shared();
    AUTO(buffer_done) struct buffer content;
    unsigned n_lost = 0, n_back = 0, n = 0;
    struct error err;

    make_database();
    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(find_manifest(kv_fixture_path("kept")), 0, &content, &err), &err);
    for (size_t at = 0; at < content.len; at += 7 + bytes_get_le16(content.data + at + 4), n++) {
        struct kv *kv;

        kv_fixture_copy_directory(kv_fixture_path("kept"), kv_fixture_path("copy"));
        kv_fixture_flip_byte(find_manifest(kv_fixture_path("copy")), (long)at);
        kv = repair(shared);
        check_content(kv, kv_family_find(kv, "number-4") != KV_NO_FAMILY ? "number-4" : "head-09-0");
        /* The record that made it, and that which dropped the other, may be the damaged one. */
        n_lost += kv_family_find(kv, "number-4") != KV_NO_FAMILY;
        n_back += kv_family_find(kv, "head-07-0") != KV_NO_FAMILY;
        kv_close(kv);
    }
    CHECK(n > 8);
    CHECK_EQ(n_lost, 1);
    CHECK_EQ(n_back, 1);
    kv_shared_free(shared);
}

TEST(kv_repair_needs_no_manifest)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv;

    make_database();
    kv_fixture_copy_directory(kv_fixture_path("kept"), kv_fixture_path("copy"));
    CHECK(unlink(find_manifest(kv_fixture_path("copy"))) == 0);
    kv = repair(shared);
    CHECK_TEXT(get(kv, "default", "a"), "second");
    CHECK_TEXT(get(kv, "head-08-0", "r1"), "one");
    CHECK_TEXT(get(kv, "head-08-0", "r2"), "two");
    CHECK_TEXT(get(kv, "number-4", "r3"), "three");
    /* Nobody knows any more that it was dropped. */
    CHECK_TEXT(get(kv, "number-2", "r1"), "one");
    kv_close(kv);
    kv_shared_free(shared);
}

static int repair_a_copy(void *context, struct error *err)
{
    kv_fixture_copy_directory(kv_fixture_path("kept"), kv_fixture_path("copy"));
    if (kv_repair(context, kv_fixture_path("copy"), &by_number, err) < 0)
        return -1;
    return kv_repair_logs(kv_fixture_path("copy"), err);
}

TEST(kv_repair_survives_running_out_of_memory)
{
    struct kv_shared *shared = kv_fixture_shared();

    make_database();
    test_each_allocation_failing(repair_a_copy, shared);
    kv_shared_free(shared);
}
