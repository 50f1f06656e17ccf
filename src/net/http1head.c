// SPDX-License-Identifier: Apache-2.0
#include "net/http1head.h"

#include <string.h>

size_t http1_head_end(struct slice bytes, size_t *scanned)
{
    size_t at = *scanned;

    while (at < bytes.len) {
        const char *lf = memchr(bytes.ptr + at, '\n', bytes.len - at);

        if (!lf)
            break;
        at = (size_t)(lf - bytes.ptr) + 1;
        /* An empty line behind it ends the head. One LF alone is no line end, but the parser shall see and refuse it. */
        if (bytes.len - at >= 1 && bytes.ptr[at] == '\n')
            return at + 1;
        if (bytes.len - at >= 2 && bytes.ptr[at] == '\r' && bytes.ptr[at + 1] == '\n')
            return at + 2;
        if (bytes.len - at < 2) {
            *scanned = (size_t)(lf - bytes.ptr);
            return 0;
        }
    }
    *scanned = bytes.len;
    return 0;
}

static int refuse(int status, int *ret_status, struct error *err, const char *text)
{
    *ret_status = status;
    return error_set(err, ERR_INVALID, "%s", text);
}

/* Cuts a line that must end in CRLF off the front. */
static int next_line(struct slice *rest, struct slice *ret_line, int *ret_status, struct error *err)
{
    ptrdiff_t lf = slice_find_byte(*rest, '\n');

    if (lf < 1 || rest->ptr[lf - 1] != '\r')
        return refuse(400, ret_status, err, "a line of the request's head does not end in CR LF");
    *ret_line = slice_sub(*rest, 0, (size_t)lf - 1);
    *rest = slice_sub(*rest, (size_t)lf + 1, SIZE_MAX);
    return 0;
}

/* --- the request line --- */

/* Takes "http://host" off an absolute target. */
static struct slice origin_form(struct slice target, struct slice *ret_authority)
{
    size_t skip = slice_starts_with(target, SLICE("http://"))    ? 7
                  : slice_starts_with(target, SLICE("https://")) ? 8
                                                                 : 0;
    struct slice rest = slice_sub(target, skip, SIZE_MAX);
    size_t end = 0;

    if (skip == 0)
        return target;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
        end++;
    *ret_authority = slice_sub(rest, 0, end);
    return end == rest.len ? SLICE("/") : slice_sub(rest, end, SIZE_MAX);
}

static bool is_printable(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return false;
    return true;
}

static int parse_target(struct slice target, struct arena *arena, struct request *request, int *ret_status,
                        struct error *err)
{
    ptrdiff_t mark;

    target = origin_form(target, &request->authority);
    if (slice_is(target, "*") && request->method == HTTP_OPTIONS) {
        request->path = target;
        return 0;
    }
    if (target.len == 0 || target.ptr[0] != '/' || !is_printable(target))
        return refuse(400, ret_status, err,
                      "the request's target is no path; it must begin with '/', like GET /ready HTTP/1.1");
    mark = slice_find_byte(target, '#');
    if (mark >= 0)
        target = slice_sub(target, 0, (size_t)mark);
    mark = slice_find_byte(target, '?');
    if (mark >= 0)
        request->query = slice_sub(target, (size_t)mark + 1, SIZE_MAX);
    *ret_status = 503;
    request->path = http_unescape(mark < 0 ? target : slice_sub(target, 0, (size_t)mark), false, arena, err);
    return request->path.ptr ? 0 : -1;
}

static int parse_version(struct slice text, struct request *request, int *ret_status, struct error *err)
{
    if (slice_is(text, "HTTP/1.1"))
        request->version = HTTP_1_1;
    else if (slice_is(text, "HTTP/1.0"))
        request->version = HTTP_1_0;
    else if (slice_starts_with(text, SLICE("HTTP/")))
        return refuse(505, ret_status, err, "the version of HTTP is not known here; use HTTP/1.1 or HTTP/2");
    else
        return refuse(400, ret_status, err, "this is no HTTP; a request begins like GET /ready HTTP/1.1");
    return 0;
}

static int parse_request_line(struct slice line, struct arena *arena, struct request *request, int *ret_status,
                              struct error *err)
{
    ptrdiff_t first = slice_find_byte(line, ' '), last = slice_find_last_byte(line, ' ');

