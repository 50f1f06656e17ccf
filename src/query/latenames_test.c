// SPDX-License-Identifier: Apache-2.0
#include "tree/latenames.h"

#include "query/engine.h"
#include "store/store_sample_test.h"

/* A source that knows the first `n_known` of its addresses of libx.so. */
struct known {
    uint64_t generation;
    uint32_t n_known;
    uint32_t n_asked;
    bool fails;
    atomic_bool *cancels; /* whoever asked leaves while names are asked for; NULL = nobody */
};

static uint64_t generation(void *context)
{
    const struct known *known = context;

    return known->generation;
}

static int find(void *context, struct slice build_id, uint64_t offset, struct arena *arena,
                struct latenames_line **ret_lines, uint32_t *ret_n, struct error *err)
{
    struct known *known = context;
    struct latenames_line *lines = ARENA_ARRAY(arena, struct latenames_line, 2, err);

    known->n_asked++;
    if (known->cancels)
        *known->cancels = true;
    if (!lines)
        return -1;
    if (known->fails)
        return error_set(err, ERR_IO, "the symbols cannot be read");
    CHECK_TEXT(build_id, "libx.so");
    lines[0] = (struct latenames_line){ offset == 0x1f ? SLICE("inner") : SLICE("other"), SLICE("x.c"), 7 };
    lines[1] = (struct latenames_line){ SLICE("outer"), SLICE(""), 0 };
    *ret_lines = lines;
    *ret_n = offset == 0x1f && known->n_known > 0 ? 2 : offset == 0x2f && known->n_known > 1 ? 1 : 0;
    return 0;
}

static struct latenames source_of(struct known *known)
{
    return (struct latenames){ known, generation, find };
}

static void build(struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    CHECK_OK(builder_new(&(struct builder_options){ .keep_addresses = true }, &b, &err), &err);
    builder_profile(b);
    store_sample_types(b, STORE_SAMPLE_TYPES);
    builder_sample(b, store_sample_stack(b, SLICE("main;~1f#libx.so")), 0, 0, (int64_t[]){ 1, 10 }, 0);
    builder_sample(b, store_sample_stack(b, SLICE("main;~2f#libx.so")), 0, 0, (int64_t[]){ 1, 10 }, 0);
    builder_sample(b, store_sample_stack(b, SLICE("main;named~1f#libx.so")), 0, 0, (int64_t[]){ 1, 10 }, 0);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

TEST(latenames_name_frames_that_have_none)
{
    struct known known = { .n_known = 1 };
    struct latenames source = source_of(&known);
    struct batch batch;
    struct tables tables;
    struct arena arena;
    bool *is_open;
    struct error err;
    uint32_t n_open = 0, depth;
    const uint32_t *frames;
    const struct frame *frame;

    batch_init(&batch, NULL);
    arena_init(&arena, 0);
    build(&batch);
    tables = batch.tables;
    CHECK_OK(latenames_resolve(&source, &tables, &arena, &is_open, &err), &err);
    CHECK_EQ(known.n_asked, 2);
    for (uint32_t i = 0; i < batch.profiles[0].n_samples; i++)
        n_open += latenames_is_open(&tables, batch.profiles[0].stacks[i], is_open);
    CHECK_EQ(n_open, 1);
    frames = tables_stack(&tables, batch.profiles[0].stacks[0], &depth);
    frame = &tables.frames[frames[0]];
    CHECK_EQ(frame->n_lines, 2);
    CHECK_EQ(frame->address, 0x1f);
    CHECK_TEXT(tables_string(&tables, tables.functions[tables.lines[frame->first_line].function].name), "inner");
    CHECK_TEXT(tables_string(&tables, tables.functions[tables.lines[frame->first_line].function].file), "x.c");
    CHECK_EQ(tables.lines[frame->first_line].line, 7);
    CHECK_TEXT(tables_string(&tables, tables.functions[tables.lines[frame->first_line + 1].function].name), "outer");
    arena_done(&arena);
    batch_done(&batch);
}

TEST(latenames_without_a_source_say_what_is_open)
{
    struct batch batch;
    struct tables tables;
    struct arena arena;
    bool *is_open;
    struct error err;

    batch_init(&batch, NULL);
    arena_init(&arena, 0);
    build(&batch);
    tables = batch.tables;
    CHECK_OK(latenames_resolve(NULL, &tables, &arena, &is_open, &err), &err);
    CHECK(latenames_is_open(&tables, batch.profiles[0].stacks[0], is_open));
    CHECK(!latenames_is_open(&tables, batch.profiles[0].stacks[2], is_open));
    CHECK_EQ(tables.n_functions, batch.tables.n_functions);
    arena_done(&arena);
    batch_done(&batch);
}

/* --- answers --- */

static void check_tree(struct engine *engine, const struct query *query, const char *wanted)
{
    AUTO(flame_freep) struct flame *flame = NULL, *exported = NULL;
    struct flame *flames[2];
    struct query_facts facts;
    uint32_t type = 0;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(engine_flame(engine, query, 0, &flame, &facts, &err), &err);
    CHECK_OK(engine_profile(engine, query, &batch, &facts, &err), &err);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &exported, &err), &err);
    flames[0] = flame;
    flames[1] = exported;
    for (unsigned k = 0; k < 2; k++) {
        AUTO(buffer_done) struct buffer text;

        buffer_init(&text, 0);
        for (uint32_t i = 1; i < flames[k]->n_nodes; i++)
            buffer_printf(&text, "%u %.*s %lld%s|", flames[k]->depths[i], SLICE_ARG(flame_name(flames[k], i)),
                          (long long)flame_total(flames[k], 0, i),
                          flames[k]->flags[i] & FLAME_IS_INLINED ? " inlined" : "");
        CHECK_TEXT(buffer_slice(&text), wanted);
    }
    batch_done(&batch);
}

