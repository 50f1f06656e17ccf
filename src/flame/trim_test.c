// SPDX-License-Identifier: Apache-2.0
#include "flame/trim.h"

#include "profile/random_profile_test.h"

#include <stdlib.h>

static const uint32_t both_types[] = { 0, 1 };

static void check_sums(const struct flame *flame)
{
    CHECK_EQ(flame->ends[0], flame->n_nodes);
    for (uint32_t node = 0; node < flame->n_nodes; node++) {
        uint32_t n_others = 0;

        for (uint32_t column = 0; column < flame->n_columns; column++) {
            int64_t sum = flame_self(flame, column, node);

            for (uint32_t child = flame_first_child(flame, node); child; child = flame_next_child(flame, child)) {
                CHECK_EQ(flame->parents[child], node);
                CHECK_EQ(flame->depths[child], flame->depths[node] + 1);
                sum += flame_total(flame, column, child);
                if (column == 0 && flame->flags[child] & FLAME_IS_OTHER) {
                    n_others++;
                    CHECK_EQ(flame->ends[child], flame->ends[node]); /* the last one */
                    CHECK_TEXT(flame_name(flame, child), "other");
                    CHECK(flame_symbol(flame, child) == NULL);
                }
            }
            CHECK_EQ(sum, flame_total(flame, column, node));
        }
        CHECK(n_others <= 1);
    }
}

/* The node of `flame` that `node` of its trimmed copy is. */
static uint32_t original(const struct flame *flame, const struct flame *trimmed, uint32_t node)
{
    uint32_t parent, child;

    if (node == 0)
        return 0;
    parent = original(flame, trimmed, trimmed->parents[node]);
    for (child = flame_first_child(flame, parent); child; child = flame_next_child(flame, child))
        if (flame->symbols[child] == trimmed->symbols[node])
            return child;
    test_fail(__FILE__, __LINE__, "node %u has no original", node);
}

/* Every kept node is there with its old values, and none that was cut is heavier than one that was kept. */
static void check_kept(const struct flame *flame, const struct flame *trimmed, uint32_t n_kept)
{
    int64_t lightest_kept = INT64_MAX, heaviest_cut = 0;
    bool *is_kept = calloc(flame->n_nodes, sizeof(*is_kept));
    uint32_t n = 0;

    for (uint32_t node = 0; node < trimmed->n_nodes; node++) {
        uint32_t was;

        if (trimmed->flags[node] & FLAME_IS_OTHER)
            continue;
        was = original(flame, trimmed, node);
        is_kept[was] = true;
        n++;
        CHECK_EQ(flame_total(trimmed, 0, node), flame_total(flame, 0, was));
        CHECK_EQ(flame_self(trimmed, 1, node), flame_self(flame, 1, was));
        CHECK_EQ(trimmed->flags[node], flame->flags[was]);
        lightest_kept = MIN(lightest_kept, flame_total(flame, 0, was));
    }
    for (uint32_t node = 0; node < flame->n_nodes; node++)
        if (!is_kept[node])
            heaviest_cut = MAX(heaviest_cut, flame_total(flame, 0, node));
    CHECK_EQ(n, MIN(n_kept, flame->n_nodes));
    CHECK(lightest_kept >= heaviest_cut);
    free(is_kept);
}

TEST(trim_keeps_the_heaviest_nodes_and_every_total)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch batch;
        struct flame *flame;
        struct error err;

        shape.has_negatives = false;
        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, NULL, &flame, &err), &err);
        for (uint32_t max = 1; max < 80; max = max * 2 + 1) {
            struct flame *trimmed, *again;

            CHECK_OK(trim_flame(flame, &(struct trim_options){ .max_nodes = max }, &trimmed, &err), &err);
            check_sums(trimmed);
            check_kept(flame, trimmed, max);
            CHECK(trimmed->n_nodes <= 2 * max);
            CHECK_EQ(flame_total(trimmed, 1, 0), flame_total(flame, 1, 0));
            CHECK_NEAR(flame_total_count(trimmed, 0, 0), flame_total_count(flame, 0, 0), 1e-6);
            /* Trimming what is trimmed joins the others. */
            CHECK_OK(trim_flame(trimmed, &(struct trim_options){ .max_nodes = max / 2 + 1 }, &again, &err), &err);
            check_sums(again);
            check_kept(flame, again, MIN(max, max / 2 + 1));
            flame_free(again);
            flame_free(trimmed);
        }
        flame_free(flame);
        batch_done(&batch);
    }
}

