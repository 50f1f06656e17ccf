// SPDX-License-Identifier: Apache-2.0
#include "store/hour.h"

#include "base/clock.h"
#include "base/thread.h"
#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/scan.h"
#include "store/verify.h"

#include <stdlib.h>

/* --- looking --- */

/* How many values of a kind an hour has, of all closings. */
static unsigned count_kind(struct day_sample *sample, uint8_t hour, enum storekey_kind kind)
{
    char prefix[2] = { (char)hour, (char)kind };
    struct kv_iterator *iterator;
    struct error err;
    unsigned n = 0;

    CHECK_OK(
        kv_iterator_new(sample->day->kv, sample->day->block_family, NULL, slice_of(prefix, 2), false, &iterator, &err),
        &err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        n++;
    CHECK_OK(kv_iterator_check(iterator, &err), &err);
    kv_iterator_free(iterator);
    return n;
}

static void print_finding(void *context, const char *line)
{
    printf("  %s\n", line);
}

static void check_sound(struct day_sample *sample, uint64_t n_rows, uint64_t n_samples)
{
    struct store_verify verify = { .tell = print_finding };
    struct error err;

    CHECK_OK(verify_day(sample->day, sample->quarantine, &verify, &err), &err);
    CHECK_EQ(verify.n_bad_values + verify.n_bad_days, 0);
    CHECK_EQ(verify.n_rows, n_rows);
    CHECK_EQ(verify.n_samples, n_samples);
}

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int add_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    for (uint32_t i = 0; i < row->n_samples; i++)
        *(int64_t *)context += row->values[i];
    return 0;
}

/* The sum of the first type over all rows of the default tenant. */
static int64_t total(struct day_sample *sample)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    int64_t sum = 0;
    struct store_sink sink = { &sum, take_names, add_row };
    struct error err;

    CHECK_OK(scan_day(sample->day, SLICE(STORE_TENANT_DEFAULT), &query, &sink, &err), &err);
    return sum;
}

static size_t count_heads(struct day_sample *sample)
{
    struct day_view view;
    struct error err;
    size_t n;

    CHECK_OK(day_view_open(sample->day, 0, &view, &err), &err);
    n = view.head_copies.n;
    day_view_close(&view);
    return n;
}

static size_t count_closings(struct day_sample *sample)
{
    struct day_view view;
    struct error err;
    size_t n;

    CHECK_OK(day_view_open(sample->day, 0, &view, &err), &err);
    n = view.markers.n;
    day_view_close(&view);
    return n;
}

/* --- what a closing makes --- */

TEST(hour_gives_groups_the_roll_ups_that_were_promised)
{
    static const char *const instances[] = { "one", "two" };
    struct day_sample sample;

    day_sample_init(&sample);
    /* Hour 7: 120 rows of two series in ten of the twelve slots. Hour 8: a few rows of two series. Hour 9: many rows of
     * one series. */
    for (unsigned i = 0; i < 120; i++)
        day_sample_write(&sample, &(struct day_sample_profile){
                                      .instance = instances[i % 2], .hour = 7 + (i % 10) / 12.0, .n_stacks = 3 });
    for (unsigned i = 0; i < 6; i++)
        day_sample_write(&sample,
                         &(struct day_sample_profile){ .instance = instances[i % 2], .hour = 8, .n_stacks = 3 });
    for (unsigned i = 0; i < 100; i++)
        day_sample_write(
            &sample, &(struct day_sample_profile){ .instance = "one", .hour = 9.5, .n_stacks = 3, .has_link = true });
    CHECK_EQ(count_heads(&sample), 3);
    day_sample_close_hours(&sample);
    CHECK_EQ(count_heads(&sample), 0);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_GROUP_SLOT), 10);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_GROUP_HOUR), 1);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_SUMS), 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_SAMPLES), 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_TALLY), 1);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_SPANS), 0);
    CHECK_EQ(count_kind(&sample, 8, STOREKEY_GROUP_SLOT), 0);
    CHECK_EQ(count_kind(&sample, 8, STOREKEY_GROUP_HOUR), 1);
    CHECK_EQ(count_kind(&sample, 9, STOREKEY_GROUP_SLOT), 1);
    CHECK_EQ(count_kind(&sample, 9, STOREKEY_GROUP_HOUR), 0);
    CHECK_EQ(count_kind(&sample, 9, STOREKEY_SPANS), 1);
    check_sound(&sample, 226, 226 * 3);
    day_sample_done(&sample);
}