    if (line.len > HTTP1_MAX_LINE)
        return refuse(414, ret_status, err, "the request line is longer than 32 KiB");
    if (first < 0 || last <= first + 1)
        return refuse(400, ret_status, err, "this is no HTTP; a request begins like GET /ready HTTP/1.1");
    request->method_text = slice_sub(line, 0, (size_t)first);
    if (!http_is_token(request->method_text))
        return refuse(400, ret_status, err, "the request's method is no word");
    request->method = http_method_from(request->method_text);
    if (parse_version(slice_sub(line, (size_t)last + 1, SIZE_MAX), request, ret_status, err) < 0)
        return -1;
    return parse_target(slice_sub(line, (size_t)first + 1, (size_t)(last - first - 1)), arena, request, ret_status,
                        err);
}

/* --- headers --- */

static bool is_field_value(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* `line` lies in our copy of the head, so names can be made lower case in their place. */
static int parse_header(struct slice line, char *copy, struct http_headers *headers, int *ret_status, struct error *err)
{
    ptrdiff_t colon = slice_find_byte(line, ':');
    struct http_header *header;
    char *name = copy;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return refuse(400, ret_status, err, "a header goes on in the next line, which is not allowed any more");
    if (colon < 1 || !http_is_token(slice_sub(line, 0, (size_t)colon)))
        return refuse(400, ret_status, err, "a line of the request's head is no header like Name: value");
    if (headers->n == HTTP_MAX_HEADERS)
        return refuse(431, ret_status, err, "the request has more than 128 headers");
    header = &headers->items[headers->n++];
    for (ptrdiff_t i = 0; i < colon; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] | 0x20);
    header->name = slice_of(name, (size_t)colon);
    header->value = slice_trim(slice_sub(line, (size_t)colon + 1, SIZE_MAX));
    if (!is_field_value(header->value))
        return refuse(400, ret_status, err, "a header's value has control characters");
    return 0;
}

static int parse_length(const struct http_headers *headers, int64_t *ret_bytes, int *ret_status, struct error *err)
{
    struct slice text = http_header(headers, "content-length");
    int64_t bytes;

    if (http_header_count(headers, "content-length") > 1)
        return refuse(400, ret_status, err, "the request has more than one Content-Length");
    if (text.len == 0 || text.ptr[0] < '0' || text.ptr[0] > '9' || !slice_to_i64(text, &bytes))
        return refuse(400, ret_status, err, "the Content-Length is no number of bytes");
    *ret_bytes = bytes;
    return 0;
}

static int parse_body_framing(const struct request *request, struct http1_framing *framing, int *ret_status,
                              struct error *err)
{
    struct slice coding = http_header(&request->headers, "transfer-encoding");
    bool has_length = http_header_count(&request->headers, "content-length") > 0;

    framing->body_bytes = 0;
    if (!coding.ptr)
        return has_length ? parse_length(&request->headers, &framing->body_bytes, ret_status, err) : 0;
    if (has_length)
        return refuse(400, ret_status, err, "the request has both a Content-Length and a Transfer-Encoding; send one");
    if (request->version == HTTP_1_0)
        return refuse(400, ret_status, err, "HTTP/1.0 knows no Transfer-Encoding; send a Content-Length");
    if (http_header_count(&request->headers, "transfer-encoding") > 1 || !slice_equal_nocase(coding, SLICE("chunked")))
        return refuse(501, ret_status, err, "the only Transfer-Encoding known here is chunked");
    framing->body_bytes = -1;
    return 0;
}

static int parse_connection(const struct request *request, struct http1_framing *framing, int *ret_status,
                            struct error *err)
{
    const struct http_headers *headers = &request->headers;
    struct slice expected = http_header(headers, "expect");

    framing->keeps_alive = request->version == HTTP_1_1 ? !http_header_has(headers, "connection", "close")
                                                        : http_header_has(headers, "connection", "keep-alive");
    if (expected.ptr && request->version == HTTP_1_1) {
        if (!slice_equal_nocase(expected, SLICE("100-continue")))
            return refuse(417, ret_status, err, "the only Expect known here is 100-continue");
        framing->wants_continue = true;
    }
    framing->h2c_settings = http_header(headers, "http2-settings");
    framing->wants_h2c = request->version == HTTP_1_1 && http_header_has(headers, "upgrade", "h2c") &&
                         http_header_has(headers, "connection", "upgrade") &&
                         http_header_count(headers, "http2-settings") == 1;
    return 0;
}

