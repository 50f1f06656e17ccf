// SPDX-License-Identifier: Apache-2.0
/* lz4 over whole buffers, frame by frame. Frames need not say how large they are, so the output grows on the way. */
#include "pack/lz4_internal.h"

#include "base/bytes.h"
#include "pack/compress_internal.h"

/* For contexts on our heap. */
#define LZ4F_STATIC_LINKING_ONLY
#include <lz4frame.h>

#define AT_FLAGS        4u
#define FLAG_DICTIONARY 0x01

static const LZ4F_CustomMem our_heap = { compress_alloc, NULL, compress_free, NULL };

/* What the library's errors mean to a reader. They go by name, since the numbers differ between versions; one that is
 * not here is passed on as it is. */
static const struct {
    const char *name;
    const char *meaning;
} meanings[] = {
    { "ERROR_headerVersion_wrong", "its version does not exist" },
    { "ERROR_reservedFlag_set", "a reserved flag is set" },
    { "ERROR_maxBlockSize_invalid", "its block size does not exist" },
    { "ERROR_headerChecksum_invalid", "the header does not match its checksum" },
    { "ERROR_blockChecksum_invalid", "a block does not match its checksum" },
    { "ERROR_contentChecksum_invalid", "the content does not match its checksum" },
    { "ERROR_frameSize_wrong", "the content does not have the size that the header gives" },
    { "ERROR_decompressionFailed", "a block makes no sense" },
};

static int fail_frame(size_t at, size_t status, struct error *err)
{
    const char *name = LZ4F_getErrorName(status);

    if (strcmp(name, "ERROR_allocation_failed") == 0)
        return compress_error_memory(PACK_LZ4, err);
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (strcmp(name, meanings[i].name) == 0)
            return error_set(err, ERR_CORRUPT, "lz4: frame at byte %zu is damaged: %s", at, meanings[i].meaning);
    return error_set(err, ERR_CORRUPT, "lz4: frame at byte %zu is damaged: %s", at, name);
}

/* Inflates the frame at `at` and moves `at` behind it. The library keeps the history it needs, so the output may move
 * between two calls. The room is one byte larger than what the limit still allows, so that going over it shows. */
static int unpack_frame(LZ4F_dctx *context, struct slice in, size_t *at, size_t max_bytes, struct buffer *out,
                        struct error *err)
{
    size_t frame_at = *at;
    size_t hint, made, room;

    do {
        size_t allowed = max_bytes - out->len + 1;
        size_t used = in.len - *at;
        char *to = compress_reserve(out, MIN(compress_guess_size(used), allowed), err);

        if (!to)
            return -1;
        room = made = MIN(compress_room(out), allowed);
        hint = LZ4F_decompress(context, to, &made, in.ptr + *at, &used, NULL);
        if (LZ4F_isError(hint))
            return fail_frame(frame_at, hint, err);
        *at += used;
        if (made > max_bytes - out->len)
            return compress_error_limit(PACK_LZ4, max_bytes, err);
        buffer_commit(out, made);
    } while (hint > 0 && (*at < in.len || made == room));
    return hint > 0 ? compress_error_truncated(PACK_LZ4, in.len, err) : 0;
}

/* Passes over or inflates the frame at `at` and moves `at` behind it. */
static int unpack_next(LZ4F_dctx *context, struct slice in, size_t *at, size_t max_bytes, struct buffer *out,
                       struct error *err)
{
    struct slice rest = slice_sub(in, *at, SIZE_MAX);

    if (compress_is_skippable(rest))
        return compress_skip_frame(PACK_LZ4, in, at, err);
    if (rest.len <= AT_FLAGS)
        return compress_error_truncated(PACK_LZ4, in.len, err);
    if (bytes_get_le32(rest.ptr) != LZ4F_MAGICNUMBER)
        return compress_error_garbage(PACK_LZ4, *at, err);
    if (rest.ptr[AT_FLAGS] & FLAG_DICTIONARY)
        return error_set(err, ERR_UNSUPPORTED, "lz4: frame at byte %zu needs a dictionary, which we do not have", *at);
    return unpack_frame(context, in, at, max_bytes, out, err);
}

int lz4_unpack(struct LZ4F_dctx_s **state, struct slice in, size_t max_bytes, struct buffer *out, struct error *err)
{
    size_t at = 0;

    if (!*state) {
        *state = LZ4F_createDecompressionContext_advanced(our_heap, LZ4F_VERSION);
        if (!*state)
            return compress_error_memory(PACK_LZ4, err);
    }
    LZ4F_resetDecompressionContext(*state); /* the call before may have failed half-way */
    do {
        if (unpack_next(*state, in, &at, max_bytes, out, err) < 0)
            return -1;
    } while (at < in.len);
    return 0;
}

void lz4_unpack_done(struct LZ4F_dctx_s **state)
{
    LZ4F_freeDecompressionContext(*state);
    *state = NULL;
}

/* Writes one frame to `to`; the result is its size or an error of the library. */
static size_t write_frame(LZ4F_cctx *context, const LZ4F_preferences_t *preferences, struct slice in, char *to,
                          size_t room)
{
    size_t len = 0, made;

    made = LZ4F_compressBegin(context, to, room, preferences);
    if (LZ4F_isError(made))
        return made;
    len += made;
    made = LZ4F_compressUpdate(context, to + len, room - len, in.ptr, in.len, NULL);
    if (LZ4F_isError(made))
        return made;
    len += made;
    made = LZ4F_compressEnd(context, to + len, room - len, NULL);
    return LZ4F_isError(made) ? made : len + made;
}

int lz4_pack(struct LZ4F_cctx_s **state, int level, struct slice in, struct buffer *out, struct error *err)
{
    LZ4F_preferences_t preferences = {
        .frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled, .contentSize = in.len },
        .compressionLevel = level,
        .autoFlush = 1, /* no copy of the content inside the library */
    };
    size_t bound = LZ4F_HEADER_SIZE_MAX + LZ4F_compressBound(in.len, &preferences);
    size_t made;
    char *to;

    if (level < LZ4_LEVEL_MIN || level > LZ4_LEVEL_MAX)
        return compress_error_level(PACK_LZ4, level, LZ4_LEVEL_MIN, LZ4_LEVEL_MAX, err);
    if (!*state)
        *state = LZ4F_createCompressionContext_advanced(our_heap, LZ4F_VERSION);
    if (!*state)
        return compress_error_memory(PACK_LZ4, err);
    to = buffer_reserve(out, bound);
    if (!to)
        return buffer_check(out, err);
    made = write_frame(*state, &preferences, in, to, bound);
    if (LZ4F_isError(made)) /* with valid preferences and enough room, only memory can be missing */
        return compress_error_memory(PACK_LZ4, err);
    buffer_commit(out, made);
    return 0;
}

void lz4_pack_done(struct LZ4F_cctx_s **state)
{
    LZ4F_freeCompressionContext(*state);
    *state = NULL;
}
