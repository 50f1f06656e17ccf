// SPDX-License-Identifier: Apache-2.0
#include "net/httpserver_sample_test.h"
#include "pack/unpacker.h"

static void get(int fd, const char *path, const char *headers, struct answer *ret_answer)
{
    char request[512];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, headers);
    say(fd, request);
    hear(fd, ret_answer);
}

static bool head_has(const struct answer *answer, const char *line)
{
    return strstr(answer->head, line) != NULL;
}

/* --- compression --- */

static size_t unpacked_bytes(const struct answer *answer, enum pack_kind kind)
{
    struct unpacker *unpacker;
    struct slice plain;
    struct error err;

    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_OK(unpacker_unpack(unpacker, kind, buffer_slice(&answer->body), 1 << 20, &plain, &err), &err);
    for (size_t i = 0; i < plain.len; i++)
        CHECK_EQ(plain.ptr[i], '0');
    unpacker_free(unpacker);
    return plain.len;
}

TEST(deliver_compresses_by_what_the_asker_likes_best)
{
    static const struct {
        const char *accept, *encoding;
        enum pack_kind kind;
    } cases[] = {
        { "gzip, deflate", "content-encoding: gzip\r\n", PACK_GZIP },
        { "gzip, deflate, br, zstd", "content-encoding: zstd\r\n", PACK_ZSTD },
        { "gzip;q=1, zstd;q=0.5", "content-encoding: gzip\r\n", PACK_GZIP },
        { "gzip;q=0.1, zstd;q=0", "content-encoding: gzip\r\n", PACK_GZIP },
    };
    SERVER = start();
    CLIENT fd = dial(server);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ANSWER answer = { 0 };
        char headers[128];

        snprintf(headers, sizeof(headers), "Accept-Encoding: %s\r\n", cases[i].accept);
        get(fd, "/read-zeros?100000", headers, &answer);
        CHECK_EQ(answer.status, 200);
        CHECK_HAS(answer.head, cases[i].encoding);
        CHECK_HAS(answer.head, "vary: accept-encoding\r\n");
        CHECK(answer.body.len < 1000);
        CHECK_EQ(unpacked_bytes(&answer, cases[i].kind), 100000);
        get(fd, "/zeros?2000", headers, &answer); /* routes of every scope */
        CHECK_HAS(answer.head, cases[i].encoding);
    }
}

TEST(deliver_leaves_plain_what_is_short_or_does_not_compress_or_nobody_wants_otherwise)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    get(fd, "/read-zeros?1024", "Accept-Encoding: gzip\r\n", &answer);
    CHECK_EQ(answer.body.len, 1024);
    CHECK(!head_has(&answer, "content-encoding") && !head_has(&answer, "vary"));
    get(fd, "/read-zeros?5000!", "Accept-Encoding: gzip\r\n", &answer);
    CHECK_EQ(answer.body.len, 5000);
    CHECK(!head_has(&answer, "content-encoding") && !head_has(&answer, "vary"));
    get(fd, "/read-zeros?5000", "Accept-Encoding: br, gzip;q=0\r\n", &answer);
    CHECK_EQ(answer.body.len, 5000);
    CHECK(!head_has(&answer, "content-encoding") && head_has(&answer, "vary: accept-encoding\r\n"));
    get(fd, "/read-zeros?5000", "", &answer);
    CHECK_EQ(answer.body.len, 5000);
}

/* --- tags --- */

static void take_tag(const struct answer *answer, char ret_tag[static 64])
{
    const char *line = strstr(answer->head, "\r\netag: ");

    CHECK(line);
    CHECK_EQ(sscanf(line, "\r\netag: %63s", ret_tag), 1);
}

TEST(deliver_tells_who_has_the_answer_already)
{
    SERVER = start();
    CLIENT fd = dial(server);
    char plain[64], packed[64], headers[256];
    ANSWER answer = { 0 };

    get(fd, "/read-zeros?5000", "", &answer);
    take_tag(&answer, plain);
    CHECK_HAS(answer.head, "cache-control: no-cache\r\n");
    get(fd, "/read-zeros?5000", "Accept-Encoding: gzip\r\n", &answer);
    take_tag(&answer, packed);
    CHECK_HAS(packed, "-gzip\"");
    CHECK(strncmp(plain, packed, strlen(plain) - 1) == 0);

    for (int i = 0; i < 4; i++) {
        static const char *const before[] = { "", "W/", "\"other\", ", "" };

        snprintf(headers, sizeof(headers), "If-None-Match: %s%s\r\n", before[i],
                 i == 3       ? "*"
                 : i % 2 == 1 ? plain
                              : packed);
        get(fd, "/read-zeros?5000", headers, &answer);
        CHECK_EQ(answer.status, 304);
        CHECK_EQ(answer.body.len, 0);
        CHECK_HAS(answer.head, plain);
        CHECK_HAS(answer.head, "cache-control: no-cache\r\n");
        CHECK_HAS(answer.head, "vary: accept-encoding\r\n");
    }
    snprintf(headers, sizeof(headers), "If-None-Match: %s\r\n", plain);
    get(fd, "/read-zeros?5001", headers, &answer);
    CHECK_EQ(answer.status, 200);
    CHECK_EQ(answer.body.len, 5001);
}

