// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 8: sums and windows over hours that go on are those of their rows, whatever a
 * store holds to answer sooner, and whoever writes, deletes or closes hours meanwhile. */
#include "base/thread.h"
#include "store/store_sample_test.h"

#include <time.h>

/* --- sums, by what a store has and by rows --- */

struct answer {
    uint64_t digest; /* of stacks and values; does not depend on how they are divided */
    uint64_t n_rows;
    int64_t duration_ns;
    struct store_reads reads;
};

static int take_names(void *context, struct names *names, struct error *err)
{
    return 0;
}

static int digest_sums(void *context, const struct store_sums *sums, struct error *err)
{
    struct answer *answer = context;

    for (uint32_t i = 0; i < sums->n_stacks; i++)
        answer->digest += (uint64_t)sums->sums[i] * hash_mix64(sums->stacks[i]);
    answer->n_rows += sums->n_rows;
    answer->duration_ns += sums->duration_ns;
    return 0;
}

static struct answer ask(struct store *store, const struct store_query *query, int64_t step_ns)
{
    struct answer answer = { 0 };
    struct error err;

    CHECK_OK(store_sum(store, query, step_ns, &(struct store_sum_sink){ &answer, take_names, digest_sums },
                       &answer.reads, &err),
             &err);
    return answer;
}

/* --- windows, by what a store has and by rows --- */

struct listing {
    uint64_t digest; /* of all that windows and rows have in common; does not depend on their order */
    uint64_t n_rows;
    struct store_reads reads;
};

/* By its labels: ids of series are no business of a reader's. */
static uint64_t digest_series(const struct seriesinfo *series)
{
    return hash_bytes64(seriesinfo_label(series, SLICE("service_name")), 1) +
           hash_bytes64(seriesinfo_label(series, SLICE("zone")), 2);
}

static uint64_t digest_row(uint64_t series, int64_t start_ns, int64_t duration_ns, const int64_t *totals,
                           uint32_t n_types)
{
    uint64_t digest = hash_mix64(series ^ hash_mix64((uint64_t)start_ns) ^ (uint64_t)duration_ns);

    for (uint32_t type = 0; type < n_types; type++)
        digest = hash_mix64(digest + (uint64_t)totals[type]);
    return digest;
}

static int digest_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                          struct error *err)
{
    struct listing *listing = context;

    for (uint32_t i = 0; i < windows->n_rows; i++) {
        int64_t totals[PROFILE_MAX_TYPES];

        for (uint32_t type = 0; type < windows->n_types; type++)
            totals[type] = windows->totals[(size_t)type * windows->n_rows + i];
        listing->digest += digest_row(digest_series(series), windows->starts_ns[i], windows->durations_ns[i], totals,
                                      windows->n_types);
        CHECK(i == 0 || windows->starts_ns[i - 1] <= windows->starts_ns[i]);
    }
    listing->n_rows += windows->n_rows;
    return 0;
}

static int digest_scanned(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct listing *listing = context;
    int64_t totals[PROFILE_MAX_TYPES];

    for (uint32_t type = 0; type < row->n_types; type++)
        totals[type] = headrow_total(row, type);
    listing->digest += digest_row(digest_series(series), row->start_ns, row->duration_ns, totals, row->n_types);
    listing->n_rows++;
    return 0;
}

static void check_listing(struct store *store, const struct store_query *query, struct store_reads *reads)
{
    struct listing brief = { 0 }, full = { 0 }, rows = { 0 };
    struct error err;

    CHECK_OK(
        store_windows(store, query, &(struct store_window_sink){ &brief, digest_windows, true }, &brief.reads, &err),
        &err);
    CHECK_OK(store_windows(store, query, &(struct store_window_sink){ &full, digest_windows }, &full.reads, &err),
             &err);
    CHECK_OK(store_scan(store, query, &(struct store_sink){ &rows, take_names, digest_scanned }, &err), &err);
    CHECK_EQ(brief.n_rows, rows.n_rows);
    CHECK_EQ(brief.digest, rows.digest);
    CHECK_EQ(full.n_rows, rows.n_rows);
    CHECK_EQ(full.digest, rows.digest);
    reads->n_parts += brief.reads.n_parts;
    reads->n_rows += brief.reads.n_rows;
}

