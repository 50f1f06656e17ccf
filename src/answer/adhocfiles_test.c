// SPDX-License-Identifier: Apache-2.0
#include "answer/adhocfiles.h"

#include "base/fs.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

#define TENANT SLICE("anonymous")
#define DAY_NS (24 * 3600 * 1000000000ll)

static struct adhocfiles *opened(uint64_t max_bytes)
{
    struct adhocfiles_options options = { .data_dir = test_directory(), .max_bytes = max_bytes };
    struct adhocfiles *files;
    struct error err;

    CHECK_OK(adhocfiles_open(&options, &files, &err), &err);
    return files;
}

static struct adhocfile put(struct adhocfiles *files, struct slice tenant, const char *name, const char *bytes,
                            int64_t now_ns, struct arena *arena)
{
    struct adhocfile file;
    struct error err;

    CHECK_OK(adhocfiles_put(files, tenant, slice_from(name), slice_from(bytes), now_ns, arena, &file, &err), &err);
    CHECK_EQ(file.id.len, ADHOCFILES_ID_BYTES);
    return file;
}

/* Names of what there is, with commas between. */
static const char *names(struct adhocfiles *files, struct slice tenant, int64_t now_ns, struct arena *arena)
{
    static char text[256];
    struct adhocfiles_list list;
    struct error err;
    size_t len = 0;

    CHECK_OK(adhocfiles_list(files, tenant, now_ns, arena, &list, &err), &err);
    text[0] = '\0';
    for (uint32_t i = 0; i < list.n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s:%llu", i ? "," : "",
                                SLICE_ARG(list.items[i].name), (unsigned long long)list.items[i].size_bytes);
    return text;
}

TEST(adhocfiles_are_listed_read_and_removed)
{
    struct adhocfiles *files = opened(0);
    struct adhocfile first, second, again;
    struct arena arena;
    struct buffer bytes;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    CHECK_TEXT(names(files, TENANT, 1, &arena), "");
    first = put(files, TENANT, "one\n\"quoted\"", "first\nbytes", 1, &arena);
    second = put(files, TENANT, "two", "", 2, &arena);
    put(files, SLICE("other"), "theirs", "x", 3, &arena);
    CHECK(!slice_equal(first.id, second.id));
    adhocfiles_close(files);
    files = opened(0); /* and after a restart */
    CHECK_TEXT(names(files, TENANT, 3, &arena), "two:0,one\n\"quoted\":11");
    CHECK_OK(adhocfiles_read(files, TENANT, first.id, 3, &arena, &again, &bytes, &err), &err);
    CHECK_TEXT(buffer_slice(&bytes), "first\nbytes");
    CHECK_TEXT(again.name, "one\n\"quoted\"");
    CHECK_EQ(again.expires_ns, 1 + 30 * DAY_NS);
    CHECK_ERROR(adhocfiles_read(files, SLICE("other"), first.id, 3, &arena, &again, &bytes, &err), &err, ERR_NOT_FOUND);
    CHECK_ERROR(adhocfiles_remove(files, SLICE("other"), first.id, &arena, &err), &err, ERR_NOT_FOUND);
    CHECK_OK(adhocfiles_remove(files, TENANT, first.id, &arena, &err), &err);
    CHECK_ERROR(adhocfiles_remove(files, TENANT, first.id, &arena, &err), &err, ERR_NOT_FOUND);
    CHECK_TEXT(names(files, TENANT, 3, &arena), "two:0");
    adhocfiles_close(files);
    buffer_done(&bytes);
    arena_done(&arena);
}

TEST(adhocfiles_know_no_ids_that_are_none)
{
    static const char *const ids[] = { "",
                                       "../x",
                                       "0123",
                                       "0123456789abcdef0123456789abcdeF",
                                       "../../../../../../../../etc/pass",
                                       "0123456789abcdef0123456789abcdef0" };
    struct adhocfiles *files = opened(0);
    struct adhocfile file;
    struct arena arena;
    struct buffer bytes;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        CHECK_ERROR(adhocfiles_read(files, TENANT, slice_from(ids[i]), 1, &arena, &file, &bytes, &err), &err,
                    ERR_NOT_FOUND);
        CHECK_ERROR(adhocfiles_remove(files, TENANT, slice_from(ids[i]), &arena, &err), &err, ERR_NOT_FOUND);
        CHECK_HAS(err.text, "there is no uploaded profile with the id '");
    }
    adhocfiles_close(files);
    arena_done(&arena);
}

TEST(adhocfiles_expire)
{
    struct adhocfiles *files = opened(0);
    struct adhocfile file, again;
    struct arena arena;
    struct buffer bytes;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    file = put(files, TENANT, "old", "x", 1, &arena);
    put(files, TENANT, "new", "x", DAY_NS, &arena);
    CHECK_TEXT(names(files, TENANT, 30 * DAY_NS, &arena), "new:1,old:1");
    CHECK_ERROR(adhocfiles_read(files, TENANT, file.id, 31 * DAY_NS, &arena, &again, &bytes, &err), &err,
                ERR_NOT_FOUND);
    CHECK_TEXT(names(files, TENANT, 31 * DAY_NS - 1, &arena), "new:1");
    CHECK_TEXT(names(files, TENANT, 2, &arena), "new:1"); /* it is gone from the disk, too */
    adhocfiles_close(files);
    arena_done(&arena);
}

TEST(adhocfiles_have_bounds)
{
    struct adhocfiles *files = opened(10);
    static char long_name[ADHOCFILES_MAX_NAME_BYTES + 1];
    struct adhocfile file;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    memset(long_name, 'x', sizeof(long_name));
    CHECK_ERROR(adhocfiles_put(files, TENANT, SLICE(""), SLICE("x"), 1, &arena, &file, &err), &err, ERR_INVALID);
    CHECK_ERROR(
        adhocfiles_put(files, TENANT, slice_of(long_name, sizeof(long_name)), SLICE("x"), 1, &arena, &file, &err), &err,
        ERR_LIMIT);
    put(files, TENANT, "six", "123456", 1, &arena);
    CHECK_ERROR(adhocfiles_put(files, SLICE("other"), SLICE("five"), SLICE("12345"), 1, &arena, &file, &err), &err,
                ERR_LIMIT);
    CHECK_HAS(err.text, "uploaded profiles take 6 bytes, and 5 more are beyond the 10 that they may; delete some");
    put(files, SLICE("other"), "four", "1234", 1, &arena);
    put(files, TENANT, "later", "1234567890", 60 * DAY_NS, &arena); /* the others have expired by then */
    adhocfiles_close(files);
    arena_done(&arena);
}

static int put_and_list(void *context UNUSED, struct error *err)
{
    struct adhocfiles_options options = { .data_dir = test_directory() };
    struct adhocfiles_list list;
    struct adhocfiles *files;
    struct adhocfile file;
    struct arena arena;
    struct buffer bytes;
    int result;

    if (adhocfiles_open(&options, &files, err) < 0)
        return -1;
    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    result = adhocfiles_put(files, TENANT, SLICE("name"), SLICE("bytes"), 1, &arena, &file, err);
    if (result == 0)
        result = adhocfiles_list(files, TENANT, 1, &arena, &list, err);
    if (result == 0)
        result = adhocfiles_read(files, TENANT, file.id, 1, &arena, &file, &bytes, err);
    buffer_done(&bytes);
    arena_done(&arena);
    adhocfiles_close(files);
    return result;
}

TEST(adhocfiles_survive_every_allocation_that_fails)
{
    test_each_allocation_failing(put_and_list, NULL);
}
