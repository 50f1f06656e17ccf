// SPDX-License-Identifier: Apache-2.0
#include "trace/traceplace.h"

#include "trace/tracesample_test.h"

static struct traceplace place_of(uint64_t trace, uint64_t id, int64_t start_ns, int64_t duration_ns)
{
    struct span span = tracesample_span(trace, id, 0, start_ns, duration_ns);

    return traceplace_of(&span);
}

TEST(traceplace_orders_by_start_or_duration_then_ids)
{
    struct traceplace old_slow = place_of(3, 1, 100, 900), new_quick = place_of(3, 2, 200, 5);
    struct traceplace same_start = place_of(6, 1, 100, 900);

    CHECK(traceplace_compare(TRACESTORE_NEWEST, &new_quick, &old_slow) < 0);
    CHECK(traceplace_compare(TRACESTORE_SLOWEST, &new_quick, &old_slow) > 0);
    CHECK(traceplace_compare(TRACESTORE_NEWEST, &old_slow, &same_start) < 0);
    CHECK(traceplace_compare(TRACESTORE_SLOWEST, &old_slow, &same_start) < 0);
    CHECK_EQ(traceplace_compare(TRACESTORE_SLOWEST, &old_slow, &old_slow), 0);
    same_start = old_slow;
    same_start.kind = SPAN_CLIENT;
    CHECK(traceplace_compare(TRACESTORE_NEWEST, &old_slow, &same_start) < 0);
}

TEST(traceplace_comes_back_from_its_token)
{
    struct tracestore_search search = { .filter = { .service = SLICE("shop") }, .limit = 20 };
    struct traceplace place = place_of(7, 9, TRACESAMPLE_DAY, 1234567), back;
    char page[TRACESTORE_PAGE_BYTES];
    struct error err;

    traceplace_encode(&search, &place, page);
    CHECK_EQ(strspn(page, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), strlen(page));
    search.limit = 5;
    search.filter.until_ns = 99;
    CHECK_OK(traceplace_decode(&search, slice_from(page), &back, &err), &err);
    CHECK_EQ(traceplace_compare(TRACESTORE_SLOWEST, &place, &back), 0);
    CHECK_EQ(back.duration_ns, 1234567);
}

TEST(traceplace_refuses_tokens_of_other_searches_and_none)
{
    struct span_attribute attribute = { SLICE("user"), { SPAN_VALUE_TEXT, .text = SLICE("ann") } };
    struct tracestore_search search = { .filter = { .service = SLICE("shop") } }, other = search;
    struct traceplace place = place_of(7, 9, TRACESAMPLE_DAY, 1234567), back;
    char page[TRACESTORE_PAGE_BYTES];
    struct error err;

    traceplace_encode(&search, &place, page);
    other.order = TRACESTORE_SLOWEST;
    CHECK_ERROR(traceplace_decode(&other, slice_from(page), &back, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "of another search");
    other = search;
    other.filter.attributes = &attribute;
    other.filter.n_attributes = 1;
    CHECK_ERROR(traceplace_decode(&other, slice_from(page), &back, &err), &err, ERR_INVALID);
    other = search;
    other.filter.service = (struct slice){ 0 };
    other.filter.operation = SLICE("shop");
    CHECK_ERROR(traceplace_decode(&other, slice_from(page), &back, &err), &err, ERR_INVALID);
    for (size_t len = 1; len < strlen(page); len++) {
        CHECK_ERROR(traceplace_decode(&search, slice_of(page, len), &back, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, "none that a search gave");
    }
    CHECK_ERROR(traceplace_decode(&search, SLICE("a b!"), &back, &err), &err, ERR_INVALID);
}
