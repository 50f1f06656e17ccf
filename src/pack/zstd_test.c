// SPDX-License-Identifier: Apache-2.0
#include "pack/zstd_internal.h"

#include "base/bytes.h"
#include "base/test.h"
#include "pack/testdata_internal.h"

#include <zstd.h>

#define MIB           ((size_t)1 << 20)
#define MAGIC         "\x28\xb5\x2f\xfd"
#define SKIPPABLE     "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz"
/* A frame without checksum and content size: the window descriptor, then one raw block with "hearth". */
#define FRAME(window) MAGIC "\x00" window "\x31\x00\x00hearth"

struct fixture {
    struct ZSTD_DCtx_s *context;
    struct buffer content;
    struct error err;
};

static void fixture_done(struct fixture *fixture)
{
    zstd_unpack_done(&fixture->context);
    buffer_done(&fixture->content);
}

static struct fixture make_fixture(void)
{
    struct fixture fixture = { 0 };

    buffer_init(&fixture.content, 0);
    return fixture;
}

static int unpack(struct fixture *fixture, struct slice in, size_t max_bytes)
{
    buffer_clear(&fixture->content);
    return zstd_unpack(&fixture->context, in, max_bytes, &fixture->content, &fixture->err);
}

/* As senders do who do not know the size beforehand: no content size in the frame. */
static void pack_streaming(struct slice in, struct buffer *out)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_inBuffer input = { in.ptr, in.len, 0 };
    ZSTD_outBuffer output = { buffer_reserve(out, ZSTD_compressBound(in.len)), ZSTD_compressBound(in.len), 0 };

    CHECK(context && output.dst);
    CHECK(!ZSTD_isError(ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue)));
    CHECK_EQ(ZSTD_compressStream2(context, &output, &input, ZSTD_e_end), 0);
    buffer_commit(out, output.pos);
    ZSTD_freeCCtx(context);
}

TEST(zstd_frames_without_content_size_unpack_within_their_bound)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct buffer content, packed;

    buffer_init(&content, 0);
    buffer_init(&packed, 0);
    testdata_append(&content, TESTDATA_TEXT, 700000);
    pack_streaming(buffer_slice(&content), &packed);
    CHECK(ZSTD_getFrameContentSize(packed.data, packed.len) == ZSTD_CONTENTSIZE_UNKNOWN);
    CHECK_OK(unpack(&fixture, buffer_slice(&packed), 1 << 30), &fixture.err);
    CHECK(slice_equal(buffer_slice(&fixture.content), buffer_slice(&content)));
    CHECK(fixture.content.capacity < MIB);
    CHECK_OK(unpack(&fixture, buffer_slice(&packed), content.len), &fixture.err);
    CHECK_ERROR(unpack(&fixture, buffer_slice(&packed), content.len - 1), &fixture.err, ERR_LIMIT);
    buffer_done(&content);
    buffer_done(&packed);
}

TEST(zstd_frames_in_a_row_are_one_content)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct slice frames = SLICE(SKIPPABLE FRAME("\x38") SKIPPABLE FRAME("\x38") SKIPPABLE);

    CHECK_OK(unpack(&fixture, frames, 12), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "hearthhearth");
    CHECK_ERROR(unpack(&fixture, frames, 11), &fixture.err, ERR_LIMIT);
}

TEST(zstd_skippable_frames_alone_are_no_content)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    CHECK_OK(unpack(&fixture, SLICE(SKIPPABLE SKIPPABLE), 100), &fixture.err);
    CHECK_EQ(fixture.content.len, 0);
}

TEST(zstd_refuses_skippable_frames_that_are_cut_off)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct slice frames = SLICE(FRAME("\x38") SKIPPABLE);

    for (size_t cut = frames.len - 10; cut < frames.len; cut++) {
        CHECK_ERROR(unpack(&fixture, slice_sub(frames, 0, cut), 100), &fixture.err, ERR_CORRUPT);
        CHECK_HAS(fixture.err.text, "zstd: truncated after ");
    }
}

