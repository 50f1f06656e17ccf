// SPDX-License-Identifier: Apache-2.0
#include "pack/varint.h"

#include "base/memory.h"
#include "base/test.h"
#include "pack/testdata_internal.h"

/* Every place where a number takes one byte more, and its neighbours. */
static size_t list_edges(uint64_t *values)
{
    size_t n = 0;

    values[n++] = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        values[n++] = ((uint64_t)1 << bits) - 1;
        values[n++] = (uint64_t)1 << bits;
        values[n++] = ((uint64_t)1 << bits) + 1;
    }
    values[n++] = UINT64_MAX - 1;
    values[n++] = UINT64_MAX;
    return n;
}
#define MAX_EDGES 200

TEST(varint_round_trips_every_edge_in_the_size_it_announces)
{
    uint64_t values[MAX_EDGES];
    size_t n = list_edges(values);

    for (size_t i = 0; i < n; i++) {
        char bytes[VARINT_MAX_BYTES];
        char *end = varint_put(bytes, values[i]);
        uint64_t value = 77;

        CHECK_EQ(end - bytes, varint_size(values[i]));
        CHECK(varint_get(bytes, end, &value) == end);
        CHECK_EQ(value, values[i]);
    }
}

TEST(varint_knows_the_sizes_of_the_format)
{
    CHECK_EQ(varint_size(0), 1);
    CHECK_EQ(varint_size(127), 1);
    CHECK_EQ(varint_size(128), 2);
    CHECK_EQ(varint_size(16383), 2);
    CHECK_EQ(varint_size(16384), 3);
    CHECK_EQ(varint_size((uint64_t)1 << 63), 10);
    CHECK_EQ(varint_size(UINT64_MAX), 10);
}

