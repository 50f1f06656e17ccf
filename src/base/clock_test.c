// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "base/test.h"

#include <stdlib.h>
#include <time.h>

#define NOVEMBER 1794736800123456789 /* 2026-11-15T10:00:00.123456789Z */

static const char *utc(int64_t time_ns, int digits)
{
    static char text[CLOCK_TEXT_BYTES];

    return clock_format(time_ns, CLOCK_ZONE_UTC, digits, text);
}

TEST(clock_monotonic_and_cpu_time_do_not_go_back)
{
    int64_t mono_ns = clock_mono_ns(), cpu_ns = clock_cpu_ns();

    for (int i = 0; i < 1000; i++) {
        int64_t next_mono_ns = clock_mono_ns(), next_cpu_ns = clock_cpu_ns();

        CHECK(next_mono_ns >= mono_ns && next_cpu_ns >= cpu_ns);
        mono_ns = next_mono_ns;
        cpu_ns = next_cpu_ns;
    }
    CHECK(cpu_ns > 0);
    CHECK(clock_now_ns() / CLOCK_NS_PER_SECOND - time(NULL) <= 1);
}

TEST(clock_that_is_faked_stands_until_told_to_advance)
{
    int64_t mono_ns;

    clock_fake_set(NOVEMBER);
    mono_ns = clock_mono_ns();
    CHECK_EQ(clock_now_ns(), NOVEMBER);
    CHECK_EQ(clock_mono_ns(), mono_ns);
    clock_fake_advance(5);
    CHECK_EQ(clock_now_ns(), NOVEMBER + 5);
    CHECK_EQ(clock_mono_ns(), mono_ns + 5);
    clock_fake_set(1000); /* somebody sets the date back: intervals do not notice */
    CHECK_EQ(clock_now_ns(), 1000);
    CHECK_EQ(clock_mono_ns(), mono_ns + 5);
    clock_fake_stop();
    CHECK(clock_now_ns() != 1000);
}

TEST(clock_formats_utc_with_the_digits_wanted)
{
    CHECK_TEXT(utc(NOVEMBER, 0), "2026-11-15T10:00:00Z");
    CHECK_TEXT(utc(NOVEMBER, 3), "2026-11-15T10:00:00.123Z");
    CHECK_TEXT(utc(NOVEMBER, 9), "2026-11-15T10:00:00.123456789Z");
    CHECK_TEXT(utc(NOVEMBER, 1), "2026-11-15T10:00:00.1Z");
    CHECK_TEXT(utc(0, 0), "1970-01-01T00:00:00Z");
    CHECK_TEXT(utc(-1, 9), "1969-12-31T23:59:59.999999999Z");
    CHECK_TEXT(utc(-CLOCK_NS_PER_SECOND, 0), "1969-12-31T23:59:59Z");
    CHECK_TEXT(utc(INT64_MAX, 9), "2262-04-11T23:47:16.854775807Z");
    CHECK_TEXT(utc(INT64_MIN, 9), "1677-09-21T00:12:43.145224192Z");
}

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

TEST(clock_formats_local_time_with_its_offset)
{
    char text[CLOCK_TEXT_BYTES];

    set_zone("XXX-5:45"); /* POSIX counts westward */
    CHECK_TEXT(clock_format(NOVEMBER, CLOCK_ZONE_LOCAL, 3, text), "2026-11-15T15:45:00.123+05:45");
    set_zone("XXX3:30");
    CHECK_TEXT(clock_format(NOVEMBER, CLOCK_ZONE_LOCAL, 0, text), "2026-11-15T06:30:00-03:30");
    set_zone("XXX-0:19:32"); /* RFC 3339 knows no seconds here; the time shown must still be the same moment */
    CHECK_TEXT(clock_format(NOVEMBER, CLOCK_ZONE_LOCAL, 0, text), "2026-11-15T10:19:00+00:19");
    set_zone("UTC0");
    CHECK_TEXT(clock_format(NOVEMBER, CLOCK_ZONE_LOCAL, 0, text), "2026-11-15T10:00:00+00:00");
}

TEST(clock_parses_what_rfc_3339_allows)
{
    static const struct {
        const char *text;
        int64_t time_ns;
    } cases[] = {
        { "2026-11-15T10:00:00.123456789Z", NOVEMBER },
        { "2026-11-15t10:00:00.123456789z", NOVEMBER },
        { "2026-11-15 10:00:00.123456789999Z", NOVEMBER },
        { "2026-11-15T15:45:00.123456789+05:45", NOVEMBER },
        { "2026-11-15T06:30:00.123456789-03:30", NOVEMBER },
        { "2026-11-15T10:00:00.5-00:00", NOVEMBER - 123456789 + 500000000 },
        { "1970-01-01T00:00:00Z", 0 },
        { "1969-12-31T23:59:59.999999999Z", -1 },
        { "2024-02-29T00:00:00Z", 1709164800 * CLOCK_NS_PER_SECOND },
        { "2000-02-29T00:00:00Z", 951782400 * CLOCK_NS_PER_SECOND },
        { "1990-12-31T23:59:60Z", 662688000 * CLOCK_NS_PER_SECOND },
        { "1990-12-31T15:59:60.9-08:00", 662688000 * CLOCK_NS_PER_SECOND },
    };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t time_ns = 0;

        CHECK_OK(clock_parse(slice_from(cases[i].text), &time_ns, &err), &err);
        CHECK_EQ(time_ns, cases[i].time_ns);
    }
}

