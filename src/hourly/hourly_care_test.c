// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly_sample_test.h"

static bool has_day(const char *name)
{
    struct stat info;
    struct error err;

    return fs_stat(kv_fixture_path(name), &info, &err) == 0;
}

TEST(hourly_drops_days_past_their_retention)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly;

    clock_fake_set(SAMPLE_NOW_NS);
    options.retention_ns = 2 * HOURLY_DAY_NS;
    hourly = sample_open_with(&options);
    for (int day = 0; day < 5; day++)
        sample_put(hourly, -24 * day, (const char *[]){ "a", "b", "c", "d", "e" }[day], "1");
    sample_maintain(hourly, SAMPLE_NOW_NS);
    CHECK_ROWS(hourly, "a=1 b=1 c=1");
    CHECK_EQ(sample_stats(hourly).n_dropped, 2);
    sample_maintain(hourly, SAMPLE_NOW_NS + HOURLY_DAY_NS);
    CHECK_ROWS(hourly, "a=1 b=1");
    CHECK(!has_day("rows/2024-10-02") && has_day("rows/2024-10-03"));
    hourly_close(hourly);
}

static void put_much(struct hourly *hourly, int hour)
{
    static char value[256 << 10];
    uint32_t state = 1;
    struct error err;

    for (size_t i = 0; i + 1 < sizeof(value); i++)
        value[i] = (char)('a' + ((state = state * 1103515245 + 12345) >> 16) % 26);
    sample_put(hourly, hour, "much", value);
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
}

TEST(hourly_drops_the_oldest_days_when_there_are_too_many_bytes_but_never_today)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly;

    clock_fake_set(SAMPLE_NOW_NS);
    options.retention_bytes = 800 << 10;
    hourly = sample_open_with(&options);
    for (int day = 3; day >= 0; day--)
        put_much(hourly, -24 * day);
    sample_maintain(hourly, SAMPLE_NOW_NS);
    CHECK_EQ(sample_stats(hourly).n_days, 2);
    CHECK(!has_day("rows/2024-10-02") && has_day("rows/2024-10-03") && has_day("rows/2024-10-04"));
    hourly_close(hourly);

    options.retention_bytes = 1;
    hourly = sample_open_with(&options);
    sample_maintain(hourly, SAMPLE_NOW_NS);
    CHECK_EQ(sample_stats(hourly).n_days, 1);
    CHECK(has_day("rows/2024-10-04"));
    hourly_close(hourly);
}

static int maintain_within(void *context, const struct hourly_view *view, struct error *err)
{
    struct sample_content content = { .n_days = 0 };

    buffer_init(&content.text, 0);
    sample_maintain(context, SAMPLE_NOW_NS + 9 * HOURLY_DAY_NS);
    CHECK_OK(sample_read_day(&content, view, err), err);
    CHECK_TEXT(buffer_slice(&content.text), "a=1\n");
    buffer_done(&content.text);
    return 0;
}

TEST(hourly_does_not_drop_a_day_while_somebody_reads_it)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly;
    struct error err;

    clock_fake_set(SAMPLE_NOW_NS);
    options.retention_ns = HOURLY_DAY_NS;
    hourly = sample_open_with(&options);
    sample_put(hourly, 8, "a", "1");
    CHECK_OK(hourly_each_day(hourly, 0, INT64_MAX, false, maintain_within, hourly, &err), &err);
    CHECK_EQ(sample_stats(hourly).n_dropped, 0);
    sample_maintain(hourly, SAMPLE_NOW_NS + 9 * HOURLY_DAY_NS);
    CHECK_EQ(sample_stats(hourly).n_dropped, 1);
    CHECK_ROWS(hourly, "");
    hourly_close(hourly);
}

