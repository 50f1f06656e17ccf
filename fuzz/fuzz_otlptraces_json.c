// SPDX-License-Identifier: Apache-2.0
/* Requests of traces in JSON. */
#include "fuzz/otlptraces_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    otlptraces_round(slice_of(data, size), true);
    return 0;
}
