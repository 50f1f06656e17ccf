// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "net/etag.h"

static bool is_known(const char *if_none_match)
{
    struct http_headers headers = { .n = 2 };

    headers.items[0] = (struct http_header){ SLICE("if-match"), SLICE("\"abc\"") };
    headers.items[1] = (struct http_header){ SLICE("if-none-match"), slice_from(if_none_match) };
    return etag_is_known(&headers, "abc");
}

TEST(a_tag_is_known_in_any_encoding_and_weak_ones_count)
{
    static const char *const known[] = { "\"abc\"",      "W/\"abc\"",   "\"x\", \"abc\"",        "\"abc-gzip\"",
                                         "\"abc-zstd\"", " \"abc\"  ,", "\"x\",W/\"abc-gzip\" ", "*" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        CHECK(is_known(known[i]));
}

TEST(other_tags_are_not_known)
{
    static const char *const unknown[] = { "",          "\"",         "\"ab\"",
                                           "\"abcd\"",  "\"abc-br\"", "\"abc-gzip-gzip\"",
                                           "\"-gzip\"", "\"abc",      "\"*\"" };

    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        CHECK(!is_known(unknown[i]));
    CHECK(!etag_is_known(&(struct http_headers){ .n = 0 }, "abc"));
}
