// SPDX-License-Identifier: Apache-2.0
#include "pack/deflate_stream.h"

#include "base/test.h"
#include "pack/inflate_stream.h"
#include "pack/testdata_internal.h"
#include "pack/unpacker.h"

#define MIB ((size_t)1 << 20)

/* Deflates `in`, given in pieces of `piece_bytes`, to `out`. */
static int deflate_pieces(enum pack_kind kind, int level, struct slice in, size_t piece_bytes, struct buffer *out,
                          struct error *err)
{
    AUTO(deflate_stream_freep) struct deflate_stream *stream = NULL;

    buffer_clear(out);
    if (deflate_stream_new(kind, level, compress_sink_to_buffer(out), &stream, err) < 0)
        return -1;
    for (size_t at = 0; at < in.len; at += piece_bytes)
        if (deflate_stream_write(stream, slice_sub(in, at, piece_bytes), err) < 0)
            return -1;
    return deflate_stream_finish(stream, err);
}

TEST(deflate_stream_writes_what_the_unpacker_reads)
{
    static const size_t sizes[] = { 0, 1, 2, 1000, 65536, 300000 };
    static const enum pack_kind kinds[] = { PACK_GZIP, PACK_ZLIB };
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct buffer content, out;
    struct slice unpacked;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    buffer_init(&out, 0);
    for (unsigned shape = 0; shape < TESTDATA_SHAPE_COUNT; shape++) {
        buffer_init(&content, 0);
        testdata_append(&content, shape, sizes[ARRAY_LEN(sizes) - 1]);
        for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
            for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
                struct slice in = slice_sub(buffer_slice(&content), 0, sizes[s]);

                CHECK_OK(deflate_pieces(kinds[k], 6, in, 10000, &out, &err), &err);
                CHECK_OK(unpacker_unpack(unpacker, kinds[k], buffer_slice(&out), sizes[s], &unpacked, &err), &err);
                CHECK(slice_equal(unpacked, in));
            }
        }
        buffer_done(&content);
    }
    buffer_done(&out);
}

TEST(deflate_stream_writes_the_same_bytes_however_the_content_was_cut)
{
    static const size_t pieces[] = { 1, 7, 4096, 65537 };
    struct buffer content, whole, out;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&whole, 0);
    buffer_init(&out, 0);
    testdata_append(&content, TESTDATA_TEXT, 200000);
    for (int level = DEFLATE_STREAM_LEVEL_MIN; level <= DEFLATE_STREAM_LEVEL_MAX; level++) {
        CHECK_OK(deflate_pieces(PACK_GZIP, level, buffer_slice(&content), content.len, &whole, &err), &err);
        for (size_t p = 0; p < ARRAY_LEN(pieces); p++) {
            CHECK_OK(deflate_pieces(PACK_GZIP, level, buffer_slice(&content), pieces[p], &out, &err), &err);
            CHECK(slice_equal(buffer_slice(&out), buffer_slice(&whole)));
        }
    }
    buffer_done(&content);
    buffer_done(&whole);
    buffer_done(&out);
}

TEST(deflate_stream_header_holds_neither_time_nor_machine)
{
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    CHECK_OK(deflate_pieces(PACK_GZIP, 6, SLICE("stacks"), 10, &out, &err), &err);
    CHECK_TEXT(slice_sub(buffer_slice(&out), 0, 10), SLICE("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"));
    buffer_done(&out);
}

TEST(deflate_stream_flush_lets_a_reader_see_everything_so_far)
{
    AUTO(deflate_stream_freep) struct deflate_stream *deflating = NULL;
    AUTO(inflate_stream_freep) struct inflate_stream *inflating = NULL;
    struct buffer content, sent, seen;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&sent, 0);
    buffer_init(&seen, 0);
    testdata_append(&content, TESTDATA_ZEROS, 300000); /* much from few bytes, so that the reader must ask again */
    CHECK_OK(deflate_stream_new(PACK_GZIP, 6, compress_sink_to_buffer(&sent), &deflating, &err), &err);
    CHECK_OK(inflate_stream_new(PACK_GZIP, MIB, compress_sink_to_buffer(&seen), &inflating, &err), &err);
    CHECK_OK(deflate_stream_write(deflating, buffer_slice(&content), &err), &err);
    CHECK_OK(deflate_stream_flush(deflating, &err), &err);
    for (size_t i = 0; i < sent.len; i++)
        CHECK_OK(inflate_stream_write(inflating, slice_sub(buffer_slice(&sent), i, 1), &err), &err);
    CHECK(slice_equal(buffer_slice(&seen), buffer_slice(&content)));
    buffer_clear(&sent);
    buffer_clear(&seen);
    CHECK_OK(deflate_stream_flush(deflating, &err), &err);
    CHECK_OK(deflate_stream_write(deflating, SLICE("and later"), &err), &err);
    CHECK_OK(deflate_stream_finish(deflating, &err), &err);
    CHECK_OK(inflate_stream_write(inflating, buffer_slice(&sent), &err), &err);
    CHECK_OK(inflate_stream_finish(inflating, &err), &err);
    CHECK_TEXT(buffer_slice(&seen), "and later");
    buffer_done(&content);
    buffer_done(&sent);
    buffer_done(&seen);
}

TEST(deflate_stream_refuses_levels_that_do_not_exist)
{
    struct deflate_stream *stream = NULL;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    CHECK_ERROR(deflate_stream_new(PACK_GZIP, 0, compress_sink_to_buffer(&out), &stream, &err), &err, ERR_INVALID);
    CHECK_ERROR(deflate_stream_new(PACK_GZIP, 10, compress_sink_to_buffer(&out), &stream, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "gzip: level 10 does not exist, levels are 1 to 9");
    CHECK(!stream);
}

TEST(deflate_stream_keeps_giving_the_error_of_its_sink)
{
    AUTO(deflate_stream_freep) struct deflate_stream *stream = NULL;
    struct buffer content, out;
    struct error err;

    buffer_init(&content, 0);
    buffer_init(&out, 20000);
    testdata_append(&content, TESTDATA_RANDOM, 100000);
    CHECK_OK(deflate_stream_new(PACK_GZIP, 6, compress_sink_to_buffer(&out), &stream, &err), &err);
    CHECK_ERROR(deflate_stream_write(stream, buffer_slice(&content), &err), &err, ERR_LIMIT);
    buffer_clear(&out);
    CHECK_ERROR(deflate_stream_finish(stream, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "output needs more than its limit of 20000 bytes");
    buffer_done(&content);
    buffer_done(&out);
}

static int deflate_step(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;

    buffer_init(&out, 0);
    return deflate_pieces(PACK_GZIP, 9, buffer_slice(context), 5000, &out, err);
}

TEST(deflate_stream_survives_any_failing_allocation)
{
    struct buffer content;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_TEXT, 100000);
    test_each_allocation_failing(deflate_step, &content);
    buffer_done(&content);
}
