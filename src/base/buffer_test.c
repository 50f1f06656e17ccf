// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include "base/test.h"

TEST(buffer_holds_what_was_appended_in_order)
{
    AUTO(buffer_done) struct buffer buffer;
    struct error err;

    buffer_init(&buffer, 0);
    buffer_append_text(&buffer, "one ");
    buffer_append_slice(&buffer, SLICE("two "));
    buffer_append_byte(&buffer, '3');
    buffer_printf(&buffer, " %s %d", "four", 5);
    buffer_append(&buffer, NULL, 0);
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_TEXT(buffer_slice(&buffer), "one two 3 four 5");
}

TEST(buffer_grows_over_many_appends)
{
    AUTO(buffer_done) struct buffer buffer;
    struct error err;

    buffer_init(&buffer, 0);
    for (int i = 0; i < 20000; i++)
        buffer_printf(&buffer, "%05d", i);
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_EQ(buffer.len, 100000);
    CHECK_TEXT(slice_sub(buffer_slice(&buffer), 5 * 12345, 5), "12345");
}

TEST(buffer_takes_its_maximum_exactly)
{
    AUTO(buffer_done) struct buffer buffer;
    struct error err;

    buffer_init(&buffer, 10);
    buffer_append_text(&buffer, "12345");
    buffer_printf(&buffer, "%s", "67890");
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_TEXT(buffer_slice(&buffer), "1234567890");
    buffer_append(&buffer, NULL, 0);
    CHECK_OK(buffer_check(&buffer, &err), &err);
    buffer_append_byte(&buffer, 'x');
    CHECK_ERROR(buffer_check(&buffer, &err), &err, ERR_LIMIT);
}

TEST(buffer_that_failed_ignores_what_follows_and_says_so_at_the_check)
{
    AUTO(buffer_done) struct buffer buffer;
    struct error err;

    buffer_init(&buffer, 10);
    buffer_append_text(&buffer, "12345");
    buffer_append_text(&buffer, "too long for it");
    buffer_append_text(&buffer, "x");
    buffer_append_byte(&buffer, 'x');
    buffer_printf(&buffer, "x");
    CHECK(!buffer_reserve(&buffer, 1));
    CHECK_ERROR(buffer_check(&buffer, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "limit of 10 bytes");
    CHECK_TEXT(buffer_slice(&buffer), "12345");

    buffer_clear(&buffer);
    buffer_append_text(&buffer, "again");
    CHECK_OK(buffer_check(&buffer, &err), &err);
    CHECK_TEXT(buffer_slice(&buffer), "again");
}

TEST(buffer_refuses_sizes_that_overflow)
{
    AUTO(buffer_done) struct buffer buffer;
    struct error err;

    buffer_init(&buffer, 0);
    buffer_append_text(&buffer, "x");
    CHECK(!buffer_reserve(&buffer, SIZE_MAX));
    CHECK_ERROR(buffer_check(&buffer, &err), &err, ERR_LIMIT);
}

TEST(buffer_reserve_and_commit_write_in_place)
{
    AUTO(buffer_done) struct buffer buffer;
    char *at;

    buffer_init(&buffer, 0);
    buffer_append_text(&buffer, "head ");
    at = buffer_reserve(&buffer, 1000);
    CHECK(at);
    memset(at, 'x', 1000);
    buffer_commit(&buffer, 3);
    CHECK_TEXT(buffer_slice(&buffer), "head xxx");
    buffer_truncate(&buffer, 4);
    CHECK_TEXT(buffer_slice(&buffer), "head");
}

static void truncate_to_more(void)
{
    struct buffer buffer;

    buffer_init(&buffer, 0);
    buffer_append_text(&buffer, "abc");
    buffer_truncate(&buffer, 4);
}

TEST(buffer_truncate_to_more_than_there_is_aborts)
{
    CHECK_ABORTS(truncate_to_more, "buffer.c");
}

static int fill(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer buffer;

    buffer_init(&buffer, 0);
    for (int i = 0; i < 500; i++)
        buffer_printf(&buffer, "%d,", i);
    return buffer_check(&buffer, err);
}

TEST(buffer_survives_any_failing_allocation)
{
    test_each_allocation_failing(fill, NULL);
}
