// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly_sample_test.h"

#include <sys/wait.h>

TEST(hourly_closes_heads_whose_hour_is_over_for_a_while)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_stats stats;

    clock_fake_set(SAMPLE_DAY_NS + 8 * HOURLY_HOUR_NS);
    for (int i = 0; i < 8; i++)
        sample_put(hourly, 8, (const char *[]){ "a", "b", "c", "d", "e", "f", "g", "h" }[i], "1");
    sample_put(hourly, 9, "later", "2");
    sample_maintain(hourly, SAMPLE_DAY_NS + 9 * HOURLY_HOUR_NS + 299 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(context.n_closed, 0);
    sample_maintain(hourly, SAMPLE_DAY_NS + 9 * HOURLY_HOUR_NS + 300 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(context.n_closed, 1);
    CHECK_ROWS(hourly, "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 later=2");
    stats = sample_stats(hourly);
    CHECK_EQ(stats.n_heads, 1);
    CHECK_EQ(stats.n_closings, 1);
    CHECK(stats.block_bytes > 0);
    hourly_close(hourly);
    hourly = sample_open(&context);
    CHECK_ROWS(hourly, "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 later=2");
    hourly_close(hourly);
}

TEST(hourly_gives_late_rows_a_new_head_that_stays_open_for_a_while)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_stats stats;
    struct error err;

    sample_put(hourly, 8, "a", "1");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    sample_put(hourly, 8, "b", "2");
    sample_maintain(hourly, SAMPLE_NOW_NS + 299 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(context.n_closed, 1);
    sample_put(hourly, 8, "c", "3");
    sample_maintain(hourly, SAMPLE_NOW_NS + 300 * CLOCK_NS_PER_SECOND);
    CHECK_EQ(context.n_closed, 2);
    stats = sample_stats(hourly);
    CHECK_EQ(stats.n_heads, 0);
    CHECK_EQ(stats.n_closings, 2);
    CHECK_ROWS(hourly, "a=1 b=2 c=3");
    hourly_close(hourly);
}

TEST(hourly_closes_large_heads_before_their_hour_is_over)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly;

    clock_fake_set(SAMPLE_NOW_NS);
    options.max_head_bytes = 10;
    hourly = sample_open_with(&options);
    sample_put(hourly, 10, "a", "123456789");
    sample_put(hourly, 10, "b", "1");
    CHECK_EQ(sample_stats(hourly).n_heads, 2);
    sample_maintain(hourly, SAMPLE_NOW_NS);
    CHECK_EQ(context.n_closed, 1);
    CHECK_EQ(sample_stats(hourly).n_heads, 1);
    CHECK_ROWS(hourly, "a=123456789 b=1");
    hourly_close(hourly);
}

static int note_numbers(void *context, const struct hourly_view *view, struct error *err)
{
    uint32_t *numbers = context;

    for (size_t i = 0; i < view->n_heads; i++)
        numbers[view->heads[i].number]++;
    for (size_t i = 0; i < view->n_closings; i++)
        numbers[view->closings[i].number]++;
    return 0;
}

TEST(hourly_never_uses_a_number_twice)
{
    struct sample_context context = { .n_closed = 0 };
    uint32_t numbers[16] = { 0 };
    struct hourly *hourly;
    struct error err;

    for (int i = 0; i < 5; i++) {
        hourly = sample_open(&context);
        sample_put(hourly, i % 2, "a", "1");
        sample_put(hourly, 5, "b", "1");
        if (i < 4)
            CHECK_OK(hourly_close_heads(hourly, &err), &err);
        hourly_close(hourly);
    }
    hourly = sample_open(&context);
    CHECK_OK(hourly_each_day(hourly, 0, INT64_MAX, false, note_numbers, numbers, &err), &err);
    for (int i = 1; i <= 10; i++)
        CHECK_EQ(numbers[i], 1);
    hourly_close(hourly);
}

/* --- when it does not work --- */

