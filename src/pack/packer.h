// SPDX-License-Identifier: Apache-2.0
/* Compressing whole bodies: one packer per worker, used again and again.
 *
 * The bytes depend on content, kind and level alone (and the library's version): no time stamp, no trace of the
 * machine. zstd and lz4 frames carry content size and checksum. */
#pragma once

#include "pack/compress.h"

#define PACK_LEVEL_DEFAULT 0 /* 6 for gzip and zlib, 3 for zstd, 1 for lz4 */

struct packer;

/* Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int packer_new(struct packer **ret_packer, struct error *err);
void packer_free(struct packer *packer);

/* Appends `in`, compressed, to `out`; PACK_NONE copies. Levels are 1 to 12 for gzip, zlib and lz4, 1 to 19 for zstd.
 * `out` must have room for the worst case, a little more than `in`. On failure its content is as before.
 * Errors: ERR_INVALID (level), ERR_MEMORY, ERR_LIMIT (the limit of `out`). */
MUST_CHECK int packer_pack(struct packer *packer, enum pack_kind kind, int level, struct slice in, struct buffer *out,
                           struct error *err);

/* Cleans up a pointer declared with AUTO(packer_freep). */
static inline void packer_freep(struct packer **packer)
{
    packer_free(*packer);
}
