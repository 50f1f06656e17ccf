// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const method_names[] = {
    [HTTP_GET] = "GET",       [HTTP_HEAD] = "HEAD",   [HTTP_POST] = "POST",       [HTTP_PUT] = "PUT",
    [HTTP_DELETE] = "DELETE", [HTTP_PATCH] = "PATCH", [HTTP_OPTIONS] = "OPTIONS", [HTTP_METHOD_OTHER] = "?",
};

enum http_method http_method_from(struct slice text)
{
    for (int method = 0; method < HTTP_METHOD_OTHER; method++)
        if (slice_is(text, method_names[method]))
            return (enum http_method)method;
    return HTTP_METHOD_OTHER;
}

const char *http_method_name(enum http_method method)
{
    return method_names[method];
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        { 100, "Continue" },
        { 101, "Switching Protocols" },
        { 200, "OK" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 304, "Not Modified" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 421, "Misdirected Request" },
        { 422, "Unprocessable Content" },
        { 426, "Upgrade Required" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 499, "Client Closed Request" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}

const char *http_date(int64_t time_ns, char ret_text[static HTTP_DATE_BYTES])
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(time_ns / CLOCK_NS_PER_SECOND);
    struct tm at;

    gmtime_r(&seconds, &at);
    snprintf(ret_text, HTTP_DATE_BYTES, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * at.tm_wday,
             (unsigned)at.tm_mday % 100, months + 3 * at.tm_mon, (unsigned)(at.tm_year + 1900) % 10000,
             (unsigned)at.tm_hour % 100, (unsigned)at.tm_min % 100, (unsigned)at.tm_sec % 100);
    return ret_text;
}

/* --- headers --- */

struct slice http_header(const struct http_headers *headers, const char *name)
{
    struct slice wanted = slice_from(name);

    for (uint32_t i = 0; i < headers->n; i++)
        if (slice_equal(headers->items[i].name, wanted))
            return slice_trim(headers->items[i].value);
    return (struct slice){ NULL, 0 };
}

uint32_t http_header_count(const struct http_headers *headers, const char *name)
{
    struct slice wanted = slice_from(name);
    uint32_t n = 0;

    for (uint32_t i = 0; i < headers->n; i++)
        n += slice_equal(headers->items[i].name, wanted);
    return n;
}

/* The quality that the parameters behind a word of a list give it: 0.5 for ";q=0.5", 1 if they do not say. */
static double quality_of(struct slice parameters)
{
    struct slice part;

    while (slice_next_part(&parameters, ';', &part)) {
        double quality;

        part = slice_trim(part);
        if (part.len >= 2 && (part.ptr[0] | 0x20) == 'q' && part.ptr[1] == '=')
            return !slice_to_double(slice_sub(part, 2, SIZE_MAX), &quality) ? 1 : quality > 0 ? MIN(quality, 1) : 0;
    }
    return 1;
}

static double quality_in_list(struct slice list, struct slice word)
{
    struct slice item;

    while (slice_next_part(&list, ',', &item)) {
        ptrdiff_t semicolon = slice_find_byte(item, ';');
        struct slice name = slice_trim(semicolon < 0 ? item : slice_sub(item, 0, (size_t)semicolon));

        if (slice_equal_nocase(name, word))
            return semicolon < 0 ? 1 : quality_of(slice_sub(item, (size_t)semicolon + 1, SIZE_MAX));
    }
    return 0;
}

double http_header_quality(const struct http_headers *headers, const char *name, const char *word)
{
    struct slice wanted = slice_from(name);

    for (uint32_t i = 0; i < headers->n; i++) {
        double quality;

        if (!slice_equal(headers->items[i].name, wanted))
            continue;
        quality = quality_in_list(headers->items[i].value, slice_from(word));
        if (quality > 0)
            return quality;
    }
    return 0;
}

bool http_header_has(const struct http_headers *headers, const char *name, const char *word)
{
    return http_header_quality(headers, name, word) > 0;
}

struct slice http_media_type(struct slice content_type)
{
    ptrdiff_t semicolon = slice_find_byte(content_type, ';');

    return slice_trim(semicolon < 0 ? content_type : slice_sub(content_type, 0, (size_t)semicolon));
}

/* --- texts --- */

bool http_is_token(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            continue;
        if (c == 0 || !strchr("!#$%&'*+-.^_`|~", c))
            return false;
    }
    return text.len > 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice http_unescape(struct slice text, bool is_query, struct arena *arena, struct error *err)
{
    char *to;
    size_t len = 0;

    if (slice_find_byte(text, '%') < 0 && !(is_query && slice_find_byte(text, '+') >= 0))
        return text.ptr ? text : SLICE("");
    to = arena_alloc(arena, text.len, err);
    if (!to)
        return (struct slice){ NULL, 0 };
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '%' && i + 2 < text.len && hex_digit(text.ptr[i + 1]) >= 0 && hex_digit(text.ptr[i + 2]) >= 0) {
            c = (char)(hex_digit(text.ptr[i + 1]) << 4 | hex_digit(text.ptr[i + 2]));
            i += 2;
        } else if (c == '+' && is_query) {
            c = ' ';
        }
        to[len++] = c;
    }
    return slice_of(to, len);
}
