// SPDX-License-Identifier: Apache-2.0
#include "pack/bitcolumn.h"

#include "base/hash.h"
#include "base/test.h"

#define MAX_VALUES 512

/* Writes and reads a column, with something behind it; how many bytes it takes. */
static size_t round_trip(const uint64_t *values, size_t n)
{
    AUTO(buffer_done) struct buffer out;
    static uint64_t back[MAX_VALUES], scratch[MAX_VALUES];
    struct slice rest;
    struct error err;
    size_t len;

    buffer_init(&out, 0);
    CHECK(n <= MAX_VALUES);
    bitcolumn_encode(values, n, scratch, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    len = out.len;
    buffer_append_text(&out, "behind");
    rest = buffer_slice(&out);
    CHECK_OK(bitcolumn_decode(&rest, back, n, &err), &err);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(back[i], values[i]);
    CHECK_TEXT(rest, "behind");
    return len;
}

TEST(bitcolumn_gives_back_what_it_was_given)
{
    static const uint64_t edges[] = { 0, UINT64_MAX, 1, UINT64_MAX / 2, UINT64_MAX / 2 + 1, 0, 0, 7, UINT64_MAX - 1 };
    static const uint64_t half[] = { 0, UINT64_MAX / 2 + 1, 0, UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1 };

    round_trip(edges, 0);
    for (size_t n = 1; n <= ARRAY_LEN(edges); n++)
        round_trip(edges, n);
    round_trip(half, ARRAY_LEN(half));
}

TEST(bitcolumn_gives_back_random_columns)
{
    uint64_t values[MAX_VALUES], seed = 1;

    for (unsigned times = test_times(400); times-- > 0;) {
        size_t n = (seed = hash_mix64(seed + 1)) % MAX_VALUES;
        unsigned shift = hash_mix64(seed) % 64, kind = hash_mix64(seed + 7) % 3;
        uint64_t factor = hash_mix64(seed + 9) % 5000;

        for (size_t i = 0; i < n; i++) {
            seed = hash_mix64(seed + i);
            values[i] = (seed >> shift) * factor + (kind && i ? values[i - 1] : 0);
            values[i] += kind == 2 ? i * i : 0;
        }
        round_trip(values, n);
    }
}

TEST(bitcolumn_of_what_follows_a_rule_takes_a_few_bytes)
{
    uint64_t same[360], steady[360], nearly[360], pages[360];

    for (size_t i = 0; i < 360; i++) {
        same[i] = 42;
        steady[i] = 1794821400123 + 10000 * i;
        nearly[i] = steady[i] + (i % 7 == 0);
        pages[i] = (1000 + hash_mix64(i) % 16) * 4096;
    }
    CHECK_EQ(round_trip(same, 360), 3); /* how, no divisor, 42 */
    CHECK_EQ(round_trip(steady, 360), 11);
    CHECK(round_trip(nearly, 360) <= 360 * 2 / 8 + 16);
    CHECK(round_trip(pages, 360) <= 360 * 6 / 8 + 16);
}

TEST(bitcolumn_refuses_what_is_cut_or_impossible)
{
    AUTO(buffer_done) struct buffer out;
    static const uint64_t values[] = { 5, 1, 900, 3, 77, 12 };
    uint64_t back[ARRAY_LEN(values)], scratch[ARRAY_LEN(values)];
    struct slice rest;
    struct error err;

    buffer_init(&out, 0);
    bitcolumn_encode(values, ARRAY_LEN(values), scratch, &out);
    for (size_t len = 0; len < out.len; len++) {
        rest = slice_of(out.data, len);
        CHECK_ERROR(bitcolumn_decode(&rest, back, ARRAY_LEN(values), &err), &err, ERR_CORRUPT);
        CHECK_EQ(rest.len, len);
    }
    rest = SLICE("\3\0\0\0");
    CHECK_ERROR(bitcolumn_decode(&rest, back, 1, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "header is cut off or impossible");
    rest = SLICE("\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0"); /* a code of zeros without end */
    CHECK_ERROR(bitcolumn_decode(&rest, back, 2, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "value 0 of 2 is cut off or no code");
}
