// SPDX-License-Identifier: Apache-2.0
#include "store/servicecosts.h"

#include "base/test.h"

#include <stdio.h>

static struct servicecost cost_of(const char *tenant, const char *service, uint64_t bytes, int64_t time_ns)
{
    return (struct servicecost){ .tenant = slice_from(tenant),
                                 .service = slice_from(service),
                                 .bytes = bytes,
                                 .n_rows = 1,
                                 .n_samples = 10,
                                 .first_ns = time_ns,
                                 .last_ns = time_ns };
}

static void add(struct servicecosts *costs, struct servicecost cost)
{
    struct error err;

    CHECK_OK(servicecosts_add(costs, &cost, &err), &err);
}

TEST(servicecosts_adds_up_and_puts_the_most_expensive_first)
{
    struct servicecosts costs;

    servicecosts_init(&costs);
    add(&costs, cost_of("a", "api", 10, 500));
    add(&costs, cost_of("b", "api", 30, 0));
    add(&costs, cost_of("a", "web", 30, 7));
    add(&costs, cost_of("a", "api", 5, 300));
    servicecosts_sort(&costs);
    CHECK_EQ(costs.items.n, 3);
    CHECK_TEXT(costs.items.items[0].service, "web");
    CHECK_TEXT(costs.items.items[1].tenant, "b");
    CHECK_EQ(costs.items.items[1].first_ns, 0);
    CHECK_EQ(costs.items.items[2].bytes, 15);
    CHECK_EQ(costs.items.items[2].n_rows, 2);
    CHECK_EQ(costs.items.items[2].n_samples, 20);
    CHECK_EQ(costs.items.items[2].first_ns, 300);
    CHECK_EQ(costs.items.items[2].last_ns, 500);
    servicecosts_done(&costs);
}

TEST(servicecosts_of_nothing_can_be_sorted)
{
    struct servicecosts costs;

    servicecosts_init(&costs);
    servicecosts_sort(&costs);
    CHECK_EQ(costs.items.n, 0);
    servicecosts_done(&costs);
}

TEST(servicecosts_beyond_the_limit_are_added_up_together)
{
    struct servicecosts costs;
    char name[24];

    servicecosts_init(&costs);
    for (uint32_t i = 0; i < SERVICECOSTS_MAX + 3; i++) {
        snprintf(name, sizeof(name), "service-%u", i);
        add(&costs, cost_of("", name, 2, 1));
    }
    add(&costs, cost_of("", "service-5", 40, 1));
    CHECK_EQ(costs.items.n, SERVICECOSTS_MAX);
    CHECK_EQ(costs.others.bytes, 6);
    CHECK_EQ(costs.items.items[5].bytes, 42);
    servicecosts_done(&costs);
}

static int add_two(void *context UNUSED, struct error *err)
{
    struct servicecost one = cost_of("a", "api", 1, 1), two = cost_of("a", "web", 1, 1);
    struct servicecosts costs;
    int result;

    servicecosts_init(&costs);
    result = servicecosts_add(&costs, &one, err);
    if (result == 0)
        result = servicecosts_add(&costs, &two, err);
    servicecosts_done(&costs);
    return result;
}

TEST(servicecosts_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(add_two, NULL);
}
