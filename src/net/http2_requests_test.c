// SPDX-License-Identifier: Apache-2.0
/* Requests, answers and refusals over HTTP/2. */
#include "net/http2_sample_test.h"

/* --- requests and answers --- */

TEST(http2_serves_a_request_by_prior_knowledge)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/hello%20world?a=%41&b");

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "GET /hello world ?a=%41&b @there:4040 h2=1");
    CHECK_HAS(seen_of(world, id)->headers, "content-type=text/plain\n");
    CHECK_HAS(seen_of(world, id)->headers, "content-length=42\n");
    CHECK_HAS(seen_of(world, id)->headers, " GMT\n");
    CHECK(seen_of(world, id)->is_closed);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
}

TEST(http2_writes_headers_as_it_must_whatever_handlers_call_them)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/hello");

    world->server.options.cors_origin = "*";
    talk(world);
    CHECK_HAS(seen_of(world, id)->headers, "x-odd=two  lines\n");
    CHECK_HAS(seen_of(world, id)->headers, "access-control-allow-origin=*\n");
    CHECK(!strstr(seen_of(world, id)->headers, "connection="));
}

TEST(http2_answers_head_with_a_length_and_no_body)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = ask(world, "HEAD", "/hello", NULL, 0, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_HAS(seen_of(world, id)->headers, "content-length=30\n");
    CHECK_EQ(body_of(world, id).len, 0);
    CHECK(seen_of(world, id)->is_closed);
}

TEST(http2_takes_requests_byte_by_byte)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10 };
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);
    const uint8_t *bytes;
    ssize_t n;

    while ((n = nghttp2_session_mem_send(world->client, &bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            give_to_server(world, bytes + i, 1);
    talk(world);
    CHECK_TEXT(body_of(world, id), "10 bytes, 0 wrong");
}

TEST(http2_takes_bodies_larger_than_its_windows)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload known = { .left = 3 << 20 }, unknown = { .left = 3000001 };
    nghttp2_nv length = NV("content-length", "3145728");
    int32_t first = ask(world, "POST", "/count", &length, 1, &known);
    int32_t second = ask(world, "POST", "/count", NULL, 0, &unknown);

    talk(world);
    CHECK_TEXT(body_of(world, first), "3145728 bytes, 0 wrong");
    CHECK_TEXT(body_of(world, second), "3000001 bytes, 0 wrong");
    CHECK_EQ(world->server.inflight_bytes, 0);
}

TEST(http2_tells_those_who_ask_that_they_may_send_the_body)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .waits = true };
    nghttp2_nv expect = NV("expect", "100-continue");
    int32_t id = ask(world, "POST", "/count", &expect, 1, &upload);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 100);
    upload = (struct upload){ .left = 5 };
    CHECK_EQ(nghttp2_session_resume_data(world->client, id), 0);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "5 bytes, 0 wrong");
}

TEST(http2_ignores_trailers_of_requests)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 4, .waits = true };
    nghttp2_nv trailer = NV("x-sum", "1");
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

    talk(world);
    CHECK_EQ(nghttp2_submit_trailer(world->client, id, &trailer, 1), 0);
    talk(world);
    CHECK_TEXT(body_of(world, id), "4 bytes, 0 wrong");
}

TEST(http2_keeps_output_short_until_the_peer_reads)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 64 << 20 };
    const size_t large = (size_t)32 << 16;
    int32_t id;

    CHECK_EQ(nghttp2_submit_settings(world->client, NGHTTP2_FLAG_NONE, &window, 1), 0);
    CHECK_EQ(nghttp2_session_set_local_window_size(world->client, NGHTTP2_FLAG_NONE, 0, 64 << 20), 0);
    id = get(world, "/large");
    while (carry_to_server(world))
        ;
    CHECK(world->connection.out.len > 200 << 10);
    CHECK(world->connection.out.len < 300 << 10);
    CHECK_EQ(world->connection.wait, CONNECTION_WORK); /* the deadline is the socket's */
    talk(world);
    CHECK_EQ(body_of(world, id).len, large);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
}

TEST(http2_gives_the_room_of_a_request_back_before_its_answer_is_read)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    struct upload upload = { .left = 1 << 20 };
    int32_t id;

    CHECK_EQ(nghttp2_submit_settings(world->client, NGHTTP2_FLAG_NONE, &window, 1), 0);
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_EQ(body_of(world, id).len, 0);
    CHECK_EQ(world->connection.n_exchanges, 1);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    CHECK_EQ(world->server.inflight_bytes, 0);
    CHECK(!world->connection.exchanges->body.data);
}