TEST(hourly_tries_again_to_close_a_head_after_a_failure)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct error err;

    sample_put(hourly, 8, "a", "1");
    error_set(&context.failure, ERR_FULL, "no room");
    CHECK_ERROR(hourly_maintain(hourly, SAMPLE_NOW_NS + HOURLY_HOUR_NS, &err), &err, ERR_FULL);
    CHECK_HAS(err.text, "closing hour 08 of day 2024-10-04 of rows: no room");
    CHECK_ROWS(hourly, "a=1");
    context.failure.code = ERR_OK;
    sample_maintain(hourly, SAMPLE_NOW_NS + HOURLY_HOUR_NS); /* not at once */
    CHECK_EQ(context.n_closed, 0);
    clock_fake_advance(60 * CLOCK_NS_PER_SECOND);
    sample_put(hourly, 8, "b", "2"); /* a head that is to be closed takes no more rows */
    sample_maintain(hourly, SAMPLE_NOW_NS + HOURLY_HOUR_NS);
    CHECK_EQ(context.n_closed, 2);
    CHECK_ROWS(hourly, "a=1 b=2");
    hourly_close(hourly);
}

TEST(hourly_leaves_a_damaged_head_open_and_counts_it)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct error err;

    sample_put(hourly, 8, "a", "1");
    error_set(&context.failure, ERR_CORRUPT, "what is this");
    CHECK_ERROR(hourly_close_heads(hourly, &err), &err, ERR_CORRUPT);
    context.failure.code = ERR_OK;
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    CHECK_EQ(context.n_closed, 0);
    CHECK_EQ(sample_stats(hourly).n_damaged, 1);
    sample_put(hourly, 8, "b", "2");
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    CHECK_EQ(context.n_closed, 1);
    CHECK_ROWS(hourly, "a=1 b=2");
    hourly_close(hourly);
}

TEST(hourly_gives_up_closing_when_it_is_stopped)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct error err;

    sample_put(hourly, 8, "a", "1");
    hourly_stop(hourly);
    CHECK_ERROR(hourly_close_heads(hourly, &err), &err, ERR_CLOSED);
    CHECK_ROWS(hourly, "a=1");
    hourly_close(hourly);
}

/* --- at the same time --- */

struct writing {
    struct hourly *hourly;
    const char *key;
};

static int write_meanwhile(void *context, struct error *err)
{
    const struct writing *writing = context;

    return sample_try_put(writing->hourly, SAMPLE_DAY_NS + 8 * HOURLY_HOUR_NS, writing->key, "new", err);
}

TEST(hourly_takes_rows_while_a_head_is_closed)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct writing writing = { .hourly = hourly, .key = "a" };
    struct error err;

    sample_put(hourly, 8, "a", "1");
    context.meanwhile = write_meanwhile;
    context.meanwhile_context = &writing;
    CHECK_OK(hourly_close_heads(hourly, &err), &err);
    context.meanwhile = NULL;
    CHECK_EQ(sample_stats(hourly).n_heads, 1);
    CHECK_ROWS(hourly, "a=1 a=new");
    hourly_close(hourly);
}

TEST(hourly_does_not_close_a_head_that_a_batch_holds)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly *hourly = sample_open(&context);
    struct hourly_batch *batch;
    struct error err;

    CHECK_OK(hourly_batch_new(hourly, &batch, &err), &err);
    CHECK_OK(hourly_batch_put_row(batch, SAMPLE_DAY_NS + 8 * HOURLY_HOUR_NS, SLICE("a"), SLICE("1"), &err), &err);
    sample_maintain(hourly, SAMPLE_NOW_NS + HOURLY_HOUR_NS);
    CHECK_EQ(context.n_closed, 0);
    CHECK_OK(hourly_write(batch, &err), &err);
    hourly_batch_free(batch);
    CHECK_ROWS(hourly, "a=1");
    sample_maintain(hourly, SAMPLE_NOW_NS + HOURLY_HOUR_NS);
    CHECK_EQ(context.n_closed, 1);
    CHECK_ROWS(hourly, "a=1");
    hourly_close(hourly);
}

/* Closes everything in the middle of a visit, and copies what a kill would leave. */
struct interruption {
    struct hourly *hourly;
    const char *copy;
};

static int close_within(void *context, const struct hourly_view *view, struct error *err)
{
    const struct interruption *interruption = context;
    struct sample_content content = { .n_days = 0 };

    buffer_init(&content.text, 0);
    CHECK_OK(hourly_close_heads(interruption->hourly, err), err);
    kv_fixture_copy_directory(kv_path(view->kv), interruption->copy);
    CHECK_OK(sample_read_day(&content, view, err), err);
    CHECK_TEXT(buffer_slice(&content.text), "a=1\nb=2\n");
    CHECK_EQ(content.n_heads, 1);
    CHECK_EQ(content.n_closings, 0);
    buffer_done(&content.text);
    return 0;
}

