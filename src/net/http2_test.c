// SPDX-License-Identifier: Apache-2.0
/* Connections of HTTP/2: their workers, their end, upgrades to them, and peers that are a nuisance. */
#include "net/http2_sample_test.h"

/* --- workers --- */

static void start_pool(struct world *world)
{
    struct pool_options options = { .n_workers = 1, .context = &world->loop, .done = finished };
    struct error err;

    CHECK_OK(pool_new(&options, &world->server.pool, &err), &err);
}

static struct exchange *wait_for_worker(struct world *world)
{
    struct exchange *exchange;

    while (!(exchange = __atomic_load_n(&world->loop.finished_first, __ATOMIC_ACQUIRE)))
        usleep(1000);
    world->loop.finished_first = NULL;
    return exchange;
}

TEST(http2_sends_answers_that_workers_give_later)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t slow, quick;

    start_pool(world);
    slow = get(world, "/slow");
    quick = get(world, "/hello");
    talk(world);
    CHECK_EQ(seen_of(world, quick)->status, 200);
    CHECK_EQ(seen_of(world, slow)->status, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_WORK);
    connection_answer(wait_for_worker(world));
    talk(world);
    CHECK_EQ(seen_of(world, slow)->status, 200);
    CHECK_TEXT(body_of(world, slow), "slow");
}

TEST(http2_tells_a_worker_that_the_peer_gave_up)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id;

    start_pool(world);
    id = get(world, "/slow?wait");
    talk(world);
    CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
    talk(world);
    CHECK_EQ(world->connection.n_exchanges, 0);
    CHECK_EQ(world->connection.wait, CONNECTION_IDLE);
    connection_answer(wait_for_worker(world)); /* frees it, and answers nobody */
    CHECK_EQ(seen_of(world, id)->status, 0);
}

TEST(http2_lets_a_worker_finish_when_the_connection_ends)
{
    AUTO(free_worldp) struct world *world = connected();

    start_pool(world);
    atomic_store(&n_handled, 0);
    get(world, "/slow?wait");
    talk(world);
    world->connection.protocol->close(&world->connection);
    world->connection.protocol = NULL;
    while (world->connection.exchanges)
        exchange_free(world->connection.exchanges);
    connection_answer(wait_for_worker(world));
    CHECK_EQ(n_handled, 1);
}

/* --- the end --- */

TEST(http2_drains_by_finishing_what_runs)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t slow, late;

    start_pool(world);
    slow = get(world, "/slow");
    talk(world);
    http2_protocol.drain(&world->connection);
    CHECK(!world->connection.is_closing);
    late = get(world, "/hello"); /* on its way when the goodbye is sent */
    while (carry_to_server(world))
        ;
    talk(world);
    CHECK(world->has_goaway);
    CHECK_EQ(world->goaway_code, NGHTTP2_NO_ERROR);
    CHECK_EQ(seen_of(world, late)->close_code, NGHTTP2_REFUSED_STREAM);
    connection_answer(wait_for_worker(world));
    carry_to_client(world);
    CHECK_EQ(seen_of(world, slow)->status, 200);
    CHECK(world->connection.is_closing);
}

TEST(http2_ends_an_idle_connection_at_once_when_it_drains)
{
    AUTO(free_worldp) struct world *world = connected();

    talk(world);
    http2_protocol.drain(&world->connection);
    CHECK(world->connection.is_closing);
    carry_to_client(world);
    CHECK(world->has_goaway);
}

TEST(http2_answers_a_peer_that_closed_its_side)
{
    AUTO(free_worldp) struct world *world = connected();
    int32_t id;

    start_pool(world);
    talk(world);
    CHECK_EQ(http2_protocol.end(&world->connection), -1);
    id = get(world, "/slow");
    talk(world);
    world->connection.has_ended = true;
    CHECK_EQ(http2_protocol.end(&world->connection), 0);
    connection_answer(wait_for_worker(world));
    CHECK(world->connection.is_closing);
    carry_to_client(world);
    CHECK_EQ(seen_of(world, id)->status, 200);
}

