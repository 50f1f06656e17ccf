// SPDX-License-Identifier: Apache-2.0
#include "pack/column.h"

#include "base/memory.h"
#include "base/test.h"
#include "pack/testdata_internal.h"
#include "pack/varint.h"

#define MAX_N 1000
static const size_t lengths[] = { 0, 1, 2, 3, 255, 256, 257, 511, 512, 513, MAX_N };
static const enum column_coding codings[] = { COLUMN_PLAIN, COLUMN_DELTA, COLUMN_ZIGZAG_DELTA, COLUMN_DELTA_OF_DELTA };

/* Columns as they occur, and some that do not. */
enum shape { CONSTANT, CLOCK, COUNTS, WANDERING, FALLING, NOISE, EXTREMES };
#define SHAPE_COUNT (EXTREMES + 1)

static void fill(enum shape shape, uint64_t *values, size_t n)
{
    uint64_t state = 7;

    for (size_t i = 0; i < n; i++) {
        uint64_t number = testdata_random(&state);

        switch (shape) {
        case CONSTANT: values[i] = 10000000; break;
        case CLOCK: values[i] = 1700000000000000000u + i * 10000000000u; break;
        case COUNTS: values[i] = (number >> 56) * 10000000; break;
        case WANDERING: values[i] = (i ? values[i - 1] : 1000000) + (number >> 60) - 7; break;
        case FALLING: values[i] = 5000000 - i * 3; break;
        case NOISE: values[i] = number; break;
        case EXTREMES: values[i] = i % 3 == 0 ? UINT64_MAX : i % 3 == 1 ? 0 : (uint64_t)1 << 63; break;
        }
    }
}

static size_t encoded_size(const uint64_t *values, size_t n, enum column_coding coding)
{
    struct buffer out;
    size_t size;

    buffer_init(&out, 0);
    column_encode_u64(values, n, coding, &out);
    size = out.len;
    buffer_done(&out);
    return size;
}

TEST(column_codings_can_be_undone)
{
    static uint64_t values[MAX_N], coded[MAX_N];

    for (unsigned shape = 0; shape < SHAPE_COUNT; shape++) {
        for (size_t c = 0; c < ARRAY_LEN(codings); c++) {
            for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
                fill(shape, values, lengths[l]);
                memcpy(coded, values, sizeof(values));
                column_apply(codings[c], coded, lengths[l]);
                column_undo(codings[c], coded, lengths[l]);
                CHECK_EQ(memcmp(coded, values, lengths[l] * sizeof(values[0])), 0);
            }
        }
    }
}

TEST(column_codings_write_what_they_say)
{
    static const uint64_t values[4] = { 5, 7, 4, 4 };
    static const uint64_t delta[4] = { 5, 2, (uint64_t)-3, 0 };
    static const uint64_t zigzag_delta[4] = { 10, 4, 5, 0 };
    static const uint64_t delta_of_delta[4] = { 10, 5, 9, 6 }; /* of 5, -3, -5, 3 */
    static const uint64_t *const wanted[] = { values, delta, zigzag_delta, delta_of_delta };

    for (size_t c = 0; c < ARRAY_LEN(codings); c++) {
        uint64_t coded[4];

        memcpy(coded, values, sizeof(values));
        column_apply(codings[c], coded, 4);
        for (size_t i = 0; i < 4; i++)
            CHECK_EQ(coded[i], wanted[c][i]);
    }
}

TEST(column_gcd_divides_all_values)
{
    CHECK_EQ(column_gcd(NULL, 0), 0);
    CHECK_EQ(column_gcd((uint64_t[]){ 0, 0 }, 2), 0);
    CHECK_EQ(column_gcd((uint64_t[]){ 0, 6, 0 }, 3), 6);
    CHECK_EQ(column_gcd((uint64_t[]){ 30000000, 10000000, 250000000 }, 3), 10000000);
    CHECK_EQ(column_gcd((uint64_t[]){ 12, 18, 7 }, 3), 1);
    CHECK_EQ(column_gcd((uint64_t[]){ UINT64_MAX }, 1), UINT64_MAX);
}

