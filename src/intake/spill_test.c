// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/test.h"
#include "intake/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static struct upload upload_of(const char *body)
{
    return (struct upload){ .kind = UPLOAD_PUSH,
                            .tenant = SLICE("t"),
                            .weight = 1,
                            .content_encoding = SLICE("gzip"),
                            .body = slice_from(body) };
}

static void append(struct spill *spill, const char *body)
{
    struct upload upload = upload_of(body);
    struct error err;

    CHECK_OK(spill_append(spill, &upload, &err), &err);
    CHECK_OK(spill_sync(spill, &err), &err);
}

/* The body of the next upload, or "" without one; `is_done` takes it out. */
static const char *next(struct spill *spill, bool is_done)
{
    static char text[64];
    struct upload upload;
    struct buffer bytes;
    struct error err;
    bool is_there;

    buffer_init(&bytes, 0);
    text[0] = '\0';
    CHECK_OK(spill_next(spill, &bytes, &upload, &is_there, &err), &err);
    if (is_there) {
        snprintf(text, sizeof(text), "%.*s", SLICE_ARG(upload.body));
        CHECK(upload.kind == UPLOAD_PUSH && slice_is(upload.tenant, "t") && slice_is(upload.content_encoding, "gzip"));
        CHECK(upload.id.len > 0);
    }
    if (is_done)
        spill_done(spill);
    buffer_done(&bytes);
    return text;
}

static struct spill *open_spill(uint64_t max_bytes)
{
    struct spill *spill;
    struct error err;
    char path[512];

    snprintf(path, sizeof(path), "%s/spill", test_directory());
    CHECK_OK(spill_open(path, max_bytes, &spill, &err), &err);
    return spill;
}

TEST(uploads_come_out_in_the_order_they_went_in)
{
    struct spill *spill = open_spill(0);

    CHECK_TEXT(next(spill, true), "");
    append(spill, "one");
    append(spill, "two");
    CHECK_TEXT(next(spill, false), "one");
    CHECK_TEXT(next(spill, true), "one");
    append(spill, "three");
    CHECK_TEXT(next(spill, true), "two");
    CHECK_TEXT(next(spill, true), "three");
    CHECK_TEXT(next(spill, true), "");
    CHECK_EQ(spill_counts(spill).bytes, 0);
    CHECK_EQ(spill_counts(spill).n_appended, 3);
    CHECK_EQ(spill_counts(spill).n_done, 3);
    append(spill, "four");
    CHECK_TEXT(next(spill, true), "four");
    spill_close(spill);
}

TEST(what_is_not_done_is_there_after_a_restart_with_the_same_id)
{
    struct spill *spill = open_spill(0);
    struct upload upload;
    struct buffer bytes;
    struct error err;
    char id[64];
    bool is_there;

    append(spill, "one");
    append(spill, "two");
    CHECK_TEXT(next(spill, true), "one");
    buffer_init(&bytes, 0);
    CHECK_OK(spill_next(spill, &bytes, &upload, &is_there, &err), &err);
    snprintf(id, sizeof(id), "%.*s", SLICE_ARG(upload.id));
    spill_close(spill);
    spill = open_spill(0);
    append(spill, "three");
    CHECK_TEXT(next(spill, true), "one"); /* its file is still there: the store knows its id */
    CHECK_OK(spill_next(spill, &bytes, &upload, &is_there, &err), &err);
    CHECK_TEXT(upload.id, id);
    CHECK_TEXT(next(spill, true), "two");
    CHECK_TEXT(next(spill, true), "three");
    CHECK_TEXT(next(spill, true), "");
    spill_close(spill);
    buffer_done(&bytes);
}

TEST(more_than_the_limit_is_refused_and_changes_nothing)
{
    struct spill *spill = open_spill(200);
    struct upload upload = upload_of("0123456789012345678901234567890123456789012345678901234567890123456789");
    struct error err;
    uint64_t before;

    CHECK_OK(spill_append(spill, &upload, &err), &err);
    before = spill_counts(spill).bytes;
    CHECK_ERROR(spill_append(spill, &upload, &err), &err, ERR_FULL);
    CHECK_EQ(spill_counts(spill).bytes, before);
    CHECK(next(spill, true)[0] == '0');
    CHECK_OK(spill_append(spill, &upload, &err), &err);
    spill_close(spill);
}

static void change_file(const char *name, off_t at, char byte, off_t cut_to)
{
    char path[512];
    int fd;

    snprintf(path, sizeof(path), "%s/spill/%s", test_directory(), name);
    fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    if (cut_to)
        CHECK(ftruncate(fd, cut_to) == 0);
    else
        CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

TEST(a_damaged_record_costs_itself)
{
    struct spill *spill = open_spill(0);

    append(spill, "one");
    append(spill, "two");
    change_file("00000001.spill", 16 + 8 + 4, '!', 0);
    CHECK_TEXT(next(spill, true), "two");
    CHECK_TEXT(next(spill, true), "");
    CHECK_EQ(spill_counts(spill).n_damaged, 1);
    spill_close(spill);
}

TEST(a_file_without_sense_is_set_aside_and_the_others_are_read)
{
    struct spill *spill = open_spill(0);
    struct error err;
    char path[512];
    uint64_t size;

    append(spill, "one");
    spill_close(spill);
    spill = open_spill(0);
    append(spill, "two");
    change_file("00000001.spill", 16 + 3, '\xff', 0);
    CHECK_TEXT(next(spill, true), "two");
    spill_close(spill);
    snprintf(path, sizeof(path), "%s/spill/00000001.spill.bad", test_directory());
    CHECK_OK(fs_size(path, &size, &err), &err);
}

TEST(a_torn_end_costs_what_nobody_was_promised)
{
    struct spill *spill = open_spill(0);
    off_t before, after;

    append(spill, "one");
    before = (off_t)spill_counts(spill).bytes;
    append(spill, "two");
    after = (off_t)spill_counts(spill).bytes;
    spill_close(spill);
    for (off_t cut = after - 1; cut > before; cut--) {
        change_file("00000001.spill", 0, 0, cut);
        spill = open_spill(0);
        CHECK_TEXT(next(spill, false), "one");
        spill_close(spill);
    }
    spill = open_spill(0);
    CHECK_TEXT(next(spill, true), "one");
    CHECK_TEXT(next(spill, true), "");
    CHECK_EQ(spill_counts(spill).n_damaged, 0);
    spill_close(spill);
}

static int use_all(void *context UNUSED, struct error *err)
{
    static int n_runs;
    struct upload upload = upload_of("body");
    struct spill *spill;
    struct buffer bytes;
    bool is_there;
    char path[512];
    int result = -1;

    snprintf(path, sizeof(path), "%s/spill-%d", test_directory(), n_runs++);
    if (spill_open(path, 0, &spill, err) < 0)
        return -1;
    buffer_init(&bytes, 0);
    if (spill_append(spill, &upload, err) == 0 && spill_sync(spill, err) == 0 &&
        spill_next(spill, &bytes, &upload, &is_there, err) == 0) {
        CHECK(is_there);
        spill_done(spill);
        result = 0;
    }
    buffer_done(&bytes);
    spill_close(spill);
    return result;
}

TEST(nothing_leaks_without_memory)
{
    test_each_allocation_failing(use_all, NULL);
}

TEST(a_failing_disk_is_told)
{
    test_each_file_call_failing(use_all, NULL, EIO, ERR_IO);
}
