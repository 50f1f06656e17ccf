// SPDX-License-Identifier: Apache-2.0
/* Days whose manifest is damaged or gone: salvage.c and recover.c. */
#include "base/log.h"
#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/dayset.h"
#include "store/salvage.h"
#include "store/scan.h"
#include "store/verify.h"

enum { HEADER_BYTES = 7, LENGTH_AT = 4 };

/* A day whose process was killed: its files are as they were at that moment, to be damaged again and again. */
struct killed {
    struct day_sample sample;
    struct dayset set;
    char directory[200], kept[200], manifest[300];
    struct buffer log;
    uint64_t n_rows;
    int64_t total; /* of the values of the tenant that nobody named */
};

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

static int64_t add_all(struct day *day)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct error err;
    int64_t sum = 0;

    CHECK_OK(
        scan_day(day, SLICE(STORE_TENANT_DEFAULT), &query, &(struct store_sink){ &sum, take_names, add_row }, &err),
        &err);
    return sum;
}

static uint64_t count_sound_rows(struct killed *killed)
{
    struct store_verify verify = { 0 };
    struct error err;

    CHECK_OK(verify_day(killed->sample.day, killed->sample.quarantine, &verify, &err), &err);
    CHECK_EQ(verify.n_bad_values, 0);
    CHECK_EQ(verify.n_bad_days, 0);
    return verify.n_rows;
}

static void killed_init(struct killed *killed)
{
    *killed = (struct killed){ .n_rows = 0 };
    day_sample_init(&killed->sample);
    snprintf(killed->directory, sizeof(killed->directory), "%s/profiles", test_directory());
    snprintf(killed->kept, sizeof(killed->kept), "%s/kept", test_directory());
    buffer_init(&killed->log, 0);
    log_capture(&killed->log);
}

static void kill_it(struct killed *killed)
{
    killed->n_rows = count_sound_rows(killed);
    killed->total = add_all(killed->sample.day);
    kv_fixture_copy_directory(killed->sample.path, killed->kept);
    day_close(TAKE(killed->sample.day));
    dayset_init(&killed->set, &killed->sample.context, killed->directory, killed->sample.quarantine,
                killed->sample.scratch, false);
}

static void killed_done(struct killed *killed)
{
    log_capture(NULL);
    buffer_done(&killed->log);
    dayset_done(&killed->set);
    day_sample_done(&killed->sample);
}

/* The day as it was left; the path of its manifest. */
static const char *restore(struct killed *killed)
{
    AUTO(buffer_done) struct buffer name;
    struct error err;

    kv_fixture_copy_directory(killed->kept, killed->sample.path);
    CHECK_OK(fs_remove_tree(killed->sample.quarantine, &err), &err);
    buffer_clear(&killed->log);
    buffer_init(&name, 0);
    CHECK_OK(fs_read_file(kv_fixture_path("kept/CURRENT"), 0, &name, &err), &err);
    snprintf(killed->manifest, sizeof(killed->manifest), "%s/%.*s", killed->sample.path, (int)name.len - 1, name.data);
    return killed->manifest;
}

static struct day *acquire(struct killed *killed)
{
    struct error err;

    CHECK_OK(dayset_acquire(&killed->set, day_sample_time(0), DAYSET_WRITE, &killed->sample.day, &err), &err);
    CHECK(killed->sample.day != NULL);
    return killed->sample.day;
}

static void release(struct killed *killed)
{
    dayset_release(&killed->set, TAKE(killed->sample.day));
    dayset_close_idle(&killed->set, INT64_MAX, INT64_MAX);
}

/* Opens the day as a store does: everything is there, once, and stays so when more is written. */
static void check_all_is_there(struct killed *killed, const char *what)
{
    uint64_t n_rows;
    int64_t total;

    killed->set.n_set_aside = 0;
    for (unsigned i = 0; i < 2; i++) {
        total = add_all(acquire(killed));
        n_rows = count_sound_rows(killed);
        if (n_rows != killed->n_rows + i || total != killed->total + i)
            test_fail(__FILE__, __LINE__, "%s, opening %u: %llu rows with %lld, not %llu with %lld\n%.*s", what, i,
                      (unsigned long long)n_rows, (long long)total, (unsigned long long)killed->n_rows + i,
                      (long long)killed->total + i, SLICE_ARG(buffer_slice(&killed->log)));
        if (i == 0)
            day_sample_write(&killed->sample, &(struct day_sample_profile){ .hour = 7.9, .n_stacks = 1 });
        release(killed);
    }
    CHECK_EQ(killed->set.n_set_aside, 1);
    CHECK_EQ(kv_fixture_count_files(killed->sample.scratch, ""), 0);
}

/* Damages each record of the manifest in turn, in one of four places: its checksum, its length, its kind, the middle of it.
 * The first and the last are damaged in all of them. */
