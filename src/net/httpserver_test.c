// SPDX-License-Identifier: Apache-2.0
#include "net/httpserver_sample_test.h"

#include <sys/stat.h>
#include <sys/un.h>

/* --- requests --- */

TEST(httpserver_answers_many_requests_on_one_connection)
{
    SERVER = start();
    CLIENT fd = dial(server);

    for (int i = 0; i < 20; i++) {
        ask(fd, GET("/quick?a=b"), 200, "GET /quick ?a=b 0");
        ask(fd, GET("/pooled"), 200, "GET /pooled ? 0");
        ask(fd, POST("/echo", "Content-Length: 5\r\n", "hello"), 200, "hello");
    }
    CHECK_EQ(httpserver_counts(server).n_accepted, 1);
    CHECK_EQ(httpserver_counts(server).n_requests, 60);
    CHECK_EQ(httpserver_counts(server).n_bad_requests, 0);
}

TEST(httpserver_answers_pipelined_requests_in_their_order)
{
    SERVER = start();
    CLIENT fd = dial(server);

    say(fd, GET("/pooled?1") GET("/quick?2") POST("/echo", "Content-Length: 3\r\n", "abc")
                POST("/echo", "Transfer-Encoding: chunked\r\n", "2\r\nde\r\n0\r\n\r\n") "\r\n" GET("/quick?3"));
    expect_answer(fd, 200, "GET /pooled ?1 0");
    expect_answer(fd, 200, "GET /quick ?2 0");
    expect_answer(fd, 200, "abc");
    expect_answer(fd, 200, "de");
    expect_answer(fd, 200, "GET /quick ?3 0");
}

TEST(httpserver_reads_requests_that_come_byte_by_byte)
{
    static const char request[] = POST("/echo", "Content-Length: 3\r\n", "abc")
        POST("/echo", "Transfer-Encoding: chunked\r\n", "3;x=y\r\nxyz\r\n00\r\nTrailer: t\r\n\r\n");
    SERVER = start();
    CLIENT fd = dial(server);

    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        CHECK_EQ(send_bytes(fd, request + i, 1), 1);
        usleep(100);
    }
    expect_answer(fd, 200, "abc");
    expect_answer(fd, 200, "xyz");
}

