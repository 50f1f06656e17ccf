// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include "base/log.h"
#include "store/day_sample_test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *at(const char *name)
{
    static char paths[8][300];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", test_directory(), name);
    return path;
}

/* How many rows a copy of the day has, or -1 if it is not the same day. */
static void check_copy(struct day_sample *sample, const char *path, uint32_t n_heads, uint32_t n_markers)
{
    struct day *day;
    struct error err;

    CHECK_OK(day_open(&sample->context, path, DAY_SAMPLE_NAME, KV_WRITE, NULL, &day, &err), &err);
    CHECK_EQ(day->heads.n, n_heads);
    CHECK_EQ(day->markers.n, n_markers);
    CHECK(day_find_tenant(day, SLICE("other")) != 0);
    day_close(day);
}

static struct backup_counts back_up(struct day_sample *sample, const char *path, const char *previous)
{
    struct backup_counts counts = { 0 };
    struct error err;

    CHECK_OK(backup_database(sample->day->kv, at("scratch/checkpoint"), path, previous, &counts, &err), &err);
    CHECK_ERROR(fs_stat(at("scratch/checkpoint"), &(struct stat){ 0 }, &err), &err, ERR_NOT_FOUND);
    return counts;
}

static uint64_t bytes_in(const char *path)
{
    struct arena arena;
    struct fs_listing listing;
    uint64_t total = 0, size;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(path, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *file = arena_printf(&arena, &err, "%s/%s", path, listing.names[i]);

        CHECK(file);
        CHECK_OK(fs_size(file, &size, &err), &err);
        total += size;
    }
    arena_done(&arena);
    return total;
}

TEST(backup_is_a_whole_copy_of_its_own)
{
    struct backup_counts counts;
    struct day_sample sample;
    char copy[300];
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    snprintf(copy, sizeof(copy), "%s", at("copy"));
    counts = back_up(&sample, copy, NULL);
    CHECK_EQ(counts.linked_bytes, 0);
    CHECK_EQ(counts.copied_bytes, bytes_in(copy));
    CHECK(counts.copied_bytes > 0);
    day_close(sample.day);
    CHECK_OK(fs_remove_tree(sample.path, &err), &err);
    check_copy(&sample, copy, 1, 2);
    kv_shared_free(sample.context.kv);
}

TEST(backup_links_tables_that_the_one_before_has)
{
    struct backup_counts first, second;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    first = back_up(&sample, at("first"), NULL);
    day_sample_close_hours(&sample);
    second = back_up(&sample, at("second"), at("first"));
    CHECK(second.linked_bytes > 0);
    CHECK(second.copied_bytes > 0);
    CHECK_EQ(second.linked_bytes + second.copied_bytes, bytes_in(at("second")));
    CHECK(second.linked_bytes < first.copied_bytes);
    /* Each is whole without the other. */
    CHECK_OK(fs_remove_tree(at("first"), &err), &err);
    check_copy(&sample, at("second"), 0, 3);
    day_sample_done(&sample);
}

TEST(backup_links_nothing_from_another_database)
{
    struct backup_counts counts;
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    back_up(&sample, at("first"), NULL);
    CHECK_OK(fs_write_file(at("first/IDENTITY"), SLICE("somebody else"), &err), &err);
    counts = back_up(&sample, at("second"), at("first"));
    CHECK_EQ(counts.linked_bytes, 0);
    CHECK_OK(fs_remove_tree(at("first/IDENTITY"), &err), &err);
    counts = back_up(&sample, at("third"), at("first"));
    CHECK_EQ(counts.linked_bytes, 0);
    counts = back_up(&sample, at("fourth"), at("nowhere"));
    CHECK_EQ(counts.linked_bytes, 0);
    day_sample_done(&sample);
}

/* Changes the last byte of each table, as if they were of a copy that went its own way. */
static void change_tables(const char *path)
{
    struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(path, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *file = arena_printf(&arena, &err, "%s/%s", path, listing.names[i]);
        AUTO(buffer_done) struct buffer content;

        CHECK(file);
        buffer_init(&content, 0);
        if (!slice_ends_with(slice_from(file), SLICE(".sst")))
            continue;
        CHECK_OK(fs_read_file(file, 0, &content, &err), &err);
        content.data[content.len - 1] ^= 1;
        CHECK_OK(fs_write_file(file, buffer_slice(&content), &err), &err);
    }
    arena_done(&arena);
}

TEST(backup_links_nothing_that_only_looks_the_same)
{
    struct backup_counts counts;
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    back_up(&sample, at("first"), NULL);
    change_tables(at("first"));
    counts = back_up(&sample, at("second"), at("first"));
    CHECK_EQ(counts.linked_bytes, 0);
    check_copy(&sample, at("second"), 1, 2);
    day_sample_done(&sample);
}

