// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 2: a profile that is sent again is kept once, and writers at the
 * same time. */
#include "base/thread.h"
#include "store/store_sample_test.h"

#define PROFILE_A                                                                                                      \
    {                                                                                                                  \
        .at = "15T10:00", .samples = "a 1 10", .id = 0xa1                                                              \
    }
#define PROFILE_B                                                                                                      \
    {                                                                                                                  \
        .at = "15T10:00", .samples = "b 2 20", .id = 0xb1                                                              \
    }

static void check_sent_again(struct store_sample *sample, const void *context)
{
    struct store_receipt receipt = STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B);

    CHECK_EQ(receipt.n_written, 0);
    CHECK_EQ(receipt.n_duplicate, 2);
    CHECK_EQ(receipt.n_samples, 0);
    CHECK_EQ(receipt.n_series, 0);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\n");
}

CONFORMANCE(keeps_a_profile_with_an_id_once)
{
    struct store_receipt receipt = STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B);

    CHECK_EQ(receipt.n_written, 2);
    store_sample_each_stage(sample, "15T15:00", check_sent_again, NULL);
}

CONFORMANCE(keeps_a_profile_once_that_comes_twice_in_a_batch)
{
    struct store_receipt receipt = STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B, PROFILE_A, PROFILE_A);

    CHECK_EQ(receipt.n_written, 2);
    CHECK_EQ(receipt.n_duplicate, 2);
    CHECK_EQ(receipt.n_samples, 2);
    check_sent_again(sample, NULL);
}

CONFORMANCE(writes_what_is_new_of_a_batch_that_was_half_sent)
{
    struct store_receipt receipt;

    STORE_SAMPLE_WRITE(sample, PROFILE_A);
    receipt = STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B, { .at = "14T10:00", .samples = "c 3 30", .id = 0xc1 });
    CHECK_EQ(receipt.n_written, 2);
    CHECK_EQ(receipt.n_duplicate, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\nc 3 30\n");
}

CONFORMANCE(knows_a_profile_by_its_id_and_not_by_what_it_says)
{
    STORE_SAMPLE_WRITE(sample, PROFILE_A);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .samples = "other 9 90", .id = 0xa1 }).n_duplicate, 1);
    CHECK_EQ(STORE_SAMPLE_WRITE_AS(sample, "neighbour", PROFILE_A).n_written, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "neighbour"), "a 1 10\n");
}

static void check_thrice(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 3 30\n");
}

CONFORMANCE(adds_equal_profiles_that_have_no_id)
{
    /* Replicas behind one name send the same labels, the same time and now and then the same content. */
    struct store_sample_profile replica = { .at = "15T10:00", .service = "api", .samples = "a 1 10" };

    CHECK_EQ(STORE_SAMPLE_WRITE(sample, replica, replica).n_written, 2);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, replica).n_written, 1);
    store_sample_each_stage(sample, "15T15:00", check_thrice, NULL);
}

/* --- ids of what was deleted --- */

static void forget(struct store_sample *sample, const char *selector)
{
    struct store_query query = store_sample_ask(&(struct store_sample_query){ .selector = selector });
    struct error err;
    uint32_t n_days;

    CHECK_OK(store_delete(sample->store, &query, &n_days, &err), &err);
    CHECK_EQ(n_days, 1);
    store_sample_asked(&query);
}

static void check_taken_again_once(struct store_sample *sample)
{
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, PROFILE_A).n_written, 1);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B).n_duplicate, 2);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\n");
    store_sample_verify(sample);
}

CONFORMANCE(takes_a_profile_again_that_was_deleted)
{
    STORE_SAMPLE_WRITE(sample, PROFILE_A, PROFILE_B);
    store_sample_reopen(sample);
    forget(sample, "{}");
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, PROFILE_B).n_written, 1);
    check_taken_again_once(sample);
}

CONFORMANCE(takes_a_profile_again_that_was_deleted_after_its_hour_was_closed)
{
    STORE_SAMPLE_WRITE(sample, PROFILE_A);
    store_sample_pass(sample, 3);
    forget(sample, "{}");
    STORE_SAMPLE_WRITE(sample, PROFILE_B);
    check_taken_again_once(sample);
    store_sample_pass(sample, 3);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, PROFILE_A).n_duplicate, 1);
}

CONFORMANCE(takes_a_profile_again_that_is_gone_from_the_disk)
{
    STORE_SAMPLE_WRITE(sample, PROFILE_A);
    store_sample_pass(sample, 3);
    forget(sample, "{}");
    store_sample_compact(sample);
    store_sample_reopen(sample);
    STORE_SAMPLE_WRITE(sample, PROFILE_B);
    check_taken_again_once(sample);
}

CONFORMANCE(does_not_take_a_profile_again_of_which_something_is_left)
{
    struct store_sample_profile split = { .at = "15T10:00",
                                          .samples = "a 1 10 {route=/a}|b 2 20 {route=/b}",
                                          .id = 0xa1 };

    STORE_SAMPLE_WRITE(sample, split, PROFILE_B);
    forget(sample, "{route=\"/a\"}");
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, split).n_duplicate, 1);
    store_sample_pass(sample, 3);
    store_sample_compact(sample);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, split).n_duplicate, 1);
    forget(sample, "{route=\"/b\"}");
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, split).n_written, 1);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, split, PROFILE_B).n_duplicate, 2);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 4 40\n");
    store_sample_verify(sample);
}

/* --- upload ids --- */

