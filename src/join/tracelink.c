// SPDX-License-Identifier: Apache-2.0
#include "join/tracelink.h"

enum place { PLACE_TRACE, PLACE_SPAN, PLACE_SERVICE, PLACE_START, PLACE_END, PLACE_NONE };
static const char *const places[] = {
    [PLACE_TRACE] = "trace_id", [PLACE_SPAN] = "span_id", [PLACE_SERVICE] = "service",
    [PLACE_START] = "start_ms", [PLACE_END] = "end_ms",
};

static enum place place_of(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (slice_is(name, places[i]))
            return (enum place)i;
    return PLACE_NONE;
}

/* Takes what is before the next brace off the template, and then the place within braces. False at the end; a brace that is
 * never closed is no place, and its name begins with it. */
static bool next_place(struct slice *rest, struct slice *ret_before, struct slice *ret_name)
{
    ptrdiff_t open = slice_find_byte(*rest, '{'), close;

    *ret_before = open < 0 ? *rest : slice_sub(*rest, 0, (size_t)open);
    *rest = slice_sub(*rest, ret_before->len, SIZE_MAX);
    if (open < 0)
        return false;
    close = slice_find_byte(*rest, '}');
    *ret_name = close < 0 ? *rest : slice_sub(*rest, 1, (size_t)close - 1);
    *rest = close < 0 ? (struct slice){ 0 } : slice_sub(*rest, (size_t)close + 1, SIZE_MAX);
    return true;
}

static int check_characters(struct slice template, struct error *err)
{
    if (!slice_starts_with(template, SLICE("http://")) && !slice_starts_with(template, SLICE("https://")))
        return error_set(err, ERR_INVALID, "'%.*s' does not begin with http:// or https://",
                         SLICE_ARG(slice_sub(template, 0, 64)));
    if (template.len > TRACELINK_MAX_BYTES)
        return error_set(err, ERR_INVALID, "an address of %zu bytes is longer than %d", template.len,
                         TRACELINK_MAX_BYTES);
    for (size_t i = 0; i < template.len; i++)
        if (template.ptr[i] <= ' ' || template.ptr[i] > '~')
            return error_set(err, ERR_INVALID, "the character at %zu cannot stand in an address; write it as %%XX",
                             i + 1);
    return 0;
}

int tracelink_check(struct slice template, struct error *err)
{
    struct slice rest = template, before, name;
    bool has_trace = false;

    if (check_characters(template, err) < 0)
        return -1;
    while (next_place(&rest, &before, &name)) {
        enum place place = place_of(name);

        if (slice_starts_with(name, SLICE("{")))
            return error_set(err, ERR_INVALID, "the braces of '%.*s' do not match", SLICE_ARG(slice_sub(name, 0, 64)));
        if (place == PLACE_NONE)
            return error_set(err, ERR_INVALID,
                             "{%.*s} is no place for anything; there are {trace_id}, {span_id}, {service}, {start_ms} "
                             "and {end_ms}",
                             SLICE_ARG(slice_sub(name, 0, 64)));
        has_trace |= place == PLACE_TRACE;
    }
    return has_trace ? 0 : error_set(err, ERR_INVALID, "the address has no {trace_id}: it would be the same for all");
}

static void append_hex(struct buffer *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; bytes && i < n; i++)
        buffer_printf(out, "%02x", bytes[i]);
}

static void append_escaped(struct buffer *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                        c == '.' || c == '_' || c == '~';

        if (is_plain)
            buffer_append_byte(out, (char)c);
        else
            buffer_printf(out, "%%%02X", c);
    }
}

/* Down for the start, up for the end. */
static long long milliseconds(int64_t time_ns, bool is_up)
{
    int64_t ms = time_ns / 1000000, rest = time_ns % 1000000;

    return ms + (is_up && rest > 0) - (!is_up && rest < 0);
}

static void append_place(struct buffer *out, enum place place, const struct tracelink *link)
{
    switch (place) {
    case PLACE_TRACE: append_hex(out, link->trace_id, SPAN_TRACE_ID_BYTES); break;
    case PLACE_SPAN: append_hex(out, link->span_id, SPAN_ID_BYTES); break;
    case PLACE_SERVICE: append_escaped(out, link->service); break;
    case PLACE_START: buffer_printf(out, "%lld", milliseconds(link->start_ns, false)); break;
    case PLACE_END: buffer_printf(out, "%lld", milliseconds(link->end_ns, true)); break;
    case PLACE_NONE: break;
    }
}

void tracelink_expand(struct slice template, const struct tracelink *link, struct buffer *out)
{
    struct slice rest = template, before, name;

    while (next_place(&rest, &before, &name)) {
        buffer_append(out, before.ptr, before.len);
        append_place(out, place_of(name), link);
    }
    buffer_append(out, before.ptr, before.len);
}
