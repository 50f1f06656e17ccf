// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 6: when an allocation fails there is a clear error or none, and nothing that
 * was acknowledged is lost or doubled. Each test makes every allocation of what it does fail in turn. */
#include "store/store_sample_test.h"

/* A profile that no other is like, with new stacks, labels and a series of its own now and then. */
static void build(uint64_t number, struct batch *batch)
{
    char samples[128], labels[32];
    struct store_sample_profile profile = { .at = number % 2 ? "15T10:00" : "14T10:00",
                                            .service = "api",
                                            .labels = labels,
                                            .types = "samples/count",
                                            .samples = samples,
                                            .id = number };

    snprintf(samples, sizeof(samples), "all 1|f%llu;g 2 {route=/r%llu;thread=t%llu}", (unsigned long long)number,
             (unsigned long long)number % 3, (unsigned long long)number);
    snprintf(labels, sizeof(labels), "pod=p%llu;pid=#%llu", (unsigned long long)number % 20,
             (unsigned long long)number);
    store_sample_batch(&profile, 1, batch);
}

/* Writes profile `number` with allocation `nth` failing, and once more if that failed. Returns whether one did fail. */
static bool write_failing(struct store_sample *sample, uint64_t number, uint64_t nth)
{
    struct store_receipt receipt;
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct error err;
    bool has_failed;
    int result;

    build(number, &batch);
    memory_fail_at(nth);
    result = store_write(sample->store, &write, &receipt, &err);
    has_failed = memory_fail_at(0) >= nth;
    if (result < 0) {
        CHECK(has_failed);
        CHECK_ERROR(result, &err, ERR_MEMORY);
        CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
        CHECK_EQ(receipt.n_written + receipt.n_duplicate, 1);
    } else {
        CHECK_EQ(receipt.n_written, 1);
    }
    batch_done(&batch);
    return has_failed;
}

static void check_writes(struct store_sample *sample, uint64_t n)
{
    struct store_stats stats;
    char wanted[64];

    snprintf(wanted, sizeof(wanted), "[samples/count] all %llu\n", (unsigned long long)n);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.profile_ids.n, n);
    CHECK_EQ(stats.n_samples, 2 * n);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), wanted);
    store_sample_verify(sample);
    store_sample_reopen(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), wanted);
    store_sample_pass(sample, 3);
    store_sample_verify(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), wanted);
}

CONFORMANCE(writes_survive_failing_allocations)
{
    uint64_t n = 0;

    while (write_failing(sample, n + 1, n + 1))
        n++;
    check_writes(sample, n + 1);
}

CONFORMANCE(first_writes_to_a_day_survive_failing_allocations)
{
    uint64_t n = 0;

    /* Every third one, since opening a day takes its time. */
    while (write_failing(sample, n + 1, 1 + 3 * n)) {
        n++;
        store_sample_reopen(sample);
    }
    check_writes(sample, n + 1);
}

/* --- everything else: a small store with a bit of all --- */

static void write_some(struct store_sample *sample)
{
    for (uint64_t i = 1; i <= 8; i++) {
        struct batch batch;
        struct store_write write = { .batch = &batch };
        struct store_receipt receipt;
        struct error err;

        build(i, &batch);
        CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
        batch_done(&batch);
        if (i == 4)
            store_sample_pass(sample, 2);
    }
}
#define SOME_TOTAL "[samples/count] all 8\n"

static int read_all(void *context, struct error *err)
{
    struct store_sample *sample = context;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    result = store_read(sample->store, &query, &batch, err);
    batch_done(&batch);
    return result;
}

static int read_selected(void *context, struct error *err)
{
    struct store_sample *sample = context;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct selector *selector;
    struct store_texts texts;
    struct batch batch;
    struct arena arena;
    int result;

    if (selector_new(SLICE("{thread=~\"t[1-5]\", pid!=\"3\", route!=\"/r0\"}"), &selector, err) < 0)
        return -1;
    query.selector = selector;
    batch_init(&batch, NULL);
    arena_init(&arena, 0);
    result = store_read(sample->store, &query, &batch, err);
    query.selector = NULL;
    if (!result)
        result = store_label_names(sample->store, &query, &arena, &texts, err);
    if (!result)
        result = store_label_values(sample->store, &query, SLICE("thread"), &arena, &texts, err);
    if (!result)
        result = store_profile_types(sample->store, &query, &arena, &texts, err);
    arena_done(&arena);
    batch_done(&batch);
    selector_free(selector);
    return result;
}

