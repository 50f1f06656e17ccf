// SPDX-License-Identifier: Apache-2.0
#include "wire/protobuf.h"

#include "base/memory.h"
#include "base/test.h"

#define BYTES(...) slice_of((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static const struct protobuf_field inner_fields[] = {
    { "number", 1, PROTOBUF_VARINT, false, NULL },
    { "numbers", 2, PROTOBUF_VARINT, true, NULL },
    { 0 },
};
static const struct protobuf_field outer_fields[] = {
    { "inner", 1, PROTOBUF_BYTES, true, inner_fields }, { "text", 2, PROTOBUF_BYTES, true, NULL },
    { "id", 3, PROTOBUF_VARINT, false, NULL },          { "time", 4, PROTOBUF_FIXED64, false, NULL },
    { "only", 5, PROTOBUF_BYTES, false, inner_fields }, { 0 },
};

static uint64_t read_varint(struct slice bytes, enum protobuf_problem *ret_problem)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    uint64_t value = protobuf_varint(&r);

    *ret_problem = r.problem;
    CHECK(r.at == r.end);
    CHECK_EQ(r.bad != NULL, r.problem != PROTOBUF_NONE);
    return value;
}

TEST(protobuf_reads_varints_of_every_length)
{
    struct buffer out;
    enum protobuf_problem problem;

    buffer_init(&out, 0);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t values[] = { 1ull << bit, (1ull << bit) - 1, ~0ull << bit };

        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            buffer_clear(&out);
            protobuf_put_varint(&out, values[i]);
            CHECK(out.len <= PROTOBUF_MAX_VARINT_BYTES);
            CHECK_EQ(read_varint(buffer_slice(&out), &problem), values[i]);
            CHECK_EQ(problem, PROTOBUF_NONE);
        }
    }
    buffer_done(&out);
}

TEST(protobuf_reads_the_same_varints_unchecked)
{
    struct buffer out;

    buffer_init(&out, 0);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t values[] = { 1ull << bit, (1ull << bit) - 1, ~0ull << bit, 0x5555555555555555u >> bit };

        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            uint8_t margin[PROTOBUF_MARGIN];
            uint64_t value;
            size_t len;

            /* What lies behind must not matter. */
            memset(margin, bit % 2 ? 0xff : 0, sizeof(margin));
            buffer_clear(&out);
            protobuf_put_varint(&out, values[i]);
            len = out.len;
            buffer_append(&out, margin, sizeof(margin));
            CHECK(protobuf_varint_unchecked((const uint8_t *)out.data, NULL, &value) ==
                  (const uint8_t *)out.data + len);
            CHECK_EQ(value, values[i]);
        }
    }
    buffer_done(&out);
}

TEST(protobuf_unchecked_varint_that_never_ends_is_behind_the_end)
{
    uint8_t bytes[PROTOBUF_MARGIN];
    uint64_t value;

    memset(bytes, 0xff, sizeof(bytes));
    CHECK(protobuf_varint_unchecked(bytes, bytes + 20, &value) == bytes + 21);
    bytes[9] = 2; /* 65 bits */
    CHECK(protobuf_varint_unchecked(bytes, bytes + 20, &value) == bytes + 21);
    bytes[9] = 1;
    CHECK(protobuf_varint_unchecked(bytes, bytes + 20, &value) == bytes + 10);
    CHECK_EQ(value, -1);
}

