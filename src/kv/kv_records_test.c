// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/fs.h"
#include "kv/kv_fixture_test.h"
#include "kv/kv_internal.h"

#include <unistd.h>

enum { HEADER_BYTES = 7, LENGTH_AT = 4 };

/* The manifest of a database that took several files in, read; its name lives longer than the next call. */
static const char *make_manifest(struct buffer *content)
{
    static char path[300];
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct error err;

    for (unsigned i = 0; i < 5; i++) {
        kv_fixture_put(kv, KV_DEFAULT, (char[]){ (char)('a' + i), '\0' }, "value");
        CHECK_OK(kv_flush(kv, KV_DEFAULT, &err), &err);
    }
    kv_close(kv);
    kv_shared_free(shared);
    CHECK_OK(fs_read_file(kv_fixture_path("day/CURRENT"), 0, content, &err), &err);
    snprintf(path, sizeof(path), "%s/%.*s", kv_fixture_path("day"), (int)content->len - 1, content->data);
    buffer_clear(content);
    CHECK_OK(fs_read_file(path, 0, content, &err), &err);
    return path;
}

/* Where each record begins; all are in the first block. */
static size_t find_records(const struct buffer *content, size_t *ret_starts, size_t max)
{
    size_t n = 0, at = 0;

    CHECK(content->len < 32768);
    for (; at < content->len && n < max; at += HEADER_BYTES + bytes_get_le16(content->data + at + LENGTH_AT))
        ret_starts[n++] = at;
    CHECK_EQ(at, content->len);
    return n;
}

static int open_as(enum kv_mode mode, enum kv_recovery recovery, struct error *err)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv_options options = { .mode = mode, .recovery = recovery, .secondary_dir = kv_fixture_path("secondary") };
    struct kv *kv = NULL;
    int result = kv_open(shared, kv_fixture_path("day"), &options, &kv, err);

    kv_close(kv);
    kv_shared_free(shared);
    return result;
}

