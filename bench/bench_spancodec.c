// SPDX-License-Identifier: Apache-2.0
/* Spans through the codecs of src/trace: nanoseconds a span and bytes a span.
 *
 *     spancodec [-n TRACES]
 *
 * Traces of a shop (shopspans.h), as many as fill a block unless told otherwise, go through each codec again and again:
 * requests, rows of heads, blocks. */
#include "base/bench.h"
#include "base/memory.h"
#include "measure.h"
#include "shopspans.h"
#include "trace/otlptraces.h"
#include "trace/spanblock.h"
#include "trace/spanrow.h"

enum { A_REQUEST = 500 }; /* spans, about what SDKs send */

struct work {
    struct span *spans;
    size_t n;
    struct buffer request; /* A_REQUEST of them */
    struct buffer rows;
    struct slice *row_slices;
    struct spanblock_writer *writer;
    struct packer *packer;
    struct unpacker *unpacker;
    struct buffer body, header;
    struct arena arena;
};

static int compare_spans(const void *a, const void *b)
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

static int read_request(void *context, struct error *err)
{
    struct work *work = context;
    struct otlptraces_read read;

    for (size_t i = 0; i < work->n; i += A_REQUEST) {
        arena_reset(&work->arena);
        if (otlptraces_decode(buffer_slice(&work->request), false, &work->arena, &read, err) < 0)
            return -1;
    }
    return 0;
}

static int write_rows(void *context, struct error *err)
{
    struct work *work = context;
    struct spanrow_writer writer;

    buffer_clear(&work->rows);
    spanrow_writer_init(&writer);
    for (size_t i = 0; i < work->n; i++) {
        size_t before = work->rows.len;

        spanrow_encode(&writer, &work->spans[i], &work->rows);
        work->row_slices[i] =
            slice_of((const char *)before, work->rows.len - before); /* an offset until all are there */
    }
    spanrow_writer_done(&writer);
    for (size_t i = 0; i < work->n; i++)
        work->row_slices[i].ptr = work->rows.data + (uintptr_t)work->row_slices[i].ptr;
    return buffer_check(&work->rows, err);
}

static struct spanrow_key key_of(const struct span *span)
{
    struct spanrow_key key = { .slot = spanrow_slot(span->start_ns), .kind = span->kind };

    memcpy(key.trace_id, span->trace_id, sizeof(key.trace_id));
    memcpy(key.span_id, span->span_id, sizeof(key.span_id));
    return key;
}

static int read_rows(void *context, struct error *err)
{
    struct work *work = context;

    arena_reset(&work->arena);
    for (size_t i = 0; i < work->n; i++) {
        struct spanrow_key key = key_of(&work->spans[i]);
        struct span span;

        if (spanrow_decode(&key, work->row_slices[i], &work->arena, &span, err) < 0)
            return -1;
    }
    return 0;
}

static int write_block(void *context, struct error *err)
{
    struct work *work = context;
    struct spanblock_prefixes prefixes;

    buffer_clear(&work->body);
    buffer_clear(&work->header);
    for (size_t i = 0; i < work->n; i++)
        if (spanblock_writer_add(work->writer, &work->spans[i], err) < 0)
            return -1;
    return spanblock_writer_finish(work->writer, work->packer, &work->body, &work->header, &prefixes, err);
}

static int open_block(void *context, struct error *err)
{
    struct work *work = context;
    struct spanblock block;

    arena_reset(&work->arena);
    return spanblock_open(buffer_slice(&work->body), work->unpacker, &work->arena, &block, err);
}

