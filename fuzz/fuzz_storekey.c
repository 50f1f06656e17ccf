// SPDX-License-Identifier: Apache-2.0
/* Keys of the store: whatever a parser takes is built again from its fields, byte for byte. */
#include "block/storekey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NAME_BYTES 64

static void check_same(struct storekey key, struct slice input)
{
    ASSERT(slice_equal(storekey_slice(&key), input));
}

static void check_index(struct slice input)
{
    uint32_t tenant, other;
    uint8_t kind;

    if (storekey_parse_tenant(input, &tenant))
        check_same(storekey_tenant(tenant), input);
    if (storekey_parse_series(input, &tenant, &other))
        check_same(storekey_series(tenant, other), input);
    if (storekey_parse_chunk(input, &tenant, &kind, &other))
        check_same(storekey_chunk(tenant, kind, other), input);
    if (storekey_parse_tombstone(input, &tenant, &other))
        check_same(storekey_tombstone(tenant, other), input);
}

static void check_rows_and_blocks(struct slice input)
{
    struct storekey_block block;
    uint32_t tenant, group, series, sequence, number;
    int64_t start_ns;
    uint8_t hour;

    if (storekey_parse_row(input, &tenant, &group, &series, &start_ns, &sequence))
        check_same(storekey_row(tenant, group, series, start_ns, sequence), input);
    if (storekey_parse_marker(input, &hour, &number))
        check_same(storekey_marker(hour, number), input);
    if (storekey_parse_block(input, &block))
        check_same(storekey_block(block), input);
}

static void check_head_name(struct slice input)
{
    char text[MAX_NAME_BYTES + 1] = "";
    char name[STOREKEY_HEAD_NAME_BYTES];
    uint32_t number;
    uint8_t hour;

    if (input.len > 0)
        memcpy(text, input.ptr, MIN(input.len, MAX_NAME_BYTES));
    if (storekey_parse_head_name(text, &hour, &number))
        ASSERT(slice_is(slice_from(text), storekey_head_name(hour, number, name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of(data, size);

    check_index(input);
    check_rows_and_blocks(input);
    check_head_name(input);
    return 0;
}
