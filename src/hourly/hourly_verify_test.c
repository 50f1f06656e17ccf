// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly_sample_test.h"

/* Rows and blocks with the word "bad" are. */
static int check_sample(void *context, enum hourly_part part, struct slice key, struct slice value, struct error *err)
{
    if (slice_find(value, SLICE("bad")) < 0)
        return 0;
    return error_set(err, ERR_CORRUPT, "a bad %s", (const char *[]){ "row", "block", "record" }[part]);
}

static const struct hourly_kind checked_kind = { .name = "rows", .close = sample_close, .check = check_sample };

static struct hourly *open_checked(struct sample_context *context, bool is_read_only)
{
    struct hourly_options options = sample_options(context);

    clock_fake_set(SAMPLE_NOW_NS);
    options.kind = &checked_kind;
    options.is_read_only = is_read_only;
    return sample_open_with(&options);
}

static void note_line(void *context, const char *line)
{
    buffer_printf(context, "%s\n", line);
}

static struct hourly_verify verify_all(struct hourly *hourly, bool is_repairing, struct buffer *lines)
{
    struct hourly_verify verify = { .is_repairing = is_repairing, .tell = note_line, .context = lines };
    struct error err;

    buffer_clear(lines);
    CHECK_OK(hourly_verify(hourly, &verify, &err), &err);
    return verify;
}

TEST(hourly_verify_counts_what_is_sound)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = open_checked(&context, false);
    AUTO(buffer_done) struct buffer lines;
    struct hourly_verify verify;
    struct error err;

    buffer_init(&lines, 0);
    sample_put(hourly, 8, "a", "1");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    sample_put(hourly, 9, "b", "2");
    sample_put(hourly, -20, "c", "3");
    verify = verify_all(hourly, false, &lines);
    CHECK_EQ(verify.n_days, 2);
    CHECK_EQ(verify.n_rows, 2);
    CHECK_EQ(verify.n_values, 5); /* a block, what is said of it, the marker, and a number each day */
    CHECK_EQ(verify.n_bad_values + verify.n_bad_days, 0);
    CHECK_EQ(lines.len, 0);
    hourly_close(hourly);
}

TEST(hourly_verify_tells_damaged_values_and_moves_them_away)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = open_checked(&context, false), *reader;
    AUTO(buffer_done) struct buffer lines, aside;
    struct hourly_verify verify;
    struct error err;

    buffer_init(&lines, 0);
    buffer_init(&aside, 0);
    sample_put(hourly, 8, "a", "bad");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    sample_put(hourly, 9, "b", "bad, too");
    sample_put(hourly, 9, "c", "3");
    reader = open_checked(&context, true);
    verify = verify_all(reader, false, &lines);
    CHECK_EQ(verify.n_bad_values, 2);
    CHECK_EQ(verify.n_repaired, 0);
    CHECK_HAS(buffer_slice(&lines), "rows 2024-10-04: the value of key 62080000000100000000: a bad block\n");
    CHECK_HAS(buffer_slice(&lines), "rows 2024-10-04: the value of key 62: a bad row\n");
    verify.is_repairing = true;
    CHECK_ERROR(hourly_verify(reader, &verify, &err), &err, ERR_DENIED);
    hourly_close(reader);
    verify = verify_all(hourly, true, &lines);
    CHECK_EQ(verify.n_repaired, 2);
    CHECK_ROWS(hourly, "c=3");
    CHECK_EQ(verify_all(hourly, true, &lines).n_bad_values, 0);
    CHECK_OK(fs_read_file(kv_fixture_path("quarantine/rows-2024-10-04-0/value-1"), 0, &aside, &err), &err);
    CHECK_TEXT(buffer_slice(&aside), "1\nbbad, too");
    hourly_close(hourly);
}

TEST(hourly_verify_passes_by_what_cannot_be_read)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = open_checked(&context, false);
    AUTO(buffer_done) struct buffer lines;
    struct hourly_verify verify;
    static char value[40 << 10];
    struct error err;

    buffer_init(&lines, 0);
    memset(value, 'v', sizeof(value) - 1);
    for (int i = 0; i < 9; i++)
        sample_put(hourly, 8, (const char *[]){ "a", "b", "c", "d", "e", "f", "g", "h", "i" }[i], value);
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    hourly_close(hourly);
    kv_fixture_flip_byte(kv_fixture_find_file(kv_fixture_path("rows/2024-10-04"), ".sst"), 60 << 10);
    hourly = open_checked(&context, true);
    verify = verify_all(hourly, false, &lines);
    CHECK_EQ(verify.n_bad_values, 1);
    CHECK_EQ(verify.n_values, 7);
    CHECK_HAS(buffer_slice(&lines), "rows 2024-10-04: part of a table: ");
    hourly_close(hourly);
}

TEST(hourly_verify_tells_days_that_cannot_be_opened_and_sets_them_aside)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = open_checked(&context, false);
    AUTO(buffer_done) struct buffer lines;
    struct hourly_verify verify;

    buffer_init(&lines, 0);
    sample_put(hourly, 8, "a", "1");
    sample_put(hourly, -20, "b", "2");
    hourly_close(hourly);
    CHECK(remove(kv_fixture_path("rows/2024-10-04/CURRENT")) == 0);
    hourly = open_checked(&context, true);
    verify = verify_all(hourly, false, &lines);
    CHECK_EQ(verify.n_bad_days, 1);
    CHECK_EQ(verify.n_days, 1);
    CHECK_HAS(buffer_slice(&lines), "rows 2024-10-04: the day: ");
    hourly_close(hourly);
    hourly = open_checked(&context, false);
    verify = verify_all(hourly, true, &lines);
    CHECK_EQ(verify.n_bad_days, 1);
    CHECK_EQ(verify.n_repaired, 1);
    CHECK_EQ(verify_all(hourly, true, &lines).n_bad_days, 0);
    hourly_close(hourly);
}
