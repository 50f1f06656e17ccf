// SPDX-License-Identifier: Apache-2.0
#include "store/verify.h"

#include "base/log.h"
#include "block/chunk.h"
#include "store/day_sample_test.h"

#include <stdlib.h>

/* What verify tells, line by line. */
struct findings {
    struct store_verify verify;
    struct buffer lines;
};

static void take_line(void *context, const char *line)
{
    struct findings *findings = context;

    buffer_printf(&findings->lines, "%s\n", line);
}

static void check_day(struct day_sample *sample, bool is_repairing, struct findings *findings)
{
    struct error err;

    *findings = (struct findings){ .verify = { .is_repairing = is_repairing, .tell = take_line } };
    findings->verify.context = findings;
    buffer_init(&findings->lines, 0);
    CHECK_OK(verify_day(sample->day, sample->quarantine, &findings->verify, &err), &err);
    buffer_append_byte(&findings->lines, '\0');
}

/* Checks that nothing is wrong. */
static void check_clean(struct day_sample *sample, uint64_t n_rows, uint64_t n_samples)
{
    struct findings findings;

    check_day(sample, false, &findings);
    CHECK_TEXT(findings.lines.data, "");
    CHECK_EQ(findings.verify.n_bad_values, 0);
    CHECK_EQ(findings.verify.n_bad_days, 0);
    CHECK_EQ(findings.verify.n_rows, n_rows);
    CHECK_EQ(findings.verify.n_samples, n_samples);
    CHECK(findings.verify.n_values > n_rows / 60);
    buffer_done(&findings.lines);
}

/* Checks that `words` and nothing else is wrong, that repairing mends it, and that all is well then, with what
 * is left. */
static void check_mends(struct day_sample *sample, const char *words, uint64_t n_rows, uint64_t n_samples)
{
    struct findings findings;

    check_day(sample, false, &findings);
    CHECK_HAS(findings.lines.data, DAY_SAMPLE_NAME ": ");
    CHECK_HAS(findings.lines.data, words);
    CHECK_EQ(findings.verify.n_bad_values, 1);
    CHECK_EQ(findings.verify.n_repaired, 0);
    buffer_done(&findings.lines);

    check_day(sample, true, &findings);
    CHECK_HAS(findings.lines.data, words);
    CHECK_EQ(findings.verify.n_bad_values, 1);
    CHECK_EQ(findings.verify.n_repaired, 1);
    CHECK_EQ(findings.verify.n_bad_days, 0);
    buffer_done(&findings.lines);

    check_clean(sample, n_rows, n_samples);
    day_sample_reopen(sample);
    check_clean(sample, n_rows, n_samples);
}

static struct slice block_prefix(char kind, uint32_t tenant, uint32_t group)
{
    static struct storekey key;

    key = storekey_block(
        (struct storekey_block){ .hour = 7, .kind = (enum storekey_kind)kind, .tenant = tenant, .group = group });
    return slice_of(key.bytes, group ? 10 : 6);
}

/* A value found by its prefix, to be changed. */
struct found {
    uint32_t family;
    struct buffer key, value;
};

static void find_value(struct day_sample *sample, uint32_t family, struct slice prefix, struct found *found)
{
    found->family = family;
    buffer_init(&found->key, 0);
    buffer_init(&found->value, 0);
    CHECK(day_sample_find(sample, family, prefix, &found->key, &found->value));
}

static void put_found(struct day_sample *sample, struct found *found)
{
    day_sample_put(sample, found->family, buffer_slice(&found->key), buffer_slice(&found->value));
    buffer_done(&found->key);
    buffer_done(&found->value);
}

static void flip_value(struct day_sample *sample, uint32_t family, struct slice prefix)
{
    struct found found;

    find_value(sample, family, prefix, &found);
    found.value.data[found.value.len * 2 / 3] ^= 0x10;
    put_found(sample, &found);
}

