// SPDX-License-Identifier: Apache-2.0
/* The store against a naive one, a list of spans that is walked for each question, on spans made by chance: of few values, so
 * that everything meets everything, over two days and the borders of hours, some of them several times. */
#include "base/clock.h"
#include "base/memory.h"
#include "profile/spanids.h"
#include "trace/tracemerge.h"
#include "trace/traceplace.h"
#include "trace/tracesample_test.h"
#include "trace/tracestore.h"

#include <stdlib.h>

#define NOW                  (TRACESAMPLE_DAY + 28 * TRACESAMPLE_HOUR)
#define FROM                 (TRACESAMPLE_DAY + 21 * TRACESAMPLE_HOUR)
#define LENGTH               (6 * TRACESAMPLE_HOUR)
#define N_TRACES             250
#define N_SPANS              1500
#define N_LARGE              40000
#define MAX_SPANS            100000
#define MAX_ASKED_ATTRIBUTES 2

static const char *const tenants[] = { "anonymous", "anonymous2" };

struct naive {
    struct arena arena;
    VEC(struct span) spans[ARRAY_LEN(tenants)];
};

static void naive_done(struct naive *naive)
{
    for (size_t i = 0; i < ARRAY_LEN(tenants); i++)
        VEC_DONE(&naive->spans[i]);
    arena_done(&naive->arena);
}

/* --- the naive store --- */

/* All spans of a tenant, each once, by trace. */
static size_t naive_spans(const struct naive *naive, size_t tenant, struct tracemerge_item **ret_items)
{
    size_t n = naive->spans[tenant].n;
    struct error err;
    struct tracemerge_item *items = memory_alloc(n * sizeof(*items), &err);

    CHECK(items != NULL);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct tracemerge_item){ &naive->spans[tenant].items[i], true };
    *ret_items = items;
    return tracemerge_sort(items, n);
}

struct naive_found {
    struct traceplace place;
    const struct span *matched;
    uint32_t n_matched, n_spans, n_errors, n_services, most_spans;
    int64_t start_ns, end_ns;
    const struct span *root;
};

static bool is_near(const struct span *span, const struct span *matched)
{
    return span->start_ns >= matched->start_ns - TRACESAMPLE_HOUR &&
           span->start_ns < matched->start_ns + TRACESAMPLE_HOUR;
}

static void naive_sum_up(const struct tracemerge_item *items, size_t n, const struct tracestore_filter *filter,
                         struct naive_found *found)
{
    static const uint8_t none[SPAN_ID_BYTES];
    uint32_t by_service[ARRAY_LEN(tracesample_resources)] = { 0 };
    const struct span *first = NULL;

    found->start_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct span *span = items[i].span;

        if (!is_near(span, found->matched))
            continue;
        first = first ? first : span;
        found->n_spans++;
        found->n_errors += span->status == SPAN_ERROR;
        found->n_matched += tracestore_filter_takes(filter, span);
        found->start_ns = MIN(found->start_ns, span->start_ns);
        found->end_ns = MAX(found->end_ns, span->start_ns + span->duration_ns);
        if (!found->root && memcmp(span->parent_id, none, sizeof(none)) == 0)
            found->root = span;
        for (size_t s = 0; s < ARRAY_LEN(by_service); s++)
            if (slice_equal(span->resource->service, tracesample_resources[s].service))
                by_service[s]++;
    }
    found->root = found->root ? found->root : first;
    for (size_t s = 0; s < ARRAY_LEN(by_service); s++) {
        found->n_services += by_service[s] > 0;
        found->most_spans = MAX(found->most_spans, by_service[s]);
    }
}

static int compare_found_newest(const void *a, const void *b)
{
    return traceplace_compare(TRACESTORE_NEWEST, &((const struct naive_found *)a)->place,
                              &((const struct naive_found *)b)->place);
}

static int compare_found_slowest(const void *a, const void *b)
{
    return traceplace_compare(TRACESTORE_SLOWEST, &((const struct naive_found *)a)->place,
                              &((const struct naive_found *)b)->place);
}

