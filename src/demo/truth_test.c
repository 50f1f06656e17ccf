// SPDX-License-Identifier: Apache-2.0
#include "demo/truth.h"

#include "base/test.h"

#include <string.h>

static const struct truth_share *find(const struct truth_shares *shares, enum truth_service service, uint32_t release,
                                      const char *endpoint, const char *function)
{
    for (size_t i = 0; i < shares->n; i++) {
        const struct truth_share *share = &shares->items[i];

        if (share->service == service && share->release == release && strcmp(share->function, function) == 0 &&
            (endpoint ? share->endpoint && strcmp(share->endpoint, endpoint) == 0 : !share->endpoint))
            return share;
    }
    return NULL;
}

static double total(const struct truth_shares *shares, enum truth_service service, uint32_t release,
                    const char *endpoint, const char *function)
{
    const struct truth_share *share = find(shares, service, release, endpoint, function);

    CHECK(share != NULL);
    return share->total;
}

TEST(truth_says_what_is_known)
{
    struct truth_shares shares;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    CHECK_OK(truth_list(&arena, &shares, &err), &err);
    CHECK_NEAR(total(&shares, TRUTH_SHOP, 0, "/checkout", "parse_json"), 6.0 / 12, 1e-9);
    CHECK_NEAR(total(&shares, TRUTH_SHOP, 1, "/checkout", "parse_json"), 12.0 / 18, 1e-9);
    CHECK_NEAR(total(&shares, TRUTH_SHOP, 1, "/checkout", "check_order"), 6.0 / 18, 1e-9);
    CHECK(!find(&shares, TRUTH_SHOP, 0, "/checkout", "check_order"));
    CHECK_NEAR(total(&shares, TRUTH_SHOP, 0, NULL, "parse_json"), (8 * 6.0 + 3 * 2) / (8 * 12 + 3 * 4 + 7 * 3 + 2),
               1e-9);
    CHECK_NEAR(total(&shares, TRUTH_PAYMENT, 0, "/charge", "hash_block"), 0.9, 1e-9);
    CHECK_NEAR(total(&shares, TRUTH_INVENTORY, 0, NULL, "rank_products"), 56.0 / 72, 1e-9);
    CHECK_NEAR(find(&shares, TRUTH_INVENTORY, 0, NULL, "rank_products")->self, 0, 1e-9);
    CHECK_NEAR(find(&shares, TRUTH_REPORT, 0, "/build", "aggregate_rows")->self, 0.8, 1e-9);
    CHECK(!find(&shares, TRUTH_PAYMENT, 1, "/charge", "hash_block"));
    arena_done(&arena);
}

/* Selfs add up to all there is, and what comes first has the most. */
TEST(truth_shares_make_up_the_whole)
{
    struct truth_shares shares;
    struct arena arena;
    struct error err;
    double sum = 0;

    arena_init(&arena, 1 << 20);
    CHECK_OK(truth_list(&arena, &shares, &err), &err);
    for (size_t i = 0; i < shares.n; i++) {
        const struct truth_share *share = &shares.items[i], *before = i > 0 ? &shares.items[i - 1] : NULL;

        if (before && share->service == before->service && share->release == before->release &&
            share->endpoint == before->endpoint) {
            CHECK(share->total <= before->total);
        } else {
            CHECK_NEAR(sum, before ? 1 : 0, 1e-9);
            sum = 0;
        }
        CHECK(share->total >= share->self && share->total <= 1);
        sum += share->self;
    }
    CHECK_NEAR(sum, 1, 1e-9);
    arena_done(&arena);
}

TEST(truth_rounds_have_as_many_requests_as_the_table_says)
{
    uint32_t n[TRUTH_ENDPOINTS] = { 0 };

    for (uint64_t i = 0; i < TRUTH_ROUND; i++)
        n[truth_request(TRUTH_ROUND * 3 + i)]++;
    for (unsigned id = TRUTH_CHECKOUT; id <= TRUTH_SUMMARY; id++)
        CHECK_EQ(n[id], truth_endpoint(id)->per_round);
    CHECK_EQ(truth_endpoint(TRUTH_CHARGE)->per_round, n[TRUTH_CHECKOUT] + n[TRUTH_PAY]);
    CHECK_EQ(truth_endpoint(TRUTH_RESERVE)->per_round, n[TRUTH_CHECKOUT]);
    CHECK_EQ(truth_endpoint(TRUTH_RANK)->per_round, n[TRUTH_LOOK]);
    CHECK_EQ(truth_endpoint(TRUTH_BUILD)->per_round, n[TRUTH_SUMMARY]);
}

static int list(void *context UNUSED, struct error *err)
{
    struct truth_shares shares;
    struct arena arena;
    int result;

    arena_init(&arena, 1 << 20);
    result = truth_list(&arena, &shares, err);
    arena_done(&arena);
    return result;
}

TEST(truth_reports_that_memory_ran_out)
{
    test_each_allocation_failing(list, NULL);
}