/* --- stories --- */

enum { N_STEPS = 120, N_TENANTS = 2 };

struct story {
    struct store_sample *sample;
    uint64_t state;
    int64_t now_ns;
    struct store_reads reads;        /* of all answers that could choose */
    struct store_reads window_reads; /* likewise, of windows */
};

static const char *const tenants[N_TENANTS] = { "alice", "bob" };

static uint32_t below(struct story *story, uint32_t limit)
{
    story->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash_mix64(story->state) % limit);
}

/* A range that often begins and ends with a slot or an hour. */
static struct store_query choose(struct story *story, struct selector **ret_selector)
{
    static const char *const selectors[] = { "{service_name=\"s0\"}", "{service_name=~\"s[12]\"}", "{zone=\"eu\"}",
                                             "{thread=\"t1\"}" };
    static const int64_t units_ns[] = { 1, 60 * CLOCK_NS_PER_SECOND, 300 * CLOCK_NS_PER_SECOND,
                                        3600 * CLOCK_NS_PER_SECOND };
    int64_t unit_ns = units_ns[below(story, 4)];
    struct store_query query = { .tenant = slice_from(tenants[below(story, N_TENANTS)]) };
    uint32_t selector = below(story, 8);
    struct error err;

    query.from_ns = story->now_ns - (int64_t)below(story, 7200) * CLOCK_NS_PER_SECOND;
    query.from_ns -= query.from_ns % unit_ns;
    query.until_ns = below(story, 2) ? story->now_ns + 1 : query.from_ns + unit_ns * below(story, 14);
    query.until_ns = MAX(query.until_ns, query.from_ns);
    if (selector < ARRAY_LEN(selectors)) {
        CHECK_OK(selector_new(slice_from(selectors[selector]), ret_selector, &err), &err);
        query.selector = *ret_selector;
    }
    return query;
}

static void check_answer(struct story *story)
{
    static const int64_t steps_s[] = { 0, 0, 300, 3600, 60 };
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query = choose(story, &selector);
    struct answer quick =
        ask(story->sample->store, &query, steps_s[below(story, ARRAY_LEN(steps_s))] * CLOCK_NS_PER_SECOND);
    struct answer rows = ask(story->sample->store, &query, 1);

    CHECK_EQ(quick.digest, rows.digest);
    CHECK_EQ(quick.n_rows, rows.n_rows);
    CHECK_EQ(quick.duration_ns, rows.duration_ns);
    CHECK_EQ(rows.reads.n_rows, rows.n_rows);
    story->reads.n_hours += quick.reads.n_hours;
    story->reads.n_slots += quick.reads.n_slots;
    story->reads.n_rows += quick.reads.n_rows;
    check_listing(story->sample->store, &query, &story->window_reads);
}

/* Profiles of windows that just ended; now and then later than that. */
static void write_some(struct story *story)
{
    for (unsigned i = 0; i < 4; i++) {
        int64_t late_s = below(story, 4) ? 10 : below(story, 3) ? 60 + below(story, 40) : below(story, 4000);
        char service[8], samples[128];
        struct store_sample_profile profile = { .start_ns = story->now_ns - late_s * CLOCK_NS_PER_SECOND,
                                                .service = service,
                                                .labels = below(story, 2) ? "zone=eu" : "zone=us",
                                                .types = "samples/count",
                                                .samples = samples };

        snprintf(service, sizeof(service), "s%u", below(story, 3));
        snprintf(samples, sizeof(samples), "f%u %u|f%u %u {thread=t%u}", below(story, 9), below(story, 99),
                 10 + below(story, 9), below(story, 99), below(story, 2));
        CHECK_EQ(store_sample_write_as(story->sample, tenants[below(story, N_TENANTS)], &profile, 1).n_written, 1);
    }
}

