// SPDX-License-Identifier: Apache-2.0
/* zstd, whole buffers. */
#pragma once

#include "pack/compress.h"

#define ZSTD_LEVEL_MIN     1
#define ZSTD_LEVEL_MAX     19
#define ZSTD_LEVEL_DEFAULT 3

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Inflates the frames of `in`, skippable ones too, to the empty `out`. The context is made when `*state` is NULL and
 * belongs to the caller. On failure `out` holds rubbish. Errors: ERR_CORRUPT, ERR_UNSUPPORTED (a dictionary), ERR_LIMIT
 * (content, window), ERR_MEMORY. */
MUST_CHECK int zstd_unpack(struct ZSTD_DCtx_s **state, struct slice in, size_t max_bytes, struct buffer *out,
                           struct error *err);
void zstd_unpack_done(struct ZSTD_DCtx_s **state);

/* Appends `in` as one frame with content size and checksum to `out`, which is unchanged on failure. Errors: ERR_INVALID
 * (level), ERR_MEMORY, or what `out` says. */
MUST_CHECK int zstd_pack(struct ZSTD_CCtx_s **state, int level, struct slice in, struct buffer *out, struct error *err);
void zstd_pack_done(struct ZSTD_CCtx_s **state);
