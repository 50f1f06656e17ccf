// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include "base/log.h"
#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/dayset.h"
#include "store/scan.h"
#include "store/sumscan.h"
#include "store/verify.h"
#include "store/windowscan.h"

#include <unistd.h>

/* A day on disk, kept to be damaged again and again. */
struct victim {
    struct day_sample sample;
    struct dayset set;
    char directory[200], kept[200];
    struct buffer log;
    uint64_t n_rows;
};

/* What is in order in a day, row by row. */
static struct store_verify look(struct victim *victim)
{
    struct store_verify verify = { 0 };
    struct error err;

    CHECK_OK(verify_day(victim->sample.day, victim->sample.quarantine, &verify, &err), &err);
    return verify;
}

static void keep(struct victim *victim)
{
    struct store_verify verify = look(victim);

    CHECK_EQ(verify.n_bad_values, 0);
    victim->n_rows = verify.n_rows;
    day_close(TAKE(victim->sample.day));
    kv_fixture_copy_directory(victim->sample.path, victim->kept);
}

/* The sample, and three hours with many series, closed, two of them twice; deletions of two tenants. */
static void victim_init(struct victim *victim)
{
    struct selector *selector;
    char service[16];
    struct error err;

    *victim = (struct victim){ .n_rows = 0 };
    day_sample_init(&victim->sample);
    day_sample_fill(&victim->sample);
    for (unsigned i = 0; i < 600; i++) {
        snprintf(service, sizeof(service), "service-%u", i % 50);
        day_sample_write(&victim->sample, &(struct day_sample_profile){ .service = service,
                                                                        .hour = 10 + i % 3,
                                                                        .tenant = i % 2 ? "other" : NULL,
                                                                        .pid = service,
                                                                        .first_stack = i * 37 % 500,
                                                                        .n_stacks = 20 });
        if (i == 450)
            day_sample_close_hours(&victim->sample);
    }
    CHECK_OK(selector_new(SLICE("{service_name=\"service-3\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(victim->sample.day, SLICE("other"), selector, 0, INT64_MAX, &err), &err);
    selector_free(selector);
    day_sample_close_hours(&victim->sample);
    day_sample_write(&victim->sample, &(struct day_sample_profile){ .hour = 14, .n_stacks = 3 });
    snprintf(victim->directory, sizeof(victim->directory), "%s/profiles", test_directory());
    snprintf(victim->kept, sizeof(victim->kept), "%s/kept", test_directory());
    buffer_init(&victim->log, 0);
    log_capture(&victim->log);
    keep(victim);
    dayset_init(&victim->set, &victim->sample.context, victim->directory, victim->sample.quarantine,
                victim->sample.scratch, false);
}

static void victim_done(struct victim *victim)
{
    log_capture(NULL);
    buffer_done(&victim->log);
    dayset_done(&victim->set);
    day_sample_done(&victim->sample);
}

static int64_t start_of_day(void)
{
    int64_t start_ns;

    CHECK(day_parse_name(DAY_SAMPLE_NAME, &start_ns));
    return start_ns;
}

/* The day as it was, and nothing else: the cache of an earlier opening would hide damage. */
static void restore(struct victim *victim)
{
    struct error err;

    kv_shared_free(TAKE(victim->sample.context.kv));
    CHECK_OK(kv_shared_new(4 << 20, &victim->sample.context.kv, &err), &err);
    kv_fixture_copy_directory(victim->kept, victim->sample.path);
    CHECK_OK(fs_remove_tree(victim->sample.quarantine, &err), &err);
    buffer_clear(&victim->log);
}

/* Opens the day through the set, as a store does, and checks what it finds. */
static struct store_verify open_and_look(struct victim *victim)
{
    struct store_verify verify;
    struct error err;

    CHECK_OK(dayset_acquire(&victim->set, start_of_day(), DAYSET_WRITE, &victim->sample.day, &err), &err);
    if (!victim->sample.day)
        return (struct store_verify){ 0 };
    verify = look(victim);
    dayset_release(&victim->set, TAKE(victim->sample.day));
    dayset_close_idle(&victim->set, INT64_MAX, INT64_MAX);
    return verify;
}

/* --- any byte of any table --- */

TEST(salvage_loses_little_when_any_part_of_any_table_is_damaged)
{
    enum { STEP = 3001 };
    struct victim victim;
    struct fs_listing listing;
    struct arena arena;
    uint64_t worst = UINT64_MAX;
    unsigned n_salvaged = 0;
    struct error err;

    victim_init(&victim);
    arena_init(&arena, 0);
    CHECK_OK(fs_list(victim.kept, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        char path[300];
        uint64_t bytes;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(".sst")))
            continue;
        snprintf(path, sizeof(path), "%s/%s", victim.sample.path, listing.names[i]);
        restore(&victim);
        CHECK_OK(fs_size(path, &bytes, &err), &err);
        for (uint64_t at = 20; at < bytes; at += at + STEP < bytes || at + 30 > bytes ? STEP : bytes - at - 25) {
            struct store_verify verify;

            restore(&victim);
            kv_fixture_flip_byte(path, (long)at);
            verify = open_and_look(&victim);
            n_salvaged += victim.set.n_set_aside;
            victim.set.n_set_aside = 0;
            if (verify.n_rows < worst)
                worst = verify.n_rows;
            /* Damage that opening does not meet is found by whoever asks for it, and salvaged then. */
            if (verify.n_bad_days) {
                CHECK_OK(dayset_salvage(&victim.set, start_of_day(), &err), &err);
                verify = open_and_look(&victim);
            }
            if (verify.n_bad_values || verify.n_bad_days || verify.n_rows < victim.n_rows * 7 / 10)
                test_fail(__FILE__, __LINE__, "byte %llu of '%s': %llu of %llu rows, %llu bad\n%.*s",
                          (unsigned long long)at, listing.names[i], (unsigned long long)verify.n_rows,
                          (unsigned long long)victim.n_rows, (unsigned long long)verify.n_bad_values,
                          (int)victim.log.len, victim.log.data);
        }
    }
    CHECK(n_salvaged > 0);
    arena_done(&arena);
    victim_done(&victim);
}

/* The day as it was, open. */
static void reopen(struct victim *victim)
{
    restore(victim);
    day_sample_open(&victim->sample);
}

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int count_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    ++*(uint64_t *)context;
    return 0;
}

static int count_sums(void *context, const struct store_sums *sums, struct error *err)
{
    *(uint64_t *)context += sums->n_rows;
    return 0;
}

static int count_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                         struct error *err)
{
    *(uint64_t *)context += windows->n_rows;
    return 0;
}