TEST(deliver_tags_only_what_was_read)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    get(fd, "/pooled", "If-None-Match: *\r\n", &answer); /* no route of reads */
    CHECK_EQ(answer.status, 200);
    CHECK(!head_has(&answer, "etag"));
    say(fd, ADMIN("Content-Length: 2\r\nIf-None-Match: *\r\n", "hi"));
    hear(fd, &answer);
    CHECK_EQ(answer.status, 200);
    CHECK(!head_has(&answer, "etag"));
}

/* --- room --- */

#define ZEROS_1_MIB "/read-zeros?1048576!"

TEST(deliver_refuses_what_there_is_no_room_for_until_others_have_read)
{
    SERVER = start_with((struct httpserver_options){ .max_answer_bytes = 2 << 20 });
    CLIENT slow = dial(server), other = dial(server);
    ANSWER answer = { 0 };

    say(slow, GET("/read-zeros?16000000!")); /* alone it may, however long; more than sockets hold */
    WAIT_UNTIL(httpserver_counts(server).answer_bytes == 16000000);
    get(other, ZEROS_1_MIB, "", &answer);
    CHECK_EQ(answer.status, 503);
    CHECK_HAS(buffer_slice(&answer.body), "answers that others have not read yet take all the memory");
    CHECK_HAS(answer.head, "retry-after: 1\r\n");
    CHECK_EQ(httpserver_counts(server).n_answers_refused, 1);
    ask(other, GET("/read"), 200, "GET /read ? 0"); /* short ones are always given */
    ask(other, POST("/write", "Content-Length: 2\r\n", "hi"), 200, "hi");
    hear(slow, &answer);
    CHECK_EQ(answer.body.len, 16000000);
    WAIT_UNTIL(httpserver_counts(server).answer_bytes == 0);
    get(other, ZEROS_1_MIB, "", &answer);
    CHECK_EQ(answer.body.len, 1 << 20);
    WAIT_UNTIL(httpserver_counts(server).answer_bytes == 0);
}

TEST(deliver_counts_what_loops_answer_too)
{
    SERVER = start_with((struct httpserver_options){ .max_answer_bytes = 2 << 20 });
    CLIENT slow = dial(server), other = dial(server);
    ANSWER answer = { 0 };

    say(slow, GET("/large"));
    WAIT_UNTIL(httpserver_counts(server).answer_bytes == LARGE_BYTES);
    get(other, "/large", "", &answer);
    CHECK_EQ(answer.status, 503);
    ask(other, GET("/quick"), 200, "GET /quick ? 0");
    hear(slow, &answer);
    CHECK_EQ(answer.body.len, LARGE_BYTES);
    WAIT_UNTIL(httpserver_counts(server).answer_bytes == 0);
}

TEST(deliver_gives_nothing_that_is_a_part_of_an_answer)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };
    static const char *const paths[] = { "/torn", "/quick-torn" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        get(fd, paths[i], "", &answer);
        CHECK(answer.status >= 400);
        CHECK(!head_has(&answer, "cache-control"));
        CHECK(slice_find(buffer_slice(&answer.body), SLICE("0123")) < 0);
    }
}

TEST(deliver_gets_the_room_back_of_who_does_not_read)
{
    SERVER = start_with((struct httpserver_options){ .write_timeout_ns = 50 * MS });
    CLIENT fd = dial(server), gone = dial(server);

    say(fd, GET("/read-zeros?16000000!"));
    say(gone, GET("/read-zeros?16000000!"));
    WAIT_UNTIL(httpserver_counts(server).answer_bytes > 0);
    hang_up(&gone);
    WAIT_UNTIL(httpserver_counts(server).n_connections == 0);
    CHECK_EQ(httpserver_counts(server).answer_bytes, 0);
}

TEST(deliver_does_not_let_an_answer_trickle_out_for_ever)
{
    SERVER = start_with((struct httpserver_options){ .write_timeout_ns = 100 * MS }); /* so 1 s for all of it */
    CLIENT fd = dial(server);
    char bytes[65536];
    ssize_t n;

    say(fd, GET("/read-zeros?64000000!"));
    while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        usleep(20000);
    WAIT_UNTIL(httpserver_counts(server).n_connections == 0);
    CHECK_EQ(httpserver_counts(server).answer_bytes, 0);
}

TEST(deliver_keeps_the_order_behind_a_body_that_was_not_copied)
{
    SERVER = start();
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    for (int i = 0; i < 4; i++)
        say(fd, GET("/read-zeros?200000!") GET("/read?1") GET("/quick?2"));
    for (int i = 0; i < 4; i++) {
        hear(fd, &answer);
        CHECK_EQ(answer.body.len, 200000);
        for (size_t at = 0; at < answer.body.len; at++)
            CHECK_EQ(answer.body.data[at], (char)(at * 2654435761u >> 13));
        expect_answer(fd, 200, "GET /read ?1 0");
        expect_answer(fd, 200, "GET /quick ?2 0");
    }
}
