// SPDX-License-Identifier: Apache-2.0
#include "flame/flame.h"

#include "profile/random_profile_test.h"
#include "profile/transform.h"

#include <stdlib.h>

/* --- the naive way: nodes in a list, children found by looking at all of them, names compared as texts --- */

struct naive_node {
    uint32_t parent;
    struct slice name;
    int64_t self[2], total[2];
    double count[2];
    bool was_inlined, was_plain;
};

struct naive {
    struct arena arena;
    struct naive_node nodes[4096];
    uint32_t n;
};

static struct slice naive_name(struct naive *naive, const struct tables *t, uint32_t frame, uint32_t index,
                               enum symbol_granularity granularity)
{
    AUTO(buffer_done) struct buffer text;
    struct symbolname name = symbolname_get(t, frame, index, granularity);
    struct error err;
    struct slice copy;

    buffer_init(&text, 0);
    symbolname_print(t, &name, &text);
    copy = arena_copy(&naive->arena, buffer_slice(&text), &err);
    CHECK(copy.ptr != NULL);
    return copy;
}

static uint32_t naive_child(struct naive *naive, uint32_t parent, struct slice name)
{
    for (uint32_t i = 1; i < naive->n; i++)
        if (naive->nodes[i].parent == parent && slice_equal(naive->nodes[i].name, name))
            return i;
    CHECK(naive->n < ARRAY_LEN(naive->nodes));
    naive->nodes[naive->n] = (struct naive_node){ .parent = parent, .name = name };
    return naive->n++;
}

/* The path of a stack as names, root first (or leaf first if inverted). */
static uint32_t naive_walk(struct naive *naive, const struct tables *t, uint32_t stack,
                           const struct flame_options *options)
{
    uint32_t depth, node = 0;
    const uint32_t *frames = tables_stack(t, stack, &depth);
    struct slice last = { NULL, 0 };

    for (uint32_t i = 0; i < depth; i++) {
        uint32_t frame = frames[options->is_inverted ? i : depth - 1 - i];
        uint32_t n = symbolname_count(&t->frames[frame]);

        for (uint32_t j = 0; j < n; j++) {
            uint32_t index = options->is_inverted ? j : n - 1 - j;
            struct slice name = naive_name(naive, t, frame, index, options->granularity);

            if (options->collapses_recursion && last.ptr && slice_equal(name, last))
                continue;
            node = naive_child(naive, node, name);
            if (symbolname_is_inlined(&t->frames[frame], index))
                naive->nodes[node].was_inlined = true;
            else
                naive->nodes[node].was_plain = true;
            last = name;
        }
    }
    return node;
}

static struct naive *naive_new(const struct profile *p, const struct flame_options *options)
{
    static struct naive naive;

    naive.n = 1;
    naive.nodes[0] = (struct naive_node){ .name = SLICE("root") };
    arena_init(&naive.arena, 0);
    for (uint32_t i = 0; i < p->n_samples; i++) {
        int64_t values[2] = { profile_values(p, 0)[i], profile_values(p, 1)[i] };
        uint32_t node;

        if (values[0] == 0 && values[1] == 0)
            continue;
        node = naive_walk(&naive, p->tables, p->stacks[i], options);
        for (uint32_t type = 0; type < 2; type++)
            naive.nodes[node].self[type] += values[type];
        for (uint32_t at = node;; at = naive.nodes[at].parent) {
            for (uint32_t type = 0; type < 2; type++) {
                naive.nodes[at].total[type] += values[type];
                if (values[type] != 0)
                    naive.nodes[at].count[type] += p->counts ? (double)p->counts[i] : (double)values[0];
            }
            if (at == 0)
                break;
        }
    }
    return &naive;
}

/* --- checks --- */

static uint32_t naive_find(const struct naive *naive, const struct flame *flame, uint32_t node)
{
    uint32_t parent;

    if (node == 0)
        return 0;
    parent = naive_find(naive, flame, flame->parents[node]);
    for (uint32_t i = 1; i < naive->n; i++)
        if (naive->nodes[i].parent == parent && slice_equal(naive->nodes[i].name, flame_name(flame, node)))
            return i;
    test_fail(__FILE__, __LINE__, "node %u is not in the naive tree", node);
}

