// SPDX-License-Identifier: Apache-2.0
#include "net/origin.h"

#include "net/httpserver_sample_test.h"

TEST(origin_knows_the_names_of_loopback)
{
    static const char *const names[] = {
        "localhost", "LocalHost:4040", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:1"
    };
    static const char *const others[] = { "",
                                          "localhost.evil.example",
                                          "127.0.0.1.evil.example",
                                          "128.0.0.1",
                                          "127.0.0.1:x",
                                          "[::1",
                                          "[::2]:80",
                                          "[::1]x",
                                          ":4040",
                                          "evil",
                                          "127.0.0.1:80:80",
                                          "0000:0000:0000:0000:0000:0000:0000:0001" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK(origin_is_loopback(slice_from(names[i])));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK(!origin_is_loopback(slice_from(others[i])));
}

TEST(origin_compares_host_and_port)
{
    CHECK(origin_is_of(SLICE("http://a.example"), SLICE("A.example")));
    CHECK(origin_is_of(SLICE("http://a.example"), SLICE("a.example:80")));
    CHECK(origin_is_of(SLICE("https://a.example:443"), SLICE("a.example")));
    CHECK(origin_is_of(SLICE("http://[::1]:4040"), SLICE("[::1]:4040")));
    CHECK(!origin_is_of(SLICE("http://a.example"), SLICE("a.example:4040")));
    CHECK(!origin_is_of(SLICE("http://a.example:4040"), SLICE("a.example")));
    CHECK(!origin_is_of(SLICE("http://b.example"), SLICE("a.example")));
    CHECK(!origin_is_of(SLICE("null"), SLICE("null")));
    CHECK(!origin_is_of(SLICE("file://"), SLICE("")));
    CHECK(!origin_is_of(SLICE("http://"), SLICE("")));
    CHECK(!origin_is_of(SLICE(""), SLICE("")));
}

/* --- requests --- */

static int status_of(struct httpserver *server, const char *path, const char *host, const char *origin)
{
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };
    char request[512];

    snprintf(request, sizeof(request), "POST %s HTTP/1.1\r\nHost: %s\r\n%s%s%sContent-Length: 2\r\n\r\nhi", path, host,
             origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "");
    say(fd, request);
    hear(fd, &answer);
    if (answer.status == 403)
        CHECK_HAS(buffer_slice(&answer.body), "--cors-origin");
    return answer.status;
}

TEST(httpserver_lets_programs_write_under_any_name)
{
    SERVER = start();

    CHECK_EQ(status_of(server, "/write", "proxy.example", NULL), 200);
    CHECK_EQ(status_of(server, "/write", "127.0.0.1", NULL), 200);
    CHECK_EQ(status_of(server, "/admin", "localhost:4040", NULL), 200);
    CHECK_EQ(status_of(server, "/admin", "127.0.0.1", NULL), 200);
    CHECK_EQ(status_of(server, "/admin", "rebound.example", NULL), 403);
}

TEST(httpserver_lets_no_foreign_page_change_anything)
{
    SERVER = start();

    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "/write" : "/admin";

        CHECK_EQ(status_of(server, path, "localhost:4040", "http://localhost:4040"), 200);
        CHECK_EQ(status_of(server, path, "127.0.0.1:4040", "http://127.0.0.1:4040"), 200);
        CHECK_EQ(status_of(server, path, "localhost:4040", "http://evil.example"), 403);
        CHECK_EQ(status_of(server, path, "localhost:4040", "http://localhost:8080"), 403);
        CHECK_EQ(status_of(server, path, "localhost:4040", "null"), 403);
        /* A name of its own that points to loopback is no name of ours. */
        CHECK_EQ(status_of(server, path, "evil.example:4040", "http://evil.example:4040"), 403);
    }
    CHECK_EQ(status_of(server, "/echo", "evil.example", "http://evil.example"), 200); /* neither of the two */
}

TEST(httpserver_lets_the_page_change_things_that_it_was_told_of)
{
    SERVER = start_with((struct httpserver_options){ .cors_origin = "https://hearth.example" });

    CHECK_EQ(status_of(server, "/admin", "hearth.example", "https://hearth.example"), 200);
    CHECK_EQ(status_of(server, "/admin", "localhost:4040", "https://hearth.example"), 200);
    CHECK_EQ(status_of(server, "/admin", "hearth.example", NULL), 200); /* a program, through the same proxy */
    CHECK_EQ(status_of(server, "/admin", "hearth.example", "http://evil.example"), 403);
    CHECK_EQ(status_of(server, "/admin", "evil.example", "http://evil.example"), 403);
}

TEST(httpserver_lets_every_page_change_things_if_told_so)
{
    SERVER = start_with((struct httpserver_options){ .cors_origin = "*" });

    CHECK_EQ(status_of(server, "/admin", "evil.example", "http://evil.example"), 200);
    CHECK_EQ(status_of(server, "/write", "localhost", "null"), 200);
}

TEST(httpserver_knows_its_own_pages_on_listeners_that_others_reach)
{
    struct address any = { .kind = ADDRESS_TCP, .name = "0.0.0.0" };
    SERVER = start_with((struct httpserver_options){ .listen = &any, .n_listen = 1 });

    CHECK_EQ(status_of(server, "/admin", "hearth.example:4040", "http://hearth.example:4040"), 200);
    CHECK_EQ(status_of(server, "/admin", "hearth.example:4040", NULL), 200);
    CHECK_EQ(status_of(server, "/admin", "hearth.example:4040", "http://evil.example"), 403);
}
