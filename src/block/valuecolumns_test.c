// SPDX-License-Identifier: Apache-2.0
#include "block/valuecolumns.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/test.h"
#include "pack/column.h"
#include "pack/varint.h"
#include "profile/profile.h"

#define MAX_N 5000

/* How the second of two types with two values each is kept. */
static struct value_form second_form(const int64_t base[2], const int64_t values[2])
{
    int64_t both[] = { base[0], base[1], values[0], values[1] };
    struct value_form forms[2];

    valuecolumns_find_forms(both, 2, 2, 2, forms);
    CHECK_EQ(forms[0].base, 0);
    return forms[1];
}

TEST(valuecolumns_find_types_that_are_multiples_of_the_first)
{
    static const struct {
        int64_t base[2], values[2], ratio;
    } cases[] = {
        { { 1, 3 }, { 10, 30 }, 10 },
        { { 0, 2 }, { 0, -6 }, -3 },
        { { 5, -2 }, { 0, 0 }, 0 },
        { { 0, 0 }, { 0, 0 }, 0 },
        { { INT64_MIN, 1 }, { INT64_MIN, 1 }, 1 },
        { { 1, -1 }, { INT64_MAX, -INT64_MAX }, INT64_MAX },
        { { 1, 0 }, { INT64_MIN, 0 }, INT64_MIN },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(second_form(cases[i].base, cases[i].values).base, 1);
        CHECK_EQ(second_form(cases[i].base, cases[i].values).ratio, cases[i].ratio);
    }
}

TEST(valuecolumns_use_no_ratio_that_is_not_exact)
{
    static const int64_t cases[][2][2] = {
        { { 1, 2 }, { 10, 21 } },
        { { 2, 4 }, { 1, 2 } },
        { { 0, 1 }, { 7, 7 } },
        { { -1, 0 }, { INT64_MIN, 0 } },
        { { 1, (int64_t)1 << 62 }, { 4, 0 } }, /* 4 * 2^62 is 0 in 64 bits */
        { { 1, -1 }, { INT64_MIN, INT64_MIN } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_EQ(second_form(cases[i][0], cases[i][1]).base, 0);
}

TEST(valuecolumns_ratios_lead_to_types_kept_by_themselves)
{
    static const int64_t values[] = { 1, 2, 5, 5, 2, 4, 10, 10, 3, 6 }; /* types 2 and 4 are multiples of 0, 3 of 1 */
    struct value_form forms[5];

    valuecolumns_find_forms(values, 2, 2, 5, forms);
    CHECK_EQ(forms[0].base, 0);
    CHECK_EQ(forms[1].base, 0);
    CHECK_EQ(forms[2].base, 1);
    CHECK_EQ(forms[3].base, 2);
    CHECK_EQ(forms[4].base, 1);
    valuecolumns_find_forms(values, 2, 0, 5, forms);
    for (size_t type = 0; type < 5; type++)
        CHECK_EQ(forms[type].base, 0);
}

static void fill(int64_t *values, size_t stride, size_t n, uint32_t n_types, uint64_t seed)
{
    for (uint32_t type = 0; type < n_types; type++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t number = hash_mix64(seed + type * 7919 + i);

            switch ((seed + type) % 4) {
            case 0: values[type * stride + i] = (int64_t)(number % 4); break;
            case 1: values[type * stride + i] = values[i] / 2; break;
            case 2: values[type * stride + i] = (int64_t)number; break;
            case 3: values[type * stride + i] = INT64_MIN + (int64_t)(number % 2) * INT64_MAX; break;
            }
        }
    }
}

static void check_round_trip(size_t n, uint32_t n_types, bool has_order, uint64_t seed)
{
    static int64_t values[4 * (MAX_N + 9)];
    static uint64_t scratch[MAX_N];
    static uint32_t order[MAX_N];
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct slice rest;
    struct error err;
    int64_t *back;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    fill(values, n + 9, n, n_types, seed);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)(n - 1 - i);
    valuecolumns_encode(values, n + 9, has_order ? order : NULL, n, n_types, scratch, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK(out.len <= valuecolumns_max_bytes(n, n_types));
    rest = buffer_slice(&out);
    CHECK_OK(valuecolumns_decode(&rest, has_order ? order : NULL, n, n_types, &arena, &back, &err), &err);
    CHECK_EQ(rest.len, 0);
    rest = buffer_slice(&out);
    CHECK_OK(valuecolumns_skip(&rest, n, n_types, &err), &err);
    CHECK_EQ(rest.len, 0);
    for (uint32_t type = 0; type < n_types; type++)
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(back[type * n + i], values[type * (n + 9) + i]);
}

TEST(valuecolumns_of_any_length_come_back_the_same)
{
    static const size_t lengths[] = { 0, 1, 2, 63, 64, 65, 1023, 1024, 1025, MAX_N };

    for (size_t l = 0; l < ARRAY_LEN(lengths); l++)
        for (uint32_t n_types = 0; n_types <= 4; n_types++)
            for (uint64_t seed = 0; seed < 4; seed++)
                check_round_trip(lengths[l], n_types, seed % 2, seed);
}

TEST(valuecolumns_code_levels_as_differences_and_counts_as_they_are)
{
    static int64_t values[MAX_N];
    static uint64_t scratch[MAX_N];
    AUTO(buffer_done) struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < MAX_N; i++)
        values[i] = 1 + (int64_t)(hash_mix64(i) % 3);
    valuecolumns_encode(values, MAX_N, NULL, MAX_N, 1, scratch, &out);
    CHECK_EQ(out.data[1] & 3, COLUMN_PLAIN);
    for (size_t i = 0; i < MAX_N; i++)
        values[i] *= 10000000;
    buffer_clear(&out);
    valuecolumns_encode(values, MAX_N, NULL, MAX_N, 1, scratch, &out);
    CHECK_EQ(out.data[1] & 3, COLUMN_PLAIN);
    for (size_t i = 0; i < MAX_N; i++)
        values[i] = (int64_t)(i / 400) * 524288 + (int64_t)(i / 400) % 3;
    buffer_clear(&out);
    valuecolumns_encode(values, MAX_N, NULL, MAX_N, 1, scratch, &out);
    CHECK_EQ(out.data[1] & 3, COLUMN_ZIGZAG_DELTA);
}

