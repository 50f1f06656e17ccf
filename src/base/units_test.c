// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include "base/test.h"

#include <math.h>

TEST(units_read_durations)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        { "0", 0 },
        { "0s", 0 },
        { "5ns", 5 },
        { "10us", 10000 },
        { "10µs", 10000 },
        { "250ms", 250000000 },
        { "30s", 30000000000 },
        { "30 s", 30000000000 },
        { "1h30m", 5400000000000 },
        { "1h 30m", -1 },
        { "1.5h", 5400000000000 },
        { "0.0000000015s", 1 },
        { "2min", 120000000000 },
        { "7d", 604800000000000 },
        { "1w", 604800000000000 },
        { "1w2d3h4m5s6ms7us8ns", 604800000000000 + 172800000000000 + 10800000000000 + 240000000000 + 5006007008 },
        { "9223372036854775807ns", INT64_MAX },
        { "9223372036854775808ns", -1 },
        { "106751d", 106751ll * 86400000000000 },
        { "106752d", -1 },
        { "15250w9223372036s", -1 },
        { "99999999999999999999w", -1 },
        { "100000000000000000000ns", -1 },
        { "", -1 },
        { "30", -1 },
        { "s", -1 },
        { "-5s", -1 },
        { "+5s", -1 },
        { "1.s", -1 },
        { ".5s", -1 },
        { "1..5s", -1 },
        { "30m1h", -1 },
        { "1h1h", -1 },
        { "1m1min", -1 },
        { "5S", -1 },
        { "5 ", -1 },
        { "5s ", -1 },
        { " 5s", -1 },
        { "5  s", -1 },
        { "1y", -1 },
        { "1e3s", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ns = -1;

        if (units_parse_duration(slice_from(cases[i].text), &ns) != (cases[i].ns >= 0) || ns != cases[i].ns)
            test_fail(__FILE__, __LINE__, "'%s' gave %lld", cases[i].text, (long long)ns);
    }
}

TEST(units_read_sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        { "0", 0 },
        { "4096", 4096 },
        { "4096B", 4096 },
        { "512KB", 512000 },
        { "512kB", 512000 },
        { "10MB", 10000000 },
        { "64MiB", 64 << 20 },
        { "64 mib", 64 << 20 },
        { "1.5GiB", 3ull << 29 },
        { "2TB", 2000000000000 },
        { "1PiB", 1ull << 50 },
        { "18446744073709551615", UINT64_MAX },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t bytes = 77;

        if (!units_parse_size(slice_from(cases[i].text), &bytes) || bytes != cases[i].bytes)
            test_fail(__FILE__, __LINE__, "'%s' gave %llu", cases[i].text, (unsigned long long)bytes);
    }
}

TEST(units_refuse_sizes_that_are_wrong_unclear_or_too_large)
{
    static const char *const cases[] = {
        "18446744073709551616", "16384PiB", "64M", "64K", "1.5", "", "MiB", "-1", "1MB2KB", "1 ", "1 0", "0x10",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t bytes = 77;

        if (units_parse_size(slice_from(cases[i]), &bytes) || bytes != 77)
            test_fail(__FILE__, __LINE__, "'%s' gave %llu", cases[i], (unsigned long long)bytes);
    }
}

TEST(units_read_percents_only_with_their_sign)
{
    double share = -1;

    CHECK(units_parse_percent(SLICE("90%"), &share));
    CHECK_NEAR(share, 0.9, 1e-15);
    CHECK(units_parse_percent(SLICE("0.5 %"), &share));
    CHECK_NEAR(share, 0.005, 1e-15);
    CHECK(units_parse_percent(SLICE("250%"), &share));
    CHECK_NEAR(share, 2.5, 1e-15);
    CHECK(units_parse_percent(SLICE("0"), &share));
    CHECK_NEAR(share, 0, 0);
    CHECK(!units_parse_percent(SLICE("0.9"), &share));
    CHECK(!units_parse_percent(SLICE("1"), &share));
    CHECK(!units_parse_percent(SLICE("-1%"), &share));
    CHECK(!units_parse_percent(SLICE("1%%"), &share));
    CHECK(!units_parse_percent(SLICE("%"), &share));
    CHECK(!units_parse_percent(SLICE(""), &share));
    CHECK(!units_parse_percent(SLICE("0%5"), &share));
    CHECK(!units_parse_percent(SLICE("0x"), &share));
}

