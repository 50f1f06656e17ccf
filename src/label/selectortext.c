// SPDX-License-Identifier: Apache-2.0
/* The grammar of selectors. Positions in errors are counted in bytes from 1.
 *
 *     selector = [type] "{" [matchers] "}" | type | [matchers]
 *     query    = selector | word "{" [matchers] "}" | word
 *     word     = anything without ":", quotes and {}=!~, in it
 *     matchers = matcher { "," matcher } [","]
 *     matcher  = name ("=" | "!=" | "=~" | "!~") value
 *     name     = letters, digits, "_", ".", "-" | quoted
 *     value    = quoted | anything up to "," or "}"
 *     quoted   = "..." or '...' with escapes, `...` without
 *     type     = five parts with ":" between them, or six, the last of them "delta" (which says nothing) */
#include "label/selectortext_internal.h"

#include "label/labelrules.h"

#include <stdio.h>

#define MAX_TEXT_BYTES    (1u << 20)
/* Of names, values and type, unescaped. A quarter of the text's limit and less, so that what was read can be written
 * with every byte escaped and read again. */
#define MAX_CONTENT_BYTES (64u << 10)
#define MAX_MATCHERS      128
#define EXAMPLE           "{service_name=\"api\", zone=~\"eu-.*\"}"
#define TYPE_EXAMPLE      "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}"
#define QUOTED_MAX        40 /* bytes of names and values shown in an error */

static const char *const operators[] = {
    [MATCH_EQUAL] = "=",
    [MATCH_NOT_EQUAL] = "!=",
    [MATCH_REGEXP] = "=~",
    [MATCH_NOT_REGEXP] = "!~",
};

const char *const selectortext_part_labels[5] = { SERIES_NAME_LABEL, "__type__", "__unit__", "__period_type__",
                                                  "__period_unit__" };

struct reader {
    struct slice text; /* the selector's own copy: names and values point into it, unescaped in place */
    size_t at;
    size_t content_bytes;
    struct selector *selector;
};

/* --- bytes --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static bool at_end(const struct reader *r)
{
    return r->at >= r->text.len;
}

/* Whether the next byte is `c`. */
static bool at_byte(const struct reader *r, char c)
{
    return !at_end(r) && r->text.ptr[r->at] == c;
}

static bool take_byte(struct reader *r, char c)
{
    bool has = at_byte(r, c);

    r->at += has;
    return has;
}

static void skip_space(struct reader *r)
{
    while (!at_end(r) && is_space(r->text.ptr[r->at]))
        r->at++;
}

/* What stands at the reader's place, for errors. */
struct found {
    char text[24];
};

static struct found found_here(const struct reader *r)
{
    struct slice rest = slice_sub(r->text, r->at, r->text.len);
    struct found found = { "the end" };
    size_t len = slice_utf8_len(rest);

    if (len > 1 || (len == 1 && rest.ptr[0] >= ' ' && rest.ptr[0] != 0x7f))
        snprintf(found.text, sizeof(found.text), "'%.*s'", (int)len, rest.ptr);
    else if (rest.len > 0)
        snprintf(found.text, sizeof(found.text), "byte 0x%02x", (uint8_t)rest.ptr[0]);
    return found;
}

static int expected(const struct reader *r, const char *what, struct error *err)
{
    return error_set(err, ERR_INVALID, "selector: expected %s at position %zu, found %s; write it like %s", what,
                     r->at + 1, found_here(r).text, EXAMPLE);
}

static int bad_at(size_t at, const char *what, struct error *err)
{
    return error_set(err, ERR_INVALID, "selector: %s at position %zu; write it like %s", what, at + 1, EXAMPLE);
}

