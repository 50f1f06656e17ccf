// SPDX-License-Identifier: Apache-2.0
/* Encoded columns: any input gives an error or values; encoded again, in every coding, they come back the same. */
#include "pack/column.h"

#define MAX_VALUES 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const uint64_t *values, size_t n, enum column_coding coding, struct arena *arena)
{
    AUTO(buffer_done) struct buffer out;
    struct slice rest;
    struct error err;
    uint64_t *back;
    size_t back_n;

    buffer_init(&out, 0);
    column_encode_u64(values, n, coding, &out);
    rest = buffer_slice(&out);
    ASSERT(column_decode_u64(&rest, n, arena, &back, &back_n, &err) == 0);
    ASSERT(rest.len == 0 && back_n == n);
    ASSERT(n == 0 || memcmp(back, values, n * sizeof(*values)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    struct slice wide = slice_of(data, size);
    struct slice narrow = wide;
    struct error err, narrow_err;
    uint64_t *values;
    uint32_t *narrow_values;
    size_t n, narrow_n;
    int result, narrow_result;

    arena_init(&arena, 0);
    result = column_decode_u64(&wide, MAX_VALUES, &arena, &values, &n, &err);
    narrow_result = column_decode_u32(&narrow, MAX_VALUES, &arena, &narrow_values, &narrow_n, &narrow_err);
    ASSERT(result == 0 || err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    ASSERT(result == 0 || narrow_result < 0);
    if (narrow_result == 0) {
        ASSERT(n == narrow_n && wide.len == narrow.len);
        for (size_t i = 0; i < n; i++)
            ASSERT(values[i] == narrow_values[i]);
    }
    for (unsigned coding = COLUMN_PLAIN; result == 0 && coding <= COLUMN_DELTA_OF_DELTA; coding++)
        check_again(values, n, coding, &arena);
    return 0;
}
