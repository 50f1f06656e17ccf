// SPDX-License-Identifier: Apache-2.0
#include "trace/traceindex.h"

#include "base/hash.h"
#include "pack/varint.h"

#include <stdlib.h>

#define PAGE_VERSION 1
#define MAX_PAIRS    ((size_t)1 << 26)
#define MAX_PAGE     ((size_t)16 << 20)

uint64_t traceindex_hash(const uint8_t trace_id[static SPAN_TRACE_ID_BYTES])
{
    return hash_bytes64(slice_of(trace_id, SPAN_TRACE_ID_BYTES), 0) >> 24;
}

void traceindex_builder_done(struct traceindex_builder *builder)
{
    VEC_DONE(&builder->pairs);
}

int traceindex_builder_add(struct traceindex_builder *builder, uint64_t hash, uint32_t block, struct error *err)
{
    struct traceindex_pair *pair = VEC_PUSH(&builder->pairs, MAX_PAIRS, err);

    if (!pair)
        return error_wrap(err, "indexing traces");
    *pair = (struct traceindex_pair){ hash, block };
    return 0;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct traceindex_pair *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* Sorts, and leaves out what comes twice: a trace has a run in each of the slots it lasts. */
static size_t sort_pairs(struct traceindex_pair *pairs, size_t n)
{
    size_t n_kept = 0;

    if (n == 0)
        return 0;
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || compare_pairs(&pairs[n_kept - 1], &pairs[i]) != 0)
            pairs[n_kept++] = pairs[i];
    return n_kept;
}

static size_t page_end(const struct traceindex_pair *pairs, size_t first, size_t n)
{
    size_t end = MIN(first + TRACEINDEX_PAGE_PAIRS, n);

    while (end < n && pairs[end].hash == pairs[end - 1].hash)
        end++;
    return end;
}

static void encode_page(const struct traceindex_pair *pairs, size_t n, struct buffer *out)
{
    uint64_t last = pairs[0].hash;

    buffer_append_byte(out, PAGE_VERSION);
    varint_append(out, n);
    for (size_t i = 0; i < n; i++) {
        varint_append(out, pairs[i].hash - last);
        varint_append(out, pairs[i].block);
        last = pairs[i].hash;
    }
}

int traceindex_builder_finish(struct traceindex_builder *builder,
                              int (*put)(void *context, uint64_t first, struct slice page, struct error *err),
                              void *context, struct error *err)
{
    const struct traceindex_pair *pairs = builder->pairs.items;
    size_t n = sort_pairs(builder->pairs.items, builder->pairs.n);
    AUTO(buffer_done) struct buffer page;

    buffer_init(&page, MAX_PAGE);
    for (size_t first = 0, end; first < n; first = end) {
        end = page_end(pairs, first, n);
        buffer_clear(&page);
        encode_page(pairs + first, end - first, &page);
        if (buffer_check(&page, err) < 0 || put(context, pairs[first].hash, buffer_slice(&page), err) < 0)
            return -1;
    }
    builder->pairs.n = 0;
    return 0;
}

int traceindex_reader_init(struct traceindex_reader *reader, uint64_t first, struct slice page, struct error *err)
{
    if (page.len == 0)
        return error_set(err, ERR_CORRUPT, "a page of the index of traces has no bytes");
    if (page.ptr[0] != PAGE_VERSION)
        return error_set(err, ERR_VERSION, "a page of the index of traces is of version %u, this program knows %d",
                         (unsigned char)page.ptr[0], PAGE_VERSION);
    *reader = (struct traceindex_reader){ .rest = slice_sub(page, 1, page.len), .hash = first };
    if (!varint_next(&reader->rest, &reader->n_left))
        return error_set(err, ERR_CORRUPT, "a page of the index of traces does not say how many pairs it has");
    return 0;
}

int traceindex_reader_next(struct traceindex_reader *reader, struct traceindex_pair *ret_pair, bool *ret_has,
                           struct error *err)
{
    uint64_t more, block;

    *ret_has = false;
    if (reader->n_left == 0)
        return 0;
    if (!varint_next(&reader->rest, &more) || !varint_next(&reader->rest, &block) || block > UINT32_MAX)
        return error_set(err, ERR_CORRUPT, "a page of the index of traces ends %zu pairs too soon",
                         (size_t)reader->n_left);
    reader->n_left--;
    reader->hash += more;
    *ret_pair = (struct traceindex_pair){ reader->hash, (uint32_t)block };
    *ret_has = true;
    return 0;
}