static void check_against(const struct naive *naive, const struct flame *flame)
{
    CHECK_EQ(flame->n_nodes, naive->n);
    for (uint32_t node = 0; node < flame->n_nodes; node++) {
        const struct naive_node *wanted = &naive->nodes[naive_find(naive, flame, node)];
        uint8_t flags = !wanted->was_inlined ? 0 : wanted->was_plain ? FLAME_IS_PARTLY_INLINED : FLAME_IS_INLINED;

        CHECK_EQ(flame->flags[node], flags);
        for (uint32_t type = 0; type < 2; type++) {
            CHECK_EQ(flame_self(flame, type, node), wanted->self[type]);
            CHECK_EQ(flame_total(flame, type, node), wanted->total[type]);
            CHECK_NEAR(flame_total_count(flame, type, node), wanted->count[type], 1e-6);
        }
    }
}

/* F1 and F2. */
static void check_shape(const struct flame *flame)
{
    CHECK_EQ(flame->symbols[0], FLAME_ROOT);
    CHECK_EQ(flame->parents[0], 0);
    CHECK_EQ(flame->ends[0], flame->n_nodes);
    CHECK_TEXT(flame_name(flame, 0), "root");
    for (uint32_t node = 0; node < flame->n_nodes; node++) {
        int64_t sums[2] = { flame_self(flame, 0, node), flame_self(flame, 1, node) };
        double counts[2] = { flame_self_count(flame, 0, node), flame_self_count(flame, 1, node) };
        uint32_t expected = node + 1, previous = 0;

        for (uint32_t child = flame_first_child(flame, node); child; child = flame_next_child(flame, child)) {
            CHECK_EQ(child, expected);
            CHECK_EQ(flame->parents[child], node);
            CHECK_EQ(flame->depths[child], flame->depths[node] + 1);
            CHECK_EQ(flame_find_child(flame, node, flame_name(flame, child)), child);
            if (previous) {
                int64_t before = llabs(flame_total(flame, 0, previous)), now = llabs(flame_total(flame, 0, child));

                CHECK(before > now ||
                      (before == now && slice_compare(flame_name(flame, previous), flame_name(flame, child)) < 0));
            }
            for (uint32_t type = 0; type < 2; type++) {
                sums[type] += flame_total(flame, type, child);
                counts[type] += flame_total_count(flame, type, child);
            }
            expected = flame->ends[child];
            previous = child;
        }
        CHECK_EQ(expected, flame->ends[node]);
        for (uint32_t type = 0; type < 2; type++) {
            CHECK_EQ(sums[type], flame_total(flame, type, node));
            if (flame->has_counts[type])
                CHECK_NEAR(counts[type], flame_total_count(flame, type, node), 1e-6);
        }
    }
}

static const uint32_t both_types[] = { 0, 1 };

TEST(flame_trees_equal_those_made_naively)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct random_options shape = random_shape(seed);
        struct flame_options options = { .granularity = seed % 5,
                                         .is_inverted = seed / 5 % 2,
                                         .collapses_recursion = seed / 10 % 2 };
        struct batch batch;
        struct flame *flame;
        struct naive *naive;
        struct error err;

        if (options.granularity == SYMBOL_ADDRESS)
            options.granularity = SYMBOL_LINE; /* names of addresses need not be unique */
        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, &options, &flame, &err), &err);
        naive = naive_new(&batch.profiles[0], &options);
        check_shape(flame);
        if (batch.profiles[0].n_samples > 0)
            check_against(naive, flame);
        for (uint32_t type = 0; type < 2; type++)
            CHECK_EQ(flame_total(flame, type, 0), profile_total(&batch.profiles[0], type));
        CHECK_EQ(report_total(&flame->report), 0);
        arena_done(&naive->arena);
        flame_free(flame);
        batch_done(&batch);
    }
}

TEST(flame_tree_of_an_empty_profile_is_its_root)
{
    struct batch batch;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct error err;

    batch_init(&batch, NULL);
    random_batch(&batch, &(struct random_options){ .n_functions = 1, .n_frames = 1, .n_stacks = 1, .n_samples = 0 });
    CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, NULL, &flame, &err), &err);
    CHECK_EQ(flame->n_nodes, 1);
    CHECK_EQ(flame_total(flame, 1, 0), 0);
    CHECK_NEAR(flame_total_count(flame, 1, 0), 0, 0);
    CHECK_EQ(flame_first_child(flame, 0), 0);
    batch_done(&batch);
}

