// SPDX-License-Identifier: Apache-2.0
#include "wire/json_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Bytes that stand for themselves in a string: all of ASCII but controls, the quote and the backslash. */
static inline bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* --- problems --- */

static void note(struct json_reader *r, const struct error *err)
{
    if (r->failure.code == ERR_OK)
        r->failure = *err;
    r->at = r->end;
}

static void fail_at(struct json_reader *r, const char *at, const char *story)
{
    struct error err;
    size_t line = 1;
    const char *line_start = r->start;

    for (const char *newline = r->start; (newline = memchr(newline, '\n', (size_t)(at - newline))) != NULL;) {
        line++;
        line_start = ++newline;
    }
    error_set(&err, ERR_CORRUPT, "line %zu, column %zu: %s", line, (size_t)(at - line_start) + 1, story);
    note(r, &err);
}

void json_reader_fail(struct json_reader *r, const char *fmt, ...)
{
    char story[200];
    va_list args;

    if (r->failure.code != ERR_OK)
        return;
    va_start(args, fmt);
    vsnprintf(story, sizeof(story), fmt, args);
    va_end(args);
    fail_at(r, r->at, story);
}

/* What stands at a place, for people. */
static const char *describe(const struct json_reader *r, const char *at, char text[static 16])
{
    if (at >= r->end)
        return "the end";
    if (*at >= 0x20 && *at < 0x7f)
        snprintf(text, 16, "'%c'", *at);
    else
        snprintf(text, 16, "byte 0x%02x", (unsigned char)*at);
    return text;
}

static void expected(struct json_reader *r, const char *what)
{
    char found[16];

    json_reader_fail(r, "expected %s, found %s", what, describe(r, r->at, found));
}

int json_reader_check(const struct json_reader *r, struct error *err)
{
    if (r->failure.code == ERR_OK)
        return 0;
    *err = r->failure;
    return -1;
}

/* --- the pieces --- */

void json_reader_init(struct json_reader *r, struct slice text, struct arena *arena, uint32_t max_depth)
{
    if (text.len == 0)
        text = SLICE("");
    *r = (struct json_reader){
        .start = text.ptr,
        .at = text.ptr,
        .end = text.ptr + text.len,
        .arena = arena,
        .max_depth = MIN(max_depth, JSON_READER_MAX_DEPTH),
        .failure = { .code = ERR_OK },
    };
    if (slice_starts_with(text, SLICE("\xef\xbb\xbf")))
        r->at += 3;
}