/* How many rows an answer has, by rows, by sums and by windows. */
static void read_all(struct day *day, const struct selector *selector, uint64_t ret_n[static 3])
{
    struct store_query query = { .tenant = SLICE(STORE_TENANT_DEFAULT),
                                 .selector = selector,
                                 .from_ns = day->start_ns,
                                 .until_ns = day->start_ns + DAY_NS };
    struct store_reads reads = { 0 };
    struct error err;

    memset(ret_n, 0, 3 * sizeof(*ret_n));
    CHECK_OK(scan_day(day, query.tenant, &query, &(struct store_sink){ &ret_n[0], take_names, count_row }, &err), &err);
    CHECK_OK(sumscan_day(day, &query, 0, &(struct store_sum_sink){ &ret_n[1], take_names, count_sums }, &reads, &err),
             &err);
    CHECK_OK(windowscan_day(day, &query, &(struct store_window_sink){ &ret_n[2], count_windows }, &reads, &err), &err);
}

TEST(salvage_has_not_to_come_before_answers_that_go_on_behind_damage)
{
    enum { STEP = 3001 };
    struct victim victim;
    struct fs_listing listing;
    struct arena arena;
    struct selector *selector;
    uint64_t all[3], n[3];
    uint64_t n_all = 0, n_found = 0;
    struct error err;

    victim_init(&victim);
    arena_init(&arena, 0);
    CHECK_OK(selector_new(SLICE("{service_name=~\"service-.*\"}"), &selector, &err), &err);
    reopen(&victim);
    read_all(victim.sample.day, selector, all);
    day_close(TAKE(victim.sample.day));
    CHECK(all[0] > 100 && all[1] == all[0] && all[2] == all[0]);
    CHECK_OK(fs_list(victim.kept, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        char path[300];
        uint64_t bytes;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(".sst")))
            continue;
        snprintf(path, sizeof(path), "%s/%s", victim.sample.path, listing.names[i]);
        restore(&victim);
        CHECK_OK(fs_size(path, &bytes, &err), &err);
        for (uint64_t at = 20; at + 100 < bytes; at += STEP) {
            restore(&victim);
            kv_fixture_flip_byte(path, (long)at);
            if (day_open_recovering(&victim.sample.context, victim.sample.path, DAY_SAMPLE_NAME, KV_READ_ONLY,
                                    &victim.sample.day, &err) < 0)
                continue;
            read_all(victim.sample.day, selector, n);
            day_close(TAKE(victim.sample.day));
            for (unsigned k = 0; k < 3; k++) {
                CHECK(n[k] <= all[k]);
                n_all += all[k];
                n_found += n[k];
            }
        }
    }
    CHECK(n_found < n_all && n_found * 10 >= n_all * 6);
    selector_free(selector);
    arena_done(&arena);
    victim_done(&victim);
}

