// SPDX-License-Identifier: Apache-2.0
#include "store/recents.h"

#include "base/test.h"

static void add(struct recents *recents, uint32_t head, uint32_t group, int64_t start_ns, uint32_t sequence)
{
    recents_add(
        recents,
        &(struct recents_row){
            .head = head, .tenant = 1, .group = group, .series = group, .start_ns = start_ns, .sequence = sequence });
}

static struct recents_list find(struct recents *recents, uint32_t head, int64_t from_ns, struct arena *arena)
{
    struct recents_list list;
    struct error err;

    CHECK_OK(recents_find(recents, head, 1, from_ns, arena, &list, &err), &err);
    recents_sort(&list);
    return list;
}

TEST(recents_gives_the_rows_of_a_head_in_order_and_once)
{
    AUTO(arena_done) struct arena arena;
    struct recents recents;
    struct recents_list list;
    struct error err;

    arena_init(&arena, 0);
    recents_init(&recents, 1 << 20);
    add(&recents, 0, 2, 50, 4);
    add(&recents, 0, 1, 60, 3);
    add(&recents, 1, 1, 60, 5);
    add(&recents, 0, 1, 60, 2);
    add(&recents, 0, 1, 60, 3);
    add(&recents, 0, 1, 40, 9);
    list = find(&recents, 0, 50, &arena);
    CHECK_EQ(list.n, 3);
    CHECK_EQ(list.rows[0].sequence, 2);
    CHECK_EQ(list.rows[1].sequence, 3);
    CHECK_EQ(list.rows[2].sequence, 4);
    CHECK_EQ(find(&recents, 1, 0, &arena).n, 1);
    CHECK_EQ(find(&recents, 2, 0, &arena).n, 0);
    CHECK_OK(recents_find(&recents, 0, 2, 0, &arena, &list, &err), &err);
    CHECK_EQ(list.n, 0);
    recents_done(&recents);
}

TEST(recents_says_from_when_on_it_has_all)
{
    AUTO(arena_done) struct arena arena;
    struct recents recents;

    arena_init(&arena, 0);
    recents_init(&recents, 3 * sizeof(struct recents_row));
    for (uint32_t i = 0; i < 3; i++)
        add(&recents, 0, 1, 10 + i, i);
    CHECK_EQ(recents.from_ns, INT64_MIN);
    recents_forget(&recents, 11);
    CHECK_EQ(recents.from_ns, 11);
    CHECK_EQ(find(&recents, 0, 0, &arena).n, 2);
    recents_forget(&recents, 5);
    CHECK_EQ(recents.from_ns, 11);
    /* There is room for one more; the next one is missing from now on, and what starts with it or before. */
    add(&recents, 0, 1, 30, 7);
    add(&recents, 0, 1, 20, 8);
    CHECK_EQ(recents.from_ns, 21);
    CHECK_EQ(find(&recents, 0, 21, &arena).n, 1);
    recents_forget(&recents, 0);
    add(&recents, 0, 1, 15, 9);
    CHECK_EQ(recents.rows.n, 1);
    recents_done(&recents);
}

static int fill(void *context, struct error *err)
{
    struct recents recents;
    struct recents_list list;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    recents_init(&recents, 1 << 20);
    for (uint32_t i = 0; i < 100; i++)
        add(&recents, 0, 1, i, i);
    /* Whatever failed, it knows what it has. */
    result = recents_find(&recents, 0, 1, recents.from_ns, &arena, &list, err);
    if (!result)
        CHECK_EQ(list.n, recents.from_ns == INT64_MIN ? 100 : 100 - (size_t)recents.from_ns);
    if (!result && recents.from_ns != INT64_MIN)
        result = error_set(err, ERR_MEMORY, "some are missing");
    recents_done(&recents);
    arena_done(&arena);
    return result;
}

TEST(recents_survives_any_allocation_failing)
{
    test_each_allocation_failing(fill, NULL);
}