TEST(hourly_closes_heads_that_a_dead_process_left_in_any_day)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);

    for (int day = 0; day < 4; day++)
        sample_put(hourly, -24 * day, (const char *[]){ "a", "b", "c", "d" }[day], "1");
    hourly_close(hourly);
    hourly = sample_open(&context);
    sample_maintain(hourly, SAMPLE_NOW_NS);
    CHECK_EQ(context.n_closed, 4);
    CHECK_EQ(sample_stats(hourly).n_heads, 0);
    CHECK_ROWS(hourly, "a=1 b=1 c=1 d=1");
    hourly_close(hourly);
}

TEST(hourly_closes_idle_days_but_today_and_yesterday)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_stats stats;

    for (int day = 0; day < 5; day++)
        sample_put(hourly, -24 * day, "a", "1");
    clock_fake_advance(300 * CLOCK_NS_PER_SECOND);
    sample_maintain(hourly, SAMPLE_NOW_NS + 300 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(context.n_closed, 5);
    sample_maintain(hourly, SAMPLE_NOW_NS + 300 * CLOCK_NS_PER_SECOND);
    stats = sample_stats(hourly); /* opens them again, for reading */
    CHECK_EQ(stats.n_open, 5);
    clock_fake_advance(120 * CLOCK_NS_PER_SECOND);
    sample_maintain(hourly, SAMPLE_NOW_NS + 420 * CLOCK_NS_PER_SECOND);
    sample_put(hourly, -72, "b", "2"); /* one that was open for reading, or closed, takes rows */
    CHECK_ROWS(hourly, "a=1 a=1 a=1 a=1 a=1 b=2");
    hourly_close(hourly);
}

TEST(hourly_keeps_few_days_open_however_many_are_read)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct error err;

    for (int day = 0; day < 14; day++)
        sample_put(hourly, -24 * day, "a", "1");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    CHECK_EQ(sample_stats(hourly).n_days, 14);
    CHECK(sample_stats(hourly).n_open <= 9);
    hourly_close(hourly);
}

struct copies {
    uint32_t n;
    int64_t last_ns;
    const char *to;
};

static int take_copy(void *context, const struct hourly_copy *copy, struct error *err)
{
    struct copies *copies = context;
    char to[600];

    copies->n++;
    copies->last_ns = copy->start_ns;
    CHECK_TEXT(copy->database, kv_fixture_path(copies->n == 1 ? "rows/2024-10-01" : "rows/2024-10-04"));
    snprintf(to, sizeof(to), "%s/%s", copies->to, copy->name);
    if (!copies->to)
        return error_set(err, ERR_CANCELLED, "enough");
    return rename(copy->path, to) == 0 ? 0 : error_set(err, ERR_IO, "not renamed");
}

TEST(hourly_copies_of_all_days_hold_what_was_there)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly = sample_open(&context);
    struct copies copies = { .to = kv_fixture_path("copy/rows") };
    struct error err;

    sample_put(hourly, -72, "a", "1");
    sample_put(hourly, 8, "b", "2");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    sample_put(hourly, 9, "c", "3");
    CHECK_OK(fs_make_directories(copies.to, 0700, &err), &err);
    CHECK_OK(hourly_each_copy(hourly, take_copy, &copies, &err), &err);
    CHECK_EQ(copies.n, 2);
    CHECK_EQ(copies.last_ns, SAMPLE_DAY_NS);
    sample_put(hourly, 9, "d", "4");
    CHECK_ROWS(hourly, "a=1 b=2 c=3 d=4");
    copies = (struct copies){ 0 };
    CHECK_ERROR(hourly_each_copy(hourly, take_copy, &copies, &err), &err, ERR_CANCELLED);
    CHECK_EQ(copies.n, 1);
    CHECK(!has_day("rows/tmp/copy-2024-10-01")); /* what nobody takes is removed */
    hourly_close(hourly);
    options.data_dir = kv_fixture_path("copy");
    hourly = sample_open_with(&options);
    CHECK_ROWS(hourly, "a=1 b=2 c=3");
    hourly_close(hourly);
    options.is_read_only = true;
    hourly = sample_open_with(&options);
    CHECK_ERROR(hourly_each_copy(hourly, take_copy, &copies, &err), &err, ERR_DENIED);
    hourly_close(hourly);
}