TEST(httpserver_ends_the_connection_when_asked_to)
{
    SERVER = start();
    CLIENT first = dial(server), second = dial(server), third = dial(server);

    ask(first, "GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, NULL);
    expect_end(first);
    ask(second, "GET /quick HTTP/1.0\r\n\r\n", 200, NULL);
    expect_end(second);
    ask(third, "GET /quick HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, NULL);
    ask(third, "GET /quick HTTP/1.0\r\n\r\n", 200, NULL);
    expect_end(third);
}

TEST(httpserver_answers_head_without_a_body)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    say(fd, "HEAD /quick HTTP/1.1\r\nHost: x\r\n\r\n");
    hear_head(fd, &answer);
    CHECK_EQ(answer.status, 200);
    CHECK_EQ(content_length(&answer), strlen("HEAD /quick ? 0"));
    ask(fd, GET("/quick"), 200, "GET /quick ? 0"); /* and no stray byte in between */
    say(fd, "HEAD /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
    hear_head(fd, &answer);
    CHECK_EQ(answer.status, 404);
    ask(fd, GET("/quick"), 200, NULL);
}

TEST(httpserver_takes_a_body_with_get)
{
    SERVER = start();
    CLIENT fd = dial(server);

    ask(fd, "GET /quick HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", 200, "GET /quick ? 4");
    ask(fd, GET("/quick"), 200, "GET /quick ? 0");
}

TEST(httpserver_says_continue_to_who_waits_for_it)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    say(fd, POST("/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
    hear(fd, &answer);
    CHECK_EQ(answer.status, 100);
    ask(fd, "hi", 200, "hi");
    /* Who sends its body all the same needs no word. */
    ask(fd, POST("/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n", "ho"), 200, "ho");
    /* A refusal comes instead, and nobody can tell whether a body follows it. */
    say(fd, POST("/nowhere", "Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
    expect_answer(fd, 404, NULL);
    expect_end(fd);
}

TEST(httpserver_tells_what_a_path_takes)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    say(fd, GET("/echo"));
    hear(fd, &answer);
    CHECK_EQ(answer.status, 405);
    CHECK_HAS(answer.head, "allow: POST\r\n");
    CHECK_HAS(buffer_slice(&answer.body), "/echo does not take GET, but POST");
    say(fd, "OPTIONS /quick HTTP/1.1\r\nHost: x\r\nOrigin: http://y\r\n\r\n");
    hear(fd, &answer);
    CHECK_EQ(answer.status, 204);
    CHECK_HAS(answer.head, "allow: GET, HEAD\r\n");
    CHECK(!strstr(answer.head, "access-control"));
    ask(fd, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204, "");
    ask(fd, "BREW /quick HTTP/1.1\r\nHost: x\r\n\r\n", 405, NULL);
    ask(fd, GET("/quick"), 200, NULL);
}

TEST(httpserver_lets_pages_of_an_origin_ask_when_told_to)
{
    SERVER = start_with((struct httpserver_options){ .cors_origin = "http://page" });
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    say(fd,
        "OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: http://page\r\nAccess-Control-Request-Headers: x-one\r\n\r\n");
    hear(fd, &answer);
    CHECK_EQ(answer.status, 204);
    CHECK_HAS(answer.head, "access-control-allow-origin: http://page\r\n");
    CHECK_HAS(answer.head, "access-control-allow-methods: POST\r\n");
    CHECK_HAS(answer.head, "access-control-allow-headers: x-one\r\n");
    say(fd, GET("/quick"));
    hear(fd, &answer);
    CHECK_HAS(answer.head, "access-control-allow-origin: http://page\r\n");
}

TEST(httpserver_answers_for_a_handler_that_did_not)
{
    SERVER = start();
    CLIENT fd = dial(server);

    ask(fd, GET("/silent"), 500, NULL);
    ask(fd, GET("/quick"), 200, NULL);
}

TEST(httpserver_refuses_what_is_no_http_and_ends)
{
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        { "\x16\x03\x01\x02", 400 }, /* TLS, of which no line end need come */
        { "GET /quick HTTP/3.0\r\n\r\n", 505 },
        { GET("quick"), 400 },
        { "GET /quick HTTP/1.1\r\n\r\n", 400 },
        { POST("/echo", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "x"), 400 },
        { POST("/echo", "Content-Length: 1\r\nContent-Length: 1\r\n", "x"), 400 },
        { POST("/echo", "Content-Length: -1\r\n", ""), 400 },
        { POST("/echo", "Transfer-Encoding: gzip, chunked\r\n", ""), 501 },
        { POST("/echo", "Transfer-Encoding: chunked\r\n", "zz\r\n"), 400 },
        { POST("/echo", "Transfer-Encoding: chunked\r\n", "1\r\nabc\r\n"), 400 },
        { POST("/echo", "Expect: a miracle\r\n", ""), 417 },
    };
    SERVER = start();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLIENT fd = dial(server);

        ask(fd, cases[i].request, cases[i].status, NULL);
        expect_end(fd);
    }
    CHECK_EQ(httpserver_counts(server).n_bad_requests, ARRAY_LEN(cases));
}

TEST(httpserver_bounds_heads)
{
    SERVER = start();
    CLIENT fd = dial(server);
    static char junk[70000];

    memset(junk, 'a', sizeof(junk));
    say(fd, "GET /quick HTTP/1.1\r\nHost: x\r\nX: ");
    send_bytes(fd, junk, sizeof(junk));
    expect_answer(fd, 431, NULL);
    expect_end(fd);
}

/* --- bodies --- */

TEST(httpserver_takes_large_bodies_whole)
{
    size_t len = 10 << 20;
    char *bytes = malloc(len), head[128];
    ANSWER answer = { 0 };
    SERVER = start();
    CLIENT fd = dial(server);

    CHECK(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    snprintf(head, sizeof(head), POST("/echo", "Content-Length: %zu\r\n", ""), len);
    say(fd, head);
    CHECK_EQ(send_bytes(fd, bytes, len), len);
    hear(fd, &answer);
    CHECK_EQ(answer.body.len, len);
    CHECK(memcmp(answer.body.data, bytes, len) == 0);

    say(fd, POST("/echo", "Transfer-Encoding: chunked\r\n", ""));
    for (size_t at = 0; at < len; at += len / 10) {
        snprintf(head, sizeof(head), "%zx\r\n", len / 10);
        say(fd, head);
        CHECK_EQ(send_bytes(fd, bytes + at, len / 10), len / 10);
        say(fd, "\r\n");
    }
    say(fd, "0\r\n\r\n");
    hear(fd, &answer);
    CHECK_EQ(answer.body.len, len);
    CHECK(memcmp(answer.body.data, bytes, len) == 0);
    free(bytes);
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 0);
}

TEST(httpserver_refuses_a_large_body_to_a_client_that_keeps_sending)
{
    static char bytes[1 << 20];
    ANSWER answer = { 0 };
    SERVER = start_with((struct httpserver_options){ .max_body_bytes = 1 << 20 });
    CLIENT fd = dial(server);

    say(fd, POST("/echo", "Content-Length: 20971520\r\n", ""));
    for (int i = 0; i < 20; i++)
        CHECK_EQ(send_bytes(fd, bytes, sizeof(bytes)), sizeof(bytes));
    hear(fd, &answer);
    CHECK_EQ(answer.status, 413);
    CHECK_HAS(buffer_slice(&answer.body), "the body is larger than 1048576 bytes");
    CHECK_HAS(answer.head, "connection: close\r\n");
    expect_end(fd);
}

TEST(httpserver_refuses_chunks_beyond_the_limit_of_a_route)
{
    SERVER = start();
    CLIENT fd = dial(server);
    static char chunk[2000];

    memset(chunk, 'x', sizeof(chunk));
    say(fd, POST("/small", "Transfer-Encoding: chunked\r\n", "7d0\r\n"));
    send_bytes(fd, chunk, sizeof(chunk));
    expect_answer(fd, 413, NULL);
    expect_end(fd);
}

TEST(httpserver_keeps_the_connection_behind_an_early_refusal_of_a_small_body)
{
    SERVER = start();
    CLIENT fd = dial(server);

    ask(fd, POST("/nowhere", "Content-Length: 5\r\n", "hello"), 404, NULL);
    ask(fd, POST("/small", "Content-Length: 2000\r\n", ""), 413, NULL);
    for (int i = 0; i < 200; i++)
        say(fd, "0123456789");
    ask(fd, POST("/admitted", "Content-Length: 2\r\n", "hi"), 401, NULL);
    ask(fd, POST("/admitted", "Content-Length: 2\r\nAuthorization: me\r\n", "hi"), 200, "hi");
}

TEST(httpserver_makes_bodies_wait_for_room_and_goes_on)
{
    SERVER = start_with((struct httpserver_options){ .max_body_bytes = 10000, .max_inflight_bytes = 10000 });
    static char body[8000];
    CLIENT first = dial(server), second = dial(server), third = dial(server);

    memset(body, 'x', sizeof(body));
    say(first, POST("/gate", "Content-Length: 8000\r\n", ""));
    send_bytes(first, body, sizeof(body));
    WAIT_UNTIL(n_entered == 1);
    say(second, POST("/quick-echo", "Content-Length: 8000\r\n", ""));
    send_bytes(second, body, sizeof(body));
    say(third, POST("/quick-echo", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"));
    WAIT_UNTIL(httpserver_counts(server).n_requests == 3);
    CHECK(is_alive(second) && is_alive(third));
    CHECK_EQ(httpserver_counts(server).inflight_bytes, 8000);
    atomic_store(&is_open, true);
    expect_answer(first, 200, NULL);
    expect_answer(second, 200, NULL);
    expect_answer(third, 200, "hello");
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 0);
}

TEST(httpserver_lets_bodies_of_unknown_length_end_that_wait_for_each_other)
{
    SERVER = start_with((struct httpserver_options){ .max_body_bytes = 10000, .max_inflight_bytes = 10000 });
    CLIENT first = dial(server), second = dial(server);
    static char piece[4000];

    memset(piece, 'x', sizeof(piece));
    say(first, POST("/quick-echo", "Transfer-Encoding: chunked\r\n", "fa0\r\n"));
    send_bytes(first, piece, sizeof(piece));
    say(second, POST("/quick-echo", "Transfer-Encoding: chunked\r\n", "fa0\r\n"));
    send_bytes(second, piece, sizeof(piece));
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 8000);
    for (int i = 0; i < 2; i++) { /* 8,000 more do not fit, for either */
        int fd = i == 0 ? first : second;

        say(fd, "\r\nfa0\r\n");
        send_bytes(fd, piece, sizeof(piece));
        say(fd, "\r\n7d0\r\n");
        send_bytes(fd, piece, 2000);
        say(fd, "\r\n0\r\n\r\n");
    }
    expect_answer(first, 200, NULL);
    expect_answer(second, 200, NULL);
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 0);
}

TEST(httpserver_gives_back_the_room_of_clients_that_vanish)
{
    SERVER = start_with((struct httpserver_options){ .max_body_bytes = 10000, .max_inflight_bytes = 10000 });
    CLIENT other = dial(server);
    int first = dial(server), second = dial(server);

    say(first, POST("/echo", "Content-Length: 9000\r\n", "half"));
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 9000);
    say(second, POST("/echo", "Transfer-Encoding: chunked\r\n", "3e8\r\nhalf")); /* fits */
    say(other, POST("/echo", "Content-Length: 9000\r\n", ""));                   /* does not */
    WAIT_UNTIL(httpserver_counts(server).n_requests == 3);
    close(first);
    close(second);
    for (int i = 0; i < 900; i++)
        say(other, "0123456789");
    expect_answer(other, 200, NULL);
    WAIT_UNTIL(httpserver_counts(server).inflight_bytes == 0);
}