static void let_pass(struct story *story, int64_t seconds)
{
    story->now_ns += seconds * CLOCK_NS_PER_SECOND;
    clock_fake_set(story->now_ns);
    if (below(story, 4))
        store_sample_maintain(story->sample);
}

static void do_something(struct story *story)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    struct store_query query;
    struct error err;
    uint32_t n_days;

    switch (below(story, 40)) {
    case 0:
        query = choose(story, &selector);
        CHECK_OK(store_delete(story->sample->store, &query, &n_days, &err), &err);
        break;
    case 1: store_sample_reopen(story->sample); break;
    case 2: store_sample_compact(story->sample); break;
    case 3: let_pass(story, 600 + below(story, 3000)); break;
    default:
        write_some(story);
        let_pass(story, below(story, 50));
        break;
    }
}

CONFORMANCE(sums_and_windows_of_open_hours_are_those_of_their_rows)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct story story = { .sample = sample, .state = seed * 31, .now_ns = store_sample_time("15T23:10") };
        struct error err;

        clock_fake_set(story.now_ns);
        for (unsigned step = 0; step < N_STEPS; step++) {
            do_something(&story);
            for (unsigned i = 0; i < 3; i++)
                check_answer(&story);
        }
        /* The story would prove little if rows had answered for most. */
        CHECK(story.reads.n_hours > 20 && story.reads.n_slots > 50);
        CHECK(story.window_reads.n_parts > 100);
        store_sample_close(sample);
        CHECK_OK(fs_remove_tree(sample->path, &err), &err);
        store_sample_open(sample);
    }
}

CONFORMANCE(small_memory_answers_open_hours_as_well)
{
    struct story story = { .sample = sample, .state = 5, .now_ns = store_sample_time("15T12:00") };

    sample->options.memory_limit_bytes = 1; /* taken as the least that works */
    store_sample_reopen(sample);
    for (unsigned step = 0; step < N_STEPS; step++) {
        write_some(&story);
        let_pass(&story, 30);
        check_answer(&story);
    }
}

/* --- at the same time --- */

enum { N_WRITERS = 2, N_WRITES = 150 };

/* All writers and readers of a store. Each write is one batch with the same value in two services. */
struct crowd {
    struct store *store;
    _Atomic uint64_t n_begun, n_acknowledged;
    _Atomic uint32_t n_ready; /* writers */
    _Atomic int64_t now_ns;
};

struct member {
    struct thread thread;
    struct crowd *crowd;
    uint32_t number;
    struct error failure;
    int result;
    uint64_t n_answers, n_rollups, n_parts;
};

static int write_pair(struct member *member, uint32_t i)
{
    struct crowd *crowd = member->crowd;
    int64_t late_s = i % 5 ? 5 : 40 + i % 200;
    char samples[64];
    struct store_sample_profile profiles[2] = {
        { .start_ns = atomic_load(&crowd->now_ns) - late_s * CLOCK_NS_PER_SECOND, .types = "samples/count" }
    };
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    int result;

    snprintf(samples, sizeof(samples), "f%u %u", i % 7, 1 + i % 90);
    profiles[0].samples = samples;
    profiles[1] = profiles[0];
    profiles[0].service = "left";
    profiles[1].service = "right";
    store_sample_batch(profiles, 2, &batch);
    atomic_fetch_add(&crowd->n_begun, 1);
    result = store_write(crowd->store, &write, &receipt, &member->failure);
    if (!result && receipt.n_written != 2)
        result = error_set(&member->failure, ERR_LIMIT, "only %u were written", receipt.n_written);
    atomic_fetch_add(&crowd->n_acknowledged, !result);
    batch_done(&batch);
    return result;
}

