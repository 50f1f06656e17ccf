// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST_EXACT_INTEGER 9007199254740992.0 /* 2^53 */

static bool get_bit(const uint64_t *bits, size_t at)
{
    return bits[at / 64] >> at % 64 & 1;
}

static void put_bit(uint64_t *bits, size_t at, bool value)
{
    bits[at / 64] = (bits[at / 64] & ~((uint64_t)1 << at % 64)) | (uint64_t)value << at % 64;
}

/* Levels past the maximum are counted, so that begin and end stay paired, but have no bits: the buffer has failed. */
static bool is_within_depth(const struct json *json)
{
    return json->depth > 0 && json->depth <= JSON_MAX_DEPTH;
}

static bool is_in_object(const struct json *json)
{
    return is_within_depth(json) && get_bit(json->is_object, json->depth - 1);
}

void json_init(struct json *json, struct buffer *buffer, enum json_layout layout)
{
    json->buffer = buffer;
    json->layout = layout;
    json->depth = 0;
    json->has_key = false;
    json->has_value = false;
}

void json_done(struct json *json)
{
    DEBUG_ASSERT(json->depth == 0 && !json->has_key && json->has_value);
    if (json->layout == JSON_INDENTED)
        buffer_append_byte(json->buffer, '\n');
}

static void break_line(struct json *json)
{
    char *at;

    if (json->layout == JSON_COMPACT)
        return;
    at = buffer_reserve(json->buffer, 1 + 2 * json->depth);
    if (!at)
        return;
    at[0] = '\n';
    memset(at + 1, ' ', 2 * json->depth);
    buffer_commit(json->buffer, 1 + 2 * json->depth);
}

/* What stands before an item of the innermost level: a comma if it is not the first, and its line. */
static void begin_item(struct json *json)
{
    if (!is_within_depth(json))
        return;
    if (get_bit(json->has_items, json->depth - 1))
        buffer_append_byte(json->buffer, ',');
    put_bit(json->has_items, json->depth - 1, true);
    break_line(json);
}

static void begin_value(struct json *json)
{
    DEBUG_ASSERT(json->depth > 0 || !json->has_value);
    DEBUG_ASSERT(json->depth > JSON_MAX_DEPTH || json->has_key == is_in_object(json));
    json->has_value = true;
    if (json->has_key)
        json->has_key = false;
    else
        begin_item(json);
}

static void begin_level(struct json *json, bool is_object)
{
    begin_value(json);
    buffer_append_byte(json->buffer, is_object ? '{' : '[');
    json->depth++;
    if (is_within_depth(json)) {
        put_bit(json->is_object, json->depth - 1, is_object);
        put_bit(json->has_items, json->depth - 1, false);
    } else if (json->buffer->failure.code == ERR_OK) {
        error_set(&json->buffer->failure, ERR_LIMIT, "JSON output nested deeper than %d levels", JSON_MAX_DEPTH);
    }
}

static void end_level(struct json *json, bool is_object)
{
    bool has_items = is_within_depth(json) && get_bit(json->has_items, json->depth - 1);

    DEBUG_ASSERT(json->depth > 0 && !json->has_key);
    DEBUG_ASSERT(json->depth > JSON_MAX_DEPTH || is_in_object(json) == is_object);
    json->depth--;
    if (has_items)
        break_line(json);
    buffer_append_byte(json->buffer, is_object ? '}' : ']');
}

void json_object_begin(struct json *json)
{
    begin_level(json, true);
}

void json_object_end(struct json *json)
{
    end_level(json, true);
}

void json_array_begin(struct json *json)
{
    begin_level(json, false);
}

void json_array_end(struct json *json)
{
    end_level(json, false);
}

size_t json_escape(struct slice text, char ret_escaped[static JSON_ESCAPE_BYTES], size_t *ret_len)
{
    static const char short_forms[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    unsigned char c = (unsigned char)text.ptr[0];
    size_t char_len = slice_utf8_len(text);

    for (size_t i = 0; i + 1 < sizeof(short_forms); i += 2) {
        if (c == (unsigned char)short_forms[i]) {
            ret_escaped[0] = '\\';
            ret_escaped[1] = short_forms[i + 1];
            *ret_len = 2;
            return 1;
        }
    }
    if (c < 0x20) {
        *ret_len = (size_t)snprintf(ret_escaped, JSON_ESCAPE_BYTES, "\\u%04x", (unsigned)c);
        return 1;
    }
    if (char_len == 0) {
        memcpy(ret_escaped, "\xef\xbf\xbd", 3);
        *ret_len = 3;
        return 1;
    }
    memcpy(ret_escaped, text.ptr, char_len);
    *ret_len = char_len;
    return char_len;
}

/* How many bytes at the front of `text` need no escape: printable ASCII but '"' and '\'. */
static size_t plain_len(struct slice text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] >= 0x20 && text.ptr[n] < 0x7f && text.ptr[n] != '"' && text.ptr[n] != '\\')
        n++;
    return n;
}

