// SPDX-License-Identifier: Apache-2.0
#include "store/recover.h"

#include "base/log.h"
#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/verify.h"

/* Reads the rows of a head into a batch that writes them to another. */
static void copy_rows(struct day *day, uint32_t from, uint32_t to, struct kv_batch *batch)
{
    struct kv_iterator *iterator;
    struct error err;

    CHECK_OK(kv_iterator_new(day->kv, from, NULL, SLICE(""), false, &iterator, &err), &err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        kv_batch_put(batch, day->kv, to, kv_iterator_key(iterator), kv_iterator_value(iterator));
    kv_iterator_free(iterator);
}

/* Hour 7 closed and written anew, so that no marker names its first head; that head, come back as number 5; and one with
 * rows of its own. The day is closed. */
static void make_day(struct day_sample *sample)
{
    struct kv_batch *batch;
    uint32_t back;
    struct error err;

    day_sample_init(sample);
    for (unsigned i = 0; i < 4; i++)
        day_sample_write(sample, &(struct day_sample_profile){ .hour = 7 + i * 0.2, .n_stacks = 3 });
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    CHECK_OK(kv_family_create(sample->day->kv, "head-07-5", &back, &err), &err);
    copy_rows(sample->day, kv_family_find(sample->day->kv, "head-07-0"), back, batch);
    CHECK_EQ(kv_batch_count(batch), 4);
    day_sample_close_hours(sample);
    day_sample_write(sample, &(struct day_sample_profile){ .hour = 7.5, .n_stacks = 3 });
    day_sample_close_hours(sample);
    CHECK_OK(hour_rewrite(sample->day, 7, &err), &err);
    CHECK_EQ(sample->day->markers.n, 1);
    CHECK_EQ(sample->day->markers.items[0].head, MARKER_NO_HEAD);
    CHECK_OK(kv_write(sample->day->kv, batch, false, &err), &err);
    kv_batch_free(batch);
    day_sample_write(sample, &(struct day_sample_profile){ .hour = 7.6, .n_stacks = 3 });
    day_close(TAKE(sample->day));
}

static uint64_t count_rows(struct day_sample *sample)
{
    struct store_verify verify = { 0 };
    struct error err;

    CHECK_OK(verify_day(sample->day, sample->quarantine, &verify, &err), &err);
    return verify.n_rows;
}

static void open_recovering(struct day_sample *sample, enum kv_mode mode)
{
    struct error err;

    CHECK_OK(day_open_recovering(&sample->context, sample->path, DAY_SAMPLE_NAME, mode, &sample->day, &err), &err);
}

TEST(recover_covers_a_head_that_shares_a_row_with_a_closing)
{
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;

    buffer_init(&log, 0);
    log_capture(&log);
    make_day(&sample);
    /* Without a reason to look nobody does. */
    day_sample_open(&sample);
    CHECK_EQ(count_rows(&sample), 4 + 4 + 1 + 1);
    day_close(TAKE(sample.day));

    open_recovering(&sample, KV_READ_ONLY);
    CHECK_EQ(count_rows(&sample), 4 + 1 + 1);
    CHECK(kv_family_find(sample.day->kv, "head-07-5") != KV_NO_FAMILY);
    CHECK_HAS(buffer_slice(&log), "hour 07: head 5 is left out, its rows are in a closing");
    day_close(TAKE(sample.day));

    open_recovering(&sample, KV_WRITE);
    CHECK_EQ(count_rows(&sample), 4 + 1 + 1);
    CHECK_EQ(kv_family_find(sample.day->kv, "head-07-5"), KV_NO_FAMILY);
    day_sample_reopen(&sample);
    CHECK_EQ(count_rows(&sample), 4 + 1 + 1);
    day_sample_done(&sample);
    log_capture(NULL);
}

static int open_and_close(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct day *day;

    if (day_open_recovering(&sample->context, sample->path, DAY_SAMPLE_NAME, KV_READ_ONLY, &day, err) < 0)
        return -1;
    day_close(day);
    return 0;
}

static int open_and_settle(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct day *day;

    kv_fixture_copy_directory(kv_fixture_path("kept"), sample->path);
    if (day_open_recovering(&sample->context, sample->path, DAY_SAMPLE_NAME, KV_WRITE, &day, err) < 0)
        return -1;
    day_close(day);
    return 0;
}

TEST(recover_survives_failing_allocations)
{
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;

    buffer_init(&log, 0);
    log_capture(&log);
    make_day(&sample);
    test_each_allocation_failing(open_and_close, &sample);
    kv_fixture_copy_directory(sample.path, kv_fixture_path("kept"));
    test_each_allocation_failing(open_and_settle, &sample);
    day_sample_open(&sample);
    CHECK_EQ(count_rows(&sample), 4 + 1 + 1);
    day_sample_done(&sample);
    log_capture(NULL);
}
