// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include "base/memory.h"
#include "base/test.h"

static struct hash128 hash_of_number(uint64_t number)
{
    return hash_bytes(slice_of(&number, sizeof(number)), 7);
}

TEST(hash_set_gives_dense_ids_in_order_of_arrival)
{
    struct hash_set set;
    struct error err;

    hash_set_init(&set, 0);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 100000; i++) {
            uint32_t id;
            bool is_new;

            CHECK_OK(hash_set_add(&set, hash_of_number(i), &id, &is_new, &err), &err);
            CHECK_EQ(id, i);
            CHECK_EQ(is_new, round == 0);
        }
    }
    CHECK_EQ(hash_set_find(&set, hash_of_number(100000)), HASH_NONE);
    CHECK_EQ(set.n, 100000);
    hash_set_done(&set);
}

TEST(hash_set_pop_takes_back_exactly_the_newest)
{
    struct hash_set set;
    struct error err;

    hash_set_init(&set, 0);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t id;
        bool is_new;

        CHECK_OK(hash_set_add(&set, hash_of_number(i), &id, &is_new, &err), &err);
    }
    for (uint32_t left = 5000; left > 0; left--) {
        hash_set_pop(&set);
        CHECK_EQ(hash_set_find(&set, hash_of_number(left - 1)), HASH_NONE);
        if (left > 1)
            CHECK_EQ(hash_set_find(&set, hash_of_number(left / 2 - (left == 2))), left / 2 - (left == 2));
    }
    hash_set_done(&set);
}

TEST(hash_set_says_when_its_maximum_is_reached)
{
    struct hash_set set;
    struct error err;
    uint32_t id;
    bool is_new;

    hash_set_init(&set, 2);
    CHECK_OK(hash_set_add(&set, hash_of_number(1), &id, &is_new, &err), &err);
    CHECK_OK(hash_set_add(&set, hash_of_number(2), &id, &is_new, &err), &err);
    CHECK_OK(hash_set_add(&set, hash_of_number(1), &id, &is_new, &err), &err);
    CHECK_ERROR(hash_set_add(&set, hash_of_number(3), &id, &is_new, &err), &err, ERR_LIMIT);
    hash_set_done(&set);
}

TEST(hash_set_that_is_full_leaves_the_outputs_alone)
{
    struct hash_set set;
    struct error err;
    uint32_t id = 4711;
    bool is_new = true;

    hash_set_init(&set, 1);
    CHECK_OK(hash_set_add(&set, hash_of_number(1), &id, &is_new, &err), &err);
    id = 4711;
    CHECK_ERROR(hash_set_add(&set, hash_of_number(2), &id, &is_new, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 1 distinct entries");
    CHECK_EQ(id, 4711);
    CHECK(is_new);
    hash_set_done(&set);
}

TEST(hash_set_clear_forgets_all_and_ids_begin_anew)
{
    struct hash_set set;
    struct error err;
    uint32_t id;
    bool is_new;

    hash_set_init(&set, 0);
    hash_set_clear(&set);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_OK(hash_set_add(&set, hash_of_number(i), &id, &is_new, &err), &err);
    hash_set_clear(&set);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_EQ(hash_set_find(&set, hash_of_number(i)), HASH_NONE);
    CHECK_OK(hash_set_add(&set, hash_of_number(77), &id, &is_new, &err), &err);
    CHECK(id == 0 && is_new);
    hash_set_done(&set);
}

TEST(hash_set_reserve_makes_adding_safe_from_failure)
{
    struct hash_set set;
    struct error err;
    uint32_t id;
    bool is_new;

    hash_set_init(&set, 0);
    CHECK_OK(hash_set_reserve(&set, 10000, &err), &err);
    memory_fail_at(1);
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_OK(hash_set_add(&set, hash_of_number(i), &id, &is_new, &err), &err);
    CHECK_EQ(memory_fail_at(0), 0);
    hash_set_done(&set);
}

TEST(hash_of_bytes_depends_on_the_seed_and_on_every_byte)
{
    CHECK(hash_equal(hash_bytes(SLICE("abc"), 1), hash_bytes(SLICE("abc"), 1)));
    CHECK(!hash_equal(hash_bytes(SLICE("abc"), 1), hash_bytes(SLICE("abc"), 2)));
    CHECK(!hash_equal(hash_bytes(SLICE("abc"), 1), hash_bytes(SLICE("abd"), 1)));
    CHECK(hash_equal(hash_bytes((struct slice){ NULL, 0 }, 1), hash_bytes(SLICE(""), 1)));
    CHECK(hash_bytes64(SLICE("abc"), 1) != hash_bytes64(SLICE("abc"), 2));
    CHECK(hash_bytes64((struct slice){ NULL, 0 }, 1) == hash_bytes64(SLICE(""), 1));
}

TEST(hash_set_holds_a_million_hashes_in_32_megabytes)
{
    struct hash_set set;
    struct error err;
    uint32_t id;
    bool is_new;

    hash_set_init(&set, 0);
    for (uint32_t i = 0; i < 1000000; i++)
        CHECK_OK(hash_set_add(&set, hash_of_number(i), &id, &is_new, &err), &err);
    CHECK(hash_set_bytes(&set) <= 34u << 20);
    hash_set_done(&set);
}

TEST(hash_fold_depends_on_order_and_on_every_word)
{
    struct hash128 h = hash_of_number(1);
    struct hash128 ab = hash_fold(hash_fold(h, 1, 2), 3, 4);

    CHECK(!hash_equal(ab, hash_fold(hash_fold(h, 3, 4), 1, 2)));
    CHECK(!hash_equal(ab, hash_fold(hash_fold(h, 1, 3), 3, 4)));
    CHECK(!hash_equal(ab, hash_fold(hash_fold(h, 0, 2), 3, 4)));
    CHECK(!hash_equal(hash_fold(h, 0, 0), h));
}

static int add_many(void *context, struct error *err)
{
    struct hash_set set;
    int result = 0;

    hash_set_init(&set, 0);
    for (uint32_t i = 0; i < 1000 && result == 0; i++) {
        uint32_t id;
        bool is_new;

        result = hash_set_add(&set, hash_of_number(i), &id, &is_new, err);
    }
    hash_set_done(&set);
    return result;
}

TEST(hash_set_survives_any_failing_allocation)
{
    test_each_allocation_failing(add_many, NULL);
}
