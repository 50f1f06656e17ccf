// SPDX-License-Identifier: Apache-2.0
#include "pack/inflate_stream.h"

#include "base/test.h"
#include "pack/packer.h"
#include "pack/testdata_internal.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)

static void pack(enum pack_kind kind, struct slice in, struct buffer *out)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    struct error err;

    CHECK_OK(packer_new(&packer, &err), &err);
    CHECK_OK(packer_pack(packer, kind, PACK_LEVEL_DEFAULT, in, out, &err), &err);
}

/* Inflates `in`, given in pieces of `piece_bytes`, to `out`. */
static int inflate_pieces(enum pack_kind kind, struct slice in, size_t piece_bytes, size_t max_bytes,
                          struct buffer *out, struct error *err)
{
    AUTO(inflate_stream_freep) struct inflate_stream *stream = NULL;

    buffer_clear(out);
    if (inflate_stream_new(kind, max_bytes, compress_sink_to_buffer(out), &stream, err) < 0)
        return -1;
    for (size_t at = 0; at < in.len; at += piece_bytes)
        if (inflate_stream_write(stream, slice_sub(in, at, piece_bytes), err) < 0)
            return -1;
    return inflate_stream_finish(stream, err);
}

TEST(inflate_stream_takes_pieces_of_any_size)
{
    static const size_t pieces[] = { 1, 2, 3, 7, 100, 4096, 65537, SIZE_MAX / 2 };
    static const enum pack_kind kinds[] = { PACK_GZIP, PACK_ZLIB };
    struct buffer content, packed, out;
    struct error err;

    buffer_init(&out, 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (unsigned shape = 0; shape < TESTDATA_SHAPE_COUNT; shape++) {
            buffer_init(&content, 0);
            buffer_init(&packed, 0);
            testdata_append(&content, shape, 100000);
            pack(kinds[k], buffer_slice(&content), &packed);
            for (size_t p = 0; p < ARRAY_LEN(pieces); p++) {
                CHECK_OK(inflate_pieces(kinds[k], buffer_slice(&packed), pieces[p], content.len, &out, &err), &err);
                CHECK(slice_equal(buffer_slice(&out), buffer_slice(&content)));
            }
            buffer_done(&content);
            buffer_done(&packed);
        }
    }
    buffer_done(&out);
}

TEST(inflate_stream_hands_on_all_that_can_be_inflated_by_now)
{
    struct buffer content, packed, at_once, byte_by_byte;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    buffer_init(&at_once, 0);
    buffer_init(&byte_by_byte, 0);
    testdata_append(&content, TESTDATA_ZEROS, 300000);
    pack(PACK_GZIP, buffer_slice(&content), &packed);
    for (size_t cut = 1; cut < packed.len; cut++) {
        struct slice in = slice_sub(buffer_slice(&packed), 0, cut);

        CHECK_ERROR(inflate_pieces(PACK_GZIP, in, cut, MIB, &at_once, &err), &err, ERR_CORRUPT);
        CHECK_ERROR(inflate_pieces(PACK_GZIP, in, 1, MIB, &byte_by_byte, &err), &err, ERR_CORRUPT);
        CHECK_EQ(at_once.len, byte_by_byte.len);
    }
    buffer_done(&content);
    buffer_done(&packed);
    buffer_done(&at_once);
    buffer_done(&byte_by_byte);
}

TEST(inflate_stream_joins_members_and_skips_padding_however_cut)
{
    struct buffer packed, out;
    struct error err;

    buffer_init(&packed, 0);
    buffer_init(&out, 0);
    pack(PACK_GZIP, SLICE("first "), &packed);
    pack(PACK_GZIP, SLICE(""), &packed);
    pack(PACK_GZIP, SLICE("second"), &packed);
    buffer_append(&packed, "\0\0\0\0", 4);
    for (size_t piece = 1; piece <= packed.len; piece++) {
        CHECK_OK(inflate_pieces(PACK_GZIP, buffer_slice(&packed), piece, 12, &out, &err), &err);
        CHECK_TEXT(buffer_slice(&out), "first second");
        CHECK_ERROR(inflate_pieces(PACK_GZIP, buffer_slice(&packed), piece, 11, &out, &err), &err, ERR_LIMIT);
        CHECK_TEXT(err.text, "gzip: inflates to more than the limit of 11B");
        CHECK(out.len <= 11);
    }
    buffer_done(&packed);
    buffer_done(&out);
}

