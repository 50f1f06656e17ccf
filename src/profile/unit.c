// SPDX-License-Identifier: Apache-2.0
#include "profile/unit.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

struct spelling {
    const char *words; /* lower case, singular, separated by blanks */
    struct unit unit;
    bool is_automatic; /* unit_format chooses it by itself; a minute or a day only on request, as in pprof */
};

#define NANOSECOND  INT64_C(1)
#define MICROSECOND (1000 * NANOSECOND)
#define MILLISECOND (1000 * MICROSECOND)
#define SECOND      (1000 * MILLISECOND)

/* Each family from small to large. */
static const struct spelling spellings[] = {
    { "ns nanosecond nsec", { "nanoseconds", "ns", UNIT_TIME, NANOSECOND }, true },
    { "us \xce\xbcs \xc2\xb5s microsecond usec", { "microseconds", "us", UNIT_TIME, MICROSECOND }, true },
    { "ms millisecond msec", { "milliseconds", "ms", UNIT_TIME, MILLISECOND }, true },
    { "s sec second", { "seconds", "s", UNIT_TIME, SECOND }, true },
    { "min minute", { "minutes", "min", UNIT_TIME, 60 * SECOND }, false },
    { "h hr hour", { "hours", "hrs", UNIT_TIME, 3600 * SECOND }, true },
    { "d day", { "days", "days", UNIT_TIME, 86400 * SECOND }, false },
    { "b byte", { "bytes", "B", UNIT_BYTES, 1 }, true },
    { "kb kib kbyte kilobyte kibibyte", { "kilobytes", "kB", UNIT_BYTES, INT64_C(1) << 10 }, true },
    { "mb mib mbyte megabyte mebibyte", { "megabytes", "MB", UNIT_BYTES, INT64_C(1) << 20 }, true },
    { "gb gib gbyte gigabyte gibibyte", { "gigabytes", "GB", UNIT_BYTES, INT64_C(1) << 30 }, true },
    { "tb tib tbyte terabyte tebibyte", { "terabytes", "TB", UNIT_BYTES, INT64_C(1) << 40 }, true },
    { "pb pib pbyte petabyte pebibyte", { "petabytes", "PB", UNIT_BYTES, INT64_C(1) << 50 }, true },
    { "count", { "count", "", UNIT_COUNT, 1 }, true },
};

/* Longer words spell no unit we know. */
#define WORD_MAX 16

static bool has_word(const char *words, struct slice word)
{
    struct slice rest = slice_from(words);
    struct slice part;

    while (slice_next_part(&rest, ' ', &part))
        if (slice_equal(part, word))
            return true;
    return false;
}

static size_t count_letters(struct slice text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80; /* not the rest of a UTF-8 sequence */
    return n;
}

static const struct spelling *find_spelling(struct slice text)
{
    char lower[WORD_MAX];
    struct slice word = { lower, text.len };

    if (text.len == 0 || text.len > sizeof(lower))
        return NULL;
    for (size_t i = 0; i < text.len; i++)
        lower[i] = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? (char)(text.ptr[i] | 0x20) : text.ptr[i];
    if (count_letters(word) > 2 && lower[word.len - 1] == 's')
        word.len--;
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        if (has_word(spellings[i].words, word))
            return &spellings[i];
    return NULL;
}

const struct unit *unit_find(struct slice text)
{
    const struct spelling *spelling = find_spelling(text);

    return spelling ? &spelling->unit : NULL;
}

struct slice unit_canonical(struct slice text)
{
    const struct unit *unit = unit_find(text);

