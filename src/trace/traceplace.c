// SPDX-License-Identifier: Apache-2.0
/* A token is base64 of: byte 1 (the version), u32 of what was asked, i64 start, i64 duration, trace id, span id, kind; numbers
 * are little-endian. */
#include "trace/traceplace.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"

#define TOKEN_VERSION 1
#define TOKEN_BYTES   (1 + 4 + 8 + 8 + SPAN_TRACE_ID_BYTES + SPAN_ID_BYTES + 1)
static_assert((TOKEN_BYTES + 2) / 3 * 4 < TRACESTORE_PAGE_BYTES, "a token fits");

struct traceplace traceplace_of(const struct span *span)
{
    struct traceplace place = { .start_ns = span->start_ns, .duration_ns = span->duration_ns, .kind = span->kind };

    memcpy(place.trace_id, span->trace_id, sizeof(place.trace_id));
    memcpy(place.span_id, span->span_id, sizeof(place.span_id));
    return place;
}

int traceplace_compare(enum tracestore_order order, const struct traceplace *a, const struct traceplace *b)
{
    int by_id;

    if (order == TRACESTORE_SLOWEST && a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns > b->start_ns ? -1 : 1;
    by_id = memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id));
    if (by_id == 0)
        by_id = memcmp(a->span_id, b->span_id, sizeof(a->span_id));
    return by_id != 0 ? by_id : (a->kind > b->kind) - (a->kind < b->kind);
}

static struct hash128 fold_text(struct hash128 hash, struct slice text)
{
    return hash_fold(hash, hash_bytes64(text, 0), text.len);
}

static uint32_t asked_of(const struct tracestore_search *search)
{
    const struct tracestore_filter *filter = &search->filter;
    struct hash128 hash = { search->order, 1 };

    hash = fold_text(fold_text(hash, filter->service), filter->operation);
    hash = hash_fold(hash, (uint64_t)filter->min_duration_ns, (uint64_t)filter->max_duration_ns);
    hash = hash_fold(hash, filter->is_error, filter->is_root);
    for (uint32_t i = 0; i < filter->n_attributes; i++)
        hash = fold_text(fold_text(hash, filter->attributes[i].key), filter->attributes[i].value.text);
    return (uint32_t)(hash.a >> 32);
}

void traceplace_encode(const struct tracestore_search *search, const struct traceplace *place,
                       char ret_page[static TRACESTORE_PAGE_BYTES])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[(TOKEN_BYTES + 2) / 3 * 3] = { TOKEN_VERSION };
    char *at = ret_page;

    bytes_put_le32(bytes + 1, asked_of(search));
    bytes_put_le64(bytes + 5, (uint64_t)place->start_ns);
    bytes_put_le64(bytes + 13, (uint64_t)place->duration_ns);
    memcpy(bytes + 21, place->trace_id, sizeof(place->trace_id));
    memcpy(bytes + 37, place->span_id, sizeof(place->span_id));
    bytes[45] = place->kind;
    for (size_t i = 0; i < sizeof(bytes); i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];

        for (unsigned shift = 24; shift > 0; shift -= 6)
            *at++ = letters[three >> (shift - 6) & 63];
    }
    *at = '\0';
}

int traceplace_decode(const struct tracestore_search *search, struct slice page, struct traceplace *ret_place,
                      struct error *err)
{
    char bytes[BASE64_DECODED_BYTES(TRACESTORE_PAGE_BYTES)];
    struct traceplace place;
    size_t len = 0, bad_at;

    if (page.len >= TRACESTORE_PAGE_BYTES || !base64_decode(page, bytes, &len, &bad_at) ||
        len != (TOKEN_BYTES + 2) / 3 * 3 || bytes[0] != TOKEN_VERSION)
        return error_set(err, ERR_INVALID, "page '%.*s' is none that a search gave (leave it out for the first page)",
                         (int)MIN(page.len, (size_t)100), page.ptr);
    if (bytes_get_le32(bytes + 1) != asked_of(search))
        return error_set(err, ERR_INVALID,
                         "page '%.*s' is of another search (ask as before, or leave it out for the first page)",
                         (int)page.len, page.ptr);
    place = (struct traceplace){ .start_ns = (int64_t)bytes_get_le64(bytes + 5),
                                 .duration_ns = (int64_t)bytes_get_le64(bytes + 13),
                                 .kind = (uint8_t)bytes[45] };
    memcpy(place.trace_id, bytes + 21, sizeof(place.trace_id));
    memcpy(place.span_id, bytes + 37, sizeof(place.span_id));
    *ret_place = place;
    return 0;
}
