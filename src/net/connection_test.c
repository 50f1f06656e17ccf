// SPDX-License-Identifier: Apache-2.0
/* Connections whose peers are slow, greedy or gone, and servers that stop under them. */
#include "base/thread.h"
#include "net/httpserver_sample_test.h"

/* --- slow and silent peers --- */

TEST(httpserver_answers_who_half_closes)
{
    SERVER = start();
    CLIENT fd = dial(server), quick = dial(server);

    say(fd, GET("/pooled?1") POST("/gate", "Content-Length: 2\r\n", "ab") GET("/quick?2"));
    CHECK_EQ(shutdown(fd, SHUT_WR), 0);
    WAIT_UNTIL(n_entered == 1);
    atomic_store(&is_open, true);
    expect_answer(fd, 200, "GET /pooled ?1 0");
    expect_answer(fd, 200, NULL);
    expect_answer(fd, 200, "GET /quick ?2 0");
    expect_end(fd);
    say(quick, GET("/quick"));
    CHECK_EQ(shutdown(quick, SHUT_WR), 0);
    expect_answer(quick, 200, NULL);
    expect_end(quick);
}

TEST(httpserver_cuts_slow_heads_bodies_and_idlers_off)
{
    SERVER = start_with((struct httpserver_options){
        .head_timeout_ns = 300 * MS, .body_timeout_ns = 300 * MS, .idle_timeout_ns = 500 * MS });
    CLIENT head = dial(server), body = dial(server), idle = dial(server), again = dial(server);

    say(head, "GET /quick HTTP/1.1\r\nHost:");
    say(body, POST("/echo", "Content-Length: 10\r\n", "half"));
    ask(again, GET("/quick"), 200, NULL);
    expect_answer(head, 408, NULL);
    expect_end(head);
    expect_answer(body, 408, NULL);
    expect_end(body);
    expect_end(idle); /* without a word: nobody asked anything */
    expect_end(again);
    CHECK_EQ(httpserver_counts(server).n_timeouts, 2);
}

TEST(httpserver_does_not_let_a_head_trickle_in_for_ever)
{
    SERVER = start_with((struct httpserver_options){ .head_timeout_ns = 100 * MS });
    CLIENT fd = dial(server);

    say(fd, "GET /quick HTTP/1.1\r\nHost: x\r\n");
    while (send_bytes(fd, "A: b\r\n", 6) == 6 && is_alive(fd))
        usleep(10000);
    expect_answer(fd, 408, NULL);
}

TEST(httpserver_does_not_count_the_wait_for_room_against_a_peer)
{
    SERVER = start_with((struct httpserver_options){
        .max_body_bytes = 10000, .max_inflight_bytes = 10000, .body_timeout_ns = 50 * MS });
    CLIENT first = dial(server), second = dial(server);

    say(first, POST("/gate", "Content-Length: 4\r\n", "abcd"));
    WAIT_UNTIL(n_entered == 1);
    say(second, POST("/quick-echo", "Content-Length: 10000\r\n", ""));
    for (int i = 0; i < 1000; i++)
        say(second, "0123456789");
    usleep(800000); /* several ticks of the loop, and many timeouts */
    CHECK(is_alive(second));
    atomic_store(&is_open, true);
    expect_answer(first, 200, NULL);
    expect_answer(second, 200, NULL);
}

TEST(httpserver_cuts_off_who_does_not_read)
{
    SERVER = start_with((struct httpserver_options){ .write_timeout_ns = 50 * MS });
    CLIENT fd = dial(server);
    int small = 4096;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    say(fd, GET("/large"));
    WAIT_UNTIL(httpserver_counts(server).n_requests == 1);
    WAIT_UNTIL(httpserver_counts(server).n_connections == 0);
}

TEST(httpserver_lets_a_slow_reader_finish_whatever_the_idle_timeout)
{
    SERVER = start_with((struct httpserver_options){ .idle_timeout_ns = 400 * MS });
    CLIENT fd = dial(server);
    ANSWER answer = { 0 };

    say(fd, GET("/large"));
    usleep(1000000);
    hear(fd, &answer);
    CHECK_EQ(answer.body.len, LARGE_BYTES);
}

TEST(httpserver_reads_no_further_while_answers_are_not_read)
{
    SERVER = start();
    CLIENT fd = dial(server);

    for (int i = 0; i < 8; i++)
        say(fd, GET("/large"));
    usleep(100000);
    CHECK(httpserver_counts(server).n_requests < 4); /* 8 MiB each */
    for (int i = 0; i < 8; i++) {
        ANSWER answer = { 0 };

        hear(fd, &answer);
        CHECK_EQ(answer.body.len, LARGE_BYTES);
    }
    CHECK_EQ(httpserver_counts(server).n_requests, 8);
}

/* --- those who ask, and those who bring --- */

