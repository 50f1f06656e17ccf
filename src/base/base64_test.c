// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include "base/test.h"

static const struct {
    const char *bytes, *text;
} pairs[] = {
    { "", "" },
    { "f", "Zg==" },
    { "fo", "Zm8=" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" },
    { "foobar", "Zm9vYmFy" },
    { "\xfb\xff\xfe", "+//+" },
};

static struct slice decode(const char *text, char to[static 64])
{
    size_t len, bad_at;

    CHECK(base64_decode(slice_from(text), to, &len, &bad_at));
    return slice_of(to, len);
}

TEST(base64_writes_and_reads_the_examples_of_its_standard)
{
    struct buffer out;
    char bytes[64];

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        buffer_clear(&out);
        base64_encode(slice_from(pairs[i].bytes), true, &out);
        CHECK_TEXT(buffer_slice(&out), pairs[i].text);
        CHECK_TEXT(decode(pairs[i].text, bytes), pairs[i].bytes);
    }
    buffer_done(&out);
}

TEST(base64_can_leave_the_padding_out)
{
    struct buffer out;
    char bytes[64];

    buffer_init(&out, 0);
    base64_encode(SLICE("foob"), false, &out);
    CHECK_TEXT(buffer_slice(&out), "Zm9vYg");
    CHECK_TEXT(decode("Zm9vYg", bytes), "foob");
    CHECK_TEXT(decode("Zm9vYmE", bytes), "fooba");
    buffer_done(&out);
}

TEST(base64_reads_the_alphabet_of_addresses_too)
{
    char bytes[64];

    CHECK_TEXT(decode("-__-", bytes), "\xfb\xff\xfe");
}

TEST(base64_reads_padded_texts_one_behind_the_other)
{
    char bytes[64];

    CHECK_TEXT(decode("Zg==Zm8=Zm9vYg", bytes), "ffofoob");
}

TEST(base64_decodes_where_the_text_is)
{
    char text[] = "Zm9vYmFyZm9vYmFy";
    size_t len, bad_at;

    CHECK(base64_decode(slice_from(text), text, &len, &bad_at));
    CHECK_TEXT(slice_of(text, len), "foobarfoobar");
}

TEST(base64_says_where_it_is_not_base64)
{
    static const struct {
        const char *text;
        size_t bad_at;
    } bad[] = { { "Zm9v!", 4 }, { "Z", 1 }, { "Zm9vY", 5 }, { "=", 0 }, { "Z=", 1 }, { "Zg=v", 3 }, { "Zg===", 4 } };
    char bytes[64];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        size_t len = 77, bad_at = 99;

        CHECK(!base64_decode(slice_from(bad[i].text), bytes, &len, &bad_at));
        CHECK_EQ(bad_at, bad[i].bad_at);
        CHECK_EQ(len, 77);
    }
}
