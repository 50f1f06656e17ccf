// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

#include "base/test.h"

struct pair {
    uint32_t key;
    uint64_t value;
};

TEST(vec_pushes_zeroed_items_and_keeps_the_old_ones)
{
    VEC(struct pair) pairs = { 0 };
    struct error err;
    uint32_t i = 0;

    for (; i < 1000; i++) {
        struct pair *pair = VEC_PUSH(&pairs, 1000, &err);

        CHECK(pair && pair->key == 0 && pair->value == 0);
        *pair = (struct pair){ i, i * 2 };
    }
    CHECK_EQ(pairs.n, 1000);
    i = 0;
    VEC_EACH (&pairs, pair) {
        CHECK_EQ(pair->key, i);
        CHECK_EQ(pair->value, i * 2);
        i++;
    }
    CHECK_EQ(i, 1000);
    VEC_DONE(&pairs);
    CHECK(!pairs.items && pairs.n == 0 && pairs.capacity == 0);
}

TEST(vec_each_over_an_empty_one_does_nothing)
{
    VEC(int) numbers = { 0 };

    VEC_EACH (&numbers, number)
        CHECK(number == NULL);
    VEC_DONE(&numbers);
}

TEST(vec_stops_at_its_maximum)
{
    VEC(int) numbers = { 0 };
    struct error err = { .code = ERR_OK };

    for (int i = 0; i < 5; i++)
        CHECK(VEC_PUSH(&numbers, 5, &err));
    CHECK(!VEC_PUSH(&numbers, 5, &err));
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 5 items");
    CHECK_EQ(numbers.n, 5);
    VEC_DONE(&numbers);
}

TEST(vec_reserve_makes_room_for_pushes_that_cannot_fail)
{
    VEC(uint64_t) numbers = { 0 };
    struct error err;

    CHECK_OK(VEC_RESERVE(&numbers, 100, 1000, &err), &err);
    memory_fail_at(1);
    for (int i = 0; i < 100; i++)
        CHECK(VEC_PUSH(&numbers, 1000, &err));
    CHECK_EQ(memory_fail_at(0), 0);
    CHECK_ERROR(VEC_RESERVE(&numbers, 901, 1000, &err), &err, ERR_LIMIT);
    CHECK_ERROR(VEC_RESERVE(&numbers, SIZE_MAX, SIZE_MAX, &err), &err, ERR_LIMIT);
    CHECK_ERROR(VEC_RESERVE(&numbers, SIZE_MAX / 8, SIZE_MAX, &err), &err, ERR_LIMIT);
    VEC_DONE(&numbers);
}

static int push_many(void *context, struct error *err)
{
    VEC(uint32_t) numbers = { 0 };
    int result = 0;

    for (uint32_t i = 0; i < 500 && result == 0; i++) {
        uint32_t *number = VEC_PUSH(&numbers, 500, err);

        if (number)
            *number = i;
        else
            result = -1;
    }
    for (size_t i = 0; i < numbers.n; i++)
        CHECK_EQ(numbers.items[i], i);
    VEC_DONE(&numbers);
    return result;
}

TEST(vec_survives_any_failing_allocation)
{
    test_each_allocation_failing(push_many, NULL);
}