TEST(httpserver_takes_what_is_brought_while_all_readers_are_busy)
{
    SERVER = start_with((struct httpserver_options){ .read_pool = { .n_workers = 2, .max_waiting = 3 } });
    CLIENT refused = dial(server), writer = dial(server);
    int readers[5];
    ANSWER answer = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        say(readers[i] = dial(server), GET("/read-gate"));
        WAIT_UNTIL(n_entered == MIN(i + 1, 2u));
    }
    WAIT_UNTIL(httpserver_counts(server).read_pool.n_waiting == 3);
    for (int i = 0; i < 20; i++)
        ask(writer, POST("/write", "Content-Length: 2\r\n", "hi"), 200, "hi");
    say(refused, GET("/read"));
    hear(refused, &answer);
    CHECK_EQ(answer.status, 429);
    CHECK_HAS(buffer_slice(&answer.body), "as many queries wait for their turn as may; try again in a moment");
    CHECK_HAS(answer.head, "retry-after: 1\r\n");
    say(refused, ADMIN("Content-Length: 2\r\n", "hi")); /* what changes the server is no upload either */
    expect_answer(refused, 429, NULL);
    CHECK_EQ(httpserver_counts(server).read_pool.n_refused, 2);
    CHECK_EQ(httpserver_counts(server).pool.n_run, 20);
    atomic_store(&is_open, true);
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        expect_answer(readers[i], 200, NULL);
        hang_up(&readers[i]);
    }
}

TEST(httpserver_numbers_readers_behind_those_who_take_uploads)
{
    SERVER = start_with((struct httpserver_options){ .pool = { .n_workers = 3 }, .read_pool = { .n_workers = 2 } });

    for (int i = 0; i < 50; i++) {
        CLIENT reader = dial(server), writer = dial(server);
        ANSWER answer = { 0 };

        say(reader, GET("/read-worker"));
        say(writer, POST("/write-worker", "Content-Length: 0\r\n", ""));
        hear(reader, &answer);
        CHECK(answer.body.data[0] == '4' || answer.body.data[0] == '5'); /* 3 is the overflow of the uploads */
        hear(writer, &answer);
        CHECK(answer.body.data[0] >= '0' && answer.body.data[0] <= '2');
    }
}

static void reset_connection(int *fd)
{
    struct linger at_once = { .l_onoff = 1 };

    setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    hang_up(fd);
}

TEST(httpserver_tells_handlers_that_their_peers_hung_up)
{
    SERVER = start_with((struct httpserver_options){ .read_pool = { .n_workers = 3 } });
    CLIENT closed = dial(server), reset = dial(server), half = dial(server), later = dial(server);

    say(closed, GET("/read-gate"));
    say(reset, GET("/read-gate"));
    say(half, GET("/read-gate"));
    WAIT_UNTIL(n_entered == 3);
    say(later, GET("/read-gate"));
    WAIT_UNTIL(httpserver_counts(server).read_pool.n_waiting == 1);
    hang_up(&later); /* its turn never came */
    usleep(600000);  /* two ticks of the loop */
    CHECK_EQ(n_gone, 0);
    hang_up(&closed);
    reset_connection(&reset);
    CHECK_EQ(shutdown(half, SHUT_WR), 0);
    WAIT_UNTIL(n_gone == 3);
    expect_answer(half, 200, NULL); /* it can still read what the handler made of it */
    expect_end(half);
    WAIT_UNTIL(httpserver_counts(server).n_connections == 0);
    CHECK_EQ(n_entered, 3);
}

TEST(httpserver_takes_what_was_brought_by_who_hung_up)
{
    SERVER = start_with((struct httpserver_options){ .pool = { .n_workers = 1 } });
    CLIENT first = dial(server), second = dial(server);

    say(first, POST("/write-gate", "Content-Length: 2\r\n", "hi"));
    WAIT_UNTIL(n_entered == 1);
    say(second, POST("/write-gate", "Content-Length: 2\r\n", "hi"));
    WAIT_UNTIL(httpserver_counts(server).pool.n_waiting == 1);
    reset_connection(&second);
    WAIT_UNTIL(httpserver_counts(server).n_connections == 1);
    atomic_store(&is_open, true);
    expect_answer(first, 200, NULL);
    WAIT_UNTIL(n_left == 2);
}

/* --- too many --- */

TEST(httpserver_lets_connections_past_the_limit_wait)
{
    SERVER = start_with((struct httpserver_options){ .max_connections = 2 });
    int first = dial(server);
    CLIENT second = dial(server), third = dial(server);

    ask(first, GET("/quick"), 200, NULL);
    ask(second, GET("/quick"), 200, NULL);
    say(third, GET("/quick"));
    CHECK_EQ(httpserver_counts(server).n_accepted, 2);
    CHECK(is_alive(third));
    close(first);
    expect_answer(third, 200, NULL);
    CHECK_EQ(httpserver_counts(server).n_accepted, 3);
}