TEST(trim_keeps_negative_trees_connected)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct random_options shape = random_shape(seed);
        struct batch batch;
        struct flame *flame, *trimmed;
        struct error err;

        shape.has_negatives = true;
        batch_init(&batch, NULL);
        random_batch(&batch, &shape);
        CHECK_OK(flame_new(&batch.profiles[0], both_types, 2, NULL, &flame, &err), &err);
        CHECK_OK(
            trim_flame(flame, &(struct trim_options){ .max_nodes = 9, .column = TRIM_ALL_COLUMNS }, &trimmed, &err),
            &err);
        check_sums(trimmed);
        CHECK_EQ(flame_total(trimmed, 1, 0), flame_total(flame, 1, 0));
        flame_free(trimmed);
        flame_free(flame);
        batch_done(&batch);
    }
}

struct example {
    struct batch batch;
    struct flame *flame;
};

static void example_init(struct example *example)
{
    static const char *const stacks[] = { "abc", "abd", "ae", "f", "g" };
    static const int64_t values[] = { 500, 300, 150, 40, 10 };
    const uint32_t type = 0;
    struct error err;

    batch_init(&example->batch, NULL);
    letter_batch(&example->batch, stacks, values, 5);
    CHECK_OK(flame_new(&example->batch.profiles[0], &type, 1, NULL, &example->flame, &err), &err);
}

static void example_done(struct example *example)
{
    flame_free(example->flame);
    batch_done(&example->batch);
}

/* The tree as text: name=total, children in parentheses. */
static void print_tree(const struct flame *flame, uint32_t node, struct buffer *out)
{
    buffer_append_slice(out, flame_name(flame, node));
    buffer_printf(out, "=%lld", (long long)flame_total(flame, 0, node));
    if (!flame_first_child(flame, node))
        return;
    buffer_append_byte(out, '(');
    for (uint32_t child = flame_first_child(flame, node); child; child = flame_next_child(flame, child)) {
        if (child > node + 1)
            buffer_append_byte(out, ' ');
        print_tree(flame, child, out);
    }
    buffer_append_byte(out, ')');
}

static void check_trimmed(const struct flame *flame, const struct trim_options *options, const char *wanted)
{
    AUTO(buffer_done) struct buffer text;
    AUTO(flame_freep) struct flame *trimmed = NULL;
    struct error err;

    buffer_init(&text, 0);
    CHECK_OK(trim_flame(flame, options, &trimmed, &err), &err);
    print_tree(trimmed, 0, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
}

TEST(trim_shows_one_other_per_parent)
{
    struct example e;

    example_init(&e);
    check_trimmed(e.flame, &(struct trim_options){ 0 }, "root=1000(a=950(b=800(c=500 d=300) e=150) f=40 g=10)");
    check_trimmed(e.flame, &(struct trim_options){ .max_nodes = 4 },
                  "root=1000(a=950(b=800(c=500 other=300) other=150) other=50)");
    check_trimmed(e.flame, &(struct trim_options){ .max_nodes = 1 }, "root=1000(other=1000)");
    check_trimmed(e.flame, &(struct trim_options){ .min_share = 0.2 },
                  "root=1000(a=950(b=800(c=500 d=300) other=150) other=50)");
    check_trimmed(e.flame, &(struct trim_options){ .min_share = 0.15, .max_nodes = 3 },
                  "root=1000(a=950(b=800(other=800) other=150) other=50)");
    example_done(&e);
}

TEST(trim_opens_a_part_of_the_tree)
{
    struct example e;
    uint32_t a, b;

    example_init(&e);
    a = flame_find_child(e.flame, 0, SLICE("a"));
    b = flame_find_child(e.flame, a, SLICE("b"));
    check_trimmed(e.flame, &(struct trim_options){ .root = a, .max_nodes = 2 }, "a=950(b=800(other=800) other=150)");
    check_trimmed(e.flame, &(struct trim_options){ .root = b }, "b=800(c=500 d=300)");
    example_done(&e);
}

static int trim(void *context, struct error *err)
{
    struct flame *trimmed;

    if (trim_flame(context, &(struct trim_options){ .max_nodes = 3 }, &trimmed, err) < 0)
        return -1;
    flame_free(trimmed);
    return 0;
}

TEST(trim_survives_any_failing_allocation)
{
    struct example e;

    example_init(&e);
    test_each_allocation_failing(trim, e.flame);
    example_done(&e);
}