TEST(column_width_counts_the_bytes_of_the_largest_value)
{
    CHECK_EQ(column_width_u64(NULL, 0), 0);
    CHECK_EQ(column_width_u64((uint64_t[]){ 0, 0 }, 2), 0);
    CHECK_EQ(column_width_u64((uint64_t[]){ 255, 1 }, 2), 1);
    CHECK_EQ(column_width_u64((uint64_t[]){ 256, 1 }, 2), 2);
    CHECK_EQ(column_width_u64((uint64_t[]){ (uint64_t)1 << 56 }, 1), 8);
    CHECK_EQ(column_width_u32((uint32_t[]){ 0 }, 1), 0);
    CHECK_EQ(column_width_u32((uint32_t[]){ 1 << 16, 3 }, 2), 3);
    CHECK_EQ(column_width_u32((uint32_t[]){ UINT32_MAX }, 1), 4);
}

TEST(column_planes_hold_bytes_of_equal_significance)
{
    static const uint64_t values[3] = { 0x030201, 0x131211, 0x232221 };
    static const uint32_t narrow[3] = { 0x030201, 0x131211, 0x232221 };
    char planes[9];

    column_split_u64(values, 3, 3, planes);
    CHECK_TEXT(slice_of(planes, 9), "\x01\x11\x21\x02\x12\x22\x03\x13\x23");
    memset(planes, 0, sizeof(planes));
    column_split_u32(narrow, 3, 3, planes);
    CHECK_TEXT(slice_of(planes, 9), "\x01\x11\x21\x02\x12\x22\x03\x13\x23");
}

TEST(column_planes_join_to_the_values_that_were_split)
{
    static uint64_t values[MAX_N], back[MAX_N];
    static uint32_t narrow[MAX_N], narrow_back[MAX_N];
    static char planes[8 * MAX_N];

    for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
        size_t n = lengths[l];

        fill(NOISE, values, n);
        for (size_t i = 0; i < n; i++)
            narrow[i] = (uint32_t)values[i];
        column_split_u64(values, n, 8, planes);
        column_join_u64(planes, n, 8, back);
        CHECK_EQ(memcmp(back, values, n * sizeof(values[0])), 0);
        column_split_u32(narrow, n, 4, planes);
        column_join_u32(planes, n, 4, narrow_back);
        CHECK_EQ(memcmp(narrow_back, narrow, n * sizeof(narrow[0])), 0);
        column_join_u64(planes, n, 0, back);
        CHECK_EQ(column_width_u64(back, n), 0);
    }
}

static void check_round_trip_u64(const uint64_t *values, size_t n, enum column_coding coding)
{
    struct error err;
    struct buffer out;
    struct arena arena;
    struct slice rest;
    uint64_t *back;
    size_t back_n;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    column_encode_u64(values, n, coding, &out);
    buffer_append_text(&out, "next");
    CHECK_OK(buffer_check(&out, &err), &err);
    rest = buffer_slice(&out);
    CHECK_OK(column_decode_u64(&rest, n, &arena, &back, &back_n, &err), &err);
    CHECK_EQ(back_n, n);
    CHECK_EQ(memcmp(back, values, n * sizeof(values[0])), 0);
    CHECK_TEXT(rest, "next");
    arena_done(&arena);
    buffer_done(&out);
}

static void check_round_trip_u32(const uint32_t *values, size_t n, enum column_coding coding)
{
    struct error err;
    struct buffer out;
    struct arena arena;
    struct slice rest;
    uint32_t *back;
    size_t back_n;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    column_encode_u32(values, n, coding, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    rest = buffer_slice(&out);
    CHECK_OK(column_decode_u32(&rest, n, &arena, &back, &back_n, &err), &err);
    CHECK_EQ(back_n, n);
    CHECK_EQ(memcmp(back, values, n * sizeof(values[0])), 0);
    CHECK_EQ(rest.len, 0);
    arena_done(&arena);
    buffer_done(&out);
}

TEST(column_round_trips_every_shape_length_and_coding)
{
    static uint64_t values[MAX_N];
    static uint32_t narrow[MAX_N];

    for (unsigned shape = 0; shape < SHAPE_COUNT; shape++) {
        for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
            fill(shape, values, lengths[l]);
            for (size_t i = 0; i < lengths[l]; i++)
                narrow[i] = (uint32_t)values[i];
            for (size_t c = 0; c < ARRAY_LEN(codings); c++) {
                check_round_trip_u64(values, lengths[l], codings[c]);
                check_round_trip_u32(narrow, lengths[l], codings[c]);
            }
        }
    }
}

