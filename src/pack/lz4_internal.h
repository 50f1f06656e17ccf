// SPDX-License-Identifier: Apache-2.0
/* lz4 frames, whole buffers. */
#pragma once

#include "pack/compress.h"

#define LZ4_LEVEL_MIN     1
#define LZ4_LEVEL_MAX     12
#define LZ4_LEVEL_DEFAULT 1

struct LZ4F_cctx_s;
struct LZ4F_dctx_s;

/* Inflates the frames of `in`, skippable ones too, to the empty `out`. The context is made when `*state` is NULL and
 * belongs to the caller. On failure `out` holds rubbish. Errors: ERR_CORRUPT, ERR_UNSUPPORTED (a dictionary),
 * ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int lz4_unpack(struct LZ4F_dctx_s **state, struct slice in, size_t max_bytes, struct buffer *out,
                          struct error *err);
void lz4_unpack_done(struct LZ4F_dctx_s **state);

/* Appends `in` as one frame with content size and checksum to `out`, which is unchanged on failure. Errors: ERR_INVALID
 * (level), ERR_MEMORY, or what `out` says. */
MUST_CHECK int lz4_pack(struct LZ4F_cctx_s **state, int level, struct slice in, struct buffer *out, struct error *err);
void lz4_pack_done(struct LZ4F_cctx_s **state);
