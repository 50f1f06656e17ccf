// SPDX-License-Identifier: Apache-2.0
#include "block/rowid.h"

#include "base/hash.h"
#include "base/test.h"

static void check_same(struct rowid row)
{
    uint8_t id[ROWID_BYTES];
    struct rowid again;

    rowid_encode(&row, id);
    CHECK(rowid_decode(id, &again));
    CHECK_EQ(again.hour, row.hour);
    CHECK_EQ(again.series, row.series);
    CHECK_EQ(again.sequence, row.sequence);
    CHECK_EQ(id[6] >> 4, 8);
    CHECK_EQ(id[8] >> 6, 2);
}

TEST(rowid_says_where_a_row_is)
{
    check_same((struct rowid){ 0, 1, 0 });
    check_same((struct rowid){ INT32_MAX, UINT32_MAX, UINT32_MAX });
    check_same((struct rowid){ INT32_MIN, 0, UINT32_MAX });
    check_same((struct rowid){ -1, 0x12345678, 0x9abcdef0 });
    for (uint64_t i = 1; i < 1000; i++)
        check_same((struct rowid){ (int32_t)hash_mix64(i), (uint32_t)hash_mix64(~i), (uint32_t)hash_mix64(i << 32) });
}

TEST(rowid_tells_its_ids_from_others)
{
    struct rowid row = { 498660, 3, 70000 }, found;
    uint8_t id[ROWID_BYTES], other[ROWID_BYTES] = { 0 };

    rowid_encode(&row, id);
    for (unsigned bit = 0; bit < 8 * ROWID_BYTES; bit++) {
        memcpy(other, id, sizeof(other));
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(!rowid_decode(other, &found));
    }
    memset(other, 0, sizeof(other));
    CHECK(!rowid_decode(other, &found));
    memset(other, 0xff, sizeof(other));
    CHECK(!rowid_decode(other, &found));
}

TEST(rowid_sorts_by_time)
{
    uint8_t before[ROWID_BYTES], after[ROWID_BYTES];

    rowid_encode(&(struct rowid){ -2, UINT32_MAX, 9 }, before);
    rowid_encode(&(struct rowid){ -1, 1, 1 }, after);
    CHECK(memcmp(before, after, sizeof(before)) < 0);
    rowid_encode(&(struct rowid){ 5, 0, 0 }, before);
    CHECK(memcmp(after, before, sizeof(before)) < 0);
}

TEST(rowid_hours_are_rounded_down)
{
    const int64_t hour_ns = (int64_t)3600 * 1000000000;

    CHECK_EQ(rowid_hour(0), 0);
    CHECK_EQ(rowid_hour(hour_ns - 1), 0);
    CHECK_EQ(rowid_hour(hour_ns), 1);
    CHECK_EQ(rowid_hour(-1), -1);
    CHECK_EQ(rowid_hour(-hour_ns), -1);
    CHECK_EQ(rowid_hour(-hour_ns - 1), -2);
    CHECK_EQ(rowid_hour(INT64_MAX), 2562047);
    CHECK_EQ(rowid_hour(INT64_MIN), -2562048);
}
