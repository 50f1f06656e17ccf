// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <math.h>
#include <stdio.h>

#define MANTISSA_DIGITS 20 /* all of a uint64_t; times the largest unit it still fits 128 bits */

/* A decimal number as written: mantissa / 10^decimals. */
struct decimal {
    unsigned __int128 mantissa;
    unsigned decimals;
};

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit duration_units[] = {
    /* largest first */
    { "w", 604800000000000 }, { "d", 86400000000000 },
    { "h", 3600000000000 },   { "min", 60000000000 },
    { "m", 60000000000 },     { "s", 1000000000 },
    { "ms", 1000000 },        { "us", 1000 },
    { "µs", 1000 },           { "ns", 1 },
};

static const struct unit size_units[] = {
    { "B", 1 },
    { "KB", 1000 },
    { "MB", 1000000 },
    { "GB", 1000000000 },
    { "TB", 1000000000000 },
    { "PB", 1000000000000000 },
    { "KiB", 1ull << 10 },
    { "MiB", 1ull << 20 },
    { "GiB", 1ull << 30 },
    { "TiB", 1ull << 40 },
    { "PiB", 1ull << 50 },
};

/* Cuts DIGITS or DIGITS.DIGITS off the front of `rest`. */
static bool cut_decimal(struct slice *rest, struct decimal *ret_number)
{
    struct decimal number = { 0, 0 };
    bool has_point = false, ends_in_digit = false;
    size_t i = 0;

    for (unsigned digits = 0; i < rest->len; i++) {
        char c = rest->ptr[i];

        if (c == '.' && ends_in_digit && !has_point) {
            has_point = true;
            ends_in_digit = false;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if (++digits > MANTISSA_DIGITS)
            return false;
        number.mantissa = number.mantissa * 10 + (unsigned)(c - '0');
        number.decimals += has_point;
        ends_in_digit = true;
    }
    if (!ends_in_digit)
        return false;
    *rest = slice_sub(*rest, i, rest->len);
    *ret_number = number;
    return true;
}

/* Cuts everything up to the next digit off the front of `rest`, without the one space that may lead. */
static struct slice cut_unit(struct slice *rest)
{
    struct slice unit;
    size_t len = 0;

    if (rest->len > 1 && rest->ptr[0] == ' ')
        *rest = slice_sub(*rest, 1, rest->len);
    while (len < rest->len && (rest->ptr[len] < '0' || rest->ptr[len] > '9'))
        len++;
    unit = slice_sub(*rest, 0, len);
    *rest = slice_sub(*rest, len, rest->len);
    return unit;
}

static bool scale(struct decimal number, uint64_t factor, uint64_t *ret_value)
{
    unsigned __int128 value = number.mantissa * factor;

    for (unsigned i = 0; i < number.decimals; i++)
        value /= 10;
    if (value > UINT64_MAX)
        return false;
    *ret_value = (uint64_t)value;
    return true;
}

bool units_parse_duration(struct slice text, int64_t *ret_ns)
{
    uint64_t smallest_so_far = UINT64_MAX, total_ns = 0;

    if (slice_is(text, "0")) {
        *ret_ns = 0;
        return true;
    }
    do {
        struct decimal number;
        struct slice name;
        const struct unit *unit = NULL;
        uint64_t part_ns;

        if (!cut_decimal(&text, &number))
            return false;
        name = cut_unit(&text);
        for (size_t i = 0; i < ARRAY_LEN(duration_units); i++)
            if (slice_is(name, duration_units[i].name))
                unit = &duration_units[i];
        if (!unit || unit->factor >= smallest_so_far || !scale(number, unit->factor, &part_ns) ||
            __builtin_add_overflow(total_ns, part_ns, &total_ns) || total_ns > INT64_MAX)
            return false;
        smallest_so_far = unit->factor;
    } while (text.len > 0);
    *ret_ns = (int64_t)total_ns;
    return true;
}

bool units_parse_size(struct slice text, uint64_t *ret_bytes)
{
    struct decimal number;
    struct slice name;

    if (!cut_decimal(&text, &number))
        return false;
    if (text.len == 0)
        return number.decimals == 0 && scale(number, 1, ret_bytes);
    name = cut_unit(&text);
    if (text.len > 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(size_units); i++)
        if (slice_equal_nocase(name, slice_from(size_units[i].name)))
            return scale(number, size_units[i].factor, ret_bytes);
    return false;
}

static double decimal_value(struct decimal number)
{
    double divisor = 1;

    for (unsigned i = 0; i < number.decimals; i++)
        divisor *= 10;
    return (double)number.mantissa / divisor;
}

bool units_parse_percent(struct slice text, double *ret_share)
{
    struct decimal number;

    if (slice_is(text, "0")) {
        *ret_share = 0;
        return true;
    }
    if (!cut_decimal(&text, &number) || !slice_is(cut_unit(&text), "%") || text.len > 0)
        return false;
    *ret_share = decimal_value(number) / 100;
    return true;
}

bool units_parse_rate(struct slice text, double *ret_rate_hz)
{
    static const struct {
        const char *name;
        double rate_hz;
    } rate_units[] = {
        { "", 1 },          { "Hz", 1 },          { "kHz", 1000 }, { "/s", 1 }, { "/min", 1.0 / 60 },
        { "/m", 1.0 / 60 }, { "/h", 1.0 / 3600 },
    };
    struct decimal number;
    struct slice name;

    if (!cut_decimal(&text, &number))
        return false;
    name = cut_unit(&text);
    if (text.len > 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(rate_units); i++)
        if (slice_equal_nocase(name, slice_from(rate_units[i].name))) {
            *ret_rate_hz = decimal_value(number) * rate_units[i].rate_hz;
            return true;
        }
    return false;
}

bool units_parse_bool(struct slice text, bool *ret_value)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_equal_nocase(text, slice_from(words[i]))) {
            *ret_value = i % 2;
            return true;
        }
    return false;
}

