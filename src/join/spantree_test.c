// SPDX-License-Identifier: Apache-2.0
#include "join/spantree.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "base/memory.h"
#include "join/span_sample_test.h"

/* The tree as text: each node as its id, what it is (? orphan, ^ local root) and the milliseconds of its children, with a dot
 * for each level in front. */
static struct slice tree_of(const struct span *spans, size_t n, struct arena *arena)
{
    struct spantree tree;
    struct buffer text;
    struct slice copy;
    struct error err;

    buffer_init(&text, 0);
    CHECK_OK(spantree_build(spans, n, arena, &tree, &err), &err);
    CHECK_EQ(tree.n, n);
    for (uint32_t i = 0; i < tree.n; i++) {
        const struct spantree_node *node = &tree.nodes[i];

        for (uint32_t k = 0; k < node->depth; k++)
            buffer_append_byte(&text, '.');
        buffer_printf(&text, "%02x%s%s %lld\n", spans[node->span].span_id[0], node->is_orphan ? "?" : "",
                      node->is_local_root ? "^" : "", (long long)node->children_ns / 1000000);
        CHECK(node->parent == SPANTREE_NONE ? node->depth == 0
                                            : node->parent < i && tree.nodes[node->parent].depth + 1 == node->depth &&
                                                  i <= node->parent + tree.nodes[node->parent].n_below);
    }
    copy = arena_copy(arena, buffer_slice(&text), &err);
    buffer_done(&text);
    return copy;
}

#define CHECK_TREE(wanted, ...)                                                                                        \
    do {                                                                                                               \
        struct span_sample sample;                                                                                     \
        struct arena arena;                                                                                            \
                                                                                                                       \
        arena_init(&arena, 0);                                                                                         \
        SPAN_SAMPLE(&sample, __VA_ARGS__);                                                                             \
        CHECK_TEXT(tree_of(sample.spans, sample.n, &arena), wanted);                                                   \
        arena_done(&arena);                                                                                            \
    } while (0)

TEST(spantree_is_depth_first_and_by_start)
{
    CHECK_TREE("01^ 90\n.03 10\n..05 0\n.02 20\n..04 0\n", "04<02 a op 60+20", "02<01 a op 50+50", "01<00 a op 0+100",
               "03<01 a op 5+40", "05<03 a op 6+10");
    /* Two that start together: the longer one first, then by id. */
    CHECK_TREE("01^ 20\n.04 0\n.02 0\n.03 0\n", "01<00 a op 0+20", "03<01 a op 0+10", "02<01 a op 0+10",
               "04<01 a op 0+20");
}

TEST(spantree_covers_what_children_cover_together)
{
    /* Overlapping, contained, apart; before, behind and across the parent. */
    CHECK_TREE("01^ 40\n.02 0\n.03 0\n.04 0\n", "01<00 a op 0+100", "02<01 a op 10+20", "03<01 a op 15+5",
               "04<01 a op 20+30");
    CHECK_TREE("01^ 30\n.02 0\n.03 0\n.04 0\n", "01<00 a op 100+100", "02<01 a op 0+50", "03<01 a op 90+20",
               "04<01 a op 180+900");
    CHECK_TREE("01^ 100\n.02 0\n", "01<00 a op 100+100", "02<01 a op 0+1000");
    CHECK_TREE("01^ 0\n.02 0\n", "01<00 a op 100+0", "02<01 a op 0+1000");
}

TEST(spantree_makes_roots_of_orphans)
{
    CHECK_TREE("02?^ 10\n.03 0\n01^ 0\n", "01<00 a op 50+10", "02<99 a op 0+20", "03<02 a op 0+10");
}

TEST(spantree_of_nothing_is_empty)
{
    struct spantree tree;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(spantree_build(NULL, 0, &arena, &tree, &err), &err);
    CHECK_EQ(tree.n, 0);
    arena_done(&arena);
}

TEST(spantree_knows_where_a_service_takes_up_work)
{
    CHECK_TREE("01^ 100\n.02 90\n..03^ 80\n...04 70\n....05^ 0\n", "01<00 a op 0+100", "02<01 a op 0+100/client",
               "03<02 b op 0+90/server", "04<03 b op 0+80", "05<04 b op 0+70/consumer");
}

TEST(spantree_puts_both_sides_of_a_call_under_one_id)
{
    /* Zipkin's way: 02 is the call and its answer. 03 hangs below its own service, 04 of a third below the answer. */
    CHECK_TREE("01^ 80\n.02 60\n..02^ 30\n...03 0\n...04^ 0\n", "01<00 a op 0+100", "02<01 a op 10+80/client",
               "02<01 b op 20+60/server", "03<02 b op 30+10", "04<02 c op 45+20");
    CHECK_TREE("02^ 55\n.03 0\n.02^ 0\n", "02<00 a op 0+80/client", "02<00 b op 20+40/server", "03<02 a op 5+15");
}