TEST(http2_says_goodbye_to_slow_peers)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .waits = true };

    ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    http2_protocol.timeout(&world->connection);
    carry_to_client(world);
    CHECK(world->has_goaway);
    CHECK_TEXT(world->goaway_text, "too slow");
}

/* --- upgrades --- */

static struct exchange *upgrading_exchange(struct world *world)
{
    struct exchange *exchange = exchange_new(&world->connection);

    CHECK(exchange);
    exchange->request.method = HTTP_GET;
    exchange->request.method_text = SLICE("GET");
    exchange->request.path = SLICE("/hello");
    CHECK(exchange_begin(exchange, 0));
    return exchange;
}

TEST(http2_answers_the_request_that_asked_for_the_upgrade)
{
    AUTO(free_worldp) struct world *world = new_world();
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100 };
    struct exchange *exchange = upgrading_exchange(world);
    struct buffer text;
    uint8_t payload[64];
    ssize_t n = nghttp2_pack_settings_payload(payload, sizeof(payload), &window, 1);
    int32_t second;

    make_client(world);
    buffer_init(&text, 0);
    base64_encode(slice_of(payload, (size_t)n), false, &text);
    CHECK_EQ(nghttp2_session_upgrade2(world->client, payload, (size_t)n, 0, NULL), 0);
    CHECK_EQ(http2_open(&world->connection, buffer_slice(&text), exchange), 0);
    exchange_is_complete(exchange);
    second = get(world, "/hello");
    talk(world);
    CHECK_EQ(seen_of(world, 1)->status, 200);
    CHECK_HAS(body_of(world, 1), "h2=1");
    CHECK_EQ(seen_of(world, second)->status, 200);
    buffer_done(&text);
}

TEST(http2_refuses_upgrades_with_settings_that_are_none)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct exchange *exchange = upgrading_exchange(world);

    CHECK_EQ(http2_open(&world->connection, SLICE("!"), exchange), -1);
    CHECK_EQ(http2_open(&world->connection, SLICE("AAAA"), exchange), -1);
    /* a window of more than 2^31: taken, and then answered by GOAWAY */
    CHECK_EQ(http2_open(&world->connection, SLICE("AAMAAABkAASAAP__"), exchange), -1);
    CHECK(!world->connection.protocol);
}

/* --- floods --- */

/* Gives `n` times the same frame and returns whether the connection ended for it. */
static bool is_flooded_by(const char *frame, size_t len, int n, const char *words)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 1, .waits = true };

    clock_fake_set(0);
    ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    for (int i = 0; i < n; i++) {
        give_to_server(world, frame, len);
        if (!world->is_over)
            carry_to_client(world);
    }
    carry_to_client(world);
    clock_fake_stop();
    if (!world->is_over)
        return false;
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    CHECK_HAS(world->goaway_text, words);
    return true;
}

TEST(http2_ends_connections_that_are_only_a_nuisance)
{
    static const char ping[] = "\0\0\x08\6\0\0\0\0\0abcdefgh", settings[] = "\0\0\0\4\0\0\0\0\0";
    static const char empty[] = "\0\0\0\0\0\0\0\0\1", priority[] = "\0\0\5\2\0\0\0\0\3\0\0\0\0\1";

    CHECK(!is_flooded_by(ping, 17, 200, ""));
    CHECK(is_flooded_by(ping, 17, 201, "too many PING frames"));
    CHECK(!is_flooded_by(settings, 9, 38, "")); /* the client had its own, and acknowledged ours */
    CHECK(is_flooded_by(settings, 9, 39, "too many SETTINGS frames"));
    CHECK(!is_flooded_by(empty, 9, 200, ""));
    CHECK(is_flooded_by(empty, 9, 201, "too many empty DATA frames"));
    CHECK(is_flooded_by(priority, 14, 1001, "too many meaningless frames"));
}

