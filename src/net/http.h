// SPDX-License-Identifier: Apache-2.0
/* The words of HTTP that every version of it shares: methods, statuses, headers, and one request with its answer. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_PATCH,
    HTTP_OPTIONS,
    HTTP_METHOD_OTHER, /* anything else that is a token */
};
#define HTTP_METHODS (HTTP_METHOD_OTHER + 1)
enum http_method http_method_from(struct slice text);
/* "GET"; "?" for HTTP_METHOD_OTHER. */
const char *http_method_name(enum http_method method);

enum http_version { HTTP_1_0, HTTP_1_1, HTTP_2 };

/* "Not Found"; "Unknown" for a status that we never use. */
const char *http_reason(int status);

#define HTTP_DATE_BYTES 30 /* "Sun, 15 Nov 2026 10:00:00 GMT" and a NUL */
/* Writes a time as the Date header has it, and returns `ret_text`. */
const char *http_date(int64_t time_ns, char ret_text[static HTTP_DATE_BYTES]);

#define HTTP_MAX_HEADERS 128 /* of a message */

struct http_header {
    struct slice name; /* in lower case */
    struct slice value;
};
struct http_headers {
    struct http_header items[HTTP_MAX_HEADERS];
    uint32_t n;
};

/* The first value of `name` (given in lower case), without white space around it; an empty slice with a NULL pointer if
 * there is none. */
struct slice http_header(const struct http_headers *headers, const char *name);
/* How often it is there. */
uint32_t http_header_count(const struct http_headers *headers, const char *name);
/* Whether the comma-separated list of all values of `name` has `word`, in any case, and not with a quality of 0:
 * "gzip, br;q=0" has gzip. */
bool http_header_has(const struct http_headers *headers, const char *name, const char *word);
/* The quality that such a list gives to `word`, 0 to 1; 0 if it is not in it: "gzip;q=0.5, br" gives gzip 0.5 and br 1. */
double http_header_quality(const struct http_headers *headers, const char *name, const char *word);
/* A media type without its parameters: "application/json" of "application/json; charset=utf-8". */
struct slice http_media_type(struct slice content_type);

/* The form of a token (RFC 9110 §5.6.2), which names of methods and headers have. */
bool http_is_token(struct slice text);

/* Decodes %XX (and '+' as a space, with `is_query`) into `arena`, or gives `text` itself where there is nothing to decode.
 * A % that two hex digits do not follow stands for itself. ptr is NULL when memory runs out. */
MUST_CHECK struct slice http_unescape(struct slice text, bool is_query, struct arena *arena, struct error *err);