static void run_writer(struct thread *thread, void *context)
{
    struct member *member = context;

    for (uint32_t i = 0; i < N_WRITES && !member->result; i++) {
        member->result = write_pair(member, i * N_WRITERS + member->number);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    atomic_fetch_add(&member->crowd->n_ready, 1);
}

/* What an answer has of both services. */
struct pair {
    int64_t sums[2];
    uint64_t n_rows[2];
};

static int add_pair(void *context, const struct store_sums *sums, struct error *err)
{
    struct pair *pair = context;
    bool is_right = slice_is(seriesinfo_label(sums->series, SLICE("service_name")), "right");

    for (uint32_t i = 0; i < sums->n_stacks; i++)
        pair->sums[is_right] += sums->sums[i];
    pair->n_rows[is_right] += sums->n_rows;
    return 0;
}

static int add_pair_windows(void *context, const struct seriesinfo *series, const struct windows *windows,
                            struct error *err)
{
    struct pair *pair = context;
    bool is_right = slice_is(seriesinfo_label(series, SLICE("service_name")), "right");

    for (uint32_t i = 0; i < windows->n_rows; i++)
        pair->sums[is_right] += windows->totals[i];
    pair->n_rows[is_right] += windows->n_rows;
    return 0;
}

static int ask_pair(struct member *member, bool is_windows, struct pair *pair, struct error *err)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct store *store = member->crowd->store;
    struct store_reads reads = { 0 };
    int result;

    if (is_windows)
        result = store_windows(store, &query, &(struct store_window_sink){ pair, add_pair_windows, true }, &reads, err);
    else
        result = store_sum(store, &query, 0, &(struct store_sum_sink){ pair, take_names, add_pair }, &reads, err);
    member->n_answers++;
    member->n_rollups += reads.n_hours + reads.n_slots;
    member->n_parts += reads.n_parts;
    return result;
}

/* Every answer has of each write all or nothing, and all writes that were acknowledged before it was asked for. */
static int check_pair(struct member *member, bool is_windows, struct error *err)
{
    uint64_t n_least = atomic_load(&member->crowd->n_acknowledged), n_most;
    struct pair pair = { 0 };

    if (ask_pair(member, is_windows, &pair, err) < 0)
        return -1;
    n_most = atomic_load(&member->crowd->n_begun);
    if (pair.sums[0] != pair.sums[1] || pair.n_rows[0] != pair.n_rows[1])
        return error_set(err, ERR_CORRUPT, "%llu rows of one service, %llu of the other",
                         (unsigned long long)pair.n_rows[0], (unsigned long long)pair.n_rows[1]);
    if (pair.n_rows[0] < n_least || pair.n_rows[0] > n_most)
        return error_set(err, ERR_CORRUPT, "%llu rows, of at least %llu and at most %llu",
                         (unsigned long long)pair.n_rows[0], (unsigned long long)n_least, (unsigned long long)n_most);
    return 0;
}

static void run_reader(struct thread *thread, void *context)
{
    struct member *member = context;

    while (!member->result && !thread_is_stopping(thread))
        member->result = check_pair(member, member->n_answers % 2, &member->failure);
}

CONFORMANCE(sums_and_windows_of_open_hours_are_exact_while_others_write)
{
    struct crowd crowd = { .store = sample->store };
    struct member writers[N_WRITERS] = { 0 }, reader = { .crowd = &crowd };
    struct error err;

    atomic_store(&crowd.now_ns, store_sample_time("15T12:50"));
    clock_fake_set(store_sample_time("15T12:50"));
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        writers[i] = (struct member){ .crowd = &crowd, .number = i };
        CHECK_OK(thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &err), &err);
    }
    CHECK_OK(thread_start(&reader.thread, "reader", run_reader, &reader, &err), &err);
    /* Twenty seconds each time: slots are built, dropped and built again, and the hour is closed on the way. */
    while (atomic_load(&crowd.n_ready) < N_WRITERS) {
        atomic_fetch_add(&crowd.now_ns, 20 * CLOCK_NS_PER_SECOND);
        clock_fake_set(atomic_load(&crowd.now_ns));
        store_sample_maintain(sample);
    }
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        thread_stop(&writers[i].thread);
        CHECK_OK(writers[i].result, &writers[i].failure);
    }
    thread_stop(&reader.thread);
    CHECK_OK(reader.result, &reader.failure);
    CHECK(reader.n_rollups > 0 && reader.n_parts > 0);
    CHECK_OK(check_pair(&reader, false, &err), &err);
    CHECK_OK(check_pair(&reader, true, &err), &err);
}