TEST(hourly_views_stay_as_they_are_and_a_kill_before_the_drop_doubles_nothing)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    struct hourly *hourly = sample_open(&context);
    struct interruption interruption = { .hourly = hourly, .copy = kv_fixture_path("copy/rows/2024-10-04") };
    bool has_heads;
    struct error err;

    CHECK_OK(fs_make_directories(kv_fixture_path("copy/rows"), 0700, &err), &err);
    sample_put(hourly, 8, "a", "1");
    sample_put(hourly, 8, "b", "2");
    CHECK_OK(hourly_each_day(hourly, 0, INT64_MAX, false, close_within, &interruption, &err), &err);
    CHECK_ROWS(hourly, "a=1 b=2");
    sample_maintain(hourly, SAMPLE_NOW_NS);
    hourly_close(hourly);
    CHECK_OK(kv_has_family(kv_fixture_path("rows/2024-10-04"), "head-", &has_heads, &err), &err);
    CHECK(!has_heads);

    CHECK_OK(kv_has_family(interruption.copy, "head-", &has_heads, &err), &err);
    CHECK(has_heads);
    options.data_dir = kv_fixture_path("copy");
    options.is_read_only = true;
    hourly = sample_open_with(&options);
    CHECK_ROWS(hourly, "a=1 b=2");
    hourly_close(hourly);
    options.is_read_only = false;
    hourly = sample_open_with(&options);
    CHECK_ROWS(hourly, "a=1 b=2");
    CHECK_EQ(sample_stats(hourly).n_heads, 0);
    hourly_close(hourly);
}

/* --- kill -9 --- */

enum { KILLS = 6, ROW_BYTES = 12 };

/* Writes rows and closes heads until it is killed; says of each row that it is kept. */
static void write_until_killed(struct hourly_options options, uint32_t first, int acknowledgements)
{
    struct hourly *hourly;
    struct error err;

    options.max_head_bytes = 40 * ROW_BYTES;
    if (hourly_open(&options, &hourly, &err) < 0)
        _exit(1);
    for (uint32_t i = first;; i++) {
        char key[ROW_BYTES];

        snprintf(key, sizeof(key), "%08u", i);
        if (sample_try_put(hourly, SAMPLE_NOW_NS, key, "v", &err) < 0 ||
            write(acknowledgements, &i, sizeof(i)) != sizeof(i) ||
            (i % 16 == 0 && hourly_maintain(hourly, SAMPLE_NOW_NS, &err) < 0))
            _exit(1);
    }
}

/* The number of rows that were acknowledged before the kill. */
static uint32_t kill_a_writer(uint32_t first, uint32_t n)
{
    struct sample_context context = { .n_closed = 0 };
    struct hourly_options options = sample_options(&context);
    uint32_t last = first, number;
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        write_until_killed(options, first, ends[1]);
    close(ends[1]);
    for (uint32_t i = 0; read(ends[0], &number, sizeof(number)) == sizeof(number); i++) {
        last = number + 1;
        if (i == n)
            kill(child, SIGKILL);
    }
    close(ends[0]);
    CHECK(waitpid(child, NULL, 0) == child);
    return last;
}

TEST(hourly_keeps_every_acknowledged_row_once_across_kills)
{
    struct sample_context context = { .n_closed = 0 };
    uint32_t n = 0;

#ifdef __SANITIZE_THREAD__
    test_skip("impossible here: the thread sanitizer starts no threads behind a fork");
#endif
    clock_fake_set(SAMPLE_NOW_NS);
    for (uint32_t i = 0; i < KILLS; i++) {
        static char text[1 << 20];
        uint32_t n_found = 0;
        struct slice rest, part;
        struct hourly *hourly;

        n = kill_a_writer(n, 100 + 37 * i);
        hourly = sample_open(&context);
        sample_read(hourly, text, sizeof(text));
        rest = slice_from(text);
        while (slice_next_part(&rest, ' ', &part)) {
            char wanted[ROW_BYTES + 2];

            snprintf(wanted, sizeof(wanted), "%08u=v", n_found++);
            CHECK_TEXT(part, wanted);
        }
        /* The row that was being written may be there or not. */
        CHECK(n_found == n || n_found == n + 1);
        n = n_found;
        hourly_close(hourly);
    }
    CHECK(n > KILLS * 100);
}
