// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "server/server_sample_test.h"

#include <stdio.h>

static const char *status_text(const struct server *server, struct buffer *out)
{
    CHECK_EQ(ask(server, "GET /api/v1/status", "", SLICE(""), out), 200);
    return out->data;
}

struct counted {
    uint64_t n_stored, n_seen, n_dropped, n_downsampled, n_spilled;
};

static int add_row(void *context, const struct source_row *row, struct error *err UNUSED)
{
    struct counted *counted = context;

    counted->n_seen += row->counts.n_seen;
    counted->n_stored += row->counts.n_stored;
    counted->n_downsampled += row->counts.n_downsampled;
    counted->n_spilled += row->counts.n_spilled;
    for (int i = 0; i < SOURCE_REASONS; i++)
        counted->n_dropped += row->counts.n_dropped[i];
    return 0;
}

static struct counted count(struct server *server)
{
    struct counted counted = { 0 };
    struct error err;

    CHECK_OK(sources_each(intake_sources(server->intake), add_row, &counted, &err), &err);
    return counted;
}

static void ingest_line(char line[static 256], const char *service)
{
    int64_t now = clock_now_ns() / CLOCK_NS_PER_SECOND;

    snprintf(line, 256, "POST /ingest?name=%s.cpu&sampleRate=100&from=%lld&until=%lld", service, (long long)now - 10,
             (long long)now);
}

/* The sum of all values that the store has of a service. */
struct total {
    int64_t sum;
    uint64_t n_rows;
};

static int add_names(void *context UNUSED, struct names *names UNUSED, struct error *err UNUSED)
{
    return 0;
}

static int add_value(void *context, const struct seriesinfo *series UNUSED, const struct headrow *row,
                     struct error *err UNUSED)
{
    struct total *total = context;

    total->sum += headrow_total(row, 0);
    total->n_rows++;
    return 0;
}

static struct total total_of(struct server *server)
{
    struct total total = { 0 };
    struct store_sink sink = { .context = &total, .names = add_names, .row = add_value };
    struct store_query query = { .until_ns = INT64_MAX };
    struct error err;

    CHECK_OK(store_scan(server->store, &query, &sink, &err), &err);
    return total;
}

