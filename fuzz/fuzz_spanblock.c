// SPDX-License-Identifier: Apache-2.0
/* Blocks of spans and their headers: any input gives an error or spans within bounds, and those, put into a block again, are
 * the same.
 *
 * The first byte chooses. 0: a block, whose sections the corpus has uncompressed, since no fuzzer guesses the checksum of a
 * frame. 1: a header, of which the numbers of spans and runs stand in front as varints, and the rest is compressed here. */
#include "base/memory.h"
#include "fuzz/same_span.h"
#include "pack/varint.h"
#include "trace/spanblock.h"
#include "trace/spanbuckets.h"
#include "trace/spanrow.h"

#include <stdlib.h>

#define MAX_BYTES ((size_t)64 << 20)
#define MAX_AGAIN 2000u /* spans that are written again, for speed */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs, as a worker has it. */
static struct packer *packer;
static struct unpacker *unpacker;
static struct spanblock_writer *writer;

static int compare_keys(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    uint32_t slots[] = { spanrow_slot(x->start_ns), spanrow_slot(y->start_ns) };
    int order = slots[0] < slots[1] ? -1 : slots[0] > slots[1];

    if (order == 0)
        order = memcmp(x->trace_id, y->trace_id, SPAN_TRACE_ID_BYTES);
    if (order == 0)
        order = memcmp(x->span_id, y->span_id, SPAN_ID_BYTES);
    return order ? order : x->kind - y->kind;
}

static bool are_different(const struct span *spans, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (compare_keys(&spans[i - 1], &spans[i]) == 0)
            return false;
    return true;
}

static void check_operations(const struct spanblock_header *header)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < header->n_operations; i++) {
        const struct spanblock_operation *operation = &header->operations[i];

        n += operation->n_spans;
        ASSERT(operation->min_duration_ns >= 0 && operation->min_duration_ns <= operation->max_duration_ns);
        for (uint32_t k = 0; k < operation->n_buckets; k++)
            ASSERT(operation->buckets[k].bucket < SPANBUCKETS_COUNT);
    }
    ASSERT(n == header->n_spans && header->min_start_ns <= header->max_start_ns);
}

/* Writes the spans as a block and looks for each in it. */
static void check_again(struct span *spans, uint32_t n, struct arena *arena)
{
    AUTO(buffer_done) struct buffer body;
    AUTO(buffer_done) struct buffer header_bytes;
    struct spanblock_prefixes prefixes;
    struct spanblock_header header;
    struct spanblock block;
    struct error err;

    buffer_init(&body, 0);
    buffer_init(&header_bytes, 0);
    qsort(spans, n, sizeof(*spans), compare_keys);
    if (!are_different(spans, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        ASSERT(spanblock_writer_add(writer, &spans[i], &err) == 0);
    ASSERT(spanblock_writer_finish(writer, packer, &body, &header_bytes, &prefixes, &err) == 0);
    ASSERT(spanblock_open(buffer_slice(&body), unpacker, arena, &block, &err) == 0);
    ASSERT(block.n_spans == n && block.n_runs == prefixes.n);
    for (uint32_t i = 0; i < n; i++) {
        const struct span *wanted;
        struct span span;

        ASSERT(spanblock_get(&block, i, SPANBLOCK_ALL, &span, &err) == 0);
        wanted = bsearch(&span, spans, n, sizeof(*spans), compare_keys);
        ASSERT(wanted);
        same_span(&span, wanted);
    }
    ASSERT(spanblock_header_decode(buffer_slice(&header_bytes), unpacker, arena, &header, &err) == 0);
    ASSERT(header.n_spans == n);
    check_operations(&header);
}

static bool is_meant(const struct error *err)
{
    return err->code == ERR_CORRUPT || err->code == ERR_VERSION || err->code == ERR_LIMIT;
}

static void try_block(struct slice body, struct arena *arena)
{
    struct spanblock block;
    struct span *spans;
    struct error err;

    if (spanblock_open(body, unpacker, arena, &block, &err) < 0) {
        ASSERT(is_meant(&err));
        return;
    }
    spans = ARENA_ARRAY(arena, struct span, block.n_spans, &err);
    for (uint32_t i = 0; spans && i < block.n_spans; i++) {
        struct span_value value;
        bool has;

        if (spanblock_find_attribute(&block, i, SLICE("user.id"), &has, &value, &err) < 0 ||
            spanblock_get(&block, i, SPANBLOCK_ALL, &spans[i], &err) < 0) {
            ASSERT(is_meant(&err));
            return;
        }
    }
    if (!spans || block.n_spans > MAX_AGAIN)
        return;
    arena->max_bytes *= 2; /* what was read once can be read again */
    check_again(spans, block.n_spans, arena);
}

static void try_header(struct slice input, struct arena *arena)
{
    AUTO(buffer_done) struct buffer bytes;
    struct spanblock_header header;
    uint64_t n_spans, n_runs;
    struct error err;

    buffer_init(&bytes, 0);
    if (!varint_next(&input, &n_spans) || !varint_next(&input, &n_runs))
        return;
    buffer_append_byte(&bytes, 1);
    varint_append(&bytes, n_spans);
    varint_append(&bytes, n_runs);
    varint_append(&bytes, input.len);
    ASSERT(packer_pack(packer, PACK_ZSTD, 1, input, &bytes, &err) == 0);
    if (spanblock_header_decode(buffer_slice(&bytes), unpacker, arena, &header, &err) < 0)
        ASSERT(is_meant(&err));
    else
        check_operations(&header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    struct error err;

    arena_init(&arena, MAX_BYTES);
    if (!packer)
        ASSERT(packer_new(&packer, &err) == 0 && unpacker_new(&unpacker, &err) == 0 &&
               spanblock_writer_new(&writer, &err) == 0);
    if (size > 0 && data[0] == 0)
        try_block(slice_of(data + 1, size - 1), &arena);
    else if (size > 0 && data[0] == 1)
        try_header(slice_of(data + 1, size - 1), &arena);
    return 0;
}
