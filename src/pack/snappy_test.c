// SPDX-License-Identifier: Apache-2.0
#include "pack/snappy.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/test.h"
#include "pack/checksum.h"

/* 14 bytes: the literal "abcd", a copy of 7 from 4 before, one of 1 (2-byte form), one of 2 (4-byte form). */
static const char block[] = "\x0e\x0c"
                            "abcd\x0d\x04\x02\x04\x00\x07\x01\x00\x00\x00";
static const char content[] = "abcdabcdabcddd";

static int unpack(struct slice in, size_t max_bytes, struct buffer *out, struct error *err)
{
    buffer_init(out, 0);
    return snappy_unpack(in, max_bytes, out, err);
}

TEST(snappy_reads_literals_and_all_kinds_of_copies)
{
    struct buffer out;
    struct error err;

    CHECK_OK(unpack(slice_of(block, sizeof(block) - 1), 14, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), slice_of(content, 14));
    buffer_done(&out);
    CHECK_OK(unpack(SLICE("\0"), 0, &out, &err), &err);
    CHECK_EQ(out.len, 0);
    buffer_done(&out);
}

TEST(snappy_reads_long_literals)
{
    struct buffer in, out;
    struct error err;

    buffer_init(&in, 0);
    buffer_append(&in, "\xac\x02\xf4\x2b\x01", 5); /* 300 bytes, length in two */
    for (int i = 0; i < 300; i++)
        buffer_append_byte(&in, (char)i);
    CHECK_OK(unpack(buffer_slice(&in), 300, &out, &err), &err);
    CHECK_EQ(out.len, 300);
    CHECK_EQ(out.data[299], (char)299);
    buffer_done(&in);
    buffer_done(&out);
}

TEST(snappy_blocks_cut_anywhere_are_refused)
{
    struct buffer out;
    struct error err;

    for (size_t len = 0; len < sizeof(block) - 1; len++) {
        char *copy = memory_alloc(len, &err);

        memcpy(copy, block, len);
        CHECK_ERROR(unpack(slice_of(copy, len), 100, &out, &err), &err, ERR_CORRUPT);
        CHECK_EQ(out.len, 0);
        buffer_done(&out);
        memory_free(copy);
    }
}

TEST(snappy_blocks_that_lie_are_refused)
{
    struct buffer out;
    struct error err;

    CHECK_ERROR(unpack(SLICE("\x05\x0c"
                             "abcd\x1d\x04"),
                       100, &out, &err),
                &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "more content than the block claims");
    buffer_done(&out);
    CHECK_ERROR(unpack(SLICE("\x08\x0c"
                             "abcd\x01\x05"),
                       100, &out, &err),
                &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "before the beginning");
    buffer_done(&out);
    CHECK_ERROR(unpack(SLICE("\xff\xff\xff\x7f"
                             "x"),
                       1 << 30, &out, &err),
                &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "more than it can hold");
    buffer_done(&out);
    CHECK_ERROR(unpack(slice_of(block, sizeof(block) - 1), 13, &out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
}

static void add_chunk(struct buffer *out, char type, bool has_checksum, struct slice body, struct slice plain)
{
    uint32_t crc = checksum_crc32c(0, plain);
    char head[8];

    bytes_put_le32(head, (uint32_t)(body.len + (has_checksum ? 4 : 0)) << 8 | (uint8_t)type);
    bytes_put_le32(head + 4, (crc >> 15 | crc << 17) + 0xa282ead8u);
    buffer_append(out, head, has_checksum ? 8 : 4);
    buffer_append_slice(out, body);
}

static void make_frames(struct buffer *in)
{
    buffer_init(in, 0);
    add_chunk(in, '\xff', false, SLICE("sNaPpY"), SLICE(""));
    add_chunk(in, '\x00', true, slice_of(block, sizeof(block) - 1), slice_of(content, 14));
    add_chunk(in, '\xfe', false, SLICE("padding"), SLICE(""));
    add_chunk(in, '\x01', true, SLICE("plain"), SLICE("plain"));
}

TEST(snappy_reads_frames)
{
    struct buffer in, out;
    struct error err;

    make_frames(&in);
    CHECK_OK(unpack(buffer_slice(&in), 19, &out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), "abcdabcdabcdddplain");
    buffer_done(&out);
    CHECK_ERROR(unpack(buffer_slice(&in), 18, &out, &err), &err, ERR_LIMIT);
    buffer_done(&out);
    in.data[in.len - 1] ^= 1;
    CHECK_ERROR(unpack(buffer_slice(&in), 100, &out, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "checksum");
    buffer_done(&out);
    in.len -= 2;
    CHECK_ERROR(unpack(buffer_slice(&in), 100, &out, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "cut off");
    buffer_done(&out);
    buffer_clear(&in);
    add_chunk(&in, '\xff', false, SLICE("sNaPpY"), SLICE(""));
    add_chunk(&in, '\x02', false, SLICE("?"), SLICE(""));
    CHECK_ERROR(unpack(buffer_slice(&in), 100, &out, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "nobody may skip");
    buffer_done(&out);
    buffer_done(&in);
}

static int unpack_step(void *context, struct error *err)
{
    struct buffer out;
    int result = unpack(buffer_slice(context), 100, &out, err);

    buffer_done(&out);
    return result;
}

TEST(snappy_survives_failing_allocations)
{
    struct buffer in;

    make_frames(&in);
    test_each_allocation_failing(unpack_step, &in);
    buffer_done(&in);
}
