// SPDX-License-Identifier: Apache-2.0
/* The store when things go wrong: processes that die, values that cannot be read, memory that runs out; and when everybody does
 * something at once. */
#include "base/clock.h"
#include "base/thread.h"
#include "kv/kv.h"
#include "trace/tracesample_test.h"
#include "trace/tracestore.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW (TRACESAMPLE_DAY + 12 * TRACESAMPLE_HOUR)

static struct tracestore *open_store(const char *directory)
{
    struct tracestore_options options = { .data_dir = directory };
    struct tracestore *store;
    struct error err;

    CHECK_OK(tracestore_open(&options, &store, &err), &err);
    return store;
}

/* Spans of ten to a trace, over three hours. */
static void write_traces(struct tracestore *store, uint64_t first, uint64_t n)
{
    struct tracestore_receipt receipt;
    struct error err;

    for (uint64_t trace = first; trace < first + n; trace++) {
        struct span spans[10];

        for (uint64_t i = 0; i < 10; i++)
            spans[i] = tracesample_span(trace, trace * 10 + i + 1, i == 0 ? 0 : trace * 10 + 1,
                                        NOW - (int64_t)(trace % 180) * 60 * TRACESAMPLE_SECOND + (int64_t)i * 1000,
                                        (int64_t)(10 - i) * 1000000);
        CHECK_OK(tracestore_write(store, SLICE("t"), &(struct span_list){ spans, 10 }, &receipt, &err), &err);
        CHECK_EQ(receipt.n_kept, 10);
    }
}

static int count_one(void *context, const struct span *span, struct error *err)
{
    (void)span, (void)err;
    ++*(uint64_t *)context;
    return 0;
}

static uint64_t count_spans(struct tracestore *store)
{
    struct tracestore_filter filter = { 0 };
    uint64_t n = 0;
    struct error err;

    CHECK_OK(tracestore_each(store, SLICE("t"), &filter, TRACESTORE_WANTS_ALL, NULL, count_one, &n, &err), &err);
    return n;
}

/* --- death --- */

/* Writes and dies: heads are open, some hours are closed. */
static void die_writing(const char *directory, bool is_closing)
{
    struct tracestore *store = open_store(directory);
    struct error err;

    write_traces(store, 0, 300);
    if (is_closing) {
        CHECK_OK(tracestore_close_hours(store, &err), &err);
        write_traces(store, 300, 100);
    }
    raise(SIGKILL);
}

TEST(tracestore_has_what_it_acknowledged_after_its_process_died)
{
    const char *directory = test_directory();

#ifdef __SANITIZE_THREAD__
    test_skip("impossible here: the thread sanitizer starts no threads behind a fork");
#endif
    clock_fake_set(NOW);
    for (int is_closing = 0; is_closing < 2; is_closing++) {
        struct tracestore *store;
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            die_writing(directory, is_closing);
            _exit(1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        store = open_store(directory);
        CHECK_EQ(count_spans(store), is_closing ? 4000 : 3000);
        tracestore_close(store);
    }
}

/* --- damage --- */

/* Each value whose key begins with `kind` becomes what `spoil` makes of it; returns how many there were. */
static uint32_t spoil_values(const char *directory, char kind, unsigned how)
{
    struct kv_options options = { .mode = KV_WRITE, .memtable_bytes = 1 << 20 };
    struct kv_shared *shared;
    struct kv_batch *batch;
    struct kv_iterator *iterator;
    struct kv *kv;
    uint32_t n = 0, family;
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), "%s/traces/2026-11-15", directory);
    CHECK_OK(kv_shared_new(1 << 20, &shared, &err), &err);
    CHECK_OK(kv_open(shared, path, &options, &kv, &err), &err);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    family = kv_family_find(kv, "block");
    CHECK_OK(kv_iterator_new(kv, family, NULL, slice_of(&kind, 1), false, &iterator, &err), &err);
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct slice value = kv_iterator_value(iterator);

        if (how == 0)
            value = SLICE("");
        else if (how == 1)
            value = slice_sub(value, 0, value.len / 2);
        else
            value = SLICE("\200 of another version");
        kv_batch_put(batch, kv, family, kv_iterator_key(iterator), value);
        n++;
    }
    CHECK_OK(kv_iterator_check(iterator, &err), &err);
    kv_iterator_free(iterator);
    CHECK_OK(kv_write(kv, batch, true, &err), &err);
    kv_batch_free(batch);
    kv_close(kv);
    kv_shared_free(shared);
    return n;
}

/* Asks everything; nothing may fail. Returns how many traces were found. */
static size_t ask_everything(struct tracestore *store)
{
    struct span_attribute attribute = { SLICE("host"), { SPAN_VALUE_TEXT, .text = SLICE("a") } };
    struct tracestore_search search = { .limit = 1000 };
    struct tracestore_results results;
    struct tracestore_operations operations;
    struct tracestore_trace trace;
    struct tracestore_stats stats;
    uint8_t id[SPAN_TRACE_ID_BYTES];
    struct arena arena;
    struct error err;
    size_t n;

    arena_init(&arena, 0);
    CHECK_OK(tracestore_search(store, SLICE("t"), &search, NULL, &arena, &results, &err), &err);
    n = results.n;
    search.order = TRACESTORE_SLOWEST;
    search.filter.attributes = &attribute;
    search.filter.n_attributes = 1;
    CHECK_OK(tracestore_search(store, SLICE("t"), &search, NULL, &arena, &results, &err), &err);
    CHECK_OK(tracestore_list_operations(store, SLICE("t"), &search.filter, NULL, &arena, &operations, &err), &err);
    tracesample_trace_id(7, id);
    CHECK_OK(tracestore_get(store, SLICE("t"), id, 0, 0, NULL, &arena, &trace, &err), &err);
    count_spans(store);
    CHECK_OK(tracestore_stats(store, &stats, &err), &err);
    CHECK(stats.n_damaged > 0);
    arena_done(&arena);
    return n;
}

