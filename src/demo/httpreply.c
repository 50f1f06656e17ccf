// SPDX-License-Identifier: Apache-2.0
#include "demo/httpreply.h"

#define STATUS_LINE "HTTP/1.1 "

static int read_status(struct slice line, struct httpreply *reply, struct error *err)
{
    struct slice code = slice_sub(line, sizeof(STATUS_LINE) - 1, 3);
    uint64_t status;

    if (!slice_starts_with(line, SLICE(STATUS_LINE)) || code.len < 3 || !slice_to_u64(code, &status) || status < 100 ||
        status > 599 || (line.len > sizeof(STATUS_LINE) + 2 && line.ptr[sizeof(STATUS_LINE) + 2] != ' '))
        return error_set(err, ERR_CORRUPT, "the answer begins with '%.*s', not with HTTP/1.1 and a status",
                         SLICE_ARG(slice_sub(line, 0, 40)));
    reply->status = (int)status;
    return 0;
}

static int read_length(struct slice value, struct httpreply *reply, bool *has_length, struct error *err)
{
    uint64_t len;

    if (*has_length || !slice_to_u64(value, &len))
        return error_set(err, ERR_CORRUPT, "the answer has no good length: '%.*s'", SLICE_ARG(slice_sub(value, 0, 40)));
    if (len > HTTPREPLY_MAX_BODY)
        return error_set(err, ERR_LIMIT, "the answer has %llu bytes, more than %d", (unsigned long long)len,
                         HTTPREPLY_MAX_BODY);
    reply->body_bytes = (size_t)len;
    *has_length = true;
    return 0;
}

static int read_header(struct slice line, struct httpreply *reply, bool *has_length, struct error *err)
{
    ptrdiff_t colon = slice_find_byte(line, ':');
    struct slice name, value;

    if (colon <= 0)
        return error_set(err, ERR_CORRUPT, "the answer has a header without a name: '%.*s'",
                         SLICE_ARG(slice_sub(line, 0, 40)));
    name = slice_sub(line, 0, (size_t)colon);
    value = slice_trim(slice_sub(line, (size_t)colon + 1, SIZE_MAX));
    if (slice_equal_nocase(name, SLICE("content-length")))
        return read_length(value, reply, has_length, err);
    if (slice_equal_nocase(name, SLICE("transfer-encoding")))
        return error_set(err, ERR_CORRUPT, "the answer comes in pieces (Transfer-Encoding), which nobody asked for");
    if (slice_equal_nocase(name, SLICE("connection")) && slice_equal_nocase(value, SLICE("close")))
        reply->keeps_alive = false;
    return 0;
}

static bool next_line(struct slice *rest, struct slice *ret_line)
{
    if (!slice_next_line(rest, ret_line))
        return false;
    if (slice_ends_with(*ret_line, SLICE("\r")))
        ret_line->len--;
    return true;
}

static int read_head(struct slice head, struct httpreply *reply, struct error *err)
{
    bool has_length = false;
    struct slice line = { 0 };

    if (read_status(next_line(&head, &line) ? line : SLICE(""), reply, err) < 0)
        return -1;
    while (next_line(&head, &line))
        if (read_header(line, reply, &has_length, err) < 0)
            return -1;
    if (!has_length && reply->status >= 200 && reply->status != 204 && reply->status != 304)
        return error_set(err, ERR_CORRUPT, "the answer does not say how long it is");
    return 0;
}

int httpreply_parse(struct slice bytes, bool *ret_is_whole, struct httpreply *ret_reply, struct error *err)
{
    struct httpreply reply = { .keeps_alive = true };
    ptrdiff_t end = slice_find(slice_sub(bytes, 0, HTTPREPLY_MAX_HEAD), SLICE("\r\n\r\n"));

    *ret_is_whole = false;
    if (end < 0 && bytes.len >= HTTPREPLY_MAX_HEAD)
        return error_set(err, ERR_LIMIT, "the head of the answer has more than %d bytes", HTTPREPLY_MAX_HEAD);
    if (end < 0)
        return 0;
    if (read_head(slice_sub(bytes, 0, (size_t)end), &reply, err) < 0)
        return -1;
    reply.head_bytes = (size_t)end + 4;
    *ret_is_whole = true;
    *ret_reply = reply;
    return 0;
}