/* --- listeners --- */

TEST(httpserver_listens_on_unix_sockets)
{
    struct address address = { .kind = ADDRESS_UNIX };
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    struct httpserver_options options = { .listen = &address, .n_listen = 1 };
    struct httpserver *other;
    struct stat info;
    struct error err;

    snprintf(address.name, sizeof(address.name), "%s/s", test_directory());
    memcpy(to.sun_path, address.name, sizeof(to.sun_path));
    for (int round = 0; round < 2; round++) { /* a socket that a killed server left is in nobody's way */
        int left = socket(AF_UNIX, SOCK_STREAM, 0);

        CHECK_EQ(bind(left, (struct sockaddr *)&to, sizeof(to)), 0);
        close(left);
        {
            SERVER = start_with(options);
            CLIENT fd = socket(AF_UNIX, SOCK_STREAM, 0);

            CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
            ask(fd, GET("/quick"), 200, "GET /quick ? 0");
            ask(fd, GET("/pooled"), 200, "GET /pooled ? 0");
            CHECK_EQ(httpserver_counts(server).n_accepted, 1);
            CHECK_ERROR(httpserver_start(&options, &other, &err), &err, ERR_IO); /* one that is alive stays */
            CHECK_HAS(err.text, "another program uses it");
        }
        CHECK(stat(address.name, &info) < 0);
    }
}