static void remove_value(struct day_sample *sample, uint32_t family, struct slice prefix)
{
    struct found found;

    find_value(sample, family, prefix, &found);
    day_sample_delete(sample, family, buffer_slice(&found.key));
    buffer_done(&found.key);
    buffer_done(&found.value);
}

static void begin(struct day_sample *sample)
{
    day_sample_init(sample);
    day_sample_fill(sample);
}

/* Groups and series of the sample, in the order in which they were made. */
enum { DEFAULT = 1, OTHER = 2, API = 1, WEB = 3 };

/* --- sound days --- */

TEST(verify_finds_nothing_in_a_sound_day)
{
    struct day_sample sample;

    begin(&sample);
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_reopen(&sample);
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_looks_at_days_that_are_open_for_reading_only)
{
    static const enum kv_mode modes[] = { KV_READ_ONLY, KV_SECONDARY };
    struct day_sample sample;
    struct error err;

    begin(&sample);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        day_close(sample.day);
        CHECK_OK(day_open(&sample.context, sample.path, DAY_SAMPLE_NAME, modes[i], NULL, &sample.day, &err), &err);
        check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_done(&sample);
}

TEST(verify_finds_nothing_in_an_empty_day)
{
    struct day_sample sample;
    struct findings findings;

    day_sample_init(&sample);
    check_day(&sample, true, &findings);
    CHECK_TEXT(findings.lines.data, "");
    CHECK_EQ(findings.verify.n_rows, 0);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

TEST(verify_finds_nothing_after_deleting_and_writing_anew)
{
    struct day_sample sample;
    struct selector *selector;
    struct error err;

    begin(&sample);
    CHECK_OK(selector_new(SLICE("{service_name=\"web\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(sample.day, SLICE("default"), selector, INT64_MIN, INT64_MAX, &err), &err);
    selector_free(selector);
    CHECK_OK(selector_new(SLICE("{thread=\"worker\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(sample.day, SLICE("default"), selector, day_sample_time(7), day_sample_time(7.5), &err), &err);
    selector_free(selector);
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15 - 60 * 10);
    day_sample_close_hours(&sample);
    check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15 - 60 * 10);
    day_sample_done(&sample);
}

TEST(verify_finds_nothing_where_roll_ups_came_in_pieces)
{
    struct day_sample sample;

    day_sample_init(&sample);
    sample.context.close_bytes = 64 << 10;
    for (unsigned i = 0; i < 120; i++)
        day_sample_write(&sample, &(struct day_sample_profile){ .instance = i < 60 ? "one" : "two",
                                                                .hour = 7 + (i * 7 % 120) / 120.0,
                                                                .first_stack = 20 * i,
                                                                .n_stacks = 50 });
    day_sample_close_hours(&sample);
    check_clean(&sample, 120, 120 * 50);
    day_sample_done(&sample);
}

TEST(verify_leaves_what_an_interrupted_rewrite_left_behind)
{
    struct day_sample sample;
    struct found found;
    struct error err;

    begin(&sample);
    find_value(&sample, sample.day->block_family, block_prefix('w', DEFAULT, 0), &found);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    put_found(&sample, &found);
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

/* --- closed hours --- */

TEST(verify_sets_a_damaged_part_aside_with_the_roll_ups_of_its_group)
{
    static const char kinds[] = { 'w', 'r', 's' };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct day_sample sample;
        struct error err;

        begin(&sample);
        flip_value(&sample, sample.day->block_family, block_prefix(kinds[i], DEFAULT, API));
        check_mends(&sample,
                    "hour 07 of tenant 'default': the rows of series 1, closing 0, part 0: ", DAY_SAMPLE_ROWS - 60,
                    DAY_SAMPLE_SAMPLES - 60 * 20);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_writes_what_it_sets_aside_into_a_private_file)
{
    AUTO(buffer_done) struct buffer content;
    struct day_sample sample;
    struct findings findings;
    struct stat info;
    char path[300];
    struct error err;

    begin(&sample);
    buffer_init(&content, 0);
    remove_value(&sample, sample.day->block_family, block_prefix('s', DEFAULT, WEB));
    check_day(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "its samples are not there");
    snprintf(path, sizeof(path), "%s/" DAY_SAMPLE_NAME "-000.bad", sample.quarantine);
    CHECK_OK(fs_stat(path, &info, &err), &err);
    CHECK_EQ(info.st_mode & 0777, 0600);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    /* the family, then the key of the windows: hour 7, kind w, 22 bytes */
    CHECK_TEXT(slice_sub(buffer_slice(&content), 0, 15), SLICE("\x05\0\0\0block\x16\0\0\0\x07w"));
    buffer_done(&findings.lines);
    check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15);
    day_sample_done(&sample);
}

TEST(verify_finds_samples_without_windows)
{
    struct day_sample sample;

    begin(&sample);
    remove_value(&sample, sample.day->block_family, block_prefix('w', OTHER, 0));
    check_mends(&sample,
                "hour 07 of tenant 'other': the rows of series 1, closing 0, part 0: its windows are not there",
                DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 20);
    day_sample_done(&sample);
}

TEST(verify_finds_roll_ups_that_are_not_the_sums_of_their_rows)
{
    static const char kinds[] = { '5', 'h' };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct day_sample sample;
        struct found found, other;
        struct error err;

        begin(&sample);
        /* The roll-up of the last closing, of one row, in place of that of the first. */
        find_value(&sample, sample.day->block_family, block_prefix(kinds[i], DEFAULT, API), &found);
        find_value(&sample, sample.day->block_family, block_prefix('r', DEFAULT, API), &other);
        buffer_clear(&found.value);
        buffer_append_slice(&found.value, buffer_slice(&other.value));
        put_found(&sample, &found);
        buffer_done(&other.key);
        buffer_done(&other.value);
        check_mends(&sample, "roll-ups of group 1, closing 0, are not the sums of its rows", DAY_SAMPLE_ROWS,
                    DAY_SAMPLE_SAMPLES);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_finds_a_roll_up_that_is_missing_among_others)
{
    struct day_sample sample;

    begin(&sample);
    remove_value(&sample, sample.day->block_family, block_prefix('5', DEFAULT, API));
    check_mends(&sample, "the five-minute roll-ups of group 1, closing 0, are not the sums", DAY_SAMPLE_ROWS,
                DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_damaged_roll_up)
{
    struct day_sample sample;

    begin(&sample);
    flip_value(&sample, sample.day->block_family, block_prefix('h', DEFAULT, API));
    check_mends(&sample, "the hourly roll-up of group 1, closing 0, part 0: ", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_wrong_tally_and_a_missing_one)
{
    struct day_sample sample;
    struct found found;

    begin(&sample);
    find_value(&sample, sample.day->block_family, block_prefix('t', DEFAULT, 0), &found);
    found.value.data[1]++;
    put_found(&sample, &found);
    check_mends(&sample, "hour 07 of tenant 'default': the tally of closing 0 does not count what is there",
                DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    remove_value(&sample, sample.day->block_family, block_prefix('t', OTHER, 0));
    check_mends(&sample, "hour 07 of tenant 'other': the tally of closing 0 does not count what is there",
                DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_a_marker_that_miscounts_and_tells_the_day_in_memory)
{
    struct storekey key = storekey_marker(7, 1);
    struct day_sample sample;
    struct found found;

    begin(&sample);
    find_value(&sample, sample.day->block_family, storekey_slice(&key), &found);
    found.value.data[3] = 99;
    put_found(&sample, &found);
    sample.day->markers.items[1].n_rows = 99;
    check_mends(&sample, "hour 07: the marker of closing 1 does not count what is there", DAY_SAMPLE_ROWS,
                DAY_SAMPLE_SAMPLES);
    CHECK_EQ(sample.day->markers.items[1].n_rows, 1);
    day_sample_done(&sample);
}

TEST(verify_finds_a_damaged_span_index)
{
    struct day_sample sample;
    struct found found;

    begin(&sample);
    find_value(&sample, sample.day->block_family, block_prefix('x', DEFAULT, 0), &found);
    found.value.len -= 5;
    put_found(&sample, &found);
    check_mends(&sample, "part 0 of the span index, closing 0: ", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_values_of_no_closing)
{
    struct storekey key = storekey_block(
        (struct storekey_block){ .hour = 8, .kind = STOREKEY_SUMS, .tenant = DEFAULT, .group = 1, .series = 1 });
    struct day_sample sample;

    begin(&sample);
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&key), SLICE("?"));
    check_mends(&sample, "hour 08 of tenant 'default': a value of kind 'r' belongs to no closing of the hour",
                DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_tells_two_markers_of_one_head)
{
    struct marker marker = { .head = 0 };
    struct storekey key = storekey_marker(7, 5);
    AUTO(buffer_done) struct buffer value;
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    buffer_init(&value, 0);
    marker_encode(&marker, &value);
    day_sample_put(&sample, sample.day->block_family, storekey_slice(&key), buffer_slice(&value));
    check_day(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "hour 07: closings 0 and 5 cover the same head, number 0");
    CHECK_EQ(findings.verify.n_bad_values, 1);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

/* --- open hours --- */

static uint32_t head_family(const struct day_sample *sample)
{
    for (size_t i = 0; i < sample->day->heads.n; i++)
        if (!sample->day->heads.items[i].is_covered)
            return sample->day->heads.items[i].family;
    return KV_NO_FAMILY;
}

TEST(verify_finds_a_damaged_row_and_the_hour_can_be_closed_then)
{
    AUTO(buffer_done) struct buffer log;
    struct day_sample sample;
    struct found found;
    struct error err;

    begin(&sample);
    buffer_init(&log, 0);
    find_value(&sample, head_family(&sample), SLICE(""), &found);
    found.value.len--;
    put_found(&sample, &found);
    log_capture(&log);
    CHECK(hour_close_due(sample.day, sample.day->start_ns + DAY_NS, &err) < 0);
    log_capture(NULL);
    check_mends(&sample, "hour 09 of tenant 'default', still open: a row of series 1: ", DAY_SAMPLE_ROWS - 1,
                DAY_SAMPLE_SAMPLES - 9);
    day_sample_close_hours(&sample);
    check_clean(&sample, DAY_SAMPLE_ROWS - 1, DAY_SAMPLE_SAMPLES - 9);
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
    struct found found;

    begin(&sample);
    find_value(&sample, head_family(&sample), SLICE(""), &found);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        day_sample_put(&sample, head_family(&sample), storekey_slice(&keys[i]), buffer_slice(&found.value));
        check_mends(&sample, words[i], DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_put(&sample, head_family(&sample), slice_sub(storekey_slice(&keys[0]), 0, 17),
                   buffer_slice(&found.value));
    check_mends(&sample, "its key is damaged", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    buffer_done(&found.key);
    buffer_done(&found.value);
    day_sample_done(&sample);
}

/* --- names --- */

static struct slice chunk_prefix(enum chunk_kind kind)
{
    static struct storekey key;

    key = storekey_chunk(DEFAULT, (uint8_t)kind, 0);
    return slice_of(key.bytes, 6);
}

TEST(verify_mends_a_cut_chunk_and_keeps_what_can_be_read)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        struct chunk_reader before, after;
        struct day_sample sample;
        struct found found, mended;
        struct slice text;
        char words[80];
        struct error err;

        /* There are no mappings in the sample. */
        if (kind == CHUNK_MAPPING)
            continue;
        begin(&sample);
        find_value(&sample, KV_DEFAULT, chunk_prefix(kind), &found);
        CHECK_OK(chunk_reader_init(&before, kind, buffer_slice(&found.value), &err), &err);
        found.value.len--;
        put_found(&sample, &found);
        snprintf(words, sizeof(words), "tenant 'default': the chunk of %s entries at 1", chunk_kind_name(kind));
        check_mends(&sample, words, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);

        find_value(&sample, KV_DEFAULT, chunk_prefix(kind), &mended);
        CHECK_OK(chunk_reader_init(&after, kind, buffer_slice(&mended.value), &err), &err);
        CHECK_EQ(after.n, before.n);
        if (kind == CHUNK_STRING) {
            CHECK_OK(chunk_next_string(&after, &text, &err), &err);
            CHECK(!slice_is(text, "[missing]"));
            while (after.at < after.n)
                CHECK_OK(chunk_next_string(&after, &text, &err), &err);
            CHECK_TEXT(text, "[missing]");
        }
        put_found(&sample, &mended);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_replaces_a_chunk_without_a_header_so_that_no_id_is_given_twice)
{
    struct day_sample sample;
    struct found found;
    uint32_t next;

    begin(&sample);
    next = sample.day->tenants.items[0].loaded->dictionary.next_ids[CHUNK_STACK];
    day_sample_reopen(&sample);
    /* All chunks of stacks, the last of them first. */
    for (uint32_t first = next; first > 0; first--) {
        struct storekey key = storekey_chunk(DEFAULT, CHUNK_STACK, first);

        buffer_init(&found.key, 0);
        buffer_init(&found.value, 0);
        if (day_sample_find(&sample, KV_DEFAULT, storekey_slice(&key), &found.key, &found.value)) {
            found.family = KV_DEFAULT;
            found.value.data[0] = 99;
            put_found(&sample, &found);
            check_mends(&sample, "the chunk of stack entries at ", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
        } else {
            buffer_done(&found.key);
            buffer_done(&found.value);
        }
    }
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 9.75, .first_stack = 900, .n_stacks = 1 });
    CHECK(sample.day->tenants.items[0].loaded->dictionary.next_ids[CHUNK_STACK] > next);
    day_sample_done(&sample);
}

TEST(verify_gives_entries_to_what_is_named_and_missing)
{
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    remove_value(&sample, KV_DEFAULT, chunk_prefix(CHUNK_LABEL_SET));
    check_day(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "hour 07 of tenant 'default': the part of series 1, closing 0, part 0 names ");
    CHECK_HAS(findings.lines.data, "entries that are not in the dictionary; the first is label set 1");
    buffer_done(&findings.lines);
    check_day(&sample, true, &findings);
    CHECK(findings.verify.n_bad_values > 0);
    CHECK_EQ(findings.verify.n_repaired, findings.verify.n_bad_values);
    buffer_done(&findings.lines);
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_chunks_that_overlap)
{
    struct storekey key = storekey_chunk(DEFAULT, CHUNK_STRING, 2);
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    day_sample_put(&sample, KV_DEFAULT, storekey_slice(&key), SLICE("\x01\x01\x01x"));
    check_day(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "the chunk of string entries at 2 has ids that are not its own");
    CHECK_EQ(findings.verify.n_bad_values, 1);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

TEST(verify_sets_a_damaged_series_aside_with_its_rows)
{
    struct storekey key = storekey_series(DEFAULT, WEB);
    struct day_sample sample;
    struct findings findings;
    struct found found;

    begin(&sample);
    day_sample_delete(&sample, sample.day->block_family, SLICE("\xffs\0\0\0\1\0\0\0\3")); /* its copy */
    find_value(&sample, KV_DEFAULT, storekey_slice(&key), &found);
    found.value.len /= 2;
    put_found(&sample, &found);
    check_day(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "tenant 'default': series 3: ");
    CHECK_HAS(findings.lines.data, "the rows of series 3, closing 0, part 0: there is no such series");
    CHECK_EQ(findings.verify.n_bad_values, 2);
    CHECK_EQ(findings.verify.n_repaired, 2);
    buffer_done(&findings.lines);
    check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15);
    day_sample_done(&sample);
}

TEST(verify_finds_strangers_in_the_index)
{
    static const struct {
        struct slice key, value;
        const char *words;
    } strangers[] = {
        { SLICE("zebra"), SLICE(""), "a key of the index is of no known kind" },
        { SLICE("g\0\0\0\1"), SLICE("12345"), "the generation of a dictionary is damaged" },
        { SLICE("i\0\0\0\1short"), SLICE(""), "a profile id is damaged" },
        { SLICE("t\0\0\0\1\0\0\0\1"), SLICE("\1\0\0\0\0\7"), "a tombstone is cut off or damaged" },
        { SLICE("s\0\0\0\7\0\0\0\1"), SLICE("x"), "a key of the index belongs to no tenant" },
        { SLICE("d\0\0\0\1\6"), SLICE("x"), "a key of the dictionary is damaged" },
        { SLICE("n\0\0\0\0"), SLICE("nobody"), "the name of a tenant is damaged" },
    };
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
        day_sample_put(&sample, KV_DEFAULT, strangers[i].key, strangers[i].value);
        check_day(&sample, true, &findings);
        CHECK_HAS(findings.lines.data, strangers[i].words);
        CHECK_EQ(findings.verify.n_bad_values, 1);
        CHECK_EQ(findings.verify.n_repaired, 1);
        buffer_done(&findings.lines);
        check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_done(&sample);
}

TEST(verify_tells_what_is_too_large_to_read_and_leaves_it)
{
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    sample.context.read_bytes = 8 << 10;
    check_day(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "the rows of series 1, closing 0, part 0: ");
    CHECK(findings.verify.n_bad_values > 0);
    CHECK_EQ(findings.verify.n_repaired, 0);
    buffer_done(&findings.lines);
    sample.context.read_bytes = 32 << 20;
    check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

/* --- many findings, any damage --- */

TEST(verify_tells_fifty_findings_and_how_many_more_there_are)
{
    struct day_sample sample;
    struct findings findings;
    size_t n_lines = 0;

    begin(&sample);
    for (unsigned i = 0; i < 70; i++) {
        char key[16];

        snprintf(key, sizeof(key), "x%02u", i);
        day_sample_put(&sample, KV_DEFAULT, slice_from(key), SLICE(""));
    }
    check_day(&sample, false, &findings);
    for (const char *at = findings.lines.data; *at; at++)
        n_lines += *at == '\n';
    CHECK_EQ(n_lines, 51);
    CHECK_HAS(findings.lines.data, DAY_SAMPLE_NAME ": and 20 more\n");
    CHECK_EQ(findings.verify.n_bad_values, 70);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

/* Changes one value in some way, at random; those the day is opened with are left alone. */
static void damage_something(struct day_sample *sample, unsigned *seed)
{
    uint32_t families[] = { KV_DEFAULT, sample->day->block_family, head_family(sample) };
    uint32_t family = families[rand_r(seed) % 3];
    unsigned target = (unsigned)rand_r(seed) % 40, i = 0;
    struct kv_iterator *iterator;
    struct buffer key, value;
    struct error err;

    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK_OK(kv_iterator_new(sample->day->kv, family, NULL, SLICE(""), false, &iterator, &err), &err);
    for (; kv_iterator_is_valid(iterator) && i < target; kv_iterator_next(iterator), i++) {
        buffer_clear(&key);
        buffer_clear(&value);
        buffer_append_slice(&key, kv_iterator_key(iterator));
        buffer_append_slice(&value, kv_iterator_value(iterator));
    }
    kv_iterator_free(iterator);
    if (key.len > 1 && key.data[0] != 'n' && key.data[1] != 'c') {
        if (value.len > 0)
            value.data[(size_t)rand_r(seed) % value.len] ^= (char)(1 << rand_r(seed) % 8);
        if (rand_r(seed) % 3 == 0)
            key.data[(size_t)rand_r(seed) % key.len] ^= (char)(1 << rand_r(seed) % 8);
        if (rand_r(seed) % 5 == 0)
            day_sample_delete(sample, family, buffer_slice(&key));
        else
            day_sample_put(sample, family, buffer_slice(&key), buffer_slice(&value));
    }
    buffer_done(&key);
    buffer_done(&value);
}

TEST(verify_survives_any_damage_and_what_it_repairs_stays_repaired)
{
    unsigned seed = 4;

    for (unsigned round = 0; round < 25; round++) {
        struct day_sample sample;
        struct findings first, second;
        struct error err;

        begin(&sample);
        for (unsigned i = 0; i < 4; i++)
            damage_something(&sample, &seed);
        check_day(&sample, true, &first);
        check_day(&sample, false, &second);
        /* What cannot be mended is found again, and nothing that is new. */
        if (second.verify.n_bad_values != first.verify.n_bad_values - first.verify.n_repaired)
            test_fail(__FILE__, __LINE__, "round %u: first\n%sthen\n%s", round, first.lines.data, second.lines.data);
        buffer_done(&first.lines);
        buffer_done(&second.lines);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

/* --- files that RocksDB cannot read --- */

/* Changes a byte in the largest table of closed hours: those were not written by the database, and do not name their
 * family. */
static void damage_file(struct day_sample *sample)
{
    struct arena arena;
    struct fs_listing listing;
    struct buffer content, largest;
    char *largest_path = NULL;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&largest, 0);
    CHECK_OK(fs_list(sample->path, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        char *path = arena_printf(&arena, &err, "%s/%s", sample->path, listing.names[i]);

        CHECK(path);
        if (!slice_ends_with(slice_from(path), SLICE(".sst")))
            continue;
        buffer_init(&content, 0);
        CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
        if (content.len > largest.len && slice_find(buffer_slice(&content), SLICE("default")) < 0) {
            buffer_done(&largest);
            largest = TAKE(content);
            largest_path = path;
        }
        buffer_done(&content);
    }
    CHECK(largest_path);
    largest.data[largest.len * 3 / 4] ^= 0x10; /* behind the markers, without which a day is not opened */
    CHECK_OK(fs_write_file(largest_path, buffer_slice(&largest), &err), &err);
    buffer_done(&largest);
    arena_done(&arena);
}

TEST(verify_finds_files_that_cannot_be_read_and_leaves_them)
{
    struct day_sample sample;
    struct findings findings;

    begin(&sample);
    day_sample_close_hours(&sample);
    for (unsigned i = 0; i < 200; i++) {
        char service[16];

        snprintf(service, sizeof(service), "service-%u", i);
        day_sample_write(&sample, &(struct day_sample_profile){
                                      .hour = 12.1, .first_stack = i * 37 % 500, .n_stacks = 200, .service = service });
    }
    day_sample_close_hours(&sample);
    day_close(sample.day);
    damage_file(&sample);
    day_sample_open(&sample);

    check_day(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "of 'block' cannot be read, behind key 0c");
    CHECK_EQ(findings.verify.n_bad_days, 1);
    CHECK_EQ(findings.verify.n_repaired, 0);
    buffer_done(&findings.lines);

    day_sample_done(&sample);
}

/* --- memory --- */

static int verify_once(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct store_verify verify = { 0 };

    return verify_day(sample->day, sample->quarantine, &verify, err);
}

TEST(verify_survives_every_failing_allocation)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 3, .thread = "t", .pid = "1" });
    day_sample_close_hours(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 8, .n_stacks = 3 });
    test_each_allocation_failing(verify_once, &sample);
    CHECK_EQ(sample.day->n_views, 0);
    day_sample_done(&sample);
}
