// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_packed_internal.h"

#include "base/test.h"

static struct arena arena = { .max_bytes = 1 << 20 };

/* Takes field 1 of a message, packed or not. */
static struct otlp_packed take(struct slice message, enum protobuf_wire element, struct protobuf_reader *r)
{
    struct otlp_packed packed = { 0 };
    struct error err;
    uint32_t tag;

    arena_reset(&arena);
    *r = protobuf_reader_of(message);
    while (protobuf_next(r, &tag))
        CHECK_OK(otlp_packed_take(&arena, &packed, r, element, PROTOBUF_WIRE(tag), &err), &err);
    return packed;
}

static void check_taken(struct slice message, enum protobuf_wire element, struct slice wanted, bool is_borrowed)
{
    struct protobuf_reader r;
    struct otlp_packed packed = take(message, element, &r);

    CHECK(!r.bad);
    CHECK_TEXT(slice_of(packed.ptr, packed.len), wanted);
    CHECK_EQ(packed.capacity == 0, is_borrowed);
    CHECK_EQ(arena.used_bytes == 0, is_borrowed);
}

TEST(otlp_packed_borrows_one_chunk_and_gathers_several)
{
    check_taken(SLICE("\x0a\3\1\x80\1"), PROTOBUF_VARINT, SLICE("\1\x80\1"), true);
    check_taken(SLICE("\x08\7"), PROTOBUF_VARINT, SLICE("\7"), true);
    check_taken(SLICE("\x0a\0\x0a\1\5\x0a\0"), PROTOBUF_VARINT, SLICE("\5"), true);
    check_taken(SLICE("\x08\7\x0a\3\1\x80\1\x08\x88\1"), PROTOBUF_VARINT, SLICE("\7\1\x80\1\x88\1"), false);
    check_taken(SLICE("\x09"
                      "12345678\x0a\x10"
                      "abcdefghABCDEFGH"),
                PROTOBUF_FIXED64, SLICE("12345678abcdefghABCDEFGH"), false);
}

TEST(otlp_packed_gathers_many_single_values)
{
    struct buffer message, wanted;

    buffer_init(&message, 0);
    buffer_init(&wanted, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        protobuf_put_uint_always(&message, 1, i);
        protobuf_put_varint(&wanted, i);
    }
    check_taken(buffer_slice(&message), PROTOBUF_VARINT, buffer_slice(&wanted), false);
    buffer_done(&message);
    buffer_done(&wanted);
}

TEST(otlp_packed_tells_what_is_broken_by_its_place_in_the_input)
{
    static const char two_chunks[] = "\x0a\1\x80\x0a\1\1", cut_fixed[] = "\x0a\3xyz", cut_varint[] = "\x08\x80";
    struct protobuf_reader r;

    (void)take(slice_of(two_chunks, 6), PROTOBUF_VARINT, &r);
    CHECK(r.bad == (const uint8_t *)two_chunks + 2);
    CHECK_EQ(r.problem, PROTOBUF_VARINT_CUT);
    (void)take(slice_of(cut_fixed, 5), PROTOBUF_FIXED64, &r);
    CHECK(r.bad == (const uint8_t *)cut_fixed + 1);
    CHECK_EQ(r.problem, PROTOBUF_VALUE_CUT);
    (void)take(slice_of(cut_varint, 2), PROTOBUF_VARINT, &r);
    CHECK(r.bad != NULL);
}
