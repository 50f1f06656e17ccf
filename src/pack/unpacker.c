// SPDX-License-Identifier: Apache-2.0
#include "pack/unpacker.h"

#include "base/memory.h"
#include "base/units.h"
#include "pack/compress_internal.h"
#include "pack/gzip_internal.h"
#include "pack/lz4_internal.h"
#include "pack/zstd_internal.h"

static_assert(UNPACKER_SPARE_BYTES == COMPRESS_SPARE_BYTES, "codecs leave the space that the header promises");

/* lz4 looks at one byte more than it may use, to see whether there is more. */
#define OVERHEAD_BYTES (COMPRESS_SPARE_BYTES + 1)

/* Each codec's state is made when it is first needed. */
struct unpacker {
    struct libdeflate_decompressor *gzip;
    struct ZSTD_DCtx_s *zstd;
    struct LZ4F_dctx_s *lz4;
    struct buffer contents[2]; /* one may hold the input of the other (U1) */
};

int unpacker_new(struct unpacker **ret_unpacker, struct error *err)
{
    struct unpacker *unpacker = MEMORY_NEW(struct unpacker, err);

    if (!unpacker)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(unpacker->contents); i++)
        buffer_init(&unpacker->contents[i], 0);
    *ret_unpacker = unpacker;
    return 0;
}

void unpacker_free(struct unpacker *unpacker)
{
    if (!unpacker)
        return;
    gzip_unpack_done(&unpacker->gzip);
    zstd_unpack_done(&unpacker->zstd);
    lz4_unpack_done(&unpacker->lz4);
    for (size_t i = 0; i < ARRAY_LEN(unpacker->contents); i++)
        buffer_done(&unpacker->contents[i]);
    memory_free(unpacker);
}

static int unpack_to(struct unpacker *unpacker, enum pack_kind kind, struct slice in, size_t max_bytes,
                     struct buffer *out, struct error *err)
{
    switch (kind) {
    case PACK_GZIP:
    case PACK_ZLIB: return gzip_unpack(&unpacker->gzip, kind, in, max_bytes, out, err);
    case PACK_ZSTD: return zstd_unpack(&unpacker->zstd, in, max_bytes, out, err);
    case PACK_LZ4: return lz4_unpack(&unpacker->lz4, in, max_bytes, out, err);
    case PACK_NONE: break;
    }
    ASSERT(!"nothing to unpack");
    return -1;
}

static bool holds(const struct buffer *buffer, const char *ptr)
{
    return (uintptr_t)ptr - (uintptr_t)buffer->data < buffer->capacity;
}

static int pass_plain(struct slice in, size_t max_bytes, struct slice *ret_content, struct error *err)
{
    if (in.len > max_bytes)
        return error_set(err, ERR_LIMIT, "%zu bytes are more than the limit of %s", in.len,
                         units_human_bytes((int64_t)max_bytes).text);
    *ret_content = in;
    return 0;
}

int unpacker_unpack(struct unpacker *unpacker, enum pack_kind kind, struct slice in, size_t max_bytes,
                    struct slice *ret_content, struct error *err)
{
    struct buffer *out = &unpacker->contents[holds(&unpacker->contents[0], in.ptr)];

    if (kind == PACK_NONE)
        return pass_plain(in, max_bytes, ret_content, err);
    max_bytes = MIN(max_bytes, SIZE_MAX / 2);
    buffer_clear(out);
    out->max_bytes = max_bytes + OVERHEAD_BYTES;
    if (!compress_reserve(out, 0, err) || unpack_to(unpacker, kind, in, max_bytes, out, err) < 0)
        return -1;
    memset(out->data + out->len, 0, COMPRESS_SPARE_BYTES);
    *ret_content = buffer_slice(out);
    return 0;
}

int unpacker_unwrap(struct unpacker *unpacker, struct slice in, size_t max_bytes, unsigned max_layers,
                    struct slice *ret_content, struct error *err)
{
    enum pack_kind kind;

    for (unsigned layers = 0; (kind = compress_sniff(in)) != PACK_NONE; layers++) {
        if (layers == max_layers)
            return error_set(err, ERR_LIMIT, "%s within %u layers of compression, at most %u layers are allowed",
                             compress_kind_name(kind), layers, max_layers);
        if (unpacker_unpack(unpacker, kind, in, max_bytes, &in, err) < 0)
            return layers == 0 ? -1 : error_wrap(err, "layer %u of compression", layers + 1);
    }
    return pass_plain(in, max_bytes, ret_content, err);
}

void unpacker_trim(struct unpacker *unpacker, size_t keep_bytes)
{
    lz4_unpack_done(&unpacker->lz4);
    for (size_t i = 0; i < ARRAY_LEN(unpacker->contents); i++)
        if (unpacker->contents[i].capacity > keep_bytes)
            buffer_done(&unpacker->contents[i]);
}

size_t unpacker_bytes(const struct unpacker *unpacker)
{
    return unpacker->contents[0].capacity + unpacker->contents[1].capacity;
}
