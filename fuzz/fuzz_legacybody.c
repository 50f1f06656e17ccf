// SPDX-License-Identifier: Apache-2.0
/* Bodies of /ingest that are no pprof; the first byte chooses the form. The batch is sound. */
#include "intake/legacybody.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct legacybody_shape shape = { { "cpu", 3 }, { "nanoseconds", 11 }, { "cpu", 3 }, 10, 10 };
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err;

    if (size == 0)
        return 0;
    limits.max_memory_bytes = 64 << 20;
    batch_init(&batch, &limits);
    if (legacybody_decode((enum legacybody_form)(data[0] & 3), slice_of(data + 1, size - 1), &shape, &batch, &err) == 0)
        ASSERT(batch_check(&batch, &err) == 0);
    else
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    batch_done(&batch);
    return 0;
}
