// SPDX-License-Identifier: Apache-2.0
#include "base/timetext.h"

#include "base/clock.h"
#include "base/units.h"

#include <stdio.h>

#define HOUR_NS    (3600 * CLOCK_NS_PER_SECOND)
#define TEXT_MAX   96 /* bytes; no time needs half as many */
#define QUOTED_MAX 40 /* bytes of the text shown in an error */
#define UNITS      "s, m, h, d, w, M or y"

/* A text without what T2 takes out, and where its bytes stood. */
struct reader {
    const char *kind;
    const char *cure;
    struct slice given;
    size_t at;
    size_t len;
    char text[TEXT_MAX];
    uint8_t places[TEXT_MAX + 1];
};

static const char time_cure[] = "give now-1h, 2026-11-15T12:00:00Z or unix seconds";
static const char duration_cure[] = "give 15m, 1h30m or a number of seconds";

static int bad_at(const struct reader *r, size_t at, const char *what, struct error *err)
{
    return error_set(err, ERR_INVALID, "%s '%.*s': %s at position %d; %s", r->kind,
                     SLICE_ARG(slice_sub(r->given, 0, QUOTED_MAX)), what, r->places[at] + 1, r->cure);
}

static int beyond(const struct reader *r, struct error *err)
{
    return error_set(err, ERR_INVALID, "%s '%.*s': only the years 1678 to 2261 can be expressed; %s", r->kind,
                     SLICE_ARG(slice_sub(r->given, 0, QUOTED_MAX)), r->cure);
}

static int reader_init(struct reader *r, const char *kind, const char *cure, struct slice given, struct error *err)
{
    *r = (struct reader){ .kind = kind, .cure = cure, .given = given };
    if (given.len > TEXT_MAX)
        return error_set(err, ERR_INVALID, "%s '%.*s...': its %zu bytes are more than the %d allowed; %s", kind,
                         QUOTED_MAX, given.ptr, given.len, TEXT_MAX, cure);
    for (size_t i = 0; i < given.len; i++) {
        if (memchr(" _,", given.ptr[i], 3))
            continue;
        r->places[r->len] = (uint8_t)i;
        r->text[r->len++] = given.ptr[i];
    }
    r->places[r->len] = (uint8_t)given.len;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (uint8_t)c >= 0x80;
}

static bool at_digit(const struct reader *r)
{
    return r->at < r->len && is_digit(r->text[r->at]);
}

static bool take_byte(struct reader *r, char byte)
{
    if (r->at == r->len || r->text[r->at] != byte)
        return false;
    r->at++;
    return true;
}

/* --- distances --- */

/* Units that base/units.h does not know, by those that it does. */
static const struct {
    const char *word;
    const char *unit;
    int64_t times;
} words[] = {
    { "sec", "s", 1 },    { "secs", "s", 1 },    { "second", "s", 1 }, { "seconds", "s", 1 }, { "mins", "m", 1 },
    { "minute", "m", 1 }, { "minutes", "m", 1 }, { "hour", "h", 1 },   { "hours", "h", 1 },   { "day", "d", 1 },
    { "days", "d", 1 },   { "week", "w", 1 },    { "weeks", "w", 1 },  { "M", "d", 30 },      { "mon", "d", 30 },
    { "month", "d", 30 }, { "months", "d", 30 }, { "y", "d", 365 },    { "year", "d", 365 },  { "years", "d", 365 },
};

enum outcome { OUTCOME_OK, OUTCOME_UNKNOWN_UNIT, OUTCOME_TOO_LARGE };

/* What `number` of the unit is; also used to ask whether there is such a unit. */
static bool scale(struct slice number, struct slice unit, int64_t times, int64_t *ret_ns)
{
    char text[TEXT_MAX + 8];
    int64_t ns;

    snprintf(text, sizeof(text), "%.*s%.*s", SLICE_ARG(number), SLICE_ARG(unit));
    return units_parse_duration(slice_from(text), &ns) && !__builtin_mul_overflow(ns, times, ret_ns);
}