CONFORMANCE(reads_survive_failing_allocations)
{
    write_some(sample);
    test_each_allocation_failing(read_all, sample);
    test_each_allocation_failing(read_selected, sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
}

static int maintain(void *context, struct error *err)
{
    struct store_sample *sample = context;

    return store_maintain(sample->store, err);
}

static int compact(void *context, struct error *err)
{
    struct store_sample *sample = context;

    return store_compact(sample->store, err);
}

CONFORMANCE(closing_hours_and_compacting_survive_failing_allocations)
{
    struct store_stats stats;

    write_some(sample);
    clock_fake_advance(3 * 3600 * CLOCK_NS_PER_SECOND);
    test_each_allocation_failing(maintain, sample);
    store_sample_maintain(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.head_rows.n, 0);
    store_sample_verify(sample);
    test_each_allocation_failing(compact, sample);
    store_sample_compact(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
    store_sample_verify(sample);
    store_sample_reopen(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
}

static int delete_and_keep(void *context, struct error *err)
{
    struct store_sample *sample = context;
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct store_keep keep = { .name = SLICE("v1"), .selector = SLICE("{a=\"b\"}"), .until_ns = 1 };
    struct selector *selector;
    uint32_t n_days;
    int result;

    if (selector_new(SLICE("{thread=\"t1\"}"), &selector, err) < 0)
        return -1;
    query.selector = selector;
    result = store_delete(sample->store, &query, &n_days, err);
    if (!result)
        result = store_keep(sample->store, &keep, err);
    selector_free(selector);
    return result;
}

CONFORMANCE(deleting_survives_failing_allocations)
{
    write_some(sample);
    for (uint64_t nth = 1;; nth++) {
        struct error err;
        bool has_failed;
        int result;

        memory_fail_at(nth);
        result = delete_and_keep(sample, &err);
        has_failed = memory_fail_at(0) >= nth;
        /* A day that lost its memory of what is on disk must be opened again, which the next writer does. */
        CHECK(!result || err.code == ERR_MEMORY || err.code == ERR_CLOSED);
        if (!has_failed)
            break;
    }
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "thread=t1"), "");
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
    store_sample_verify(sample);
    store_sample_reopen(sample);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "thread=t1"), "");
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
}

static int look(void *context, struct error *err)
{
    struct store_sample *sample = context;
    struct store_verify verify = { 0 };
    struct store_stats stats;

    if (store_verify(sample->store, &verify, err) < 0)
        return -1;
    CHECK_EQ(verify.n_bad_values + verify.n_bad_days, 0);
    return store_stats(sample->store, NULL, &stats, err);
}

CONFORMANCE(verifying_and_counting_survive_failing_allocations)
{
    write_some(sample);
    test_each_allocation_failing(look, sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
}

static int open_and_read(void *context, struct error *err)
{
    struct store_sample *sample = context;
    struct store_sample other = *sample;
    int result;

    if (sample->kind->open(&sample->options, &other.store, err) < 0)
        return -1;
    result = read_all(&other, err);
    store_close(other.store);
    return result;
}

CONFORMANCE(opening_survives_failing_allocations)
{
    STORE_SAMPLE_WRITE(sample, { .at = "14T10:00", .types = "samples/count", .samples = "all 8 {thread=t}" });
    store_sample_close(sample);
    test_each_allocation_failing(open_and_read, sample);
    store_sample_open(sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
    store_sample_verify(sample);
}

static int back_up(void *context, struct error *err)
{
    struct store_sample *sample = context;
    char path[300];
    struct store_backup backup = { .path = path };
    struct error ignored;
    int result;

    snprintf(path, sizeof(path), "%s/backup", test_directory());
    result = store_backup(sample->store, &backup, err);
    IGNORE(fs_remove_tree(path, &ignored), "the next one says that it is there");
    return result;
}

CONFORMANCE(backing_up_survives_failing_allocations)
{
    write_some(sample);
    test_each_allocation_failing(back_up, sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(sample), SOME_TOTAL);
}