TEST(kv_records_of_a_manifest_are_damaged_where_one_seems_to_reach_beyond_its_end)
{
    AUTO(buffer_done) struct buffer content;
    size_t starts[100], n;
    const char *path;
    struct error err;

    buffer_init(&content, 0);
    path = make_manifest(&content);
    n = find_records(&content, starts, ARRAY_LEN(starts));
    CHECK(n > 5);
    for (size_t i = 0; i + 1 < n; i++) {
        content.data[starts[i] + LENGTH_AT + 1] ^= 0x40;
        CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
        CHECK_ERROR(open_as(KV_WRITE, KV_PREFIX, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "is sound");
        content.data[starts[i] + LENGTH_AT + 1] ^= 0x40;
    }
    CHECK_ERROR(open_as(KV_READ_ONLY, KV_SALVAGE, &err), &err, ERR_CORRUPT);
    CHECK_OK(open_as(KV_SECONDARY, KV_SALVAGE, &err), &err);
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    CHECK_OK(open_as(KV_WRITE, KV_STRICT, &err), &err);
}

TEST(kv_records_of_a_manifest_are_sound_where_the_last_was_not_written_whole)
{
    AUTO(buffer_done) struct buffer content;
    size_t starts[100], n;
    const char *path;
    struct error err;

    buffer_init(&content, 0);
    path = make_manifest(&content);
    n = find_records(&content, starts, ARRAY_LEN(starts));
    for (size_t len = content.len; len > starts[n - 1]; len--) {
        CHECK(truncate(path, (off_t)len) == 0);
        CHECK_OK(kv_records_check_manifest(kv_fixture_path("day"), &err), &err);
    }
    CHECK_OK(open_as(KV_READ_ONLY, KV_STRICT, &err), &err);
}

TEST(kv_records_are_damaged_where_any_bit_of_the_last_is_flipped)
{
    AUTO(buffer_done) struct buffer content;
    size_t starts[100], n;
    const char *path;
    struct error err;

    buffer_init(&content, 0);
    path = make_manifest(&content);
    n = find_records(&content, starts, ARRAY_LEN(starts));
    for (size_t bit = starts[n - 1] * 8; bit < content.len * 8; bit++) {
        content.data[bit / 8] ^= (char)(1 << bit % 8);
        CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
        CHECK_ERROR(kv_records_check(path, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "in its last record");
        content.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    CHECK_OK(kv_records_check(path, &err), &err);
}

TEST(kv_records_are_sound_where_the_end_of_the_last_was_never_filled)
{
    static char text[3000];
    AUTO(buffer_done) struct buffer content;
    const char *path = kv_fixture_path("records");
    struct error err;

    memset(text, 'x', sizeof(text));
    buffer_init(&content, 0);
    kv_records_append(&content, slice_of(text, 200));
    kv_records_append(&content, slice_of(text, sizeof(text)));
    for (size_t sector = 512; sector < content.len; sector += 512) {
        CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
        CHECK_OK(kv_records_check(path, &err), &err);
        CHECK(truncate(path, (off_t)sector) == 0 && truncate(path, (off_t)content.len) == 0);
        CHECK_OK(kv_records_check(path, &err), &err);
    }
}

/* --- what is in them --- */

struct found {
    struct buffer lens; /* of the records, each followed by a space */
    size_t n;
};

static int note(void *context, struct slice record, struct error *err)
{
    struct found *found = context;

    for (size_t i = 0; i < record.len; i++)
        CHECK_EQ(record.ptr[i], record.ptr[0]);
    buffer_printf(&found->lens, "%c%zu ", record.len ? record.ptr[0] : '-', record.len);
    found->n++;
    return 0;
}

static void check_records(const char *path, const char *expected)
{
    struct found found = { .n = 0 };
    struct error err;

    buffer_init(&found.lens, 0);
    CHECK_OK(kv_records_each(path, note, &found, &err), &err);
    buffer_append_byte(&found.lens, '\0');
    CHECK_TEXT(found.lens.data, expected);
    buffer_done(&found.lens);
}

TEST(kv_records_are_read_as_they_were_written)
{
    static char text[100000];
    AUTO(buffer_done) struct buffer content;
    const char *path = kv_fixture_path("records");
    struct error err;

    buffer_init(&content, 0);
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    check_records(path, "");
    kv_records_append(&content, SLICE(""));
    memset(text, 'a', sizeof(text));
    kv_records_append(&content, slice_of(text, sizeof(text)));
    memset(text, 'b', sizeof(text));
    kv_records_append(&content, slice_of(text, 10));
    /* To the end of a block, but for what no header fits into. */
    memset(text, 'c', sizeof(text));
    kv_records_append(&content, slice_of(text, 32768 - content.len % 32768 - HEADER_BYTES - 3));
    memset(text, 'd', sizeof(text));
    kv_records_append(&content, slice_of(text, 7));
    /* A header and nothing else at the end of a block. */
    memset(text, 'e', sizeof(text));
    kv_records_append(&content, slice_of(text, 32768 - content.len % 32768 - 2 * HEADER_BYTES));
    memset(text, 'f', sizeof(text));
    kv_records_append(&content, slice_of(text, 5));
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    CHECK_OK(kv_records_check(path, &err), &err);
    check_records(path, "-0 a100000 b10 c31010 d7 e32740 f5 ");
    CHECK_ERROR(kv_records_each(kv_fixture_path("none"), note, NULL, &err), &err, ERR_NOT_FOUND);
}

TEST(kv_records_are_read_past_damage)
{
    static char text[40000];
    AUTO(buffer_done) struct buffer content;
    const char *path = kv_fixture_path("records");
    struct error err;

    memset(text, 'x', sizeof(text));
    buffer_init(&content, 0);
    kv_records_append(&content, slice_of(text, 10));
    kv_records_append(&content, slice_of(text, 20));
    kv_records_append(&content, slice_of(text, sizeof(text)));
    kv_records_append(&content, slice_of(text, 30));
    for (size_t at = 0; at < content.len; at += at < 50 || at + 40 > content.len ? 1 : 1009) {
        const char *expected = at < 17 ? "x20 x40000 x30 " : at < 44 ? "x10 x40000 x30 " : "x10 x20 x30 ";

        if (at >= content.len - 37)
            expected = "x10 x20 x40000 ";
        content.data[at] ^= 0x10;
        CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
        check_records(path, expected);
        content.data[at] ^= 0x10;
    }
}

static int count(void *context, struct slice record, struct error *err)
{
    ++*(size_t *)context;
    return 0;
}

static int read_large(void *context, struct error *err)
{
    size_t n = 0;

    return kv_records_each(context, count, &n, err);
}

static int append_large(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer content;

    buffer_init(&content, 0);
    kv_records_append(&content, *(struct slice *)context);
    return buffer_check(&content, err);
}

TEST(kv_records_survive_running_out_of_memory_between_parts)
{
    static char text[100000];
    struct slice record = slice_of(text, sizeof(text));
    AUTO(buffer_done) struct buffer content;
    char path[300];
    struct error err;

    buffer_init(&content, 0);
    kv_records_append(&content, record);
    snprintf(path, sizeof(path), "%s", kv_fixture_path("records"));
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    test_each_allocation_failing(read_large, path);
    test_each_allocation_failing(append_large, &record);
}

TEST(kv_records_of_a_manifest_are_left_to_rocksdb_where_it_is_missing_or_has_an_odd_name)
{
    struct error err;

    CHECK_OK(kv_records_check_manifest(kv_fixture_path("none"), &err), &err);
    CHECK_OK(fs_make_directories(kv_fixture_path("day"), 0700, &err), &err);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE(""), &err), &err);
    CHECK_OK(kv_records_check_manifest(kv_fixture_path("day"), &err), &err);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE("MANIFEST-/../x\n"), &err), &err);
    CHECK_OK(kv_records_check_manifest(kv_fixture_path("day"), &err), &err);
    CHECK_OK(fs_write_file(kv_fixture_path("day/CURRENT"), SLICE("MANIFEST-000001\n"), &err), &err);
    CHECK_OK(kv_records_check_manifest(kv_fixture_path("day"), &err), &err);
}