/* --- values of each kind --- */

/* Overwrites the first value with that prefix. */
static void spoil(struct victim *victim, uint32_t family, struct slice prefix)
{
    struct buffer key, value;

    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(day_sample_find(&victim->sample, family, prefix, &key, &value));
    day_sample_put(&victim->sample, family, buffer_slice(&key), SLICE("\x01"));
    buffer_done(&key);
    buffer_done(&value);
}

static void spoil_marker(struct victim *victim, uint8_t hour, uint32_t number)
{
    struct storekey key = storekey_marker(hour, number);

    spoil(victim, victim->sample.day->block_family, storekey_slice(&key));
}

/* Checks that the day comes back with as many rows, and that the old one lies in quarantine. */
static void check_comes_back(struct victim *victim, uint64_t n_rows)
{
    struct store_verify verify;

    day_close(TAKE(victim->sample.day));
    victim->set.n_set_aside = 0;
    verify = open_and_look(victim);
    CHECK_EQ(victim->set.n_set_aside, 1);
    CHECK_EQ(verify.n_bad_values, 0);
    CHECK_EQ(verify.n_rows, n_rows);
    CHECK_HAS(buffer_slice(&victim->log), "what can be read of it is in its place");
    CHECK_EQ(kv_fixture_count_files(victim->sample.quarantine, DAY_SAMPLE_NAME "-0"), 1);
    CHECK_EQ(kv_fixture_count_files(victim->sample.scratch, ""), 0);
}

TEST(salvage_counts_blocks_again_whose_marker_is_lost)
{
    struct victim victim;

    victim_init(&victim);
    for (uint32_t number = 0; number < 2; number++) {
        reopen(&victim);
        spoil_marker(&victim, 7, number);
        spoil_marker(&victim, 11, number);
        check_comes_back(&victim, victim.n_rows);
        CHECK_HAS(buffer_slice(&victim.log), "has lost its marker");
    }
    victim_done(&victim);
}

