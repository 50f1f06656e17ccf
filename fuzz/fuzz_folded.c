// SPDX-License-Identifier: Apache-2.0
/* Folded text: whatever is read is sound, and what we write of it is read again. */
#include "wire/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct format_write_options plain = { .plain = true, .type = PROFILE_NO_TYPE };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile_limits limits = profile_default_limits;
    AUTO(batch_done) struct batch batch, again;
    AUTO(buffer_done) struct buffer out;
    struct slice bytes = slice_of(data, size);
    struct error err;
    int likeliness = folded_recognise(bytes);

    ASSERT(likeliness >= 0 && likeliness <= 100);
    limits.max_memory_bytes = 64 << 20;
    limits.max_depth = 40;
    batch_init(&batch, &limits);
    batch_init(&again, &limits);
    buffer_init(&out, 0);
    if (folded_decode(bytes, &batch, &err) < 0) {
        ASSERT(err.code == ERR_INVALID || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(batch_check(&batch, &err) == 0);
    ASSERT(folded_encode(&batch, &plain, &out, &err) == 0);
    if (folded_decode(buffer_slice(&out), &again, &err) < 0) {
        ASSERT(err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(batch_check(&again, &err) == 0);
    ASSERT(report_count(&again.report, "line of folded text without a count at its end; dropped") == 0);
    return 0;
}
