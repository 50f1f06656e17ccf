// SPDX-License-Identifier: Apache-2.0
#include "scrape/md5.h"

#include "base/test.h"

#include <stdio.h>

static const char *hex_of(struct slice text)
{
    static char hex[2 * MD5_BYTES + 1];
    uint8_t digest[MD5_BYTES];

    md5_bytes(text, digest);
    for (unsigned i = 0; i < MD5_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

TEST(md5_gives_the_digests_of_its_rfc)
{
    CHECK_TEXT(hex_of(SLICE("")), "d41d8cd98f00b204e9800998ecf8427e");
    CHECK_TEXT(hex_of(SLICE("abc")), "900150983cd24fb0d6963f7d28e17f72");
    CHECK_TEXT(hex_of(SLICE("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
    CHECK_TEXT(hex_of(SLICE("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")),
               "d174ab98d277d9f5a5611c2c9f419d9f");
    CHECK_TEXT(hex_of(SLICE("12345678901234567890123456789012345678901234567890123456789012345678901234567890")),
               "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(md5_pads_at_every_length_around_a_block)
{
    static const struct {
        size_t len;
        const char *hex;
    } cases[] = {
        { 55, "ef1772b6dff9a122358552954ad0df65" }, { 56, "3b0c8ac703f828b04c6c197006d17218" },
        { 63, "b06521f39153d618550606be297466d5" }, { 64, "014842d480b571495a4a0363793f7367" },
        { 65, "c743a45e0d2e6a95cb859adae0248435" },
    };
    char text[80];

    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_TEXT(hex_of(slice_of(text, cases[i].len)), cases[i].hex);
}