static int find_in_block(void *context, struct error *err)
{
    struct work *work = context;
    struct spanblock block;
    struct span_value value;
    bool has;

    arena_reset(&work->arena);
    if (spanblock_open(buffer_slice(&work->body), work->unpacker, &work->arena, &block, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block.n_spans; i++)
        if (spanblock_find_attribute(&block, i, SLICE("user.id"), &has, &value, err) < 0)
            return -1;
    return 0;
}

static int read_block(void *context, struct error *err)
{
    struct work *work = context;
    struct spanblock block;
    struct span span;

    arena_reset(&work->arena);
    if (spanblock_open(buffer_slice(&work->body), work->unpacker, &work->arena, &block, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block.n_spans; i++)
        if (spanblock_get(&block, i, SPANBLOCK_ALL, &span, err) < 0)
            return -1;
    return 0;
}

static void make_spans(struct work *work, size_t n_traces, struct arena *arena)
{
    struct span_list list = { .n = MIN(n_traces * SHOPSPANS_A_TRACE, (size_t)A_REQUEST) };
    struct shopspans shop;
    struct error err;

    shopspans_init(&shop, 1);
    work->n = n_traces * SHOPSPANS_A_TRACE;
    work->spans = ARENA_ARRAY(arena, struct span, work->n, &err);
    work->row_slices = ARENA_ARRAY(arena, struct slice, work->n, &err);
    for (size_t i = 0; i < n_traces; i++)
        shopspans_trace(&shop, MEASURE_EPOCH_NS + (int64_t)(shopspans_random(&shop) % 9000000000u), arena,
                        work->spans + i * SHOPSPANS_A_TRACE);
    list.items = work->spans;
    otlptraces_encode(&list, &work->request);
    qsort(work->spans, work->n, sizeof(*work->spans), compare_spans);
}

static int measure(struct work *work, struct error *err)
{
    static const struct {
        const char *name;
        int (*step)(void *context, struct error *err);
    } steps[] = {
        { "hearth otlptraces_decode", read_request }, { "hearth spanrow_encode", write_rows },
        { "hearth spanrow_decode", read_rows },       { "hearth spanblock write", write_block },
        { "hearth spanblock_open", open_block },      { "hearth spanblock find attribute", find_in_block },
        { "hearth spanblock read all", read_block },
    };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct bench_result result;

        if (bench_repeat(steps[i].name, work->n, BENCH_RUNS, steps[i].step, work, &result, err) < 0 ||
            bench_print(&result, err) < 0)
            return -1;
    }
    fprintf(stderr, "%zu spans; bytes a span: request %.1f, row %.1f, block %.2f + header %.2f\n", work->n,
            (double)work->request.len / A_REQUEST, (double)work->rows.len / (double)work->n,
            (double)work->body.len / (double)work->n, (double)work->header.len / (double)work->n);
    return 0;
}

int main(int argc, char **argv)
{
    struct work work = { .n = 0 };
    uint64_t n_traces = SPANBLOCK_SPANS / SHOPSPANS_A_TRACE;
    struct arena arena;
    struct error err;
    int result;

    if (argc == 3 && strcmp(argv[1], "-n") == 0 && slice_to_u64(slice_from(argv[2]), &n_traces) && n_traces >= 50 &&
        n_traces <= SPANBLOCK_MAX_SPANS / SHOPSPANS_A_TRACE)
        argc = 1;
    if (argc != 1) {
        fprintf(stderr, "usage: spans [-n TRACES]\n");
        return 2;
    }
    arena_init(&arena, 0);
    arena_init(&work.arena, 0);
    buffer_init(&work.request, 0);
    buffer_init(&work.rows, 0);
    buffer_init(&work.body, 0);
    buffer_init(&work.header, 0);
    make_spans(&work, n_traces, &arena);
    result = spanblock_writer_new(&work.writer, &err);
    if (result == 0)
        result = packer_new(&work.packer, &err);
    if (result == 0)
        result = unpacker_new(&work.unpacker, &err);
    if (result == 0)
        result = measure(&work, &err);
    if (result < 0)
        fprintf(stderr, "spans: %s\n", err.text);
    spanblock_writer_free(work.writer);
    packer_free(work.packer);
    unpacker_free(work.unpacker);
    buffer_done(&work.request);
    buffer_done(&work.rows);
    buffer_done(&work.body);
    buffer_done(&work.header);
    arena_done(&work.arena);
    arena_done(&arena);
    return result < 0;
}
