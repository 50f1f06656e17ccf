// SPDX-License-Identifier: Apache-2.0
#include "base/urlquery.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that an escape at the front of `text` stands for, or -1. */
static int escaped_byte(struct slice text)
{
    int high, low;

    if (text.len < 3 || text.ptr[0] != '%')
        return -1;
    high = hex_digit(text.ptr[1]);
    low = hex_digit(text.ptr[2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static int decode(struct slice text, struct arena *arena, struct slice *ret_text, struct error *err)
{
    char *out;
    size_t len = 0;

    if (slice_find_byte(text, '%') < 0 && slice_find_byte(text, '+') < 0) {
        *ret_text = text;
        return 0;
    }
    out = arena_alloc(arena, text.len, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        int byte = escaped_byte(slice_sub(text, i, 3));

        if (byte >= 0)
            i += 2;
        out[len++] = byte >= 0 ? (char)byte : text.ptr[i] == '+' ? ' ' : text.ptr[i];
    }
    *ret_text = slice_of(out, len);
    return 0;
}

static int parse_pair(struct slice text, struct arena *arena, struct urlquery_pair *ret_pair, struct error *err)
{
    ptrdiff_t equals = slice_find_byte(text, '=');
    size_t end = equals < 0 ? text.len : (size_t)equals;

    if (decode(slice_sub(text, 0, end), arena, &ret_pair->name, err) < 0)
        return -1;
    return decode(slice_sub(text, end + 1, SIZE_MAX), arena, &ret_pair->value, err);
}

int urlquery_parse(struct slice text, struct arena *arena, struct urlquery *ret_query, struct error *err)
{
    struct urlquery query = { 0 };
    struct slice rest = text, part;
    uint32_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '&';
    if (n > URLQUERY_MAX_PAIRS)
        return error_set(err, ERR_LIMIT, "the query of the URL has %u parts, at most %d are read", n,
                         URLQUERY_MAX_PAIRS);
    query.pairs = ARENA_ARRAY(arena, struct urlquery_pair, n, err);
    if (!query.pairs)
        return -1;
    while (slice_next_part(&rest, '&', &part)) {
        if (part.len == 0)
            continue;
        if (parse_pair(part, arena, &query.pairs[query.n], err) < 0)
            return -1;
        query.n++;
    }
    *ret_query = query;
    return 0;
}

static const struct urlquery_pair *find(const struct urlquery *query, const char *name)
{
    for (uint32_t i = 0; i < query->n; i++)
        if (slice_is(query->pairs[i].name, name))
            return &query->pairs[i];
    return NULL;
}

struct slice urlquery_get(const struct urlquery *query, const char *name)
{
    const struct urlquery_pair *pair = find(query, name);

    return pair ? pair->value : SLICE("");
}

bool urlquery_has(const struct urlquery *query, const char *name)
{
    return find(query, name) != NULL;
}
