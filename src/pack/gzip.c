// SPDX-License-Identifier: Apache-2.0
/* gzip and zlib over whole buffers. libdeflate is two to three times as fast as zlib, but it says only "bad data": on
 * damage, zlib goes over the input again to find out what is wrong and where. */
#include "pack/gzip_internal.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "pack/compress_internal.h"
#include "pack/inflate_stream.h"

#include <libdeflate.h>
#include <pthread.h>

#define MAX_RATIO        1032u /* 258 bytes of content from 2 bits */
#define GZIP_TRAILER     8u
#define LEAST_ROOM_BYTES 4096u

static void *alloc(size_t size_bytes)
{
    return compress_alloc(NULL, size_bytes);
}

static void use_our_heap(void)
{
    libdeflate_set_memory_allocator(alloc, memory_free);
}

/* libdeflate has one allocator per process, to be set before its first object is made. */
static void prepare_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, use_our_heap);
}

/* The content size that the last four bytes of a gzip file give (modulo 2^32), if it can be true; else a guess. A
 * sender can write anything there, and of several members it is the last one's, so it merely saves growing. */
static size_t expected_size(enum pack_kind kind, struct slice in)
{
    size_t size = kind == PACK_GZIP && in.len > GZIP_TRAILER ? bytes_get_le32(in.ptr + in.len - 4) : 0;
    bool is_plausible = size / MAX_RATIO <= in.len && size >= in.len / 2;

    return is_plausible ? size : compress_guess_size(in.len);
}

static enum libdeflate_result decompress(struct libdeflate_decompressor *decompressor, enum pack_kind kind,
                                         struct slice in, char *out, size_t room, size_t *ret_used, size_t *ret_made)
{
    if (kind == PACK_GZIP)
        return libdeflate_gzip_decompress_ex(decompressor, in.ptr, in.len, out, room, ret_used, ret_made);
    return libdeflate_zlib_decompress_ex(decompressor, in.ptr, in.len, out, room, ret_used, ret_made);
}

static int discard(void *context, struct slice bytes, struct error *err)
{
    return 0;
}

/* Finds out why libdeflate refused the member at `at`. Returns -1 always. */
static int explain_damage(enum pack_kind kind, struct slice in, size_t at, size_t max_bytes, struct error *err)
{
    AUTO(inflate_stream_freep) struct inflate_stream *stream = NULL;
    struct compress_sink sink = { discard, NULL };

    if (inflate_stream_new(kind, max_bytes, sink, &stream, err) < 0)
        return -1;
    if (inflate_stream_write(stream, in, err) < 0 || inflate_stream_finish(stream, err) < 0)
        return -1;
    return error_set(err, ERR_CORRUPT, "%s: damaged somewhere behind byte %zu", compress_kind_name(kind), at);
}

/* Inflates the member at `at` and moves `at` behind it. libdeflate cannot go on where it stopped, so a member that did
 * not fit begins anew with twice the space: all tries together cost at most as much again as the last one. */
static int unpack_member(struct libdeflate_decompressor *decompressor, enum pack_kind kind, struct slice in, size_t *at,
                         size_t max_bytes, struct buffer *out, struct error *err)
{
    struct slice member = slice_sub(in, *at, SIZE_MAX);
    size_t allowed = max_bytes - out->len;
    size_t wanted = MIN(expected_size(kind, member), allowed);

    for (;;) {
        char *to = compress_reserve(out, wanted, err);
        size_t room = MIN(compress_room(out), allowed);
        size_t used, made;

        if (!to)
            return -1;
        switch (decompress(decompressor, kind, member, to, room, &used, &made)) {
        case LIBDEFLATE_SUCCESS:
            buffer_commit(out, made);
            *at += used;
            return 0;
        case LIBDEFLATE_INSUFFICIENT_SPACE:
            if (room == allowed)
                return compress_error_limit(kind, max_bytes, err);
            wanted = MIN(room < allowed / 2 ? MAX(room * 2, LEAST_ROOM_BYTES) : allowed, allowed);
            break;
        case LIBDEFLATE_BAD_DATA:
        case LIBDEFLATE_SHORT_OUTPUT: return explain_damage(kind, in, *at, max_bytes, err);
        }
    }
}

static int check_padding(enum pack_kind kind, struct slice in, size_t at, struct error *err)
{
    while (at < in.len && in.ptr[at] == '\0')
        at++;
    return at < in.len ? compress_error_garbage(kind, at, err) : 0;
}

int gzip_unpack(struct libdeflate_decompressor **state, enum pack_kind kind, struct slice in, size_t max_bytes,
                struct buffer *out, struct error *err)
{
    size_t at = 0;

    if (!*state) {
        prepare_library();
        *state = libdeflate_alloc_decompressor();
        if (!*state)
            return compress_error_memory(kind, err);
    }
    do {
        if (unpack_member(*state, kind, in, &at, max_bytes, out, err) < 0)
            return -1;
    } while (kind == PACK_GZIP && at < in.len && in.ptr[at] == '\x1f');
    return check_padding(kind, in, at, err);
}

void gzip_unpack_done(struct libdeflate_decompressor **state)
{
    libdeflate_free_decompressor(*state);
    *state = NULL;
}

static int choose_level(struct gzip_packer *packer, enum pack_kind kind, int level, struct error *err)
{
    if (level < GZIP_LEVEL_MIN || level > GZIP_LEVEL_MAX)
        return compress_error_level(kind, level, GZIP_LEVEL_MIN, GZIP_LEVEL_MAX, err);
    if (packer->compressor && packer->level == level)
        return 0;
    gzip_pack_done(packer);
    prepare_library();
    packer->compressor = libdeflate_alloc_compressor(level);
    packer->level = level;
    return packer->compressor ? 0 : compress_error_memory(kind, err);
}

int gzip_pack(struct gzip_packer *packer, enum pack_kind kind, int level, struct slice in, struct buffer *out,
              struct error *err)
{
    size_t bound, made;
    char *to;

    if (choose_level(packer, kind, level, err) < 0)
        return -1;
    bound = kind == PACK_GZIP ? libdeflate_gzip_compress_bound(packer->compressor, in.len)
                              : libdeflate_zlib_compress_bound(packer->compressor, in.len);
    to = buffer_reserve(out, bound);
    if (!to)
        return buffer_check(out, err);
    made = kind == PACK_GZIP ? libdeflate_gzip_compress(packer->compressor, in.ptr, in.len, to, bound)
                             : libdeflate_zlib_compress(packer->compressor, in.ptr, in.len, to, bound);
    ASSERT(made > 0);
    buffer_commit(out, made);
    return 0;
}

void gzip_pack_done(struct gzip_packer *packer)
{
    libdeflate_free_compressor(packer->compressor);
    packer->compressor = NULL;
}
