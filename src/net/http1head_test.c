// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "net/http1head.h"

#include <stdio.h>

static struct request request;
static struct http1_framing framing;
static struct arena arena;
static struct error err;

/* Parses a head; the status that a refusal would have, or 0. */
static int parse(const char *head)
{
    int status = 0;

    arena_done(&arena);
    arena_init(&arena, 0);
    request = (struct request){ .method = HTTP_METHOD_OTHER };
    return http1_parse_head(slice_from(head), &arena, &request, &framing, &status, &err) < 0 ? status : 0;
}

TEST(a_head_is_read_with_its_headers)
{
    CHECK_EQ(parse("POST /ingest%20x?name=a%7Bb%7D&x HTTP/1.1\r\nHost: h:1\r\nContent-Length: 12\r\nX-Y:  z \r\n\r\n"),
             0);
    CHECK(request.method == HTTP_POST && request.version == HTTP_1_1);
    CHECK_TEXT(request.path, "/ingest x");
    CHECK_TEXT(request.query, "name=a%7Bb%7D&x");
    CHECK_TEXT(request.authority, "h:1");
    CHECK_TEXT(http_header(&request.headers, "x-y"), "z");
    CHECK_EQ(framing.body_bytes, 12);
    CHECK(framing.keeps_alive && !framing.wants_continue && !framing.wants_h2c);
    arena_done(&arena);
}