/* A sender that gives all its spans one id makes no work for each pair of them. */
TEST(spantree_looks_at_so_many_spans_of_one_id)
{
    for (unsigned n_before = SPANTREE_MAX_TWINS - 1; n_before <= SPANTREE_MAX_TWINS; n_before++) {
        struct span_sample sample = { .n = 0 };
        struct spantree tree;
        struct arena arena;
        struct error err;
        uint32_t n_roots = 0;

        arena_init(&arena, 0);
        for (unsigned i = 0; i < n_before; i++)
            span_sample_add(&sample, "02<00 a op 0+10");
        span_sample_add(&sample, "02<00 a op 1+10/client");
        CHECK_OK(spantree_build(sample.spans, sample.n, &arena, &tree, &err), &err);
        for (uint32_t i = 0; i < tree.n; i++)
            n_roots += tree.nodes[i].parent == SPANTREE_NONE;
        CHECK_EQ(n_roots, n_before < SPANTREE_MAX_TWINS ? 1 : sample.n);
        arena_done(&arena);
    }
}

TEST(spantree_cuts_circles)
{
    CHECK_TREE("01?^ 0\n", "01<01 a op 0+10");
    CHECK_TREE("02?^ 20\n.01 10\n..03 0\n", "01<02 a op 10+20", "02<01 a op 5+25", "03<01 a op 20+10");
    CHECK_TREE("09^ 0\n03?^ 0\n.02 0\n..01 0\n...04 0\n", "01<02 a op 3+0", "02<03 a op 2+0", "03<01 a op 1+0",
               "04<01 a op 9+0", "09<00 a op 50+1");
    /* Both sides of a call that name each other. */
    CHECK_TREE("02?^ 0\n.02^ 0\n", "02<02 a op 0+0/client", "02<02 b op 0+0/server");
}

TEST(spantree_ends_where_times_do)
{
    struct span_sample sample;
    struct spantree tree;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    SPAN_SAMPLE(&sample, "01<00 a op 0+10", "02<01 a op 0+10");
    sample.spans[0].start_ns = sample.spans[1].start_ns = INT64_MAX - 5;
    sample.spans[0].duration_ns = sample.spans[1].duration_ns = INT64_MAX;
    CHECK_OK(spantree_build(sample.spans, 2, &arena, &tree, &err), &err);
    CHECK_EQ(tree.nodes[0].children_ns, 5);
    arena_done(&arena);
}

/* A chain, as deep as it has spans; a star; and spans of one id that name it as their parent. */
TEST(spantree_takes_any_depth_and_any_width)
{
    enum { MANY = 100000 };
    struct error err;
    struct span *spans = memory_alloc_zero(MANY * sizeof(*spans), &err);
    struct span_resource resource = { .service = SLICE("a") };

    for (int form = 0; form < 3; form++) {
        bool is_star = form == 1, are_twins = form == 2;
        struct spantree tree;
        struct arena arena;

        arena_init(&arena, 0);
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t id = are_twins ? 1 : i + 1, parent = is_star ? i > 0 : are_twins ? 1 : i;

            spans[i] = (struct span){ .start_ns = (int64_t)i, .duration_ns = 2 * MANY - 2 * (int64_t)i };
            spans[i].resource = &resource;
            memcpy(spans[i].span_id, &id, SPAN_ID_BYTES);
            memcpy(spans[i].parent_id, &parent, SPAN_ID_BYTES);
        }
        CHECK_OK(spantree_build(spans, MANY, &arena, &tree, &err), &err);
        CHECK_EQ(tree.nodes[MANY - 1].depth, is_star || are_twins ? 1 : MANY - 1);
        CHECK_EQ(tree.nodes[0].n_below, MANY - 1);
        arena_done(&arena);
    }
    memory_free(spans);
}

/* Whatever parents say, each span comes once, behind its parent. */
TEST(spantree_takes_any_parents)
{
    for (uint64_t seed = 1; seed <= test_times(300); seed++) {
        struct span_sample sample;
        struct arena arena;

        arena_init(&arena, 0);
        sample.n = 0;
        for (uint32_t i = 0; i < 20; i++) {
            uint64_t chance = hash_mix64(seed * 100 + i);
            char text[64];

            snprintf(text, sizeof(text), "%02x<%02x %s op %u+%u%s", (unsigned)(1 + i % 15), (unsigned)(chance % 18),
                     chance >> 20 & 1 ? "a" : "b", (unsigned)(chance >> 24 & 63), (unsigned)(chance >> 32 & 63),
                     i >= 15 ? "/client" : "");
            span_sample_add(&sample, text);
        }
        tree_of(sample.spans, sample.n, &arena);
        arena_done(&arena);
    }
}

static int build_some(void *context, struct error *err)
{
    struct span_sample *sample = context;
    AUTO(arena_done) struct arena arena;
    struct spantree tree;

    arena_init(&arena, 0);
    return spantree_build(sample->spans, sample->n, &arena, &tree, err);
}

TEST(spantree_survives_any_allocation_failing)
{
    struct span_sample sample;

    SPAN_SAMPLE(&sample, "01<02 a op 10+20", "02<01 a op 5+25", "03<01 a op 20+10");
    test_each_allocation_failing(build_some, &sample);
}
