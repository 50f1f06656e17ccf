// SPDX-License-Identifier: Apache-2.0
#include "base/timetext.h"

#include "base/clock.h"
#include "base/test.h"

#define SECOND_NS CLOCK_NS_PER_SECOND
#define HOUR_NS   (3600 * SECOND_NS)
#define DAY_NS    (24 * HOUR_NS)
#define NOW_NS    (1794744000 * SECOND_NS) /* 2026-11-15T12:00:00Z */
#define CURE      "; give now-1h, 2026-11-15T12:00:00Z or unix seconds"

static int64_t time_of(const char *text)
{
    int64_t time_ns = -1;
    struct error err;

    CHECK_OK(timetext_parse(slice_from(text), NOW_NS, &time_ns, &err), &err);
    return time_ns;
}

static void check_no_time(const char *text, const char *words)
{
    int64_t time_ns = -7;
    struct error err;

    CHECK_ERROR(timetext_parse(slice_from(text), NOW_NS, &time_ns, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK_EQ(time_ns, -7);
}

TEST(timetext_reads_rfc_3339_and_dates)
{
    CHECK_EQ(time_of("2026-11-15T12:00:00Z"), NOW_NS);
    CHECK_EQ(time_of("2026-11-15 12:00:00Z"), NOW_NS);
    CHECK_EQ(time_of(" 2026-11-15T13:00:00.5+01:00\n"), NOW_NS + SECOND_NS / 2);
    CHECK_EQ(time_of("2026-11-15T12:00:00.123456789Z"), NOW_NS + 123456789);
    CHECK_EQ(time_of("2026-11-15"), NOW_NS - 12 * HOUR_NS);
    CHECK_EQ(time_of("20261115"), NOW_NS - 12 * HOUR_NS);
}

TEST(timetext_tells_numbers_apart_by_their_length)
{
    CHECK_EQ(time_of("0"), 0);
    CHECK_EQ(time_of("1794744000"), NOW_NS);
    CHECK_EQ(time_of("1794744000123"), NOW_NS + 123000000);
    CHECK_EQ(time_of("1794744000123456"), NOW_NS + 123456000);
    CHECK_EQ(time_of("1794744000123456789"), NOW_NS + 123456789);
    CHECK_EQ(time_of("100000000"), 100000000 * SECOND_NS);
    CHECK_EQ(time_of("20261301"), 20261301 * SECOND_NS); /* no such month */
    CHECK_EQ(time_of("19001231"), 19001231 * SECOND_NS); /* too old to be meant */
    CHECK_EQ(time_of("19010101"), -2177452800 * SECOND_NS);
    CHECK_EQ(time_of("9223372036"), 9223372036 * SECOND_NS);
    CHECK_EQ(time_of("9223372036854775807"), INT64_MAX);
}

TEST(timetext_reads_distances_from_now)
{
    CHECK_EQ(time_of("now"), NOW_NS);
    CHECK_EQ(time_of("now-1h"), NOW_NS - HOUR_NS);
    CHECK_EQ(time_of("now-90m"), NOW_NS - HOUR_NS * 3 / 2);
    CHECK_EQ(time_of("now-7d"), NOW_NS - 7 * DAY_NS);
    CHECK_EQ(time_of("now+5m"), NOW_NS + HOUR_NS / 12);
    CHECK_EQ(time_of("now-1h30m"), NOW_NS - HOUR_NS * 3 / 2);
    CHECK_EQ(time_of("now-30m1h"), NOW_NS - HOUR_NS * 3 / 2);
    CHECK_EQ(time_of("now-1.5h"), NOW_NS - HOUR_NS * 3 / 2);
    CHECK_EQ(time_of("now-500ms"), NOW_NS - SECOND_NS / 2);
    CHECK_EQ(time_of("now-10\xc2\xb5s"), NOW_NS - 10000);
    CHECK_EQ(time_of("now-2w"), NOW_NS - 14 * DAY_NS);
    CHECK_EQ(time_of("now-1M"), NOW_NS - 30 * DAY_NS);
    CHECK_EQ(time_of("now-2mon"), NOW_NS - 60 * DAY_NS);
    CHECK_EQ(time_of("now-1y"), NOW_NS - 365 * DAY_NS);
    CHECK_EQ(time_of("now-1min"), NOW_NS - HOUR_NS / 60);
    CHECK_EQ(time_of("now-2hours30minutes"), NOW_NS - HOUR_NS * 5 / 2);
    CHECK_EQ(time_of("-1h"), NOW_NS - HOUR_NS);
    CHECK_EQ(time_of("+1h"), NOW_NS + HOUR_NS);
    CHECK_EQ(time_of("2h"), NOW_NS - 2 * HOUR_NS);
}

TEST(timetext_ignores_spaces_underscores_and_commas)
{
    CHECK_EQ(time_of("1_794_744_000"), NOW_NS);
    CHECK_EQ(time_of("1,794,744,000"), NOW_NS);
    CHECK_EQ(time_of("now - 1 h"), NOW_NS - HOUR_NS);
    check_no_time("now - 1 fortnight", "expected one of the units s, m, h, d, w, M or y at position 9");
}

TEST(timetext_says_where_a_time_is_wrong_and_what_is_right)
{
    check_no_time("", "time '': expected now, a date or a number at position 1" CURE);
    check_no_time(" , ", "expected now, a date or a number at position 2" CURE);
    check_no_time("yesterday", "time 'yesterday': expected now, a date or a number at position 1" CURE);
    check_no_time("nowadays", "time 'nowadays': expected '-' or '+' behind now at position 4" CURE);
    check_no_time("now*2h", "expected '-' or '+' behind now at position 4" CURE);
    check_no_time("now-", "expected a number at position 5" CURE);
    check_no_time("now-h", "expected a number at position 5" CURE);
    check_no_time("now--1h", "expected a number at position 5" CURE);
    check_no_time("now-1h-1m", "expected a number at position 7" CURE);
    check_no_time("now-5", "expected a unit (s, m, h, d, w, M or y) at position 6" CURE);
    check_no_time("now-1h5", "expected a unit (s, m, h, d, w, M or y) at position 8" CURE);
    check_no_time("now-1x", "expected one of the units s, m, h, d, w, M or y at position 6" CURE);
    check_no_time("now-1mo", "expected one of the units s, m, h, d, w, M or y at position 6" CURE);
    check_no_time("1.5", "expected a unit (s, m, h, d, w, M or y) at position 4" CURE);
    check_no_time("1.h", "expected a digit behind the '.' at position 3" CURE);
    check_no_time("20261115T", "expected one of the units s, m, h, d, w, M or y at position 9" CURE);
    check_no_time("now-99999999999999999999999s", "too long or too large a number at position 5" CURE);
    check_no_time("now-200y200y", "too large a sum at position 9" CURE);
}

TEST(timetext_says_which_part_of_a_date_is_wrong)
{
    check_no_time("2026-13-01", "date '2026-13-01': the month is not 01 to 12; write it like 2026-11-15");
    check_no_time("2026-1-1", "date '2026-1-1': the date is not YYYY-MM-DD");
    check_no_time("2026-02-30T00:00:00Z", "time '2026-02-30T00:00:00Z': the month has no such day; write it like ");
    check_no_time("2026-11-15T12:00:00", "the zone is not 'Z', '+HH:MM' or '-HH:MM'");
    check_no_time("2026-11-15 ?", "the time of day is not HH:MM:SS");
}

TEST(timetext_refuses_times_that_cannot_be_expressed)
{
    check_no_time("now+290y", "time 'now+290y': only the years 1678 to 2261 can be expressed" CURE);
    check_no_time("9223372037", "only the years 1678 to 2261");
    check_no_time("99999999999", "only the years 1678 to 2261");
    check_no_time("9223372036854775808", "only the years 1678 to 2261");
    check_no_time("99999999999999999999", "only the years 1678 to 2261");
}

TEST(timetext_has_a_limit_on_the_text)
{
    char text[128];

    memset(text, '1', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    check_no_time(text,
                  "time '1111111111111111111111111111111111111111...': its 127 bytes are more than the 96 allowed");
    memset(text, ' ', 100);
    memcpy(text + 100, "now", 4);
    CHECK_EQ(time_of(text), NOW_NS); /* spaces around it do not count */
}

/* --- ranges --- */

static void check_range(const char *from, const char *until, struct timetext_range wanted)
{
    struct timetext_range range = { 0 };
    struct error err;

    CHECK_OK(timetext_range(slice_from(from), slice_from(until), NOW_NS, &range, &err), &err);
    CHECK_EQ(range.from_ns, wanted.from_ns);
    CHECK_EQ(range.until_ns, wanted.until_ns);
    CHECK_EQ(range.is_from_relative, wanted.is_from_relative);
    CHECK_EQ(range.is_until_relative, wanted.is_until_relative);
}

TEST(timetext_range_without_times_is_the_last_hour)
{
    check_range(NULL, NULL, (struct timetext_range){ NOW_NS - HOUR_NS, NOW_NS, true, true });
    check_range("", " ", (struct timetext_range){ NOW_NS - HOUR_NS, NOW_NS, true, true });
}

TEST(timetext_range_fills_in_the_end_that_is_missing)
{
    check_range("now-1d", "", (struct timetext_range){ NOW_NS - DAY_NS, NOW_NS, true, true });
    check_range("2026-11-15", "", (struct timetext_range){ NOW_NS - DAY_NS / 2, NOW_NS, false, true });
    check_range("", "now-1h", (struct timetext_range){ NOW_NS - 2 * HOUR_NS, NOW_NS - HOUR_NS, true, true });
    check_range("", "2026-11-15",
                (struct timetext_range){ NOW_NS - DAY_NS / 2 - HOUR_NS, NOW_NS - DAY_NS / 2, false, false });
}

TEST(timetext_range_remembers_which_ends_were_relative)
{
    check_range("now-1h", "now", (struct timetext_range){ NOW_NS - HOUR_NS, NOW_NS, true, true });
    check_range("2h", "1794744000", (struct timetext_range){ NOW_NS - 2 * HOUR_NS, NOW_NS, true, false });
    check_range("2026-11-15T10:00:00Z", "now-1h",
                (struct timetext_range){ NOW_NS - 2 * HOUR_NS, NOW_NS - HOUR_NS, false, true });
}

TEST(timetext_range_does_not_begin_before_1970)
{
    check_range("now-99y", "", (struct timetext_range){ 0, NOW_NS, true, true });
    check_range("", "1800", (struct timetext_range){ 0, 1800 * SECOND_NS, false, false });
}

static void check_no_range(const char *from, const char *until, const char *words)
{
    struct timetext_range range = { .from_ns = -7 };
    struct error err;

    CHECK_ERROR(timetext_range(slice_from(from), slice_from(until), NOW_NS, &range, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK_EQ(range.from_ns, -7);
}

TEST(timetext_range_refuses_to_be_empty)
{
    check_no_range("now", "now",
                   "the range is empty: it begins at 2026-11-15T12:00:00.000Z and ends at "
                   "2026-11-15T12:00:00.000Z; give a 'from' before 'until'");
    check_no_range("now", "now-1h", "ends at 2026-11-15T11:00:00.000Z");
    check_no_range("now+1h", "", "begins at 2026-11-15T13:00:00.000Z");
    check_no_range("", "0", "ends at 1970-01-01T00:00:00.000Z");
    check_no_range("", "1960-01-01", "ends at 1960-01-01T00:00:00.000Z");
}

TEST(timetext_range_names_the_end_that_is_wrong)
{
    check_no_range("soon", "now", "from: time 'soon': expected");
    check_no_range("now-1h", "later", "until: time 'later': expected");
}

/* --- durations --- */

static int64_t duration_of(const char *text)
{
    int64_t duration_ns = -1;
    struct error err;

    CHECK_OK(timetext_duration(slice_from(text), &duration_ns, &err), &err);
    return duration_ns;
}

TEST(timetext_reads_durations)
{
    CHECK_EQ(duration_of("1h"), HOUR_NS);
    CHECK_EQ(duration_of("90s"), 90 * SECOND_NS);
    CHECK_EQ(duration_of("1h30m"), HOUR_NS * 3 / 2);
    CHECK_EQ(duration_of(" 15m "), HOUR_NS / 4);
    CHECK_EQ(duration_of("1d"), DAY_NS);
    CHECK_EQ(duration_of("1w"), 7 * DAY_NS);
    CHECK_EQ(duration_of("250ms"), SECOND_NS / 4);
    CHECK_EQ(duration_of("15"), 15 * SECOND_NS);
    CHECK_EQ(duration_of("0.5"), SECOND_NS / 2);
}

static void check_no_duration(const char *text, const char *words)
{
    int64_t duration_ns = -7;
    struct error err;

    CHECK_ERROR(timetext_duration(slice_from(text), &duration_ns, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK_EQ(duration_ns, -7);
}

TEST(timetext_says_where_a_duration_is_wrong)
{
    check_no_duration("", "duration '': expected a number at position 1; give 15m, 1h30m or a number of seconds");
    check_no_duration("-1h", "duration '-1h': expected a number at position 1");
    check_no_duration("now", "expected a number at position 1");
    check_no_duration("1h30", "expected a unit (s, m, h, d, w, M or y) at position 5");
    check_no_duration("5 parsecs", "expected one of the units s, m, h, d, w, M or y at position 3");
    check_no_duration("0", "expected more than zero at position 1");
    check_no_duration("0s", "expected more than zero at position 1");
    check_no_duration("300y", "too long or too large a number at position 1");
}
