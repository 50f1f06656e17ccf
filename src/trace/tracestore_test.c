// SPDX-License-Identifier: Apache-2.0
#include "trace/tracestore.h"

#include "base/clock.h"
#include "trace/tracesample_test.h"

#define NOW (TRACESAMPLE_DAY + 12 * TRACESAMPLE_HOUR)

static struct tracestore *open_store(const char *directory, bool is_read_only)
{
    struct tracestore_options options = { .data_dir = directory, .is_read_only = is_read_only };
    struct tracestore *store;
    struct error err;

    clock_fake_set(NOW);
    CHECK_OK(tracestore_open(&options, &store, &err), &err);
    return store;
}

static struct tracestore_receipt write_spans(struct tracestore *store, const char *tenant, const struct span *spans,
                                             size_t n)
{
    struct tracestore_receipt receipt;
    struct error err;

    CHECK_OK(tracestore_write(store, slice_from(tenant), &(struct span_list){ spans, n }, &receipt, &err), &err);
    return receipt;
}

static struct tracestore_trace get_trace(struct tracestore *store, const char *tenant, uint64_t number,
                                         struct arena *arena)
{
    uint8_t id[SPAN_TRACE_ID_BYTES];
    struct tracestore_trace trace;
    struct error err;

    tracesample_trace_id(number, id);
    CHECK_OK(tracestore_get(store, slice_from(tenant), id, 0, 0, NULL, arena, &trace, &err), &err);
    return trace;
}

TEST(tracestore_gives_back_what_was_written_open_and_closed)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span spans[] = { tracesample_span(1, 2, 1, NOW - 500, 100), tracesample_span(1, 1, 0, NOW - 1000, 2000) };
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (size_t i = 0; i < 2; i++)
        tracesample_dress(&spans[i], &arena);
    CHECK_EQ(write_spans(store, "t", spans, 2).n_kept, 2);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct tracestore_trace trace = get_trace(store, "t", 1, &arena);

        CHECK_EQ(trace.n, 2);
        CHECK(!trace.is_cut);
        CHECK_EQ(trace.spans[0].start_ns, NOW - 1000);
        for (size_t i = 0; i < 2; i++) {
            const struct span *wanted = &spans[1 - i], *got = &trace.spans[i];

            CHECK_EQ(memcmp(got->span_id, wanted->span_id, SPAN_ID_BYTES), 0);
            CHECK(slice_equal(got->resource->service, wanted->resource->service));
            CHECK_EQ(got->attributes.n, wanted->attributes.n);
            CHECK_EQ(got->attributes.items[0].value.integer, wanted->attributes.items[0].value.integer);
            CHECK_EQ(got->n_events, wanted->n_events);
            CHECK((got->scope != NULL) == (wanted->scope != NULL));
        }
        CHECK_EQ(get_trace(store, "other", 1, &arena).n, 0);
        CHECK_EQ(get_trace(store, "t", 2, &arena).n, 0);
        CHECK_OK(tracestore_close_hours(store, &err), &err);
    }
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_refuses_spans_of_other_times_and_keeps_the_rest)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span spans[] = { tracesample_span(1, 1, 0, NOW + 3600 * TRACESAMPLE_SECOND, 1),
                            tracesample_span(1, 2, 0, NOW, 1),
                            tracesample_span(1, 3, 0, NOW - 8 * 24 * TRACESAMPLE_HOUR, 1) };
    struct tracestore_receipt receipt = write_spans(store, "t", spans, 3);
    struct arena arena;

    arena_init(&arena, 0);
    CHECK_EQ(receipt.n_kept, 1);
    CHECK_EQ(receipt.n_refused, 2);
    CHECK_HAS(receipt.refusal.text, "'GET /' started at 2026-11-15T13:00:00.000Z, which is too far in the future");
    CHECK_EQ(get_trace(store, "t", 1, &arena).n, 1);
    receipt = write_spans(store, "t", spans + 2, 1);
    CHECK_HAS(receipt.refusal.text, "before all that is kept");
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_refuses_tenants_and_pages_that_cannot_be)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span span = tracesample_span(1, 1, 0, NOW, 1);
    struct tracestore_search search = { .limit = 0 };
    struct tracestore_results results;
    struct tracestore_receipt receipt;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(tracestore_write(store, SLICE("a\0b"), &(struct span_list){ &span, 1 }, &receipt, &err), &err,
                ERR_INVALID);
    CHECK_ERROR(tracestore_search(store, SLICE("t"), &search, NULL, &arena, &results, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "a page of 0 traces: 1 to 1000 are allowed");
    search.limit = 5;
    search.page = SLICE("nonsense");
    CHECK_ERROR(tracestore_search(store, SLICE("t"), &search, NULL, &arena, &results, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "page 'nonsense'");
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_counts_copies_once_whenever_they_come)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span span = tracesample_span(1, 1, 0, NOW, 1), other = span;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(write_spans(store, "t", &span, 1).n_kept, 1);
        CHECK_EQ(write_spans(store, "t", &span, 1).n_kept, 1);
        CHECK_EQ(get_trace(store, "t", 1, &arena).n, 1);
        CHECK_OK(tracestore_close_hours(store, &err), &err);
        CHECK_EQ(get_trace(store, "t", 1, &arena).n, 1);
    }
    other.duration_ns = 2;
    CHECK_EQ(write_spans(store, "t", &other, 1).n_kept, 1);
    CHECK_EQ(get_trace(store, "t", 1, &arena).n, 2);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    CHECK_EQ(get_trace(store, "t", 1, &arena).n, 2);
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_reader_of_nothing_is_empty)
{
    struct tracestore *store = open_store(test_directory(), true);
    struct tracestore_search search = { .limit = 5 };
    struct tracestore_results results;
    struct tracestore_stats stats;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_EQ(get_trace(store, "t", 1, &arena).n, 0);
    CHECK_OK(tracestore_search(store, SLICE("t"), &search, NULL, &arena, &results, &err), &err);
    CHECK_EQ(results.n, 0);
    CHECK_TEXT(results.next_page, "");
    CHECK_OK(tracestore_stats(store, &stats, &err), &err);
    CHECK_EQ(stats.n_spans + stats.n_days, 0);
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_counts_what_there_is)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span spans[] = { tracesample_span(1, 1, 0, NOW - 26 * TRACESAMPLE_HOUR, 1),
                            tracesample_span(1, 2, 0, NOW, 1), tracesample_span(2, 2, 0, NOW, 1) };
    struct tracestore_stats stats;
    struct error err;

    write_spans(store, "t", spans, 3);
    write_spans(store, "u", spans, 1);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        CHECK_OK(tracestore_stats(store, &stats, &err), &err);
        CHECK_EQ(stats.n_spans, 4);
        CHECK_EQ(stats.n_days, 2);
        CHECK_EQ(stats.n_damaged, 0);
        CHECK_EQ(stats.first_ns / 10 / TRACESAMPLE_SECOND, (NOW - 26 * TRACESAMPLE_HOUR) / 10 / TRACESAMPLE_SECOND);
        CHECK_EQ(stats.last_ns / 10 / TRACESAMPLE_SECOND, NOW / 10 / TRACESAMPLE_SECOND);
        CHECK(stats.disk_bytes > 0);
        CHECK_OK(tracestore_close_hours(store, &err), &err);
    }
    CHECK(stats.block_bytes > 0);
    tracestore_close(store);
}

