// SPDX-License-Identifier: Apache-2.0
/* The page as a server gives it. Without its page (make UI=0) the program embeds a stub, and most of it holds for that too. */
#include "base/test.h"
#include "net/httpserver.h"
#include "pack/unpacker.h"
#include "page/page_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- a server of these routes alone, and one request at a time --- */

struct page_answer {
    int status;
    struct slice head; /* up to the empty line */
    struct slice body;
    struct buffer bytes;
};

static struct httpserver *start(void)
{
    static const struct address loopback = { .kind = ADDRESS_TCP, .name = "127.0.0.1" };
    struct httpserver_options options = { .listen = &loopback, .n_listen = 1, .routes = page_routes };
    struct httpserver *server = NULL;
    struct error err;

    CHECK_OK(httpserver_start(&options, &server, &err), &err);
    return server;
}

/* Asks on a connection of its own; the answer lives in ret_answer->bytes, which the caller ends. */
static void ask(const struct httpserver *server, const char *line, const char *headers, struct page_answer *ret_answer)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(httpserver_address(server, 0).port) };
    struct timeval limit = { 20, 0 };
    struct buffer request;
    ptrdiff_t end;
    ssize_t n;
    char chunk[4096];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    buffer_init(&request, 0);
    buffer_printf(&request, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%s\r\n", line, headers);
    CHECK(send(fd, request.data, request.len, MSG_NOSIGNAL) == (ssize_t)request.len);
    buffer_done(&request);
    buffer_init(&ret_answer->bytes, 0);
    while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
        buffer_append(&ret_answer->bytes, chunk, (size_t)n);
    close(fd);
    end = slice_find(buffer_slice(&ret_answer->bytes), SLICE("\r\n\r\n"));
    CHECK(end > 0);
    ret_answer->head = slice_sub(buffer_slice(&ret_answer->bytes), 0, (size_t)end + 2);
    ret_answer->body = slice_sub(buffer_slice(&ret_answer->bytes), (size_t)end + 4, SIZE_MAX);
    CHECK(sscanf(ret_answer->head.ptr, "HTTP/1.1 %d", &ret_answer->status) == 1);
}

static bool head_has(const struct page_answer *answer, const char *text)
{
    return slice_find(answer->head, slice_from(text)) >= 0;
}

static const struct page_asset *index_page(void)
{
    const struct page_asset *asset = page_find(SLICE("/index.html"));

    CHECK(asset);
    return asset;
}

/* A file that is only there when the page is: NULL in a program without it. */
static const struct page_asset *any_immutable(void)
{
    for (size_t i = 0; i < assets_n; i++)
        if (assets_all[i].is_immutable)
            return &assets_all[i];
    return NULL;
}

/* --- what is embedded --- */

TEST(embedded_files_are_whole_and_their_packed_form_is_the_same)
{
    struct unpacker *unpacker;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    for (size_t i = 0; i < assets_n; i++) {
        const struct page_asset *asset = &assets_all[i];
        struct slice unpacked;

        CHECK(asset->path[0] == '/' && strlen(asset->tag) == 32);
        CHECK(page_find(slice_from(asset->path)) == asset);
        CHECK_EQ(asset->plain.ptr[asset->plain.len], 0); /* nothing of the next one is counted in */
        if (asset->gzip.len == 0)
            continue;
        CHECK(asset->gzip.len < asset->plain.len);
        CHECK_OK(unpacker_unpack(unpacker, PACK_GZIP, asset->gzip, 16 << 20, &unpacked, &err), &err);
        CHECK(slice_equal(unpacked, asset->plain));
        for (int k = 4; k < 8; k++) /* when it was made is not in it, so that the same tree gives the same program */
            CHECK_EQ(asset->gzip.ptr[k], 0);
    }
    unpacker_free(unpacker);
}

TEST(no_file_is_found_by_another_path)
{
    CHECK(!page_find(SLICE("")));
    CHECK(!page_find(SLICE("/")));
    CHECK(!page_find(SLICE("/index.htm")));
    CHECK(!page_find(SLICE("/index.html/")));
    CHECK(!page_find(SLICE("/assets/../index.html")));
}

