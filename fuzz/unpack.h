// SPDX-License-Identifier: Apache-2.0
/* What every kind of compression must keep: any input gives an error or content within the limit, the same each time,
 * with readable zeros behind it. */
#pragma once

#include "pack/checksum.h"
#include "pack/unpacker.h"

#define UNPACK_MAX_BYTES ((size_t)1 << 20)

static inline void unpack_twice(enum pack_kind kind, struct slice in)
{
    static struct unpacker *unpacker; /* one for all inputs, as a worker has it */
    struct slice content;
    struct error err;
    uint64_t first;
    size_t first_len;

    if (!unpacker && unpacker_new(&unpacker, &err) < 0)
        return;
    if (unpacker_unpack(unpacker, kind, in, UNPACK_MAX_BYTES, &content, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT || err.code == ERR_UNSUPPORTED);
        return;
    }
    ASSERT(content.len <= UNPACK_MAX_BYTES);
    ASSERT(unpacker_bytes(unpacker) <= 2 * (UNPACK_MAX_BYTES + 64));
    for (size_t i = 0; i < UNPACKER_SPARE_BYTES; i++)
        ASSERT(content.ptr[content.len + i] == '\0');
    first = checksum_xxh3(content);
    first_len = content.len;
    ASSERT(unpacker_unpack(unpacker, kind, in, first_len, &content, &err) == 0);
    ASSERT(content.len == first_len && checksum_xxh3(content) == first);
}
