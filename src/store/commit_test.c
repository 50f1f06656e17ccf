// SPDX-License-Identifier: Apache-2.0
#include "store/commit.h"

#include "base/thread.h"
#include "kv/kv_fixture_test.h"
#include "store/day_sample_test.h"
#include "store/scan.h"
#include "store/verify.h"

/* A commit of one profile, and what it needs. */
struct attempt {
    struct batch batch;
    struct arena lasting, arena;
    struct content content;
    struct commit commit;
};

static void begin(struct day_sample *sample, const struct day_sample_profile *profile, struct attempt *attempt)
{
    struct slice tenant = slice_from(profile->tenant ? profile->tenant : STORE_TENANT_DEFAULT);
    struct error err;

    arena_init(&attempt->lasting, 0);
    arena_init(&attempt->arena, 0);
    batch_init(&attempt->batch, NULL);
    day_sample_build(profile, &attempt->batch);
    CHECK_OK(
        content_hash(&attempt->batch.tables, sample->context.seed, false, &attempt->lasting, &attempt->content, &err),
        &err);
    CHECK_OK(commit_init(&attempt->commit, sample->day, tenant, &attempt->batch.tables, &attempt->content,
                         &attempt->lasting, &attempt->arena, &err),
             &err);
}

static void end(struct attempt *attempt)
{
    commit_done(&attempt->commit);
    batch_done(&attempt->batch);
    arena_done(&attempt->lasting);
    arena_done(&attempt->arena);
}

static int try_write(struct day_sample *sample, const struct day_sample_profile *profile, struct error *err)
{
    struct attempt attempt;
    int result;

    begin(sample, profile, &attempt);
    result = commit_add(&attempt.commit, &attempt.batch.profiles[0], day_sample_time(profile->hour), NULL, err);
    if (!result)
        result = commit_finish(&attempt.commit, err);
    end(&attempt);
    return result;
}

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int count_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    ++*(unsigned *)context;
    return 0;
}

static unsigned count_rows(struct day_sample *sample)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    unsigned n = 0;
    struct store_sink sink = { &n, take_names, count_row };
    struct error err;

    CHECK_OK(scan_day(sample->day, SLICE(STORE_TENANT_DEFAULT), &query, &sink, &err), &err);
    return n;
}

static void check_sound(struct day_sample *sample, uint64_t n_rows)
{
    struct store_verify verify = { 0 };
    struct error err;

    CHECK_OK(verify_day(sample->day, sample->quarantine, &verify, &err), &err);
    CHECK_EQ(verify.n_bad_values + verify.n_bad_days, 0);
    CHECK_EQ(verify.n_rows, n_rows);
}

TEST(commit_of_several_profiles_is_kept_whole)
{
    struct day_sample_profile profile = { .hour = 7.5, .n_stacks = 3 };
    struct day_sample sample;
    struct attempt attempt;
    struct error err;
    uint8_t id[16] = { 1 };

    day_sample_init(&sample);
    begin(&sample, &profile, &attempt);
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(commit_add(&attempt.commit, &attempt.batch.profiles[0], day_sample_time(7 + i), i ? id : NULL, &err),
                 &err);
    CHECK_EQ(count_rows(&sample), 0);
    CHECK_OK(commit_finish(&attempt.commit, &err), &err);
    CHECK_EQ(attempt.commit.profiles.n, 3);
    CHECK(!attempt.commit.profiles.items[0].is_duplicate);
    CHECK(!attempt.commit.profiles.items[1].is_duplicate);
    CHECK(attempt.commit.profiles.items[2].is_duplicate);
    CHECK_EQ(attempt.commit.profiles.items[0].n_samples, 3);
    end(&attempt);
    CHECK_EQ(count_rows(&sample), 2);
    CHECK_EQ(sample.day->heads.n, 2);
    CHECK_EQ(sample.day->next_sequence, 2);
    check_sound(&sample, 2);
    day_sample_done(&sample);
}

TEST(commit_without_profiles_writes_nothing)
{
    struct day_sample_profile profile = { .hour = 7.5, .n_stacks = 3 };
    struct day_sample sample;
    struct attempt attempt;
    struct error err;

    day_sample_init(&sample);
    begin(&sample, &profile, &attempt);
    CHECK_OK(commit_finish(&attempt.commit, &err), &err);
    end(&attempt);
    CHECK_EQ(count_rows(&sample), 0);
    day_sample_done(&sample);
}

TEST(commit_that_is_given_up_leaves_nothing)
{
    struct day_sample_profile profile = { .hour = 7.5, .n_stacks = 3 };
    struct day_sample sample;
    struct attempt attempt;
    struct error err;

    day_sample_init(&sample);
    begin(&sample, &profile, &attempt);
    CHECK_OK(commit_add(&attempt.commit, &attempt.batch.profiles[0], day_sample_time(7), NULL, &err), &err);
    end(&attempt);
    CHECK_EQ(count_rows(&sample), 0);
    /* The names it had got are good for the next. */
    day_sample_write(&sample, &profile);
    CHECK_EQ(count_rows(&sample), 1);
    check_sound(&sample, 1);
    day_sample_reopen(&sample);
    check_sound(&sample, 1);
    day_sample_done(&sample);
}