TEST(the_shell_of_offline_pages_has_its_marks_or_an_error_says_why_not)
{
    struct slice html = SLICE("untouched");
    struct error err;

    if (page_find(SLICE("/offline.html"))) {
        CHECK_OK(page_offline(&html, &err), &err);
        CHECK(slice_find(html, SLICE("@TITLE@")) > 0);
        CHECK(slice_find(html, SLICE("@DATA@")) > 0);
        CHECK(slice_find(html, SLICE("MIT License")) > 0);
    } else {
        CHECK(page_offline(&html, &err) < 0);
        CHECK_EQ(err.code, ERR_UNSUPPORTED);
        CHECK_HAS(err.text, "built without its page (make UI=0)");
        CHECK(slice_is(html, "untouched"));
    }
}

/* --- how it is served --- */

TEST(every_view_is_the_same_page)
{
    static const char *const paths[] = { "/",      "/explore",    "/compare?x=1", "/status",
                                         "/adhoc", "/adhoc/a1b2", "/traces",      "/traces/0123" };
    struct httpserver *server = start();

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct page_answer answer;
        char line[64];

        snprintf(line, sizeof(line), "GET %s", paths[i]);
        ask(server, line, "", &answer);
        CHECK_EQ(answer.status, 200);
        CHECK(slice_equal(answer.body, index_page()->plain));
        CHECK(head_has(&answer, "\r\ncontent-type: text/html; charset=utf-8\r\n"));
        CHECK(head_has(&answer, "\r\ncache-control: no-cache\r\n"));
        CHECK(head_has(&answer, index_page()->tag));
        CHECK(!head_has(&answer, "content-encoding"));
        buffer_done(&answer.bytes);
    }
    httpserver_free(server);
}

TEST(the_page_may_run_nothing_but_what_the_server_gives)
{
    static const char *const wanted[] = {
        "\r\ncontent-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
        "blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'\r\n",
        "\r\nx-content-type-options: nosniff\r\n",
        "\r\nreferrer-policy: no-referrer\r\n",
        "\r\ncross-origin-opener-policy: same-origin\r\n",
        "\r\ncross-origin-resource-policy: same-origin\r\n",
    };
    struct httpserver *server = start();
    struct page_answer answer;

    ask(server, "GET /explore", "", &answer);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        CHECK(head_has(&answer, wanted[i]));
    buffer_done(&answer.bytes);
    httpserver_free(server);
}

TEST(the_page_comes_packed_to_those_who_take_that)
{
    static const struct {
        const char *accept;
        bool is_packed;
    } cases[] = { { "gzip, deflate, br, zstd", true }, { "gzip;q=0.1", true }, { "gzip;q=0", false }, { "br", false } };
    struct httpserver *server = start();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct page_answer answer;
        char headers[128];

        snprintf(headers, sizeof(headers), "Accept-Encoding: %s\r\n", cases[i].accept);
        ask(server, "GET /", headers, &answer);
        CHECK_EQ(answer.status, 200);
        CHECK_EQ(head_has(&answer, "\r\ncontent-encoding: gzip\r\n"), cases[i].is_packed);
        CHECK_EQ(head_has(&answer, "-gzip\"\r\n"), cases[i].is_packed);
        CHECK(head_has(&answer, "\r\nvary: accept-encoding\r\n"));
        CHECK(slice_equal(answer.body, cases[i].is_packed ? index_page()->gzip : index_page()->plain));
        buffer_done(&answer.bytes);
    }
    httpserver_free(server);
}

TEST(who_has_the_page_is_told_so)
{
    struct httpserver *server = start();
    struct page_answer answer;
    char headers[128];

    snprintf(headers, sizeof(headers), "Accept-Encoding: gzip\r\nIf-None-Match: \"%s-gzip\"\r\n", index_page()->tag);
    ask(server, "GET /status", headers, &answer);
    CHECK_EQ(answer.status, 304);
    CHECK_EQ(answer.body.len, 0);
    CHECK(head_has(&answer, index_page()->tag));
    CHECK(head_has(&answer, "\r\ncache-control: no-cache\r\n"));
    CHECK(head_has(&answer, "\r\ncontent-security-policy: "));
    CHECK(!head_has(&answer, "content-encoding"));
    buffer_done(&answer.bytes);
    ask(server, "GET /status", "If-None-Match: \"another\"\r\n", &answer);
    CHECK_EQ(answer.status, 200);
    buffer_done(&answer.bytes);
    httpserver_free(server);
}