TEST(kv_records_of_a_log_are_damaged_where_rocksdb_would_end_it)
{
    AUTO(buffer_done) struct buffer content;
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    size_t starts[100], n;
    char path[300];
    struct error err;

    for (unsigned i = 0; i < 9; i++)
        kv_fixture_put(kv, KV_DEFAULT, (char[]){ (char)('a' + i), '\0' }, "value");
    kv_close(kv);
    kv_shared_free(shared);
    snprintf(path, sizeof(path), "%s", kv_fixture_find_file(kv_fixture_path("day"), ".log"));
    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    n = find_records(&content, starts, ARRAY_LEN(starts));
    CHECK_EQ(n, 9);
    CHECK_OK(kv_wal_check(kv_fixture_path("day"), &err), &err);
    for (size_t i = 0; i < n; i++) {
        /* Too long; then of a kind that is left from an earlier use of the file. */
        static const struct {
            size_t at;
            char bit;
        } flips[] = { { LENGTH_AT + 1, 0x40 }, { LENGTH_AT + 2, 4 } };

        for (size_t k = 0; k < ARRAY_LEN(flips); k++) {
            content.data[starts[i] + flips[k].at] ^= flips[k].bit;
            CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
            CHECK_ERROR(open_as(KV_READ_ONLY, KV_PREFIX, &err), &err, ERR_CORRUPT);
            CHECK_HAS(err.text, i + 1 < n ? "is sound" : "in its last record");
            content.data[starts[i] + flips[k].at] ^= flips[k].bit;
        }
    }
    /* Zeros are room that was never filled. */
    memset(content.data + starts[3], 0, starts[5] - starts[3]);
    CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
    CHECK_OK(kv_wal_check(kv_fixture_path("day"), &err), &err);
}

static int check(void *context, struct error *err)
{
    return kv_records_check_manifest(kv_fixture_path("day"), err);
}

TEST(kv_records_survive_running_out_of_memory)
{
    AUTO(buffer_done) struct buffer content;

    buffer_init(&content, 0);
    make_manifest(&content);
    test_each_allocation_failing(check, NULL);
}