TEST(varint_writes_the_bytes_that_protobuf_writes)
{
    char bytes[VARINT_MAX_BYTES];
    char *end = varint_put(bytes, 300);

    CHECK_TEXT(slice_of(bytes, (size_t)(end - bytes)), SLICE("\xac\x02"));
    end = varint_put(bytes, UINT64_MAX);
    CHECK_TEXT(slice_of(bytes, (size_t)(end - bytes)), SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(varint_refuses_every_truncation_without_reading_on)
{
    uint64_t values[MAX_EDGES];
    size_t n = list_edges(values);

    for (size_t i = 0; i < n; i++) {
        size_t len = varint_size(values[i]);

        for (size_t cut = 0; cut < len; cut++) {
            struct error err;
            char whole[VARINT_MAX_BYTES];
            char *bytes = memory_alloc(cut, &err); /* of exactly this size, so that a sanitizer sees a step outside */
            uint64_t value = 77;

            CHECK(bytes);
            varint_put(whole, values[i]);
            memcpy(bytes, whole, cut);
            CHECK(!varint_get(bytes, bytes + cut, &value));
            CHECK_EQ(value, 77);
            memory_free(bytes);
        }
    }
}

TEST(varint_refuses_what_does_not_fit_64_bits)
{
    static const char too_large[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    static const char too_long[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00";
    uint64_t value = 77;

    CHECK(!varint_get(too_large, too_large + 10, &value));
    CHECK(!varint_get(too_long, too_long + 11, &value));
    CHECK_EQ(value, 77);
}

TEST(varint_reads_needlessly_long_forms)
{
    static const char seven[] = "\x87\x80\x80\x80\x80\x80\x80\x80\x80\x00";
    uint64_t value = 77;

    CHECK(varint_get(seven, seven + 10, &value) == seven + 10);
    CHECK_EQ(value, 7);
}

TEST(varint_next_cuts_numbers_off_and_stops_at_the_end)
{
    struct slice rest = SLICE("\x05\xac\x02\x80");
    uint64_t value = 0;

    CHECK(varint_next(&rest, &value));
    CHECK_EQ(value, 5);
    CHECK(varint_next(&rest, &value));
    CHECK_EQ(value, 300);
    CHECK(!varint_next(&rest, &value));
    CHECK_EQ(rest.len, 1);
    rest = (struct slice){ 0 };
    CHECK(!varint_next(&rest, &value));
    CHECK_EQ(value, 300);
}

TEST(varint_zigzag_keeps_small_magnitudes_small)
{
    CHECK_EQ(varint_zigzag(0), 0);
    CHECK_EQ(varint_zigzag(-1), 1);
    CHECK_EQ(varint_zigzag(1), 2);
    CHECK_EQ(varint_zigzag(-2), 3);
    CHECK_EQ(varint_zigzag(INT64_MAX), UINT64_MAX - 1);
    CHECK_EQ(varint_zigzag(INT64_MIN), UINT64_MAX);
    for (int64_t value = -1000; value <= 1000; value++)
        CHECK_EQ(varint_unzigzag(varint_zigzag(value)), value);
    CHECK_EQ(varint_unzigzag(varint_zigzag(INT64_MIN)), INT64_MIN);
    CHECK_EQ(varint_unzigzag(varint_zigzag(INT64_MAX)), INT64_MAX);
}

TEST(varint_arrays_round_trip_in_bulk)
{
    enum { N = 1000 };
    static uint64_t values[N], wide[N];
    static uint32_t narrow[N], narrow_back[N];
    struct error err;
    struct buffer out;
    struct slice rest;
    uint64_t state = 1;

    for (size_t i = 0; i < N; i++) {
        values[i] = testdata_random(&state) >> (testdata_random(&state) % 64);
        narrow[i] = (uint32_t)values[i];
    }
    for (size_t n = 0; n <= N; n += n < 3 ? 1 : 499) {
        buffer_init(&out, 0);
        varint_encode_u64(values, n, &out);
        varint_encode_u32(narrow, n, &out);
        buffer_append_text(&out, "rest");
        CHECK_OK(buffer_check(&out, &err), &err);
        rest = buffer_slice(&out);
        CHECK_OK(varint_decode_u64(&rest, wide, n, &err), &err);
        CHECK_OK(varint_decode_u32(&rest, narrow_back, n, &err), &err);
        CHECK_TEXT(rest, "rest");
        CHECK(n == 0 || memcmp(wide, values, n * sizeof(values[0])) == 0);
        CHECK(n == 0 || memcmp(narrow_back, narrow, n * sizeof(narrow[0])) == 0);
        buffer_done(&out);
    }
}

TEST(varint_arrays_name_the_number_that_is_cut_off)
{
    struct slice rest = SLICE("\x01\xac\x02\x80\x80");
    uint64_t values[3];
    struct error err;

    CHECK_ERROR(varint_decode_u64(&rest, values, 3, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "number 3 of 3, at byte 3, is cut off");
    CHECK_EQ(rest.len, 5);
    rest = (struct slice){ 0 };
    CHECK_ERROR(varint_decode_u64(&rest, values, 1, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "number 1 of 1, at byte 0, is cut off");
}

TEST(varint_arrays_name_the_number_that_does_not_fit)
{
    struct slice wide = SLICE("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    struct slice narrow = SLICE("\xff\xff\xff\xff\x0f\x80\x80\x80\x80\x10");
    uint64_t values[2];
    uint32_t narrowed[2];
    struct error err;

    CHECK_ERROR(varint_decode_u64(&wide, values, 2, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "number 2 of 2, at byte 1, does not fit 64 bits");
    CHECK_ERROR(varint_decode_u32(&narrow, narrowed, 2, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "number 2 of 2, at byte 5, does not fit 32 bits");
}

TEST(varint_arrays_stop_at_the_limit_of_the_buffer)
{
    static const uint64_t values[10] = { 1, 2, 3 };
    struct error err;
    struct buffer out;

    buffer_init(&out, 50);
    varint_encode_u64(values, 10, &out);
    CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
}
