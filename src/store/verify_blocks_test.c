// SPDX-License-Identifier: Apache-2.0
/* Closed and open hours: verify_blocks.c. */
#include "base/log.h"
#include "store/verify_sample_test.h"

/* --- closed hours --- */

TEST(verify_sets_a_damaged_part_aside_with_the_roll_ups_of_its_group)
{
    static const char kinds[] = { 'w', 'r', 's' };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct day_sample sample;
        struct error err;

        verify_sample_begin(&sample);
        verify_sample_flip_value(&sample, sample.day->block_family, verify_sample_block_prefix(kinds[i], DEFAULT, API));
        verify_sample_check_mends(&sample, "hour 07 of tenant 'anonymous': the rows of series 1, closing 0, part 0: ",
                                  DAY_SAMPLE_ROWS - 60, DAY_SAMPLE_SAMPLES - 60 * 20);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_writes_what_it_sets_aside_into_a_private_file)
{
    AUTO(buffer_done) struct buffer content;
    struct day_sample sample;
    struct verify_sample_findings findings;
    struct stat info;
    char path[300];
    struct error err;

    verify_sample_begin(&sample);
    buffer_init(&content, 0);
    verify_sample_remove_value(&sample, sample.day->block_family, verify_sample_block_prefix('s', DEFAULT, WEB));
    verify_sample_run(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "its samples are not there");
    snprintf(path, sizeof(path), "%s/" DAY_SAMPLE_NAME "-000.bad", sample.quarantine);
    CHECK_OK(fs_stat(path, &info, &err), &err);
    CHECK_EQ(info.st_mode & 0777, 0600);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    /* the family, then the key of the windows: hour 7, kind w, 22 bytes */
    CHECK_TEXT(slice_sub(buffer_slice(&content), 0, 15), SLICE("\x05\0\0\0block\x16\0\0\0\x07w"));
    buffer_done(&findings.lines);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15);
    day_sample_done(&sample);
}

TEST(verify_finds_samples_without_windows)
{
    struct day_sample sample;

    verify_sample_begin(&sample);
    verify_sample_remove_value(&sample, sample.day->block_family, verify_sample_block_prefix('w', OTHER, 0));
    verify_sample_check_mends(
        &sample, "hour 07 of tenant 'other': the rows of series 1, closing 0, part 0: its windows are not there",
        DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 20);
    day_sample_done(&sample);
}

