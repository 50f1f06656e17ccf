// SPDX-License-Identifier: Apache-2.0
#include "demo/shop.h"

#include "base/clock.h"
#include "base/test.h"
#include "demo/shopwork.h"

#include <unistd.h>

TEST(shop_endpoints_share_all_requests)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < SHOPWORK_ENDPOINTS; i++)
        sum += shopwork_endpoints[i].percent;
    CHECK_EQ(sum, 100);
}

TEST(shop_work_of_the_same_seed_is_the_same)
{
    struct shopwork_stock stocks[2];
    struct shopwork *work[2];
    struct error err;

    for (int i = 0; i < 2; i++) {
        shopwork_stock_init(&stocks[i]);
        CHECK_OK(shopwork_new(&stocks[i], 7, &work[i], &err), &err);
    }
    for (size_t i = 0; i < 3 * SHOPWORK_ENDPOINTS; i++) {
        const struct shopwork_endpoint *endpoint = &shopwork_endpoints[i % SHOPWORK_ENDPOINTS];
        uint64_t result = endpoint->handle(work[0]);

        CHECK(result != 0);
        CHECK_EQ(endpoint->handle(work[1]), result);
    }
    for (int i = 0; i < 2; i++) {
        shopwork_free(work[i]);
        shopwork_stock_done(&stocks[i]);
    }
}

TEST(shop_uses_no_more_of_a_processor_than_was_asked_for)
{
    struct shop_options options = { .n_threads = 3, .cpu_share = 0.3 };
    int64_t cpu_ns = clock_cpu_ns(), mono_ns = clock_mono_ns();
    struct shop *shop = NULL;
    struct error err;
    double share;

    CHECK_OK(shop_start(&options, &shop, &err), &err);
    usleep(1500000);
    CHECK(shop_served(shop) > 0);
    shop_stop(shop);
    share = (double)(clock_cpu_ns() - cpu_ns) / (double)(clock_mono_ns() - mono_ns);
    CHECK(share > 0.01 && share < 0.45); /* less where others use the machine, too */
}

static int open_and_close(void *context UNUSED, struct error *err)
{
    struct shop_options options = { .n_threads = 2, .cpu_share = 0.1 };
    struct shop *shop;

    if (shop_start(&options, &shop, err) < 0)
        return -1;
    shop_stop(shop);
    return 0;
}

TEST(shop_reports_that_memory_ran_out)
{
    test_each_allocation_failing(open_and_close, NULL);
    shop_stop(NULL);
}