static void check_each_record(struct killed *killed)
{
    AUTO(buffer_done) struct buffer content;
    unsigned next = 0;
    struct error err;
    char what[100];

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(restore(killed), 0, &content, &err), &err);
    for (size_t at = 0; at < content.len; at += HEADER_BYTES + bytes_get_le16(content.data + at + LENGTH_AT)) {
        size_t len = bytes_get_le16(content.data + at + LENGTH_AT);
        size_t places[] = { 0, LENGTH_AT + 1, HEADER_BYTES - 1, HEADER_BYTES + len / 2 };

        next++;
        for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
            if (at && at + HEADER_BYTES + len < content.len && i != next % ARRAY_LEN(places))
                continue;
            kv_fixture_flip_byte(restore(killed), (long)(at + places[i]));
            snprintf(what, sizeof(what), "byte %zu of %zu", at + places[i], content.len);
            check_all_is_there(killed, what);
        }
    }
}

/* Two hours, two tenants, nothing in a table. */
static void fill_young_day(struct killed *killed)
{
    killed_init(killed);
    for (unsigned i = 0; i < 10; i++)
        day_sample_write(
            &killed->sample,
            &(struct day_sample_profile){
                .hour = 7 + i % 2, .tenant = i % 3 ? NULL : "other", .first_stack = i, .n_stacks = 5, .pid = "12" });
    kill_it(killed);
    CHECK_EQ(kv_fixture_count_files(killed->kept, ".sst"), 0);
}

TEST(salvage_has_every_row_of_a_young_day_whichever_record_of_its_manifest_is_damaged)
{
    struct killed killed;

    fill_young_day(&killed);
    check_each_record(&killed);
    killed_done(&killed);
}

TEST(salvage_has_every_row_of_a_young_day_without_a_manifest)
{
    struct killed killed;
    struct error err;

    fill_young_day(&killed);
    CHECK(unlink(restore(&killed)) == 0);
    check_all_is_there(&killed, "no manifest");
    CHECK_OK(fs_write_file(restore(&killed), SLICE(""), &err), &err);
    check_all_is_there(&killed, "an empty manifest");
    killed_done(&killed);
}

/* Heads that come and go while the log keeps their rows: hour 7 closed three times and written anew, without the rows of a
 * service that was deleted; hour 8 closed; both with rows in new heads. */
static void fill_closed_day(struct killed *killed)
{
    struct selector *selector;
    struct error err;

    killed_init(killed);
    for (unsigned i = 0; i < 12; i++) {
        day_sample_write(&killed->sample, &(struct day_sample_profile){ .hour = i < 9 ? 7.5 : 8.5,
                                                                        .service = i % 3 ? "api" : "gone",
                                                                        .first_stack = i,
                                                                        .n_stacks = 5 });
        if (i % 3 == 2)
            day_sample_close_hours(&killed->sample);
    }
    CHECK_OK(selector_new(SLICE("{service_name=\"gone\"}"), &selector, &err), &err);
    CHECK_OK(day_delete(killed->sample.day, SLICE(STORE_TENANT_DEFAULT), selector, 0, INT64_MAX, &err), &err);
    selector_free(selector);
    CHECK_OK(hour_rewrite_all(killed->sample.day, &err), &err);
    CHECK_EQ(killed->sample.day->tombstones.n, 0);
    for (unsigned i = 0; i < 2; i++)
        day_sample_write(&killed->sample, &(struct day_sample_profile){ .hour = 7.7 + i, .n_stacks = 3 });
    kill_it(killed);
    CHECK_EQ(killed->n_rows, 10);
}

TEST(salvage_has_every_row_once_whichever_record_of_the_manifest_is_damaged)
{
    struct killed killed;

    fill_closed_day(&killed);
    check_each_record(&killed);
    killed_done(&killed);
}

TEST(salvage_leaves_heads_out_that_come_back_although_their_hour_was_written_anew)
{
    struct killed killed;

    fill_closed_day(&killed);
    CHECK(unlink(restore(&killed)) == 0);
    check_all_is_there(&killed, "no manifest");
    CHECK_HAS(buffer_slice(&killed.log), "is left out, its rows are in a closing");
    killed_done(&killed);
}

/* --- memory --- */

static int salvage_once(void *context, struct error *err)
{
    struct killed *killed = context;
    const char *path = kv_fixture_path("scratch/salvaged");
    struct error none;

    buffer_clear(&killed->log);
    if (salvage_make(&killed->sample.context, DAY_SAMPLE_NAME, killed->sample.path, path, killed->sample.quarantine,
                     err) < 0) {
        CHECK(access(path, F_OK) < 0);
        return -1;
    }
    return fs_remove_tree(path, &none);
}

TEST(salvage_survives_failing_allocations)
{
    struct killed killed;

    killed_init(&killed);
    day_sample_write(&killed.sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    day_sample_close_hours(&killed.sample);
    day_sample_write(&killed.sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    kill_it(&killed);
    CHECK(unlink(restore(&killed)) == 0);
    test_each_allocation_failing(salvage_once, &killed);
    killed_done(&killed);
}