TEST(column_divides_exactly_by_any_divisor)
{
    static const uint64_t divisors[] = { 2, 3, 1024, 999999999, 10000000, (uint64_t)1 << 60, 0x7fffffffffffffff };

    for (size_t d = 0; d < ARRAY_LEN(divisors); d++) {
        uint64_t most = UINT64_MAX / divisors[d];
        uint64_t values[4] = { 0, divisors[d], divisors[d] * (most > 250 ? 250 : most), divisors[d] };

        check_round_trip_u64(values, 4, COLUMN_PLAIN);
        CHECK_EQ(encoded_size(values, 4, COLUMN_PLAIN), 1 + 1 + varint_size(divisors[d]) + 1 + 4);
    }
}

TEST(column_leaves_out_what_is_the_same_everywhere)
{
    static uint64_t values[MAX_N];

    fill(CONSTANT, values, MAX_N);
    CHECK_EQ(encoded_size(values, MAX_N, COLUMN_PLAIN), 1 + 2 + 1 + 4);
    fill(COUNTS, values, MAX_N);
    CHECK_EQ(encoded_size(values, MAX_N, COLUMN_PLAIN), 1 + 2 + 4 + 1 + MAX_N);
    fill(CLOCK, values, MAX_N);
    CHECK_EQ(encoded_size(values, MAX_N, COLUMN_DELTA), 1 + 2 + 5 + 9 + MAX_N);
    fill(WANDERING, values, MAX_N);
    CHECK(encoded_size(values, MAX_N, COLUMN_ZIGZAG_DELTA) < encoded_size(values, MAX_N, COLUMN_PLAIN));
}

/* minimum 5, divisor 10, the values 5, 15 and 25 in one plane */
#define SMALL_COLUMN "\x04\x03\x0a\x05\x00\x01\x02"

TEST(column_has_the_documented_layout)
{
    static const uint64_t values[3] = { 5, 15, 25 };
    struct buffer out;

    buffer_init(&out, 0);
    column_encode_u64(values, 3, COLUMN_PLAIN, &out);
    CHECK_TEXT(buffer_slice(&out), SLICE(SMALL_COLUMN));
    buffer_done(&out);
}

static int decode(struct slice in, size_t max_values, struct error *err)
{
    struct arena arena;
    uint64_t *values;
    uint32_t *narrow;
    size_t n;
    int result;

    arena_init(&arena, 0);
    result = column_decode_u64(&in, max_values, &arena, &values, &n, err);
    if (result == 0)
        result = column_decode_u32(&in, max_values, &arena, &narrow, &n, err);
    arena_done(&arena);
    return result;
}

TEST(column_can_be_passed_over)
{
    const uint64_t first[] = { 5, 900, 70000 }, second[] = { 1, 2 };
    uint64_t *values;
    struct buffer bytes;
    struct arena arena;
    struct slice rest;
    struct error err;
    size_t n;

    buffer_init(&bytes, 0);
    arena_init(&arena, 0);
    column_encode_u64(first, ARRAY_LEN(first), COLUMN_PLAIN, &bytes);
    column_encode_u64(second, ARRAY_LEN(second), COLUMN_PLAIN, &bytes);
    rest = buffer_slice(&bytes);
    CHECK_ERROR(column_skip(&rest, 2, &n, &err), &err, ERR_CORRUPT);
    CHECK_EQ(rest.len, bytes.len);
    CHECK_OK(column_skip(&rest, 3, &n, &err), &err);
    CHECK_EQ(n, 3);
    CHECK_OK(column_decode_u64(&rest, 2, &arena, &values, &n, &err), &err);
    CHECK_EQ(n, 2);
    CHECK_EQ(values[1], 2);
    CHECK_ERROR(column_skip(&rest, 2, &n, &err), &err, ERR_CORRUPT);
    arena_done(&arena);
    buffer_done(&bytes);
}

