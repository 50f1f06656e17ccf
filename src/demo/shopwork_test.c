// SPDX-License-Identifier: Apache-2.0
#include "demo/shopwork.h"

#include "base/test.h"

TEST(shopwork_tasks_cost_what_their_table_says)
{
    struct shopwork work;

    shopwork_init(&work, 7);
    for (unsigned task = 0; task < SHOPWORK_TASKS; task++) {
        const struct shopwork_info *info = shopwork_info(task);
        uint64_t before = work.n_units, units = 0;

        CHECK(info->n_functions >= 1 && info->n_functions <= SHOPWORK_MAX_FUNCTIONS);
        for (uint32_t i = 0; i < info->n_functions; i++) {
            CHECK(i == 0
                      ? info->functions[i].level == 0
                      : info->functions[i].level >= 1 && info->functions[i].level <= info->functions[i - 1].level + 1);
            units += info->functions[i].units;
        }
        CHECK(shopwork_do(&work, task) != 0);
        CHECK(units > 0);
        CHECK_EQ(work.n_units - before, units);
    }
}

TEST(shopwork_of_the_same_seed_is_the_same)
{
    struct shopwork work[3];

    shopwork_init(&work[0], 7);
    shopwork_init(&work[1], 7);
    shopwork_init(&work[2], 8);
    for (unsigned task = 0; task < SHOPWORK_TASKS; task++) {
        uint64_t result = shopwork_do(&work[0], task);

        CHECK(shopwork_do(&work[1], task) == result);
        CHECK(shopwork_do(&work[2], task) != result);
    }
}
