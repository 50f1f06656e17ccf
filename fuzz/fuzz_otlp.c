// SPDX-License-Identifier: Apache-2.0
/* OTLP in protobuf. The first time it is written, lists and maps may lose kinds that JSON does not have. */
#include "fuzz/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip("otlp", slice_of(data, size));
    return 0;
}