TEST(column_refuses_every_truncation)
{
    static const char twice[] = SMALL_COLUMN SMALL_COLUMN;
    struct error err;

    for (size_t cut = 0; cut < sizeof(twice) - 1; cut++) {
        char *exact = memory_alloc(cut, &err); /* so that a sanitizer sees a step outside */

        CHECK(exact);
        memcpy(exact, twice, cut);
        CHECK_ERROR(decode(slice_of(exact, cut), 10, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "column: ");
        memory_free(exact);
    }
    CHECK_OK(decode(SLICE(SMALL_COLUMN SMALL_COLUMN), 10, &err), &err);
    CHECK_ERROR(decode(SLICE("\x04\x03\x0a\x05\x01\x02"), 10, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "column: cut off: 3 values in 1 planes, but only 2 bytes from byte 4");
    CHECK_ERROR(decode(SLICE("\x04\x03\x80"), 10, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "column: no valid number at byte 2 of its header");
}

TEST(column_refuses_headers_that_make_no_sense)
{
    struct error err;

    CHECK_ERROR(decode(SLICE("\x24\x01\x01\x01"), 10, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "header byte 0x24 says 9 planes, there are at most 8");
    CHECK_ERROR(decode(SLICE("\x84\x01\x01\x01\x01"), 10, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(decode(SLICE("\x00\x01\x00\x01"), 10, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "divisor is 0");
    /* 2^61 values of 8 bytes: the product is 0 modulo 2^64 */
    CHECK_ERROR(decode(SLICE("\x20\x80\x80\x80\x80\x80\x80\x80\x80\x20\x01\x01"), SIZE_MAX, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "cut off");
}

TEST(column_refuses_more_values_than_allowed)
{
    struct error err;

    CHECK_ERROR(decode(SLICE("\x00\xff\xff\xff\xff\x0f\x01\x01"), 1000000, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "column: has 4294967295 values, at most 1000000 are allowed");
}

TEST(column_refuses_values_that_do_not_fit)
{
    struct error err;
    struct arena arena;
    struct slice in = SLICE("\x04\x02\xff\xff\xff\xff\x0f\x01\x00\x01"); /* 1 and 1 + (2^32 - 1) */
    struct slice rest = in;
    uint64_t *values;
    uint32_t *narrow = NULL;
    size_t n = 77;

    arena_init(&arena, 0);
    CHECK_ERROR(column_decode_u32(&rest, 10, &arena, &narrow, &n, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "column: value 2 of 2 does not fit its type");
    CHECK(!narrow && n == 77 && rest.ptr == in.ptr);
    CHECK_OK(column_decode_u64(&rest, 10, &arena, &values, &n, &err), &err);
    CHECK_EQ(values[1], (uint64_t)1 << 32);
    rest = SLICE("\x00\x01\x01\x80\x80\x80\x80\x10");
    CHECK_ERROR(column_decode_u32(&rest, 10, &arena, &narrow, &n, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "column: minimum 4294967296 is more than its type's largest, 4294967295");
    arena_done(&arena);
}

TEST(column_survives_every_flipped_bit)
{
    char bytes[] = SMALL_COLUMN SMALL_COLUMN;
    struct error err;

    for (size_t bit = 0; bit < 8 * (sizeof(bytes) - 1); bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        err.code = ERR_OK;
        if (decode(slice_of(bytes, sizeof(bytes) - 1), 1000, &err) < 0)
            CHECK(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static int round_trip(void *context, struct error *err)
{
    static uint64_t values[MAX_N];
    struct buffer out;
    struct arena arena;
    struct slice rest;
    uint64_t *back;
    size_t n;
    int result;

    fill(COUNTS, values, MAX_N);
    buffer_init(&out, 0);
    arena_init(&arena, 0);
    column_encode_u64(values, MAX_N, COLUMN_PLAIN, &out);
    rest = buffer_slice(&out);
    result = buffer_check(&out, err);
    if (result == 0)
        result = column_decode_u64(&rest, MAX_N, &arena, &back, &n, err);
    arena_done(&arena);
    buffer_done(&out);
    return result;
}

TEST(column_survives_any_failing_allocation)
{
    test_each_allocation_failing(round_trip, NULL);
}