static size_t naive_search(const struct tracemerge_item *items, size_t n, const struct tracestore_search *search,
                           struct naive_found *founds)
{
    size_t n_found = 0;

    for (size_t first = 0, end; first < n; first = end) {
        struct naive_found found = { 0 };

        for (end = first;
             end < n && memcmp(items[end].span->trace_id, items[first].span->trace_id, SPAN_TRACE_ID_BYTES) == 0;
             end++) {
            struct traceplace place = traceplace_of(items[end].span);

            if (tracestore_filter_takes(&search->filter, items[end].span) &&
                (!found.matched || traceplace_compare(search->order, &place, &found.place) < 0)) {
                found.matched = items[end].span;
                found.place = place;
            }
        }
        if (!found.matched)
            continue;
        naive_sum_up(items + first, end - first, &search->filter, &found);
        founds[n_found++] = found;
    }
    if (n_found > 0)
        qsort(founds, n_found, sizeof(*founds),
              search->order == TRACESTORE_SLOWEST ? compare_found_slowest : compare_found_newest);
    return n_found;
}

/* --- questions made by chance --- */

struct question {
    struct tracestore_search search;
    struct span_attribute attributes[MAX_ASKED_ATTRIBUTES];
    struct spanids ids;
};

static void ask_attributes(uint64_t *state, struct question *question)
{
    static const char *const wanted[][2] = { { "user", "ann" }, { "user", "" },    { "code", "404" }, { "host", "b" },
                                             { "cores", "8" },  { "load", "1.5" }, { "code", "5" },   { "none", "" } };
    struct tracestore_filter *filter = &question->search.filter;

    filter->attributes = question->attributes;
    filter->n_attributes = (uint32_t)tracesample_below(state, MAX_ASKED_ATTRIBUTES + 1);
    for (uint32_t i = 0; i < filter->n_attributes; i++) {
        size_t which = tracesample_below(state, ARRAY_LEN(wanted));

        question->attributes[i] = (struct span_attribute){ slice_from(wanted[which][0]),
                                                           { SPAN_VALUE_TEXT, .text = slice_from(wanted[which][1]) } };
    }
}

static void ask_ids(uint64_t *state, struct question *question)
{
    uint8_t id[SPAN_ID_BYTES];
    struct error err;

    for (uint64_t n = 1 + tracesample_below(state, 3); n > 0; n--) {
        tracesample_span_id(1 + tracesample_below(state, 10), id);
        CHECK_OK(spanids_add(&question->ids, id, &err), &err);
    }
    question->search.filter.ids = &question->ids;
}

static void make_question(uint64_t *state, struct question *question)
{
    struct tracestore_filter *filter = &question->search.filter;

    memset(question, 0, sizeof(*question));
    spanids_init(&question->ids, 100);
    question->search.order = tracesample_below(state, 2) ? TRACESTORE_SLOWEST : TRACESTORE_NEWEST;
    question->search.limit = 1 + (uint32_t)tracesample_below(state, 9);
    if (tracesample_below(state, 2)) {
        filter->from_ns = FROM + (int64_t)tracesample_below(state, LENGTH / TRACESAMPLE_SECOND) * TRACESAMPLE_SECOND;
        if (tracesample_below(state, 2))
            filter->until_ns =
                filter->from_ns + (int64_t)tracesample_below(state, LENGTH / TRACESAMPLE_SECOND) * TRACESAMPLE_SECOND;
    }
    if (tracesample_below(state, 3) == 0)
        filter->service = tracesample_resources[tracesample_below(state, ARRAY_LEN(tracesample_resources))].service;
    if (tracesample_below(state, 3) == 0)
        filter->operation = slice_from(tracesample_names[tracesample_below(state, ARRAY_LEN(tracesample_names))]);
    if (tracesample_below(state, 4) == 0)
        filter->min_duration_ns = tracesample_durations[tracesample_below(state, ARRAY_LEN(tracesample_durations))];
    if (tracesample_below(state, 4) == 0)
        filter->max_duration_ns = tracesample_durations[tracesample_below(state, ARRAY_LEN(tracesample_durations))];
    filter->is_error = tracesample_below(state, 5) == 0;
    filter->is_root = tracesample_below(state, 5) == 0;
    if (tracesample_below(state, 3) == 0)
        ask_attributes(state, question);
    if (tracesample_below(state, 6) == 0)
        ask_ids(state, question);
}

