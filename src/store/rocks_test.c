// SPDX-License-Identifier: Apache-2.0
/* What is special about the embedded store: files that fail or are damaged. What it shares with others is in the
 * conformance tests. */
#include "store/rocks.h"

#include "kv/kv_fixture_test.h"
#include "store/rocks_internal.h"
#include "store/store_sample_test.h"

#define WRITE_A                                                                                                        \
    {                                                                                                                  \
        .at = "15T10:00", .service = "api", .samples = "a 1 10"                                                        \
    }

static void begin(struct store_sample *sample)
{
    store_sample_begin(sample, &store_sample_kinds[0]);
    CHECK_TEXT(sample->store->ops->name, "rocks");
}

static const char *path_below(struct store_sample *sample, const char *name)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", sample->path, name);
    return path;
}

TEST(rocks_recovers_by_itself_from_a_disk_that_failed)
{
    struct store_sample_profile profile = { .at = "15T10:00", .service = "api", .samples = "b 2 20", .id = 9 };
    struct store_sample sample;
    struct store_receipt receipt;
    struct error err;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    kv_fixture_limit_file_size(1);
    CHECK(store_sample_try(&sample, NULL, &profile, 1, &receipt, &err) < 0);
    CHECK(store_sample_try(&sample, NULL, &profile, 1, &receipt, &err) < 0);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_EQ(STORE_SAMPLE_WRITE(&sample, profile).n_written, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\nb 2 20\n");
    store_sample_verify(&sample);
    store_sample_reopen(&sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\nb 2 20\n");
    store_sample_end(&sample);
}

TEST(rocks_opens_a_failed_day_again_that_nobody_writes_to)
{
    struct store_sample sample;
    struct error err;
    struct day *day;
    struct dayset *days;

    begin(&sample);
    days = &rocks_of(sample.store)->days;
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    store_sample_pass(&sample, 3); /* no hour is open */
    CHECK_OK(dayset_acquire(days, day_start(store_sample_time("15T10:00")), DAYSET_READ, &day, &err), &err);
    lock_mutex_acquire(&day->lock);
    error_set(&err, ERR_IO, "the disk was gone for a moment");
    day_stop(day, &err);
    lock_mutex_release(&day->lock);
    dayset_release(days, day);
    store_sample_maintain(&sample);
    CHECK_OK(dayset_acquire(days, day_start(store_sample_time("15T10:00")), DAYSET_READ, &day, &err), &err);
    CHECK_EQ(day->failure.code, ERR_OK);
    dayset_release(days, day);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\n");
    store_sample_end(&sample);
}

TEST(rocks_counts_what_was_set_aside_against_the_limit_of_bytes)
{
    struct store_sample sample;
    struct store_stats stats;
    struct error err;
    static char junk[1 << 20];

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A, { .at = "14T10:00", .samples = "b 2 20" });
    store_sample_maintain(&sample);
    CHECK_OK(fs_make_directories(path_below(&sample, "quarantine/2026-11-13-0"), 0700, &err), &err);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.n_quarantined, 1);
    sample.options.retention_bytes = stats.disk_bytes + sizeof(junk) / 2;
    store_sample_reopen(&sample);
    store_sample_maintain(&sample);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.n_days, 2);
    CHECK_OK(
        fs_write_file(path_below(&sample, "quarantine/2026-11-13-0/000001.sst"), slice_of(junk, sizeof(junk)), &err),
        &err);
    store_sample_maintain(&sample);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.quarantine_bytes, sizeof(junk));
    CHECK_EQ(stats.n_days, 1);
    store_sample_end(&sample);
}

TEST(rocks_closes_an_hour_later_if_the_disk_fails_meanwhile)
{
    struct store_sample sample;
    struct store_stats stats;
    struct error err;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    clock_fake_advance(3 * 3600 * CLOCK_NS_PER_SECOND);
    kv_fixture_limit_file_size(1);
    CHECK(store_maintain(sample.store, &err) < 0);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\n");
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    store_sample_maintain(&sample);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 2 20\n");
    store_sample_verify(&sample);
    store_sample_end(&sample);
}

TEST(rocks_opens_old_days_only_to_close_what_was_left_open)
{
    struct store_sample sample;
    struct store_stats stats;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, { .at = "12T10:00", .service = "api", .samples = "a 1 10" });
    STORE_SAMPLE_WRITE(&sample, { .at = "13T10:00", .service = "api", .samples = "a 1 10" });
    /* The hour of one is closed, that of the other is not. */
    store_sample_maintain(&sample);
    STORE_SAMPLE_WRITE(&sample, { .at = "13T11:00", .service = "api", .samples = "a 1 10" });
    store_sample_reopen(&sample);
    CHECK_EQ(dayset_n_open(&rocks_of(sample.store)->days), 0);
    store_sample_maintain(&sample);
    CHECK_EQ(dayset_n_open(&rocks_of(sample.store)->days), 0);
    CHECK_EQ(dayset_openings(&rocks_of(sample.store)->days, store_sample_time("12T00:00")), 0);
    CHECK_EQ(dayset_openings(&rocks_of(sample.store)->days, store_sample_time("13T00:00")), 1);
    store_sample_maintain(&sample);
    CHECK_EQ(dayset_openings(&rocks_of(sample.store)->days, store_sample_time("13T00:00")), 1);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 3 30\n");
    store_sample_end(&sample);
}

