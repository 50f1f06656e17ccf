// SPDX-License-Identifier: Apache-2.0
#include "trace/spanrow.h"

#include "trace/random_span_test.h"

static struct spanrow_key key_of(const struct span *span)
{
    struct spanrow_key key = { .slot = spanrow_slot(span->start_ns), .kind = span->kind };

    memcpy(key.trace_id, span->trace_id, sizeof(key.trace_id));
    memcpy(key.span_id, span->span_id, sizeof(key.span_id));
    return key;
}

static void encode(const struct span *span, struct buffer *out)
{
    struct spanrow_writer writer;
    struct error err;

    spanrow_writer_init(&writer);
    buffer_clear(out);
    spanrow_encode(&writer, span, out);
    CHECK_OK(buffer_check(out, &err), &err);
    spanrow_writer_done(&writer);
}

/* A span that has something of everything. */
static struct span full_span(struct arena *arena)
{
    uint64_t state = 7;
    struct span span = random_span(&state, arena, random_span_resource(&state, arena), NULL);

    span.scope = span.scope ? span.scope : random_span_room(arena, 1, sizeof(*span.scope));
    span.status = SPAN_ERROR;
    span.status_message = SLICE("no such item");
    span.state = SLICE("vendor=1");
    span.parent_id[3] = 1;
    span.name = SLICE("GET /items");
    while (span.n_events == 0 || span.n_links == 0)
        random_span_events(&state, arena, &span);
    while (span.attributes.n < 2)
        span.attributes = random_span_attributes(&state, arena, 4);
    return span;
}

TEST(spanrow_gives_back_every_random_span)
{
    uint64_t state = 1;
    struct spanrow_writer writer;
    struct buffer out;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    spanrow_writer_init(&writer);
    for (unsigned i = 0; i < test_times(500); i++) {
        const struct span_resource *resource = random_span_resource(&state, &arena);

        for (int k = 0; k < 2; k++) { /* the second finds the resource written already */
            struct span span = random_span(&state, &arena, resource, NULL), back;
            struct spanrow_key key = key_of(&span);

            buffer_clear(&out);
            spanrow_encode(&writer, &span, &out);
            CHECK_OK(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err);
            same_span(&back, &span);
        }
        spanrow_writer_forget(&writer);
        arena_reset(&arena);
    }
    spanrow_writer_done(&writer);
    buffer_done(&out);
    arena_done(&arena);
}

TEST(spanrow_front_has_what_filters_ask_for)
{
    struct spanrow_front front;
    struct buffer out;
    struct arena arena;
    struct error err;
    struct span span;
    struct spanrow_key key;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    span = full_span(&arena);
    key = key_of(&span);
    encode(&span, &out);
    CHECK_OK(spanrow_read_front(&key, buffer_slice(&out), &front, &err), &err);
    CHECK_EQ(front.start_ns, span.start_ns);
    CHECK_EQ(front.duration_ns, span.duration_ns);
    CHECK_EQ(front.status, SPAN_ERROR);
    CHECK_TEXT(front.name, "GET /items");
    CHECK_TEXT(front.service, span.resource->service);
    CHECK(memcmp(front.parent_id, span.parent_id, SPAN_ID_BYTES) == 0);
    CHECK(front.rest.ptr + front.rest.len == out.data + out.len);
    buffer_done(&out);
    arena_done(&arena);
}

TEST(spanrow_that_is_cut_anywhere_is_damaged)
{
    struct buffer out;
    struct arena arena;
    struct error err;
    struct span span, back;
    struct spanrow_key key;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    span = full_span(&arena);
    key = key_of(&span);
    encode(&span, &out);
    for (size_t len = 0; len < out.len; len++) {
        CHECK_ERROR(spanrow_decode(&key, slice_of(out.data, len), &arena, &back, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "row of a span: no valid ");
    }
    buffer_append_byte(&out, 0);
    CHECK_ERROR(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "1 bytes too many");
    buffer_done(&out);
    arena_done(&arena);
}

TEST(spanrow_says_which_version_and_which_key_it_cannot_read)
{
    struct buffer out;
    struct arena arena;
    struct error err;
    struct span span, back;
    struct spanrow_key key;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    span = full_span(&arena);
    key = key_of(&span);
    encode(&span, &out);
    out.data[0] = 9;
    CHECK_ERROR(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "is of version 9, this program reads version 1");
    out.data[0] = 1;
    key.kind = SPAN_KIND_COUNT;
    CHECK_ERROR(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "kind 6, which can be 5 at most");
    key.kind = 0;
    key.slot = UINT32_MAX;
    CHECK_ERROR(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "slot 4294967295");
    out.data[1] |= 3;
    key.slot = 0;
    CHECK_ERROR(spanrow_decode(&key, buffer_slice(&out), &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no valid status");
    buffer_done(&out);
    arena_done(&arena);
}

static int write_and_read(void *context, struct error *err)
{
    const struct span *span = context;
    struct spanrow_key key = key_of(span);
    struct spanrow_writer writer;
    struct span back;
    struct buffer out;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    spanrow_writer_init(&writer);
    spanrow_encode(&writer, span, &out);
    result = buffer_check(&out, err);
    if (result == 0)
        result = spanrow_decode(&key, buffer_slice(&out), &arena, &back, err);
    spanrow_writer_done(&writer);
    buffer_done(&out);
    arena_done(&arena);
    return result;
}

TEST(spanrow_survives_allocations_that_fail)
{
    struct arena arena;
    struct span span;

    arena_init(&arena, 0);
    span = full_span(&arena);
    test_each_allocation_failing(write_and_read, &span);
    arena_done(&arena);
}
