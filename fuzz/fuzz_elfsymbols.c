// SPDX-License-Identifier: Apache-2.0
/* ELF files: whatever is read answers for any address. */
#include "unwind/elfsymbols.h"

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t addresses[] = { 0, 1, 0x401000, 0x401044, 0x401088, UINT32_MAX, UINT64_MAX };
    char name[ELFSYMBOLS_NAME_BYTES];
    struct elfsymbols *symbols;
    uint64_t address = 0;
    struct error err;

    if (elfsymbols_open_bytes(slice_of(data, size), &symbols, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_UNSUPPORTED || err.code == ERR_LIMIT);
        return 0;
    }
    ASSERT(elfsymbols_count(symbols) <= size);
    ASSERT(strlen(elfsymbols_build_id(symbols)) < ELFSYMBOLS_BUILD_ID_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
        if (elfsymbols_find(symbols, addresses[i], name))
            ASSERT(name[0] != '\0' && strlen(name) < sizeof(name));
    for (size_t offset = 0; offset < size; offset += 64)
        if (elfsymbols_address(symbols, offset, &address))
            IGNORE(elfsymbols_find(symbols, address, name), "any answer will do");
    elfsymbols_close(symbols);
    return 0;
}