static int refuse(void *context, struct error *err)
{
    unsigned *n_left = context;

    return (*n_left)-- > 0 ? 0 : error_set(err, ERR_CANCELLED, "nobody waits any more");
}

TEST(tracestore_stops_when_nobody_waits)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct span span = tracesample_span(1, 1, 0, NOW, 1);
    unsigned n_left = 0;
    struct tracestore_asker asker = { .check = refuse, .context = &n_left };
    struct tracestore_search search = { .limit = 5 };
    struct tracestore_results results;
    struct tracestore_operations operations;
    struct tracestore_trace trace;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    write_spans(store, "t", &span, 1);
    n_left = 1; /* before a head, and among its rows */
    CHECK_ERROR(tracestore_get(store, SLICE("t"), span.trace_id, 0, 0, &asker, &arena, &trace, &err), &err,
                ERR_CANCELLED);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        n_left = 0;
        CHECK_ERROR(tracestore_search(store, SLICE("t"), &search, &asker, &arena, &results, &err), &err, ERR_CANCELLED);
        n_left = 0;
        CHECK_ERROR(tracestore_list_operations(store, SLICE("t"), &search.filter, &asker, &arena, &operations, &err),
                    &err, ERR_CANCELLED);
        CHECK_OK(tracestore_close_hours(store, &err), &err);
    }
    tracestore_close(store);
    arena_done(&arena);
}

TEST(tracestore_answers_take_no_more_memory_than_they_may)
{
    struct tracestore *store = open_store(test_directory(), false);
    struct tracestore_asker asker = { .max_bytes = 40000 };
    struct tracestore_trace trace;
    struct span spans[500];
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(spans); i++)
        spans[i] = tracesample_span(1, i + 1, 0, NOW, 1);
    write_spans(store, "t", spans, ARRAY_LEN(spans));
    CHECK_ERROR(tracestore_get(store, SLICE("t"), spans[0].trace_id, 0, 0, &asker, &arena, &trace, &err), &err,
                ERR_LIMIT);
    CHECK_HAS(err.text, "more than 40000 bytes");
    CHECK_EQ(get_trace(store, "t", 1, &arena).n, ARRAY_LEN(spans));
    tracestore_close(store);
    arena_done(&arena);
}

/* A search looks at a thousand spans of a trace in any case, and at more where there is memory: where a trace stands must not
 * hang on which those are. */
TEST(tracestore_search_finds_a_span_that_comes_late_in_a_long_trace)
{
    enum { N_SPANS = 1500 };
    struct tracestore *store = open_store(test_directory(), false);
    struct tracestore_asker asker = { .max_bytes = 2000 * sizeof(struct span) };
    struct tracestore_search search = { .filter.service = SLICE("pay"), .limit = 5 };
    struct tracestore_results results;
    struct span *spans;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    spans = ARENA_ARRAY(&arena, struct span, N_SPANS, &err);
    for (size_t i = 0; i < N_SPANS; i++)
        spans[i] = tracesample_span(1, i + 1, 0, NOW - N_SPANS + (int64_t)i, 1);
    spans[N_SPANS - 1].resource = &tracesample_resources[2];
    write_spans(store, "t", spans, N_SPANS);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        CHECK_OK(tracestore_search(store, SLICE("t"), &search, &asker, &arena, &results, &err), &err);
        CHECK_EQ(results.n, 1);
        CHECK_EQ(bytes_get_be64(results.items[0].matched.span_id), N_SPANS);
        CHECK_EQ(results.items[0].n_spans, 1001);
        CHECK(results.items[0].is_cut);
        CHECK_OK(tracestore_close_hours(store, &err), &err);
    }
    tracestore_close(store);
    arena_done(&arena);
}
