// SPDX-License-Identifier: Apache-2.0
/* lz4 frames. */
#include "fuzz/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unpack_twice(PACK_LZ4, slice_of(data, size));
    return 0;
}
