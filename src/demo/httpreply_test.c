// SPDX-License-Identifier: Apache-2.0
#include "demo/httpreply.h"

#include "base/test.h"

#include <string.h>

TEST(httpreply_reads_status_and_length)
{
    static const char bytes[] = "HTTP/1.1 402 Payment Required\r\nDate: x\r\ncontent-length: 5\r\n\r\nhello";
    struct httpreply reply = { 0 };
    struct error err;
    bool is_whole;

    CHECK_OK(httpreply_parse(slice_from(bytes), &is_whole, &reply, &err), &err);
    CHECK(is_whole && reply.keeps_alive);
    CHECK_EQ(reply.status, 402);
    CHECK_EQ(reply.body_bytes, 5);
    CHECK_TEXT(bytes + reply.head_bytes, "hello");
}

TEST(httpreply_waits_for_the_whole_head)
{
    static const char bytes[] = "HTTP/1.1 204 No Content\r\nconnection: Close\r\n\r\n";
    struct httpreply reply = { 0 };
    struct error err;
    bool is_whole;

    for (size_t len = 0; len < strlen(bytes); len++) {
        CHECK_OK(httpreply_parse(slice_of(bytes, len), &is_whole, &reply, &err), &err);
        CHECK(!is_whole && reply.status == 0);
    }
    CHECK_OK(httpreply_parse(slice_from(bytes), &is_whole, &reply, &err), &err);
    CHECK(is_whole && !reply.keeps_alive);
    CHECK_EQ(reply.status, 204);
    CHECK_EQ(reply.body_bytes, 0);
}

TEST(httpreply_refuses_what_is_none)
{
    static const struct {
        const char *bytes, *story;
        enum error_code code;
    } cases[] = {
        { "\r\n\r\n", "begins with ''", ERR_CORRUPT },
        { "HTTP/1.0 200 OK\r\n\r\n", "begins with 'HTTP/1.0", ERR_CORRUPT },
        { "HTTP/1.1 20\r\n\r\n", "begins with", ERR_CORRUPT },
        { "HTTP/1.1 2000\r\n\r\n", "begins with", ERR_CORRUPT },
        { "HTTP/1.1 999 Odd\r\n\r\n", "begins with", ERR_CORRUPT },
        { "HTTP/1.1 200 OK\r\n\r\n", "does not say how long", ERR_CORRUPT },
        { "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", "no good length: 'x'", ERR_CORRUPT },
        { "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "no good length", ERR_CORRUPT },
        { "HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n", "9999999999 bytes, more than 1048576", ERR_LIMIT },
        { "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "without a name", ERR_CORRUPT },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "in pieces", ERR_CORRUPT },
    };
    static char endless[HTTPREPLY_MAX_HEAD];
    struct httpreply reply = { 0 };
    struct error err;
    bool is_whole;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_ERROR(httpreply_parse(slice_from(cases[i].bytes), &is_whole, &reply, &err), &err, cases[i].code);
        CHECK_HAS(err.text, cases[i].story);
    }
    memset(endless, 'a', sizeof(endless));
    CHECK_ERROR(httpreply_parse(slice_of(endless, sizeof(endless)), &is_whole, &reply, &err), &err, ERR_LIMIT);
}