TEST(httpserver_spills_and_refuses_when_the_pool_is_full)
{
    SERVER = start_with((struct httpserver_options){ .pool = { .n_workers = 1, .max_waiting = 1 } });
    CLIENT running = dial(server), waiting = dial(server), other = dial(server);
    ANSWER answer = { 0 };

    say(running, POST("/gate", "Content-Length: 1\r\n", "x"));
    WAIT_UNTIL(n_entered == 1);
    say(waiting, POST("/gate", "Content-Length: 1\r\n", "x"));
    WAIT_UNTIL(httpserver_counts(server).pool.n_waiting == 1);
    ask(other, POST("/spill", "Content-Length: 1\r\n", "x"), 202, "overflowed");
    CHECK_EQ(n_settled, 1);
    say(other, POST("/gate", "Content-Length: 1\r\n", "x"));
    hear(other, &answer);
    CHECK_EQ(answer.status, 429);
    CHECK_HAS(answer.head, "retry-after: 1\r\n");
    CHECK_EQ(httpserver_counts(server).pool.n_refused, 1);
    CHECK_EQ(httpserver_counts(server).pool.n_overflowed, 1);
    atomic_store(&is_open, true);
    expect_answer(running, 200, NULL);
    expect_answer(waiting, 200, NULL);
}

/* --- stopping --- */

struct draining {
    struct thread thread;
    struct httpserver *server;
    _Atomic bool is_done;
};

static void drain(struct thread *thread UNUSED, void *context)
{
    struct draining *draining = context;

    httpserver_drain(draining->server, WAIT_SECONDS * CLOCK_NS_PER_SECOND);
    atomic_store(&draining->is_done, true);
}

TEST(httpserver_answers_what_was_begun_before_it_stops)
{
    SERVER = start();
    struct draining draining = { .server = server };
    struct address address = httpserver_address(server, 0);
    struct httpserver_options again = { .listen = &address, .n_listen = 1 };
    CLIENT running = dial(server), half = dial(server), idle = dial(server);
    struct error err;

    ask(idle, GET("/quick"), 200, NULL);
    say(half, POST("/echo", "Content-Length: 4\r\n", "ab"));
    say(running, POST("/gate", "Content-Length: 1\r\n", "x"));
    WAIT_UNTIL(n_entered == 1 && httpserver_counts(server).n_requests == 3);
    CHECK_OK(thread_start(&draining.thread, "drain", drain, &draining, &err), &err);
    expect_end(idle);
    CHECK(!atomic_load(&draining.is_done));
    ask(half, "cd", 200, "abcd");
    expect_end(half);
    hang_up(&half);
    /* The address is free for the next server while this one still works. */
    {
        AUTO(stopp) struct httpserver *next = NULL;

        again.routes = (struct route_table){ routes, ARRAY_LEN(routes) };
        WAIT_UNTIL(httpserver_start(&again, &next, &err) == 0);
    }
    atomic_store(&is_open, true);
    expect_answer(running, 200, NULL);
    expect_end(running);
    hang_up(&running);
    thread_stop(&draining.thread);
    CHECK_EQ(httpserver_counts(server).n_connections, 0);
}

TEST(httpserver_answers_what_has_come_when_it_begins_to_stop)
{
    for (int i = 0; i < 20; i++) {
        SERVER = start();
        CLIENT fd = dial(server);

        ask(fd, GET("/quick"), 200, NULL);
        say(fd, GET("/pooled"));
        httpserver_drain(server, 1);
        expect_answer(fd, 200, NULL);
        expect_end(fd);
    }
}

TEST(httpserver_stops_under_load_without_a_trace)
{
    for (int round = 0; round < 10; round++) {
        SERVER = start();
        int fds[20];

        for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
            fds[i] = dial(server);
            say(fds[i],
                i % 2 ? POST("/gate", "Content-Length: 3\r\n", "abc") : POST("/echo", "Content-Length: 9\r\n", "abc"));
        }
        atomic_store(&is_open, round % 2 == 0);
        httpserver_drain(server, MS);
        for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
            send_bytes(fds[i], "defghi", 6);
            close(fds[i]);
        }
    }
}

TEST(httpserver_tells_handlers_that_their_peers_are_gone_when_it_ends)
{
    struct httpserver *server = start();
    CLIENT fd = dial(server), waiting = dial(server);

    say(fd, POST("/gate", "Content-Length: 1\r\n", "x"));
    say(waiting, POST("/gate", "Content-Length: 1\r\n", "x"));
    WAIT_UNTIL(n_entered == 2);
    httpserver_drain(server, MS);
    CHECK_EQ(n_left, 0);
    httpserver_free(server); /* the gate is closed still */
    CHECK_EQ(n_gone, 2);
    expect_end(fd);
}
