// SPDX-License-Identifier: Apache-2.0
/* Snappy, blocks and frames: nothing past the limit is made, and what is made is the same under a tighter one. */
#include "pack/snappy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct buffer out, again;
    struct error err;

    buffer_init(&out, 0);
    buffer_init(&again, 0);
    if (snappy_unpack(in, MAX_BYTES, &out, &err) == 0) {
        ASSERT(out.len <= MAX_BYTES);
        ASSERT(snappy_unpack(in, out.len, &again, &err) == 0);
        ASSERT(slice_equal(buffer_slice(&out), buffer_slice(&again)));
        ASSERT(out.len == 0 || snappy_unpack(in, out.len - 1, &again, &err) < 0);
    } else {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        ASSERT(out.len == 0);
    }
    buffer_done(&out);
    buffer_done(&again);
    return 0;
}