TEST(flame_tree_keeps_samples_without_frames_at_the_root)
{
    const char *const stacks[] = { "", "ab" };
    const int64_t values[] = { 5, 7 };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 2);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_EQ(flame->n_nodes, 3);
    CHECK_EQ(flame_self(flame, 0, 0), 5);
    CHECK_EQ(flame_total(flame, 0, 0), 12);
    CHECK(flame_self_count(flame, 0, 0) < 0);
    batch_done(&batch);
}

TEST(flame_tree_orders_negative_values_by_size)
{
    const char *const stacks[] = { "a", "b", "c" };
    const int64_t values[] = { 5, -9, 7 };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 3);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_TEXT(flame_name(flame, 1), "b");
    CHECK_TEXT(flame_name(flame, 2), "c");
    CHECK_TEXT(flame_name(flame, 3), "a");
    CHECK_EQ(flame_total(flame, 0, 0), 3);
    CHECK_EQ(flame->magnitudes[0], 21);
    batch_done(&batch);
}

TEST(flame_tree_saturates_and_says_so)
{
    const char *const stacks[] = { "ab", "ac" };
    const int64_t values[] = { INT64_MAX, INT64_MAX };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 2);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_EQ(flame_total(flame, 0, 0), INT64_MAX);
    CHECK(report_count(&flame->report, "a sum went past 64 bits and stays at the edge") > 0);
    batch_done(&batch);
}

TEST(flame_tree_adds_up_what_its_limit_leaves_out)
{
    const char *const stacks[] = { "abc", "abd", "aef", "abc", "xyz", "a" };
    const int64_t values[] = { 1, 2, 4, 8, 16, 32 };
    const uint32_t type = 0;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;
    uint32_t overflow;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 6);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, &(struct flame_options){ .max_nodes = 5 }, &flame, &err), &err);
    CHECK_EQ(flame_total(flame, 0, 0), 63);
    overflow = flame_find_child(flame, 0, SLICE("[overflow]"));
    CHECK(overflow != 0);
    CHECK_EQ(flame_total(flame, 0, overflow), 4 + 16);
    CHECK_EQ(flame->n_nodes, 6);
    CHECK_EQ(report_total(&flame->report), 2);
    CHECK_HAS(flame->report.entries[0].kind, "limit of nodes");
    batch_done(&batch);
}

TEST(flame_tree_of_a_very_deep_stack_is_a_chain)
{
    char deep[1001];
    const char *const stacks[] = { deep };
    const int64_t value = 3;
    const uint32_t type = 0;
    struct batch batch;
    struct error err;

    memset(deep, 'r', 1000);
    deep[1000] = '\0';
    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, &value, 1);
    for (int collapses = 0; collapses < 2; collapses++) {
        struct flame_options options = { .collapses_recursion = collapses };
        struct flame *flame;

        CHECK_OK(flame_new(&batch.profiles[0], &type, 1, &options, &flame, &err), &err);
        CHECK_EQ(flame->n_nodes, collapses ? 2 : 1001);
        CHECK_EQ(flame_total(flame, 0, flame->n_nodes - 1), 3);
        flame_free(flame);
    }
    batch_done(&batch);
}

TEST(flame_tree_holds_two_sides)
{
    const char *const before[] = { "ab", "ac" }, *const after[] = { "ab", "ad" };
    const int64_t values_before[] = { 1, 2 }, values_after[] = { 10, 20 };
    const uint32_t type = 0;
    struct flame_options options = { .is_ordered_by_all = true };
    AUTO(flame_builder_freep) struct flame_builder *builder = NULL;
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch a, b;
    struct error err;

    batch_init(&a, NULL);
    batch_init(&b, NULL);
    letter_batch(&a, before, values_before, 2);
    letter_batch(&b, after, values_after, 2);
    CHECK_OK(flame_builder_new(&options, 2, &builder, &err), &err);
    CHECK_OK(flame_builder_add(builder, &a.profiles[0], &type, 1, 0, &err), &err);
    CHECK_OK(flame_builder_add(builder, &b.profiles[0], &type, 1, 1, &err), &err);
    batch_done(&a);
    batch_done(&b);
    CHECK_OK(flame_builder_finish(builder, &flame, &err), &err);
    CHECK_EQ(flame->n_nodes, 5);
    CHECK_EQ(flame_total(flame, 0, 0), 3);
    CHECK_EQ(flame_total(flame, 1, 0), 30);
    CHECK_TEXT(flame_name(flame, 2), "d");
    CHECK_TEXT(flame_name(flame, 3), "b");
    CHECK_TEXT(flame_name(flame, 4), "c");
    CHECK_EQ(flame_total(flame, 0, 2), 0);
    CHECK_EQ(flame_total(flame, 1, 3), 10);
}

