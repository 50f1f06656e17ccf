// SPDX-License-Identifier: Apache-2.0
#include "query/spanvalues.h"

#include "query/query_story_test.h"

/* --- against a plain list --- */

enum { SPANS = 8 };

static void check_answer(struct query_story *story)
{
    struct query_story_asked asked = query_story_choose(story);
    int64_t wanted[SPANS] = { 0 };
    struct spanvalues got;
    struct query_facts facts;
    struct query query;
    struct error err;
    size_t n_wanted = 0;

    query_story_choose_filter(story, &asked);
    query = query_story_query(story, &asked);
    for (size_t i = 0; i < story->records.n; i++)
        if (query_story_matches(&asked, &story->records.items[i]) && story->records.items[i].span)
            wanted[story->records.items[i].span] += query_story_value(&asked, &story->records.items[i]);
    for (size_t i = 0; i < SPANS; i++)
        n_wanted += wanted[i] != 0;
    CHECK_OK(spanvalues_read(story->engine, &query, 100, &got, &facts, &err), &err);
    CHECK_EQ(got.n, n_wanted);
    CHECK(!got.is_cut);
    for (size_t i = 0; i < got.n; i++) {
        CHECK_EQ(got.items[i].value, wanted[got.items[i].span_id[0]]);
        CHECK(i == 0 || got.items[i - 1].value >= got.items[i].value);
    }
    spanvalues_done(&got);
    query_story_done(&asked);
}

CONFORMANCE(spanvalues_are_those_of_a_plain_list)
{
    query_story_run(sample, 4, 50, check_answer);
}

/* --- by hand --- */

static struct engine *begin(struct store_sample *sample, size_t query_bytes)
{
    struct engine_options options = { .store = sample->store, .n_threads = 1, .query_bytes = query_bytes };
    struct engine *engine;
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "a;x 1 10 @aa-01 | b 2 20 @aa-02" },
                       { .at = "15T10:01", .service = "api", .samples = "a;y 4 40 @bb-01 | a 8 80 @aa-03 | c 1 10" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    return engine;
}

static struct query query_of(const char *focus)
{
    return (struct query){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = store_sample_time("15T10:00"),
                           .until_ns = store_sample_time("15T11:00"),
                           .filter = { .focus = slice_from(focus) } };
}

CONFORMANCE(spanvalues_of_a_function_are_those_of_its_samples)
{
    struct engine *engine = begin(sample, 0);
    struct query of_a = query_of("^a$"), of_nobody = query_of("nobody"), wrong = query_of("(");
    struct spanvalues got;
    struct query_facts facts;
    struct error err;

    CHECK_OK(spanvalues_read(engine, &of_a, 100, &got, &facts, &err), &err);
    CHECK_EQ(got.n, 2);
    CHECK(got.items[0].span_id[0] == 3 && got.items[0].value == 80);
    CHECK(got.items[1].span_id[0] == 1 && got.items[1].value == 50); /* whatever trace the samples tell */
    spanvalues_done(&got);
    CHECK_OK(spanvalues_read(engine, &of_a, 1, &got, &facts, &err), &err);
    CHECK(got.n == 1 && got.is_cut && got.items[0].value == 80);
    spanvalues_done(&got);
    CHECK_OK(spanvalues_read(engine, &of_nobody, 1, &got, &facts, &err), &err);
    CHECK(got.n == 0 && !got.is_cut);
    spanvalues_done(&got);
    CHECK_ERROR(spanvalues_read(engine, &wrong, 1, &got, &facts, &err), &err, ERR_INVALID);
    engine_free(engine);
}

CONFORMANCE(spanvalues_say_when_memory_allows_no_more)
{
    struct engine *engine = begin(sample, 200);
    struct query query = query_of(NULL);
    struct spanvalues got;
    struct query_facts facts;
    struct error err;

    CHECK_OK(spanvalues_read(engine, &query, 100, &got, &facts, &err), &err);
    CHECK_EQ(got.n, 2);
    CHECK(got.is_cut);
    spanvalues_done(&got);
    engine_free(engine);
}

struct asking {
    struct engine *engine;
    struct query query;
};

static int ask(void *context, struct error *err)
{
    struct asking *asking = context;
    struct spanvalues got;
    struct query_facts facts;

    if (spanvalues_read(asking->engine, &asking->query, 100, &got, &facts, err) < 0)
        return -1;
    CHECK_EQ(got.n, 3);
    spanvalues_done(&got);
    return 0;
}

CONFORMANCE(spanvalues_survive_any_allocation_failing)
{
    struct asking asking = { begin(sample, 0), query_of("a|b") };

    test_each_allocation_failing(ask, &asking);
    engine_free(asking.engine);
}