/* Puts the values of an hour into `batch`, as they are. */
static void remember_hour(struct victim *victim, uint8_t hour, struct kv_batch *batch)
{
    struct day *day = victim->sample.day;
    struct kv_iterator *iterator;
    char prefix = (char)hour;
    struct error err;

    CHECK_OK(kv_iterator_new(day->kv, day->block_family, NULL, slice_of(&prefix, 1), false, &iterator, &err), &err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        kv_batch_put(batch, day->kv, day->block_family, kv_iterator_key(iterator), kv_iterator_value(iterator));
    kv_iterator_free(iterator);
}

TEST(salvage_counts_nothing_twice_that_was_written_anew)
{
    struct kv_batch *batch;
    struct victim victim;
    struct error err;

    victim_init(&victim);
    reopen(&victim);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    remember_hour(&victim, 7, batch);
    CHECK_OK(hour_rewrite(victim.sample.day, 7, &err), &err);
    /* What was replaced is still there, as after a crash, and the marker that says so is lost. */
    CHECK_OK(kv_write(victim.sample.day->kv, batch, false, &err), &err);
    kv_batch_free(batch);
    spoil_marker(&victim, 7, 2);
    check_comes_back(&victim, victim.n_rows);
    victim_done(&victim);
}

TEST(salvage_counts_nothing_twice_whose_head_is_still_there)
{
    struct day_sample_profile late = { .hour = 16, .n_stacks = 3 };
    struct kv_iterator *iterator;
    struct buffer key, value;
    struct victim victim;
    uint32_t family;
    struct error err;

    victim_init(&victim);
    reopen(&victim);
    day_sample_write(&victim.sample, &late);
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    family = kv_family_find(victim.sample.day->kv, "head-16-0");
    CHECK_OK(kv_iterator_new(victim.sample.day->kv, family, NULL, SLICE(""), false, &iterator, &err), &err);
    buffer_append_slice(&key, kv_iterator_key(iterator));
    buffer_append_slice(&value, kv_iterator_value(iterator));
    kv_iterator_free(iterator);
    day_sample_close_hours(&victim.sample);
    CHECK_EQ(kv_family_find(victim.sample.day->kv, "head-16-0"), KV_NO_FAMILY);
    CHECK_OK(kv_family_create(victim.sample.day->kv, "head-16-0", &family, &err), &err);
    day_sample_put(&victim.sample, family, buffer_slice(&key), buffer_slice(&value));
    buffer_done(&key);
    buffer_done(&value);
    spoil_marker(&victim, 16, 0);
    check_comes_back(&victim, victim.n_rows + 1);
    victim_done(&victim);
}

TEST(salvage_takes_names_deletions_and_series_from_their_copies)
{
    static const char *const prefixes[] = { "n", "t", "s" };
    struct victim victim;
    struct error err;

    victim_init(&victim);
    for (unsigned i = 0; i < ARRAY_LEN(prefixes); i++) {
        reopen(&victim);
        spoil(&victim, KV_DEFAULT, slice_from(prefixes[i]));
        if (prefixes[i][0] == 'n')
            spoil(&victim, KV_DEFAULT, SLICE("n\0\0\0\2"));
        spoil_marker(&victim, 10, 0);
        check_comes_back(&victim, victim.n_rows);
        CHECK_OK(dayset_acquire(&victim.set, start_of_day(), DAYSET_READ, &victim.sample.day, &err), &err);
        CHECK_EQ(day_find_tenant(victim.sample.day, SLICE("other")), 2);
        CHECK_EQ(victim.sample.day->tombstones.n, 1);
        dayset_release(&victim.set, TAKE(victim.sample.day));
        dayset_close_idle(&victim.set, INT64_MAX, INT64_MAX);
    }
    victim_done(&victim);
}

TEST(salvage_names_a_tenant_whose_name_is_lost)
{
    struct victim victim;
    struct error err;

    victim_init(&victim);
    reopen(&victim);
    day_sample_delete(&victim.sample, KV_DEFAULT, SLICE("n\0\0\0\2"));
    day_sample_delete(&victim.sample, victim.sample.day->block_family, SLICE("\xffn\0\0\0\2"));
    spoil_marker(&victim, 10, 0);
    check_comes_back(&victim, victim.n_rows);
    CHECK_HAS(buffer_slice(&victim.log), "the name of tenant 2 is lost; it is called 'lost-2' now");
    CHECK_OK(dayset_acquire(&victim.set, start_of_day(), DAYSET_READ, &victim.sample.day, &err), &err);
    CHECK_EQ(day_find_tenant(victim.sample.day, SLICE("lost-2")), 2);
    CHECK_EQ(day_find_tenant(victim.sample.day, SLICE("other")), 0);
    dayset_release(&victim.set, TAKE(victim.sample.day));
    victim_done(&victim);
}

TEST(salvage_leaves_ids_and_sequences_out_once)
{
    enum { GAP = 1 << 24 };
    struct day_sample_profile profile = { .hour = 15, .tenant = "other", .service = "service-3", .n_stacks = 2 };
    struct store_verify before;
    uint32_t sequence, ids_from;
    struct victim victim;
    struct error err;

    victim_init(&victim);
    reopen(&victim);
    sequence = victim.sample.day->next_sequence;
    day_sample_delete(&victim.sample, KV_DEFAULT, SLICE("msequence"));
    spoil_marker(&victim, 10, 0);
    check_comes_back(&victim, victim.n_rows);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(dayset_acquire(&victim.set, start_of_day(), DAYSET_WRITE, &victim.sample.day, &err), &err);
        if (i == 0) {
            CHECK(victim.sample.day->next_sequence >= sequence - 1 + GAP);
            sequence = victim.sample.day->next_sequence;
            ids_from = victim.sample.day->ids_from;
            CHECK(ids_from > GAP && ids_from < GAP + 2000);
        }
        CHECK_EQ(victim.sample.day->ids_from, ids_from);
        CHECK_EQ(victim.sample.day->next_sequence, sequence + i);
        before = look(&victim);
        /* The deletion of the service is older than this row. */
        day_sample_write(&victim.sample, &profile);
        CHECK_EQ(look(&victim).n_rows, before.n_rows + 1);
        CHECK(victim.sample.day->tombstones.items[0].sequence < sequence);
        dayset_release(&victim.set, TAKE(victim.sample.day));
        dayset_close_idle(&victim.set, INT64_MAX, INT64_MAX);
    }
    victim_done(&victim);
}

