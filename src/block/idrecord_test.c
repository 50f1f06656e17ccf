// SPDX-License-Identifier: Apache-2.0
#include "block/idrecord.h"

#include "base/test.h"

#include <string.h>

/* Rows 7, 8, 9 of series 3, 500 and 1, which start at -2 ns. */
static uint32_t three_series[] = { 3, 500, 1 };
static const struct idrecord three = { -2, 7, 3, three_series };
#define THREE_BYTES "\x01\x03\x07\x03\x03\xf4\x03\x01"

TEST(idrecord_comes_back_as_it_was)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer bytes;
    struct idrecord record;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    idrecord_encode(&three, &bytes);
    CHECK_TEXT(buffer_slice(&bytes), SLICE(THREE_BYTES));
    CHECK_OK(idrecord_decode(buffer_slice(&bytes), &arena, &record, &err), &err);
    CHECK_EQ(record.start_ns, -2);
    CHECK_EQ(record.sequence, 7);
    CHECK_EQ(record.n_rows, 3);
    CHECK_EQ(memcmp(record.series, three_series, sizeof(three_series)), 0);
}

TEST(idrecord_knows_its_rows_and_series)
{
    CHECK(idrecord_has_row(&three, -2, 7) && idrecord_has_row(&three, -2, 9));
    CHECK(!idrecord_has_row(&three, -2, 6) && !idrecord_has_row(&three, -2, 10) && !idrecord_has_row(&three, 0, 8));
    CHECK(idrecord_has_series(&three, 500) && !idrecord_has_series(&three, 7));
}

TEST(idrecord_refuses_every_truncation_and_what_cannot_be)
{
    const struct {
        struct slice bytes;
        const char *words;
    } bad[] = {
        { SLICE(""), "is empty" },
        { SLICE("\x01\x03\x07\x00"), "cut off or damaged" },                             /* no rows */
        { SLICE("\x01\x03\x07\x04\x03\xf4\x03\x01"), "the series of a profile id" },     /* one too many */
        { SLICE("\x01\x03\x07\xff\xff\xff\xff\x0f\x01"), "cut off or damaged" },         /* more than bytes */
        { SLICE("\x01\x03\xff\xff\xff\xff\x0f\x02\x01\x01"), "cut off or damaged" },     /* past the last sequence */
        { SLICE("\x01\x03\x80\x80\x80\x80\x10\x01\x01"), "cut off or damaged" },         /* sequence over 32 bits */
        { SLICE("\x01\x03\x07\x01\x80\x80\x80\x80\x10"), "the series of a profile id" }, /* series likewise */
        { SLICE(THREE_BYTES "\x01"), "1 bytes follow" },
    };
    AUTO(arena_done) struct arena arena;
    struct idrecord record;
    struct error err;

    arena_init(&arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_ERROR(idrecord_decode(bad[i].bytes, &arena, &record, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, bad[i].words);
    }
    for (size_t len = 0; len < sizeof(THREE_BYTES) - 1; len++)
        CHECK_ERROR(idrecord_decode(slice_of(THREE_BYTES, len), &arena, &record, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(idrecord_decode(SLICE("\x02\x03\x07\x01\x01"), &arena, &record, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "version 2, this program knows 1");
}

static int decode_three(void *context, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct idrecord record;

    arena_init(&arena, 0);
    return idrecord_decode(SLICE(THREE_BYTES), &arena, &record, err);
}

TEST(idrecord_survives_failing_allocations)
{
    test_each_allocation_failing(decode_three, NULL);
}