static void check_refused(struct slice bytes, size_t n, uint32_t n_types, const char *words)
{
    AUTO(arena_done) struct arena arena;
    struct error err;
    int64_t *values;

    arena_init(&arena, 0);
    CHECK_ERROR(valuecolumns_decode(&bytes, NULL, n, n_types, &arena, &values, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, words);
}

TEST(valuecolumns_refuse_what_cannot_be)
{
    check_refused(SLICE(""), 1, 1, "type 0: no valid number");
    check_refused(SLICE("\x01\x02"), 1, 1, "type 0: is a multiple of type 0, which is no earlier type");
    check_refused(SLICE("\x00\x04\x01\x01\x00\x02\x01\x02\x02\x02"), 1, 3, "type 2: is a multiple of type 1, which");
    check_refused(SLICE("\x00\x04\x01\x01\x00\x02\x01"), 1, 2, "type 1: no valid number");
    check_refused(SLICE("\x00\x04\x01\x01\x00\x02"), 2, 1, "type 0: column has 1 values, 2 are wanted");
    check_refused(SLICE("\x00\x04\x01\x01\x00"), 1, 1, "type 0: column: cut off");
    /* 1 << 62, times 2 */
    check_refused(SLICE("\x00\x20\x01\x01\x00\0\0\0\0\0\0\0\x80\x01\x04"), 1, 2,
                  "type 1: value 1 of 1, 2 times the 4611686018427387904 of type 0, does not fit 64 bits");
}

TEST(valuecolumns_try_few_bases_only)
{
    int64_t values[7] = { 2, 3, 5, 7, 11, 13, 26 }; /* with one value each, 26 is a multiple of 2 */
    int64_t hidden[PROFILE_MAX_TYPES * 2];
    struct value_form forms[PROFILE_MAX_TYPES];

    valuecolumns_find_forms(values, 1, 1, 7, forms);
    CHECK_EQ(forms[6].base, 1);
    for (uint32_t type = 0; type < PROFILE_MAX_TYPES; type++) {
        hidden[type * 2] = 1;
        hidden[type * 2 + 1] = type < 6 ? type : 5;
    }
    valuecolumns_find_forms(hidden, 2, 2, PROFILE_MAX_TYPES, forms);
    CHECK_EQ(forms[6].base, 0); /* the same as type 5, which is one too many to try */
}

static int round_trip(void *context, struct error *err)
{
    static const int64_t values[] = { 1, 2, 7, 3 };
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    uint64_t scratch[2];
    struct slice rest;
    int64_t *back;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    valuecolumns_encode(values, 2, NULL, 2, 2, scratch, &out);
    if (buffer_check(&out, err) < 0)
        return -1;
    rest = buffer_slice(&out);
    return valuecolumns_decode(&rest, NULL, 2, 2, &arena, &back, err);
}

TEST(valuecolumns_survive_any_allocation_failing)
{
    test_each_allocation_failing(round_trip, NULL);
}
