// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static struct {
    atomic_bool is_on;
    _Atomic int64_t now_ns;
    _Atomic int64_t mono_ns;
} fake;

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;

    ASSERT(clock_gettime(clock, &time) == 0);
    return time.tv_sec * CLOCK_NS_PER_SECOND + time.tv_nsec;
}

/* Acquire pairs with the release in clock_fake_set: who sees the fake sees the time it was set to. */
static bool is_faked(void)
{
    return atomic_load_explicit(&fake.is_on, memory_order_acquire);
}

int64_t clock_now_ns(void)
{
    /* Relaxed: one number that depends on no other. */
    return is_faked() ? atomic_load_explicit(&fake.now_ns, memory_order_relaxed) : read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_ns(void)
{
    return is_faked() ? atomic_load_explicit(&fake.mono_ns, memory_order_relaxed) : read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_fake_set(int64_t now_ns)
{
    atomic_store_explicit(&fake.mono_ns, clock_mono_ns(), memory_order_relaxed);
    atomic_store_explicit(&fake.now_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&fake.is_on, true, memory_order_release);
}

void clock_fake_advance(int64_t ns)
{
    ASSERT(is_faked());
    atomic_fetch_add_explicit(&fake.now_ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&fake.mono_ns, ns, memory_order_relaxed);
}

void clock_fake_stop(void)
{
    atomic_store_explicit(&fake.is_on, false, memory_order_release);
}

static char *put_digits(char *at, int64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return at + width;
}

/* Whole minutes east of UTC: all that RFC 3339 can say. */
static int64_t local_offset_minutes(time_t seconds)
{
    struct tm local;

    return localtime_r(&seconds, &local) ? local.tm_gmtoff / 60 : 0;
}

static char *put_offset(char *at, int64_t minutes)
{
    *at++ = minutes < 0 ? '-' : '+';
    at = put_digits(at, llabs(minutes) / 60, 2);
    *at++ = ':';
    return put_digits(at, llabs(minutes) % 60, 2);
}

const char *clock_format(int64_t time_ns, enum clock_zone zone, int digits, char ret_text[static CLOCK_TEXT_BYTES])
{
    bool is_below = time_ns % CLOCK_NS_PER_SECOND < 0; /* division rounds towards 1970, seconds begin before */
    time_t seconds = time_ns / CLOCK_NS_PER_SECOND - is_below;
    int64_t fraction = time_ns % CLOCK_NS_PER_SECOND + is_below * CLOCK_NS_PER_SECOND;
    int64_t offset_minutes = zone == CLOCK_ZONE_LOCAL ? local_offset_minutes(seconds) : 0;
    char *at = ret_text;
    struct tm date;

    ASSERT(digits >= 0 && digits <= 9);
    seconds += offset_minutes * 60;
    ASSERT(gmtime_r(&seconds, &date)); /* fails for years past 2^31 only */
    at = put_digits(at, date.tm_year + 1900, 4);
    *at++ = '-';
    at = put_digits(at, date.tm_mon + 1, 2);
    *at++ = '-';
    at = put_digits(at, date.tm_mday, 2);
    *at++ = 'T';
    at = put_digits(at, date.tm_hour, 2);
    *at++ = ':';
    at = put_digits(at, date.tm_min, 2);
    *at++ = ':';
    at = put_digits(at, date.tm_sec, 2);
    if (digits > 0) {
        *at++ = '.';
        put_digits(at, fraction, 9);
        at += digits;
    }
    if (zone == CLOCK_ZONE_LOCAL)
        at = put_offset(at, offset_minutes);
    else
        *at++ = 'Z';
    *at = '\0';
    return ret_text;
}

/* --- reading --- */

/* Reads exactly `width` digits off the front of `rest`. */
static bool take_digits(struct slice *rest, size_t width, int *ret_value)
{
    int value = 0;

    if (rest->len < width)
        return false;
    for (size_t i = 0; i < width; i++) {
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
            return false;
        value = value * 10 + (rest->ptr[i] - '0');
    }
    *rest = slice_sub(*rest, width, SIZE_MAX);
    *ret_value = value;
    return true;
}

/* Cuts one byte out of `allowed` off the front of `rest`; 0 if there is none. */
static char take_one_of(struct slice *rest, const char *allowed)
{
    char c = rest->len > 0 ? rest->ptr[0] : '\0';

    if (c == '\0' || !strchr(allowed, c))
        return '\0';
    *rest = slice_sub(*rest, 1, SIZE_MAX);
    return c;
}

/* Nanoseconds from the digits after the point. */
static bool take_fraction(struct slice *rest, int64_t *ret_ns)
{
    int64_t unit = CLOCK_NS_PER_SECOND / 10;
    int64_t ns = 0;
    int digit;

    if (!take_digits(rest, 1, &digit))
        return false;
    do {
        ns += digit * unit;
        unit /= 10;
    } while (take_digits(rest, 1, &digit));
    *ret_ns = ns;
    return true;
}

static bool take_offset(struct slice *rest, int *ret_seconds)
{
    char sign = take_one_of(rest, "Zz+-");
    int hours = 0, minutes = 0;

    if (sign == '+' || sign == '-') {
        if (!take_digits(rest, 2, &hours) || !take_one_of(rest, ":") || !take_digits(rest, 2, &minutes) || hours > 23 ||
            minutes > 59)
            return false;
    } else if (sign == '\0') {
        return false;
    }
    *ret_seconds = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return true;
}

static int days_in_month(int year, int month)
{
    static const char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && is_leap);
}

/* Reads "2026-11-15"; NULL, or what is wrong. */
static const char *take_date(struct slice *rest, struct tm *date)
{
    int year, month, day;

    if (!take_digits(rest, 4, &year) || !take_one_of(rest, "-") || !take_digits(rest, 2, &month) ||
        !take_one_of(rest, "-") || !take_digits(rest, 2, &day))
        return "the date is not YYYY-MM-DD";
    if (month < 1 || month > 12)
        return "the month is not 01 to 12";
    if (day < 1 || day > days_in_month(year, month))
        return "the month has no such day";
    date->tm_year = year - 1900;
    date->tm_mon = month - 1;
    date->tm_mday = day;
    return NULL;
}

/* Reads "10:00:00.123"; NULL, or what is wrong. */
static const char *take_time(struct slice *rest, struct tm *date, int64_t *fraction_ns)
{
    if (!take_digits(rest, 2, &date->tm_hour) || !take_one_of(rest, ":") || !take_digits(rest, 2, &date->tm_min) ||
        !take_one_of(rest, ":") || !take_digits(rest, 2, &date->tm_sec))
        return "the time of day is not HH:MM:SS";
    if (date->tm_hour > 23 || date->tm_min > 59 || date->tm_sec > 60)
        return "the time of day is past 23:59:60";
    if (take_one_of(rest, ".") && !take_fraction(rest, fraction_ns))
        return "no digit follows the '.'";
    if (date->tm_sec == 60)
        *fraction_ns = 0;
    return NULL;
}

/* NULL, or what is wrong. */
static const char *to_ns(struct tm *date, int offset_seconds, int64_t fraction_ns, int64_t *ret_time_ns)
{
    int64_t time_ns;

    if (__builtin_mul_overflow((int64_t)timegm(date) - offset_seconds, CLOCK_NS_PER_SECOND, &time_ns) ||
        __builtin_add_overflow(time_ns, fraction_ns, &time_ns))
        return "only the years 1678 to 2261 can be expressed";
    *ret_time_ns = time_ns;
    return NULL;
}

static const char *parse(struct slice rest, int64_t *ret_time_ns)
{
    struct tm date = { 0 };
    int64_t fraction_ns = 0;
    int offset_seconds;
    const char *problem = take_date(&rest, &date);

    if (problem)
        return problem;
    if (!take_one_of(&rest, "Tt "))
        return "no 'T' follows the date";
    problem = take_time(&rest, &date, &fraction_ns);
    if (problem)
        return problem;
    if (!take_offset(&rest, &offset_seconds))
        return "the zone is not 'Z', '+HH:MM' or '-HH:MM'";
    if (rest.len > 0)
        return "something follows the zone";
    return to_ns(&date, offset_seconds, fraction_ns, ret_time_ns);
}

static const char *parse_date(struct slice rest, int64_t *ret_time_ns)
{
    struct tm date = { 0 };
    const char *problem = take_date(&rest, &date);

    if (!problem && rest.len > 0)
        problem = "something follows the date";
    return problem ? problem : to_ns(&date, 0, 0, ret_time_ns);
}

int clock_parse(struct slice text, int64_t *ret_time_ns, struct error *err)
{
    const char *problem = parse(text, ret_time_ns);

    if (problem)
        return error_set(err, ERR_INVALID,
                         "time '%.*s': %s; write it like 2026-11-15T10:00:00Z or 2026-11-15T11:00:00.5+01:00",
                         SLICE_ARG(slice_sub(text, 0, 64)), problem);
    return 0;
}

int clock_parse_date(struct slice text, int64_t *ret_time_ns, struct error *err)
{
    const char *problem = parse_date(text, ret_time_ns);

    if (problem)
        return error_set(err, ERR_INVALID, "date '%.*s': %s; write it like 2026-11-15",
                         SLICE_ARG(slice_sub(text, 0, 64)), problem);
    return 0;
}