static void skip_space(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

/* Takes `byte` if it comes next, white space aside. */
static bool take(struct json_reader *r, char byte)
{
    skip_space(r);
    if (r->at == r->end || *r->at != byte)
        return false;
    r->at++;
    return true;
}

static void take_word(struct json_reader *r, struct slice word)
{
    skip_space(r);
    if (!slice_starts_with(slice_of(r->at, (size_t)(r->end - r->at)), word)) {
        char what[32];

        snprintf(what, sizeof(what), "'%s'", word.ptr);
        expected(r, what);
        return;
    }
    r->at += word.len;
    r->is_after_value = true;
}

enum json_kind json_reader_peek(struct json_reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return JSON_NOTHING;
    switch (*r->at) {
    case 'n': return JSON_NULL;
    case 't':
    case 'f': return JSON_BOOL;
    case '"': return JSON_STRING;
    case '[': return JSON_ARRAY;
    case '{': return JSON_OBJECT;
    default: return *r->at == '-' || is_digit(*r->at) ? JSON_NUMBER : JSON_NOTHING;
    }
}

/* --- texts --- */

/* The value of four hexadecimal digits, or -1. */
static int32_t read_hex4(const char *at, const char *end)
{
    int32_t value = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];

        if (is_digit(c))
            value = value << 4 | (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool is_high_surrogate(int32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_surrogate(int32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/* The length of the escape at `at` (its backslash), or 0 after noting what is wrong with it. */
static size_t check_escape(struct json_reader *r, const char *at)
{
    int32_t code, low;

    if (r->end - at < 2) {
        fail_at(r, at, "the text ends inside a string");
        return 0;
    }
    if (at[1] != 'u') {
        if (memchr("\"\\/bfnrt", at[1], 8))
            return 2;
        fail_at(r, at, "unknown escape; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
        return 0;
    }
    code = read_hex4(at + 2, r->end);
    if (code < 0) {
        fail_at(r, at, "\\u needs four hexadecimal digits");
        return 0;
    }
    if (!is_high_surrogate(code) && !is_low_surrogate(code))
        return 6;
    low = is_high_surrogate(code) && r->end - at >= 8 && at[6] == '\\' && at[7] == 'u' ? read_hex4(at + 8, r->end) : -1;
    if (is_low_surrogate(low))
        return 12;
    fail_at(r, at, "half a surrogate pair; the other half must follow as \\uXXXX");
    return 0;
}

/* Checks the string that begins at the reader and passes it. Gives what stands between the quotes and whether that
 * holds escapes. */
static bool scan_string(struct json_reader *r, struct slice *ret_raw, bool *ret_has_escapes)
{
    const char *start, *at;
    bool has_escapes = false;

    if (!take(r, '"')) {
        expected(r, "a string");
        return false;
    }
    start = at = r->at;
    for (;;) {
        size_t step;

        while (at < r->end && is_plain((unsigned char)*at))
            at++;
        if (at == r->end) {
            fail_at(r, start - 1, "string without an end");
            return false;
        }
        if (*at == '"')
            break;
        if (*at == '\\') {
            has_escapes = true;
            step = check_escape(r, at);
        } else if ((unsigned char)*at < 0x20) {
            fail_at(r, at, "control byte in a string; write it as \\uXXXX");
            return false;
        } else {
            step = slice_utf8_len(slice_of(at, (size_t)(r->end - at)));
            if (step == 0)
                fail_at(r, at, "string is not UTF-8");
        }
        if (step == 0)
            return false;
        at += step;
    }
    *ret_raw = slice_of(start, (size_t)(at - start));
    *ret_has_escapes = has_escapes;
    r->at = at + 1;
    return true;
}

static char *put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Undoes one escape that check_escape found good; returns the place behind it. */
static const char *undo_escape(const char *at, const char *end, char **out)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int32_t code;

    if (at[1] != 'u') {
        *(*out)++ = meanings[strchr(names, at[1]) - names];
        return at + 2;
    }
    code = read_hex4(at + 2, end);
    at += 6;
    if (is_high_surrogate(code)) {
        code = 0x10000 + ((code - 0xd800) << 10) + (read_hex4(at + 2, end) - 0xdc00);
        at += 6;
    }
    *out = put_utf8(*out, (uint32_t)code);
    return at;
}

static struct slice undo_escapes(struct json_reader *r, struct slice raw)
{
    const char *at = raw.ptr, *end = raw.ptr + raw.len;
    struct error err;
    char *text = arena_alloc(r->arena, raw.len, &err), *out = text; /* an escape is never shorter than its meaning */

    if (!text) {
        note(r, &err);
        return SLICE("");
    }
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape ? escape : end) - at);

        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (escape)
            at = undo_escape(at, end, &out);
    }
    return slice_of(text, (size_t)(out - text));
}

struct slice json_reader_text(struct json_reader *r)
{
    struct slice raw;
    bool has_escapes;

    if (!scan_string(r, &raw, &has_escapes))
        return SLICE("");
    r->is_after_value = true;
    return has_escapes ? undo_escapes(r, raw) : raw;
}

/* --- containers --- */

static void enter(struct json_reader *r, char open, const char *what)
{
    if (!take(r, open)) {
        expected(r, what);
        return;
    }
    if (r->depth == r->max_depth) {
        struct error err;

        error_set(&err, ERR_LIMIT, "JSON is nested deeper than the limit of %u at byte %zu", r->max_depth,
                  (size_t)(r->at - r->start) - 1);
        note(r, &err);
        return;
    }
    r->depth++;
    r->is_after_value = false;
}

/* Whether another member of the container comes; passes the comma, or the closing bracket if not. */
static bool next_member(struct json_reader *r, char close, const char *comma_or_close)
{
    if (take(r, close)) {
        r->depth--;
        r->is_after_value = true;
        return false;
    }
    if (r->is_after_value && !take(r, ',')) {
        expected(r, comma_or_close);
        return false;
    }
    return r->failure.code == ERR_OK;
}

void json_reader_enter_object(struct json_reader *r)
{
    enter(r, '{', "an object");
}

/* As json_reader_next_key, but the key stays as it is written. */
static bool next_raw_key(struct json_reader *r, struct slice *ret_raw, bool *ret_has_escapes)
{
    if (!next_member(r, '}', "',' or '}'") || !scan_string(r, ret_raw, ret_has_escapes))
        return false;
    if (take(r, ':'))
        return true;
    expected(r, "':'");
    return false;
}

bool json_reader_next_key(struct json_reader *r, struct slice *ret_key)
{
    struct slice raw;
    bool has_escapes;

    if (!next_raw_key(r, &raw, &has_escapes))
        return false;
    *ret_key = has_escapes ? undo_escapes(r, raw) : raw;
    return r->failure.code == ERR_OK;
}

void json_reader_enter_array(struct json_reader *r)
{
    enter(r, '[', "an array");
}

bool json_reader_next_item(struct json_reader *r)
{
    return next_member(r, ']', "',' or ']'");
}

/* --- words and numbers --- */

bool json_reader_bool(struct json_reader *r)
{
    bool is_true = json_reader_peek(r) == JSON_BOOL && *r->at == 't';

    if (json_reader_peek(r) != JSON_BOOL)
        expected(r, "true or false");
    else
        take_word(r, is_true ? SLICE("true") : SLICE("false"));
    return is_true && r->failure.code == ERR_OK;
}

void json_reader_null(struct json_reader *r)
{
    take_word(r, SLICE("null"));
}

/* Passes over one or more digits. */
static const char *pass_digits(struct json_reader *r, const char *at)
{
    if (at == r->end || !is_digit(*at)) {
        r->at = at;
        expected(r, "a digit");
        return r->end;
    }
    while (at < r->end && is_digit(*at))
        at++;
    return at;
}

struct slice json_reader_number(struct json_reader *r)
{
    const char *start, *at;

    if (json_reader_peek(r) != JSON_NUMBER) {
        expected(r, "a number");
        return SLICE("0");
    }
    start = at = r->at;
    if (*at == '-')
        at++;
    if (at < r->end && *at == '0')
        at++; /* and no digit behind it: "01" is two things, which the caller's next step refuses */
    else
        at = pass_digits(r, at);
    if (at < r->end && *at == '.')
        at = pass_digits(r, at + 1);
    if (at < r->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < r->end && (*at == '+' || *at == '-'))
            at++;
        at = pass_digits(r, at);
    }
    if (r->failure.code != ERR_OK)
        return SLICE("0");
    r->at = at;
    r->is_after_value = true;
    return slice_of(start, (size_t)(at - start));
}

