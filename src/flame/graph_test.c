// SPDX-License-Identifier: Apache-2.0
#include "flame/graph.h"

#include "flame/trim.h"
#include "profile/random_profile_test.h"

#include <stdlib.h>

static const uint32_t both_types[] = { 0, 1 };

/* --- the naive way: sample by sample, as texts --- */

struct naive_function {
    struct slice name;
    int64_t self, total;
    double count;
};

struct naive_call {
    uint32_t caller, callee;
    int64_t value;
    bool is_plain;
};

struct naive {
    struct arena arena;
    struct naive_function functions[200];
    struct naive_call calls[4000];
    uint32_t n_functions, n_calls;
};

static uint32_t naive_function(struct naive *naive, const struct tables *t, uint32_t frame, uint32_t index)
{
    AUTO(buffer_done) struct buffer text;
    struct symbolname name = symbolname_get(t, frame, index, SYMBOL_FUNCTION);
    struct error err;

    buffer_init(&text, 0);
    symbolname_print(t, &name, &text);
    for (uint32_t i = 0; i < naive->n_functions; i++)
        if (slice_equal(naive->functions[i].name, buffer_slice(&text)))
            return i;
    CHECK(naive->n_functions < ARRAY_LEN(naive->functions));
    naive->functions[naive->n_functions] =
        (struct naive_function){ .name = arena_copy(&naive->arena, buffer_slice(&text), &err) };
    return naive->n_functions++;
}

static struct naive_call *naive_call(struct naive *naive, uint32_t caller, uint32_t callee)
{
    for (uint32_t i = 0; i < naive->n_calls; i++)
        if (naive->calls[i].caller == caller && naive->calls[i].callee == callee)
            return &naive->calls[i];
    CHECK(naive->n_calls < ARRAY_LEN(naive->calls));
    naive->calls[naive->n_calls] = (struct naive_call){ .caller = caller, .callee = callee };
    return &naive->calls[naive->n_calls++];
}

static void naive_sample(struct naive *naive, const struct profile *p, uint32_t sample)
{
    const struct tables *t = p->tables;
    uint32_t path[300], n = 0, depth;
    bool is_inlined[300];
    const uint32_t *frames = tables_stack(t, p->stacks[sample], &depth);
    int64_t value = profile_values(p, 1)[sample];

    for (uint32_t i = depth; i-- > 0;) {
        for (uint32_t j = symbolname_count(&t->frames[frames[i]]); j-- > 0;) {
            is_inlined[n] = symbolname_is_inlined(&t->frames[frames[i]], j);
            path[n++] = naive_function(naive, t, frames[i], j);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        bool is_known = false, is_known_call = i == 0 || path[i] == path[i - 1];

        for (uint32_t j = 0; j < i; j++) {
            is_known |= path[j] == path[i];
            is_known_call |= j > 0 && path[j] == path[i] && path[j - 1] == path[i - 1];
        }
        if (!is_known) {
            naive->functions[path[i]].total += value;
            naive->functions[path[i]].count +=
                p->counts ? (double)p->counts[sample] : (double)profile_values(p, 0)[sample];
        }
        if (!is_known_call) {
            struct naive_call *call = naive_call(naive, path[i - 1], path[i]);

            call->value += value;
            call->is_plain |= !is_inlined[i];
        }
    }
    if (n > 0)
        naive->functions[path[n - 1]].self += value;
}

static struct naive *naive_new(const struct profile *p)
{
    static struct naive naive;

    naive.n_functions = naive.n_calls = 0;
    arena_init(&naive.arena, 0);
    for (uint32_t i = 0; i < p->n_samples; i++)
        if (profile_values(p, 1)[i] != 0)
            naive_sample(&naive, p, i);
    return &naive;
}

/* --- checks --- */

static const struct naive_function *find_naive(const struct naive *naive, struct slice name)
{
    for (uint32_t i = 0; i < naive->n_functions; i++)
        if (slice_equal(naive->functions[i].name, name))
            return &naive->functions[i];
    test_fail(__FILE__, __LINE__, "'%.*s' is no function", SLICE_ARG(name));
}

static void check_functions(const struct graph *graph, const struct naive *naive)
{
    CHECK_EQ(graph->n_functions, naive->n_functions);
    for (uint32_t f = 0; f < graph->n_functions; f++) {
        const struct naive_function *wanted = find_naive(naive, graph_name(graph, f));

        CHECK_EQ(graph_self(graph, 0, f), wanted->self);
        CHECK_EQ(graph_total(graph, 0, f), wanted->total);
        CHECK_NEAR(graph_total_count(graph, 0, f), wanted->count, 1e-6);
    }
}

static void check_calls(const struct graph *graph, const struct naive *naive)
{
    CHECK_EQ(graph->n_calls, naive->n_calls);
    for (uint32_t i = 0; i < graph->n_calls; i++) {
        const struct graph_call *call = &graph->calls[i];
        uint32_t caller = (uint32_t)(find_naive(naive, graph_name(graph, call->caller)) - naive->functions);
        uint32_t callee = (uint32_t)(find_naive(naive, graph_name(graph, call->callee)) - naive->functions);
        const struct naive_call *wanted = NULL;

        for (uint32_t j = 0; j < naive->n_calls; j++)
            if (naive->calls[j].caller == caller && naive->calls[j].callee == callee)
                wanted = &naive->calls[j];
        CHECK(wanted != NULL);
        CHECK_EQ(graph_call_value(graph, 0, i), wanted->value);
        CHECK_EQ(call->flags & GRAPH_IS_INLINED, wanted->is_plain ? 0 : GRAPH_IS_INLINED);
    }
}

/* The lists of callers and callees hold each call once, in order. */
static void check_lists(const struct graph *g, bool of_callers)
{
    const uint32_t *list = of_callers ? g->callers : g->callees;
    const uint32_t *starts = of_callers ? g->caller_starts : g->callee_starts;

    CHECK_EQ(starts[0], 0);
    CHECK_EQ(starts[g->n_functions], g->n_calls);
    for (uint32_t f = 0; f < g->n_functions; f++) {
        for (uint32_t i = starts[f]; i < starts[f + 1]; i++) {
            CHECK_EQ(of_callers ? g->calls[list[i]].callee : g->calls[list[i]].caller, f);
            if (i > starts[f])
                CHECK(llabs(graph_call_value(g, 0, list[i - 1])) >= llabs(graph_call_value(g, 0, list[i])));
        }
    }
}

TEST(graph_equals_one_made_sample_by_sample)
{
    const uint32_t cpu = 1;

    for (uint64_t seed = 0; seed < 80; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch batch;
        struct flame *flame;
        struct graph *graph;
        struct naive *naive;
        struct error err;

        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], &cpu, 1, NULL, &flame, &err), &err);
        CHECK_OK(graph_new(flame, 0, &graph, &err), &err);
        naive = naive_new(&batch.profiles[0]);
        check_functions(graph, naive);
        check_calls(graph, naive);
        check_lists(graph, true);
        check_lists(graph, false);
        arena_done(&naive->arena);
        graph_free(graph);
        flame_free(flame);
        batch_done(&batch);
    }
}

