// SPDX-License-Identifier: Apache-2.0
/* Heads of HTTP answers: what is whole lies within the bytes, and is the same with any bytes behind it. */
#include "demo/httpreply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of(data, size);
    struct httpreply reply, again;
    bool is_whole;
    struct error err;

    if (httpreply_parse(bytes, &is_whole, &reply, &err) < 0) {
        ASSERT((err.code == ERR_CORRUPT || err.code == ERR_LIMIT) && err.text[0]);
        return 0;
    }
    if (!is_whole)
        return 0;
    ASSERT(reply.head_bytes <= size && reply.status >= 100 && reply.status <= 599);
    ASSERT(reply.body_bytes <= HTTPREPLY_MAX_BODY);
    ASSERT(httpreply_parse(slice_sub(bytes, 0, reply.head_bytes), &is_whole, &again, &err) == 0 && is_whole);
    ASSERT(again.status == reply.status && again.body_bytes == reply.body_bytes &&
           again.keeps_alive == reply.keeps_alive);
    return 0;
}
