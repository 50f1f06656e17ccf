// SPDX-License-Identifier: Apache-2.0
/* pprof: whatever is read is sound; written and read again it is the same without a warning; and written once more it
 * is the same bytes. */
#include "wire/format.h"
#include "wire/pprof.h"
#include "wire/same_batch_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct format_write_options plain = { .plain = true };

static void write_and_read_again(const struct batch *batch)
{
    AUTO(buffer_done) struct buffer first = { 0 };
    AUTO(buffer_done) struct buffer second = { 0 };
    AUTO(batch_done) struct batch again;
    struct error err;

    buffer_init(&first, 0);
    buffer_init(&second, 0);
    batch_init(&again, &batch->limits);
    ASSERT(pprof_encode(batch, &plain, &first, &err) == 0);
    if (first.len == 0) /* a profile without anything */
        return;
    ASSERT(pprof_decode(buffer_slice(&first), &again, &err) == 0);
    ASSERT(batch_check(&again, &err) == 0);
    ASSERT(report_total(&again.report) == 0);
    ASSERT(same_batch(batch, &again) == NULL);
    ASSERT(pprof_encode(&again, &plain, &second, &err) == 0);
    ASSERT(slice_equal(buffer_slice(&first), buffer_slice(&second)));
    ASSERT(pprof_recognise(buffer_slice(&first)) == 95);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile_limits limits = profile_default_limits;
    AUTO(batch_done) struct batch batch;
    struct slice bytes = slice_of(data, size);
    struct error err;
    int likeliness = pprof_recognise(bytes);

    ASSERT(likeliness >= 0 && likeliness <= 100);
    limits.max_memory_bytes = 64 << 20;
    limits.max_depth = 40;
    limits.max_labels_per_sample = 10;
    batch_init(&batch, &limits);
    if (pprof_decode(bytes, &batch, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(batch_check(&batch, &err) == 0);
    write_and_read_again(&batch);
    return 0;
}
