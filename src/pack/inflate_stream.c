// SPDX-License-Identifier: Apache-2.0
#include "pack/inflate_stream.h"

#include "base/memory.h"
#include "pack/compress_internal.h"
#include "pack/zlib_internal.h"

#include <inttypes.h>

#define CHUNK_BYTES 16384u

/* What the next input byte is. */
enum place { IN_MEMBER, AFTER_MEMBER, IN_PADDING };

struct inflate_stream {
    z_stream zlib;
    struct compress_sink sink;
    enum pack_kind kind;
    enum place place;
    uint64_t in_bytes; /* used up by now */
    size_t out_bytes;
    size_t max_bytes;
    struct error failure; /* code ERR_OK while all is well */
    unsigned char chunk[CHUNK_BYTES];
};

int inflate_stream_new(enum pack_kind kind, size_t max_bytes, struct compress_sink sink,
                       struct inflate_stream **ret_stream, struct error *err)
{
    struct inflate_stream *stream;

    ASSERT(kind == PACK_GZIP || kind == PACK_ZLIB);
    stream = MEMORY_NEW(struct inflate_stream, err);
    if (!stream)
        return -1;
    stream->kind = kind;
    stream->max_bytes = MIN(max_bytes, SIZE_MAX / 2);
    stream->sink = sink;
    zlib_use_our_heap(&stream->zlib);
    if (inflateInit2(&stream->zlib, zlib_window_bits(kind)) != Z_OK) {
        memory_free(stream);
        return compress_error_memory(kind, err);
    }
    *ret_stream = stream;
    return 0;
}

void inflate_stream_free(struct inflate_stream *stream)
{
    if (!stream)
        return;
    inflateEnd(&stream->zlib);
    memory_free(stream);
}

static int fail_inflating(const struct inflate_stream *stream, int status, struct error *err)
{
    const char *name = compress_kind_name(stream->kind);

    if (status == Z_MEM_ERROR)
        return compress_error_memory(stream->kind, err);
    if (status == Z_NEED_DICT)
        return error_set(err, ERR_UNSUPPORTED, "%s: needs a preset dictionary, which we do not have", name);
    return error_set(err, ERR_CORRUPT, "%s: damaged near byte %" PRIu64 ": %s", name, stream->in_bytes,
                     stream->zlib.msg ? stream->zlib.msg : "no valid data");
}

/* Hands on what lies in the chunk. The chunk was made one byte larger than what the limit still allows, so that going
 * over it shows. */
static int hand_on(struct inflate_stream *stream, size_t n, struct error *err)
{
    if (n > stream->max_bytes - stream->out_bytes)
        return compress_error_limit(stream->kind, stream->max_bytes, err);
    stream->out_bytes += n;
    return n ? stream->sink.write(stream->sink.context, slice_of(stream->chunk, n), err) : 0;
}

/* Inflates within one member until the input is used up or the member ends; cuts what was used off `rest`. */
static int inflate_member(struct inflate_stream *stream, struct slice *rest, struct error *err)
{
    z_stream *zlib = &stream->zlib;
    int status;

    do {
        size_t allowed = stream->max_bytes - stream->out_bytes;
        uInt room = (uInt)(allowed < CHUNK_BYTES ? allowed + 1 : CHUNK_BYTES);
        uInt given = (uInt)MIN(rest->len, (size_t)UINT32_MAX);

        zlib->next_in = (Bytef *)rest->ptr;
        zlib->avail_in = given;
        zlib->next_out = stream->chunk;
        zlib->avail_out = room;
        status = inflate(zlib, Z_NO_FLUSH);
        stream->in_bytes += given - zlib->avail_in;
        *rest = slice_sub(*rest, given - zlib->avail_in, SIZE_MAX);
        if (hand_on(stream, room - zlib->avail_out, err) < 0)
            return -1;
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return fail_inflating(stream, status, err);
    } while (status != Z_STREAM_END && (rest->len > 0 || zlib->avail_out == 0));
    if (status == Z_STREAM_END)
        stream->place = AFTER_MEMBER;
    return 0;
}

/* Behind a member may come another one (gzip only) or zero bytes to the end. */
static int look_after_member(struct inflate_stream *stream, struct slice rest, struct error *err)
{
    if (rest.ptr[0] == '\0') {
        stream->place = IN_PADDING;
    } else if (stream->kind == PACK_GZIP && rest.ptr[0] == '\x1f') {
        inflateReset(&stream->zlib);
        stream->place = IN_MEMBER;
    } else {
        return compress_error_garbage(stream->kind, stream->in_bytes, err);
    }
    return 0;
}

static int skip_padding(struct inflate_stream *stream, struct slice *rest, struct error *err)
{
    while (rest->len > 0 && rest->ptr[0] == '\0') {
        *rest = slice_sub(*rest, 1, SIZE_MAX);
        stream->in_bytes++;
    }
    return rest->len ? compress_error_garbage(stream->kind, stream->in_bytes, err) : 0;
}

static int take_piece(struct inflate_stream *stream, struct slice rest, struct error *err)
{
    while (rest.len > 0) {
        int result = -1;

        switch (stream->place) {
        case IN_MEMBER: result = inflate_member(stream, &rest, err); break;
        case AFTER_MEMBER: result = look_after_member(stream, rest, err); break;
        case IN_PADDING: result = skip_padding(stream, &rest, err); break;
        }
        if (result < 0)
            return -1;
    }
    return 0;
}

int inflate_stream_write(struct inflate_stream *stream, struct slice piece, struct error *err)
{
    if (stream->failure.code == ERR_OK && take_piece(stream, piece, &stream->failure) == 0)
        return 0;
    *err = stream->failure;
    return -1;
}

int inflate_stream_finish(struct inflate_stream *stream, struct error *err)
{
    if (stream->failure.code == ERR_OK && stream->place == IN_MEMBER)
        compress_error_truncated(stream->kind, stream->in_bytes, &stream->failure);
    if (stream->failure.code == ERR_OK)
        return 0;
    *err = stream->failure;
    return -1;
}