TEST(inflate_stream_refuses_something_else_behind_the_data)
{
    static const enum pack_kind kinds[] = { PACK_GZIP, PACK_ZLIB };
    struct buffer packed, out;
    struct error err;
    char wanted[80];

    buffer_init(&out, 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        buffer_init(&packed, 0);
        pack(kinds[k], SLICE("stacks"), &packed);
        buffer_append(&packed, "\0\0x", 3);
        snprintf(wanted, sizeof(wanted), "%s: data ends at byte %zu, but something else follows it",
                 compress_kind_name(kinds[k]), packed.len - 1);
        for (size_t piece = 1; piece <= packed.len; piece++) {
            CHECK_ERROR(inflate_pieces(kinds[k], buffer_slice(&packed), piece, MIB, &out, &err), &err, ERR_CORRUPT);
            CHECK_TEXT(err.text, wanted);
        }
        buffer_done(&packed);
    }
    buffer_done(&out);
}

TEST(inflate_stream_says_where_the_data_was_cut_off)
{
    struct buffer packed, out;
    struct error err;
    char wanted[64];

    buffer_init(&packed, 0);
    buffer_init(&out, 0);
    pack(PACK_GZIP, SLICE("some stacks, some more stacks"), &packed);
    for (size_t cut = 0; cut < packed.len; cut++) {
        struct slice in = slice_sub(buffer_slice(&packed), 0, cut);

        CHECK_ERROR(inflate_pieces(PACK_GZIP, in, 3, MIB, &out, &err), &err, ERR_CORRUPT);
        snprintf(wanted, sizeof(wanted), "gzip: truncated after %zu bytes", cut);
        CHECK_TEXT(err.text, wanted);
    }
    buffer_done(&packed);
    buffer_done(&out);
}

TEST(inflate_stream_never_takes_damaged_data_for_other_data)
{
    struct slice content = SLICE("some stacks, some more stacks, and even more");
    struct buffer packed, out;

    buffer_init(&packed, 0);
    buffer_init(&out, 0);
    pack(PACK_GZIP, content, &packed);
    for (size_t bit = 0; bit < 8 * packed.len; bit++) {
        struct error err = { .code = ERR_OK };

        packed.data[bit / 8] ^= (char)(1 << bit % 8);
        if (inflate_pieces(PACK_GZIP, buffer_slice(&packed), 5, MIB, &out, &err) == 0)
            CHECK_TEXT(buffer_slice(&out), content);
        else
            CHECK_EQ(err.code, ERR_CORRUPT);
        packed.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    buffer_done(&packed);
    buffer_done(&out);
}

TEST(inflate_stream_stops_bombs_without_passing_the_limit)
{
    struct buffer content, packed, out;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    buffer_init(&out, 0);
    testdata_append(&content, TESTDATA_ZEROS, 32 * MIB);
    pack(PACK_GZIP, buffer_slice(&content), &packed);
    CHECK_ERROR(inflate_pieces(PACK_GZIP, buffer_slice(&packed), 4096, MIB, &out, &err), &err, ERR_LIMIT);
    CHECK(out.len <= MIB);
    buffer_done(&content);
    buffer_done(&packed);
    buffer_done(&out);
}

TEST(inflate_stream_keeps_giving_its_first_error)
{
    AUTO(inflate_stream_freep) struct inflate_stream *stream = NULL;
    struct buffer out;
    struct error first, err;

    buffer_init(&out, 0);
    CHECK_OK(inflate_stream_new(PACK_GZIP, MIB, compress_sink_to_buffer(&out), &stream, &err), &err);
    CHECK_ERROR(inflate_stream_write(stream, SLICE("plain text"), &first), &first, ERR_CORRUPT);
    CHECK_TEXT(first.text, "gzip: damaged near byte 2: incorrect header check");
    CHECK_ERROR(inflate_stream_write(stream, SLICE("\x1f\x8b"), &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, first.text);
    CHECK_ERROR(inflate_stream_finish(stream, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, first.text);
    buffer_done(&out);
}

TEST(inflate_stream_passes_on_the_error_of_its_sink)
{
    struct buffer packed, out;
    struct error err;

    buffer_init(&packed, 0);
    buffer_init(&out, 3);
    pack(PACK_GZIP, SLICE("stacks"), &packed);
    CHECK_ERROR(inflate_pieces(PACK_GZIP, buffer_slice(&packed), 100, MIB, &out, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "output needs more than its limit of 3 bytes");
    buffer_done(&packed);
    buffer_done(&out);
}

static int inflate_step(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;

    buffer_init(&out, 0);
    return inflate_pieces(PACK_GZIP, buffer_slice(context), 1000, MIB, &out, err);
}

TEST(inflate_stream_survives_any_failing_allocation)
{
    struct buffer content, packed;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_TEXT, 100000);
    pack(PACK_GZIP, buffer_slice(&content), &packed);
    test_each_allocation_failing(inflate_step, &packed);
    buffer_done(&content);
    buffer_done(&packed);
}
