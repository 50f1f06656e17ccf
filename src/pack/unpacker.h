// SPDX-License-Identifier: Apache-2.0
/* Inflating whole bodies: one unpacker per worker, used again and again.
 *
 * U1  The content belongs to the unpacker and is valid until its next call, which may take it, or a part of it, as
 *     input: a packed part within a packed body.
 * U2  Behind the content lie UNPACKER_SPARE_BYTES zero bytes that may be read, so decoders may look ahead.
 * U3  Once its buffers have grown, an unpacker allocates nothing more per body. They never grow past the limit given.
 * U4  Sizes that the input claims only guide allocation, after checks; the content decides. */
#pragma once

#include "pack/compress.h"

#define UNPACKER_SPARE_BYTES 16

struct unpacker;

/* Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int unpacker_new(struct unpacker **ret_unpacker, struct error *err);
void unpacker_free(struct unpacker *unpacker);

/* Inflates all of `in`: every gzip member, every zstd or lz4 frame. With PACK_NONE the content is `in` itself, with no
 * promise about what lies behind it. `max_bytes` limits the content; there is no value for "no limit".
 * Errors: ERR_CORRUPT (damaged, cut off, followed by something else), ERR_UNSUPPORTED (needs a dictionary), ERR_LIMIT,
 * ERR_MEMORY. */
MUST_CHECK int unpacker_unpack(struct unpacker *unpacker, enum pack_kind kind, struct slice in, size_t max_bytes,
                               struct slice *ret_content, struct error *err);

/* Inflates `in` as long as it begins like something compressed, at most `max_layers` times; `max_bytes` holds for each.
 * Plain input is the content itself, as with PACK_NONE. Errors: as unpacker_unpack; ERR_LIMIT also for more layers. */
MUST_CHECK int unpacker_unwrap(struct unpacker *unpacker, struct slice in, size_t max_bytes, unsigned max_layers,
                               struct slice *ret_content, struct error *err);
#define UNPACKER_MAX_LAYERS 2 /* what every reader of foreign files should use */

/* Gives memory back: buffers larger than `keep_bytes`, and what lz4 holds. Ends the validity of earlier contents. */
void unpacker_trim(struct unpacker *unpacker, size_t keep_bytes);
/* The memory of the buffers, in bytes. */
size_t unpacker_bytes(const struct unpacker *unpacker);

/* Cleans up a pointer declared with AUTO(unpacker_freep). */
static inline void unpacker_freep(struct unpacker **unpacker)
{
    unpacker_free(*unpacker);
}