static enum outcome distance_of(struct slice number, struct slice unit, int64_t *ret_ns)
{
    int64_t times = 1, one_ns;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (slice_is(unit, words[i].word)) {
            unit = slice_from(words[i].unit);
            times = words[i].times;
            break;
        }
    }
    if (!scale(SLICE("1"), unit, times, &one_ns))
        return OUTCOME_UNKNOWN_UNIT;
    return scale(number, unit, times, ret_ns) ? OUTCOME_OK : OUTCOME_TOO_LARGE;
}

/* Reads "1h", "1.5", "30min"; a number without a unit is of seconds if that `is_plain_allowed`. */
static int read_piece(struct reader *r, bool is_plain_allowed, int64_t *ret_ns, struct error *err)
{
    size_t start = r->at, behind_number;
    struct slice text = slice_of(r->text, r->len), number, unit;

    while (at_digit(r))
        r->at++;
    if (r->at == start)
        return bad_at(r, start, "expected a number", err);
    if (take_byte(r, '.')) {
        if (!at_digit(r))
            return bad_at(r, r->at, "expected a digit behind the '.'", err);
        while (at_digit(r))
            r->at++;
    }
    behind_number = r->at;
    while (r->at < r->len && is_letter(r->text[r->at]))
        r->at++;
    number = slice_sub(text, start, behind_number - start);
    unit = slice_sub(text, behind_number, r->at - behind_number);
    if (unit.len == 0 && !(is_plain_allowed && r->at == r->len))
        return bad_at(r, behind_number, "expected a unit (" UNITS ")", err);
    switch (distance_of(number, unit.len == 0 ? SLICE("s") : unit, ret_ns)) {
    case OUTCOME_OK: return 0;
    case OUTCOME_UNKNOWN_UNIT: return bad_at(r, behind_number, "expected one of the units " UNITS, err);
    case OUTCOME_TOO_LARGE: break;
    }
    return bad_at(r, start, "too long or too large a number", err);
}

/* Reads pieces up to the end of the text. */
static int read_distance(struct reader *r, bool is_plain_allowed, int64_t *ret_ns, struct error *err)
{
    int64_t total_ns = 0, piece_ns = 0;

    do {
        size_t start = r->at;

        if (read_piece(r, is_plain_allowed && start == 0, &piece_ns, err) < 0)
            return -1;
        if (__builtin_add_overflow(total_ns, piece_ns, &total_ns))
            return bad_at(r, start, "too large a sum", err);
    } while (r->at < r->len);
    *ret_ns = total_ns;
    return 0;
}

int timetext_duration(struct slice text, int64_t *ret_ns, struct error *err)
{
    struct reader r;
    int64_t ns;

    if (reader_init(&r, "duration", duration_cure, slice_trim(text), err) < 0 || read_distance(&r, true, &ns, err) < 0)
        return -1;
    if (ns == 0)
        return bad_at(&r, 0, "expected more than zero", err);
    *ret_ns = ns;
    return 0;
}

/* --- times --- */

struct moment {
    int64_t ns;
    bool is_relative;
};

/* "2026-": nothing else begins so. */
static bool is_rfc3339(struct slice text)
{
    for (size_t i = 0; i < 4; i++)
        if (i >= text.len || !is_digit(text.ptr[i]))
            return false;
    return text.len > 4 && text.ptr[4] == '-';
}

/* T1 */
static bool parse_compact_date(struct slice digits, int64_t *ret_ns)
{
    struct error ignored;
    char text[16];

    if (digits.len != 8 || slice_compare(digits, SLICE("19010101")) < 0)
        return false;
    snprintf(text, sizeof(text), "%.4s-%.2s-%.2s", digits.ptr, digits.ptr + 4, digits.ptr + 6);
    return clock_parse_date(slice_from(text), ret_ns, &ignored) == 0;
}

static int64_t unit_of_digits(size_t n)
{
    switch (n) {
    case 13: return 1000000;
    case 16: return 1000;
    case 19: return 1;
    default: return CLOCK_NS_PER_SECOND;
    }
}