TEST(httpserver_says_which_address_cannot_be_had)
{
    SERVER = start();
    struct address taken[2] = { loopback, httpserver_address(server, 0) };
    struct address nowhere = { .kind = ADDRESS_TCP, .port = 1, .name = "192.0.2.1" };
    struct httpserver_options options = { .listen = taken, .n_listen = 2 };
    struct httpserver *other;
    struct error err;

    CHECK_ERROR(httpserver_start(&options, &other, &err), &err, ERR_IO);
    CHECK_HAS(err.text, address_format(&taken[1]).text);
    CHECK_HAS(err.text, "choose another port, 0 for a free one, or off");
    options = (struct httpserver_options){ .listen = &nowhere, .n_listen = 1 };
    CHECK_ERROR(httpserver_start(&options, &other, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "cannot listen on 192.0.2.1:1: ");
}

static int start_and_stop(void *context UNUSED, struct error *err)
{
    struct httpserver_options options = {
        .listen = &loopback, .n_listen = 1, .n_loops = 2, .pool = { .n_workers = 1 }
    };
    struct httpserver *server;

    if (httpserver_start(&options, &server, err) < 0)
        return -1;
    httpserver_free(server);
    return 0;
}

TEST(httpserver_starts_or_not_when_memory_runs_out)
{
    test_each_allocation_failing(start_and_stop, NULL);
}