static uint32_t function_called(const struct graph *graph, const char *name)
{
    for (uint32_t f = 0; f < graph->n_functions; f++)
        if (slice_is(graph_name(graph, f), name))
            return f;
    test_fail(__FILE__, __LINE__, "no function '%s'", name);
}

TEST(graph_counts_recursion_once)
{
    static const char *const stacks[] = { "ababc", "aab", "c" };
    static const int64_t values[] = { 10, 5, 1 };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(graph_freep) struct graph *graph = NULL;
    struct batch batch;
    struct error err;
    uint32_t a, b, c, call;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 3);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_OK(graph_new(flame, 0, &graph, &err), &err);
    a = function_called(graph, "a");
    b = function_called(graph, "b");
    c = function_called(graph, "c");
    CHECK_EQ(graph_total(graph, 0, a), 15);
    CHECK_EQ(graph_total(graph, 0, b), 15);
    CHECK_EQ(graph_total(graph, 0, c), 11);
    CHECK_EQ(graph_self(graph, 0, a), 0);
    CHECK_EQ(graph_self(graph, 0, b), 5);
    CHECK_EQ(graph_self(graph, 0, c), 11);
    CHECK_EQ(graph->n_calls, 3); /* a b, b a, b c; not a a */
    CHECK_EQ(graph->caller_starts[b + 1] - graph->caller_starts[b], 1);
    call = graph->callers[graph->caller_starts[b]];
    CHECK_EQ(graph->calls[call].caller, a);
    CHECK_EQ(graph_call_value(graph, 0, call), 15);
    batch_done(&batch);
}

TEST(graph_of_a_trimmed_tree_is_that_of_what_is_left)
{
    static const char *const stacks[] = { "ab", "ac", "d" };
    static const int64_t values[] = { 10, 5, 1 };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(flame_freep) struct flame *trimmed = NULL;
    AUTO(graph_freep) struct graph *graph = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 3);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_OK(trim_flame(flame, &(struct trim_options){ .max_nodes = 3 }, &trimmed, &err), &err);
    CHECK_OK(graph_new(trimmed, 0, &graph, &err), &err);
    CHECK_EQ(graph->n_functions, 2);
    CHECK_EQ(graph_total(graph, 0, function_called(graph, "a")), 15);
    batch_done(&batch);
}

static int build_graph(void *context, struct error *err)
{
    struct graph *graph;

    if (graph_new(context, 0, &graph, err) < 0)
        return -1;
    graph_free(graph);
    return 0;
}

TEST(graph_survives_any_failing_allocation)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    random_batch(&batch, &(struct random_options){
                             .n_functions = 9, .n_frames = 30, .n_stacks = 50, .max_depth = 9, .n_samples = 90 });
    CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, NULL, &flame, &err), &err);
    test_each_allocation_failing(build_graph, flame);
    batch_done(&batch);
}
