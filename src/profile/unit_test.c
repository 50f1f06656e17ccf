// SPDX-License-Identifier: Apache-2.0
#include "profile/unit.h"

#include "base/test.h"

#include <stdio.h>

static void check_same(const char *a, const char *b)
{
    const struct unit *first = unit_find(slice_from(a)), *second = unit_find(slice_from(b));

    if (!first || first != second)
        test_fail(__FILE__, __LINE__, "'%s' and '%s' are not one unit", a, b);
}

TEST(unit_spellings_of_one_unit_are_found)
{
    check_same("ns", "nanoseconds");
    check_same("Nanosecond", "NS");
    check_same("us", "\xce\xbcs");
    check_same("us", "\xc2\xb5s");
    check_same("microseconds", "us");
    check_same("ms", "milliseconds");
    check_same("s", "seconds");
    check_same("sec", "secs");
    check_same("hrs", "hours");
    check_same("minutes", "min");
    check_same("B", "bytes");
    check_same("kB", "KiB");
    check_same("mb", "megabytes");
    check_same("count", "counts");
    CHECK(unit_find(SLICE("")) == NULL);
    CHECK(unit_find(SLICE("widgets")) == NULL);
    CHECK(unit_find(SLICE("a unit whose name has no end")) == NULL);
    CHECK_TEXT(unit_canonical(SLICE("ns")), "nanoseconds");
    CHECK_TEXT(unit_canonical(SLICE("B")), "bytes");
    CHECK_TEXT(unit_canonical(SLICE("widgets")), "widgets");
}

static void check_ratio(const char *from, const char *to, int64_t wanted_up, int64_t wanted_down)
{
    int64_t up = 0, down = 0;

    CHECK(unit_ratio(slice_from(from), slice_from(to), &up, &down));
    CHECK_EQ(up, wanted_up);
    CHECK_EQ(down, wanted_down);
}

TEST(unit_ratios_are_exact_and_in_lowest_terms)
{
    int64_t up = 7, down = 7;

    check_ratio("ms", "ns", 1000000, 1);
    check_ratio("ns", "ms", 1, 1000000);
    check_ratio("hours", "minutes", 60, 1);
    check_ratio("GB", "kb", 1 << 20, 1);
    check_ratio("bytes", "B", 1, 1);
    check_ratio("widgets", "widgets", 1, 1);
    CHECK(!unit_ratio(SLICE("ns"), SLICE("bytes"), &up, &down));
    CHECK(!unit_ratio(SLICE("widgets"), SLICE("gadgets"), &up, &down));
    CHECK_EQ(up, 7);
    CHECK_EQ(down, 7);
}

static const char *format(int64_t value, const char *unit)
{
    static struct unit_text text;

    text = unit_format(value, slice_from(unit));
    return text.text;
}

TEST(unit_format_prints_as_pprof_does)
{
    CHECK_TEXT(format(0, "ns"), "0");
    CHECK_TEXT(format(999, "ns"), "999ns");
    CHECK_TEXT(format(1000, "ns"), "1us");
    CHECK_TEXT(format(120000000, "nanoseconds"), "120ms");
    CHECK_TEXT(format(1230000000, "nanoseconds"), "1.23s");
    CHECK_TEXT(format(90, "s"), "90s");
    CHECK_TEXT(format(5400, "s"), "1.50hrs");
    CHECK_TEXT(format(-1500, "ns"), "-1.50us");
    CHECK_TEXT(format(524800, "bytes"), "512.50kB");
    CHECK_TEXT(format(1572864, "bytes"), "1.50MB");
    CHECK_TEXT(format(1023, "bytes"), "1023B");
    CHECK_TEXT(format(12345, "count"), "12345");
    CHECK_TEXT(format(-3, "widgets"), "-3");
    CHECK_TEXT(format(INT64_MIN, "ns"), "-2562047.79hrs");
    CHECK_TEXT(format(INT64_MAX, "petabytes"), "9223372036854775807PB");
}

TEST(unit_format_rounds_like_printf_for_every_fraction)
{
    for (int64_t value = 1000; value < 2000000; value += 7) {
        char wanted[32];
        size_t len;

        snprintf(wanted, sizeof(wanted), "%.2f", (double)value / (value < 1000000 ? 1e3 : 1e6));
        len = strlen(wanted);
        if (strcmp(wanted + len - 3, ".00") == 0)
            len -= 3;
        snprintf(wanted + len, sizeof(wanted) - len, "%s", value < 1000000 ? "us" : "ms");
        CHECK_TEXT(format(value, "ns"), wanted);
    }
}

static const char *format_in(int64_t value, const char *unit, const char *to)
{
    static struct unit_text text;

    text = unit_format_in(value, slice_from(unit), slice_from(to));
    return text.text;
}

TEST(unit_format_in_keeps_a_column_in_one_unit)
{
    CHECK_TEXT(format_in(10000000, "ns", "s"), "0.01s");
    CHECK_TEXT(format_in(1000000, "ns", "s"), "0");
    CHECK_TEXT(format_in(-12340000000, "ns", "ms"), "-12340ms");
    CHECK_TEXT(format_in(512, "bytes", "kB"), "0.50kB");
    CHECK_TEXT(format_in(90, "s", "minutes"), "1.50min");
    CHECK_TEXT(format_in(1500000000, "ns", "bytes"), "1.50s");
    CHECK_TEXT(format_in(5, "count", "count"), "5");
    CHECK_TEXT(format_in(5, "widgets", "widgets"), "5widgets");
    CHECK_TEXT(format_in(0, "widgets", "widgets"), "0");
}

TEST(unit_choose_follows_the_smallest_value)
{
    CHECK_TEXT(unit_choose(10000000, 12340000000, SLICE("nanoseconds")), "s");
    CHECK_TEXT(unit_choose(10000000, 900000000, SLICE("ns")), "ms");
    CHECK_TEXT(unit_choose(10000000, 1100000000, SLICE("ns")), "s");
    CHECK_TEXT(unit_choose(500000000, 1100000000, SLICE("ns")), "ms");
    CHECK_TEXT(unit_choose(0, 1100000000, SLICE("ns")), "s");
    CHECK_TEXT(unit_choose(0, 0, SLICE("ns")), "s");
    CHECK_TEXT(unit_choose(512, 600000, SLICE("bytes")), "kB");
    CHECK_TEXT(unit_choose(1, 600000, SLICE("count")), "count");
    CHECK_TEXT(unit_choose(1, 600000, SLICE("widgets")), "widgets");
    CHECK_TEXT(unit_choose(INT64_MIN, INT64_MAX, SLICE("ns")), "hrs");
}

TEST(unit_format_short_keeps_counts_narrow)
{
    CHECK_TEXT(unit_format_short(12345, SLICE("count")).text, "12.3k");
    CHECK_TEXT(unit_format_short(12345, SLICE("widgets")).text, "12.3k");
    CHECK_TEXT(unit_format_short(1230000000, SLICE("ns")).text, "1.23s");
}
