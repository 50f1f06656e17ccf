// SPDX-License-Identifier: Apache-2.0
/* gzip and zlib, whole (libdeflate) against streaming (zlib): both accept the same input and give the same content. */
#include "pack/inflate_stream.h"
#include "pack/unpacker.h"

#define MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int inflate_pieces(enum pack_kind kind, struct slice in, size_t piece_bytes, struct buffer *out,
                          struct error *err)
{
    AUTO(inflate_stream_freep) struct inflate_stream *stream = NULL;

    if (inflate_stream_new(kind, MAX_BYTES, compress_sink_to_buffer(out), &stream, err) < 0)
        return -1;
    for (size_t at = 0; at < in.len; at += piece_bytes)
        if (inflate_stream_write(stream, slice_sub(in, at, piece_bytes), err) < 0)
            return -1;
    return inflate_stream_finish(stream, err);
}

static void compare(struct unpacker *unpacker, enum pack_kind kind, struct slice in, size_t piece_bytes)
{
    AUTO(buffer_done) struct buffer streamed;
    struct slice content;
    struct error err, stream_err;
    int result, stream_result;

    buffer_init(&streamed, 0);
    result = unpacker_unpack(unpacker, kind, in, MAX_BYTES, &content, &err);
    stream_result = inflate_pieces(kind, in, piece_bytes, &streamed, &stream_err);
    ASSERT(streamed.len <= MAX_BYTES);
    if (result < 0)
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT || err.code == ERR_UNSUPPORTED);
    if (stream_result < 0 && strstr(stream_err.text, "header crc mismatch"))
        return; /* libdeflate does not look at that checksum */
    ASSERT(result == stream_result);
    if (result == 0)
        ASSERT(slice_equal(content, buffer_slice(&streamed)));
    else if (streamed.len < MAX_BYTES - 4096) /* libdeflate may run out of space before it sees that input is cut off */
        ASSERT(err.code == stream_err.code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct unpacker *unpacker;
    struct slice in = slice_of(data, size);
    size_t piece_bytes = size % 97 + 1; /* so that a corpus file is an ordinary gzip file */
    struct error err;

    if (!unpacker && unpacker_new(&unpacker, &err) < 0)
        return 0;
    compare(unpacker, PACK_GZIP, in, piece_bytes);
    compare(unpacker, PACK_ZLIB, in, piece_bytes);
    return 0;
}