TEST(zstd_refuses_windows_over_128_mib)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    CHECK_OK(unpack(&fixture, SLICE(FRAME("\x88")), 100), &fixture.err); /* 128 MiB */
    CHECK_TEXT(buffer_slice(&fixture.content), "hearth");
    CHECK_ERROR(unpack(&fixture, SLICE(FRAME("\x89")), 100), &fixture.err, ERR_LIMIT);
    CHECK_TEXT(fixture.err.text, "zstd: frame at byte 0 asks for a window of 144 MiB, at most 128 MiB are allowed");
    CHECK_ERROR(unpack(&fixture, SLICE(SKIPPABLE FRAME("\xff")), 100), &fixture.err, ERR_LIMIT);
    CHECK_HAS(fixture.err.text, "frame at byte 11 asks for a window of 3932160 MiB");
}

TEST(zstd_frames_that_need_a_dictionary_are_not_supported)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    CHECK_ERROR(unpack(&fixture, SLICE(MAGIC "\x01\x38\x07\x31\x00\x00hearth"), 100), &fixture.err, ERR_UNSUPPORTED);
    CHECK_TEXT(fixture.err.text, "zstd: frame at byte 0 needs dictionary 7, which we do not have");
}

TEST(zstd_refuses_something_else_behind_or_instead_of_frames)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    CHECK_ERROR(unpack(&fixture, SLICE("plain text"), 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "zstd: does not begin with the magic bytes of zstd");
    CHECK_ERROR(unpack(&fixture, SLICE(FRAME("\x38") "more"), 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "zstd: data ends at byte 15, but something else follows it");
}

TEST(zstd_names_the_frame_that_is_damaged)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    /* block type 3 does not exist */
    CHECK_ERROR(unpack(&fixture, SLICE(FRAME("\x38") MAGIC "\x00\x38\x37\x00\x00hearth"), 100), &fixture.err,
                ERR_CORRUPT);
    CHECK_HAS(fixture.err.text, "zstd: frame at byte 15 is damaged: ");
}

TEST(zstd_believes_no_content_size)
{
    /* a single segment of 2^40 bytes in a frame of 22 bytes; then 100 bytes where there are 6 */
    struct slice huge = SLICE(MAGIC "\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x31\x00\x00hearth");
    struct slice wrong = SLICE(MAGIC "\x20\x64\x31\x00\x00hearth");
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    CHECK_ERROR(unpack(&fixture, huge, (size_t)1 << 41), &fixture.err, ERR_CORRUPT);
    CHECK(fixture.content.capacity <= MIB);
    CHECK_ERROR(unpack(&fixture, huge, MIB / 2), &fixture.err, ERR_LIMIT);
    CHECK_ERROR(unpack(&fixture, wrong, MIB), &fixture.err, ERR_CORRUPT);
}

TEST(zstd_bomb_of_repeated_bytes_stops_at_the_limit)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    const uint32_t repeat = 1 << 1 | (128 << 10) << 3; /* 128 KiB of one byte */
    struct buffer bomb;
    char block[4];

    buffer_init(&bomb, 0);
    buffer_append(&bomb, MAGIC "\x00\x38", 6);
    bytes_put_le32(block, repeat);
    for (int i = 0; i < 100000; i++)
        buffer_append(&bomb, block, 4);
    bytes_put_le32(block, repeat | 1);
    buffer_append(&bomb, block, 4);
    CHECK(bomb.len < MIB); /* and 12 GiB when unpacked */
    CHECK_ERROR(unpack(&fixture, buffer_slice(&bomb), 8 * MIB), &fixture.err, ERR_LIMIT);
    CHECK_TEXT(fixture.err.text, "zstd: inflates to more than the limit of 8MiB");
    CHECK(fixture.content.capacity <= 8 * MIB + 64);
    buffer_done(&bomb);
}
