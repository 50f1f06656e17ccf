// SPDX-License-Identifier: Apache-2.0
#include "pack/deflate_stream.h"

#include "base/memory.h"
#include "pack/compress_internal.h"
#include "pack/zlib_internal.h"

#define CHUNK_BYTES  16384u
#define MEMORY_LEVEL 8   /* zlib's own default: 256 KiB per stream */
#define OS_UNKNOWN   255 /* gzip's word for "never mind", the same everywhere */

struct deflate_stream {
    z_stream zlib;
    gz_header header;
    struct compress_sink sink;
    bool is_finished;
    struct error failure; /* code ERR_OK while all is well */
    unsigned char chunk[CHUNK_BYTES];
};

int deflate_stream_new(enum pack_kind kind, int level, struct compress_sink sink, struct deflate_stream **ret_stream,
                       struct error *err)
{
    struct deflate_stream *stream;

    ASSERT(kind == PACK_GZIP || kind == PACK_ZLIB);
    if (level < DEFLATE_STREAM_LEVEL_MIN || level > DEFLATE_STREAM_LEVEL_MAX)
        return compress_error_level(kind, level, DEFLATE_STREAM_LEVEL_MIN, DEFLATE_STREAM_LEVEL_MAX, err);
    stream = MEMORY_NEW(struct deflate_stream, err);
    if (!stream)
        return -1;
    stream->sink = sink;
    zlib_use_our_heap(&stream->zlib);
    if (deflateInit2(&stream->zlib, level, Z_DEFLATED, zlib_window_bits(kind), MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        memory_free(stream);
        return compress_error_memory(kind, err);
    }
    stream->header.os = OS_UNKNOWN;
    if (kind == PACK_GZIP)
        deflateSetHeader(&stream->zlib, &stream->header);
    *ret_stream = stream;
    return 0;
}

void deflate_stream_free(struct deflate_stream *stream)
{
    if (!stream)
        return;
    deflateEnd(&stream->zlib);
    memory_free(stream);
}

/* Runs zlib over what is in avail_in until it has nothing more to say. */
static int drain(struct deflate_stream *stream, int flush, struct error *err)
{
    z_stream *zlib = &stream->zlib;
    size_t n;

    do {
        int status;

        zlib->next_out = stream->chunk;
        zlib->avail_out = CHUNK_BYTES;
        status = deflate(zlib, flush);
        ASSERT(status != Z_STREAM_ERROR);
        n = CHUNK_BYTES - zlib->avail_out;
        if (n > 0 && stream->sink.write(stream->sink.context, slice_of(stream->chunk, n), err) < 0)
            return -1;
    } while (n == CHUNK_BYTES);
    return 0;
}

static int deflate_piece(struct deflate_stream *stream, struct slice piece, int flush, struct error *err)
{
    do {
        size_t given = MIN(piece.len, (size_t)UINT32_MAX);

        stream->zlib.next_in = (Bytef *)piece.ptr;
        stream->zlib.avail_in = (uInt)given;
        piece = slice_sub(piece, given, SIZE_MAX);
        if (drain(stream, flush, err) < 0)
            return -1;
    } while (piece.len > 0);
    return 0;
}

static int run(struct deflate_stream *stream, struct slice piece, int flush, struct error *err)
{
    ASSERT(!stream->is_finished);
    if (stream->failure.code == ERR_OK && deflate_piece(stream, piece, flush, &stream->failure) == 0)
        return 0;
    *err = stream->failure;
    return -1;
}

int deflate_stream_write(struct deflate_stream *stream, struct slice piece, struct error *err)
{
    return run(stream, piece, Z_NO_FLUSH, err);
}

int deflate_stream_flush(struct deflate_stream *stream, struct error *err)
{
    return run(stream, SLICE(""), Z_SYNC_FLUSH, err);
}

int deflate_stream_finish(struct deflate_stream *stream, struct error *err)
{
    if (run(stream, SLICE(""), Z_FINISH, err) < 0)
        return -1;
    stream->is_finished = true;
    return 0;
}