TEST(braces_and_quotes_in_a_target_may_be_raw)
{
    CHECK_EQ(parse("GET /render?query=a.cpu{b=\"c|d\",e=~'[f^]`\\\\.g'}&x=<y> HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    CHECK_TEXT(request.path, "/render");
    CHECK_TEXT(request.query, "query=a.cpu{b=\"c|d\",e=~'[f^]`\\\\.g'}&x=<y>");
    CHECK_EQ(parse("GET /{a} HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    CHECK_TEXT(request.path, "/{a}");
    CHECK_EQ(parse("GET /render?query={a=\"b c\"} HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
    CHECK_EQ(parse("GET /render?query={a=\"b\tc\"} HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
    arena_done(&arena);
}

TEST(an_absolute_target_is_a_path_and_an_authority)
{
    CHECK_EQ(parse("GET http://a.b:80/x?y#z HTTP/1.1\r\nHost: other\r\n\r\n"), 0);
    CHECK_TEXT(request.path, "/x");
    CHECK_TEXT(request.query, "y");
    CHECK_TEXT(request.authority, "a.b:80");
    CHECK_EQ(parse("GET http://a.b HTTP/1.1\r\nHost: other\r\n\r\n"), 0);
    CHECK_TEXT(request.path, "/");
    CHECK_EQ(parse("OPTIONS * HTTP/1.1\r\nHost: other\r\n\r\n"), 0);
    arena_done(&arena);
}

TEST(what_becomes_of_the_connection_is_read)
{
    CHECK_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: Keep-Alive, Close\r\n\r\n"), 0);
    CHECK(!framing.keeps_alive);
    CHECK_EQ(parse("GET / HTTP/1.0\r\n\r\n"), 0);
    CHECK(!framing.keeps_alive);
    CHECK_EQ(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), 0);
    CHECK(framing.keeps_alive);
    CHECK_EQ(parse("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nTransfer-Encoding: Chunked\r\n\r\n"), 0);
    CHECK(framing.wants_continue && framing.body_bytes == -1);
    CHECK_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                   "HTTP2-Settings: AAMAAABk\r\n\r\n"),
             0);
    CHECK(framing.wants_h2c);
    CHECK_TEXT(framing.h2c_settings, "AAMAAABk");
    arena_done(&arena);
}

TEST(heads_that_could_be_understood_in_two_ways_are_refused)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x10\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501 },
        { "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501 },
        { "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 501 },
        { "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\nHost: h\n\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nA: b\x01\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: h\r\n: empty\r\n\r\n", 400 },
        { "GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET  HTTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET\r\n\r\n", 400 },
        { "G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET / FTP/1.1\r\nHost: h\r\n\r\n", 400 },
        { "GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505 },
        { "GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505 },
        { "GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(parse(cases[i].head), cases[i].status);
    }
    arena_done(&arena);
}

TEST(a_head_of_too_many_headers_is_refused)
{
    struct buffer head;

    buffer_init(&head, 0);
    buffer_append_text(&head, "GET / HTTP/1.1\r\nHost: h\r\n");
    for (int i = 0; i < HTTP_MAX_HEADERS; i++)
        buffer_printf(&head, "a%d: b\r\n", i);
    buffer_append_text(&head, "\r\n");
    buffer_append_byte(&head, '\0');
    CHECK_EQ(parse(head.data), 431);
    buffer_done(&head);
    arena_done(&arena);
}

TEST(the_end_of_a_head_is_found_wherever_it_is_cut)
{
    const char *head = "GET / HTTP/1.1\r\nHost: h\r\n\r\nbody";
    size_t whole = strlen(head) - 4;

    for (size_t cut = 0; cut <= strlen(head); cut++) {
        size_t scanned = 0, end = 0;

        for (size_t len = cut; len <= strlen(head) && end == 0; len++)
            end = http1_head_end(slice_of(head, len), &scanned);
        CHECK_EQ(end, whole);
    }
}

/* The body of chunks that come `step` bytes at a time; NULL = refused. */
static const char *unchunk(const char *bytes, size_t step, size_t *ret_left)
{
    static char body[256];
    struct http1_chunks chunks;
    size_t at = 0, len = 0;

    http1_chunks_init(&chunks);
    while (at < strlen(bytes) && chunks.state != CHUNK_DONE) {
        size_t n = MIN(step, strlen(bytes) - at);
        struct slice rest = slice_of(bytes + at, n), data;

        while (rest.len > 0 && chunks.state != CHUNK_DONE) {
            if (http1_chunks_take(&chunks, &rest, &data, &err) < 0)
                return NULL;
            memcpy(body + len, data.ptr ? data.ptr : "", data.len);
            len += data.len;
        }
        at += n - rest.len;
    }
    *ret_left = chunks.state == CHUNK_DONE ? strlen(bytes) - at : SIZE_MAX;
    body[len] = '\0';
    return body;
}

TEST(chunks_become_a_body_however_they_are_cut)
{
    const char *bytes = "5;ext=\"1\"\r\nhello\r\n00a \r\n, chunked!\r\n0\r\nTrailer: x\r\n\r\nGET /";
    size_t left;

    for (size_t step = 1; step <= strlen(bytes); step++) {
        CHECK_TEXT(unchunk(bytes, step, &left), "hello, chunked!");
        CHECK_EQ(left, 5);
    }
    CHECK_TEXT(unchunk("0\r\n\r\n", 2, &left), "");
    CHECK_EQ(left, 0);
    CHECK_TEXT(unchunk("3\r\nab", 2, &left), "ab");
    CHECK_EQ(left, SIZE_MAX);
}

TEST(broken_chunks_are_refused)
{
    static const char *const cases[] = {
        "x\r\n",
        "\r\n",
        "5\nhello",
        "-1\r\n",
        "5\r\nhello!\r\n",
        "5\r\nhello\n0",
        "1000000000000000\r\n",
        "0\r\nA: b\n\r\n",
        "5;a\nhello",
        "0\r\n\rx",
    };
    size_t left;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(!unchunk(cases[i], 1, &left));
        CHECK(!unchunk(cases[i], 100, &left));
    }
}

static int parse_one(void *context UNUSED, struct error *failure)
{
    int status = 0, result;

    arena_init(&arena, 0);
    request = (struct request){ .method = HTTP_METHOD_OTHER };
    result =
        http1_parse_head(SLICE("GET /%20 HTTP/1.1\r\nHost: h\r\n\r\n"), &arena, &request, &framing, &status, failure);
    CHECK(result == 0 || status == 503);
    arena_done(&arena);
    return result;
}

TEST(a_head_without_memory_is_refused_for_now)
{
    test_each_allocation_failing(parse_one, NULL);
}
