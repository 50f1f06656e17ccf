// SPDX-License-Identifier: Apache-2.0
#include "store/budget.h"

#include "base/test.h"

/* What all parts take at most, with the days that are written to at a time. */
static uint64_t sum(const struct budget *budget)
{
    return budget->cache_bytes + budget->hash_bytes + budget->close_bytes + budget->read_bytes + budget->slot_bytes +
           budget->sum_bytes + BUDGET_WRITABLE_DAYS * budget->memtable_bytes + budget->idcache_bytes;
}

TEST(budget_divides_no_more_than_there_is)
{
    static const uint64_t totals[] = { BUDGET_MIN_BYTES, 64 << 20, 96 << 20, 1 << 30, (uint64_t)64 << 30 };

    for (size_t i = 0; i < ARRAY_LEN(totals); i++) {
        struct budget budget = budget_divide(totals[i]);

        CHECK_EQ(budget.total_bytes, totals[i]);
        CHECK(sum(&budget) <= totals[i]);
        CHECK(sum(&budget) > totals[i] / 2 || totals[i] > (uint64_t)1 << 30);
        CHECK(budget.memtable_bytes >= 1 << 20);
        CHECK(budget.idcache_bytes > 0 && budget.close_bytes > 0 && budget.read_bytes > 0 && budget.hash_bytes > 0);
        CHECK(budget.slot_bytes >= 512 << 10);
    }
}

TEST(budget_takes_too_little_as_the_least_that_works)
{
    struct budget least = budget_divide(BUDGET_MIN_BYTES), tiny = budget_divide(1);

    CHECK_EQ(tiny.total_bytes, BUDGET_MIN_BYTES);
    CHECK_EQ(sum(&tiny), sum(&least));
}

TEST(budget_has_a_default_of_at_most_a_gibibyte)
{
    uint64_t usual = budget_default_bytes();

    CHECK(usual > 0 && usual <= (uint64_t)1 << 30);
    CHECK_EQ(budget_divide(0).total_bytes, MAX(usual, BUDGET_MIN_BYTES));
}
