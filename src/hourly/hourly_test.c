// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly.h"

#include "hourly/hourly_sample_test.h"

TEST(hourly_keeps_rows_by_hour_and_day)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_stats stats;

    sample_put(hourly, 10, "b", "2");
    sample_put(hourly, 10, "a", "1");
    sample_put(hourly, 9, "c", "3");
    sample_put(hourly, -1, "d", "4");
    CHECK_ROWS(hourly, "a=1 b=2 c=3 d=4");
    stats = sample_stats(hourly);
    CHECK_EQ(stats.n_days, 2);
    CHECK_EQ(stats.n_heads, 3);
    CHECK_EQ(stats.n_closings, 0);
    CHECK_EQ(stats.first_day_ns, SAMPLE_DAY_NS - HOURLY_DAY_NS);
    CHECK_EQ(stats.last_day_ns, SAMPLE_DAY_NS);
    CHECK(stats.disk_bytes > 0);
    hourly_close(hourly);
}

TEST(hourly_has_all_rows_when_it_is_opened_again)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);

    sample_put(hourly, 10, "a", "1");
    hourly_close(hourly);
    hourly = sample_open(&context);
    CHECK_ROWS(hourly, "a=1");
    sample_put(hourly, 10, "a", "2");
    sample_put(hourly, 10, "b", "3");
    CHECK_ROWS(hourly, "a=2 b=3"); /* the same key again is the same row */
    CHECK_EQ(sample_stats(hourly).n_heads, 1);
    hourly_close(hourly);
}

TEST(hourly_has_an_index_for_each_day)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    AUTO(buffer_done) struct buffer value;
    struct hourly_batch *batch;
    struct error err;
    bool is_found;

    buffer_init(&value, 0);
    CHECK_OK(hourly_batch_new(hourly, &batch, &err), &err);
    CHECK_OK(hourly_batch_put_index(batch, SAMPLE_NOW_NS, SLICE("k"), SLICE("v"), &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, SAMPLE_NOW_NS, SLICE("a"), SLICE("1"), &err), &err);
    CHECK_EQ(hourly_batch_count(batch), 2);
    CHECK_OK(hourly_get_index(hourly, SAMPLE_NOW_NS, SLICE("k"), &value, &is_found, &err), &err);
    CHECK(!is_found);
    CHECK_OK(hourly_write(batch, &err), &err);
    CHECK_EQ(hourly_batch_count(batch), 0);
    CHECK_OK(hourly_get_index(hourly, SAMPLE_NOW_NS, SLICE("k"), &value, &is_found, &err), &err);
    CHECK(is_found);
    CHECK_TEXT(buffer_slice(&value), "v");
    CHECK_OK(hourly_get_index(hourly, SAMPLE_NOW_NS - HOURLY_DAY_NS, SLICE("k"), &value, &is_found, &err), &err);
    CHECK(!is_found);
    hourly_batch_free(batch);
    hourly_close(hourly);
}

TEST(hourly_writes_nothing_of_a_batch_that_was_cleared)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_batch *batch;
    struct error err;

    CHECK_OK(hourly_batch_new(hourly, &batch, &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, SAMPLE_NOW_NS, SLICE("a"), SLICE("1"), &err), &err);
    hourly_batch_clear(batch);
    CHECK_OK(hourly_batch_put_row(batch, SAMPLE_NOW_NS, SLICE("b"), SLICE("2"), &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, SAMPLE_NOW_NS - HOURLY_DAY_NS, SLICE("c"), SLICE("3"), &err), &err);
    CHECK_OK(hourly_write(batch, &err), &err);
    hourly_batch_free(batch);
    CHECK_ROWS(hourly, "b=2 c=3");
    hourly_close(hourly);
}

struct visited {
    int64_t starts_ns[8];
    size_t n;
};

static int note_visit(void *context, const struct hourly_view *view, struct error *err)
{
    struct visited *visited = context;

    visited->starts_ns[visited->n++] = view->start_ns;
    return visited->n == 3 ? error_set(err, ERR_LIMIT, "enough") : 0;
}

TEST(hourly_visits_the_days_of_a_range_either_way)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct visited visited = { .n = 0 };
    struct error err;

    for (int day = 0; day < 3; day++)
        sample_put(hourly, -24 * day, "a", "1");
    CHECK_OK(
        hourly_each_day(hourly, SAMPLE_DAY_NS - HOURLY_DAY_NS, SAMPLE_DAY_NS + 1, false, note_visit, &visited, &err),
        &err);
    CHECK_EQ(visited.n, 2);
    CHECK_EQ(visited.starts_ns[0], SAMPLE_DAY_NS - HOURLY_DAY_NS);
    CHECK_EQ(visited.starts_ns[1], SAMPLE_DAY_NS);
    visited.n = 0;
    CHECK_OK(hourly_each_day(hourly, 0, SAMPLE_DAY_NS, true, note_visit, &visited, &err), &err);
    CHECK_EQ(visited.n, 2);
    CHECK_EQ(visited.starts_ns[0], SAMPLE_DAY_NS - HOURLY_DAY_NS);
    CHECK_EQ(visited.starts_ns[1], SAMPLE_DAY_NS - 2 * HOURLY_DAY_NS);
    visited.n = 0;
    CHECK_ERROR(hourly_each_day(hourly, 0, INT64_MAX, true, note_visit, &visited, &err), &err, ERR_LIMIT);
    hourly_close(hourly);
}