TEST(protobuf_accepts_varints_longer_than_needed)
{
    enum protobuf_problem problem;

    CHECK_EQ(read_varint(BYTES(0x81, 0x80, 0x00), &problem), 1);
    CHECK_EQ(problem, PROTOBUF_NONE);
    CHECK_EQ(read_varint(BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_NONE);
}

TEST(protobuf_refuses_varints_that_are_cut_or_too_long)
{
    enum protobuf_problem problem;

    CHECK_EQ(read_varint(slice_of("", 0), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VALUE_MISSING);
    CHECK_EQ(read_varint(BYTES(0x80), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VARINT_CUT);
    CHECK_EQ(read_varint(BYTES(0x80, 0x80), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VARINT_CUT);
    CHECK_EQ(read_varint(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VARINT_CUT);
    CHECK_EQ(read_varint(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VARINT_LONG);
    CHECK_EQ(read_varint(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), &problem), 0);
    CHECK_EQ(problem, PROTOBUF_VARINT_LONG);
}

TEST(protobuf_reads_fixed_values_and_bytes)
{
    struct protobuf_reader r =
        protobuf_reader_of(BYTES(0x0d, 1, 2, 3, 4, 0x11, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x1a, 2, 'h', 'i', 0x22, 0));
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(tag, PROTOBUF_TAG(1, PROTOBUF_FIXED32));
    CHECK_EQ(protobuf_fixed32(&r), 0x04030201);
    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(tag, PROTOBUF_TAG(2, PROTOBUF_FIXED64));
    CHECK_EQ(protobuf_fixed64(&r), 0x8000000000000001u);
    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(PROTOBUF_FIELD(tag), 3);
    CHECK_EQ(PROTOBUF_WIRE(tag), PROTOBUF_BYTES);
    CHECK_TEXT(protobuf_bytes(&r), "hi");
    CHECK(protobuf_next(&r, &tag));
    CHECK_TEXT(protobuf_bytes(&r), "");
    CHECK(!protobuf_next(&r, &tag));
    CHECK(!r.bad);
}

TEST(protobuf_reads_runs_of_equal_fields)
{
    struct protobuf_reader r = protobuf_reader_of(BYTES(0x0a, 0, 0x0a, 0, 0x12, 0));
    uint32_t tag, n = 0;

    CHECK(protobuf_next(&r, &tag));
    do {
        CHECK_EQ(protobuf_bytes(&r).len, 0);
        n++;
    } while (protobuf_again(&r, tag));
    CHECK_EQ(n, 2);
    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(tag, PROTOBUF_TAG(2, PROTOBUF_BYTES));
    CHECK_EQ(protobuf_bytes(&r).len, 0);
    CHECK(!protobuf_again(&r, tag));
    CHECK(!r.bad);
}

TEST(protobuf_reads_large_field_numbers)
{
    struct buffer out;
    struct protobuf_reader r;
    uint32_t tag;

    buffer_init(&out, 0);
    protobuf_put_uint(&out, 536870911, 7);
    r = protobuf_reader_of(buffer_slice(&out));
    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(PROTOBUF_FIELD(tag), 536870911);
    CHECK_EQ(protobuf_varint(&r), 7);
    buffer_clear(&out);
    protobuf_put_varint(&out, (uint64_t)UINT32_MAX + 1);
    r = protobuf_reader_of(buffer_slice(&out));
    CHECK(!protobuf_next(&r, &tag));
    CHECK_EQ(r.problem, PROTOBUF_FIELD_NUMBER);
    buffer_done(&out);
}

TEST(protobuf_failing_is_sticky_and_keeps_the_first_problem)
{
    struct slice bytes = BYTES(0x0a, 0x05, 1, 2, 0x80);
    struct protobuf_reader r = protobuf_reader_of(bytes);
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    CHECK_EQ(protobuf_bytes(&r).len, 0);
    CHECK_EQ(r.problem, PROTOBUF_LENGTH_LONG);
    CHECK(r.bad == (const uint8_t *)bytes.ptr + 1);
    CHECK_EQ(protobuf_varint(&r), 0);
    CHECK_EQ(protobuf_fixed32(&r), 0);
    CHECK_EQ(protobuf_fixed64(&r), 0);
    CHECK(!protobuf_more(&r));
    CHECK(!protobuf_next(&r, &tag));
    CHECK_EQ(r.problem, PROTOBUF_LENGTH_LONG);
    CHECK(r.bad == (const uint8_t *)bytes.ptr + 1);
}

TEST(protobuf_nested_message_cannot_reach_past_its_length)
{
    struct protobuf_reader r = protobuf_reader_of(BYTES(0x0a, 2, 0x08, 0x80, 0x01));
    struct protobuf_reader inner;
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    inner = protobuf_message(&r);
    CHECK(protobuf_next(&inner, &tag));
    CHECK_EQ(protobuf_varint(&inner), 0);
    CHECK_EQ(inner.problem, PROTOBUF_VARINT_CUT);
    protobuf_leave(&r, &inner);
    CHECK_EQ(r.problem, PROTOBUF_VARINT_CUT);
    CHECK(!protobuf_next(&r, &tag));
}

TEST(protobuf_skips_every_wire_type_but_groups)
{
    struct protobuf_reader r =
        protobuf_reader_of(BYTES(0x50, 0x96, 0x01, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x52, 1, 'x', 0x55, 1, 2, 3, 4, 0x53));
    uint32_t tag;

    for (int i = 0; i < 4; i++) {
        CHECK(protobuf_next(&r, &tag));
        protobuf_skip(&r, tag);
        CHECK(!r.bad);
    }
    CHECK(protobuf_next(&r, &tag));
    protobuf_skip(&r, tag);
    CHECK_EQ(r.problem, PROTOBUF_WIRE_TYPE);
    r = protobuf_reader_of(BYTES(0x02, 0));
    CHECK(protobuf_next(&r, &tag));
    protobuf_skip(&r, tag);
    CHECK_EQ(r.problem, PROTOBUF_FIELD_NUMBER);
}

TEST(protobuf_known_field_with_the_wrong_wire_type_is_a_problem)
{
    struct protobuf_reader r = protobuf_reader_of(BYTES(0x50, 0x01, 0x08, 0x01));
    uint32_t tag;

    CHECK(protobuf_next(&r, &tag));
    protobuf_skip_unknown(&r, tag, 9);
    CHECK(!r.bad);
    CHECK(protobuf_next(&r, &tag));
    protobuf_skip_unknown(&r, tag, 9);
    CHECK_EQ(r.problem, PROTOBUF_WRONG_WIRE_TYPE);
}

TEST(protobuf_counts_packed_varints)
{
    struct buffer out;

    buffer_init(&out, 0);
    for (uint32_t n = 0; n < 40; n++) {
        CHECK_EQ(protobuf_count_varints(buffer_slice(&out)), n);
        protobuf_put_varint(&out, (uint64_t)1 << (n * 7 % 60));
    }
    CHECK_EQ(protobuf_count_varints(BYTES(0x01, 0x80)), 1);
    buffer_done(&out);
}

/* What the story says about a read through every message. */
static struct error explain(struct slice bytes)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    struct error err = { 0 };
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag == PROTOBUF_TAG(1, PROTOBUF_BYTES) || tag == PROTOBUF_TAG(5, PROTOBUF_BYTES)) {
            struct protobuf_reader inner = protobuf_message(&r);

            while (protobuf_next(&inner, &tag)) {
                if (tag == PROTOBUF_TAG(2, PROTOBUF_BYTES)) {
                    struct protobuf_reader packed = protobuf_message(&inner);

                    while (protobuf_more(&packed))
                        (void)protobuf_varint(&packed);
                    protobuf_leave(&inner, &packed);
                } else if (tag == PROTOBUF_TAG(1, PROTOBUF_VARINT) || tag == PROTOBUF_TAG(2, PROTOBUF_VARINT)) {
                    (void)protobuf_varint(&inner);
                } else {
                    protobuf_skip_unknown(&inner, tag, 2);
                }
            }
            protobuf_leave(&r, &inner);
        } else {
            protobuf_skip(&r, tag);
        }
    }
    CHECK(r.bad);
    CHECK_ERROR(protobuf_explain("test", outer_fields, bytes, &r, &err), &err, ERR_CORRUPT);
    return err;
}

TEST(protobuf_explains_where_and_why)
{
    CHECK_TEXT(explain(BYTES(0x0a, 0, 0x0a, 2, 0x08, 0x80)).text,
               "test: inner 1, field number at byte 5: varint runs past the end of its message");
    CHECK_TEXT(explain(BYTES(0x0a, 4, 0x12, 2, 0x01, 0x80, 0x18, 0)).text,
               "test: inner 0, field numbers at byte 5: varint runs past the end of its message");
    CHECK_TEXT(explain(BYTES(0x18, 1, 0x12, 1, 'x', 0x12, 9, 'x')).text,
               "test: field text 1 at byte 6: length reaches past the end of its message");
    CHECK_TEXT(explain(BYTES(0x21, 1, 2, 3)).text,
               "test: field time at byte 1: value runs past the end of its message");
    CHECK_TEXT(explain(BYTES(0x2a, 2, 0x0d, 0x01)).text,
               "test: only, field number at byte 2: field has another wire type than it should "
               "(found fixed32, wanted varint)");
    CHECK_TEXT(explain(BYTES(0x18, 1, 0x4b)).text,
               "test: field 9 at byte 2: wire type is none of varint, fixed64, bytes and fixed32");
    CHECK_TEXT(explain(BYTES(0x18, 1, 0x00)).text, "test: at byte 2: field number is outside 1 to 536870911");
    CHECK_TEXT(explain(BYTES(0x18, 1, 0xff, 0xff)).text, "test: at byte 2: varint runs past the end of its message");
}

TEST(protobuf_explains_a_missing_value_by_the_field_that_lacks_it)
{
    /* The message ends behind the tag; the next byte belongs to another field. */
    CHECK_TEXT(explain(BYTES(0x0a, 1, 0x08, 0x18, 0x01)).text,
               "test: inner 0, field number at byte 3: message ends where a value should be");
    CHECK_TEXT(explain(BYTES(0x18)).text, "test: field id at byte 1: message ends where a value should be");
}

TEST(protobuf_conforms_knows_fields_and_wire_types)
{
    CHECK(protobuf_conforms(slice_of(NULL, 0), outer_fields));
    CHECK(protobuf_conforms(BYTES(0x18, 1, 0x12, 1, 'x', 0x21, 1, 2, 3, 4, 5, 6, 7, 8), outer_fields));
    CHECK(!protobuf_conforms(BYTES(0x18, 1, 0x1a, 0), outer_fields)); /* not repeated: no packed form */
    CHECK(protobuf_conforms(BYTES(0x10, 1, 0x12, 1, 1), inner_fields));
    CHECK(!protobuf_conforms(BYTES(0x30, 1), outer_fields)); /* unknown */
    CHECK(!protobuf_conforms(BYTES(0x12, 5, 'x'), outer_fields));
}

TEST(protobuf_writes_fields_and_leaves_out_defaults)
{
    struct buffer out;
    uint32_t packed[] = { 1, 300, 0 };

    buffer_init(&out, 0);
    protobuf_put_uint(&out, 1, 0);
    protobuf_put_fixed64(&out, 1, 0);
    protobuf_put_bytes(&out, 1, SLICE(""));
    protobuf_put_packed(&out, 1, NULL, 0);
    CHECK_EQ(out.len, 0);
    protobuf_put_uint(&out, 1, 300);
    protobuf_put_uint_always(&out, 2, 0);
    protobuf_put_fixed64_always(&out, 3, 1);
    protobuf_put_bytes(&out, 4, SLICE("ab"));
    protobuf_put_bytes_always(&out, 16, SLICE(""));
    protobuf_put_packed(&out, 5, packed, ARRAY_LEN(packed));
    CHECK_TEXT(buffer_slice(&out), BYTES(0x08, 0xac, 0x02, 0x10, 0, 0x19, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 2, 'a', 'b',
                                         0x82, 0x01, 0, 0x2a, 4, 1, 0xac, 0x02, 0));
    buffer_done(&out);
}

TEST(protobuf_packs_values_of_every_size)
{
    uint32_t values[2 * 32];
    struct protobuf_reader r, packed;
    struct buffer out;
    uint32_t tag;

    for (uint32_t i = 0; i < 32; i++) {
        values[2 * i] = 1u << i;
        values[2 * i + 1] = (1u << i) - 1;
    }
    buffer_init(&out, 0);
    protobuf_put_packed(&out, 1, values, ARRAY_LEN(values));
    r = protobuf_reader_of(buffer_slice(&out));
    CHECK(protobuf_next(&r, &tag));
    packed = protobuf_message(&r);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        CHECK_EQ(protobuf_varint(&packed), values[i]);
    CHECK(!protobuf_more(&packed) && !protobuf_more(&r) && !packed.bad);
    buffer_done(&out);
}

TEST(protobuf_nested_messages_of_any_length_get_their_length)
{
    static const size_t lengths[] = { 0, 1, 126, 127, 128, 129, 16383, 16384, 100000 };
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct protobuf_reader r, inner;
        struct slice content;
        size_t outer, begin;
        uint32_t tag;

        buffer_clear(&out);
        outer = protobuf_begin(&out, 1);
        begin = protobuf_begin(&out, 2);
        for (size_t k = 0; k < lengths[i]; k++)
            buffer_append_byte(&out, (char)k);
        protobuf_end(&out, begin);
        protobuf_put_uint(&out, 3, 7);
        protobuf_end(&out, outer);

        r = protobuf_reader_of(buffer_slice(&out));
        CHECK(protobuf_next(&r, &tag));
        inner = protobuf_message(&r);
        CHECK(protobuf_next(&inner, &tag));
        content = protobuf_bytes(&inner);
        CHECK_EQ(content.len, lengths[i]);
        for (size_t k = 0; k < content.len; k++)
            CHECK_EQ(content.ptr[k], (char)k);
        CHECK(protobuf_next(&inner, &tag));
        CHECK_EQ(protobuf_varint(&inner), 7);
        CHECK(!protobuf_more(&inner) && !protobuf_more(&r) && !inner.bad && !r.bad);
    }
    buffer_done(&out);
}

TEST(protobuf_writing_stops_at_the_limit_of_the_buffer)
{
    struct error err = { 0 };

    for (size_t limit = 1; limit < 250; limit++) {
        struct buffer out;
        uint32_t values[60];
        size_t begin;

        memset(values, 0xff, sizeof(values));
        buffer_init(&out, limit);
        begin = protobuf_begin(&out, 1);
        protobuf_put_uint(&out, 1, 77);
        protobuf_put_packed(&out, 2, values, ARRAY_LEN(values));
        protobuf_end(&out, begin);
        CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
        buffer_done(&out);
    }
}

static int write_all(void *context, struct error *err)
{
    uint32_t values[200] = { 0 };
    struct buffer out;
    size_t begin;
    int result;

    buffer_init(&out, 0);
    begin = protobuf_begin(&out, 1);
    for (int i = 0; i < 100; i++)
        protobuf_put_bytes(&out, 2, SLICE("some text that fills the buffer"));
    protobuf_put_packed(&out, 3, values, ARRAY_LEN(values));
    protobuf_end(&out, begin);
    result = buffer_check(&out, err);
    buffer_done(&out);
    return result;
}

TEST(protobuf_writing_survives_failing_allocations)
{
    test_each_allocation_failing(write_all, NULL);
}
