// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/hash.h"
#include "base/test.h"

TEST(map_finds_what_was_set_and_nothing_else)
{
    AUTO(map_done) struct map map;
    struct error err;

    map_init(&map, 0);
    CHECK(!map_find(&map, 0));
    for (uint64_t i = 0; i < 50000; i++)
        CHECK_OK(map_set(&map, i * i, (uint32_t)i, &err), &err);
    CHECK_EQ(map.n, 50000);
    for (uint64_t i = 0; i < 50000; i++) {
        uint32_t *value = map_find(&map, i * i);

        CHECK(value);
        CHECK_EQ(*value, i);
    }
    CHECK(!map_find(&map, 3) && !map_find(&map, UINT64_MAX));
}

TEST(map_allows_every_key_and_value)
{
    AUTO(map_done) struct map map;
    struct error err;

    map_init(&map, 0);
    CHECK_OK(map_set(&map, 0, 0, &err), &err);
    CHECK_OK(map_set(&map, UINT64_MAX, UINT32_MAX, &err), &err);
    CHECK(map_find(&map, 0) && *map_find(&map, 0) == 0);
    CHECK(map_find(&map, UINT64_MAX) && *map_find(&map, UINT64_MAX) == UINT32_MAX);
}

TEST(map_set_replaces_and_map_add_keeps)
{
    AUTO(map_done) struct map map;
    struct error err;
    uint32_t value;

    map_init(&map, 0);
    CHECK_OK(map_add(&map, 5, 1, &value, &err), &err);
    CHECK_EQ(value, 1);
    CHECK_OK(map_add(&map, 5, 2, &value, &err), &err);
    CHECK_EQ(value, 1);
    CHECK_OK(map_set(&map, 5, 3, &err), &err);
    CHECK_EQ(*map_find(&map, 5), 3);
    CHECK_EQ(map.n, 1);
}

TEST(map_says_when_its_maximum_is_reached)
{
    AUTO(map_done) struct map map;
    struct error err;
    uint32_t value = 77;

    map_init(&map, 2);
    CHECK_OK(map_set(&map, 1, 1, &err), &err);
    CHECK_OK(map_set(&map, 2, 2, &err), &err);
    CHECK_OK(map_set(&map, 1, 3, &err), &err);
    CHECK_ERROR(map_add(&map, 3, 3, &value, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 2 distinct keys");
    CHECK_EQ(value, 77);
    CHECK(!map_find(&map, 3));
}

TEST(map_clear_forgets_all_and_the_map_can_be_used_again)
{
    AUTO(map_done) struct map map;
    struct error err;

    map_init(&map, 0);
    map_clear(&map);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_OK(map_set(&map, i, 1, &err), &err);
    map_clear(&map);
    CHECK_EQ(map.n, 0);
    for (uint64_t i = 0; i < 100; i++)
        CHECK(!map_find(&map, i));
    CHECK_OK(map_set(&map, 7, 8, &err), &err);
    CHECK_EQ(*map_find(&map, 7), 8);
}

TEST(map_keeps_keys_apart_that_fall_on_the_same_slot)
{
    AUTO(map_done) struct map map;
    struct error err;
    uint64_t keys[8], n = 0;

    map_init(&map, 0);
    for (uint64_t key = 0; n < ARRAY_LEN(keys); key++)
        if ((hash_mix64(key) & 15) == 15) /* the last of the first 16 slots, so that probing wraps around */
            keys[n++] = key;
    for (uint32_t i = 0; i < n; i++)
        CHECK_OK(map_set(&map, keys[i], i, &err), &err);
    for (uint32_t i = 0; i < n; i++)
        CHECK_EQ(*map_find(&map, keys[i]), i);
}

static int set_many(void *context, struct error *err)
{
    AUTO(map_done) struct map map;
    int result = 0;

    map_init(&map, 0);
    for (uint32_t i = 0; i < 1000 && result == 0; i++)
        result = map_set(&map, i, i, err);
    for (uint32_t i = 0; i < map.n; i++)
        CHECK_EQ(*map_find(&map, i), i);
    return result;
}

TEST(map_survives_any_failing_allocation)
{
    test_each_allocation_failing(set_many, NULL);
}