TEST(http2_waits_for_windows_that_the_peer_keeps_shut)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id = get(world, "/large");
    const uint8_t *bytes;

    while (carry_to_server(world))
        ;
    for (int i = 0; i < 10; i++) {
        CHECK(nghttp2_session_mem_recv(world->client, (const uint8_t *)world->connection.out.data,
                                       world->connection.out.len) >= 0);
        buffer_clear(&world->connection.out);
        http2_protocol.output(&world->connection);
    }
    CHECK_EQ(body_of(world, id).len, 65535);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    CHECK(world->connection.wait_until_mono_ns < INT64_MAX);
    while (nghttp2_session_mem_send(world->client, &bytes) > 0) /* its windows are thrown away */
        ;
    CHECK_EQ(world->connection.n_exchanges, 1);
}

/* --- calls --- */

static int32_t call(struct world *world, struct upload *upload, const char *encoding)
{
    nghttp2_nv headers[] = { NV("content-type", "application/grpc"), NV("te", "trailers"),
                             NV("grpc-encoding", encoding) };

    return ask(world, "POST", "/call", headers, ARRAY_LEN(headers), upload);
}

static ssize_t read_frame(nghttp2_session *session UNUSED, int32_t id UNUSED, uint8_t *to, size_t len UNUSED,
                          uint32_t *ret_flags, nghttp2_data_source *source UNUSED, void *context UNUSED)
{
    memcpy(to, "\0\0\0\0\2ab", 7);
    *ret_flags |= NGHTTP2_DATA_FLAG_EOF;
    return 7;
}

TEST(http2_sends_the_outcome_of_a_call_behind_its_message)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_data_provider body = { .read_callback = read_frame };
    nghttp2_nv headers[] = { NV(":method", "POST"), NV(":scheme", "http"), NV(":authority", "there"),
                             NV(":path", "/any/thing/call"), NV("content-type", "application/grpc") };
    int32_t id = nghttp2_submit_request(world->client, NULL, headers, ARRAY_LEN(headers), &body, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK(slice_equal(body_of(world, id), slice_of("\0\0\0\0\2ab", 7)));
    CHECK(seen_of(world, id)->has_trailers);
    CHECK_HAS(seen_of(world, id)->headers, "grpc-status=0\n");
    CHECK(!strstr(seen_of(world, id)->headers, "content-length"));
}

TEST(http2_sends_a_failed_call_as_one_frame)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 7 };
    int32_t id = call(world, &upload, "lzma");

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK(seen_of(world, id)->is_one_frame);
    CHECK_HAS(seen_of(world, id)->headers, "grpc-status=12\n");
    CHECK_HAS(seen_of(world, id)->headers, "grpc-message=grpc-encoding 'lzma' is not known here");
}

/* --- refusals --- */

TEST(http2_answers_before_the_body_and_stops_the_upload)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload nowhere = { .left = 3 << 20, .waits = true }, too_long = { .left = 2000, .waits = true };
    struct upload claimed = { .left = 10, .waits = true };
    nghttp2_nv length = NV("content-length", "1001");
    int32_t ids[] = { ask(world, "POST", "/nowhere", NULL, 0, &nowhere),
                      ask(world, "POST", "/small", NULL, 0, &too_long),
                      ask(world, "POST", "/small", &length, 1, &claimed) };

    talk(world);
    CHECK_EQ(seen_of(world, ids[0])->status, 404);
    CHECK_EQ(seen_of(world, ids[1])->status, 413);
    CHECK_EQ(seen_of(world, ids[2])->status, 413);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        CHECK(seen_of(world, ids[i])->is_closed);
        CHECK_EQ(seen_of(world, ids[i])->close_code, NGHTTP2_NO_ERROR);
        CHECK_HAS(body_of(world, ids[i]), "\"message\":");
    }
    CHECK(nowhere.left >= 2 << 20);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK(!world->is_over);
}

TEST(http2_resets_an_answered_upload_only_when_the_answer_was_read)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10, .waits = true };
    int32_t id = ask(world, "POST", "/nowhere", NULL, 0, &upload);

    while (carry_to_server(world))
        ;
    carry_to_client(world); /* the answer and a PING */
    CHECK_EQ(seen_of(world, id)->status, 404);
    CHECK(!seen_of(world, id)->is_closed);
    CHECK_EQ(world->connection.wait, CONNECTION_WRITE);
    talk(world);
    CHECK(seen_of(world, id)->is_closed);
    for (int i = 0; i < 300; i++) { /* PINGs that were asked for are no nuisance */
        ask(world, "POST", "/nowhere", NULL, 0, &upload);
        talk(world);
    }
    CHECK(!world->is_over);
}

