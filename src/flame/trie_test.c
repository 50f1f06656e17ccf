// SPDX-License-Identifier: Apache-2.0
#include "flame/trie.h"

#include "base/hash.h"
#include "base/test.h"

TEST(trie_finds_children_again_and_numbers_them_behind_their_parents)
{
    struct trie trie;
    struct error err;
    uint32_t a, b, again, other;

    CHECK_OK(trie_init(&trie, 0, &err), &err);
    CHECK_EQ(trie.n, 1);
    CHECK_EQ(trie_find(&trie, TRIE_ROOT, 7), TRIE_NONE);
    CHECK_OK(trie_add(&trie, TRIE_ROOT, 7, &a, &err), &err);
    CHECK_OK(trie_add(&trie, a, 7, &b, &err), &err);
    CHECK_OK(trie_add(&trie, TRIE_ROOT, 0, &other, &err), &err);
    CHECK_OK(trie_add(&trie, TRIE_ROOT, 7, &again, &err), &err);
    CHECK_EQ(again, a);
    CHECK(a > TRIE_ROOT && b > a && other > b);
    CHECK_EQ(trie.n, 4);
    CHECK_EQ(trie_find(&trie, a, 7), b);
    CHECK_EQ(trie_find(&trie, b, 7), TRIE_NONE);
    CHECK_EQ(trie_find(&trie, TRIE_ROOT, 0), other);
    CHECK_EQ(trie.nodes[b].parent, a);
    trie_done(&trie);
}

/* A tree of `n` nodes whose shape only depends on the numbers. */
static int grow_to(struct trie *trie, uint32_t n, struct error *err)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = (uint32_t)(hash_mix64(i) % i), node;

        if (trie_add(trie, parent, i, &node, err) < 0)
            return -1;
    }
    return 0;
}

TEST(trie_holds_a_million_nodes_in_32_megabytes)
{
    struct trie trie;
    struct error err;

    CHECK_OK(trie_init(&trie, 0, &err), &err);
    CHECK_OK(grow_to(&trie, 1u << 20, &err), &err);
    CHECK_EQ(trie.n, 1u << 20);
    CHECK(trie_bytes(&trie) <= (size_t)32 << 20);
    CHECK_OK(grow_to(&trie, (1u << 20) + 1, &err), &err); /* the worst moment: just grown */
    CHECK(trie_bytes(&trie) <= (size_t)32 << 20);
    for (uint32_t i = 1; i < trie.n; i++) {
        CHECK(trie.nodes[i].parent < i);
        CHECK_EQ(trie_find(&trie, trie.nodes[i].parent, trie.nodes[i].key), i);
    }
    trie_done(&trie);
}

TEST(trie_stops_at_its_maximum)
{
    struct trie trie;
    struct error err;
    uint32_t node = 99;

    CHECK_OK(trie_init(&trie, 100, &err), &err);
    CHECK_OK(grow_to(&trie, 100, &err), &err);
    CHECK_ERROR(trie_add(&trie, TRIE_ROOT, 12345, &node, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 100 nodes");
    CHECK_EQ(node, 99);
    CHECK_EQ(trie.n, 100);
    CHECK_OK(trie_add(&trie, trie.nodes[50].parent, trie.nodes[50].key, &node, &err), &err);
    CHECK_EQ(node, 50);
    trie_done(&trie);
}

static int build(void *context, struct error *err)
{
    struct trie trie;
    int result;

    if (trie_init(&trie, 0, err) < 0)
        return -1;
    result = grow_to(&trie, 5000, err);
    trie_done(&trie);
    return result;
}

TEST(trie_survives_any_failing_allocation)
{
    test_each_allocation_failing(build, NULL);
}