TEST(a_profile_that_was_sent_is_in_the_store)
{
    struct server *server = start_with((struct server_options){ 0 });
    struct buffer out;
    char line[256];

    buffer_init(&out, 0);
    ingest_line(line, "api");
    CHECK_EQ(ask(server, line, "", SLICE("main;work 3\nmain;rest 1\n"), &out), 200);
    CHECK_EQ(total_of(server).sum, 4 * 10000000);
    CHECK_HAS(status_text(server, &out), "\"service\": \"api\"");
    CHECK_EQ(count(server).n_stored, 1);
    CHECK_EQ(ask(server, "GET /ready", "", SLICE(""), &out), 200);
    CHECK_EQ(ask(server, "GET /metrics", "", SLICE(""), &out), 200);
    CHECK_HAS(out.data,
              "hearth_http_request_duration_seconds_count{method=\"POST\",route=\"/ingest\",status=\"200\"} 1");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(refusals_say_what_is_wrong)
{
    static const struct {
        const char *line, *headers, *body;
        int status;
        const char *words;
    } cases[] = {
        { "GET /nothing", "", "", 404, "/nothing" },
        { "GET /ingest", "", "", 405, "POST" },
        { "POST /v1development/profiles", "Content-Type: text/plain\r\n", "x", 415, "application/x-protobuf" },
        { "POST /v1development/profiles",
          "Content-Type: application/x-protobuf\r\nOTLP-Profiles-Development-Version: 2\r\n", "x", 400, "version 1" },
        { "POST /v1development/profiles", "Content-Type: application/json\r\n", "{", 400, "" },
        { "POST /v1development/profiles", "Content-Type: application/json\r\nContent-Encoding: deflate\r\n", "{}", 415,
          "Content-Encoding 'deflate' is not known here; send gzip, zstd, snappy or none" },
        { "POST /push.v1.PusherService/Push", "Content-Type: text/plain\r\n", "x", 415, "" },
        { "POST /push.v1.PusherService/Push", "Content-Type: application/proto\r\n", "\xff", 400, "invalid_argument" },
        { "POST /ingest?name=app&format=jfr", "", "FLR", 415, "JFR" },
        { "POST /ingest?name=%7B%7D&format=pprof", "", "x", 400, "name" },
        { "POST /ingest?name=app&format=pprof", "", "\xff\xff", 422, "" },
    };
    struct server *server = start_with((struct server_options){ 0 });
    struct buffer out;

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int status = ask(server, cases[i].line, cases[i].headers, slice_from(cases[i].body), &out);

        if (status != cases[i].status)
            printf("%s: %s\n", cases[i].line, out.data);
        CHECK_EQ(status, cases[i].status);
        CHECK_HAS(out.data, cases[i].words);
    }
    CHECK_EQ(total_of(server).n_rows, 0);
    CHECK_EQ(count(server).n_dropped, ARRAY_LEN(cases) - 2); /* but for those that are no uploads */
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(grpc_over_http_1_has_its_trailers_behind_a_chunk)
{
    struct server *server = start_with((struct server_options){ 0 });
    struct buffer out;

    buffer_init(&out, 0);
    CHECK_EQ(ask(server, "POST /version.v1.Version/Version", "Content-Type: application/grpc\r\n",
                 slice_of("\0\0\0\0\0", 5), &out),
             200);
    CHECK_HAS(slice_of(out.data, out.len), "transfer-encoding: chunked\r\n");
    CHECK_HAS(slice_of(out.data, out.len), "\r\n0\r\ngrpc-status: 0\r\n\r\n");
    CHECK_EQ(ask(server, "POST /no.Such/Call", "Content-Type: application/grpc\r\n", slice_of("\0\0\0\0\0", 5), &out),
             200);
    CHECK_HAS(slice_of(out.data, out.len), "\r\n\r\n0\r\ngrpc-status: 12\r\n");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(a_push_of_which_only_a_part_is_kept_says_so)
{
    struct server *server = start_with((struct server_options){ 0 });
    struct slice body = SLICE("{\"series\":[{\"samples\":[{\"rawProfile\":\"\"},{\"rawProfile\":\"cnViYmlzaA==\"}]}]}");
    struct buffer out;

    buffer_init(&out, 0);
    CHECK_EQ(ask(server, "POST /push.v1.PusherService/Push", "Content-Type: application/json\r\n", body, &out), 400);
    CHECK_HAS(out.data, "1 of 2 profiles not kept, the others are: pprof");
    CHECK_EQ(count(server).n_seen, 2);
    CHECK_EQ(count(server).n_stored, 1);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(a_call_whose_time_is_over_is_not_kept_and_counted)
{
    struct server *server = start_with((struct server_options){ 0 });
    int fd = connect_to(server);
    struct buffer out;

    buffer_init(&out, 0);
    send_all(fd, SLICE("POST /push.v1.PusherService/Push HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                       "Content-Type: application/json\r\nConnect-Timeout-Ms: 20\r\nContent-Length: 2\r\n\r\n"));
    usleep(50000);
    send_all(fd, SLICE("{}"));
    CHECK_EQ(read_answer(fd, &out), 504);
    CHECK_HAS(out.data, "the call allows 20 ms");
    CHECK_EQ(count(server).n_seen, 1);
    CHECK_EQ(count(server).n_dropped, 1);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(tenants_are_told_apart_only_if_asked_for)
{
    struct server *server = start_with((struct server_options){ .is_multi_tenant = true });
    struct buffer out;
    char line[256];

    buffer_init(&out, 0);
    ingest_line(line, "api");
    CHECK_EQ(ask(server, line, "", SLICE("main 1\n"), &out), 401);
    CHECK_HAS(out.data, "{\"code\":\"unauthenticated\",\"message\":\"no org id\"}");
    CHECK_EQ(ask(server, line, "X-Scope-OrgID: a/b\r\n", SLICE("main 1\n"), &out), 400);
    CHECK_EQ(ask(server, line, "X-Scope-OrgID: team-1\r\n", SLICE("main 1\n"), &out), 200);
    CHECK_EQ(total_of(server).n_rows, 0); /* of everybody */
    CHECK_HAS(status_text(server, &out), "\"tenant\": \"team-1\"");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(the_clock_may_jump_either_way)
{
    static const int64_t jumps_ns[] = { 3 * 86400, -2 * 86400, 3600, -7200, 0 };
    struct server *server = start_with((struct server_options){ 0 });
    int64_t begun_ns = clock_now_ns();
    struct buffer out;
    char line[256];

    buffer_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(jumps_ns); i++) {
        clock_fake_set(begun_ns + jumps_ns[i] * CLOCK_NS_PER_SECOND);
        ingest_line(line, "api");
        CHECK_EQ(ask(server, line, "", SLICE("main;work 1\n"), &out), 200);
        CHECK_EQ(ask(server, "GET /ready", "", SLICE(""), &out), 200);
    }
    clock_fake_stop();
    CHECK_EQ(total_of(server).n_rows, ARRAY_LEN(jumps_ns));
    /* What the clock of now calls the future is refused, and told. */
    snprintf(line, sizeof(line), "POST /ingest?name=api.cpu&from=%lld&until=%lld",
             (long long)(begun_ns / CLOCK_NS_PER_SECOND + 86400), (long long)(begun_ns / CLOCK_NS_PER_SECOND + 86410));
    CHECK_EQ(ask(server, line, "", SLICE("main;work 1\n"), &out), 400);
    CHECK_HAS(out.data, "too far ahead");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

/* Of how many lanes 1000 series of a tenant are. */
static unsigned count_lanes(struct server *server, const char *tenant)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    uint64_t lanes[1000];
    unsigned n = 0;

    exchange->context = server;
    exchange->request.peer = SLICE("10.0.0.1:4000");
    exchange->request.headers.items[0] = (struct http_header){ SLICE("x-scope-orgid"), slice_from(tenant) };
    exchange->request.headers.n = 1;
    for (unsigned i = 0; i < ARRAY_LEN(lanes); i++) {
        char query[32];
        uint64_t lane;
        unsigned k = 0;

        snprintf(query, sizeof(query), "name=app%u.cpu", i);
        exchange->request.query = slice_from(query);
        lane = receive_lane(exchange);
        while (k < n && lanes[k] != lane)
            k++;
        if (k == n)
            lanes[n++] = lane;
    }
    free(exchange);
    return n;
}

TEST(what_is_too_large_is_counted_though_nobody_reads_it)
{
    struct server *server = start_with((struct server_options){ .max_body_bytes = 65536 });
    struct buffer out;
    int fd = connect_to(server);

    buffer_init(&out, 0);
    send_all(fd, SLICE("POST /ingest?name=big.cpu&spyName=gospy HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                       "Content-Length: 70000\r\n\r\n"));
    CHECK_EQ(read_answer(fd, &out), 413);
    CHECK_EQ(count(server).n_seen, 1);
    CHECK_EQ(count(server).n_dropped, 1);
    CHECK_HAS(status_text(server, &out), "\"sender\": \"ingest gospy\"");
    CHECK_HAS(out.data, "\"limit\": 1");
    CHECK_HAS(out.data, "larger than --max-body-size, 65536 bytes");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(a_tenant_with_many_series_has_few_turns)
{
    struct server *server = start_with((struct server_options){ .is_multi_tenant = true });

    CHECK_EQ(count_lanes(server, "noisy"), 8);
    server_stop(server, 0);
    server = start_with((struct server_options){ 0 });
    CHECK_EQ(count_lanes(server, "anybody"), 1000);
    server_stop(server, 0);
}

#define FLOOD 60

/* Sends FLOOD uploads at once, each of its own service; how many were answered with 200. */
static unsigned flood(struct server *server, struct slice body)
{
    int fds[FLOOD];
    unsigned n_taken = 0;
    struct buffer out;

    buffer_init(&out, 0);
    for (int i = 0; i < FLOOD; i++) {
        char line[256], service[16];

        snprintf(service, sizeof(service), "s%d", i);
        ingest_line(line, service);
        fds[i] = connect_to(server);
        send_request(fds[i], line, "", body);
    }
    for (int i = 0; i < FLOOD; i++) {
        int status = read_answer(fds[i], &out);

        CHECK(status == 200 || status == 429);
        n_taken += status == 200;
    }
    buffer_done(&out);
    return n_taken;
}

/* Folded stacks that take a while to read. */
static void make_body(struct buffer *body, unsigned n_stacks)
{
    for (unsigned i = 0; i < n_stacks; i++)
        buffer_printf(body, "main;a%u;b%u;c%u 1\n", i % 7, i % 101, i);
}

static bool wait_for_drain(struct server *server)
{
    for (int i = 0; i < 2000; i++) {
        if (spill_counts(server->spill).bytes == 0)
            return true;
        usleep(10000);
    }
    return false;
}

TEST(what_finds_no_worker_is_put_aside_and_stored_later_once)
{
    struct server *server = start_with((struct server_options){ .n_workers = 1, .max_waiting_bytes = 1 });
    struct buffer body;

    buffer_init(&body, 0);
    make_body(&body, 3000);
    CHECK_EQ(flood(server, buffer_slice(&body)), FLOOD);
    CHECK(wait_for_drain(server));
    CHECK_EQ(total_of(server).n_rows, FLOOD);
    CHECK_EQ(total_of(server).sum, (int64_t)FLOOD * 3000 * 10000000);
    CHECK(spill_counts(server->spill).n_appended > 0);
    CHECK_EQ(count(server).n_stored, FLOOD);
    CHECK_EQ(count(server).n_spilled, spill_counts(server->spill).n_appended);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&body);
}

TEST(what_is_put_aside_survives_a_stop)
{
    struct server *server = start_with((struct server_options){ .n_workers = 1, .max_waiting_bytes = 1 });
    struct buffer body;

    buffer_init(&body, 0);
    make_body(&body, 3000);
    CHECK_EQ(flood(server, buffer_slice(&body)), FLOOD);
    server_stop(server, CLOCK_NS_PER_SECOND);
    server = start_with((struct server_options){ 0 });
    CHECK(wait_for_drain(server));
    CHECK_EQ(total_of(server).n_rows, FLOOD);
    CHECK_EQ(total_of(server).sum, (int64_t)FLOOD * 3000 * 10000000);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&body);
}

/* Waits until somebody has tried to store an upload of /ingest. */
static bool wait_for_a_try(const struct server *server, struct buffer *out)
{
    for (int i = 0; i < 500; i++) {
        CHECK_EQ(ask(server, "GET /metrics", "", SLICE(""), out), 200);
        if (strstr(out->data, "\nhearth_intake_uploads_total{kind=\"ingest\"} ") &&
            !strstr(out->data, "\nhearth_intake_uploads_total{kind=\"ingest\"} 0"))
            return true;
        usleep(10000);
    }
    return false;
}

TEST(what_cannot_be_stored_for_now_is_not_called_dropped)
{
    struct server *server = start_with((struct server_options){ .n_workers = 1, .max_waiting_bytes = 1 });
    uint64_t n_waiting;
    struct buffer body;

    buffer_init(&body, 0);
    make_body(&body, 3000);
    CHECK_EQ(flood(server, buffer_slice(&body)), FLOOD);
    n_waiting = spill_counts(server->spill).n_appended - spill_counts(server->spill).n_done;
    CHECK(n_waiting > 0);
    server_stop(server, CLOCK_NS_PER_SECOND);
    server = start_with((struct server_options){ .store.min_free_bytes = UINT64_MAX / 2 });
    CHECK(wait_for_a_try(server, &body));
    CHECK_EQ(count(server).n_seen, 0);
    CHECK_EQ(count(server).n_dropped, 0);
    CHECK(spill_counts(server->spill).bytes > 0);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&body);
}

/* Writes for this one service fail. */
static const struct store_ops *good_ops;
static _Atomic bool is_bad;

static int write_some(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                      struct error *err)
{
    for (uint32_t i = 0; i < write->n_labels; i++)
        if (atomic_load(&is_bad) && slice_is(write->labels[i].value, "damaged"))
            return error_set(err, ERR_IO, "its day cannot be written");
    return good_ops->write(store, write, ret_receipt, err);
}

static bool wait_for_stored(struct server *server, uint64_t wanted)
{
    for (int i = 0; i < 1000; i++) {
        if (count(server).n_stored >= wanted)
            return true;
        usleep(10000);
    }
    return false;
}

TEST(what_the_disk_fails_for_waits_behind_the_others_and_is_stored_once)
{
    struct server *server = start_with((struct server_options){ .n_workers = 1 });
    struct store_ops bad_ops;
    struct buffer out;
    struct error err;
    char line[256];

    buffer_init(&out, 0);
    good_ops = server->store->ops;
    bad_ops = *good_ops;
    bad_ops.write = write_some;
    atomic_store(&is_bad, true);
    server->store->ops = &bad_ops;
    ingest_line(line, "damaged");
    CHECK_EQ(ask(server, line, "", SLICE("main 1\n"), &out), 200); /* it is put aside */
    ingest_line(line, "good");
    CHECK_OK(spill_append(server->spill,
                          &(struct upload){ .tenant = SLICE(STORE_TENANT_DEFAULT),
                                            .received_ns = clock_now_ns(),
                                            .query = slice_sub(slice_from(strchr(line, '?')), 1, SIZE_MAX),
                                            .body = SLICE("main 1\n") },
                          &err),
             &err);
    CHECK(wait_for_stored(server, 1));
    CHECK_EQ(count(server).n_dropped, 0);
    atomic_store(&is_bad, false);
    CHECK(wait_for_stored(server, 2));
    CHECK_EQ(count(server).n_seen, 2);
    CHECK(wait_for_drain(server));
    CHECK_EQ(total_of(server).n_rows, 2);
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(what_a_full_disk_refuses_is_counted_once)
{
    struct server *server = start_with((struct server_options){ .store.min_free_bytes = UINT64_MAX / 2 });
    struct buffer out;
    char line[256];

    buffer_init(&out, 0);
    ingest_line(line, "api");
    CHECK_EQ(ask(server, line, "", SLICE("main 1\n"), &out), 507);
    CHECK_HAS(out.data, "--min-free");
    CHECK_EQ(count(server).n_seen, 1);
    CHECK_EQ(count(server).n_dropped, 1);
    CHECK_HAS(status_text(server, &out), "\"failed\": 1");
    CHECK_HAS(out.data, "\"uploads\": 1");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(past_the_spill_file_some_are_left_out_or_refused_and_all_are_counted)
{
    struct server *server =
        start_with((struct server_options){ .n_workers = 1, .max_waiting_bytes = 1, .max_spill_bytes = 300000 });
    struct counted counted;
    struct buffer body;
    unsigned n_taken;

    buffer_init(&body, 0);
    make_body(&body, 3000);
    n_taken = flood(server, buffer_slice(&body));
    CHECK(wait_for_drain(server));
    counted = count(server);
    CHECK_EQ(counted.n_seen, FLOOD);
    CHECK_EQ(counted.n_stored + counted.n_downsampled, n_taken);
    CHECK_EQ(counted.n_dropped, FLOOD - n_taken);
    CHECK_EQ(total_of(server).n_rows, counted.n_stored);
    CHECK(counted.n_downsampled + counted.n_dropped > 0);
    buffer_clear(&body);
    CHECK_EQ(ask(server, "GET /metrics", "", SLICE(""), &body), 200);
    CHECK_HAS(body.data, "# TYPE hearth_queue_overflowed_total counter");
    CHECK_HAS(body.data, "\nhearth_overload_uploads_total{outcome=\"");
    CHECK(!strstr(status_text(server, &body), "\"sender\": \"plain"));
    CHECK(!strstr(body.data, ".cpu\"")); /* the type is no part of the service, whoever counts it */
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&body);
}

TEST(the_server_stores_what_it_does_itself)
{
    struct server *server = start_with((struct server_options){ .self_profile_ns = CLOCK_NS_PER_SECOND / 4 });
    struct buffer out;

    buffer_init(&out, 0);
    for (int i = 0; i < 5000 && count(server).n_stored == 0; i++) /* counted behind the write */
        CHECK_EQ(ask(server, "GET /metrics", "", SLICE(""), &out), 200);
    CHECK(total_of(server).sum > 0);
    CHECK_HAS(status_text(server, &out), "\"service\": \"hearth\"");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(whoever_asks_gets_a_profile_of_the_server_one_at_a_time)
{
    struct server *server = start_with((struct server_options){ .n_workers = 2 });
    int first = connect_to(server);
    struct buffer out;

    buffer_init(&out, 0);
    send_request(first, "GET /debug/pprof/profile?seconds=2", "", SLICE(""));
    while (!atomic_load(&server->is_profiled))
        usleep(1000);
    CHECK_EQ(ask(server, "GET /debug/pprof/profile?seconds=1", "", SLICE(""), &out), 429);
    CHECK_HAS(out.data, "somebody else is recording");
    CHECK_EQ(read_answer(first, &out), 200);
    CHECK_HAS(out.data, "application/octet-stream");
    CHECK(slice_find(buffer_slice(&out), SLICE("\r\n\r\n\x1f\x8b")) > 0);
    CHECK_EQ(ask(server, "GET /debug/pprof/profile?seconds=0", "", SLICE(""), &out), 400);
    CHECK_EQ(ask(server, "GET /debug/pprof/profile?seconds=301", "", SLICE(""), &out), 400);
    CHECK_HAS(out.data, "seconds '301': give a whole number from 1 to 300");
    CHECK_EQ(ask(server, "GET /debug/pprof/", "", SLICE(""), &out), 200);
    CHECK_HAS(out.data, "profile?seconds=30");
    CHECK_EQ(ask(server, "GET /debug/pprof/cmdline", "", SLICE(""), &out), 200);
    CHECK_HAS(out.data, "test/server");
    server_stop(server, CLOCK_NS_PER_SECOND);
    buffer_done(&out);
}

TEST(a_profile_of_the_server_does_not_keep_it_from_stopping)
{
    struct server *server = start_with((struct server_options){ .n_workers = 2 });
    int asker = connect_to(server);
    int64_t begun_ns;

    send_request(asker, "GET /debug/pprof/profile?seconds=300", "", SLICE(""));
    while (!atomic_load(&server->is_profiled))
        usleep(1000);
    begun_ns = clock_mono_ns();
    server_stop(server, 20 * CLOCK_NS_PER_SECOND);
    CHECK(clock_mono_ns() - begun_ns < 10 * CLOCK_NS_PER_SECOND);
    close(asker);
}
