// SPDX-License-Identifier: Apache-2.0
/* zstd over whole buffers, frame by frame.
 *
 * Each frame is inflated in one go straight into the output, so no window is ever allocated: the block headers tell how
 * large the content can be, also where the frame does not say it. */
#include "pack/zstd_internal.h"

#include "base/bytes.h"
#include "pack/compress_internal.h"

/* For contexts on our heap and ZSTD_decompressBound; the structs that change between versions stay unused. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <inttypes.h>

#define MAX_WINDOW_BYTES  ((uint64_t)128 << 20)
#define MAX_BLOCK_BYTES   ((uint64_t)128 << 10) /* of content */
#define MIN_BLOCK_BYTES   4u                    /* of input: a header and the byte to repeat */
#define AT_DESCRIPTOR     4u
#define AT_WINDOW         5u
#define IS_SINGLE_SEGMENT 0x20 /* in the descriptor: no window, the content is its own */

static const ZSTD_customMem our_heap = { compress_alloc, compress_free, NULL };

static int fail_frame(size_t at, size_t status, struct error *err)
{
    if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
        return compress_error_memory(PACK_ZSTD, err);
    return error_set(err, ERR_CORRUPT, "zstd: frame at byte %zu is damaged: %s", at, ZSTD_getErrorName(status));
}

/* Window_Descriptor of RFC 8878: five bits of exponent, three of mantissa. */
static uint64_t window_size(unsigned char descriptor)
{
    uint64_t base = (uint64_t)1 << (10 + (descriptor >> 3));

    return base + base / 8 * (descriptor & 7);
}

/* Refuses frames that ask for what we do not give, before anything is spent on them. */
static int check_header(struct slice frame, size_t at, struct error *err)
{
    unsigned dictionary = ZSTD_getDictID_fromFrame(frame.ptr, frame.len);

    if (frame.len > AT_WINDOW && !(frame.ptr[AT_DESCRIPTOR] & IS_SINGLE_SEGMENT)) {
        uint64_t window = window_size((unsigned char)frame.ptr[AT_WINDOW]);

        if (window > MAX_WINDOW_BYTES)
            return error_set(err, ERR_LIMIT,
                             "zstd: frame at byte %zu asks for a window of %" PRIu64 " MiB, at most %" PRIu64
                             " MiB are allowed",
                             at, (window + (1u << 20) - 1) >> 20, MAX_WINDOW_BYTES >> 20);
    }
    if (dictionary != 0)
        return error_set(err, ERR_UNSUPPORTED, "zstd: frame at byte %zu needs dictionary %u, which we do not have", at,
                         dictionary);
    return 0;
}

/* The most content the frame can have: what it says, but no more than its blocks can hold. */
static uint64_t content_bound(struct slice frame)
{
    uint64_t bound = ZSTD_decompressBound(frame.ptr, frame.len);

    return MIN(bound, (frame.len / MIN_BLOCK_BYTES + 1) * MAX_BLOCK_BYTES);
}

/* Inflates `frame`, which lies at `at` of the input and is one whole frame. */
static int unpack_frame(ZSTD_DCtx *context, struct slice frame, size_t at, size_t max_bytes, struct buffer *out,
                        struct error *err)
{
    size_t allowed = max_bytes - out->len;
    uint64_t bound = content_bound(frame);
    size_t room = (size_t)MIN(bound, allowed);
    size_t made;
    char *to;

    if (bound > allowed && ZSTD_getFrameContentSize(frame.ptr, frame.len) != ZSTD_CONTENTSIZE_UNKNOWN)
        return compress_error_limit(PACK_ZSTD, max_bytes, err);
    to = compress_reserve(out, room, err);
    if (!to)
        return -1;
    made = ZSTD_decompressDCtx(context, to, room, frame.ptr, frame.len);
    if (ZSTD_isError(made)) {
        if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall && bound > allowed)
            return compress_error_limit(PACK_ZSTD, max_bytes, err);
        return fail_frame(at, made, err);
    }
    buffer_commit(out, made);
    return 0;
}

/* Inflates the frame at `at` and moves `at` behind it. */
static int unpack_next(ZSTD_DCtx *context, struct slice in, size_t *at, size_t max_bytes, struct buffer *out,
                       struct error *err)
{
    struct slice rest = slice_sub(in, *at, SIZE_MAX);
    size_t frame_bytes;

    if (compress_is_skippable(rest))
        return compress_skip_frame(PACK_ZSTD, in, at, err);
    if (rest.len < 4)
        return compress_error_truncated(PACK_ZSTD, in.len, err);
    if (bytes_get_le32(rest.ptr) != ZSTD_MAGICNUMBER)
        return compress_error_garbage(PACK_ZSTD, *at, err);
    if (check_header(rest, *at, err) < 0)
        return -1;
    frame_bytes = ZSTD_findFrameCompressedSize(rest.ptr, rest.len);
    if (ZSTD_isError(frame_bytes)) {
        if (ZSTD_getErrorCode(frame_bytes) == ZSTD_error_srcSize_wrong)
            return compress_error_truncated(PACK_ZSTD, in.len, err);
        return fail_frame(*at, frame_bytes, err);
    }
    if (unpack_frame(context, slice_sub(rest, 0, frame_bytes), *at, max_bytes, out, err) < 0)
        return -1;
    *at += frame_bytes;
    return 0;
}

int zstd_unpack(struct ZSTD_DCtx_s **state, struct slice in, size_t max_bytes, struct buffer *out, struct error *err)
{
    size_t at = 0;

    if (!*state) {
        *state = ZSTD_createDCtx_advanced(our_heap);
        if (!*state)
            return compress_error_memory(PACK_ZSTD, err);
    }
    do {
        if (unpack_next(*state, in, &at, max_bytes, out, err) < 0)
            return -1;
    } while (at < in.len);
    return 0;
}

void zstd_unpack_done(struct ZSTD_DCtx_s **state)
{
    ZSTD_freeDCtx(*state);
    *state = NULL;
}

static int prepare_packing(struct ZSTD_CCtx_s **state, int level, struct error *err)
{
    if (level < ZSTD_LEVEL_MIN || level > ZSTD_LEVEL_MAX)
        return compress_error_level(PACK_ZSTD, level, ZSTD_LEVEL_MIN, ZSTD_LEVEL_MAX, err);
    if (!*state)
        *state = ZSTD_createCCtx_advanced(our_heap);
    if (!*state)
        return compress_error_memory(PACK_ZSTD, err);
    ZSTD_CCtx_reset(*state, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(*state, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(*state, ZSTD_c_checksumFlag, 1);
    return 0;
}

int zstd_pack(struct ZSTD_CCtx_s **state, int level, struct slice in, struct buffer *out, struct error *err)
{
    size_t bound = ZSTD_compressBound(in.len);
    size_t made;
    char *to;

    if (prepare_packing(state, level, err) < 0)
        return -1;
    to = buffer_reserve(out, bound);
    if (!to)
        return buffer_check(out, err);
    made = ZSTD_compress2(*state, to, bound, in.ptr, in.len);
    if (ZSTD_isError(made)) /* with valid parameters and enough room, only memory can be missing */
        return compress_error_memory(PACK_ZSTD, err);
    buffer_commit(out, made);
    return 0;
}

void zstd_pack_done(struct ZSTD_CCtx_s **state)
{
    ZSTD_freeCCtx(*state);
    *state = NULL;
}
