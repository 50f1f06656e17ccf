// SPDX-License-Identifier: Apache-2.0
#include "pack/packer.h"

#include "base/memory.h"
#include "pack/gzip_internal.h"
#include "pack/lz4_internal.h"
#include "pack/zstd_internal.h"

/* Each codec's state is made when it is first needed. */
struct packer {
    struct gzip_packer gzip;
    struct ZSTD_CCtx_s *zstd;
    struct LZ4F_cctx_s *lz4;
};

int packer_new(struct packer **ret_packer, struct error *err)
{
    struct packer *packer = MEMORY_NEW(struct packer, err);

    if (!packer)
        return -1;
    *ret_packer = packer;
    return 0;
}

void packer_free(struct packer *packer)
{
    if (!packer)
        return;
    gzip_pack_done(&packer->gzip);
    zstd_pack_done(&packer->zstd);
    lz4_pack_done(&packer->lz4);
    memory_free(packer);
}

static int default_level(enum pack_kind kind)
{
    switch (kind) {
    case PACK_NONE: return PACK_LEVEL_DEFAULT;
    case PACK_GZIP:
    case PACK_ZLIB: return GZIP_LEVEL_DEFAULT;
    case PACK_ZSTD: return ZSTD_LEVEL_DEFAULT;
    case PACK_LZ4: return LZ4_LEVEL_DEFAULT;
    }
    ASSERT(!"a kind of compression that does not exist");
    return 0;
}

int packer_pack(struct packer *packer, enum pack_kind kind, int level, struct slice in, struct buffer *out,
                struct error *err)
{
    if (level == PACK_LEVEL_DEFAULT)
        level = default_level(kind);
    switch (kind) {
    case PACK_NONE: buffer_append_slice(out, in); return buffer_check(out, err);
    case PACK_GZIP:
    case PACK_ZLIB: return gzip_pack(&packer->gzip, kind, level, in, out, err);
    case PACK_ZSTD: return zstd_pack(&packer->zstd, level, in, out, err);
    case PACK_LZ4: return lz4_pack(&packer->lz4, level, in, out, err);
    }
    ASSERT(!"a kind of compression that does not exist");
    return -1;
}
