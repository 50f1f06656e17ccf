// SPDX-License-Identifier: Apache-2.0
#include "pack/lz4_internal.h"

#include "base/test.h"
#include "pack/testdata_internal.h"

#include <lz4frame.h>

#define MIB       ((size_t)1 << 20)
#define SKIPPABLE "\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz"

struct fixture {
    struct LZ4F_dctx_s *context;
    struct buffer packed;
    struct buffer content;
    struct error err;
};

static void fixture_done(struct fixture *fixture)
{
    lz4_unpack_done(&fixture->context);
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

static int unpack(struct fixture *fixture, size_t max_bytes)
{
    buffer_clear(&fixture->content);
    return lz4_unpack(&fixture->context, buffer_slice(&fixture->packed), max_bytes, &fixture->content, &fixture->err);
}

/* Appends a frame as other senders may write it. */
static void pack(struct fixture *fixture, const LZ4F_preferences_t *preferences, struct slice in)
{
    size_t bound = LZ4F_compressFrameBound(in.len, preferences);
    char *to = buffer_reserve(&fixture->packed, bound);
    size_t made;

    CHECK(to);
    made = LZ4F_compressFrame(to, bound, in.ptr, in.len, preferences);
    CHECK(!LZ4F_isError(made));
    buffer_commit(&fixture->packed, made);
}

TEST(lz4_reads_every_way_of_writing_a_frame)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    struct buffer content;

    buffer_init(&content, 0);
    testdata_append(&content, TESTDATA_TEXT, 5 * MIB);
    for (unsigned way = 0; way < 32; way++) {
        LZ4F_preferences_t preferences = { 0 };

        preferences.frameInfo.blockSizeID = way & 1 ? LZ4F_max4MB : LZ4F_max64KB;
        preferences.frameInfo.blockMode = way & 2 ? LZ4F_blockIndependent : LZ4F_blockLinked;
        preferences.frameInfo.contentChecksumFlag = way & 4 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
        preferences.frameInfo.blockChecksumFlag = way & 8 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
        preferences.frameInfo.contentSize = way & 16 ? content.len : 0;
        buffer_clear(&fixture.packed);
        pack(&fixture, &preferences, buffer_slice(&content));
        buffer_done(&fixture.content); /* so that the output grows under way */
        CHECK_OK(unpack(&fixture, content.len), &fixture.err);
        CHECK(slice_equal(buffer_slice(&fixture.content), buffer_slice(&content)));
        CHECK_ERROR(unpack(&fixture, content.len - 1), &fixture.err, ERR_LIMIT);
    }
    buffer_done(&content);
}

TEST(lz4_frames_in_a_row_are_one_content)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    buffer_append_slice(&fixture.packed, SLICE(SKIPPABLE));
    pack(&fixture, NULL, SLICE("first "));
    buffer_append_slice(&fixture.packed, SLICE(SKIPPABLE));
    pack(&fixture, NULL, SLICE(""));
    pack(&fixture, NULL, SLICE("second"));
    CHECK_OK(unpack(&fixture, 12), &fixture.err);
    CHECK_TEXT(buffer_slice(&fixture.content), "first second");
    CHECK_ERROR(unpack(&fixture, 11), &fixture.err, ERR_LIMIT);
}

TEST(lz4_tells_a_cut_at_the_limit_from_too_much_content)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, NULL, SLICE("exactly this"));
    buffer_truncate(&fixture.packed, fixture.packed.len - 2);
    CHECK_ERROR(unpack(&fixture, 12), &fixture.err, ERR_CORRUPT);
    CHECK_HAS(fixture.err.text, "lz4: truncated after ");
    CHECK_ERROR(unpack(&fixture, 11), &fixture.err, ERR_LIMIT);
}

TEST(lz4_goes_on_after_a_damaged_body)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    pack(&fixture, NULL, SLICE("some content"));
    for (size_t cut = 0; cut < fixture.packed.len; cut++) {
        size_t whole = fixture.packed.len;

        fixture.packed.len = cut;
        CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_CORRUPT);
        fixture.packed.len = whole;
        CHECK_OK(unpack(&fixture, 100), &fixture.err);
        CHECK_TEXT(buffer_slice(&fixture.content), "some content");
    }
}

TEST(lz4_refuses_something_else_behind_or_instead_of_frames)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    buffer_append_text(&fixture.packed, "plain text");
    CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "lz4: does not begin with the magic bytes of lz4");
    buffer_clear(&fixture.packed);
    pack(&fixture, NULL, SLICE("hearth"));
    CHECK_EQ(fixture.packed.len, 21);
    buffer_append_text(&fixture.packed, "more text");
    CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "lz4: data ends at byte 21, but something else follows it");
}

TEST(lz4_says_what_is_damaged)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();
    LZ4F_preferences_t preferences = { .frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled } };

    pack(&fixture, &preferences, SLICE("hearth"));
    fixture.packed.data[fixture.packed.len - 1] ^= 1;
    CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "lz4: frame at byte 0 is damaged: the content does not match its checksum");
    fixture.packed.data[6] ^= 1;
    CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_CORRUPT);
    CHECK_TEXT(fixture.err.text, "lz4: frame at byte 0 is damaged: the header does not match its checksum");
    fixture.packed.data[4] |= 1;
    CHECK_ERROR(unpack(&fixture, 100), &fixture.err, ERR_UNSUPPORTED);
    CHECK_TEXT(fixture.err.text, "lz4: frame at byte 0 needs a dictionary, which we do not have");
}

TEST(lz4_believes_no_content_size)
{
    AUTO(fixture_done) struct fixture fixture = make_fixture();

    /* 2^40 bytes of content, says the header, whose checksum is right */
    buffer_append_slice(&fixture.packed, SLICE("\x04\x22\x4d\x18\x68\x40\x00\x00\x00\x00\x00\x01\x00\x00"));
    buffer_append_byte(&fixture.packed, '\xb7');
    buffer_append_slice(&fixture.packed, SLICE("\x06\x00\x00\x80hearth\x00\x00\x00\x00"));
    CHECK_ERROR(unpack(&fixture, (size_t)1 << 41), &fixture.err, ERR_CORRUPT);
    CHECK_HAS(fixture.err.text, "the content does not have the size that the header gives");
    CHECK(fixture.content.capacity < MIB);
}