TEST(hour_without_rows_leaves_a_marker_alone)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 2 });
    CHECK_OK(day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), NULL, INT64_MIN, INT64_MAX, &err), &err);
    day_sample_close_hours(&sample);
    CHECK_EQ(count_heads(&sample), 0);
    CHECK_EQ(count_closings(&sample), 1);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS) + count_kind(&sample, 7, STOREKEY_TALLY), 0);
    check_sound(&sample, 0, 0);
    day_sample_done(&sample);
}

/* --- little memory --- */

/* Many different stacks in each slot, so that their sums do not fit. */
static int64_t write_wide(struct day_sample *sample, const char *instance, unsigned n_rows)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < n_rows; i++) {
        day_sample_write(
            sample, &(struct day_sample_profile){
                        .instance = instance, .hour = 7 + (i % 12) / 12.0, .first_stack = i * 400, .n_stacks = 500 });
        sum += 500 * 501 / 2;
    }
    return sum;
}

TEST(hour_closes_in_pieces_when_memory_is_short)
{
    struct day_sample sample;
    int64_t sum;

    day_sample_init(&sample);
    sample.context.close_bytes = 256 << 10;
    sum = write_wide(&sample, "one", 60) + write_wide(&sample, "two", 60);
    day_sample_close_hours(&sample);
    CHECK(count_kind(&sample, 7, STOREKEY_GROUP_SLOT) > DAY_SLOTS);
    CHECK(count_kind(&sample, 7, STOREKEY_GROUP_HOUR) > 1);
    CHECK_EQ(total(&sample), sum);
    check_sound(&sample, 120, 120 * 500);
    /* The files on the way to the database are gone. */
    CHECK_EQ(kv_fixture_count_files(sample.scratch, ""), 0);
    day_sample_done(&sample);
}

TEST(hour_writes_the_whole_roll_up_of_a_single_series_or_none)
{
    struct day_sample sample;
    int64_t sum;

    day_sample_init(&sample);
    sample.context.close_bytes = 256 << 10;
    sum = write_wide(&sample, "one", 60);
    day_sample_close_hours(&sample);
    CHECK(count_kind(&sample, 7, STOREKEY_GROUP_HOUR) > 1);
    CHECK_EQ(total(&sample), sum);
    check_sound(&sample, 60, 60 * 500);
    day_sample_done(&sample);
}

TEST(hour_spills_to_files_when_memory_is_very_short)
{
    struct day_sample sample;
    int64_t sum;

    day_sample_init(&sample);
    sample.context.close_bytes = 4096;
    sum = write_wide(&sample, "one", 8) + write_wide(&sample, "two", 8);
    day_sample_close_hours(&sample);
    CHECK_EQ(total(&sample), sum);
    check_sound(&sample, 16, 16 * 500);
    CHECK_EQ(kv_fixture_count_files(sample.scratch, ""), 0);
    day_sample_reopen(&sample);
    CHECK_EQ(total(&sample), sum);
    day_sample_done(&sample);
}

/* --- interrupted --- */

TEST(hour_is_as_it_was_when_closing_is_stopped)
{
    struct day_sample sample;
    struct error err;
    int64_t sum;

    day_sample_init(&sample);
    sum = write_wide(&sample, "one", 10);
    sample.context.is_stopping = true;
    CHECK_ERROR(hour_close_due(sample.day, INT64_MAX, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "closing hour 07 of 2026-11-15: the store is stopping");
    CHECK_EQ(count_heads(&sample), 1);
    CHECK_EQ(count_closings(&sample), 0);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 0);
    CHECK_EQ(kv_fixture_count_files(sample.scratch, ""), 0);
    CHECK_EQ(total(&sample), sum);
    /* Rows that come meanwhile are kept as well. */
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    CHECK_EQ(total(&sample), sum + 1);
    CHECK_EQ(count_heads(&sample), 2);
    sample.context.is_stopping = false;
    day_sample_close_hours(&sample);
    CHECK_EQ(count_heads(&sample), 0);
    CHECK_EQ(count_closings(&sample), 2);
    CHECK_EQ(total(&sample), sum + 1);
    check_sound(&sample, 11, 5001);
    day_sample_done(&sample);
}