TEST(hourly_readers_see_what_a_writer_wrote_and_change_nothing)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *writer = sample_open(&context), *reader;
    struct error err;

    sample_put(writer, 10, "a", "1");
    sample_put(writer, 8, "b", "2");
    CHECK_OK(hourly_close_heads(writer, &err), &err);
    sample_put(writer, 10, "c", "3");
    options.is_read_only = true;
    reader = sample_open_with(&options);
    CHECK_ROWS(reader, "a=1 b=2 c=3");
    CHECK_EQ(sample_stats(reader).n_heads, 1);
    /* What the writer drops now stays there for the reader. */
    CHECK_OK(hourly_close_heads(writer, &err), &err);
    CHECK_ROWS(reader, "a=1 b=2 c=3");
    CHECK_ERROR(sample_try_put(reader, SAMPLE_NOW_NS, "d", "4", &err), &err, ERR_DENIED);
    CHECK_HAS(err.text, "rows were opened for reading only");
    CHECK_ERROR(hourly_maintain(reader, SAMPLE_NOW_NS, &err), &err, ERR_DENIED);
    CHECK_ERROR(hourly_close_heads(reader, &err), &err, ERR_DENIED);
    hourly_close(reader);
    hourly_close(writer);
    reader = sample_open_with(&options); /* when nobody writes */
    CHECK_ROWS(reader, "a=1 b=2 c=3");
    hourly_close(reader);
}

TEST(hourly_of_a_folder_that_is_missing_is_empty_for_readers)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *reader;
    struct stat info;
    struct error err;

    options.is_read_only = true;
    reader = sample_open_with(&options);
    CHECK_ROWS(reader, "");
    CHECK_EQ(sample_stats(reader).n_days, 0);
    hourly_close(reader);
    CHECK_ERROR(fs_stat(kv_fixture_path("rows"), &info, &err), &err, ERR_NOT_FOUND);
}

TEST(hourly_refuses_to_write_when_the_disk_is_nearly_full)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly;
    struct error err;

    options.min_free_bytes = UINT64_MAX / 2;
    clock_fake_set(SAMPLE_NOW_NS);
    hourly = sample_open_with(&options);
    CHECK_ERROR(hourly_check_room(hourly, &err), &err, ERR_FULL);
    CHECK_ERROR(sample_try_put(hourly, SAMPLE_NOW_NS, "a", "1", &err), &err, ERR_FULL);
    CHECK_HAS(err.text, "MiB free: free some, or lower --min-free");
    CHECK_ROWS(hourly, "");
    hourly_close(hourly);
}

TEST(hourly_takes_no_row_from_before_1970)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct error err;

    CHECK_ERROR(sample_try_put(hourly, -1, "a", "1", &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "before 1970");
    hourly_close(hourly);
}

TEST(hourly_names_days_by_their_date)
{
    char name[HOURLY_DAY_BYTES];
    int64_t start_ns;

    CHECK_TEXT(hourly_day_name(SAMPLE_NOW_NS, name), "2024-10-04");
    CHECK(hourly_parse_day("2024-10-04", &start_ns));
    CHECK_EQ(start_ns, SAMPLE_DAY_NS);
    CHECK(!hourly_parse_day("tmp", &start_ns));
    CHECK_EQ(hourly_hour(SAMPLE_NOW_NS), 10);
    CHECK_EQ(hourly_day_start(-1), -HOURLY_DAY_NS);
}

static int use_once(void *context, struct error *err)
{
    struct sample_context sample = { .n_closed = 0 };
    struct hourly_options options = sample_options(&sample);
    AUTO(hourly_closep) struct hourly *hourly = NULL;
    struct sample_content content = { .n_days = 0 };
    int result;

    if (hourly_open(&options, &hourly, err) < 0 || sample_try_put(hourly, SAMPLE_NOW_NS, "a", "1", err) < 0 ||
        hourly_close_heads(hourly, err) < 0)
        return -1;
    buffer_init(&content.text, 0);
    result = hourly_each_day(hourly, 0, INT64_MAX, false, sample_read_day, &content, err);
    buffer_done(&content.text);
    return result;
}

TEST(hourly_survives_every_failing_allocation)
{
    struct sample_context context = { .n_closed = 0 };
    struct sample_content content;
    struct hourly *hourly;
    char text[4096];

    clock_fake_set(SAMPLE_NOW_NS);
    test_each_allocation_failing(use_once, NULL);
    hourly = sample_open(&context);
    /* Once for each closing it was written before. */
    content = sample_read(hourly, text, sizeof(text));
    CHECK_EQ(content.n_heads, 0);
    CHECK(content.n_closings > 0);
    CHECK_EQ(strlen(text) + 1, content.n_closings * strlen("a=1 "));
    hourly_close(hourly);
}
