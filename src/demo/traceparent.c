// SPDX-License-Identifier: Apache-2.0
#include "demo/traceparent.h"

#include <stdio.h>
#include <string.h>

#define LEN (TRACEPARENT_BYTES - 1)

/* Where the parts begin. */
enum { VERSION_AT = 0, TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };

/* Capitals are not allowed. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, size_t n_bytes, uint8_t *ret_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret_bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    uint8_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= bytes[i];
    return any == 0;
}

/* The dashes, and nothing behind the flags but what a later version may add. */
static bool has_form(struct slice text, uint8_t version)
{
    return text.ptr[TRACE_AT - 1] == '-' && text.ptr[SPAN_AT - 1] == '-' && text.ptr[FLAGS_AT - 1] == '-' &&
           (text.len == LEN || (version != 0 && text.ptr[LEN] == '-'));
}

int traceparent_parse(struct slice text, struct traceparent *ret_parent, struct error *err)
{
    struct traceparent parent;
    uint8_t version;

    if (text.len < LEN || !read_hex(text.ptr + VERSION_AT, 1, &version) || !has_form(text, version))
        return error_set(err, ERR_INVALID, "traceparent '%.*s' has not the form 00-TRACE-SPAN-FLAGS",
                         SLICE_ARG(slice_sub(text, 0, 80)));
    if (version == 0xff)
        return error_set(err, ERR_INVALID, "traceparent has version ff, which is none");
    if (!read_hex(text.ptr + TRACE_AT, sizeof(parent.trace_id), parent.trace_id) ||
        !read_hex(text.ptr + SPAN_AT, sizeof(parent.span_id), parent.span_id) ||
        !read_hex(text.ptr + FLAGS_AT, 1, &parent.flags))
        return error_set(err, ERR_INVALID, "traceparent '%.*s' has other digits than 0-9 and a-f", LEN, text.ptr);
    if (is_zero(parent.trace_id, sizeof(parent.trace_id)) || is_zero(parent.span_id, sizeof(parent.span_id)))
        return error_set(err, ERR_INVALID, "traceparent '%.*s' has an id of zeros", LEN, text.ptr);
    *ret_parent = parent;
    return 0;
}

static char *write_hex(const uint8_t *bytes, size_t n, char *at)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    return at;
}

const char *traceparent_format(const struct traceparent *parent, char ret_text[static TRACEPARENT_BYTES])
{
    memcpy(ret_text, "00-", 3);
    *write_hex(parent->trace_id, sizeof(parent->trace_id), ret_text + TRACE_AT) = '-';
    *write_hex(parent->span_id, sizeof(parent->span_id), ret_text + SPAN_AT) = '-';
    *write_hex(&parent->flags, 1, ret_text + FLAGS_AT) = '\0';
    return ret_text;
}
