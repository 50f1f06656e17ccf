// SPDX-License-Identifier: Apache-2.0
#include "pack/compress_internal.h"
#include "pack/zlib_internal.h"

static void *alloc_array(void *unused, uInt n, uInt item_bytes)
{
    return compress_alloc(unused, (size_t)n * item_bytes); /* 32 bits times 32 bits fits */
}

void zlib_use_our_heap(z_stream *zlib)
{
    zlib->zalloc = alloc_array;
    zlib->zfree = compress_free;
}

int zlib_window_bits(enum pack_kind kind)
{
    return kind == PACK_GZIP ? MAX_WBITS + 16 : MAX_WBITS;
}
