// SPDX-License-Identifier: Apache-2.0
/* Rows of spans: any input gives an error or a span within bounds, and that, written and read again, is the same. What the key
 * says is fixed, but for the slot and the kind, which the first byte chooses. */
#include "base/memory.h"
#include "fuzz/same_span.h"
#include "trace/spanrow.h"

#define MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct spanrow_key *key, const struct span *span, struct arena *arena)
{
    AUTO(buffer_done) struct buffer out;
    struct spanrow_writer writer;
    struct spanrow_front front;
    struct span back;
    struct error err;

    buffer_init(&out, 0);
    spanrow_writer_init(&writer);
    spanrow_encode(&writer, span, &out);
    spanrow_writer_done(&writer);
    ASSERT(spanrow_decode(key, buffer_slice(&out), arena, &back, &err) == 0);
    same_span(&back, span);
    ASSERT(spanrow_read_front(key, buffer_slice(&out), &front, &err) == 0);
    ASSERT(front.start_ns == span->start_ns && front.duration_ns == span->duration_ns && front.status == span->status);
    ASSERT(slice_equal(front.name, span->name) && slice_equal(front.service, span->resource->service));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    struct spanrow_key key = { .trace_id = { 1 }, .span_id = { 2 } };
    struct span span;
    struct error err;

    arena_init(&arena, MAX_BYTES);
    if (size == 0)
        return 0;
    key.kind = data[0] & 7;
    key.slot = (uint32_t)(data[0] >> 3) * 0x1000000u;
    if (spanrow_decode(&key, slice_of(data + 1, size - 1), &arena, &span, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        return 0;
    }
    arena.max_bytes *= 2; /* what was read once can be read again */
    check_again(&key, &span, &arena);
    return 0;
}