static int build(void *context, struct error *err)
{
    struct flame_options options = { .max_nodes = 200 };
    struct flame *flame;

    if (flame_new(context, both_types, 2, &options, &flame, err) < 0)
        return -1;
    flame_free(flame);
    return 0;
}

TEST(flame_tree_survives_any_failing_allocation)
{
    struct batch batch;

    batch_init(&batch, NULL);
    random_batch(&batch, &(struct random_options){
                             .n_functions = 9, .n_frames = 30, .n_stacks = 50, .max_depth = 9, .n_samples = 90 });
    test_each_allocation_failing(build, &batch.profiles[0]);
    batch_done(&batch);
}

TEST(flame_tree_agrees_with_transformed_profiles)
{
    const uint32_t types[] = { 0, 1 };

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct random_options shape = random_shape(seed);
        struct flame_options collapses = { .granularity = SYMBOL_FUNCTION, .collapses_recursion = true };
        struct flame_options inverts = { .granularity = SYMBOL_FUNCTION, .is_inverted = true };
        struct batch in, collapsed, inverted;
        struct flame *flames[4];
        struct error err;

        batch_init(&in, NULL);
        batch_init(&collapsed, NULL);
        batch_init(&inverted, NULL);
        random_batch(&in, &shape);
        CHECK_OK(transform_collapse_recursion(&in, &collapsed, &err), &err);
        CHECK_OK(transform_invert(&in, &inverted, &err), &err);
        CHECK_OK(flame_new(&in.profiles[0], types, 2, &collapses, &flames[0], &err), &err);
        CHECK_OK(flame_new(&collapsed.profiles[0], types, 2, &collapses, &flames[1], &err), &err);
        CHECK_OK(flame_new(&in.profiles[0], types, 2, &inverts, &flames[2], &err), &err);
        CHECK_OK(flame_new(&inverted.profiles[0], types, 2, NULL, &flames[3], &err), &err);
        for (int pair = 0; pair < 4; pair += 2) {
            const struct flame *x = flames[pair], *y = flames[pair + 1];

            CHECK_EQ(x->n_nodes, y->n_nodes);
            for (uint32_t node = 0; node < x->n_nodes; node++) {
                CHECK_TEXT(flame_name(x, node), flame_name(y, node));
                CHECK_EQ(x->depths[node], y->depths[node]);
                CHECK_EQ(flame_self(x, 1, node), flame_self(y, 1, node));
            }
        }
        for (size_t i = 0; i < ARRAY_LEN(flames); i++)
            flame_free(flames[i]);
        batch_done(&in);
        batch_done(&collapsed);
        batch_done(&inverted);
    }
}

TEST(flame_find_path_follows_names_from_the_root)
{
    const char *const stacks[] = { "abc", "abd", "x" };
    const int64_t values[] = { 1, 2, 4 };
    const uint32_t type = 0;
    struct slice path[] = { SLICE("a"), SLICE("b"), SLICE("d"), SLICE("e") };
    AUTO(flame_freep) struct flame *flame = NULL;
    struct batch batch;
    struct error err;
    uint32_t node;

    batch_init(&batch, NULL);
    letter_batch(&batch, stacks, values, 3);
    CHECK_OK(flame_new(&batch.profiles[0], &type, 1, NULL, &flame, &err), &err);
    CHECK_OK(flame_find_path(flame, path, 0, &node, &err), &err);
    CHECK_EQ(node, 0);
    CHECK_OK(flame_find_path(flame, path, 3, &node, &err), &err);
    CHECK_EQ(flame_total(flame, 0, node), 2);
    CHECK_ERROR(flame_find_path(flame, path, 4, &node, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "the path ends after 3 calls: 'd' does not call 'e' there");
    CHECK_ERROR(flame_find_path(flame, path + 1, 1, &node, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no stack begins with 'b'");
    batch_done(&batch);
}