TEST(hour_is_read_while_it_is_closed)
{
    struct day_sample sample;
    struct day_view view;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 3 });
    CHECK_OK(day_view_open(sample.day, 0, &view, &err), &err);
    CHECK_EQ(view.head_copies.n, 1);
    day_sample_close_hours(&sample);
    /* Whoever looked before still has the head: it is not dropped under his eyes. */
    CHECK(kv_family_name(sample.day->kv, view.head_copies.items[0].family));
    CHECK_EQ(total(&sample), 6);
    day_view_close(&view);
    day_sample_close_hours(&sample);
    CHECK(!kv_family_name(sample.day->kv, 2));
    CHECK_EQ(total(&sample), 6);
    day_sample_done(&sample);
}

/* --- late rows --- */

TEST(hour_merges_its_closings_and_removes_the_old_blocks)
{
    struct day_sample sample;
    struct error err;
    int64_t sum;

    day_sample_init(&sample);
    for (unsigned i = 0; i < 4; i++) {
        day_sample_write(&sample,
                         &(struct day_sample_profile){ .instance = "one", .hour = 7.5 - i / 10.0, .n_stacks = 9 });
        day_sample_close_hours(&sample);
    }
    sum = total(&sample);
    CHECK_EQ(count_closings(&sample), 4);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 4);
    CHECK_OK(hour_rewrite(sample.day, 7, &err), &err);
    CHECK_EQ(count_closings(&sample), 1);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 1);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_TALLY), 1);
    CHECK_EQ(total(&sample), sum);
    check_sound(&sample, 4, 36);
    /* There is nothing more to gain. */
    CHECK_OK(hour_rewrite(sample.day, 7, &err), &err);
    CHECK_EQ(count_closings(&sample), 1);
    day_sample_reopen(&sample);
    CHECK_EQ(count_closings(&sample), 1);
    CHECK_EQ(total(&sample), sum);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.5, .n_stacks = 1 });
    day_sample_close_hours(&sample);
    CHECK_EQ(total(&sample), sum + 1);
    check_sound(&sample, 5, 37);
    day_sample_done(&sample);
}

TEST(hour_is_not_written_anew_with_fewer_rows_than_its_markers_count)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    for (unsigned i = 0; i < 2; i++) {
        day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7.1 + i * 0.1, .n_stacks = 4 });
        day_sample_close_hours(&sample);
    }
    sample.day->markers.items[1].n_rows++;
    CHECK_ERROR(hour_rewrite(sample.day, 7, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "writing hour 07 of " DAY_SAMPLE_NAME " anew: of 3 rows only 2 can be read");
    CHECK_EQ(sample.day->markers.n, 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 2);
    sample.day->markers.items[1].n_rows--;
    CHECK_OK(hour_rewrite(sample.day, 7, &err), &err);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_WINDOWS), 1);
    check_sound(&sample, 2, 8);
    day_sample_done(&sample);
}

TEST(hour_is_not_walked_again_for_a_marker_that_must_stay)
{
    struct storekey old =
        storekey_block((struct storekey_block){ .hour = 7, .kind = STOREKEY_TALLY, .tenant = 1, .number = 0 });
    struct day_sample sample;
    struct day_view view;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 3 });
    CHECK_OK(day_view_open(sample.day, 0, &view, &err), &err);
    day_sample_close_hours(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 3 });
    day_sample_close_hours(&sample);
    CHECK_OK(hour_rewrite(sample.day, 7, &err), &err);
    /* The reader's head is there, so the marker that hides it is. */
    CHECK_EQ(sample.day->markers.n, 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_TALLY), 1);
    /* A value put there behind the day's back shows whether anybody looks. */
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&old), SLICE("left over"));
    CHECK_OK(hour_rewrite_due(sample.day, day_sample_time(9), day_sample_time(9), &err), &err);
    CHECK_EQ(sample.day->markers.n, 2);
    CHECK_EQ(count_kind(&sample, 7, STOREKEY_TALLY), 2);
    day_view_close(&view);
    CHECK_OK(day_drop_covered(sample.day, &err), &err);
    CHECK_OK(hour_rewrite_due(sample.day, day_sample_time(9), day_sample_time(9), &err), &err);
    CHECK_EQ(sample.day->markers.n, 1);
    day_sample_delete(&sample, sample.day->block_family, storekey_slice(&old));
    CHECK_EQ(total(&sample), 12);
    day_sample_done(&sample);
}

