// SPDX-License-Identifier: Apache-2.0
#include "query/idtext.h"

#include <string.h>

enum { MAX_BYTES = 16 };

/* --- reading --- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Where a UUID has its dashes, by byte. */
static bool has_dash_before(size_t byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

static bool parse(struct slice text, size_t n_bytes, bool has_dashes, uint8_t *ret_id)
{
    size_t at = 0;

    if (text.len != 2 * n_bytes + (has_dashes ? 4 : 0))
        return false;
    for (size_t i = 0; i < n_bytes; i++, at += 2) {
        int high, low;

        if (has_dashes && has_dash_before(i) && text.ptr[at++] != '-')
            return false;
        high = digit_of(text.ptr[at]);
        low = digit_of(text.ptr[at + 1]);
        if (high < 0 || low < 0)
            return false;
        ret_id[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool idtext_is_there(const uint8_t *id, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (id[i])
            return true;
    return false;
}

static int check_id(struct slice text, const char *what, const char *form, size_t n_bytes, bool may_have_dashes,
                    uint8_t *ret_id, struct error *err)
{
    uint8_t id[MAX_BYTES];

    if (!parse(text, n_bytes, false, id) && !(may_have_dashes && parse(text, n_bytes, true, id)))
        return error_set(err, ERR_INVALID, "'%.*s' is no id of a %s: write %s", (int)MIN(text.len, 64u), text.ptr, what,
                         form);
    if (!idtext_is_there(id, n_bytes))
        return error_set(err, ERR_INVALID, "'%.*s' is no id of a %s: all zeros mean that there is none",
                         SLICE_ARG(text), what);
    memcpy(ret_id, id, n_bytes);
    return 0;
}

int idtext_parse_span(struct slice text, uint8_t ret_id[static IDTEXT_SPAN_BYTES], struct error *err)
{
    return check_id(text, "span", "16 hexadecimal digits, like 00f067aa0ba902b7", IDTEXT_SPAN_BYTES, false, ret_id,
                    err);
}

int idtext_parse_trace(struct slice text, uint8_t ret_id[static IDTEXT_TRACE_BYTES], struct error *err)
{
    return check_id(text, "trace", "32 hexadecimal digits, like 4bf92f3577b34da6a3ce929d0e0e4736", IDTEXT_TRACE_BYTES,
                    false, ret_id, err);
}

int idtext_parse_profile(struct slice text, uint8_t ret_id[static IDTEXT_PROFILE_BYTES], struct error *err)
{
    return check_id(text, "profile", "a UUID like 7c9e6679-7425-40de-944b-e07fc1f90ae7, or its 32 hexadecimal digits",
                    IDTEXT_PROFILE_BYTES, true, ret_id, err);
}

/* --- writing --- */

static struct idtext print(const uint8_t *id, size_t n_bytes, bool has_dashes)
{
    static const char digits[] = "0123456789abcdef";
    struct idtext text = { "" };
    char *at = text.text;

    for (size_t i = 0; i < n_bytes; i++) {
        if (has_dashes && has_dash_before(i))
            *at++ = '-';
        *at++ = digits[id[i] >> 4];
        *at++ = digits[id[i] & 0xf];
    }
    return text;
}

struct idtext idtext_of_span(const uint8_t id[static IDTEXT_SPAN_BYTES])
{
    return print(id, IDTEXT_SPAN_BYTES, false);
}

struct idtext idtext_of_trace(const uint8_t id[static IDTEXT_TRACE_BYTES])
{
    return print(id, IDTEXT_TRACE_BYTES, false);
}

struct idtext idtext_of_profile(const uint8_t id[static IDTEXT_PROFILE_BYTES])
{
    return print(id, IDTEXT_PROFILE_BYTES, true);
}
