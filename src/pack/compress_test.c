// SPDX-License-Identifier: Apache-2.0
#include "pack/compress.h"

#include "base/test.h"

TEST(compress_sniff_knows_the_magic_bytes)
{
    CHECK_EQ(compress_sniff(SLICE("\x1f\x8b\x08\x00")), PACK_GZIP);
    CHECK_EQ(compress_sniff(SLICE("\x1f\x8b")), PACK_GZIP);
    CHECK_EQ(compress_sniff(SLICE("\x28\xb5\x2f\xfd\x24")), PACK_ZSTD);
    CHECK_EQ(compress_sniff(SLICE("\x04\x22\x4d\x18\x64")), PACK_LZ4);
}

TEST(compress_sniff_takes_everything_else_for_plain)
{
    CHECK_EQ(compress_sniff((struct slice){ 0 }), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("")), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("\x1f")), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("\x28\xb5\x2f")), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("main;work 1\n")), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("\x0a\x04\x08\x01\x10\x02")), PACK_NONE);
    CHECK_EQ(compress_sniff(SLICE("\x78\x9c\x03\x00\x00\x00\x00\x01")), PACK_NONE); /* zlib is never sniffed */
}

#define SKIPPABLE "\x5f\x2a\x4d\x18\x03\x00\x00\x00xyz"

TEST(compress_sniff_looks_behind_skippable_frames)
{
    CHECK_EQ(compress_sniff(SLICE(SKIPPABLE SKIPPABLE "\x28\xb5\x2f\xfd")), PACK_ZSTD);
    CHECK_EQ(compress_sniff(SLICE(SKIPPABLE SKIPPABLE "\x04\x22\x4d\x18")), PACK_LZ4);
    CHECK_EQ(compress_sniff(SLICE(SKIPPABLE)), PACK_ZSTD);
    CHECK_EQ(compress_sniff(SLICE("\x50\x2a\x4d\x18\xff\xff\xff\xff")), PACK_ZSTD);
    CHECK_EQ(compress_sniff(SLICE("\x50\x2a\x4d\x18")), PACK_ZSTD);
    CHECK_EQ(compress_sniff(SLICE("\x60\x2a\x4d\x18")), PACK_NONE);
}

TEST(compress_kinds_have_names)
{
    CHECK_TEXT(compress_kind_name(PACK_NONE), "none");
    CHECK_TEXT(compress_kind_name(PACK_GZIP), "gzip");
    CHECK_TEXT(compress_kind_name(PACK_ZLIB), "zlib");
    CHECK_TEXT(compress_kind_name(PACK_ZSTD), "zstd");
    CHECK_TEXT(compress_kind_name(PACK_LZ4), "lz4");
}

TEST(compress_sink_to_a_buffer_fails_when_the_buffer_is_full)
{
    struct buffer out;
    struct compress_sink sink = compress_sink_to_buffer(&out);
    struct error err;

    buffer_init(&out, 4);
    CHECK_OK(sink.write(sink.context, SLICE("abc"), &err), &err);
    CHECK_TEXT(buffer_slice(&out), "abc");
    CHECK_ERROR(sink.write(sink.context, SLICE("de"), &err), &err, ERR_LIMIT);
    buffer_done(&out);
}
