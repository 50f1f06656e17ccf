// SPDX-License-Identifier: Apache-2.0
/* zstd frames: any input gives an error or content within the limit, the same each time. */
#include "pack/checksum.h"
#include "pack/unpacker.h"

#define MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct unpacker *unpacker;
    struct slice in = slice_of(data, size);
    struct slice content;
    struct error err;
    uint64_t first;
    size_t first_len;

    if (!unpacker && unpacker_new(&unpacker, &err) < 0)
        return 0;
    if (unpacker_unpack(unpacker, PACK_ZSTD, in, MAX_BYTES, &content, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT || err.code == ERR_UNSUPPORTED);
        return 0;
    }
    ASSERT(content.len <= MAX_BYTES);
    ASSERT(unpacker_bytes(unpacker) <= 2 * (MAX_BYTES + 64));
    for (size_t i = 0; i < UNPACKER_SPARE_BYTES; i++)
        ASSERT(content.ptr[content.len + i] == '\0');
    first = checksum_xxh3(content);
    first_len = content.len;
    ASSERT(unpacker_unpack(unpacker, PACK_ZSTD, in, first_len, &content, &err) == 0);
    ASSERT(content.len == first_len && checksum_xxh3(content) == first);
    return 0;
}
