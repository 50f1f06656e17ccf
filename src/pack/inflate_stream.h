// SPDX-License-Identifier: Apache-2.0
/* Inflating gzip or zlib data that arrives in pieces (zlib). Accepts what unpacker.h accepts: several gzip members in a
 * row, and zero bytes as padding behind the last one. It alone checks the checksum that a gzip header may have. */
#pragma once

#include "pack/compress.h"

struct inflate_stream;

/* A stream of `kind` PACK_GZIP or PACK_ZLIB that hands at most `max_bytes` of content to `sink`, which must outlive it.
 * Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int inflate_stream_new(enum pack_kind kind, size_t max_bytes, struct compress_sink sink,
                                  struct inflate_stream **ret_stream, struct error *err);
void inflate_stream_free(struct inflate_stream *stream);

/* Takes the next piece of compressed bytes, of any size, and hands on what can be inflated by now. A piece may be
 * empty. Errors: ERR_CORRUPT with the offset, ERR_UNSUPPORTED (a preset dictionary), ERR_LIMIT, ERR_MEMORY, or the
 * sink's own; after one, every later call gives the same error. */
MUST_CHECK int inflate_stream_write(struct inflate_stream *stream, struct slice piece, struct error *err);

/* Says that no more will come. Errors: ERR_CORRUPT if the data is incomplete, or the error of an earlier call. */
MUST_CHECK int inflate_stream_finish(struct inflate_stream *stream, struct error *err);

/* Cleans up a pointer declared with AUTO(inflate_stream_freep). */
static inline void inflate_stream_freep(struct inflate_stream **stream)
{
    inflate_stream_free(*stream);
}
