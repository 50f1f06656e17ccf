// SPDX-License-Identifier: Apache-2.0
/* How the values of closed hours are written: a byte with the version, some numbers as varints, and then columns,
 * compressed: cut into pieces of PIECES_BYTES, each one zstd frame (level 1; any level may be read).
 *
 * The numbers are not compressed, so that a reader knows how much there can be before it inflates anything. Columns are
 * sorted so that what is alike lies together, and their statistics change slowly along the way. Small frames follow the
 * change: each has codes of its own. On the samples of an hour they are 3 % smaller than one large frame. */
#pragma once

#include "base/buffer.h"
#include "pack/packer.h"
#include "pack/unpacker.h"
#include "pack/varint.h"

#define PIECES_BYTES 32768u

/* Cuts the version off the front of `rest`. Errors: ERR_VERSION if it is another, ERR_CORRUPT if there is none. */
MUST_CHECK int pieces_next_version(struct slice *rest, uint8_t version, struct error *err);
/* Cuts a number off the front of `rest`; `what` is its name. Errors: ERR_CORRUPT if it is no number, or over `max`. */
MUST_CHECK int pieces_next_number(struct slice *rest, const char *what, uint64_t max, uint64_t *ret_number,
                                  struct error *err);

/* The most bytes that a column (column.h) of `n` values of `item_bytes` takes. */
static inline size_t pieces_column_max_bytes(size_t n, size_t item_bytes)
{
    return 1 + 3 * VARINT_MAX_BYTES + n * item_bytes;
}

/* Appends `content`, compressed. On failure `out` is as before. Errors: ERR_MEMORY, ERR_LIMIT (of `out`). */
MUST_CHECK int pieces_pack(struct slice content, struct packer *packer, struct buffer *out, struct error *err);

/* Inflates all of `bytes`; the content is the unpacker's (unpacker.h, U1). Errors: ERR_CORRUPT (also for more than
 * `max_bytes`, which the header in front of it allows), ERR_MEMORY. */
MUST_CHECK int pieces_unpack(struct slice bytes, size_t max_bytes, struct unpacker *unpacker, struct slice *ret_content,
                             struct error *err);