TEST(verify_finds_roll_ups_that_are_not_the_sums_of_their_rows)
{
    static const char kinds[] = { '5', 'h' };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct day_sample sample;
        struct verify_sample_found found, other;
        struct error err;

        verify_sample_begin(&sample);
        /* The roll-up of the last closing, of one row, in place of that of the first. */
        verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix(kinds[i], DEFAULT, API),
                                 &found);
        verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix('r', DEFAULT, API),
                                 &other);
        buffer_clear(&found.value);
        buffer_append_slice(&found.value, buffer_slice(&other.value));
        verify_sample_put_found(&sample, &found);
        buffer_done(&other.key);
        buffer_done(&other.value);
        verify_sample_check_mends(&sample, "roll-ups of group 1, closing 0, are not the sums of its rows",
                                  DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_finds_a_roll_up_that_is_missing_among_others)
{
    struct day_sample sample;

    verify_sample_begin(&sample);
    verify_sample_remove_value(&sample, sample.day->block_family, verify_sample_block_prefix('5', DEFAULT, API));
    verify_sample_check_mends(&sample, "the five-minute roll-ups of group 1, closing 0, are not the sums",
                              DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_damaged_roll_up)
{
    struct day_sample sample;

    verify_sample_begin(&sample);
    verify_sample_flip_value(&sample, sample.day->block_family, verify_sample_block_prefix('h', DEFAULT, API));
    verify_sample_check_mends(&sample, "the hourly roll-up of group 1, closing 0, part 0: ", DAY_SAMPLE_ROWS,
                              DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_wrong_tally_and_a_missing_one)
{
    struct day_sample sample;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix('t', DEFAULT, 0), &found);
    found.value.data[1]++;
    verify_sample_put_found(&sample, &found);
    verify_sample_check_mends(&sample,
                              "hour 07 of tenant 'anonymous': the tally of closing 0 does not count what is there",
                              DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    verify_sample_remove_value(&sample, sample.day->block_family, verify_sample_block_prefix('t', OTHER, 0));
    verify_sample_check_mends(&sample, "hour 07 of tenant 'other': the tally of closing 0 does not count what is there",
                              DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_marker_that_miscounts_and_tells_the_day_in_memory)
{
    struct storekey key = storekey_marker(7, 1);
    struct day_sample sample;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, sample.day->block_family, storekey_slice(&key), &found);
    found.value.data[3] = 99;
    verify_sample_put_found(&sample, &found);
    sample.day->markers.items[1].n_rows = 99;
    verify_sample_check_mends(&sample, "hour 07: the marker of closing 1 does not count what is there", DAY_SAMPLE_ROWS,
                              DAY_SAMPLE_SAMPLES);
    CHECK_EQ(sample.day->markers.items[1].n_rows, 1);
    day_sample_done(&sample);
}

TEST(verify_finds_a_damaged_span_index)
{
    struct day_sample sample;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix('x', DEFAULT, 0), &found);
    found.value.len -= 5;
    verify_sample_put_found(&sample, &found);
    verify_sample_check_mends(&sample, "part 0 of the span index, closing 0: ", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

/* With one part the others go as well: what is left of an index would hide samples. */
TEST(verify_sets_a_span_index_aside_whole)
{
    struct storekey second =
        storekey_block((struct storekey_block){ .hour = 7, .kind = STOREKEY_SPANS, .tenant = DEFAULT, .part = 2 });
    AUTO(buffer_done) struct buffer key;
    AUTO(buffer_done) struct buffer value;
    struct day_sample sample;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix('x', DEFAULT, 0), &found);
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&second), buffer_slice(&found.value));
    verify_sample_put_found(&sample, &found);
    verify_sample_check_mends(&sample, "part 2 of the span index, closing 0: part 1 in front of it is missing",
                              DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(!day_sample_find(&sample, sample.day->block_family, slice_of(second.bytes, 6), &key, &value));
    day_sample_done(&sample);
}

TEST(verify_finds_values_of_no_closing)
{
    struct storekey key = storekey_block(
        (struct storekey_block){ .hour = 8, .kind = STOREKEY_SUMS, .tenant = DEFAULT, .group = 1, .series = 1 });
    struct day_sample sample;

    verify_sample_begin(&sample);
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&key), SLICE("?"));
    verify_sample_check_mends(&sample,
                              "hour 08 of tenant 'anonymous': a value of kind 'r' belongs to no closing of the hour",
                              DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_tells_two_markers_of_one_head)
{
    struct marker marker = { .head = 0 };
    struct storekey key = storekey_marker(7, 5);
    AUTO(buffer_done) struct buffer value;
    struct day_sample sample;
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
    buffer_init(&value, 0);
    marker_encode(&marker, &value);
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&key), buffer_slice(&value));
    verify_sample_run(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "hour 07: closings 0 and 5 cover the same head, number 0");
    CHECK_EQ(findings.verify.n_bad_values, 1);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

/* --- open hours --- */

TEST(verify_finds_a_damaged_row_and_the_hour_can_be_closed_then)
{
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;
    struct verify_sample_found found;
    struct error err;

    verify_sample_begin(&sample);
    buffer_init(&log, 0);
    verify_sample_find_value(&sample, verify_sample_head_family(&sample), SLICE(""), &found);
    found.value.len--;
    verify_sample_put_found(&sample, &found);
    log_capture(&log);
    CHECK(hour_close_due(sample.day, sample.day->start_ns + DAY_NS, &err) < 0);
    log_capture(NULL);
    verify_sample_check_mends(&sample,
                              "hour 09 of tenant 'anonymous', still open: a row of series 1: ", DAY_SAMPLE_ROWS - 1,
                              DAY_SAMPLE_SAMPLES - 9);
    day_sample_close_hours(&sample);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS - 1, DAY_SAMPLE_SAMPLES - 9);
    day_sample_done(&sample);
}

TEST(verify_finds_rows_of_no_series_of_another_hour_and_of_no_tenant)
{
    const struct storekey keys[] = { storekey_row(DEFAULT, 1, 77, day_sample_time(9), 500),
                                     storekey_row(DEFAULT, 1, 1, day_sample_time(10), 500),
                                     storekey_row(99, 1, 1, day_sample_time(9), 500),
                                     storekey_row(DEFAULT, 3, 1, day_sample_time(9), 500) };
    const char *const words[] = { "a row of series 77: there is no such series",
                                  "a row of series 1: it does not start in the hour",
                                  "a row of an open hour belongs to no tenant", "the series is of group 1 and has 2" };
    struct day_sample sample;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, verify_sample_head_family(&sample), SLICE(""), &found);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        day_sample_put(&sample, verify_sample_head_family(&sample), storekey_slice(&keys[i]),
                       buffer_slice(&found.value));
        verify_sample_check_mends(&sample, words[i], DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_put(&sample, verify_sample_head_family(&sample), slice_sub(storekey_slice(&keys[0]), 0, 17),
                   buffer_slice(&found.value));
    verify_sample_check_mends(&sample, "its key is damaged", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    buffer_done(&found.key);
    buffer_done(&found.value);
    day_sample_done(&sample);
}