    return unit ? slice_from(unit->name) : text;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

bool unit_ratio(struct slice from, struct slice to, int64_t *ret_up, int64_t *ret_down)
{
    const struct unit *a = unit_find(from), *b = unit_find(to);
    int64_t divisor;

    if (slice_equal(from, to)) {
        *ret_up = *ret_down = 1;
        return true;
    }
    if (!a || !b || a->family != b->family)
        return false;
    divisor = greatest_common_divisor(a->size, b->size);
    *ret_up = a->size / divisor;
    *ret_down = b->size / divisor;
    return true;
}

/* --- printing --- */

/* Writes a number that is not negative with two decimals, or none where both are zero. Rounds the double itself to
 * the nearest, ties to even, as every correct printf does, but without its locale. */
static void print_decimal(double value, char *text, size_t size)
{
    double whole = floor(value);
    double fraction = value - whole; /* exact */
    uint64_t integer = value < 0x1p63 ? (uint64_t)whole : (uint64_t)INT64_MAX;
    uint64_t hundredths = 0;

    /* Below 2^-10 the fraction rounds to nothing; above, it is a whole number of 2^-62nds. */
    if (fraction >= 0x1p-10) {
        __uint128_t scaled = (__uint128_t)(uint64_t)(fraction * 0x1p62) * 100;
        uint64_t rest = (uint64_t)scaled & ((UINT64_C(1) << 62) - 1);
        const uint64_t half = UINT64_C(1) << 61;

        hundredths = (uint64_t)(scaled >> 62);
        hundredths += rest > half || (rest == half && (hundredths & 1));
    }
    integer += hundredths / 100;
    hundredths %= 100;
    if (hundredths)
        snprintf(text, size, "%llu.%02u", (unsigned long long)integer, (unsigned)hundredths);
    else
        snprintf(text, size, "%llu", (unsigned long long)integer);
}

static double magnitude(int64_t value)
{
    return fabs((double)value);
}

static struct unit_text print(int64_t value, double shown, struct slice symbol)
{
    struct unit_text out;
    char number[32];

    print_decimal(shown, number, sizeof(number));
    if (strcmp(number, "0") == 0)
        return (struct unit_text){ "0" };
    snprintf(out.text, sizeof(out.text), "%s%s%.*s", value < 0 ? "-" : "", number, (int)MIN(symbol.len, (size_t)30),
             symbol.ptr);
    return out;
}

static struct unit_text print_bare(int64_t value)
{
    struct unit_text out;

    snprintf(out.text, sizeof(out.text), "%lld", (long long)value);
    return out;
}

/* The largest automatic unit of the family in which `smallest_units` is at least 1; without one, seconds or bytes. */
static const struct unit *fitting_unit(enum unit_family family, double smallest_units)
{
    const struct unit *fit = NULL;

    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        if (spellings[i].unit.family == family && spellings[i].is_automatic &&
            smallest_units / (double)spellings[i].unit.size >= 1.0)
            fit = &spellings[i].unit;
    if (fit)
        return fit;
    return unit_find(family == UNIT_TIME ? SLICE("s") : family == UNIT_BYTES ? SLICE("B") : SLICE("count"));
}

static const struct unit *fitting_unit_of(int64_t value, const struct unit *unit)
{
    return fitting_unit(unit->family, magnitude(value) * (double)unit->size);
}

struct unit_text unit_format(int64_t value, struct slice unit_name)
{
    const struct unit *unit = unit_find(unit_name);
    const struct unit *fit;

    if (!unit || unit->family == UNIT_COUNT)
        return print_bare(value);
    fit = fitting_unit_of(value, unit);
    return print(value, magnitude(value) * (double)unit->size / (double)fit->size, slice_from(fit->symbol));
}

struct unit_text unit_format_short(int64_t value, struct slice unit_name)
{
    const struct unit *unit = unit_find(unit_name);
    struct unit_text out;

    if (unit && unit->family != UNIT_COUNT)
        return unit_format(value, unit_name);
    snprintf(out.text, sizeof(out.text), "%s", units_human_count(value).text);
    return out;
}

/* Units that pprof leaves away behind a number. */
static bool goes_without_saying(struct slice unit)
{
    return slice_is(unit, "count") || slice_is(unit, "sample") || slice_is(unit, "unit");
}

struct unit_text unit_format_in(int64_t value, struct slice unit_name, struct slice to_name)
{
    const struct unit *unit = unit_find(unit_name);
    const struct unit *to = unit_find(to_name);

    if (!unit || unit->family == UNIT_COUNT)
        return value == 0 || goes_without_saying(to_name) ? print_bare(value) : print(value, magnitude(value), to_name);
    if (!to || to->family != unit->family)
        to = fitting_unit(unit->family, 0);
    return print(value, magnitude(value) * (double)unit->size / (double)to->size, slice_from(to->symbol));
}

struct slice unit_choose(int64_t smallest, int64_t largest, struct slice unit_name)
{
    const struct unit *unit = unit_find(unit_name);
    const struct unit *small, *large;

    if (!unit || unit->family == UNIT_COUNT)
        return unit_name;
    if (smallest == 0)
        smallest = largest;
    small = fitting_unit_of(smallest, unit);
    large = fitting_unit_of(largest, unit);
    if (small != large && magnitude(smallest) * 100 < magnitude(largest))
        small = fitting_unit(unit->family, magnitude(smallest) * 100 * (double)unit->size);
    return slice_from(small->symbol);
}
