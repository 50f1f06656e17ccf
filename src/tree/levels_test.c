// SPDX-License-Identifier: Apache-2.0
#include "tree/levels.h"

#include "base/test.h"

TEST(levels_round_so_that_small_ones_are_not_lost)
{
    struct levels_rounding sums = { 0 };
    int64_t whole = 0;

    for (unsigned i = 0; i < 40; i++) {
        int64_t value = levels_round(&sums, 0.25);

        CHECK(value == 0 || value == 1);
        whole += value;
    }
    CHECK_EQ(whole, 10);
}

TEST(levels_round_whole_numbers_to_themselves)
{
    struct levels_rounding sums = { 0 };

    CHECK_EQ(levels_round(&sums, 3), 3);
    CHECK_EQ(levels_round(&sums, 0.75), 1);
    CHECK_EQ(levels_round(&sums, 3), 3);
    CHECK_EQ(levels_round(&sums, -7), -7);
    CHECK_EQ(levels_round(&sums, 0), 0);
}

TEST(levels_round_what_is_too_large_to_the_edge)
{
    struct levels_rounding sums = { 0 };

    CHECK_EQ(levels_round(&sums, 1e30), (int64_t)1 << 62);
    CHECK_EQ(levels_round(&sums, -2e30), -((int64_t)1 << 62) * 2);
}