/* --- quoted texts --- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads `n` digits of a number; false if there are fewer. */
static bool take_digits(struct reader *r, size_t n, uint32_t base, uint32_t *ret_number)
{
    uint32_t number = 0;

    for (size_t i = 0; i < n; i++) {
        int digit = at_end(r) ? -1 : hex_digit(r->text.ptr[r->at]);

        if (digit < 0 || (uint32_t)digit >= base)
            return false;
        number = number * base + (uint32_t)digit;
        r->at++;
    }
    *ret_number = number;
    return true;
}

/* Writes a character as UTF-8; 0 if there is none with that number. */
static size_t put_character(char *out, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Reads what follows a backslash; never writes more bytes than it reads. The number of bytes written, 0 if it is no
 * escape of Go's. */
static size_t take_escape(struct reader *r, char *out)
{
    static const char letters[] = "abfnrtv\\'\"", bytes[] = "\a\b\f\n\r\t\v\\'\"";
    char letter = at_end(r) ? '\0' : r->text.ptr[r->at];
    const char *simple = letter ? strchr(letters, letter) : NULL;
    uint32_t number;

    if (letter >= '0' && letter <= '7') {
        if (!take_digits(r, 3, 8, &number) || number > 0xff)
            return 0;
        out[0] = (char)number;
        return 1;
    }
    r->at++;
    if (simple) {
        out[0] = bytes[simple - letters];
        return 1;
    }
    if (letter == 'x' && take_digits(r, 2, 16, &number)) {
        out[0] = (char)number;
        return 1;
    }
    if ((letter == 'u' && take_digits(r, 4, 16, &number)) || (letter == 'U' && take_digits(r, 8, 16, &number)))
        return put_character(out, number);
    return 0;
}

/* Reads a text in quotes; the reader is at the first of them. */
static int read_quoted(struct reader *r, struct slice *ret_text, struct error *err)
{
    size_t start = r->at, len = 0;
    char quote = r->text.ptr[r->at++];
    char *out = (char *)r->text.ptr + r->at;

    while (!at_end(r)) {
        size_t at = r->at;
        char c = r->text.ptr[r->at++];

        if (c == quote) {
            *ret_text = slice_of(out, len);
            return 0;
        }
        if (c == '\\' && quote != '`') {
            size_t n = take_escape(r, out + len);

            if (n == 0)
                return bad_at(at, "unknown escape (a backslash is written \\\\)", err);
            len += n;
        } else {
            out[len++] = c;
        }
    }
    return bad_at(start, "a quote that is never closed", err);
}

/* A profile type may have a sixth part, "delta", which says nothing. */
static struct slice without_delta(struct slice type)
{
    ptrdiff_t last = slice_find_last_byte(type, ':');
    size_t n_colons = 0;

    for (size_t i = 0; i < type.len; i++)
        n_colons += type.ptr[i] == ':';
    if (n_colons == 5 && slice_is(slice_trim(slice_sub(type, (size_t)last + 1, type.len)), "delta"))
        return slice_trim(slice_sub(type, 0, (size_t)last));
    return type;
}

/* --- matchers --- */

static int count_content(struct reader *r, struct slice text, struct error *err)
{
    r->content_bytes += text.len;
    if (r->content_bytes > MAX_CONTENT_BYTES)
        return error_set(err, ERR_LIMIT, "selector: its names and values are longer than the %u bytes allowed",
                         MAX_CONTENT_BYTES);
    return 0;
}

static int read_name(struct reader *r, struct matcher *matcher, struct error *err)
{
    size_t start = r->at;
    struct slice name;
    bool is_repaired;

    if (!at_end(r) && is_quote(r->text.ptr[r->at])) {
        if (read_quoted(r, &name, err) < 0)
            return -1;
        if (name.len == 0)
            return bad_at(start, "an empty label name", err);
    } else {
        while (!at_end(r) && is_name_byte(r->text.ptr[r->at]))
            r->at++;
        name = slice_sub(r->text, start, r->at - start);
        if (name.len == 0)
            return expected(r, "a label name", err);
    }
    if (labelrules_canonical(name, &r->selector->arena, &matcher->name, &is_repaired, err) < 0)
        return -1;
    matcher->is_of_type = slice_is(matcher->name, SELECTORTEXT_TYPE_LABEL);
    for (size_t i = 1; i < ARRAY_LEN(selectortext_part_labels); i++)
        matcher->is_of_type |= slice_is(matcher->name, selectortext_part_labels[i]);
    return count_content(r, matcher->name, err);
}

static int read_operator(struct reader *r, struct matcher *matcher, struct error *err)
{
    size_t start = r->at;
    bool is_negated = take_byte(r, '!');

    if (take_byte(r, '~')) {
        if (!is_negated)
            return bad_at(start, "'~' is no operator (=~ is)", err);
        matcher->kind = MATCH_NOT_REGEXP;
        return 0;
    }
    if (!take_byte(r, '=')) {
        r->at = start;
        return expected(r, "one of = != =~ !~ behind the label name", err);
    }
    if (at_byte(r, '='))
        return bad_at(start, "'==' is no operator (= is)", err);
    matcher->kind = is_negated ? MATCH_NOT_EQUAL : take_byte(r, '~') ? MATCH_REGEXP : MATCH_EQUAL;
    return 0;
}

static int read_value(struct reader *r, struct matcher *matcher, struct error *err)
{
    size_t start = r->at;

    if (!at_end(r) && is_quote(r->text.ptr[r->at])) {
        if (read_quoted(r, &matcher->value, err) < 0)
            return -1;
    } else {
        while (!at_end(r) && !at_byte(r, ',') && !at_byte(r, '}'))
            r->at++;
        matcher->value = slice_trim(slice_sub(r->text, start, r->at - start));
    }
    if (slice_is(matcher->name, SELECTORTEXT_TYPE_LABEL) && matcher->kind <= MATCH_NOT_EQUAL)
        matcher->value = without_delta(matcher->value);
    return count_content(r, matcher->value, err);
}

static int read_matcher(struct reader *r, struct error *err)
{
    struct matcher *matcher = VEC_PUSH(&r->selector->matchers, MAX_MATCHERS, err);
    size_t at;

    if (!matcher) {
        if (err->code != ERR_LIMIT)
            return -1;
        return error_set(err, ERR_LIMIT, "selector: more than the %d conditions allowed", MAX_MATCHERS);
    }
    if (read_name(r, matcher, err) < 0)
        return -1;
    skip_space(r);
    if (read_operator(r, matcher, err) < 0)
        return -1;
    skip_space(r);
    at = r->at;
    if (read_value(r, matcher, err) < 0)
        return -1;
    if ((matcher->kind == MATCH_REGEXP || matcher->kind == MATCH_NOT_REGEXP) &&
        pattern_new(matcher->value, PATTERN_WHOLE, &matcher->pattern, err) < 0)
        return error_wrap(err, "selector: label '%.*s', value at position %zu",
                          (int)MIN(matcher->name.len, (size_t)QUOTED_MAX), matcher->name.ptr, at + 1);
    return 0;
}

/* Reads matchers up to the end or, in braces, up to the closing one. */
static int read_matchers(struct reader *r, bool has_braces, struct error *err)
{
    for (;;) {
        skip_space(r);
        if (has_braces ? take_byte(r, '}') : at_end(r))
            return 0;
        if (read_matcher(r, err) < 0)
            return -1;
        skip_space(r);
        if (!take_byte(r, ',') && (has_braces ? !at_byte(r, '}') : !at_end(r)))
            return expected(r, has_braces ? "',' or '}'" : "','", err);
    }
}

/* --- the whole --- */

static int read_type(struct reader *r, struct slice text, struct error *err)
{
    struct slice rest, part, parts[5] = { 0 };
    size_t n = 0;

    text = rest = without_delta(text);
    while (slice_next_part(&rest, ':', &part)) {
        if (n < ARRAY_LEN(parts))
            parts[n] = part;
        n++;
    }
    if (n != 5 || parts[0].len == 0 || parts[1].len == 0)
        return error_set(
            err, ERR_INVALID,
            "selector: '%.*s' is no profile type, which is NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT; write it "
            "like %s",
            (int)MIN(text.len, (size_t)QUOTED_MAX), text.ptr, TYPE_EXAMPLE);
    r->selector->profile_type = text;
    return count_content(r, text, err);
}

/* Reads what stands in front of the braces, or alone: a type, or a name where one is allowed. */
static int read_front(struct reader *r, struct slice text, bool is_name_allowed, struct error *err)
{
    if (!is_name_allowed || slice_find_byte(text, ':') >= 0)
        return read_type(r, text, err);
    r->selector->name = text;
    return count_content(r, text, err);
}

/* What stands before the first byte that cannot be in a profile type. */
static struct slice front_of(struct slice text)
{
    size_t len = 0;

    while (len < text.len && !is_quote(text.ptr[len]) && !memchr("{}=!~,", text.ptr[len], 6))
        len++;
    return slice_sub(text, 0, len);
}

int selectortext_read(struct slice text, bool is_name_allowed, struct selector *selector, struct error *err)
{
    struct reader r = { .selector = selector };
    struct slice front;

    if (text.len > MAX_TEXT_BYTES)
        return error_set(err, ERR_LIMIT, "selector: its %zu bytes are more than the %u allowed", text.len,
                         MAX_TEXT_BYTES);
    r.text = arena_copy(&selector->arena, text, err);
    if (!r.text.ptr)
        return -1;
    r.at = front_of(r.text).len;
    front = slice_trim(front_of(r.text));
    if (!take_byte(&r, '{')) {
        bool is_front = at_end(&r) && front.len > 0 && (is_name_allowed || slice_find_byte(front, ':') >= 0);

        r.at = 0;
        return is_front ? read_front(&r, front, is_name_allowed, err) : read_matchers(&r, false, err);
    }
    if ((front.len > 0 && read_front(&r, front, is_name_allowed, err) < 0) || read_matchers(&r, true, err) < 0)
        return -1;
    skip_space(&r);
    return at_end(&r) ? 0 : expected(&r, "the end behind '}'", err);
}

/* --- writing --- */

static void append_quoted(struct buffer *out, struct slice text)
{
    buffer_append_byte(out, '"');
    while (text.len > 0) {
        size_t len = slice_utf8_len(text);
        char c = text.ptr[0];

        if (len == 0 || (len == 1 && ((uint8_t)c < ' ' || c == 0x7f)))
            buffer_printf(out, "\\x%02x", (uint8_t)c);
        else if (c == '"' || c == '\\')
            buffer_printf(out, "\\%c", c);
        else
            buffer_append(out, text.ptr, len);
        text = slice_sub(text, MAX(len, (size_t)1), text.len);
    }
    buffer_append_byte(out, '"');
}

static void append_matcher(struct buffer *out, const char *separator, struct slice name, enum matcher_kind kind,
                           struct slice value)
{
    buffer_append_text(out, separator);
    buffer_append_slice(out, name);
    buffer_append_text(out, operators[kind]);
    append_quoted(out, value);
}

void selectortext_write_braces(const struct selector *selector, const struct series_label *label, bool has_types,
                               struct buffer *out)
{
    const char *separator = "";

    buffer_append_byte(out, '{');
    if (label) {
        append_matcher(out, separator, label->name, MATCH_EQUAL, label->value);
        separator = ", ";
    }
    for (size_t i = 0; i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];

        if (matcher->is_of_type && !has_types)
            continue;
        append_matcher(out, separator, matcher->name, matcher->kind, matcher->value);
        separator = ", ";
    }
    buffer_append_byte(out, '}');
}

void selectortext_write(const struct selector *selector, struct buffer *out)
{
    buffer_append_slice(out, selector->profile_type);
    buffer_append_slice(out, selector->name);
    selectortext_write_braces(selector, NULL, true, out);
}