TEST(clock_refuses_what_is_no_time_and_says_why)
{
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        { "", "the date is not YYYY-MM-DD" },
        { "yesterday", "the date is not YYYY-MM-DD" },
        { "26-11-15T10:00:00Z", "the date is not YYYY-MM-DD" },
        { "2026-13-15T10:00:00Z", "the month is not 01 to 12" },
        { "2026-00-15T10:00:00Z", "the month is not 01 to 12" },
        { "2026-02-29T10:00:00Z", "the month has no such day" },
        { "1900-02-29T10:00:00Z", "the month has no such day" },
        { "2026-04-31T10:00:00Z", "the month has no such day" },
        { "2026-11-00T10:00:00Z", "the month has no such day" },
        { "2026-11-15", "no 'T' follows the date" },
        { "2026-11-15T10:00", "the time of day is not HH:MM:SS" },
        { "2026-11-15T10:00:0 Z", "the time of day is not HH:MM:SS" },
        { "2026-11-15T24:00:00Z", "past 23:59:60" },
        { "2026-11-15T10:60:00Z", "past 23:59:60" },
        { "2026-11-15T10:00:61Z", "past 23:59:60" },
        { "2026-11-15T10:00:00.Z", "no digit follows the '.'" },
        { "2026-11-15T10:00:00", "the zone is not" },
        { "2026-11-15T10:00:00+1:00", "the zone is not" },
        { "2026-11-15T10:00:00+24:00", "the zone is not" },
        { "2026-11-15T10:00:00+01:60", "the zone is not" },
        { "2026-11-15T10:00:00+0100", "the zone is not" },
        { "2026-11-15T10:00:00ZZ", "something follows the zone" },
        { "1500-01-01T00:00:00Z", "only the years" },
        { "9999-12-31T23:59:59Z", "only the years" },
    };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t time_ns = 4711;

        CHECK_ERROR(clock_parse(slice_from(cases[i].text), &time_ns, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, cases[i].words);
        CHECK_HAS(err.text, cases[i].text);
        CHECK_HAS(err.text, "write it like 2026-11-15T10:00:00Z");
        CHECK_EQ(time_ns, 4711);
    }
}

TEST(clock_parses_dates_as_midnight_in_utc)
{
    static const struct {
        const char *text;
        const char *words;
    } wrong[] = {
        { "", "the date is not YYYY-MM-DD" },
        { "2026-11-1", "the date is not YYYY-MM-DD" },
        { "2026-11-15T", "something follows the date" },
        { "2026-13-01", "the month is not 01 to 12" },
        { "2026-02-29", "the month has no such day" },
        { "9999-12-31", "only the years" },
    };
    int64_t time_ns = 0;
    struct error err;

    CHECK_OK(clock_parse_date(SLICE("2024-02-29"), &time_ns, &err), &err);
    CHECK_EQ(time_ns, 1709164800 * CLOCK_NS_PER_SECOND);
    CHECK_OK(clock_parse_date(SLICE("1970-01-01"), &time_ns, &err), &err);
    CHECK_EQ(time_ns, 0);
    time_ns = 4711;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK_ERROR(clock_parse_date(slice_from(wrong[i].text), &time_ns, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, wrong[i].words);
        CHECK_HAS(err.text, "write it like 2026-11-15");
        CHECK_EQ(time_ns, 4711);
    }
}

TEST(clock_reads_back_what_it_formats_and_no_shorter_text)
{
    char text[CLOCK_TEXT_BYTES];
    struct error err;

    set_zone("XXX-5:45");
    for (int64_t time_ns = INT64_MIN + CLOCK_NS_PER_SECOND; time_ns < INT64_MAX / 4 * 3; time_ns += INT64_MAX / 97) {
        int64_t back_ns;

        CHECK_OK(clock_parse(slice_from(clock_format(time_ns, CLOCK_ZONE_LOCAL, 9, text)), &back_ns, &err), &err);
        CHECK_EQ(back_ns, time_ns);
        for (size_t len = 0; len < strlen(text); len++)
            CHECK_ERROR(clock_parse(slice_of(text, len), &back_ns, &err), &err, ERR_INVALID);
    }
    set_zone("UTC0");
}
