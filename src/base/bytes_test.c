// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include "base/test.h"

TEST(bytes_are_read_in_the_order_the_name_says_at_any_address)
{
    static const unsigned char bytes[] = { 0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08 };

    CHECK_EQ(bytes_get_le16(bytes + 1), 0x0201);
    CHECK_EQ(bytes_get_le32(bytes + 1), 0x04030201);
    CHECK_EQ(bytes_get_le64(bytes + 1), 0x0807060504030201);
    CHECK_EQ(bytes_get_be16(bytes + 1), 0x0102);
    CHECK_EQ(bytes_get_be32(bytes + 1), 0x01020304);
    CHECK_EQ(bytes_get_be64(bytes + 1), 0x0102030405060708);
    CHECK_EQ(bytes_get_le16(bytes), 0x01ff);
}

TEST(bytes_are_written_in_the_order_the_name_says_and_no_further)
{
    char bytes[10];

    memset(bytes, 'x', sizeof(bytes));
    bytes_put_le32(bytes + 1, 0x04030201);
    CHECK_TEXT(slice_of(bytes, 6), SLICE("x\1\2\3\4x"));
    bytes_put_be32(bytes + 1, 0x04030201);
    CHECK_TEXT(slice_of(bytes, 6), SLICE("x\4\3\2\1x"));
    bytes_put_le64(bytes + 1, 0x0807060504030201);
    CHECK_TEXT(slice_of(bytes, 10), SLICE("x\1\2\3\4\5\6\7\10x"));
    bytes_put_be64(bytes + 1, 0x0807060504030201);
    CHECK_TEXT(slice_of(bytes, 10), SLICE("x\10\7\6\5\4\3\2\1x"));
}

TEST(base_counts_ones)
{
    CHECK_EQ(base_count_ones(0), 0);
    CHECK_EQ(base_count_ones(UINT64_MAX), 64);
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_EQ(base_count_ones((uint64_t)1 << i), 1);
        CHECK_EQ(base_count_ones(((uint64_t)1 << i) - 1), i);
    }
}