/* The text of a number, bare or in a string; `ret_place` is where it stands. */
static struct slice number_text(struct json_reader *r, const char **ret_place)
{
    enum json_kind kind = json_reader_peek(r);

    *ret_place = r->at;
    return kind == JSON_STRING ? json_reader_text(r) : json_reader_number(r);
}

/* As slice_to_double, for decimal numbers only: a string may hold anything. */
static bool to_double(struct slice text, double *ret_value)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i]) && !memchr("+-.eE", text.ptr[i], 5))
            return false;
    return slice_to_double(text, ret_value);
}

static void refuse_number(struct json_reader *r, const char *place, struct slice text, const char *wanted)
{
    char story[160];

    if (r->failure.code != ERR_OK)
        return;
    snprintf(story, sizeof(story), "expected %s, found '%.*s'", wanted, (int)MIN(text.len, 40u), text.ptr);
    fail_at(r, place, story);
}

/* 2^63 and 2^64 as doubles, the first values that no longer fit. */
#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

int64_t json_reader_i64(struct json_reader *r)
{
    const char *place;
    struct slice text = number_text(r, &place);
    int64_t value;
    double real;

    if (r->failure.code != ERR_OK)
        return 0;
    if (slice_to_i64(text, &value))
        return value;
    if (to_double(text, &real) && real == floor(real) && real >= -TWO_TO_63 && real < TWO_TO_63)
        return (int64_t)real;
    refuse_number(r, place, text, "a whole number of 64 bits");
    return 0;
}

uint64_t json_reader_u64(struct json_reader *r)
{
    const char *place;
    struct slice text = number_text(r, &place);
    uint64_t value;
    double real;

    if (r->failure.code != ERR_OK)
        return 0;
    if (slice_to_u64(text, &value))
        return value;
    if (to_double(text, &real) && real == floor(real) && real >= 0 && real < TWO_TO_64)
        return (uint64_t)real;
    refuse_number(r, place, text, "a whole number of 64 bits, not negative");
    return 0;
}

double json_reader_double(struct json_reader *r)
{
    bool is_text = json_reader_peek(r) == JSON_STRING;
    const char *place;
    struct slice text = number_text(r, &place);
    double value = 0;

    if (r->failure.code != ERR_OK || to_double(text, &value))
        return value;
    if (is_text && slice_is(text, "NaN"))
        return NAN;
    if (is_text && slice_is(text, "Infinity"))
        return INFINITY;
    if (is_text && slice_is(text, "-Infinity"))
        return -INFINITY;
    refuse_number(r, place, text, "a number in the range of a double");
    return 0;
}

/* --- whole values and documents --- */

void json_reader_skip(struct json_reader *r)
{
    struct slice unused;
    bool has_escapes;

    switch (json_reader_peek(r)) {
    case JSON_NULL: json_reader_null(r); break;
    case JSON_BOOL: (void)json_reader_bool(r); break;
    case JSON_NUMBER: (void)json_reader_number(r); break;
    case JSON_STRING:
        (void)scan_string(r, &unused, &has_escapes);
        r->is_after_value = true;
        break;
    case JSON_ARRAY:
        json_reader_enter_array(r);
        while (json_reader_next_item(r))
            json_reader_skip(r);
        break;
    case JSON_OBJECT:
        json_reader_enter_object(r);
        while (next_raw_key(r, &unused, &has_escapes))
            json_reader_skip(r);
        break;
    case JSON_NOTHING: expected(r, "a value"); break;
    }
}

bool json_reader_next_document(struct json_reader *r)
{
    skip_space(r);
    r->is_after_value = false;
    return r->at < r->end;
}

void json_reader_end(struct json_reader *r)
{
    skip_space(r);
    if (r->at < r->end)
        expected(r, "the end");
}
