// SPDX-License-Identifier: Apache-2.0
#include "store/day.h"

#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/verify.h"

static uint64_t count_rows(struct day_sample *sample)
{
    struct store_verify verify = { 0 };
    struct error err;

    CHECK_OK(verify_day(sample->day, sample->quarantine, &verify, &err), &err);
    CHECK_EQ(verify.n_bad_values, 0);
    return verify.n_rows;
}

/* Drops covered heads while no file can be written to. */
static int drop_without_room(struct day_sample *sample, struct error *err)
{
    int result;

    kv_fixture_limit_file_size(1);
    result = day_drop_covered(sample->day, err);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    return result;
}

TEST(day_keeps_the_marker_of_a_head_that_could_not_be_dropped)
{
    struct day_sample sample;
    struct day_view view;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.2, .n_stacks = 3 });
    /* Somebody reads the head, so that closing the hour leaves it. */
    CHECK_OK(day_view_open(sample.day, 0, &view, &err), &err);
    day_sample_close_hours(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.4, .n_stacks = 3 });
    day_sample_close_hours(&sample);
    CHECK_EQ(sample.day->markers.n, 2);
    day_view_close(&view);

    CHECK_ERROR(drop_without_room(&sample, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "dropping a family of");
    CHECK(sample.day->heads.items[0].family != KV_NO_FAMILY);
    CHECK_ERROR(day_check(sample.day, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "day " DAY_SAMPLE_NAME " stopped writing: dropping a family of");
    /* Whatever became of the family, its rows count once, now and when the hour is written anew. */
    day_sample_reopen(&sample);
    CHECK_EQ(sample.day->markers.n, 2);
    CHECK_EQ(count_rows(&sample), 2);
    CHECK_OK(hour_rewrite(sample.day, 7, &err), &err);
    CHECK_EQ(sample.day->markers.n, 1);
    CHECK_EQ(count_rows(&sample), 2);
    day_sample_reopen(&sample);
    CHECK_EQ(count_rows(&sample), 2);
    CHECK_EQ(kv_family_find(sample.day->kv, "head-07-0"), KV_NO_FAMILY);
    day_sample_done(&sample);
}

TEST(day_drops_a_covered_head_once_nobody_reads_it)
{
    struct day_sample sample;
    struct day_view view;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.2, .n_stacks = 3 });
    CHECK_OK(day_view_open(sample.day, 0, &view, &err), &err);
    day_sample_close_hours(&sample);
    CHECK_OK(day_drop_covered(sample.day, &err), &err);
    CHECK(kv_family_find(sample.day->kv, "head-07-0") != KV_NO_FAMILY);
    day_view_close(&view);
    CHECK_OK(day_drop_covered(sample.day, &err), &err);
    CHECK_EQ(kv_family_find(sample.day->kv, "head-07-0"), KV_NO_FAMILY);
    /* Its place stays what it is. */
    CHECK_EQ(sample.day->heads.n, 1);
    CHECK_EQ(sample.day->heads.items[0].family, KV_NO_FAMILY);
    CHECK_EQ(count_rows(&sample), 1);
    day_sample_done(&sample);
}
