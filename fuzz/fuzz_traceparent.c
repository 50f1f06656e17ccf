// SPDX-License-Identifier: Apache-2.0
/* Headers of W3C Trace Context: what is taken has good ids, and is written again as it was, but for what later versions add. */
#include "demo/traceparent.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of(data, size);
    struct traceparent parent, again;
    char written[TRACEPARENT_BYTES];
    struct error err;

    if (traceparent_parse(text, &parent, &err) < 0) {
        ASSERT(err.code == ERR_INVALID && err.text[0]);
        return 0;
    }
    traceparent_format(&parent, written);
    ASSERT(strlen(written) == TRACEPARENT_BYTES - 1 && memcmp(written + 2, data + 2, TRACEPARENT_BYTES - 3) == 0);
    ASSERT(traceparent_parse(slice_from(written), &again, &err) == 0 && memcmp(&again, &parent, sizeof(parent)) == 0);
    return 0;
}
