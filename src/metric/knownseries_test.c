// SPDX-License-Identifier: Apache-2.0
#include "metric/knownseries.h"

#include "base/test.h"

static struct knownseries known;

static struct knownseries_set *make(int64_t day_ns, const char *tenant, uint32_t max_series)
{
    struct knownseries_set *set;
    struct error err;

    CHECK_OK(knownseries_make(&known, day_ns, slice_from(tenant), max_series, &set, &err), &err);
    return set;
}

TEST(knownseries_are_those_of_a_tenant_and_day)
{
    struct knownseries_set *set;
    struct error err;

    knownseries_init(&known);
    set = make(1, "anna", 2);
    CHECK(!knownseries_has(set, 7));
    CHECK_OK(knownseries_add(set, 7, &err), &err);
    CHECK_OK(knownseries_add(set, 7, &err), &err);
    CHECK_OK(knownseries_add(set, 8, &err), &err);
    CHECK_ERROR(knownseries_add(set, 9, &err), &err, ERR_LIMIT);
    CHECK(knownseries_has(knownseries_find(&known, 1, SLICE("anna")), 7));
    CHECK(!knownseries_find(&known, 2, SLICE("anna")));
    CHECK(!knownseries_find(&known, 1, SLICE("ann")));
    knownseries_done(&known);
    CHECK(!knownseries_find(&known, 1, SLICE("anna")));
}

TEST(knownseries_forgets_what_was_asked_for_longest_ago)
{
    struct error err;

    knownseries_init(&known);
    for (int64_t i = 0; i < KNOWNSERIES_MAX_SETS; i++)
        make(i, "t", 10);
    CHECK(knownseries_find(&known, 0, SLICE("t")));
    make(1000, "t", 0);
    CHECK(knownseries_find(&known, 0, SLICE("t")));
    CHECK(!knownseries_find(&known, 1, SLICE("t")));
    for (uint64_t i = 0; i <= KNOWNSERIES_MAX_SERIES; i++)
        CHECK_OK(knownseries_add(knownseries_find(&known, 1000, SLICE("t")), i, &err), &err);
    make(1001, "t", 10); /* all that is larger than allowed makes room */
    CHECK(knownseries_find(&known, 1001, SLICE("t")));
    CHECK(!knownseries_find(&known, 1000, SLICE("t")));
    knownseries_done(&known);
}
