// SPDX-License-Identifier: Apache-2.0
#include "store/verify.h"

#include "base/log.h"
#include "store/verify_sample_test.h"

#include <stdlib.h>

/* --- sound days --- */

TEST(verify_finds_nothing_in_a_sound_day)
{
    struct day_sample sample;

    verify_sample_begin(&sample);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_reopen(&sample);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_looks_at_days_that_are_open_for_reading_only)
{
    static const enum kv_mode modes[] = { KV_READ_ONLY, KV_SECONDARY };
    struct day_sample sample;
    struct error err;

    verify_sample_begin(&sample);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        day_close(sample.day);
        CHECK_OK(day_open(&sample.context, sample.path, DAY_SAMPLE_NAME, modes[i], NULL, &sample.day, &err), &err);
        verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_done(&sample);
}

TEST(verify_finds_nothing_in_an_empty_day)
{
    struct day_sample sample;
    struct verify_sample_findings findings;

    day_sample_init(&sample);
    verify_sample_run(&sample, true, &findings);
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

    verify_sample_begin(&sample);
    CHECK_OK(selector_new(SLICE("{service_name=\"web\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, INT64_MIN, INT64_MAX, &err), &err);
    selector_free(selector);
    CHECK_OK(selector_new(SLICE("{thread=\"worker\"}"), &selector, &err), &err);
    CHECK_OK(
        day_delete(sample.day, SLICE(STORE_TENANT_DEFAULT), selector, day_sample_time(7), day_sample_time(7.5), &err),
        &err);
    selector_free(selector);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15 - 60 * 10);
    day_sample_close_hours(&sample);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15 - 60 * 10);
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
    verify_sample_check_clean(&sample, 120, 120 * 50);
    day_sample_done(&sample);
}

TEST(verify_leaves_what_an_interrupted_rewrite_left_behind)
{
    struct day_sample sample;
    struct verify_sample_found found;
    struct error err;

    verify_sample_begin(&sample);
    verify_sample_find_value(&sample, sample.day->block_family, verify_sample_block_prefix('w', DEFAULT, 0), &found);
    CHECK_OK(hour_rewrite_all(sample.day, &err), &err);
    verify_sample_put_found(&sample, &found);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

/* --- many findings, any damage --- */

TEST(verify_tells_fifty_findings_and_how_many_more_there_are)
{
    struct day_sample sample;
    struct verify_sample_findings findings;
    size_t n_lines = 0;

    verify_sample_begin(&sample);
    for (unsigned i = 0; i < 70; i++) {
        char key[16];

        snprintf(key, sizeof(key), "x%02u", i);
        day_sample_put(&sample, KV_DEFAULT, slice_from(key), SLICE(""));
    }
    verify_sample_run(&sample, false, &findings);
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
    uint32_t families[] = { KV_DEFAULT, sample->day->block_family, verify_sample_head_family(sample) };
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
        struct verify_sample_findings first, second;
        struct error err;

        verify_sample_begin(&sample);
        for (unsigned i = 0; i < 4; i++)
            damage_something(&sample, &seed);
        verify_sample_run(&sample, true, &first);
        verify_sample_run(&sample, false, &second);
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
        if (content.len > largest.len && slice_find(buffer_slice(&content), SLICE(STORE_TENANT_DEFAULT)) < 0) {
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
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
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

    verify_sample_run(&sample, true, &findings);
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
