// SPDX-License-Identifier: Apache-2.0
/* zstd frames. */
#include "fuzz/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unpack_twice(PACK_ZSTD, slice_of(data, size));
    return 0;
}
