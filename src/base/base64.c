// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

void base64_encode(struct slice bytes, bool is_padded, struct buffer *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = buffer_reserve(out, bytes.len / 3 * 4 + 4);
    char *begin = to;

    if (!to)
        return;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = MIN(bytes.len - i, 3);
        uint32_t word = 0;

        for (size_t j = 0; j < 3; j++)
            word = word << 8 | (j < n ? (unsigned char)bytes.ptr[i + j] : 0);
        for (size_t j = 0; j < 4; j++) {
            if (j <= n)
                *to++ = digits[word >> (18 - 6 * j) & 0x3f];
            else if (is_padded)
                *to++ = '=';
        }
    }
    buffer_commit(out, (size_t)(to - begin));
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool base64_decode(struct slice text, char *to, size_t *ret_len, size_t *ret_bad_at)
{
    size_t len = 0, place = 0; /* in a group of four characters */
    uint32_t word = 0;
    bool is_padding = false;

    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_value(text.ptr[i]);

        if (text.ptr[i] == '=' ? place < 2 : digit < 0 || is_padding) {
            *ret_bad_at = i;
            return false;
        }
        if (text.ptr[i] != '=') {
            word = word << 6 | (uint32_t)digit;
            if (place > 0)
                to[len++] = (char)(word >> (6 - 2 * place));
        }
        is_padding = text.ptr[i] == '=' && place == 2;
        place = (place + 1) % 4;
    }
    if (place == 1) {
        *ret_bad_at = text.len;
        return false;
    }
    *ret_len = len;
    return true;
}
