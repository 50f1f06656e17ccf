// SPDX-License-Identifier: Apache-2.0
/* Uploads as the spill file holds them: what is read is written again as bytes that read as the same. */
#include "intake/upload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct upload upload, again;
    struct buffer out, twice;
    struct error err;

    if (upload_decode(slice_of(data, size), &upload, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION);
        return 0;
    }
    buffer_init(&out, 0);
    buffer_init(&twice, 0);
    upload_encode(&upload, &out);
    ASSERT(upload_decode(buffer_slice(&out), &again, &err) == 0);
    upload_encode(&again, &twice);
    ASSERT(slice_equal(buffer_slice(&out), buffer_slice(&twice)));
    ASSERT(slice_equal(upload.body, again.body) && upload.received_ns == again.received_ns);
    buffer_done(&out);
    buffer_done(&twice);
    return 0;
}
