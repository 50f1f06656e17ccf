// SPDX-License-Identifier: Apache-2.0
#include "base/slice.h"

#include <math.h>
#include <stdlib.h>

int slice_compare(struct slice a, struct slice b)
{
    size_t len = MIN(a.len, b.len);
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool slice_starts_with(struct slice text, struct slice prefix)
{
    return text.len >= prefix.len && slice_equal(slice_of(text.ptr, prefix.len), prefix);
}

bool slice_ends_with(struct slice text, struct slice suffix)
{
    return text.len >= suffix.len && slice_equal(slice_sub(text, text.len - suffix.len, suffix.len), suffix);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool slice_equal_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    return true;
}

ptrdiff_t slice_find_byte(struct slice text, char byte)
{
    const char *at = text.len ? memchr(text.ptr, byte, text.len) : NULL;

    return at ? at - text.ptr : -1;
}

ptrdiff_t slice_find_last_byte(struct slice text, char byte)
{
    const char *at = text.len ? memrchr(text.ptr, byte, text.len) : NULL;

    return at ? at - text.ptr : -1;
}

ptrdiff_t slice_find(struct slice text, struct slice needle)
{
    const char *at;

    if (needle.len == 0)
        return 0;
    at = text.len ? memmem(text.ptr, text.len, needle.ptr, needle.len) : NULL;
    return at ? at - text.ptr : -1;
}

struct slice slice_sub(struct slice text, size_t start, size_t len)
{
    start = MIN(start, text.len);
    return slice_of(text.ptr ? text.ptr + start : NULL, MIN(len, text.len - start));
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct slice slice_trim(struct slice text)
{
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

bool slice_next_line(struct slice *rest, struct slice *ret_line)
{
    ptrdiff_t end;

    if (rest->len == 0)
        return false;
    end = slice_find_byte(*rest, '\n');
    if (end < 0) {
        *ret_line = *rest;
        *rest = slice_of(rest->ptr + rest->len, 0);
    } else {
        *ret_line = slice_of(rest->ptr, (size_t)end);
        *rest = slice_of(rest->ptr + end + 1, rest->len - (size_t)end - 1);
    }
    if (ret_line->len > 0 && ret_line->ptr[ret_line->len - 1] == '\r')
        ret_line->len--;
    return true;
}

bool slice_next_part(struct slice *rest, char separator, struct slice *ret_part)
{
    ptrdiff_t end;

    if (!rest->ptr)
        return false;
    end = slice_find_byte(*rest, separator);
    if (end < 0) {
        *ret_part = *rest;
        *rest = (struct slice){ NULL, 0 };
    } else {
        *ret_part = slice_of(rest->ptr, (size_t)end);
        *rest = slice_of(rest->ptr + end + 1, rest->len - (size_t)end - 1);
    }
    return true;
}

bool slice_to_u64(struct slice text, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || __builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret_value = value;
    return true;
}

bool slice_to_i64(struct slice text, int64_t *ret_value)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t magnitude;

    if (negative || (text.len > 0 && text.ptr[0] == '+'))
        text = slice_of(text.ptr + 1, text.len - 1);
    if (!slice_to_u64(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool slice_to_u64_hex(struct slice text, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (text.len == 0 || text.len > 16)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = lower(text.ptr[i]);
        unsigned digit;

        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return false;
        value = value << 4 | digit;
    }
    *ret_value = value;
    return true;
}

/* hearth never calls setlocale, so strtod reads the C locale's decimal point. */
bool slice_to_double(struct slice text, double *ret_value)
{
    char copy[64];
    char *end;
    double value;

    if (text.len == 0 || text.len >= sizeof(copy) || is_space(text.ptr[0]))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    value = strtod(copy, &end);
    if (end != copy + text.len || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

size_t slice_utf8_len(struct slice text)
{
    const unsigned char *s = (const unsigned char *)text.ptr;
    size_t need;
    unsigned min_second = 0x80, max_second = 0xbf;

    if (text.len == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        need = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        need = 3;
        min_second = s[0] == 0xe0 ? 0xa0 : 0x80;
        max_second = s[0] == 0xed ? 0x9f : 0xbf;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        need = 4;
        min_second = s[0] == 0xf0 ? 0x90 : 0x80;
        max_second = s[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (text.len < need || s[1] < min_second || s[1] > max_second)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return need;
}

bool slice_is_utf8(struct slice text)
{
    while (text.len > 0) {
        size_t step = slice_utf8_len(text);

        if (step == 0)
            return false;
        text = slice_of(text.ptr + step, text.len - step);
    }
    return true;
}