/* Three significant digits; a fraction of zeros is left out. Returns how many decimals that takes. */
static int decimals_of(double magnitude)
{
    if (magnitude < 9.995)
        return 2;
    return magnitude < 99.95 ? 1 : 0;
}

static double rounded(double magnitude, int decimals)
{
    static const double powers[] = { 1, 10, 100 };

    return round(magnitude * powers[decimals]) / powers[decimals];
}

/* `value` in the largest of `units` (smallest first) in which it is at least 1. What rounds up to a full next unit is
 * shown in that one: 999.9ms is 1s. */
static struct units_text human(double value, const struct unit *units, size_t n)
{
    struct units_text text;
    double magnitude = fabs(value), scaled;
    size_t i = 0;
    int decimals;

    for (;; i++) {
        scaled = magnitude / (double)units[i].factor;
        decimals = decimals_of(scaled);
        scaled = rounded(scaled, decimals);
        if (i + 1 == n || scaled * (double)units[i].factor < (double)units[i + 1].factor)
            break;
    }
    if (scaled == floor(scaled))
        decimals = 0;
    snprintf(text.text, sizeof(text.text), "%s%.*f%s", value < 0 && scaled > 0 ? "-" : "", decimals, scaled,
             units[i].name);
    return text;
}

struct units_text units_human_ns(int64_t ns)
{
    static const struct unit units[] = {
        { "ns", 1 },
        { "us", 1000 },
        { "ms", 1000000 },
        { "s", 1000000000 },
        { "min", 60000000000 },
        { "h", 3600000000000 },
        { "d", 86400000000000 },
    };

    if (ns == 0)
        return (struct units_text){ "0s" };
    return human((double)ns, units, ARRAY_LEN(units));
}

struct units_text units_human_bytes(int64_t bytes)
{
    static const struct unit units[] = {
        { "B", 1 },
        { "KiB", 1ull << 10 },
        { "MiB", 1ull << 20 },
        { "GiB", 1ull << 30 },
        { "TiB", 1ull << 40 },
        { "PiB", 1ull << 50 },
    };

    return human((double)bytes, units, ARRAY_LEN(units));
}

static const struct unit count_units[] = {
    { "", 1 }, { "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 }, { "T", 1000000000000 }, { "P", 1000000000000000 },
};

struct units_text units_human_count(int64_t count)
{
    return human((double)count, count_units, ARRAY_LEN(count_units));
}

struct units_text units_human_percent(double share)
{
    static const struct unit percent = { "%", 1 };

    if (!isfinite(share) || fabs(share) >= 1e12)
        return (struct units_text){ "-" };
    if (share != 0 && fabs(share) < 0.00005)
        return share > 0 ? (struct units_text){ "<0.01%" } : (struct units_text){ ">-0.01%" };
    return human(share * 100, &percent, 1);
}

struct units_text units_human_rate(double rate_hz)
{
    struct units_text text;

    if (!isfinite(rate_hz) || fabs(rate_hz) >= 1e18)
        return (struct units_text){ "-" };
    if (fabs(rate_hz) < 1)
        snprintf(text.text, sizeof(text.text), "%.3g/s", rate_hz);
    else
        snprintf(text.text, sizeof(text.text), "%.20s/s", human(rate_hz, count_units, ARRAY_LEN(count_units)).text);
    return text;
}