static struct store_receipt upload(struct store_sample *sample, const char *upload_id,
                                   const struct store_sample_profile *profiles, size_t n)
{
    struct batch batch;
    struct store_write write = { .batch = &batch, .upload_id = slice_from(upload_id) };
    struct store_receipt receipt;
    struct error err;

    store_sample_batch(profiles, n, &batch);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    return receipt;
}

CONFORMANCE(keeps_an_upload_with_an_id_once)
{
    static const struct store_sample_profile equal[] = { { .at = "15T10:00", .samples = "a 1 10" },
                                                         { .at = "15T10:00", .samples = "a 1 10" },
                                                         { .at = "14T23:00", .samples = "b 2 20" } };

    CHECK_EQ(upload(sample, "first", equal, 3).n_written, 3);
    CHECK_EQ(upload(sample, "first", equal, 3).n_duplicate, 3);
    store_sample_pass(sample, 3);
    CHECK_EQ(upload(sample, "first", equal, 3).n_duplicate, 3);
    store_sample_reopen(sample);
    CHECK_EQ(upload(sample, "first", equal, 3).n_duplicate, 3);
    CHECK_EQ(upload(sample, "second", equal, 2).n_written, 2);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 4 40\nb 2 20\n");
}

CONFORMANCE(prefers_the_id_of_a_profile_to_that_of_its_upload)
{
    static const struct store_sample_profile both[] = { PROFILE_A, { .at = "15T10:00", .samples = "b 2 20" } };
    struct store_receipt receipt;

    STORE_SAMPLE_WRITE(sample, PROFILE_A);
    receipt = upload(sample, "first", both, 2);
    CHECK_EQ(receipt.n_duplicate, 1);
    CHECK_EQ(receipt.n_written, 1);
    receipt = upload(sample, "second", both, 2);
    CHECK_EQ(receipt.n_duplicate, 1);
    CHECK_EQ(receipt.n_written, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 4 40\n");
}

/* --- at the same time --- */

enum { N_THREADS = 6, N_ROUNDS = 40, N_IDS = 60 };

struct writer {
    struct thread thread;
    struct store *store;
    uint32_t number;
    uint32_t n_written, n_duplicate;
    struct error failure;
    int result;
};

/* The profile with id `k`: one sample of value k. */
static int write_number(struct writer *writer, uint32_t k)
{
    char samples[32];
    struct store_sample_profile profile = {
        .at = k % 2 ? "15T10:00" : "14T10:00", .types = "samples/count", .samples = samples, .id = 1000 + k
    };
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    int result;

    snprintf(samples, sizeof(samples), "f%u %u|all 1", k % 7, k);
    store_sample_batch(&profile, 1, &batch);
    result = store_write(writer->store, &write, &receipt, &writer->failure);
    batch_done(&batch);
    if (result < 0)
        return -1;
    writer->n_written += receipt.n_written;
    writer->n_duplicate += receipt.n_duplicate;
    return 0;
}

static void run_writer(struct thread *thread, void *context)
{
    struct writer *writer = context;

    for (uint32_t i = 0; i < N_ROUNDS && !writer->result; i++)
        writer->result = write_number(writer, (writer->number * 17 + i * (1 + writer->number % 3)) % N_IDS);
}

/* Reads while others write: all it sees adds up. */
static void run_reader(struct thread *thread, void *context)
{
    struct writer *reader = context;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };

    while (!thread_is_stopping(thread) && !reader->result) {
        struct batch batch;

        batch_init(&batch, NULL);
        reader->result = store_read(reader->store, &query, &batch, &reader->failure);
        if (!reader->result && batch.n_profiles && profile_total(&batch.profiles[0], 0) > N_IDS * N_IDS)
            reader->result = error_set(&reader->failure, ERR_CORRUPT, "more than was written");
        batch_done(&batch);
    }
}

CONFORMANCE(keeps_what_many_write_at_once_each_once)
{
    struct writer writers[N_THREADS] = { 0 }, reader = { .store = sample->store };
    uint32_t n_written = 0, n_duplicate = 0, is_there[N_IDS] = { 0 };
    int64_t wanted = 0;
    struct store_stats stats;
    struct error err;

    CHECK_OK(thread_start(&reader.thread, "reader", run_reader, &reader, &err), &err);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        writers[i] = (struct writer){ .store = sample->store, .number = i };
        CHECK_OK(thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &err), &err);
    }
    /* Hours are closed under the writers' feet. */
    clock_fake_set(store_sample_time("15T15:00"));
    for (unsigned i = 0; i < 3; i++)
        store_sample_maintain(sample);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        thread_stop(&writers[i].thread);
        CHECK_OK(writers[i].result, &writers[i].failure);
        n_written += writers[i].n_written;
        n_duplicate += writers[i].n_duplicate;
        for (uint32_t k = 0; k < N_ROUNDS; k++)
            is_there[(i * 17 + k * (1 + i % 3)) % N_IDS] = 1;
    }
    thread_stop(&reader.thread);
    CHECK_OK(reader.result, &reader.failure);
    for (uint32_t k = 0; k < N_IDS; k++) {
        wanted += is_there[k] ? k : 0;
        n_written -= is_there[k];
    }
    CHECK_EQ(n_written, 0);
    CHECK_EQ(n_duplicate, N_THREADS * N_ROUNDS - N_IDS);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_rows, N_IDS);
    CHECK_EQ(stats.n_samples, 2 * N_IDS);
    store_sample_reopen(sample);
    store_sample_verify(sample);
    store_sample_compact(sample);
    store_sample_verify(sample);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_rows, N_IDS);
    CHECK(wanted == N_IDS * (N_IDS - 1) / 2);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), "[samples/count] all 60\n");
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), "[samples/count] f0 252\n"); /* 0 + 7 + ... + 56 */
}
