// SPDX-License-Identifier: Apache-2.0
#include "block/idsort.h"

#include "base/hash.h"
#include "base/test.h"

#define MAX_N 3000

static uint64_t pairs[MAX_N], scratch[MAX_N];

static uint32_t make_id(size_t i, uint32_t mask)
{
    return (uint32_t)hash_mix64(i + mask) & mask;
}

static void fill(size_t n, uint32_t mask)
{
    for (size_t i = 0; i < n; i++)
        pairs[i] = idsort_pair(make_id(i, mask), (uint32_t)i);
}

static void check_sorted(size_t n, uint32_t mask)
{
    static bool is_there[MAX_N];

    memset(is_there, 0, sizeof(is_there));
    for (size_t i = 0; i < n; i++) {
        uint32_t from = idsort_from(pairs[i]);

        CHECK(from < n && !is_there[from]);
        is_there[from] = true;
        CHECK_EQ(idsort_id(pairs[i]), make_id(from, mask));
        if (i > 0)
            CHECK(pairs[i - 1] < pairs[i]); /* by id, and where ids are equal in the order they came in */
    }
}

TEST(idsort_sorts_any_number_of_pairs_and_keeps_the_order_of_equal_ids)
{
    static const size_t lengths[] = { 0, 1, 2, 23, 24, 25, 26, 255, 256, 257, MAX_N };
    static const uint32_t masks[] = { 0, 1, 0xff, 0xff00, 0xffff, 0xf0f0f0, 0xff0000ff, 0xff000000, UINT32_MAX };

    for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
        for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
            fill(lengths[l], masks[m]);
            idsort_pairs(pairs, scratch, lengths[l]);
            check_sorted(lengths[l], masks[m]);
        }
    }
}

TEST(idsort_sorts_by_several_keys_one_after_another)
{
    for (uint32_t i = 0; i < MAX_N; i++)
        pairs[i] = idsort_pair((uint32_t)hash_mix64(i) & 0xff, i);
    idsort_pairs(pairs, scratch, MAX_N);
    for (uint32_t i = 0; i < MAX_N; i++)
        pairs[i] = idsort_pair((uint32_t)(hash_mix64(idsort_from(pairs[i])) >> 32) & 7, idsort_from(pairs[i]));
    idsort_pairs(pairs, scratch, MAX_N);
    for (uint32_t i = 1; i < MAX_N; i++) {
        uint64_t before = hash_mix64(idsort_from(pairs[i - 1])), now = hash_mix64(idsort_from(pairs[i]));

        CHECK((before >> 32 & 7) <= (now >> 32 & 7));
        if ((before >> 32 & 7) == (now >> 32 & 7))
            CHECK((before & 0xff) <= (now & 0xff));
    }
}