static void check_spoilt(char kind, unsigned how)
{
    const char *directory = test_directory();
    struct tracestore *store = open_store(directory);
    struct error err;

    write_traces(store, 0, 200);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    tracestore_close(store);
    CHECK(spoil_values(directory, kind, how) > 0);
    store = open_store(directory);
    write_traces(store, 200, 50);
    CHECK(ask_everything(store) >= (kind == 'b' || kind == 'h' ? 50 : kind == 'i' ? 1 : 250));
    tracestore_close(store);
}

#define SPOIL_TEST(name, kind, how)                                                                                    \
    TEST(tracestore_goes_on_without_##name)                                                                            \
    {                                                                                                                  \
        clock_fake_set(NOW);                                                                                           \
        check_spoilt(kind, how);                                                                                       \
    }
SPOIL_TEST(blocks_that_are_empty, 'b', 0)
SPOIL_TEST(blocks_that_are_cut, 'b', 1)
SPOIL_TEST(blocks_of_another_version, 'b', 2)
SPOIL_TEST(headers_that_are_empty, 'h', 0)
SPOIL_TEST(headers_that_are_cut, 'h', 1)
SPOIL_TEST(headers_of_another_version, 'h', 2)
SPOIL_TEST(pages_that_are_empty, 'i', 0)
SPOIL_TEST(pages_that_are_cut, 'i', 1)
SPOIL_TEST(pages_of_another_version, 'i', 2)
SPOIL_TEST(tallies_that_are_cut, 't', 1)
SPOIL_TEST(filters_that_are_cut, 'a', 1)

/* --- everybody at once --- */

#define N_WRITERS   2
#define N_SEARCHERS 2
#define N_EACH      150 /* traces of each writer */

struct crowd {
    struct tracestore *store;
    _Atomic uint64_t next_writer;
    _Atomic uint64_t n_writing;
    _Atomic uint64_t n_searches;
};

static void run_writer(struct thread *thread, void *context)
{
    struct crowd *crowd = context;
    uint64_t number = atomic_fetch_add(&crowd->next_writer, 1);

    (void)thread;
    for (uint64_t i = 0; i < N_EACH; i++)
        write_traces(crowd->store, number * N_EACH + i, 1);
    atomic_fetch_sub(&crowd->n_writing, 1);
}

static void run_closer(struct thread *thread, void *context)
{
    struct crowd *crowd = context;
    struct error err;

    while (!thread_is_stopping(thread)) {
        CHECK_OK(tracestore_close_hours(crowd->store, &err), &err);
        CHECK_OK(tracestore_maintain(crowd->store, NOW, &err), &err);
        IGNORE(!thread_sleep(thread, 20 * 1000000), "asked above");
    }
}

static void run_searcher(struct thread *thread, void *context)
{
    struct crowd *crowd = context;

    while (!thread_is_stopping(thread)) {
        struct tracestore_search search = { .limit = 20, .order = atomic_fetch_add(&crowd->n_searches, 1) % 2 };
        struct tracestore_results results;
        struct arena arena;
        struct error err;

        arena_init(&arena, 0);
        CHECK_OK(tracestore_search(crowd->store, SLICE("t"), &search, NULL, &arena, &results, &err), &err);
        for (size_t i = 0; i < results.n; i++)
            CHECK_EQ(results.items[i].n_spans, 10);
        CHECK_EQ(count_spans(crowd->store) % 10, 0);
        arena_done(&arena);
    }
}

TEST(tracestore_serves_writers_searchers_and_a_closer_at_once)
{
    struct crowd crowd = { .n_writing = N_WRITERS };
    struct thread writers[N_WRITERS], searchers[N_SEARCHERS], closer;
    struct error err;

    clock_fake_set(NOW);
    crowd.store = open_store(test_directory());
    for (size_t i = 0; i < N_SEARCHERS; i++)
        CHECK_OK(thread_start(&searchers[i], "searcher", run_searcher, &crowd, &err), &err);
    CHECK_OK(thread_start(&closer, "closer", run_closer, &crowd, &err), &err);
    for (size_t i = 0; i < N_WRITERS; i++)
        CHECK_OK(thread_start(&writers[i], "writer", run_writer, &crowd, &err), &err);
    for (size_t i = 0; i < N_WRITERS; i++)
        thread_stop(&writers[i]);
    thread_stop(&closer);
    for (size_t i = 0; i < N_SEARCHERS; i++)
        thread_stop(&searchers[i]);
    CHECK(atomic_load(&crowd.n_searches) > 0);
    CHECK_EQ(count_spans(crowd.store), N_WRITERS * N_EACH * 10);
    tracestore_close(crowd.store);
}