TEST(backup_overwrites_nothing)
{
    struct backup_counts counts = { 0 };
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(fs_make_directories(at("there"), 0700, &err), &err);
    CHECK_ERROR(backup_database(sample.day->kv, at("scratch/x"), at("there"), NULL, &counts, &err), &err, ERR_EXISTS);
    CHECK_HAS(err.text, "there is something already");
    CHECK_OK(fs_write_file(at("from"), SLICE("new"), &err), &err);
    CHECK_OK(fs_write_file(at("to"), SLICE("old"), &err), &err);
    CHECK_ERROR(backup_copy_file(at("from"), at("to"), &counts.copied_bytes, &err), &err, ERR_EXISTS);
    CHECK_EQ(counts.copied_bytes, 0);
    day_sample_done(&sample);
}

TEST(backup_copies_files_of_any_length)
{
    static const size_t sizes[] = { 0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 600000 };
    AUTO(buffer_done) struct buffer content;
    AUTO(buffer_done) struct buffer got;
    uint64_t bytes;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&got, 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        buffer_clear(&got);
        while (content.len < sizes[i])
            buffer_append_byte(&content, (char)(content.len * 31 >> 3));
        CHECK_OK(fs_write_file(at("from"), buffer_slice(&content), &err), &err);
        CHECK_OK(backup_copy_file(at("from"), at("to"), &bytes, &err), &err);
        CHECK_EQ(bytes, sizes[i]);
        CHECK_OK(fs_read_file(at("to"), 0, &got, &err), &err);
        CHECK(slice_equal(buffer_slice(&got), buffer_slice(&content)));
        CHECK_OK(fs_remove_tree(at("to"), &err), &err);
    }
}

TEST(backup_finds_the_newest_that_is_complete)
{
    struct arena arena;
    const char *path;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(backup_find_newest(at("nowhere"), &arena, &path, &err), &err);
    CHECK(!path);
    CHECK_OK(fs_make_directories(at("all/2026-11-15T10"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(at("all/2026-11-15T11"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(at("all/2026-11-15T12/profiles"), 0700, &err), &err);
    CHECK_OK(backup_find_newest(at("all"), &arena, &path, &err), &err);
    CHECK(!path);
    CHECK_OK(fs_write_file(at("all/2026-11-15T10/BACKUP"), SLICE(""), &err), &err);
    CHECK_OK(fs_write_file(at("all/2026-11-15T11/BACKUP"), SLICE(""), &err), &err);
    CHECK_OK(fs_write_file(at("all/zzz"), SLICE(""), &err), &err);
    CHECK_OK(backup_find_newest(at("all"), &arena, &path, &err), &err);
    CHECK_TEXT(path, at("all/2026-11-15T11"));
    arena_done(&arena);
}

static int back_up_again(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct backup_counts counts = { 0 };
    int result = backup_database(sample->day->kv, at("scratch/again"), at("again"), at("first"), &counts, err);
    struct error none;
    struct stat info;

    if (result < 0) {
        CHECK_EQ(counts.copied_bytes, 0);
        CHECK(fs_stat(at("again"), &info, &none) < 0);
        CHECK(fs_stat(at("scratch/again"), &info, &none) < 0);
    }
    /* For the next round: the call that fails may be one of these, so twice. */
    for (unsigned i = 0; i < 2; i++) {
        IGNORE(fs_remove_tree(at("again"), &none), "tried again");
        IGNORE(fs_remove_tree(at("scratch/again"), &none), "tried again");
    }
    return result;
}

TEST(backup_leaves_nothing_behind_when_it_fails)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 3 });
    day_sample_close_hours(&sample);
    back_up(&sample, at("first"), NULL);
    test_each_allocation_failing(back_up_again, &sample);
    test_each_file_call_failing(back_up_again, &sample, EIO, ERR_IO);
    day_sample_done(&sample);
}

TEST(backup_tells_which_were_not_finished)
{
    struct buffer log;
    struct error err;

    CHECK_OK(fs_make_directories(at("2026-11-15T10-00-00Z"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(at("2026-11-15T11-00-00Z"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(at("something"), 0700, &err), &err);
    CHECK_OK(fs_write_file(at("2026-11-15T11-00-00Z/BACKUP"), SLICE("complete\n"), &err), &err);
    buffer_init(&log, 0);
    log_capture(&log);
    backup_tell_unfinished(test_directory());
    log_capture(NULL);
    CHECK_HAS(buffer_slice(&log), "2026-11-15T10-00-00Z' is a backup that was not finished: remove it");
    CHECK(slice_find(buffer_slice(&log), SLICE("T11-00-00Z'")) < 0 &&
          slice_find(buffer_slice(&log), SLICE("something")) < 0);
    buffer_done(&log);
}