struct trickle {
    struct thread thread;
    struct day_sample *sample;
    unsigned n;
};

static void run_trickle(struct thread *thread, void *context)
{
    struct trickle *trickle = context;

    while (!thread_is_stopping(thread) && trickle->n < 5000) {
        day_sample_write(trickle->sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
        trickle->n++;
    }
}

TEST(hour_closing_ends_though_late_rows_keep_coming)
{
    struct day_sample sample;
    struct trickle trickle = { .sample = &sample };
    struct error err;

    day_sample_init(&sample);
    CHECK_OK(thread_start(&trickle.thread, "trickle", run_trickle, &trickle, &err), &err);
    for (unsigned i = 0; i < 5; i++)
        day_sample_close_hours(&sample);
    CHECK(count_closings(&sample) <= 5);
    thread_stop(&trickle.thread);
    CHECK_EQ(total(&sample), trickle.n);
    day_sample_close_hours(&sample);
    check_sound(&sample, trickle.n, trickle.n);
    day_sample_done(&sample);
}

TEST(hour_leaves_the_head_of_late_rows_open_for_a_while)
{
    struct day_sample sample;
    int64_t due_ns;
    struct error err;

    clock_fake_set(day_sample_time(7.5));
    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    clock_fake_set(day_sample_time(9));
    due_ns = day_sample_time(9) - 300 * CLOCK_NS_PER_SECOND;
    CHECK_OK(hour_close_settled(sample.day, due_ns, &err), &err);
    CHECK_EQ(count_heads(&sample), 0);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    CHECK_OK(hour_close_settled(sample.day, due_ns, &err), &err);
    CHECK_EQ(count_heads(&sample), 1);
    CHECK_OK(hour_close_settled(sample.day, day_sample_time(9) - 1, &err), &err);
    CHECK_EQ(count_heads(&sample), 1);
    CHECK_OK(hour_close_settled(sample.day, day_sample_time(9), &err), &err);
    CHECK_EQ(count_heads(&sample), 0);
    /* Of one that was there before the day was opened, nobody knows how old it is. */
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    day_sample_reopen(&sample);
    CHECK_EQ(count_heads(&sample), 1);
    CHECK_OK(hour_close_settled(sample.day, due_ns, &err), &err);
    CHECK_EQ(count_heads(&sample), 0);
    day_sample_done(&sample);
}

/* --- failing memory --- */

/* A day that is not sure what the database has is opened again. */
static int mend(struct day_sample *sample, int result)
{
    if (sample->day->failure.code != ERR_OK) {
        CHECK(result < 0);
        day_sample_reopen(sample);
    }
    return result;
}

static int close_all(void *context, struct error *err)
{
    struct day_sample *sample = context;

    return mend(sample, hour_close_due(sample->day, sample->day->start_ns + DAY_NS, err));
}

TEST(hour_survives_failing_allocations)
{
    struct day_sample sample;
    int64_t sum;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    sum = total(&sample);
    test_each_allocation_failing(close_all, &sample);
    CHECK_EQ(count_heads(&sample), 0);
    CHECK_EQ(total(&sample), sum);
    check_sound(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

static int rewrite_all(void *context, struct error *err)
{
    struct day_sample *sample = context;

    return mend(sample, hour_rewrite_all(sample->day, err));
}

TEST(hour_merging_survives_failing_allocations)
{
    struct day_sample sample;
    struct selector *selector;
    struct error err;
    int64_t sum;

    day_sample_init(&sample);
    day_sample_fill(&sample);
    CHECK_OK(selector_new(SLICE("thread=worker"), &selector, &err), &err);
    CHECK_OK(day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, INT64_MIN, INT64_MAX, &err), &err);
    selector_free(selector);
    sum = total(&sample);
    test_each_allocation_failing(rewrite_all, &sample);
    CHECK_EQ(total(&sample), sum);
    day_sample_close_hours(&sample);
    test_each_allocation_failing(rewrite_all, &sample);
    CHECK_EQ(total(&sample), sum);
    CHECK_EQ(count_closings(&sample), 2);
    check_sound(&sample, DAY_SAMPLE_ROWS, 120 * 10 + 15 + 20 + 2 + 9 + 1);
    day_sample_done(&sample);
}
