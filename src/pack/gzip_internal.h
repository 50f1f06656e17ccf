// SPDX-License-Identifier: Apache-2.0
/* gzip and zlib, whole buffers (libdeflate). */
#pragma once

#include "pack/compress.h"

#define GZIP_LEVEL_MIN     1
#define GZIP_LEVEL_MAX     12
#define GZIP_LEVEL_DEFAULT 6

struct libdeflate_compressor;
struct libdeflate_decompressor;

/* Inflates `in` (`kind` PACK_GZIP or PACK_ZLIB) to the empty `out`. The decompressor is made when `*state` is NULL and
 * belongs to the caller. On failure `out` holds rubbish.
 * Errors: ERR_CORRUPT, ERR_UNSUPPORTED (a preset dictionary), ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int gzip_unpack(struct libdeflate_decompressor **state, enum pack_kind kind, struct slice in,
                           size_t max_bytes, struct buffer *out, struct error *err);
void gzip_unpack_done(struct libdeflate_decompressor **state);

/* A compressor and the level it was made for. */
struct gzip_packer {
    struct libdeflate_compressor *compressor;
    int level;
};

/* Appends `in`, deflated, to `out`, which is unchanged on failure. Errors: ERR_INVALID (level), ERR_MEMORY, or what
 * `out` says. */
MUST_CHECK int gzip_pack(struct gzip_packer *packer, enum pack_kind kind, int level, struct slice in,
                         struct buffer *out, struct error *err);
void gzip_pack_done(struct gzip_packer *packer);
