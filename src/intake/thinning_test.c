// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/test.h"
#include "intake/thinning.h"

static struct thinning thinning;

TEST(nothing_is_left_out_while_there_is_room)
{
    thinning_init(&thinning, 1);
    for (int i = 0; i < 10000; i++)
        CHECK_EQ(thinning_weigh(&thinning, 7, 1 << 20, 499, 1000, 1), 1);
}

TEST(weights_make_up_for_what_is_left_out)
{
    uint64_t brought = 0, kept = 0, n_kept = 0;

    thinning_init(&thinning, 2);
    for (int i = 0; i < 200000; i++) {
        uint32_t weight = thinning_weigh(&thinning, 7, 100, 600000, 1000000, 1 + i * 1000000ll);

        brought++;
        kept += weight;
        n_kept += weight > 0;
    }
    CHECK(n_kept < brought);
    CHECK_NEAR((double)kept, (double)brought, (double)brought * 0.05);
}

TEST(a_lane_that_brings_little_keeps_all_of_it_beside_one_that_brings_much)
{
    uint64_t n_small = 0, n_large = 0;

    thinning_init(&thinning, 3);
    for (int i = 0; i < 10000; i++) {
        int64_t now = 1 + i * (CLOCK_NS_PER_SECOND / 1000);

        for (int k = 0; k < 20; k++)
            n_large += thinning_weigh(&thinning, 1, 10000, 600 << 20, 1000 << 20, now) > 0;
        n_small += thinning_weigh(&thinning, 2, 10000, 600 << 20, 1000 << 20, now) == 1;
    }
    CHECK_EQ(n_small, 10000);
    CHECK(n_large < 200000 * 9 / 10);
}
