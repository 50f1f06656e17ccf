// SPDX-License-Identifier: Apache-2.0
#include "profile/spanids.h"

#include "base/test.h"

#include <string.h>

static void number(uint64_t value, uint8_t id[static SPANIDS_ID_BYTES])
{
    memcpy(id, &value, SPANIDS_ID_BYTES);
}

TEST(spanids_has_what_was_added_and_nothing_else)
{
    struct spanids ids;
    struct error err;
    uint8_t id[SPANIDS_ID_BYTES];

    spanids_init(&ids, 10000);
    number(1, id);
    CHECK(!spanids_has(&ids, id));
    for (uint64_t i = 1; i <= 5000; i++) {
        number(i * 3, id);
        CHECK_OK(spanids_add(&ids, id, &err), &err);
        CHECK_OK(spanids_add(&ids, id, &err), &err);
    }
    CHECK_EQ(ids.n, 5000);
    for (uint64_t i = 1; i <= 15000; i++) {
        number(i, id);
        CHECK(spanids_has(&ids, id) == (i % 3 == 0));
    }
    spanids_done(&ids);
}

TEST(spanids_leaves_zeros_out_and_names_its_limit)
{
    struct spanids ids;
    struct error err;
    uint8_t id[SPANIDS_ID_BYTES] = { 0 };

    spanids_init(&ids, 2);
    CHECK_OK(spanids_add(&ids, id, &err), &err);
    CHECK_EQ(ids.n, 0);
    for (uint64_t i = 1; i <= 2; i++) {
        number(i, id);
        CHECK_OK(spanids_add(&ids, id, &err), &err);
    }
    CHECK_OK(spanids_add(&ids, id, &err), &err);
    number(3, id);
    CHECK_ERROR(spanids_add(&ids, id, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 2 spans");
    spanids_done(&ids);
}

static int add_some(void *context, struct error *err)
{
    struct spanids ids;
    uint8_t id[SPANIDS_ID_BYTES];
    int result = 0;

    spanids_init(&ids, 1000);
    for (uint64_t i = 1; result == 0 && i <= 200; i++) {
        number(i, id);
        result = spanids_add(&ids, id, err);
        CHECK(spanids_has(&ids, id) == (result == 0));
    }
    spanids_done(&ids);
    return result;
}

TEST(spanids_survives_the_lack_of_memory)
{
    test_each_allocation_failing(add_some, NULL);
}
