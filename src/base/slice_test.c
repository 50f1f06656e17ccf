// SPDX-License-Identifier: Apache-2.0
#include "base/slice.h"

#include "base/test.h"

#include <math.h>

static const struct slice nothing = { NULL, 0 };

TEST(slice_order_is_bytewise_and_a_prefix_sorts_first)
{
    CHECK(slice_compare(SLICE("a"), SLICE("b")) < 0);
    CHECK(slice_compare(SLICE("ab"), SLICE("a")) > 0);
    CHECK(slice_compare(SLICE("a"), SLICE("ab")) < 0);
    CHECK(slice_compare(SLICE("\xff"), SLICE("a")) > 0);
    CHECK_EQ(slice_compare(SLICE("a\0b"), SLICE("a\0b")), 0);
    CHECK(slice_compare(nothing, SLICE("a")) < 0);
    CHECK_EQ(slice_compare(nothing, SLICE("")), 0);
}

TEST(slice_equality_looks_at_every_byte)
{
    CHECK(slice_equal(SLICE("a\0b"), SLICE("a\0b")));
    CHECK(!slice_equal(SLICE("a\0b"), SLICE("a\0c")));
    CHECK(!slice_equal(SLICE("a"), SLICE("ab")));
    CHECK(slice_equal(nothing, SLICE("")));
    CHECK(slice_is(SLICE("cpu"), "cpu") && !slice_is(SLICE("cpu"), "cp"));
    CHECK(slice_equal_nocase(SLICE("Content-Type"), SLICE("content-TYPE")));
    CHECK(!slice_equal_nocase(SLICE("a["), SLICE("A{"))); /* 0x20 apart, but no letters */
}

TEST(slice_prefix_and_suffix)
{
    CHECK(slice_starts_with(SLICE("profile.pb"), SLICE("profile")));
    CHECK(!slice_starts_with(SLICE("pro"), SLICE("profile")));
    CHECK(slice_ends_with(SLICE("profile.pb"), SLICE(".pb")));
    CHECK(!slice_ends_with(SLICE("pb"), SLICE(".pb")));
    CHECK(slice_starts_with(nothing, SLICE("")) && slice_ends_with(nothing, SLICE("")));
}

TEST(slice_find_gives_positions_or_minus_one)
{
    struct slice text = SLICE("a;b;c");

    CHECK_EQ(slice_find_byte(text, ';'), 1);
    CHECK_EQ(slice_find_last_byte(text, ';'), 3);
    CHECK_EQ(slice_find_byte(text, 'x'), -1);
    CHECK_EQ(slice_find_last_byte(text, 'x'), -1);
    CHECK_EQ(slice_find(text, SLICE("b;")), 2);
    CHECK_EQ(slice_find(text, SLICE("b;c;")), -1);
    CHECK_EQ(slice_find(text, SLICE("")), 0);
    CHECK_EQ(slice_find(nothing, SLICE("x")), -1);
    CHECK_EQ(slice_find_byte(nothing, 'x'), -1);
    CHECK_EQ(slice_find_last_byte(nothing, 'x'), -1);
}

TEST(slice_sub_is_clamped_to_what_is_there)
{
    CHECK_TEXT(slice_sub(SLICE("hello"), 1, 3), "ell");
    CHECK_TEXT(slice_sub(SLICE("hello"), 3, SIZE_MAX), "lo");
    CHECK_TEXT(slice_sub(SLICE("hello"), 9, 3), "");
    CHECK_EQ(slice_sub(nothing, 2, 3).len, 0);
}

TEST(slice_trim_takes_white_space_off_both_ends_only)
{
    CHECK_TEXT(slice_trim(SLICE(" \t a b \r\n")), "a b");
    CHECK_TEXT(slice_trim(SLICE(" \v\f ")), "");
    CHECK_TEXT(slice_trim(nothing), "");
}

TEST(slice_next_line_knows_both_line_ends_and_a_last_line_without)
{
    struct slice rest = SLICE("one\r\n\ntwo\rx\nlast"), line;

    CHECK(slice_next_line(&rest, &line));
    CHECK_TEXT(line, "one");
    CHECK(slice_next_line(&rest, &line));
    CHECK_TEXT(line, "");
    CHECK(slice_next_line(&rest, &line));
    CHECK_TEXT(line, "two\rx");
    CHECK(slice_next_line(&rest, &line));
    CHECK_TEXT(line, "last");
    CHECK(!slice_next_line(&rest, &line));

    rest = SLICE("one\n");
    CHECK(slice_next_line(&rest, &line) && !slice_next_line(&rest, &line));
}