TEST(http2_forgives_a_nuisance_with_time)
{
    static const char ping[] = "\0\0\x08\6\0\0\0\0\0abcdefgh";
    AUTO(free_worldp) struct world *world = connected();

    clock_fake_set(0);
    talk(world);
    for (int i = 0; i < 1000; i++) {
        give_to_server(world, ping, 17);
        carry_to_client(world);
        clock_fake_advance(CLOCK_NS_PER_SECOND / 20);
    }
    clock_fake_stop();
    CHECK(!world->is_over);
}

TEST(http2_ends_connections_that_open_streams_to_reset_them)
{
    AUTO(free_worldp) struct world *world = connected();
    struct upload upload = { .left = 1, .waits = true };
    int n = 0;

    while (n < 500 && !world->is_over) {
        int32_t id = ask(world, "POST", "/count", NULL, 0, &upload);

        talk(world);
        CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
        talk(world);
        n++;
    }
    CHECK(world->is_over);
    CHECK(n >= 400 && n < 450);
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(http2_ends_heads_that_never_end)
{
    AUTO(free_worldp) struct world *world = connected();
    static const char head[] = "\0\0\1\1\0\0\0\0\1\x82", more[] = "\0\0\1\x09\0\0\0\0\1\x86";

    talk(world);
    give_to_server(world, head, 10);
    for (int i = 0; i < 100 && !world->is_over; i++)
        give_to_server(world, more, 10);
    CHECK(world->is_over);
    carry_to_client(world);
    CHECK_EQ(world->goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(http2_ends_peers_that_ask_and_never_read)
{
    AUTO(free_worldp) struct world *world = connected();
    static const char refused[] = "\0\0\4\1\5\0\0\0\0\x82\x86\x84\x88"; /* a response's header in a request */
    size_t n = 0;

    while (carry_to_server(world)) /* it has not heard of the limit of streams, or says so */
        ;
    for (int32_t id = 1; n < 200000 && !world->is_over; id += 2, n++) {
        char frame[13];

        memcpy(frame, refused, sizeof(frame));
        frame[5] = (char)(id >> 24), frame[6] = (char)(id >> 16), frame[7] = (char)(id >> 8), frame[8] = (char)id;
        give_to_server(world, frame, sizeof(frame));
    }
    CHECK(world->is_over);
    CHECK(world->connection.out.len < 300 << 10);
}

/* --- memory --- */

/* Of our own; nghttp2 has some 25 kB for itself. */
TEST(http2_keeps_little_of_an_idle_connection)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct upload upload = { .left = 1, .waits = true };
    uint64_t before = memory_used_bytes();
    int32_t id;

    make_client(world);
    CHECK_EQ(http2_open(&world->connection, SLICE(""), NULL), 0);
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    CHECK_EQ(world->connection.n_exchanges, 1);
    CHECK(memory_used_bytes() - before < 40 << 10);
    CHECK_EQ(nghttp2_submit_rst_stream(world->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL), 0);
    talk(world);
    buffer_done(&world->connection.out);
    CHECK(memory_used_bytes() - before < 512);
}

static int serve_once(void *context UNUSED, struct error *err)
{
    AUTO(free_worldp) struct world *world = new_world();
    struct upload upload = { .left = 200000 };
    int32_t id;

    make_client(world);
    if (http2_open(&world->connection, SLICE(""), NULL) < 0)
        return error_set(err, ERR_MEMORY, "not opened");
    id = ask(world, "POST", "/count", NULL, 0, &upload);
    talk(world);
    http2_protocol.drain(&world->connection);
    if (seen_of(world, id)->status != 200 || !slice_is(body_of(world, id), "200000 bytes, 0 wrong"))
        return error_set(err, ERR_MEMORY, "answered %d", seen_of(world, id)->status);
    return 0;
}

TEST(http2_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(serve_once, NULL);
}
