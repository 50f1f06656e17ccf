// SPDX-License-Identifier: Apache-2.0
#include "tree/idmap.h"

#include "base/hash.h"
#include "base/test.h"

TEST(idmap_finds_what_was_added_in_any_order_and_nothing_else)
{
    enum { IDS = 3000 };
    struct idmap map = { 0 };
    bool has[IDS] = { false };
    struct error err;
    uint32_t ids[IDS], values[IDS];
    uint64_t random = 1;

    for (uint32_t i = 0; i < IDS; i++)
        ids[i] = i;
    for (int round = 0; round < 40; round++) {
        uint32_t from = (uint32_t)(hash_mix64(random++) % IDS), n = (uint32_t)(hash_mix64(random++) % 200);

        for (uint32_t i = from; i < MIN(from + n, (uint32_t)IDS); i++)
            if (hash_mix64(random++) % 3) {
                CHECK_OK(idmap_add(&map, i, i * 7, &err), &err);
                has[i] = true;
            }
        CHECK_OK(idmap_settle(&map, &err), &err);
        idmap_find(&map, ids, IDS, values);
        for (uint32_t i = 0; i < IDS; i++)
            CHECK_EQ(values[i], has[i] ? i * 7 : IDMAP_NONE);
    }
    /* Few of many, and one several times. */
    for (uint32_t i = 0; i < IDS; i++)
        ids[i] = i / 100 * 100;
    idmap_find(&map, ids, IDS, values);
    for (uint32_t i = 0; i < IDS; i++)
        CHECK_EQ(values[i], has[ids[i]] ? ids[i] * 7 : IDMAP_NONE);
    CHECK(idmap_bytes(&map) >= map.sorted.n * sizeof(struct idmap_entry));
    idmap_done(&map);
}

TEST(idmap_knows_the_lowest_and_the_highest_id)
{
    struct idmap map = { 0 };
    struct error err;
    uint32_t ids[] = { 0, 1, UINT32_MAX - 1, UINT32_MAX }, values[4];

    idmap_find(&map, ids, 4, values);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(values[i], IDMAP_NONE);
    CHECK_OK(idmap_add(&map, UINT32_MAX, 5, &err), &err);
    CHECK_OK(idmap_add(&map, 0, 4, &err), &err);
    idmap_find(&map, ids, 4, values);
    CHECK_EQ(values[0], IDMAP_NONE); /* not settled */
    CHECK_EQ(values[3], 5);
    CHECK_OK(idmap_settle(&map, &err), &err);
    idmap_find(&map, ids, 4, values);
    CHECK_EQ(values[0], 4);
    CHECK_EQ(values[1], IDMAP_NONE);
    CHECK_EQ(values[2], IDMAP_NONE);
    CHECK_EQ(values[3], 5);
    idmap_done(&map);
}

TEST(idmap_forgets_a_value_and_takes_a_new_one)
{
    struct idmap map = { 0 };
    struct error err;
    uint32_t ids[] = { 3, 5, 7 }, values[3];

    CHECK_OK(idmap_add(&map, 7, 70, &err), &err);
    CHECK_OK(idmap_add(&map, 3, 30, &err), &err);
    CHECK_OK(idmap_add(&map, 5, 50, &err), &err);
    idmap_forget(&map, 7);
    idmap_forget(&map, 5);
    idmap_forget(&map, 4);
    CHECK_OK(idmap_settle(&map, &err), &err);
    idmap_find(&map, ids, 3, values);
    CHECK_EQ(values[0], 30);
    CHECK_EQ(values[1], IDMAP_NONE);
    CHECK_EQ(values[2], IDMAP_NONE);
    CHECK_OK(idmap_add(&map, 7, 71, &err), &err);
    CHECK_OK(idmap_add(&map, 5, 51, &err), &err);
    CHECK_OK(idmap_settle(&map, &err), &err);
    idmap_find(&map, ids, 3, values);
    CHECK_EQ(values[0], 30);
    CHECK_EQ(values[1], 51);
    CHECK_EQ(values[2], 71);
    CHECK_EQ(map.sorted.n, 3);
    idmap_done(&map);
}

static int fill(UNUSED void *context, struct error *err)
{
    struct idmap map = { 0 };
    int result = 0;

    for (uint32_t i = 0; !result && i < 200; i++)
        result = idmap_add(&map, i * 37 % 200, i, err);
    if (!result)
        result = idmap_settle(&map, err);
    CHECK(result < 0 || map.sorted.n == 200);
    idmap_done(&map);
    return result;
}

TEST(idmap_frees_everything_when_memory_fails)
{
    test_each_allocation_failing(fill, NULL);
}
