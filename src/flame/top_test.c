// SPDX-License-Identifier: Apache-2.0
#include "flame/top.h"

#include "profile/random_profile_test.h"

#include <stdlib.h>

static void check_order(const struct top *top, enum top_order order)
{
    const struct graph *g = top->graph;

    for (uint32_t i = 1; i < top->n; i++) {
        uint32_t x = top->functions[i - 1], y = top->functions[i];
        int64_t before = order == TOP_BY_SELF ? graph_self(g, 0, x) : graph_total(g, 0, x);
        int64_t after = order == TOP_BY_SELF ? graph_self(g, 0, y) : graph_total(g, 0, y);

        CHECK(llabs(before) >= llabs(after));
        if (llabs(before) == llabs(after))
            CHECK(slice_compare(graph_name(g, x), graph_name(g, y)) < 0);
    }
}

TEST(top_lists_all_functions_in_order)
{
    const uint32_t cpu = 1;

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch batch;
        struct error err;

        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        for (enum top_order order = TOP_BY_SELF; order <= TOP_BY_TOTAL; order++) {
            struct top *top;
            uint32_t n = 0;
            int64_t self = 0;

            CHECK_OK(top_new(&batch.profiles[0], &cpu, 1, SYMBOL_FUNCTION, order, &top, &err), &err);
            check_order(top, order);
            for (uint32_t f = 0; f < top->graph->n_functions; f++)
                n += graph_self(top->graph, 0, f) || graph_total(top->graph, 0, f);
            CHECK_EQ(top->n, n);
            for (uint32_t i = 0; i < top->n; i++)
                self += graph_self(top->graph, 0, top->functions[i]);
            CHECK_EQ(self + flame_self(top->flame, 0, 0), flame_total(top->flame, 0, 0));
            top_free(top);
        }
        batch_done(&batch);
    }
}

TEST(top_leaves_out_what_is_zero_and_breaks_ties_by_name)
{
    static const char *const stacks[] = { "b", "a", "xc", "xd" };
    static const int64_t values[] = { 5, 5, 7, -7 };
    const uint32_t type = 0;
    AUTO(top_freep) struct top *top = NULL;
    AUTO(pattern_freep) struct pattern *pattern = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 4);
    CHECK_OK(top_new(&batch.profiles[0], &type, 1, SYMBOL_FUNCTION, TOP_BY_SELF, &top, &err), &err);
    CHECK_EQ(top->n, 4); /* x has neither self nor total */
    CHECK_TEXT(graph_name(top->graph, top->functions[0]), "c");
    CHECK_TEXT(graph_name(top->graph, top->functions[1]), "d");
    CHECK_TEXT(graph_name(top->graph, top->functions[2]), "a");
    CHECK_TEXT(graph_name(top->graph, top->functions[3]), "b");

    CHECK_OK(pattern_new(SLICE("[ad]"), PATTERN_SEARCH, &pattern, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(top_match(top->graph, pattern, scratch, top->functions, &top->n, &err), &err);
    CHECK_EQ(top->n, 2);
    CHECK_TEXT(graph_name(top->graph, top->functions[0]), "d");
    CHECK_TEXT(graph_name(top->graph, top->functions[1]), "a");
    batch_done(&batch);
}

TEST(top_of_an_empty_profile_is_empty)
{
    const uint32_t type = 0;
    AUTO(top_freep) struct top *top = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, NULL, NULL, 0);
    CHECK_OK(top_new(&batch.profiles[0], &type, 1, SYMBOL_FUNCTION, TOP_BY_TOTAL, &top, &err), &err);
    CHECK_EQ(top->n, 0);
    CHECK_EQ(flame_total(top->flame, 0, 0), 0);
    batch_done(&batch);
}

static int build_top(void *context, struct error *err)
{
    const uint32_t types[] = { 1, 0 };
    struct top *top;

    if (top_new(context, types, 2, SYMBOL_FUNCTION, TOP_BY_SELF, &top, err) < 0)
        return -1;
    top_free(top);
    return 0;
}

TEST(top_survives_any_failing_allocation)
{
    struct batch batch;

    batch_init(&batch, NULL);
    random_batch(&batch, &(struct random_options){
                             .n_functions = 9, .n_frames = 30, .n_stacks = 50, .max_depth = 9, .n_samples = 90 });
    test_each_allocation_failing(build_top, &batch.profiles[0]);
    batch_done(&batch);
}
