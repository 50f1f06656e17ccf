// SPDX-License-Identifier: Apache-2.0
/* The old profile formats: whatever is read is sound, and written as pprof and read again it is the same. */
#include "wire/format.h"
#include "wire/gperftools.h"
#include "wire/pprof.h"
#include "wire/same_batch_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read_again(const struct batch *batch)
{
    static const struct format_write_options plain = { .plain = true };
    AUTO(buffer_done) struct buffer written = { 0 };
    AUTO(batch_done) struct batch again;
    struct error err;

    buffer_init(&written, 0);
    batch_init(&again, &batch->limits);
    ASSERT(pprof_encode(batch, &plain, &written, &err) == 0);
    ASSERT(pprof_decode(buffer_slice(&written), &again, &err) == 0);
    ASSERT(batch_check(&again, &err) == 0);
    ASSERT(report_total(&again.report) == 0);
    ASSERT(same_batch(batch, &again) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile_limits limits = profile_default_limits;
    AUTO(batch_done) struct batch batch;
    struct slice bytes = slice_of(data, size);
    struct error err;
    bool is_known = gperftools_recognise(bytes) > 0;

    limits.max_memory_bytes = 64 << 20;
    limits.max_depth = 40;
    batch_init(&batch, &limits);
    if (gperftools_decode(bytes, &batch, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(is_known);
    ASSERT(batch_check(&batch, &err) == 0);
    write_and_read_again(&batch);
    return 0;
}
