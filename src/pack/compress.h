// SPDX-License-Identifier: Apache-2.0
/* The kinds of compression we speak, how to tell them apart, and where streams put their output.
 *
 * Whole bodies go through unpacker.h and packer.h, streams through inflate_stream.h and deflate_stream.h. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

enum pack_kind { PACK_NONE, PACK_GZIP, PACK_ZLIB, PACK_ZSTD, PACK_LZ4 };
#define PACK_KIND_COUNT (PACK_LZ4 + 1)

/* "none", "gzip", "zlib", "zstd" or "lz4". */
const char *compress_kind_name(enum pack_kind kind);

/* The kind that the first bytes announce, or PACK_NONE. Looks past skippable frames, which zstd and lz4 share.
 * PACK_ZLIB is never the answer: its two bytes are too weak a sign, so somebody must have named it. */
enum pack_kind compress_sniff(struct slice in);

/* Where a stream puts its output. `write` is called with one or more bytes at a time, which stay valid during the call
 * only; a failure ends the stream with that error. */
struct compress_sink {
    int (*write)(void *context, struct slice bytes, struct error *err);
    void *context;
};

/* A sink that appends to `out`, and fails when `out` does. */
struct compress_sink compress_sink_to_buffer(struct buffer *out);
