// SPDX-License-Identifier: Apache-2.0
#include "trace/spanparts_internal.h"

#include "trace/random_span_test.h"

TEST(spanparts_readers_stop_at_the_first_problem_and_say_where)
{
    struct spanparts_reader r = spanparts_reader_of(SLICE("\x05\x03"
                                                          "ab"));
    struct error err;

    CHECK_EQ(spanparts_number(&r, 5, "first number"), 5);
    CHECK_EQ(spanparts_text(&r, 100, "text").len, 0); /* three bytes, of which two are there */
    CHECK_EQ(spanparts_number(&r, 100, "number behind it"), 0);
    CHECK_ERROR(spanparts_check(&r, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "no valid text at byte 1 of 4");
    r = spanparts_reader_of(SLICE("\x05\x01"));
    CHECK_EQ(spanparts_number(&r, 4, "small number"), 0);
    CHECK_ERROR(spanparts_check(&r, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no valid small number at byte 0");
    r = spanparts_reader_of(SLICE(""));
    CHECK_OK(spanparts_check(&r, &err), &err);
}

TEST(spanparts_counts_cannot_ask_for_more_than_the_bytes_hold)
{
    struct span_attributes attributes;
    struct spanparts_reader r;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    r = spanparts_reader_of(SLICE("\x40\x00\x00\x00"));
    CHECK_OK(spanparts_read_attributes(&r, SPAN_MAX_ATTRIBUTES, &arena, &attributes, &err), &err);
    CHECK_ERROR(spanparts_check(&r, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no valid number of attributes at byte 0");
    CHECK_EQ(attributes.n, 0);
    arena_done(&arena);
}

TEST(spanparts_gives_back_attributes_and_events)
{
    uint64_t state = 4;
    struct buffer out;
    struct arena arena;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    for (unsigned i = 0; i < test_times(200); i++) {
        struct span span = { .start_ns = RANDOM_SPAN_START_NS }, back = { .start_ns = RANDOM_SPAN_START_NS };
        struct spanparts_reader r;
        struct error err;

        random_span_events(&state, &arena, &span);
        span.attributes = random_span_attributes(&state, &arena, SPAN_MAX_ATTRIBUTES);
        buffer_clear(&out);
        spanparts_put_events(&out, &span);
        spanparts_put_attributes(&out, &span.attributes);
        r = spanparts_reader_of(buffer_slice(&out));
        CHECK_OK(spanparts_read_events(&r, &arena, &back, &err), &err);
        CHECK_OK(spanparts_read_attributes(&r, SPAN_MAX_ATTRIBUTES, &arena, &back.attributes, &err), &err);
        CHECK_OK(spanparts_check(&r, &err), &err);
        same_span_events(&back, &span);
        same_span_attributes(&back.attributes, &span.attributes);
        arena_reset(&arena);
    }
    buffer_done(&out);
    arena_done(&arena);
}