TEST(http2_refuses_heads_with_too_many_or_too_long_headers)
{
    AUTO(free_worldp) struct world *world = connected();
    static char names[130][8], value[40000];
    nghttp2_nv headers[130];
    int32_t many, just_enough, long_ones;

    memset(value, 'v', sizeof(value) - 1);
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        snprintf(names[i], sizeof(names[i]), "x-%zu", i);
        headers[i] = NV(names[i], "1");
    }
    many = ask(world, "GET", "/hello", headers, HTTP_MAX_HEADERS + 1, NULL);
    just_enough = ask(world, "GET", "/hello", headers, HTTP_MAX_HEADERS, NULL);
    headers[0] = NV("x-0", value);
    headers[1] = NV("x-1", value);
    talk(world);
    long_ones = ask(world, "GET", "/hello", headers, 2, NULL);
    talk(world);
    CHECK_EQ(seen_of(world, many)->status, 431);
    CHECK_HAS(body_of(world, many), "128 headers");
    CHECK_EQ(seen_of(world, just_enough)->status, 200);
    CHECK_EQ(seen_of(world, long_ones)->status, 431);
}

TEST(http2_refuses_bodies_of_another_length_than_they_said)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 10 };
    nghttp2_nv length = NV("content-length", "11");
    int32_t id = ask(world, "POST", "/count", &length, 1, &upload);

    talk(world);
    CHECK_EQ(seen_of(world, id)->close_code, NGHTTP2_PROTOCOL_ERROR);
    CHECK_EQ(seen_of(world, id)->status, 0);
    CHECK_EQ(world->connection.n_exchanges, 0);
}

TEST(http2_refuses_connect)
{
    AUTO(free_worldp) struct world *world = connected();
    nghttp2_nv headers[] = { NV(":method", "CONNECT"), NV(":authority", "elsewhere:443") };
    int32_t id = nghttp2_submit_request(world->client, NULL, headers, ARRAY_LEN(headers), NULL, NULL);

    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 501);
}

TEST(http2_refuses_more_streams_at_a_time_than_it_said)
{
    AUTO(free_worldp) struct world *world = connected();
    static struct upload uploads[130];
    int32_t ids[130];
    size_t n_refused = 0;

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        uploads[i] = (struct upload){ .left = 1, .waits = true };
        ids[i] = ask(world, "POST", "/count", NULL, 0, &uploads[i]);
    }
    while (carry_to_server(world)) /* before the client knows the limit */
        ;
    CHECK_EQ(world->connection.n_exchanges, 128);
    talk(world);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        n_refused += seen_of(world, ids[i])->is_closed && seen_of(world, ids[i])->close_code == NGHTTP2_REFUSED_STREAM;
    CHECK_EQ(n_refused, 2);
}

TEST(http2_ends_what_is_not_http2)
{
    AUTO(free_worldp) struct world *world = connected();

    give_to_server(world, "GET / HTTP/1.1\r\n\r\n", 18);
    CHECK(world->is_over);
}

/* --- waiting for room --- */

TEST(http2_holds_windows_back_until_there_is_room)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 3 << 20 };
    int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

    world->server.inflight_bytes = 16 << 20;
    talk(world);
    CHECK_EQ(upload.left, 2 << 20); /* a window of 1 MiB */
    CHECK_EQ(seen_of(world, id)->status, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_BODY);
    world->server.inflight_bytes = 0;
    exchange_feed_starving(&world->loop);
    talk(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
    CHECK_TEXT(body_of(world, id), "3145728 bytes, 0 wrong");
}

TEST(http2_hands_a_whole_body_on_when_its_room_comes)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 5000 };
    nghttp2_nv length = NV("content-length", "5000");
    int32_t id = ask(world, "POST", "/count", &length, 1, &upload);

    world->server.inflight_bytes = 16 << 20;
    talk(world);
    CHECK_EQ(upload.left, 0);
    CHECK_EQ(seen_of(world, id)->status, 0);
    world->server.inflight_bytes = 0;
    exchange_feed_starving(&world->loop);
    talk(world);
    CHECK_TEXT(body_of(world, id), "5000 bytes, 0 wrong");
}

TEST(http2_gives_the_connection_back_what_a_reset_stream_held)
{
    AUTO(free_worldp) struct world *world = connected();

    world->server.inflight_bytes = 16 << 20;
    for (int i = 0; i < 20; i++) { /* together more than the connection's window */
        struct upload upload = { .left = 1 << 20, .waits = true };
        int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

        talk(world);
        CHECK_EQ(upload.left, 0);
        CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
        talk(world);
    }
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK(!world->loop.starving);
    world->server.inflight_bytes = 0;
}