/* Makes every file in `directory` whose name begins so unreadable. */
static void spoil(const char *directory, const char *beginning)
{
    struct fs_listing listing;
    struct arena arena;
    struct error err;
    char path[400];
    unsigned n = 0;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(directory, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        if (strncmp(listing.names[i], beginning, strlen(beginning)) == 0) {
            snprintf(path, sizeof(path), "%s/%s", directory, listing.names[i]);
            CHECK_OK(fs_write_file(path, SLICE("nonsense, and too short for anything\n"), &err), &err);
            n++;
        }
    CHECK(n > 0);
    arena_done(&arena);
}

TEST(rocks_opens_although_the_list_of_kept_ranges_is_damaged)
{
    struct store_keep keep = { .name = SLICE("v1"), .until_ns = 5 };
    struct store_sample sample;
    struct error err;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    CHECK_OK(store_keep(sample.store, &keep, &err), &err);
    store_sample_close(&sample);
    spoil(path_below(&sample, "meta"), "MANIFEST");
    store_sample_open(&sample);
    CHECK_HAS(buffer_slice(&sample.log), "the list of kept ranges is damaged and set aside");
    CHECK_EQ(kv_fixture_count_files(path_below(&sample, "quarantine"), ""), 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\n");
    /* Nothing is forgotten before somebody said what is kept. */
    clock_fake_advance((int64_t)100 * 86400 * CLOCK_NS_PER_SECOND);
    CHECK_ERROR(store_maintain(sample.store, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "nothing is forgotten");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\n");
    CHECK_OK(store_keep(sample.store, &keep, &err), &err);
    store_sample_maintain(&sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "");
    store_sample_end(&sample);
}

TEST(rocks_salvages_a_day_that_is_damaged)
{
    struct store_verify verify = { 0 };
    struct store_sample sample;
    struct store_stats stats;
    struct error err;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A, { .at = "13T10:00", .samples = "b 2 20" },
                       { .at = "12T10:00", .samples = "c 3 30" });
    store_sample_close(&sample);
    spoil(path_below(&sample, "profiles/2026-11-13"), "MANIFEST");
    sample.options.is_read_only = true;
    store_sample_open(&sample);
    /* A reader changes nothing, and cannot do without a manifest. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\nc 3 30\n");
    CHECK_OK(store_verify(sample.store, &verify, &err), &err);
    CHECK_EQ(verify.n_bad_days, 1);
    store_sample_close(&sample);
    CHECK_EQ(kv_fixture_count_files(path_below(&sample, "profiles"), ""), 3);
    sample.options.is_read_only = false;
    store_sample_open(&sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\nb 2 20\nc 3 30\n");
    store_sample_stats(&sample, &stats);
    CHECK(stats.n_quarantined >= 1); /* the day, and a copy of its log, of which nothing could be taken */
    CHECK_EQ(stats.n_days, 3);
    store_sample_verify(&sample);
    STORE_SAMPLE_WRITE(&sample, { .at = "13T10:00", .samples = "new 1 10" });
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\nb 2 20\nc 3 30\nnew 1 10\n");
    store_sample_end(&sample);
}

TEST(rocks_leaves_nothing_behind_when_it_cannot_open)
{
    struct store_sample sample;
    struct store *store;
    struct error err;

    begin(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    store_sample_close(&sample);
    CHECK_OK(fs_write_file(path_below(&sample, "FORMAT"), SLICE("hearth store 2.0\n"), &err), &err);
    CHECK_ERROR(rocks_open(&sample.options, &store, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "data directory '");
    CHECK_HAS(err.text, "2.0");
    store_sample_end(&sample);
}

TEST(rocks_syncs_when_it_is_maintained_without_a_background)
{
    struct store_sample sample;

    begin(&sample);
    sample.options.wal_sync = STORE_SYNC_EACH_SECOND;
    store_sample_reopen(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    store_sample_maintain(&sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 1 10\n");
    sample.options.wal_sync = STORE_SYNC_ALWAYS;
    store_sample_reopen(&sample);
    STORE_SAMPLE_WRITE(&sample, WRITE_A);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample), "a 2 20\n");
    store_sample_end(&sample);
}