static int parse_digits(const struct reader *r, int64_t *ret_ns, struct error *err)
{
    struct slice digits = slice_of(r->text, r->len);
    uint64_t number;

    if (parse_compact_date(digits, ret_ns))
        return 0;
    if (!slice_to_u64(digits, &number) || __builtin_mul_overflow(number, unit_of_digits(digits.len), ret_ns))
        return beyond(r, err);
    return 0;
}

/* Reads now, now-1h, -1h, 1h. */
static int parse_relative(struct reader *r, int64_t now_ns, int64_t *ret_ns, struct error *err)
{
    bool is_named = slice_starts_with(slice_of(r->text, r->len), SLICE("now")), is_ahead = false;
    int64_t distance_ns = 0;

    r->at = is_named ? 3 : 0;
    if (is_named && r->at == r->len) {
        *ret_ns = now_ns;
        return 0;
    }
    is_ahead = take_byte(r, '+');
    if (!is_ahead && !take_byte(r, '-')) {
        if (is_named)
            return bad_at(r, r->at, "expected '-' or '+' behind now", err);
        if (!at_digit(r))
            return bad_at(r, r->at, "expected now, a date or a number", err);
    }
    if (read_distance(r, false, &distance_ns, err) < 0)
        return -1;
    if (is_ahead ? __builtin_add_overflow(now_ns, distance_ns, ret_ns)
                 : __builtin_sub_overflow(now_ns, distance_ns, ret_ns))
        return beyond(r, err);
    return 0;
}

static int parse(struct slice text, int64_t now_ns, struct moment *ret_moment, struct error *err)
{
    struct moment moment = { 0 };
    struct reader r;
    int result;

    text = slice_trim(text);
    if (is_rfc3339(text)) {
        result = text.len > strlen("2026-11-15") ? clock_parse(text, &moment.ns, err)
                                                 : clock_parse_date(text, &moment.ns, err);
    } else {
        if (reader_init(&r, "time", time_cure, text, err) < 0)
            return -1;
        while (at_digit(&r))
            r.at++;
        moment.is_relative = r.len == 0 || r.at < r.len;
        result = moment.is_relative ? parse_relative(&r, now_ns, &moment.ns, err) : parse_digits(&r, &moment.ns, err);
    }
    if (result < 0)
        return -1;
    *ret_moment = moment;
    return 0;
}

int timetext_parse(struct slice text, int64_t now_ns, int64_t *ret_ns, struct error *err)
{
    struct moment moment;

    if (parse(text, now_ns, &moment, err) < 0)
        return -1;
    *ret_ns = moment.ns;
    return 0;
}

/* --- ranges --- */

static bool is_missing(struct slice text)
{
    return slice_trim(text).len == 0;
}

int timetext_range(struct slice from_text, struct slice until_text, int64_t now_ns, struct timetext_range *ret_range,
                   struct error *err)
{
    struct moment until = { now_ns, true }, from;

    if (!is_missing(until_text) && parse(until_text, now_ns, &until, err) < 0)
        return error_wrap(err, "until");
    from = until;
    if (is_missing(from_text))
        from.ns = until.ns > HOUR_NS ? until.ns - HOUR_NS : 0;
    else if (parse(from_text, now_ns, &from, err) < 0)
        return error_wrap(err, "from");
    from.ns = MAX(from.ns, 0); /* nothing is older */
    if (from.ns >= until.ns) {
        char begins[CLOCK_TEXT_BYTES], ends[CLOCK_TEXT_BYTES];

        return error_set(
            err, ERR_INVALID, "the range is empty: it begins at %s and ends at %s; give a 'from' before 'until'",
            clock_format(from.ns, CLOCK_ZONE_UTC, 3, begins), clock_format(until.ns, CLOCK_ZONE_UTC, 3, ends));
    }
    *ret_range = (struct timetext_range){ from.ns, until.ns, from.is_relative, until.is_relative };
    return 0;
}
