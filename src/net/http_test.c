// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/test.h"
#include "net/http.h"

static struct http_headers made(const char *name, const char *value, const char *name2, const char *value2)
{
    struct http_headers headers = { .n = name2 ? 2 : 1 };

    headers.items[0] = (struct http_header){ slice_from(name), slice_from(value) };
    headers.items[1] = (struct http_header){ slice_from(name2), slice_from(value2) };
    return headers;
}

TEST(methods_have_names_and_others_are_other)
{
    for (int method = 0; method < HTTP_METHOD_OTHER; method++)
        CHECK(http_method_from(slice_from(http_method_name((enum http_method)method))) == (enum http_method)method);
    CHECK(http_method_from(SLICE("get")) == HTTP_METHOD_OTHER);
    CHECK(http_method_from(SLICE("")) == HTTP_METHOD_OTHER);
}

TEST(a_header_is_found_by_its_name_and_trimmed)
{
    struct http_headers headers = made("content-type", " text/plain ", "content-type", "second");

    CHECK(slice_is(http_header(&headers, "content-type"), "text/plain"));
    CHECK(http_header_count(&headers, "content-type") == 2);
    CHECK(!http_header(&headers, "content").ptr);
}

TEST(a_list_has_its_words_but_not_those_of_quality_zero)
{
    struct http_headers headers = made("accept-encoding", "br;q=0.5, GZIP", "accept-encoding", "zstd;q=0, lz4; q=0.0");

    CHECK(http_header_has(&headers, "accept-encoding", "gzip"));
    CHECK(http_header_has(&headers, "accept-encoding", "br"));
    CHECK(!http_header_has(&headers, "accept-encoding", "zstd"));
    CHECK(!http_header_has(&headers, "accept-encoding", "lz4"));
    CHECK(!http_header_has(&headers, "accept-encoding", "gz"));
    CHECK(!http_header_has(&headers, "accept", "gzip"));
    CHECK(http_header_quality(&headers, "accept", "gzip") == 0);
    CHECK(http_header_quality(&headers, "accept-encoding", "gzip") == 1);
    CHECK(http_header_quality(&headers, "accept-encoding", "br") == 0.5);
    CHECK(http_header_quality(&headers, "accept-encoding", "zstd") == 0);
}

TEST(a_media_type_is_without_its_parameters)
{
    CHECK(slice_is(http_media_type(SLICE(" application/json ; charset=utf-8")), "application/json"));
    CHECK(slice_is(http_media_type(SLICE("a/b")), "a/b"));
    CHECK(http_media_type(SLICE("")).len == 0);
}

TEST(tokens_are_told_from_other_text)
{
    CHECK(http_is_token(SLICE("X-Scope-OrgID")));
    CHECK(!http_is_token(SLICE("")));
    CHECK(!http_is_token(SLICE("a b")));
    CHECK(!http_is_token(SLICE("a:")));
    CHECK(!http_is_token(slice_of("a\0b", 3)));
}

TEST(escapes_are_decoded_and_broken_ones_stand_for_themselves)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK(slice_is(http_unescape(SLICE("/a%20b%2Fc"), false, &arena, &err), "/a b/c"));
    CHECK(slice_is(http_unescape(SLICE("a+b"), false, &arena, &err), "a+b"));
    CHECK(slice_is(http_unescape(SLICE("a+b%2b"), true, &arena, &err), "a b+"));
    CHECK(slice_is(http_unescape(SLICE("100%"), true, &arena, &err), "100%"));
    CHECK(slice_is(http_unescape(SLICE("%zz%4"), true, &arena, &err), "%zz%4"));
    CHECK(slice_is(http_unescape(SLICE(""), true, &arena, &err), ""));
    arena_done(&arena);
}

TEST(http_dates_are_those_of_the_standard)
{
    char text[HTTP_DATE_BYTES];

    CHECK_TEXT(http_date(784111777 * CLOCK_NS_PER_SECOND, text), "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK_TEXT(http_date(0, text), "Thu, 01 Jan 1970 00:00:00 GMT");
}
