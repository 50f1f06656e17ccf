// SPDX-License-Identifier: Apache-2.0
#include "pack/gzip_internal.h"

#include "base/bytes.h"
#include "base/test.h"
#include "pack/testdata_internal.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)

/* A decompressor, a packer and the buffers that nearly every test here needs. */
struct fixture {
    struct libdeflate_decompressor *decompressor;
    struct gzip_packer packer;
    struct buffer packed;
    struct buffer content;
    struct error err;
};

static void fixture_done(struct fixture *fixture)
{
    gzip_unpack_done(&fixture->decompressor);
    gzip_pack_done(&fixture->packer);
    buffer_done(&fixture->packed);
    buffer_done(&fixture->content);
}

static struct fixture make_fixture(void)
{
    struct fixture fixture = { 0 };

    buffer_init(&fixture.packed, 0);
    buffer_init(&fixture.content, 0);
    return fixture;
}

/* "BEFORE 26AFTER", to compare errors with. */
static const char *text_at(const char *before, size_t offset, const char *after)
{
    static char text[100];

    snprintf(text, sizeof(text), "%s %zu%s", before, offset, after);
    return text;
}

static void pack(struct fixture *fixture, enum pack_kind kind, struct slice in)
{
    CHECK_OK(gzip_pack(&fixture->packer, kind, 6, in, &fixture->packed, &fixture->err), &fixture->err);
}

static int unpack(struct fixture *fixture, enum pack_kind kind, size_t max_bytes)
{
    buffer_clear(&fixture->content);
    return gzip_unpack(&fixture->decompressor, kind, buffer_slice(&fixture->packed), max_bytes, &fixture->content,
                       &fixture->err);
}

TEST(gzip_header_holds_neither_time_nor_machine)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    CHECK_TEXT(slice_sub(buffer_slice(&fixture.packed), 0, 10), SLICE("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"));
}

TEST(gzip_members_in_a_row_are_one_content)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, PACK_GZIP, SLICE("first "));
    pack(&fixture, PACK_GZIP, SLICE(""));
    pack(&fixture, PACK_GZIP, SLICE("second"));
    CHECK_OK(unpack(&fixture, PACK_GZIP, 12), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "first second");
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, 11), &fixture.err, ERR_LIMIT);
}

TEST(gzip_members_grow_the_output_when_the_last_one_is_small)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct buffer zeros;

    buffer_init(&zeros, 0);
    testdata_append(&zeros, TESTDATA_ZEROS, 3 * MIB);
    pack(&fixture, PACK_GZIP, buffer_slice(&zeros));
    pack(&fixture, PACK_GZIP, SLICE("end"));
    CHECK_OK(unpack(&fixture, PACK_GZIP, 4 * MIB), &fixture.err);
    CHECK_EQ(fixture.content.len, 3 * MIB + 3);
    CHECK_TEXT(slice_sub(buffer_slice(&fixture.content), 3 * MIB, 3), "end");
    buffer_done(&zeros);
}

TEST(gzip_bomb_of_ten_thousand_members_stops_at_the_limit)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct buffer zeros, member;

    buffer_init(&zeros, 0);
    testdata_append(&zeros, TESTDATA_ZEROS, MIB);
    pack(&fixture, PACK_GZIP, buffer_slice(&zeros));
    member = TAKE(fixture.packed);
    buffer_init(&fixture.packed, 0);
    for (int i = 0; i < 10000; i++)
        buffer_append_slice(&fixture.packed, buffer_slice(&member));
    CHECK(fixture.packed.len < 12 * MIB);
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, 8 * MIB), &fixture.err, ERR_LIMIT);
    CHECK(fixture.content.len <= 8 * MIB);
    buffer_done(&zeros);
    buffer_done(&member);
}

TEST(gzip_tolerates_zero_bytes_behind_the_data)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    for (int i = 0; i < 512; i++)
        buffer_append_byte(&fixture.packed, '\0');
    CHECK_OK(unpack(&fixture, PACK_GZIP, MIB), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "stacks");
}

TEST(gzip_refuses_anything_else_behind_the_data)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    buffer_append(&fixture.packed, "\0\0x", 3);
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text,
               text_at("gzip: data ends at byte", fixture.packed.len - 1, ", but something else follows it"));
}

TEST(gzip_says_that_the_magic_is_missing)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    buffer_append_text(&fixture.packed, "this was never compressed at all");
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "gzip: damaged near byte 2: incorrect header check");
}

TEST(gzip_says_what_is_damaged_and_where)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    char *trailer;

    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    trailer = fixture.packed.data + fixture.packed.len - 8;
    trailer[0] ^= 1;
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, text_at("gzip: damaged near byte", fixture.packed.len - 4, ": incorrect data check"));
    trailer[0] ^= 1;
    trailer[4] ^= 1;
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, text_at("gzip: damaged near byte", fixture.packed.len, ": incorrect length check"));
    trailer[4] ^= 1;
    fixture.packed.data[10] = 7; /* block type 3 does not exist */
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_HAS(fixture.err.text, "invalid block type");
}

TEST(gzip_does_not_allocate_what_a_lying_size_asks_for)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    bytes_put_le32(fixture.packed.data + fixture.packed.len - 4, 0x7fffffff);
    CHECK_ERROR(unpack(&fixture, PACK_GZIP, 4096 * MIB), &fixture.err, ERR_CORRUPT);
    CHECK(fixture.content.capacity < MIB);
}

TEST(gzip_reads_optional_header_fields)
{
    /* flags 0x1c: extra field, name and comment */
    static const char header[] = "\x1f\x8b\x08\x1c\0\0\0\0\0\xff\x03\0abcname\0comment";
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct buffer plain;

    buffer_init(&plain, 0);
    pack(&fixture, PACK_GZIP, SLICE("stacks"));
    buffer_append(&plain, header, sizeof(header));
    buffer_append_slice(&plain, slice_sub(buffer_slice(&fixture.packed), 10, SIZE_MAX));
    buffer_clear(&fixture.packed);
    buffer_append_slice(&fixture.packed, buffer_slice(&plain));
    CHECK_OK(unpack(&fixture, PACK_GZIP, MIB), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "stacks");
    buffer_done(&plain);
}

TEST(zlib_is_one_stream_only)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    size_t end;

    pack(&fixture, PACK_ZLIB, SLICE("stacks"));
    CHECK_OK(unpack(&fixture, PACK_ZLIB, 6), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "stacks");
    end = fixture.packed.len;
    pack(&fixture, PACK_ZLIB, SLICE("stacks"));
    CHECK_ERROR(unpack(&fixture, PACK_ZLIB, MIB), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, text_at("zlib: data ends at byte", end, ", but something else follows it"));
}

TEST(zlib_with_a_preset_dictionary_is_not_supported)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    buffer_append(&fixture.packed, "\x78\x20\x01\x02\x03\x04\x03\x00\x00\x00\x00\x01", 12);
    CHECK_ERROR(unpack(&fixture, PACK_ZLIB, MIB), &fixture.err, ERR_UNSUPPORTED);
    CHECK_TEXT(fixture.err.text, "zlib: needs a preset dictionary, which we do not have");
}
