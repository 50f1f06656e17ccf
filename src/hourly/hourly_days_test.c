// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "base/thread.h"
#include "hourly/hourly_sample_test.h"

TEST(hourly_sets_a_day_aside_that_cannot_be_opened_and_goes_on)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    AUTO(buffer_done) struct buffer lines;
    struct stat info;
    struct error err;

    buffer_init(&lines, 0);
    sample_put(hourly, 8, "a", "1");
    sample_put(hourly, -20, "b", "2");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    hourly_close(hourly);
    CHECK_OK(fs_remove_tree(kv_fixture_path("rows/2024-10-04/CURRENT"), &err), &err);
    log_capture(&lines);
    hourly = sample_open(&context);
    CHECK_ROWS(hourly, "b=2");
    CHECK_EQ(sample_stats(hourly).n_set_aside, 1);
    sample_put(hourly, 8, "c", "3");
    CHECK_ROWS(hourly, "b=2 c=3");
    hourly_close(hourly);
    log_capture(NULL);
    CHECK_HAS(buffer_slice(&lines), "day 2024-10-04 cannot be opened and was set aside as");
    /* The first has the logs, as they were before opening was tried once more. */
    CHECK_OK(fs_stat(kv_fixture_path("quarantine/rows-2024-10-04-1"), &info, &err), &err);
}

TEST(hourly_takes_what_a_damaged_log_has_and_keeps_a_copy)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    const char *copy = kv_fixture_path("copied");
    char text[4096];
    struct stat info;
    struct error err;

    for (int i = 0; i < 100; i++) {
        char key[16];

        snprintf(key, sizeof(key), "key%03d", i);
        sample_put(hourly, 8, key, "1");
    }
    /* What a kill leaves: closing would put the rows into files. */
    kv_fixture_copy_directory(kv_fixture_path("rows/2024-10-04"), copy);
    hourly_close(hourly);
    kv_fixture_copy_directory(copy, kv_fixture_path("rows/2024-10-04"));
    kv_fixture_flip_byte(kv_fixture_find_file(kv_fixture_path("rows/2024-10-04"), ".log"), 2000);
    hourly = sample_open(&context);
    sample_read(hourly, text, sizeof(text));
    CHECK_HAS(text, "key000=1");
    CHECK(strlen(text) < 100 * strlen("key000=1 "));
    CHECK_EQ(sample_stats(hourly).n_damaged, 1);
    CHECK_EQ(sample_stats(hourly).n_set_aside, 0);
    CHECK_OK(fs_stat(kv_fixture_path("quarantine/rows-2024-10-04-0"), &info, &err), &err);
    hourly_close(hourly);
}

TEST(hourly_readers_go_on_without_a_damaged_day_and_leave_it)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly = sample_open(&context);
    struct stat info;
    struct error err;

    sample_put(hourly, 8, "a", "1");
    sample_put(hourly, -20, "b", "2");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    hourly_close(hourly);
    CHECK_OK(fs_remove_tree(kv_fixture_path("rows/2024-10-04/CURRENT"), &err), &err);
    options.is_read_only = true;
    hourly = sample_open_with(&options);
    CHECK_ROWS(hourly, "b=2");
    CHECK(sample_stats(hourly).n_damaged > 0);
    hourly_close(hourly);
    CHECK_OK(fs_stat(kv_fixture_path("rows/2024-10-04"), &info, &err), &err);
}

/* --- threads --- */

enum { WRITERS = 2, ROWS = 400 };

struct busy {
    struct hourly *hourly;
    uint32_t first;
    struct thread thread;
    bool has_failed; /* read after the thread has ended */
};

static void write_rows(struct thread *thread, void *context)
{
    struct busy *busy = context;
    struct error err;

    for (uint32_t i = 0; i < ROWS; i++) {
        int64_t time_ns = SAMPLE_DAY_NS + (int64_t)(i % 3) * HOURLY_HOUR_NS - (i % 7 ? 0 : HOURLY_DAY_NS);
        char key[16];

        snprintf(key, sizeof(key), "%06u", busy->first + i);
        busy->has_failed |= sample_try_put(busy->hourly, time_ns, key, "v", &err) < 0;
    }
}

static void maintain_often(struct thread *thread, void *context)
{
    struct busy *busy = context;
    struct error err;

    while (!thread_is_stopping(thread))
        busy->has_failed |=
            hourly_maintain(busy->hourly, SAMPLE_NOW_NS, &err) < 0 || hourly_close_heads(busy->hourly, &err) < 0;
}

/* Rows in text, all of them different: they come sorted. */
static uint32_t count_rows(const char *text)
{
    struct slice rest = slice_from(text), part, last = { 0 };
    uint32_t n = 0;

    while (rest.len && slice_next_part(&rest, ' ', &part)) {
        CHECK(slice_compare(last, part) < 0);
        last = part;
        n++;
    }
    return n;
}

TEST(hourly_views_have_each_row_once_while_others_write_and_close)
{
    static char text[1 << 20];
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct busy writers[WRITERS], closer;
    uint32_t n, last = 0;
    struct error err;

    options.max_head_bytes = 500;
    clock_fake_set(SAMPLE_NOW_NS);
    closer = (struct busy){ .hourly = sample_open_with(&options) };
    CHECK_OK(thread_start(&closer.thread, "closer", maintain_often, &closer, &err), &err);
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct busy){ .hourly = closer.hourly, .first = i * ROWS };
        CHECK_OK(thread_start(&writers[i].thread, "writer", write_rows, &writers[i], &err), &err);
    }
    do {
        sample_read(closer.hourly, text, sizeof(text));
        n = count_rows(text);
        CHECK(n >= last);
        last = n;
    } while (n < WRITERS * ROWS);
    for (uint32_t i = 0; i < WRITERS; i++) {
        thread_stop(&writers[i].thread);
        CHECK(!writers[i].has_failed);
    }
    thread_stop(&closer.thread);
    CHECK(!closer.has_failed);
    CHECK(context.n_closed > 0);
    hourly_close(closer.hourly);
}

static int read_within(void *context, const struct hourly_view *view, struct error *err)
{
    struct busy *busy = context;
    char text[256];

    if (busy->thread.is_started)
        return 0;
    CHECK_OK(thread_start(&busy->thread, "writer", write_rows, busy, err), err);
    usleep(50000);
    sample_read(busy->hourly, text, sizeof(text)); /* must not wait for the writer, who waits for us */
    CHECK_HAS(text, "a=1");
    return 0;
}

TEST(hourly_readers_may_read_a_day_within_reading_it_though_a_writer_waits)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct busy busy = { .hourly = hourly };
    struct sample_content content;
    static char text[1 << 16];
    struct error err;

    sample_put(hourly, 0, "a", "1");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    hourly_close(hourly);
    clock_fake_set(SAMPLE_NOW_NS + 9 * HOURLY_DAY_NS); /* it is opened for reading only */
    busy.hourly = hourly = sample_open_with(&(struct hourly_options){
        .kind = &sample_kind, .context = &context, .data_dir = test_directory(), .memory_bytes = 8 << 20 });
    CHECK_OK(hourly_each_day(hourly, 0, INT64_MAX, false, read_within, &busy, &err), &err);
    thread_stop(&busy.thread);
    CHECK(!busy.has_failed);
    content = sample_read(hourly, text, sizeof(text));
    CHECK_EQ(count_rows(text), ROWS + 1);
    CHECK_EQ(content.n_days, 2);
    hourly_close(hourly);
}
