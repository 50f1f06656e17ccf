// SPDX-License-Identifier: Apache-2.0
/* Varints: the inline reader, the bulk reader and a plain one agree; what was read can be written and read again. */
#include "base/memory.h"
#include "pack/varint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By the letter of the format, with room for the bits that do not fit. */
static bool read_plainly(struct slice *rest, uint64_t *ret_value)
{
    __uint128_t value = 0;

    for (size_t i = 0; i < rest->len && i < VARINT_MAX_BYTES; i++) {
        value |= (__uint128_t)((uint8_t)rest->ptr[i] & 0x7f) << (7 * i);
        if ((uint8_t)rest->ptr[i] < 0x80) {
            *ret_value = (uint64_t)value;
            *rest = slice_sub(*rest, i + 1, SIZE_MAX);
            return value <= UINT64_MAX;
        }
    }
    return false;
}

static void check_writing(const uint64_t *values, size_t n)
{
    AUTO(buffer_done) struct buffer out;
    struct slice rest;
    uint64_t value;

    buffer_init(&out, 0);
    varint_encode_u64(values, n, &out);
    rest = buffer_slice(&out);
    for (size_t i = 0; i < n; i++) {
        size_t before = rest.len;

        ASSERT(varint_next(&rest, &value) && value == values[i]);
        ASSERT(before - rest.len == varint_size(value));
    }
    ASSERT(rest.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(memory_freep) uint64_t *values = NULL;
    AUTO(memory_freep) uint64_t *bulk = NULL;
    struct slice rest = slice_of(data, size);
    struct slice plain = rest;
    struct error err;
    size_t n = 0;
    uint64_t value;

    values = memory_alloc((size + 1) * sizeof(*values), &err);
    bulk = memory_alloc((size + 1) * sizeof(*bulk), &err);
    if (!values || !bulk)
        return 0;
    while (varint_next(&rest, &values[n])) {
        ASSERT(read_plainly(&plain, &value) && value == values[n] && plain.len == rest.len);
        n++;
    }
    ASSERT(!read_plainly(&plain, &value));
    check_writing(values, n);
    rest = slice_of(data, size);
    ASSERT(varint_decode_u64(&rest, bulk, n, &err) == 0);
    ASSERT(n == 0 || memcmp(values, bulk, n * sizeof(*values)) == 0);
    rest = slice_of(data, size);
    ASSERT(varint_decode_u64(&rest, bulk, n + 1, &err) < 0 && err.code == ERR_CORRUPT);
    return 0;
}