static void append_quoted(struct json *json, struct slice text)
{
    buffer_append_byte(json->buffer, '"');
    while (text.len > 0) {
        size_t used = plain_len(text);

        if (used > 0) {
            buffer_append(json->buffer, text.ptr, used);
        } else {
            char escaped[JSON_ESCAPE_BYTES];
            size_t len;

            used = json_escape(text, escaped, &len);
            buffer_append(json->buffer, escaped, len);
        }
        text = slice_of(text.ptr + used, text.len - used);
    }
    buffer_append_byte(json->buffer, '"');
}

void json_key_slice(struct json *json, struct slice key)
{
    DEBUG_ASSERT(json->depth > JSON_MAX_DEPTH || (is_in_object(json) && !json->has_key));
    begin_item(json);
    append_quoted(json, key);
    buffer_append_text(json->buffer, json->layout == JSON_INDENTED ? ": " : ":");
    json->has_key = true;
}

void json_key(struct json *json, const char *key)
{
    json_key_slice(json, slice_from(key));
}

void json_string(struct json *json, struct slice text)
{
    begin_value(json);
    append_quoted(json, text);
}

void json_text(struct json *json, const char *text)
{
    json_string(json, slice_from(text));
}

/* Flame graphs are tens of thousands of numbers: printf would take most of the time of writing one. */
static void append_digits(struct buffer *out, bool is_negative, uint64_t size)
{
    char text[21];
    char *at = text + sizeof(text);

    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (is_negative)
        *--at = '-';
    buffer_append(out, at, (size_t)(text + sizeof(text) - at));
}

void json_int(struct json *json, int64_t value)
{
    begin_value(json);
    append_digits(json->buffer, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_uint(struct json *json, uint64_t value)
{
    begin_value(json);
    append_digits(json->buffer, false, value);
}

/* snprintf follows the locale of the program that links us; its decimal point may be any character. */
static size_t set_decimal_point(char *text, size_t len)
{
    size_t from = strspn(text, "+-0123456789e");
    size_t to = from;

    if (from == len)
        return len;
    while (!strchr("0123456789", text[to]))
        to++;
    text[from] = '.';
    memmove(text + from + 1, text + to, len - to + 1);
    return len - (to - from) + 1;
}

size_t json_number(double value, char ret_text[static JSON_NUMBER_BYTES])
{
    size_t len;

    DEBUG_ASSERT(isfinite(value));
    if (fabs(value) <= LARGEST_EXACT_INTEGER && value == (double)(int64_t)value && !(value == 0 && signbit(value)))
        return (size_t)snprintf(ret_text, JSON_NUMBER_BYTES, "%" PRId64, (int64_t)value);
    /* Any number of up to 15 digits survives the way to a double and back, so 15 digits without trailing zeros are the
     * fewest, if they do. Below DBL_MIN precision fades and fewer may. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;; digits++) {
        len = (size_t)snprintf(ret_text, JSON_NUMBER_BYTES, "%.*g", digits, value);
        if (digits == DBL_DECIMAL_DIG || strtod(ret_text, NULL) == value)
            return set_decimal_point(ret_text, len);
    }
}

void json_double(struct json *json, double value)
{
    char text[JSON_NUMBER_BYTES];

    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    begin_value(json);
    buffer_append(json->buffer, text, json_number(value, text));
}

void json_bool(struct json *json, bool value)
{
    begin_value(json);
    buffer_append_text(json->buffer, value ? "true" : "false");
}

void json_null(struct json *json)
{
    begin_value(json);
    buffer_append_text(json->buffer, "null");
}

void json_raw(struct json *json, struct slice text)
{
    begin_value(json);
    buffer_append_slice(json->buffer, text);
}