TEST(salvage_is_not_for_readers_who_read_what_can_be_read)
{
    struct victim victim;
    struct dayset readers;
    struct error err;

    victim_init(&victim);
    reopen(&victim);
    spoil_marker(&victim, 7, 0);
    spoil(&victim, KV_DEFAULT, SLICE("n"));
    day_close(TAKE(victim.sample.day));
    dayset_init(&readers, &victim.sample.context, victim.directory, victim.sample.quarantine, victim.sample.scratch,
                true);
    CHECK_OK(dayset_acquire(&readers, start_of_day(), DAYSET_READ, &victim.sample.day, &err), &err);
    CHECK(victim.sample.day != NULL);
    CHECK_EQ(victim.sample.day->mode, KV_SECONDARY);
    CHECK_EQ(day_find_tenant(victim.sample.day, SLICE(STORE_TENANT_DEFAULT)), 1);
    CHECK_HAS(buffer_slice(&victim.log), "day 2026-11-15 is damaged, and answers lack what cannot be read");
    CHECK_HAS(buffer_slice(&victim.log), "has lost its marker");
    dayset_release(&readers, TAKE(victim.sample.day));
    dayset_done(&readers);
    CHECK_EQ(readers.n_set_aside, 0);
    CHECK(access(victim.sample.quarantine, F_OK) < 0);
    victim_done(&victim);
}

/* --- into place --- */

static void make_directory(const char *name, const char *file)
{
    struct error err;

    CHECK_OK(fs_make_directories(kv_fixture_path(name), 0700, &err), &err);
    CHECK_OK(fs_write_file(kv_fixture_path(file), SLICE("x"), &err), &err);
}

static bool exists(const char *name)
{
    return access(kv_fixture_path(name), F_OK) == 0;
}

TEST(salvage_exchanges_the_days)
{
    struct error err;

    make_directory("profiles/2026-11-15", "profiles/2026-11-15/old");
    make_directory("tmp/new", "tmp/new/new");
    make_directory("quarantine", "quarantine/other");
    CHECK_OK(salvage_exchange(kv_fixture_path("tmp/new"), kv_fixture_path("profiles/2026-11-15"),
                              kv_fixture_path("quarantine/2026-11-15-0"), &err),
             &err);
    CHECK(exists("profiles/2026-11-15/new") && exists("quarantine/2026-11-15-0/old") && !exists("tmp/new"));
    CHECK_ERROR(salvage_exchange(kv_fixture_path("tmp/none"), kv_fixture_path("profiles/2026-11-15"),
                                 kv_fixture_path("quarantine/2026-11-15-1"), &err),
                &err, ERR_NOT_FOUND);
    CHECK(exists("profiles/2026-11-15/new"));
}

TEST(salvage_finishes_an_exchange_that_was_interrupted)
{
    struct error err;

    /* The old day is aside, the new one not yet in place; another was not needed in the end. */
    make_directory("profiles/2026-11-15.salvaged", "profiles/2026-11-15.salvaged/new");
    make_directory("profiles/2026-11-14", "profiles/2026-11-14/old");
    make_directory("profiles/2026-11-14.salvaged", "profiles/2026-11-14.salvaged/new");
    CHECK_OK(salvage_finish(kv_fixture_path("profiles"), &err), &err);
    CHECK(exists("profiles/2026-11-15/new") && !exists("profiles/2026-11-15.salvaged"));
    CHECK(exists("profiles/2026-11-14/old") && !exists("profiles/2026-11-14.salvaged"));
    CHECK_OK(salvage_finish(kv_fixture_path("profiles"), &err), &err);
    CHECK_ERROR(salvage_finish(kv_fixture_path("nowhere"), &err), &err, ERR_NOT_FOUND);
}