TEST(units_read_rates)
{
    static const struct {
        const char *text;
        double rate_hz;
    } cases[] = {
        { "97", 97 },     { "100Hz", 100 }, { "100 hz", 100 }, { "1.5kHz", 1500 }, { "10/s", 10 },  { "600/min", 10 },
        { "600/m", 10 },  { "36/h", 0.01 }, { "0.5", 0.5 },    { "0", 0 },         { "", -1 },      { "-1", -1 },
        { "10 / s", -1 }, { "10/", -1 },    { "10/d", -1 },    { "Hz", -1 },       { "10Hz5", -1 }, { "1e3", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double rate_hz = -1;

        CHECK_EQ(units_parse_rate(slice_from(cases[i].text), &rate_hz), cases[i].rate_hz >= 0);
        CHECK_NEAR(rate_hz, cases[i].rate_hz, 1e-12);
    }
}

TEST(units_read_truth_in_several_words)
{
    bool value = false;

    CHECK(units_parse_bool(SLICE("true"), &value) && value);
    CHECK(units_parse_bool(SLICE("No"), &value) && !value);
    CHECK(units_parse_bool(SLICE("ON"), &value) && value);
    CHECK(units_parse_bool(SLICE("0"), &value) && !value);
    CHECK(!units_parse_bool(SLICE("maybe"), &value));
    CHECK(!units_parse_bool(SLICE(""), &value));
}

TEST(units_show_times_with_three_digits)
{
    CHECK_TEXT(units_human_ns(0).text, "0s");
    CHECK_TEXT(units_human_ns(1).text, "1ns");
    CHECK_TEXT(units_human_ns(999).text, "999ns");
    CHECK_TEXT(units_human_ns(1500).text, "1.50us");
    CHECK_TEXT(units_human_ns(10000000).text, "10ms");
    CHECK_TEXT(units_human_ns(12345678).text, "12.3ms");
    CHECK_TEXT(units_human_ns(2340000000).text, "2.34s");
    CHECK_TEXT(units_human_ns(90000000000).text, "1.50min");
    CHECK_TEXT(units_human_ns(11520000000000).text, "3.20h");
    CHECK_TEXT(units_human_ns(12 * 86400000000000).text, "12d");
    CHECK_TEXT(units_human_ns(-2340000000).text, "-2.34s");
    CHECK_TEXT(units_human_ns(INT64_MIN).text, "-106752d");
}

TEST(units_that_round_up_to_the_next_unit_are_shown_in_it)
{
    CHECK_TEXT(units_human_ns(999400).text, "999us");
    CHECK_TEXT(units_human_ns(999500).text, "1ms");
    CHECK_TEXT(units_human_ns(59960000000).text, "1min");
    CHECK_TEXT(units_human_ns(9994000).text, "9.99ms");
    CHECK_TEXT(units_human_ns(9996000).text, "10ms");
    CHECK_TEXT(units_human_bytes(1048575).text, "1MiB");
    CHECK_TEXT(units_human_count(999999).text, "1M");
}

TEST(units_show_bytes_counts_shares_and_rates)
{
    CHECK_TEXT(units_human_bytes(0).text, "0B");
    CHECK_TEXT(units_human_bytes(1000).text, "1000B");
    CHECK_TEXT(units_human_bytes(1536).text, "1.50KiB");
    CHECK_TEXT(units_human_bytes(64 << 20).text, "64MiB");
    CHECK_TEXT(units_human_bytes(INT64_MAX).text, "8192PiB");
    CHECK_TEXT(units_human_count(0).text, "0");
    CHECK_TEXT(units_human_count(950).text, "950");
    CHECK_TEXT(units_human_count(1234).text, "1.23k");
    CHECK_TEXT(units_human_count(-4500000).text, "-4.50M");
    CHECK_TEXT(units_human_percent(0).text, "0%");
    CHECK_TEXT(units_human_percent(0.00001).text, "<0.01%");
    CHECK_TEXT(units_human_percent(-0.00001).text, ">-0.01%");
    CHECK_TEXT(units_human_percent(0.0012).text, "0.12%");
    CHECK_TEXT(units_human_percent(-0.1234).text, "-12.3%");
    CHECK_TEXT(units_human_percent(0.99999).text, "100%");
    CHECK_TEXT(units_human_percent(1).text, "100%");
    CHECK_TEXT(units_human_percent(NAN).text, "-");
    CHECK_TEXT(units_human_percent(INFINITY).text, "-");
    CHECK_TEXT(units_human_rate(0).text, "0/s");
    CHECK_TEXT(units_human_rate(0.5).text, "0.5/s");
    CHECK_TEXT(units_human_rate(97).text, "97/s");
    CHECK_TEXT(units_human_rate(1234).text, "1.23k/s");
    CHECK_TEXT(units_human_rate(NAN).text, "-");
}