/* --- comparing --- */

static void check_found(const struct tracestore_found *got, const struct naive_found *wanted)
{
    uint32_t n_spans = 0;

    CHECK_EQ(tracemerge_compare(&got->matched, wanted->matched), 0);
    CHECK(slice_equal(got->matched.resource->service, wanted->matched->resource->service));
    CHECK_EQ(got->n_matched, wanted->n_matched);
    CHECK_EQ(got->n_spans, wanted->n_spans);
    CHECK_EQ(got->n_errors, wanted->n_errors);
    CHECK_EQ(got->start_ns, wanted->start_ns);
    CHECK_EQ(got->duration_ns, wanted->end_ns - wanted->start_ns);
    CHECK_EQ(tracemerge_compare(&got->root, wanted->root), 0);
    CHECK_EQ(got->n_services, wanted->n_services);
    CHECK_EQ(got->services[0].n_spans, wanted->most_spans);
    for (uint32_t i = 0; i < got->n_services; i++)
        n_spans += got->services[i].n_spans;
    CHECK_EQ(n_spans, wanted->n_spans);
    CHECK(!got->is_cut);
}

/* Goes through the pages: each trace is there once, in order. */
static void check_search(struct tracestore *store, size_t tenant, const struct tracemerge_item *items, size_t n,
                         struct tracestore_search search, size_t max_pages)
{
    struct error err;
    struct naive_found *wanted = memory_alloc(n * sizeof(*wanted), &err);
    size_t n_wanted = naive_search(items, n, &search, wanted), n_got = 0, n_pages = 0;
    struct tracestore_results results = { 0 };
    char page[TRACESTORE_PAGE_BYTES];
    struct arena arena;

    arena_init(&arena, 0);
    do {
        memcpy(page, results.next_page, sizeof(page));
        search.page = slice_from(page);
        CHECK_OK(tracestore_search(store, slice_from(tenants[tenant]), &search, NULL, &arena, &results, &err), &err);
        CHECK(results.n <= search.limit);
        CHECK(results.n == search.limit || !results.next_page[0]);
        CHECK(n_got + results.n <= n_wanted);
        for (size_t i = 0; i < results.n; i++)
            check_found(&results.items[i], &wanted[n_got++]);
        arena_reset(&arena);
    } while (results.next_page[0] && ++n_pages < max_pages);
    CHECK(results.next_page[0] || n_got == n_wanted);
    arena_done(&arena);
    memory_free(wanted);
}

struct gathered {
    struct arena arena;
    VEC(struct span) spans;
};

static int gather(void *context, const struct span *span, struct error *err)
{
    struct gathered *gathered = context;
    struct span *place = VEC_PUSH(&gathered->spans, SIZE_MAX / sizeof(struct span), err);

    CHECK(place != NULL);
    *place = *span;
    place->name = arena_copy(&gathered->arena, span->name, err);
    return 0;
}

static int compare_spans(const void *a, const void *b)
{
    return tracemerge_compare(a, b);
}

