// SPDX-License-Identifier: Apache-2.0
/* What both directions of the zlib streams share. */
#pragma once

#include "pack/compress.h"

#include <zlib.h>

/* Makes `zlib` take its memory from memory_alloc. To be called before inflateInit2 or deflateInit2. */
void zlib_use_our_heap(z_stream *zlib);
/* zlib's way of naming the largest window and the wrapper of `kind`. */
int zlib_window_bits(enum pack_kind kind);
