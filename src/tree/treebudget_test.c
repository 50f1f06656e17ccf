// SPDX-License-Identifier: Apache-2.0
#include "tree/treebudget.h"

#include "base/test.h"

TEST(treebudget_refuses_what_is_beyond_its_limit_and_names_that_of_the_query)
{
    struct treebudget budget = { .max_bytes = 1000, .limit_bytes = (size_t)64 << 20 };
    struct error err;

    CHECK_OK(treebudget_take(&budget, 600, &err), &err);
    CHECK_OK(treebudget_take(&budget, 400, &err), &err);
    CHECK_EQ(treebudget_take(&budget, 1, &err), -1);
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_HAS(err.text, "more than the 64 MiB that a query may have");
    CHECK_HAS(err.text, "--query-memory");
    CHECK_EQ(budget.bytes, 1000);
    budget.bytes -= 400;
    CHECK_OK(treebudget_take(&budget, 400, &err), &err);
    /* Nothing overflows, and 0 is no limit. */
    CHECK_EQ(treebudget_take(&budget, SIZE_MAX, &err), -1);
    budget.max_bytes = 0;
    CHECK_OK(treebudget_take(&budget, 1 << 20, &err), &err);
}

TEST(treebudget_counts_the_room_of_arrays_and_lets_them_grow_to_the_last_byte)
{
    struct treebudget budget = { .max_bytes = 100 * sizeof(uint64_t), .limit_bytes = (size_t)1 << 20 };
    VEC(uint64_t) numbers = { 0 };
    uint64_t *number;
    struct error err;

    for (unsigned i = 0; i < 100; i++) {
        number = TREEBUDGET_PUSH(&budget, &numbers, &err);
        CHECK(number);
        CHECK_EQ(*number, 0);
        CHECK(budget.bytes == numbers.capacity * sizeof(uint64_t));
    }
    CHECK_EQ(budget.bytes, budget.max_bytes);
    number = TREEBUDGET_PUSH(&budget, &numbers, &err);
    CHECK(!number);
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_EQ(numbers.n, 100);
    VEC_DONE(&numbers);
}