static void check_each(struct tracestore *store, size_t tenant, const struct tracemerge_item *items, size_t n,
                       const struct tracestore_filter *filter, unsigned wants, const struct tracestore_asker *asker)
{
    struct gathered gathered = { 0 };
    struct error err;
    size_t i_got = 0;

    arena_init(&gathered.arena, 0);
    CHECK_OK(tracestore_each(store, slice_from(tenants[tenant]), filter, wants, asker, gather, &gathered, &err), &err);
    if (gathered.spans.n > 0)
        qsort(gathered.spans.items, gathered.spans.n, sizeof(*gathered.spans.items), compare_spans);
    for (size_t i = 0; i < n; i++) {
        if (!tracestore_filter_takes(filter, items[i].span))
            continue;
        CHECK(i_got < gathered.spans.n);
        CHECK_EQ(tracemerge_compare(&gathered.spans.items[i_got++], items[i].span), 0);
    }
    CHECK_EQ(i_got, gathered.spans.n);
    VEC_DONE(&gathered.spans);
    arena_done(&gathered.arena);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void check_percentile(int64_t got, const int64_t *durations, size_t n, size_t percent)
{
    int64_t wanted = durations[(n * percent + 99) / 100 - 1];

    CHECK_NEAR((double)got, (double)wanted, (double)wanted * 0.033 + 0.5);
}

/* Without copies that came after the hour was closed, everything is exact. */
static void check_operations(struct tracestore *store, size_t tenant, const struct tracemerge_item *items, size_t n,
                             const struct tracestore_filter *filter)
{
    struct tracestore_operations operations;
    uint64_t n_spans = 0;
    struct arena arena;
    struct error err;
    int64_t *durations = memory_alloc(n * sizeof(*durations), &err);

    CHECK(durations != NULL);
    arena_init(&arena, 0);
    CHECK_OK(tracestore_list_operations(store, slice_from(tenants[tenant]), filter, NULL, &arena, &operations, &err),
             &err);
    for (size_t o = 0; o < operations.n; o++) {
        const struct tracestore_operation *got = &operations.items[o];
        int64_t total_ns = 0;
        size_t n_durations = 0, n_errors = 0;

        for (size_t i = 0; i < n; i++) {
            const struct span *span = items[i].span;

            if (!tracestore_filter_takes(filter, span) || !slice_equal(span->name, got->name) ||
                !slice_equal(span->resource->service, got->service))
                continue;
            durations[n_durations++] = span->duration_ns;
            total_ns += span->duration_ns;
            n_errors += span->status == SPAN_ERROR;
        }
        CHECK_EQ(got->n_spans, n_durations);
        CHECK_EQ(got->n_errors, n_errors);
        CHECK_EQ(got->total_ns, total_ns);
        qsort(durations, n_durations, sizeof(*durations), compare_times);
        CHECK_EQ(got->max_ns, durations[n_durations - 1]);
        check_percentile(got->p50_ns, durations, n_durations, 50);
        check_percentile(got->p95_ns, durations, n_durations, 95);
        check_percentile(got->p99_ns, durations, n_durations, 99);
        CHECK(o == 0 || slice_compare(operations.items[o - 1].service, got->service) < 0 ||
              operations.items[o - 1].total_ns >= got->total_ns);
        n_spans += got->n_spans;
    }
    for (size_t i = 0; i < n; i++)
        n_spans -= tracestore_filter_takes(filter, items[i].span);
    CHECK_EQ(n_spans, 0);
    memory_free(durations);
    arena_done(&arena);
}

static void check_same_span(const struct span *got, const struct span *wanted)
{
    CHECK_EQ(tracemerge_compare(got, wanted), 0);
    CHECK(slice_equal(got->resource->service, wanted->resource->service));
    CHECK_EQ(got->resource->attributes.n, wanted->resource->attributes.n);
    CHECK_EQ(got->attributes.n, wanted->attributes.n);
    for (uint32_t i = 0; i < got->attributes.n; i++) {
        const struct span_attribute *a = &got->attributes.items[i], *b = &wanted->attributes.items[i];

        CHECK(slice_equal(a->key, b->key));
        CHECK_EQ(a->value.kind, b->value.kind);
        if (a->value.kind == SPAN_VALUE_TEXT)
            CHECK(slice_equal(a->value.text, b->value.text));
        else
            CHECK_EQ(a->value.integer, b->value.integer);
    }
    CHECK_EQ(got->n_events, wanted->n_events);
    CHECK((got->scope != NULL) == (wanted->scope != NULL));
    CHECK(slice_equal(got->status_message, wanted->status_message));
}

static void check_traces(struct tracestore *store, size_t tenant, const struct tracemerge_item *items, size_t n)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (size_t first = 0, end; first < n; first = end) {
        struct tracestore_trace trace;
        const struct span *span = items[first].span;

        CHECK_OK(tracestore_get(store, slice_from(tenants[tenant]), span->trace_id, 0, 0, NULL, &arena, &trace, &err),
                 &err);
        for (end = first; end < n && memcmp(items[end].span->trace_id, span->trace_id, SPAN_TRACE_ID_BYTES) == 0; end++)
            if (end - first < trace.n)
                check_same_span(&trace.spans[end - first], items[end].span);
        CHECK_EQ(trace.n, end - first);
        CHECK(!trace.is_cut);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

static void check_all(struct tracestore *store, const struct naive *naive, uint64_t *state, unsigned n_questions,
                      bool are_operations_exact)
{
    for (size_t tenant = 0; tenant < ARRAY_LEN(tenants); tenant++) {
        struct tracemerge_item *items;
        size_t n = naive_spans(naive, tenant, &items);

        check_traces(store, tenant, items, n);
        for (unsigned i = 0; i < n_questions; i++) {
            struct question question;

            make_question(state, &question);
            check_search(store, tenant, items, n, question.search, SIZE_MAX);
            check_each(store, tenant, items, n, &question.search.filter, (unsigned)tracesample_below(state, 4), NULL);
            if (are_operations_exact)
                check_operations(store, tenant, items, n, &question.search.filter);
            spanids_done(&question.ids);
        }
        memory_free(items);
    }
}

/* --- filling both --- */

static struct tracestore *open_store(bool is_read_only)
{
    struct tracestore_options options = { .data_dir = test_directory(), .is_read_only = is_read_only };
    struct tracestore *store;
    struct error err;

    CHECK_OK(tracestore_open(&options, &store, &err), &err);
    return store;
}

/* Writes `n` spans, in requests of some; of those that were written before every fifth comes again where `has_copies`. */
static void write_some(struct tracestore *store, struct naive *naive, uint64_t *state, size_t n, bool has_copies)
{
    while (n > 0) {
        size_t tenant = tracesample_below(state, ARRAY_LEN(tenants));
        size_t n_wanted = 1 + tracesample_below(state, 40), n_now = MIN(n, n_wanted);
        struct tracestore_receipt receipt;
        struct error err;
        size_t first = naive->spans[tenant].n;

        for (size_t i = 0; i < n_now; i++) {
            struct span *span = VEC_PUSH(&naive->spans[tenant], MAX_SPANS, &err);

            CHECK(span != NULL);
            if (has_copies && first > 0 && tracesample_below(state, 5) == 0)
                *span = naive->spans[tenant].items[tracesample_below(state, first)];
            else
                *span = tracesample_random(state, N_TRACES, FROM, LENGTH, &naive->arena);
        }
        CHECK_OK(tracestore_write(store, slice_from(tenants[tenant]),
                                  &(struct span_list){ naive->spans[tenant].items + first, n_now }, &receipt, &err),
                 &err);
        CHECK_EQ(receipt.n_kept, n_now);
        n -= n_now;
    }
}

static void write_large(struct tracestore *store, struct naive *naive, uint64_t *state, size_t n)
{
    struct tracestore_receipt receipt;
    struct error err;
    size_t first = naive->spans[0].n;

    for (size_t i = 0; i < n; i++) {
        struct span *span = VEC_PUSH(&naive->spans[0], MAX_SPANS, &err);

        CHECK(span != NULL);
        *span = tracesample_random(state, n / 5, FROM, TRACESAMPLE_HOUR, &naive->arena);
        span->duration_ns += (int64_t)(i % 10000);
        tracesample_dress(span, &naive->arena);
    }
    CHECK_OK(tracestore_write(store, slice_from(tenants[0]), &(struct span_list){ naive->spans[0].items + first, n },
                              &receipt, &err),
             &err);
    CHECK_EQ(receipt.n_kept, n);
}

static void run_story(uint64_t seed, bool has_copies)
{
    AUTO(naive_done) struct naive naive = { 0 };
    unsigned n_questions = test_times(12);
    uint64_t state = seed;
    struct tracestore *store, *reader;
    struct error err;

    clock_fake_set(NOW);
    arena_init(&naive.arena, 0);
    store = open_store(false);
    write_some(store, &naive, &state, N_SPANS / 4, has_copies);
    check_all(store, &naive, &state, n_questions, !has_copies); /* all in heads */
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    check_all(store, &naive, &state, n_questions, !has_copies); /* all closed */
    write_some(store, &naive, &state, N_SPANS / 4, has_copies);
    check_all(store, &naive, &state, n_questions, !has_copies); /* half of it closed, late ones in new heads */
    reader = open_store(true);
    check_all(reader, &naive, &state, n_questions, !has_copies); /* beside the writer */
    tracestore_close(reader);
    tracestore_close(store);
    store = open_store(false);
    check_all(store, &naive, &state, n_questions, !has_copies); /* opened again */
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    write_some(store, &naive, &state, N_SPANS / 8, has_copies);
    check_all(store, &naive, &state, n_questions, !has_copies); /* two closings and heads */
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    check_all(store, &naive, &state, n_questions, !has_copies); /* several closings */
    reader = open_store(true);
    check_all(reader, &naive, &state, n_questions, !has_copies);
    tracestore_close(reader);
    tracestore_close(store);
}

TEST(tracestore_answers_as_a_naive_one_does)
{
    run_story(1, false);
}

TEST(tracestore_answers_as_a_naive_one_does_when_spans_come_again)
{
    run_story(2, true);
}

/* An hour of many blocks, and the beginning of another head. */
TEST(tracestore_answers_as_a_naive_one_does_from_many_blocks)
{
    AUTO(naive_done) struct naive naive = { 0 };
    uint64_t state = 3;
    struct tracestore *store;
    struct tracemerge_item *items;
    struct error err;
    size_t n;

    clock_fake_set(NOW);
    arena_init(&naive.arena, 0);
    store = open_store(false);
    write_large(store, &naive, &state, N_LARGE);
    CHECK_OK(tracestore_close_hours(store, &err), &err);
    write_large(store, &naive, &state, N_LARGE / 10);
    n = naive_spans(&naive, 0, &items);
    for (unsigned i = 0; i < test_times(30); i++) {
        struct question question;

        make_question(&state, &question);
        question.search.limit = 1 + i % 4; /* few are enough of much: most of it is left unread */
        check_search(store, 0, items, n, question.search, 4);
        check_each(store, 0, items, n, &question.search.filter, 0, NULL);
        check_operations(store, 0, items, n, &question.search.filter);
        spanids_done(&question.ids);
    }
    memory_free(items);
    tracestore_close(store);
}

/* Many spans of an hour come again, and there is memory for few of them at a time. */
TEST(tracestore_gives_each_span_once_in_little_memory)
{
    enum { N_PARTS = 3, N_EACH = 30000 };
    static const size_t memories[] = { 1 << 20, 1500000, 0 };
    AUTO(naive_done) struct naive naive = { 0 };
    struct span_list all;
    struct tracestore *store;
    struct tracemerge_item *items;
    struct tracestore_receipt receipt;
    struct error err;
    size_t n;

    clock_fake_set(NOW);
    arena_init(&naive.arena, 0);
    store = open_store(false);
    for (uint64_t i = 0; i < N_PARTS * N_EACH; i++) {
        struct span *span = VEC_PUSH(&naive.spans[0], MAX_SPANS, &err);

        CHECK(span != NULL);
        *span = tracesample_span(i % 1000, i + 1, 0, FROM + (int64_t)i * 1000, (int64_t)i % 7);
    }
    /* Each time those of before come again. */
    for (unsigned i = 1; i <= N_PARTS; i++) {
        all = (struct span_list){ naive.spans[0].items, i * N_EACH };
        CHECK_OK(tracestore_write(store, slice_from(tenants[0]), &all, &receipt, &err), &err);
        CHECK_EQ(receipt.n_kept, i * N_EACH);
        if (i < N_PARTS)
            CHECK_OK(tracestore_close_hours(store, &err), &err);
    }
    n = naive_spans(&naive, 0, &items);
    for (size_t i = 0; i < ARRAY_LEN(memories); i++)
        check_each(store, 0, items, n, &(struct tracestore_filter){ 0 }, 0,
                   &(struct tracestore_asker){ .max_bytes = memories[i] });
    memory_free(items);
    tracestore_close(store);
}