CONFORMANCE(latenames_that_arrive_between_two_questions_are_in_the_second_answer)
{
    struct known known = { 0 };
    struct latenames source = source_of(&known);
    struct engine_options options = { .store = sample->store, .late = &source };
    struct query query = { .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = store_sample_time("15T00:00"),
                           .until_ns = store_sample_time("15T23:00") };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct error err;

    STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T11:00", .service = "api", .samples = "main;~1f#libx.so 1 10|main;~2f#libx.so;leaf 2 20|main 1 3" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    check_tree(engine, &query, "1 main 33|2 [libx.so] 30|3 leaf 20|");
    known.n_known = 1;
    known.generation++;
    check_tree(engine, &query, "1 main 33|2 [libx.so] 20|3 leaf 20|2 outer 10|3 inner 10 inlined|");
    known.n_known = 2;
    known.generation++;
    check_tree(engine, &query, "1 main 33|2 other 20|3 leaf 20|2 outer 10|3 inner 10 inlined|");
    /* A filter sees them, also over time. */
    query.filter.focus = SLICE("x\\.c");
    check_tree(engine, &query, "1 main 30|2 other 20|3 leaf 20|2 outer 10|3 inner 10 inlined|");
    /* Trees ask for nothing that they know, and for what they do not know once. */
    known.n_asked = 0;
    {
        AUTO(flame_freep) struct flame *flame = NULL;
        struct query_facts facts;

        known.generation++;
        CHECK_OK(engine_flame(engine, &query, 0, &flame, &facts, &err), &err);
    }
    CHECK_EQ(known.n_asked, 0);
}

struct asking {
    struct engine *engine;
    struct query query;
    struct known *known;
};

static int ask_anew(void *context, struct error *err)
{
    struct asking *asking = context;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct query_facts facts;

    asking->known->n_known = asking->known->n_known ? 0 : 2;
    asking->known->generation++;
    return engine_flame(asking->engine, &asking->query, 0, &flame, &facts, err);
}

CONFORMANCE(latenames_that_fail_end_the_query_and_leave_the_engine_well)
{
    struct known known = { .fails = true };
    struct latenames source = source_of(&known);
    struct engine_options options = { .store = sample->store, .late = &source, .n_threads = 1 };
    struct asking asking = { .known = &known };
    struct query_facts facts;
    struct flame *flame;
    struct error err;

    asking.query = (struct query){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                                   .from_ns = store_sample_time("15T00:00"),
                                   .until_ns = store_sample_time("15T23:00") };
    STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .service = "api", .samples = "main;~1f#libx.so 1 10" });
    CHECK_OK(engine_new(&options, &asking.engine, &err), &err);
    CHECK_ERROR(engine_flame(asking.engine, &asking.query, 0, &flame, &facts, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "the symbols cannot be read");
    known.fails = false;
    test_each_allocation_failing(ask_anew, &asking);
    known.n_known = 2;
    known.generation++;
    check_tree(asking.engine, &asking.query, "1 main 10|2 outer 10|3 inner 10 inlined|");
    engine_free(asking.engine);
}

CONFORMANCE(engine_sees_while_it_names_stacks_that_nobody_waits_any_more)
{
    atomic_bool is_cancelled = false;
    struct known known = { .n_known = 2, .cancels = &is_cancelled };
    struct latenames source = source_of(&known);
    struct engine_options options = { .store = sample->store, .late = &source, .n_threads = 1 };
    AUTO(engine_freep) struct engine *engine = NULL;
    struct query query = { .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                           .from_ns = store_sample_time("15T00:00"),
                           .until_ns = store_sample_time("15T23:00"),
                           .is_cancelled = &is_cancelled };
    struct query_facts facts;
    struct flame *flame;
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T11:00", .service = "api", .samples = "main;~1f#libx.so 1 10" });
    CHECK_OK(engine_new(&options, &engine, &err), &err);
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_CANCELLED);
    /* The long way looks as well. */
    is_cancelled = false;
    query.filter.hide = SLICE("nothing");
    CHECK_ERROR(engine_flame(engine, &query, 0, &flame, &facts, &err), &err, ERR_CANCELLED);
    /* What was begun does no harm to the next answer. */
    known.cancels = NULL;
    query.filter.hide = (struct slice){ 0 };
    is_cancelled = false;
    check_tree(engine, &query, "1 main 10|2 outer 10|3 inner 10 inlined|");
}
