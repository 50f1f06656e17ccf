// SPDX-License-Identifier: Apache-2.0
#include "pack/checksum.h"

#include "base/memory.h"
#include "base/test.h"
#include "pack/testdata_internal.h"

TEST(checksum_crc32c_gives_the_published_values)
{
    static const char zeros[32];
    char ones[32], rising[32];

    for (size_t i = 0; i < 32; i++) {
        ones[i] = '\xff';
        rising[i] = (char)i;
    }
    CHECK_EQ(checksum_crc32c(0, SLICE("")), 0);
    CHECK_EQ(checksum_crc32c(0, SLICE("123456789")), 0xe3069283);
    CHECK_EQ(checksum_crc32c(0, slice_of(zeros, 32)), 0x8a9136aa);
    CHECK_EQ(checksum_crc32c(0, slice_of(ones, 32)), 0x62a8ab43);
    CHECK_EQ(checksum_crc32c(0, slice_of(rising, 32)), 0x46dd794e);
}

TEST(checksum_crc32c_is_the_same_with_and_without_the_cpu)
{
    struct buffer bytes;

    buffer_init(&bytes, 0);
    testdata_append(&bytes, TESTDATA_RANDOM, 600);
    for (size_t start = 0; start < 9; start++) {
        for (size_t len = 0; len < 500; len++) {
            struct slice part = slice_sub(buffer_slice(&bytes), start, len);

            CHECK_EQ(checksum_crc32c(7, part), checksum_crc32c_portable(7, part));
        }
    }
    buffer_done(&bytes);
}

TEST(checksum_crc32c_can_be_taken_in_pieces)
{
    struct slice whole = SLICE("the stacks of a whole fleet");
    uint32_t wanted = checksum_crc32c(0, whole);

    for (size_t cut = 0; cut <= whole.len; cut++) {
        uint32_t crc = checksum_crc32c(0, slice_sub(whole, 0, cut));

        CHECK_EQ(checksum_crc32c(crc, slice_sub(whole, cut, whole.len)), wanted);
    }
}

TEST(checksum_xxh3_gives_the_published_values)
{
    CHECK_EQ(checksum_xxh3(SLICE("")), 0x2d06800538d394c2);
    CHECK_EQ(checksum_xxh3((struct slice){ 0 }), 0x2d06800538d394c2);
    CHECK_EQ(checksum_xxh3(SLICE("abc")), 0x78af5f94892f3950);
}

TEST(checksum_of_either_kind_sees_every_flipped_bit)
{
    char bytes[] = "one block of samples";
    struct slice all = slice_of(bytes, sizeof(bytes));
    uint32_t crc = checksum_crc32c(0, all);
    uint64_t hash = checksum_xxh3(all);

    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        CHECK(checksum_crc32c(0, all) != crc);
        CHECK(checksum_xxh3(all) != hash);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
}