TEST(slice_next_part_gives_empty_parts_too)
{
    struct slice rest = SLICE("a;;b;"), part;
    const char *wanted[] = { "a", "", "b", "" };

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        CHECK(slice_next_part(&rest, ';', &part));
        CHECK_TEXT(part, wanted[i]);
    }
    CHECK(!slice_next_part(&rest, ';', &part));

    rest = SLICE("");
    CHECK(slice_next_part(&rest, ';', &part) && part.len == 0);
    CHECK(!slice_next_part(&rest, ';', &part));
}

TEST(slice_integers_use_every_byte_and_must_fit)
{
    int64_t i64 = 0;
    uint64_t u64 = 0;

    CHECK(slice_to_u64(SLICE("18446744073709551615"), &u64));
    CHECK(u64 == UINT64_MAX);
    CHECK(slice_to_i64(SLICE("-9223372036854775808"), &i64));
    CHECK_EQ(i64, INT64_MIN);
    CHECK(slice_to_i64(SLICE("+12"), &i64));
    CHECK_EQ(i64, 12);
    CHECK(slice_to_u64_hex(SLICE("00fFffFFffffffff"), &u64));
    CHECK_EQ(u64, 0x00ffffffffffffff);

    i64 = 7;
    u64 = 7;
    CHECK(!slice_to_u64(SLICE("18446744073709551616"), &u64));
    CHECK(!slice_to_u64(SLICE("99999999999999999999"), &u64));
    CHECK(!slice_to_i64(SLICE("9223372036854775808"), &i64));
    CHECK(!slice_to_i64(SLICE("-9223372036854775809"), &i64));
    CHECK(!slice_to_u64(SLICE("-1"), &u64) && !slice_to_u64(SLICE(""), &u64) && !slice_to_u64(nothing, &u64));
    CHECK(!slice_to_u64(SLICE("1 "), &u64) && !slice_to_u64(SLICE(" 1"), &u64) && !slice_to_u64(SLICE("1\0"), &u64));
    CHECK(!slice_to_i64(SLICE("-"), &i64) && !slice_to_i64(SLICE("--1"), &i64) && !slice_to_i64(SLICE(""), &i64));
    CHECK(!slice_to_u64_hex(SLICE("0x1"), &u64) && !slice_to_u64_hex(SLICE(""), &u64));
    CHECK(!slice_to_u64_hex(SLICE("10000000000000000"), &u64));
    CHECK_EQ(i64, 7);
    CHECK_EQ(u64, 7);
}

TEST(slice_doubles_use_every_byte_and_are_finite)
{
    double value = 7;

    CHECK(slice_to_double(SLICE("-1.5e3"), &value));
    CHECK_NEAR(value, -1500, 0);
    value = 7;
    CHECK(!slice_to_double(SLICE("1,5"), &value) && !slice_to_double(SLICE(" 1"), &value));
    CHECK(!slice_to_double(SLICE("1 "), &value) && !slice_to_double(SLICE("1\0"), &value));
    CHECK(!slice_to_double(SLICE(""), &value) && !slice_to_double(SLICE("x"), &value));
    CHECK(!slice_to_double(SLICE("1e999"), &value) && !slice_to_double(SLICE("inf"), &value));
    CHECK(!slice_to_double(SLICE("nan"), &value));
    CHECK_NEAR(value, 7, 0);
}

TEST(slice_utf8_accepts_the_well_formed_only)
{
    static const struct {
        const char *text;
        size_t first_len;
    } cases[] = {
        { "a", 1 },
        { "\xc2\x80", 2 },
        { "\xdf\xbf", 2 },
        { "\xe0\xa0\x80", 3 },
        { "\xed\x9f\xbf", 3 },
        { "\xee\x80\x80", 3 },
        { "\xf0\x90\x80\x80", 4 },
        { "\xf4\x8f\xbf\xbf", 4 },
        { "\x80", 0 },             /* a continuation alone */
        { "\xc1\xbf", 0 },         /* overlong */
        { "\xe0\x9f\xbf", 0 },     /* overlong */
        { "\xed\xa0\x80", 0 },     /* a surrogate */
        { "\xf0\x8f\xbf\xbf", 0 }, /* overlong */
        { "\xf4\x90\x80\x80", 0 }, /* past U+10FFFF */
        { "\xf5\x80\x80\x80", 0 },
        { "\xe2\x82", 0 }, /* cut */
        { "\xe2\x82x", 0 },
        { "\xf0\x9f\x98x", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(slice_utf8_len(slice_from(cases[i].text)), cases[i].first_len);
        CHECK_EQ(slice_is_utf8(slice_from(cases[i].text)), cases[i].first_len > 0);
    }
    CHECK_EQ(slice_utf8_len(nothing), 0);
    CHECK(slice_is_utf8(nothing));
    CHECK(slice_is_utf8(SLICE("gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xa5")));
    CHECK(!slice_is_utf8(SLICE("gr\xc3\xbc\xc3")));
}