TEST(head_has_the_length_and_no_body)
{
    struct httpserver *server = start();
    struct page_answer answer;
    char length[64];

    ask(server, "HEAD /", "", &answer);
    snprintf(length, sizeof(length), "\r\ncontent-length: %zu\r\n", index_page()->plain.len);
    CHECK_EQ(answer.status, 200);
    CHECK_EQ(answer.body.len, 0);
    CHECK(head_has(&answer, length));
    buffer_done(&answer.bytes);
    httpserver_free(server);
}

TEST(files_with_a_hash_in_their_name_are_kept_for_ever)
{
    const struct page_asset *asset = any_immutable();
    struct httpserver *server;
    struct page_answer answer;
    char line[256];

    if (!asset)
        test_skip("impossible here: this program was built without its page");
    server = start();
    snprintf(line, sizeof(line), "GET %s", asset->path);
    ask(server, line, "", &answer);
    CHECK_EQ(answer.status, 200);
    CHECK(slice_equal(answer.body, asset->plain));
    CHECK(head_has(&answer, "\r\ncache-control: public, max-age=31536000, immutable\r\n"));
    buffer_done(&answer.bytes);
    httpserver_free(server);
}

TEST(other_paths_are_not_there)
{
    static const char *const paths[] = { "/assets/",
                                         "/assets/none.js",
                                         "/assets/../index.html",
                                         "/index.html",
                                         "/offline.html",
                                         "/explore/",
                                         "/adhocs",
                                         "//",
                                         "/assets/index.html",
                                         "/assets/%00" };
    struct httpserver *server = start();

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct page_answer answer;
        char line[64];

        snprintf(line, sizeof(line), "GET %s", paths[i]);
        ask(server, line, "", &answer);
        CHECK_EQ(answer.status, 404);
        CHECK(head_has(&answer, "\r\ncontent-type: application/json"));
        buffer_done(&answer.bytes);
    }
    httpserver_free(server);
}

/* --- under the path of a proxy --- */

TEST(a_proxy_can_say_under_which_path_the_page_is)
{
    static const struct {
        const char *prefix, *base;
    } cases[] = { { "/hearth", "<base href=\"/hearth/\">" }, { "/a/b-c_d.e~/", "<base href=\"/a/b-c_d.e~/\">" } };
    struct httpserver *server = start();

    if (slice_find(index_page()->plain, SLICE("<base href=\"/\">")) < 0)
        test_skip("impossible here: this program was built without its page");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct page_answer answer;
        char headers[128];

        snprintf(headers, sizeof(headers), "X-Forwarded-Prefix: %s\r\n", cases[i].prefix);
        ask(server, "GET /explore", headers, &answer);
        CHECK_EQ(answer.status, 200);
        CHECK(slice_find(answer.body, slice_from(cases[i].base)) > 0);
        CHECK(slice_find(answer.body, SLICE("<base href=\"/\">")) < 0);
        CHECK(head_has(&answer, "\r\ncontent-security-policy: "));
        CHECK(head_has(&answer, "\r\ncache-control: no-store\r\n"));
        CHECK(!head_has(&answer, "\r\netag: "));
        buffer_done(&answer.bytes);
    }
    httpserver_free(server);
}

TEST(a_prefix_that_is_no_plain_path_is_left_out)
{
    static const char *const prefixes[] = { "/",     "hearth",       "//evil.example",
                                            "/a//b", "/\"><script>", "https://evil.example",
                                            "" };
    struct httpserver *server = start();

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        struct page_answer answer;
        char headers[128];

        snprintf(headers, sizeof(headers), "X-Forwarded-Prefix: %s\r\n", prefixes[i]);
        ask(server, "GET /", headers, &answer);
        CHECK_EQ(answer.status, 200);
        CHECK(slice_equal(answer.body, index_page()->plain));
        buffer_done(&answer.bytes);
    }
    httpserver_free(server);
}