int http1_parse_head(struct slice head, struct arena *arena, struct request *request, struct http1_framing *ret_framing,
                     int *ret_status, struct error *err)
{
    struct slice rest, line;
    char *copy;

    *ret_framing = (struct http1_framing){ 0 };
    *ret_status = 503;
    copy = arena_alloc(arena, head.len, err);
    if (!copy)
        return -1;
    memcpy(copy, head.ptr, head.len);
    rest = slice_of(copy, head.len);
    if (next_line(&rest, &line, ret_status, err) < 0 || parse_request_line(line, arena, request, ret_status, err) < 0)
        return -1;
    for (;;) {
        if (next_line(&rest, &line, ret_status, err) < 0)
            return -1;
        if (line.len == 0)
            break;
        if (parse_header(line, copy + (line.ptr - copy), &request->headers, ret_status, err) < 0)
            return -1;
    }
    if (request->version == HTTP_1_1 && http_header_count(&request->headers, "host") != 1)
        return refuse(400, ret_status, err, "the request must have one Host header");
    if (request->authority.len == 0)
        request->authority = http_header(&request->headers, "host");
    if (parse_body_framing(request, ret_framing, ret_status, err) < 0)
        return -1;
    return parse_connection(request, ret_framing, ret_status, err);
}

/* --- chunks --- */

void http1_chunks_init(struct http1_chunks *chunks)
{
    *chunks = (struct http1_chunks){ .state = CHUNK_SIZE };
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_size(struct http1_chunks *chunks, char c, struct error *err)
{
    int digit = hex_digit(c);

    if (digit >= 0) {
        if (++chunks->n_digits > 15)
            return error_set(err, ERR_INVALID, "the size of a chunk has more than 15 digits");
        chunks->left = chunks->left << 4 | (uint64_t)digit;
        return 0;
    }
    if (chunks->n_digits == 0 || (c != '\r' && c != ';' && c != ' ' && c != '\t'))
        return error_set(err, ERR_INVALID, "a chunk of the body does not begin with its size in hex digits");
    chunks->state = c == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
    return 0;
}

static int take_extension(struct http1_chunks *chunks, char c, struct error *err)
{
    if (++chunks->n_extra > HTTP1_MAX_EXTRA)
        return error_set(err, ERR_INVALID, "the extensions of the body's chunks are longer than 16 KiB");
    if (c == '\n')
        return error_set(err, ERR_INVALID, "the size of a chunk does not end in CR LF");
    if (c == '\r')
        chunks->state = CHUNK_SIZE_LF;
    return 0;
}

/* Trailers are of no use to anybody here: only where they end matters. */
static int take_trailer(struct http1_chunks *chunks, char c, struct error *err)
{
    if (++chunks->n_extra > 2 * HTTP1_MAX_EXTRA)
        return error_set(err, ERR_INVALID, "the trailers of the body are longer than 16 KiB");
    if (chunks->has_cr) {
        if (c != '\n')
            return error_set(err, ERR_INVALID, "a trailer of the body does not end in CR LF");
        chunks->has_cr = false;
        if (chunks->line == 0)
            chunks->state = CHUNK_DONE;
        chunks->line = 0;
        return 0;
    }
    if (c == '\n')
        return error_set(err, ERR_INVALID, "a trailer of the body does not end in CR LF");
    if (c == '\r')
        chunks->has_cr = true;
    else
        chunks->line++;
    return 0;
}

static int expect(struct http1_chunks *chunks, char c, char wanted, int next, struct error *err)
{
    if (c != wanted)
        return error_set(err, ERR_INVALID, "a chunk of the body does not end where its size says");
    chunks->state = next;
    return 0;
}

static int take_byte(struct http1_chunks *chunks, char c, struct error *err)
{
    switch (chunks->state) {
    case CHUNK_SIZE: return take_size(chunks, c, err);
    case CHUNK_EXTENSION: return take_extension(chunks, c, err);
    case CHUNK_SIZE_LF:
        chunks->n_digits = 0;
        return expect(chunks, c, '\n', chunks->left ? CHUNK_DATA : CHUNK_TRAILER, err);
    case CHUNK_DATA_CR: return expect(chunks, c, '\r', CHUNK_DATA_LF, err);
    case CHUNK_DATA_LF: return expect(chunks, c, '\n', CHUNK_SIZE, err);
    default: return take_trailer(chunks, c, err);
    }
}

int http1_chunks_take(struct http1_chunks *chunks, struct slice *rest, struct slice *ret_data, struct error *err)
{
    *ret_data = (struct slice){ NULL, 0 };
    while (rest->len > 0 && chunks->state != CHUNK_DONE) {
        if (chunks->state == CHUNK_DATA) {
            *ret_data = slice_sub(*rest, 0, (size_t)MIN(chunks->left, (uint64_t)rest->len));
            *rest = slice_sub(*rest, ret_data->len, SIZE_MAX);
            chunks->left -= ret_data->len;
            if (chunks->left == 0)
                chunks->state = CHUNK_DATA_CR;
            return 0;
        }
        if (take_byte(chunks, rest->ptr[0], err) < 0)
            return -1;
        *rest = slice_sub(*rest, 1, SIZE_MAX);
    }
    return 0;
}