TEST(commit_numbers_rows_on_after_opening_again)
{
    struct day_sample sample;

    day_sample_init(&sample);
    for (unsigned i = 0; i < 3; i++) {
        day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .first_stack = i, .n_stacks = 5 });
        CHECK_EQ(sample.day->next_sequence, i + 1);
        day_sample_reopen(&sample);
        CHECK_EQ(sample.day->next_sequence, i + 1);
    }
    CHECK_EQ(count_rows(&sample), 3);
    check_sound(&sample, 3);
    day_sample_done(&sample);
}

/* --- a disk that fails --- */

TEST(commit_that_fails_stops_the_day_until_it_is_opened_again)
{
    struct day_sample_profile first = { .hour = 7, .n_stacks = 3 },
                              second = { .hour = 7, .first_stack = 9, .n_stacks = 2 };
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    day_sample_write(&sample, &first);
    kv_fixture_limit_file_size(1);
    CHECK(try_write(&sample, &second, &err) < 0);
    kv_fixture_limit_file_size(RLIM_INFINITY);
    CHECK_EQ(err.code, ERR_IO);
    CHECK_HAS(err.text, "it is not certain whether the profile was kept: ");
    CHECK(sample.day->failure.code != ERR_OK);
    /* There is room again, but memory is ahead of the disk. */
    CHECK_ERROR(try_write(&sample, &second, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "day 2026-11-15 stopped writing: ");
    CHECK_EQ(count_rows(&sample), 1);
    day_sample_reopen(&sample);
    CHECK_EQ(count_rows(&sample), 1);
    check_sound(&sample, 1);
    CHECK_OK(try_write(&sample, &second, &err), &err);
    CHECK_EQ(count_rows(&sample), 2);
    check_sound(&sample, 2);
    day_sample_done(&sample);
}

/* --- several writers --- */

enum { N_THREADS = 8, N_ROUNDS = 50 };

struct writer {
    struct thread thread;
    struct day_sample *sample;
    uint32_t number, n_kept;
    int result;
    struct error failure;
};

/* Each round writes a profile of its own, and one that all the others write as well. */
static void run_writer(struct thread *thread, void *context)
{
    struct writer *writer = context;

    for (uint32_t i = 0; i < N_ROUNDS && !writer->result; i++) {
        struct day_sample_profile profile = { .hour = 7 + i % 3,
                                              .tenant = STORE_TENANT_DEFAULT,
                                              .instance = i % 2 ? "one" : "two",
                                              .first_stack = writer->number * 3 + i,
                                              .n_stacks = 4 };
        uint8_t id[16] = { (uint8_t)i, 1 };
        struct attempt attempt;

        begin(writer->sample, &profile, &attempt);
        writer->result = commit_add(&attempt.commit, &attempt.batch.profiles[0], day_sample_time(profile.hour), id,
                                    &writer->failure);
        if (!writer->result)
            writer->result = commit_add(&attempt.commit, &attempt.batch.profiles[0], day_sample_time(profile.hour),
                                        NULL, &writer->failure);
        if (!writer->result)
            writer->result = commit_finish(&attempt.commit, &writer->failure);
        for (size_t k = 0; !writer->result && k < attempt.commit.profiles.n; k++)
            writer->n_kept += !attempt.commit.profiles.items[k].is_duplicate;
        end(&attempt);
    }
}

TEST(commit_takes_many_writers_together)
{
    struct writer writers[N_THREADS];
    struct day_sample sample;
    struct error err;
    uint32_t n_kept = 0;

    day_sample_init(&sample);
    sample.context.wal_sync = STORE_SYNC_ALWAYS;
    for (uint32_t i = 0; i < N_THREADS; i++) {
        writers[i] = (struct writer){ .sample = &sample, .number = i };
        CHECK_OK(thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &err), &err);
    }
    for (uint32_t i = 0; i < N_THREADS; i++) {
        thread_stop(&writers[i].thread);
        CHECK_OK(writers[i].result, &writers[i].failure);
        n_kept += writers[i].n_kept;
    }
    CHECK_EQ(n_kept, N_THREADS * N_ROUNDS + N_ROUNDS);
    /* Several went into one group, which is what groups are for. */
    CHECK(sample.day->group.done < N_THREADS * N_ROUNDS);
    CHECK_EQ(count_rows(&sample), n_kept);
    check_sound(&sample, n_kept);
    day_sample_close_hours(&sample);
    check_sound(&sample, n_kept);
    day_sample_done(&sample);
}

TEST(commit_fails_for_all_writers_of_a_group_together)
{
    struct writer writers[N_THREADS];
    struct day_sample sample;
    struct error err;
    uint32_t n_kept = 1;

    day_sample_init(&sample);
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 7, .n_stacks = 1 });
    kv_fixture_limit_file_size(8 << 10);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        writers[i] = (struct writer){ .sample = &sample, .number = i };
        CHECK_OK(thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &err), &err);
    }
    for (uint32_t i = 0; i < N_THREADS; i++) {
        thread_stop(&writers[i].thread);
        n_kept += writers[i].n_kept;
    }
    kv_fixture_limit_file_size(RLIM_INFINITY);
    /* Those who were in the group, and those who came too late for it. */
    for (uint32_t i = 0; i < N_THREADS; i++)
        CHECK(writers[i].result < 0 && (writers[i].failure.code == ERR_IO || writers[i].failure.code == ERR_CLOSED));
    /* What was told to be kept is, and nothing else. */
    day_sample_reopen(&sample);
    CHECK_EQ(count_rows(&sample), n_kept);
    check_sound(&sample, n_kept);
    day_sample_done(&sample);
}
