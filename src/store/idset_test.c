// SPDX-License-Identifier: Apache-2.0
#include "store/idset.h"

#include "base/hash.h"
#include "base/test.h"

static int add_all(struct idset *set, const uint32_t *ids, size_t n, struct error *err)
{
    for (size_t i = 0; i < n; i++)
        if (idset_add(set, ids[i], err) < 0)
            return -1;
    return 0;
}

TEST(idset_gives_ids_in_order_and_each_its_place)
{
    static const uint32_t added[] = { 7, UINT32_MAX, 64, 1, 0, 63, 7, 4096, 4095, 1u << 31, 65 };
    static const uint32_t sorted[] = { 1, 7, 63, 64, 65, 4095, 4096, 1u << 31, UINT32_MAX };
    AUTO(arena_done) struct arena arena;
    struct idset set;
    uint32_t *ids;
    struct error err;

    arena_init(&arena, 0);
    idset_init(&set, &arena);
    CHECK_OK(add_all(&set, added, ARRAY_LEN(added), &err), &err);
    CHECK_OK(idset_freeze(&set, &ids, &err), &err);
    CHECK_EQ(set.n, ARRAY_LEN(sorted));
    CHECK_EQ(idset_place(&set, 0), 0);
    for (uint32_t i = 0; i < set.n; i++) {
        CHECK_EQ(ids[i], sorted[i]);
        CHECK_EQ(idset_place(&set, sorted[i]), i + 1);
    }
}

TEST(idset_may_be_empty)
{
    AUTO(arena_done) struct arena arena;
    struct idset set;
    uint32_t *ids;
    struct error err;

    arena_init(&arena, 0);
    idset_init(&set, &arena);
    CHECK_OK(idset_add(&set, 0, &err), &err);
    CHECK_OK(idset_freeze(&set, &ids, &err), &err);
    CHECK_EQ(set.n, 0);
    CHECK_EQ(idset_place(&set, 0), 0);
}

TEST(idset_holds_ids_that_lie_far_apart)
{
    AUTO(arena_done) struct arena arena;
    struct idset set;
    uint32_t *ids;
    struct error err;

    arena_init(&arena, 0);
    idset_init(&set, &arena);
    for (uint32_t i = 1; i <= 1000; i++)
        CHECK_OK(idset_add(&set, i * 4000000u, &err), &err);
    CHECK_OK(idset_freeze(&set, &ids, &err), &err);
    CHECK_EQ(set.n, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(i == 0 || ids[i] > ids[i - 1]);
        CHECK_EQ(idset_place(&set, ids[i]), i + 1);
    }
}

static int fill(void *context, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct idset set;
    uint32_t *ids;

    arena_init(&arena, 0);
    idset_init(&set, &arena);
    for (uint32_t i = 1; i <= 40; i++)
        if (idset_add(&set, i * 100000, err) < 0)
            return -1;
    return idset_freeze(&set, &ids, err);
}

TEST(idset_survives_each_failing_allocation)
{
    test_each_allocation_failing(fill, NULL);
}

TEST(idset_stops_at_the_limit_of_its_arena)
{
    AUTO(arena_done) struct arena arena;
    struct idset set;
    struct error err = { .code = ERR_OK };
    uint32_t i;

    arena_init(&arena, 10000);
    idset_init(&set, &arena);
    for (i = 1; i <= 100 && idset_add(&set, i * 100000, &err) == 0; i++)
        continue;
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK(i > 2 && i < 20);
}
