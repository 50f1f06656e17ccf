// SPDX-License-Identifier: Apache-2.0
/* Deflating to gzip or zlib in pieces (zlib), for what is too large to hold or must be sent while it is made.
 *
 * The bytes depend on content and level alone: no time stamp, no trace of the machine, no matter how the content was
 * cut into writes. */
#pragma once

#include "pack/compress.h"

struct deflate_stream;

#define DEFLATE_STREAM_LEVEL_MIN     1
#define DEFLATE_STREAM_LEVEL_MAX     9
#define DEFLATE_STREAM_LEVEL_DEFAULT 6

/* A stream of `kind` PACK_GZIP or PACK_ZLIB into `sink`, which must outlive it. Errors: ERR_INVALID (level),
 * ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int deflate_stream_new(enum pack_kind kind, int level, struct compress_sink sink,
                                  struct deflate_stream **ret_stream, struct error *err);
void deflate_stream_free(struct deflate_stream *stream);

/* Takes the next piece of content, of any size. Errors: the sink's; after one, every later call gives it again. */
MUST_CHECK int deflate_stream_write(struct deflate_stream *stream, struct slice piece, struct error *err);

/* Sends everything taken so far to the sink, so that a reader can inflate it now. Costs some compression. */
MUST_CHECK int deflate_stream_flush(struct deflate_stream *stream, struct error *err);

/* Sends the rest and the trailer. Nothing may be written after that. */
MUST_CHECK int deflate_stream_finish(struct deflate_stream *stream, struct error *err);

/* Cleans up a pointer declared with AUTO(deflate_stream_freep). */
static inline void deflate_stream_freep(struct deflate_stream **stream)
{
    deflate_stream_free(*stream);
}
