// SPDX-License-Identifier: Apache-2.0
#include "net/rpc.h"

#include "base/base64.h"
#include "base/memory.h"
#include "base/test.h"
#include "net/route.h"
#include "pack/unpacker.h"

#include <stdio.h>
#include <stdlib.h>

static const struct route procedure = { .path = "/a.B/C", .is_procedure = true };
static const struct route plain_route = { .path = "/ingest" };

/* A request as the protocols make it. */
static struct exchange *asked(enum http_version version, const char *path, const char *type, struct slice body)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange)); /* not of the memory that tests make fail */

    CHECK(exchange);
    arena_init(&exchange->arena, 1 << 20);
    buffer_init(&exchange->response.body, 0);
    exchange->request.version = version;
    exchange->request.method = HTTP_POST;
    exchange->request.path = slice_from(path);
    exchange->request.body = body;
    exchange->route = &procedure;
    if (type)
        exchange->request.headers.items[exchange->request.headers.n++] =
            (struct http_header){ SLICE("content-type"), slice_from(type) };
    return exchange;
}

static struct exchange *asked_grpc(struct slice body)
{
    return asked(HTTP_2, "/a.B/C", "application/grpc", body);
}

static struct exchange *asked_connect(const char *type, struct slice body)
{
    return asked(HTTP_1_1, "/a.B/C", type, body);
}

static void with(struct exchange *exchange, const char *name, const char *value)
{
    struct http_headers *headers = &exchange->request.headers;

    headers->items[headers->n++] = (struct http_header){ slice_from(name), slice_from(value) };
}

static void done(struct exchange *exchange)
{
    arena_done(&exchange->arena);
    buffer_done(&exchange->response.body);
    free(exchange);
}

static void donep(struct exchange **exchange)
{
    done(*exchange);
}

static struct slice header(const struct exchange *exchange, const char *name)
{
    return http_header(&exchange->response.headers, name);
}

static struct slice trailer(const struct exchange *exchange, const char *name)
{
    return http_header(&exchange->response.trailers, name);
}

static struct slice body(const struct exchange *exchange)
{
    return buffer_slice(&exchange->response.body);
}

#define BYTES(literal) slice_of("" literal, sizeof(literal) - 1)

/* --- codes --- */

TEST(rpc_codes_have_the_names_and_statuses_of_connect)
{
    CHECK_TEXT(rpc_code_name(RPC_CANCELLED), "canceled");
    CHECK_TEXT(rpc_code_name(RPC_UNAUTHENTICATED), "unauthenticated");
    CHECK_EQ(rpc_code_http_status(RPC_UNIMPLEMENTED), 501);
    CHECK_EQ(rpc_code_http_status(RPC_RESOURCE_EXHAUSTED), 429);
    for (int code = 0; code < RPC_CODE_COUNT; code++) {
        CHECK(rpc_code_name((enum rpc_code)code)[0] != '\0');
        CHECK(rpc_code_http_status((enum rpc_code)code) >= 200);
    }
}

TEST(rpc_codes_of_our_errors_say_whether_to_try_again)
{
    CHECK_EQ(rpc_code_from_error(ERR_OK), RPC_OK);
    CHECK_EQ(rpc_code_from_error(ERR_INVALID), RPC_INVALID_ARGUMENT);
    CHECK_EQ(rpc_code_from_error(ERR_CORRUPT), RPC_INVALID_ARGUMENT);
    CHECK_EQ(rpc_code_from_error(ERR_LIMIT), RPC_INVALID_ARGUMENT);
    CHECK_EQ(rpc_code_from_error(ERR_MEMORY), RPC_UNAVAILABLE);
    CHECK_EQ(rpc_code_from_error(ERR_FULL), RPC_RESOURCE_EXHAUSTED);
    CHECK_EQ(rpc_code_from_error(ERR_BUSY), RPC_RESOURCE_EXHAUSTED);
    CHECK_EQ(rpc_code_from_error(ERR_IO), RPC_INTERNAL);
    for (int code = 0; code < ERROR_CODE_COUNT; code++) /* each has a meaning */
        CHECK(rpc_code_from_error((enum error_code)code) != RPC_UNKNOWN);
    CHECK_EQ(rpc_code_from_status(418), RPC_UNKNOWN);
}

/* --- telling protocols apart --- */

TEST(rpc_tells_protocols_apart_by_content_type)
{
    static const struct {
        const char *type;
        enum rpc_protocol of_procedure, elsewhere;
    } cases[] = {
        { "application/grpc", RPC_GRPC, RPC_GRPC },
        { "application/grpc+proto", RPC_GRPC, RPC_GRPC },
        { "Application/GRPC; charset=utf-8", RPC_GRPC, RPC_GRPC },
        { "application/grpc-web+proto", RPC_GRPC_WEB, RPC_GRPC_WEB },
        { "application/grpc-web-text", RPC_GRPC_WEB_TEXT, RPC_GRPC_WEB_TEXT },
        { "application/proto", RPC_CONNECT, RPC_NONE },
        { "application/json; charset=utf-8", RPC_CONNECT, RPC_NONE },
        { "application/x-protobuf", RPC_NONE, RPC_NONE },
        { "application/grpcs", RPC_NONE, RPC_NONE },
        { NULL, RPC_NONE, RPC_NONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(donep) struct exchange *exchange = asked_connect(cases[i].type, SLICE(""));

        CHECK_EQ(rpc_protocol_of(&exchange->request, true), cases[i].of_procedure);
        CHECK_EQ(rpc_protocol_of(&exchange->request, false), cases[i].elsewhere);
    }
}

TEST(rpc_refuses_other_content_types_and_says_which_there_are)
{
    AUTO(donep) struct exchange *exchange = asked_connect("text/plain", SLICE("x"));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), -1);
    CHECK_EQ(exchange->response.status, 415);
    CHECK_HAS(header(exchange, "accept-post"), "application/proto, application/json, application/grpc,");
    CHECK_HAS(header(exchange, "accept-post"), "application/grpc-web-text+json");
    CHECK_HAS(body(exchange), "Content-Type 'text/plain' is not one of");
}

/* --- Connect --- */

TEST(rpc_opens_calls_of_connect)
{
    AUTO(donep) struct exchange *exchange = asked_connect("application/json; charset=utf-8", SLICE("{\"a\":1}"));
    struct rpc_call call;

    with(exchange, "connect-protocol-version", "1");
    with(exchange, "connect-timeout-ms", "2500");
    with(exchange, "content-encoding", "GZIP");
    CHECK_EQ(rpc_open(exchange, &call), 0);
    CHECK_EQ(call.protocol, RPC_CONNECT);
    CHECK_EQ(call.codec, RPC_JSON);
    CHECK_TEXT(call.message, "{\"a\":1}");
    CHECK_TEXT(call.encoding, "gzip");
    CHECK_EQ(call.timeout_ns, 2500000000);
}

TEST(rpc_takes_an_empty_message_of_proto_whatever_its_encoding_but_not_of_json)
{
    AUTO(donep) struct exchange *proto = asked_connect("application/proto", SLICE(""));
    AUTO(donep) struct exchange *json = asked_connect("application/json", SLICE(""));
    struct rpc_call call;

    with(proto, "content-encoding", "gzip");
    CHECK_EQ(rpc_open(proto, &call), 0);
    CHECK_EQ(call.message.len, 0);
    CHECK_EQ(call.encoding.len, 0);
    CHECK_EQ(rpc_open(json, &call), -1);
    CHECK_EQ(json->response.status, 400);
    CHECK_TEXT(body(json), "{\"code\":\"invalid_argument\",\"message\":\"the body is empty; a message in JSON is {} at "
                           "least\"}");
}

TEST(rpc_refuses_what_connect_does_not_allow)
{
    static const struct {
        const char *name, *value;
        int status;
        const char *words;
    } cases[] = {
        { "connect-protocol-version", "2", 400, "connect-protocol-version '2' is not known here" },
        { "connect-timeout-ms", "12345678901", 400, "connect-timeout-ms '12345678901' is not a time" },
        { "connect-timeout-ms", "1s", 400, "is not a time" },
        { "connect-timeout-ms", "", 400, "is not a time" },
        { "connect-timeout-ms", "0", 504, "over before it began" },
        { "content-encoding", "br", 501, "content-encoding 'br' is not known here; identity, gzip, zstd and snappy" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(donep) struct exchange *exchange = asked_connect("application/proto", SLICE("x"));
        struct rpc_call call = { .timeout_ns = -7 };

        with(exchange, cases[i].name, cases[i].value);
        CHECK_EQ(rpc_open(exchange, &call), -1);
        CHECK_EQ(call.timeout_ns, -7);
        CHECK_EQ(exchange->response.status, cases[i].status);
        CHECK_HAS(body(exchange), cases[i].words);
        CHECK_TEXT(header(exchange, "content-type"), "application/json");
    }
}

TEST(rpc_answers_connect_with_the_codec_of_the_request)
{
    AUTO(donep) struct exchange *exchange = asked_connect("application/proto", SLICE(""));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_answer(exchange, &call, SLICE("message"));
    CHECK_EQ(exchange->response.status, 200);
    CHECK_TEXT(header(exchange, "content-type"), "application/proto");
    CHECK_TEXT(body(exchange), "message");
    CHECK_EQ(exchange->response.trailers.n, 0);
}

static struct slice unpacked(struct unpacker *unpacker, struct slice packed)
{
    struct slice content;
    struct error err;

    CHECK_OK(unpacker_unpack(unpacker, PACK_GZIP, packed, 1 << 20, &content, &err), &err);
    return content;
}

TEST(rpc_compresses_long_answers_for_those_who_take_it)
{
    AUTO(donep) struct exchange *exchange = asked_connect("application/json", SLICE("{}"));
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    static char message[5000];
    struct rpc_call call;
    struct error err;

    memset(message, 'm', sizeof(message));
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_answer(exchange, &call, slice_of(message, sizeof(message)));
    CHECK_EQ(body(exchange).len, sizeof(message));
    with(exchange, "accept-encoding", "br, gzip");
    rpc_answer(exchange, &call, slice_of(message, 1024));
    CHECK_EQ(body(exchange).len, 1024);
    CHECK(!header(exchange, "content-encoding").ptr);
    rpc_answer(exchange, &call, slice_of(message, sizeof(message)));
    CHECK_TEXT(header(exchange, "content-encoding"), "gzip");
    CHECK(slice_equal(unpacked(unpacker, body(exchange)), slice_of(message, sizeof(message))));
}

TEST(rpc_failures_of_connect_say_when_to_try_again)
{
    AUTO(donep) struct exchange *exchange = asked_connect("application/proto", SLICE(""));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_fail(exchange, &call, RPC_RESOURCE_EXHAUSTED, "too \"much\"", 1500000000);
    CHECK_EQ(exchange->response.status, 429);
    CHECK_TEXT(header(exchange, "retry-after"), "2");
    CHECK_TEXT(body(exchange),
               "{\"code\":\"resource_exhausted\",\"message\":\"too \\\"much\\\"\",\"details\":[{\"type\":\"google.rpc."
               "RetryInfo\",\"value\":\"CggIARCAyrXuAQ\"}]}");
}

/* --- gRPC --- */

TEST(rpc_opens_calls_of_grpc)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\1\0\0\0\3abc"));
    struct rpc_call call;

    with(exchange, "grpc-encoding", "zstd");
    with(exchange, "grpc-timeout", "5S");
    CHECK_EQ(rpc_open(exchange, &call), 0);
    CHECK_EQ(call.protocol, RPC_GRPC);
    CHECK_EQ(call.codec, RPC_PROTO);
    CHECK_TEXT(call.message, "abc");
    CHECK_TEXT(call.encoding, "zstd");
    CHECK_EQ(call.timeout_ns, 5000000000);
}

TEST(rpc_takes_the_flag_over_the_name_of_the_encoding)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\3abc"));
    struct rpc_call call;

    with(exchange, "grpc-encoding", "gzip");
    CHECK_EQ(rpc_open(exchange, &call), 0);
    CHECK_EQ(call.encoding.len, 0);
}

TEST(rpc_refuses_frames_that_are_none_with_the_codes_of_grpc)
{
    static const struct {
        struct slice body;
        const char *status, *words;
    } cases[] = {
        { { "", 0 }, "12", "no message" },
        { { "\0\0\0\0", 4 }, "13", "cut off in its prefix: 4 of 5 bytes" },
        { { "\0\0\0\0\3ab", 7 }, "13", "says 3 bytes, 2 came" },
        { { "\0\xff\xff\xff\xff", 5 }, "13", "says 4294967295 bytes, 0 came" },
        { { "\0\0\0\0\1ab", 7 }, "12", "more than one message (1 bytes behind the first)" },
        { { "\2\0\0\0\0", 5 }, "13", "0x02; 0 and 1 are allowed" },
        { { "\x80\0\0\0\0", 5 }, "13", "0x80" },
        { { "\1\0\0\0\0", 5 }, "13", "no grpc-encoding" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(donep) struct exchange *exchange = asked_grpc(cases[i].body);
        struct rpc_call call;

        CHECK_EQ(rpc_open(exchange, &call), -1);
        CHECK_EQ(exchange->response.status, 200);
        CHECK_EQ(body(exchange).len, 0);
        CHECK_TEXT(trailer(exchange, "grpc-status"), cases[i].status);
        CHECK_HAS(trailer(exchange, "grpc-message"), cases[i].words);
    }
}

TEST(rpc_reads_every_unit_of_timeouts)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1 = refused */
    } cases[] = {
        { "1H", 3600000000000 },
        { "2M", 120000000000 },
        { "3S", 3000000000 },
        { "4m", 4000000 },
        { "5u", 5000 },
        { "6n", 6 },
        { "99999999H", INT64_MAX },
        { "123456789n", -1 },
        { "5", -1 },
        { "S", -1 },
        { "5s", -1 },
        { "-5S", -1 },
        { "", -1 },
        { "0S", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
        struct rpc_call call = { .timeout_ns = -1 };

        with(exchange, "grpc-timeout", cases[i].text);
        CHECK_EQ(rpc_open(exchange, &call), cases[i].ns < 0 ? -1 : 0);
        CHECK_EQ(call.timeout_ns, cases[i].ns);
    }
}

TEST(rpc_answers_grpc_with_a_frame_and_trailers)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_answer(exchange, &call, SLICE("hi"));
    CHECK_EQ(exchange->response.status, 200);
    CHECK_TEXT(header(exchange, "content-type"), "application/grpc");
    CHECK_TEXT(header(exchange, "grpc-accept-encoding"), "identity,gzip,zstd,snappy");
    CHECK(slice_equal(body(exchange), BYTES("\0\0\0\0\2hi")));
    CHECK_TEXT(trailer(exchange, "grpc-status"), "0");
    rpc_answer(exchange, &call, SLICE(""));
    CHECK(slice_equal(body(exchange), BYTES("\0\0\0\0\0")));
}

TEST(rpc_compresses_long_answers_of_grpc)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    static char message[5000];
    struct rpc_call call;
    struct error err;

    memset(message, 'm', sizeof(message));
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    with(exchange, "grpc-accept-encoding", "identity,gzip");
    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_answer(exchange, &call, slice_of(message, sizeof(message)));
    CHECK_TEXT(header(exchange, "grpc-encoding"), "gzip");
    CHECK_EQ(body(exchange).ptr[0], 1);
    CHECK_EQ((unsigned char)body(exchange).ptr[4], (body(exchange).len - 5) & 0xff);
    CHECK(slice_equal(unpacked(unpacker, slice_sub(body(exchange), 5, SIZE_MAX)), slice_of(message, sizeof(message))));
}

TEST(rpc_failures_of_grpc_are_trailers_alone)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_fail(exchange, &call, RPC_INVALID_ARGUMENT, "50% of \xc3\xbc\n\xff", 0);
    CHECK_EQ(exchange->response.status, 200);
    CHECK_EQ(body(exchange).len, 0);
    CHECK_TEXT(trailer(exchange, "grpc-status"), "3");
    CHECK_TEXT(trailer(exchange, "grpc-message"), "50%25 of %C3%BC%0A%EF%BF%BD");
    CHECK(!trailer(exchange, "grpc-status-details-bin").ptr);
}

TEST(rpc_failures_of_grpc_say_when_to_try_again)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
    struct rpc_call call;
    char details[256];
    size_t len, bad_at;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_fail(exchange, &call, RPC_UNAVAILABLE, "busy", 500000000);
    CHECK(slice_find_byte(trailer(exchange, "grpc-status-details-bin"), '=') < 0);
    CHECK(base64_decode(trailer(exchange, "grpc-status-details-bin"), details, &len, &bad_at));
    CHECK(slice_equal(slice_of(details, len), BYTES("\x08\x0e\x12\x04"
                                                    "busy\x1a\x36\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
                                                    "\x12\x0a\x0a\x08\x08\x00\x10\x80\xca\xb5\xee\x01")));
}

TEST(rpc_refuses_grpc_over_http_1_0)
{
    AUTO(donep) struct exchange *exchange = asked(HTTP_1_0, "/a.B/C", "application/grpc", BYTES("\0\0\0\0\0"));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), -1);
    CHECK_EQ(exchange->response.status, 505);
    CHECK_HAS(body(exchange), "gRPC needs HTTP/2");
    CHECK_EQ(exchange->response.trailers.n, 0);
}

TEST(rpc_failures_have_short_messages)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(BYTES("\0\0\0\0\0"));
    static char text[6001];
    struct rpc_call call;

    for (size_t i = 0; i < 2000; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3); /* of three bytes each, so that one would be cut */
    CHECK_EQ(rpc_open(exchange, &call), 0);
    rpc_fail(exchange, &call, RPC_INTERNAL, text, 0);
    CHECK_EQ(trailer(exchange, "grpc-message").len, 1023 * 3);
}

/* --- gRPC-Web --- */

TEST(rpc_answers_grpc_web_with_the_trailers_in_the_body)
{
    AUTO(donep)
    struct exchange *exchange = asked(HTTP_1_1, "/a.B/C", "application/grpc-web+proto", BYTES("\0\0\0\0\2ab"));
    struct rpc_call call;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    CHECK_TEXT(call.message, "ab");
    rpc_answer(exchange, &call, SLICE("hi"));
    CHECK_TEXT(header(exchange, "content-type"), "application/grpc-web");
    CHECK(slice_equal(body(exchange), BYTES("\0\0\0\0\2hi\x80\0\0\0\x0fgrpc-status:0\r\n")));
    rpc_fail(exchange, &call, RPC_NOT_FOUND, "no", 0);
    CHECK_EQ(exchange->response.status, 200);
    CHECK(slice_equal(body(exchange), BYTES("\x80\0\0\0\x20grpc-status:5\r\ngrpc-message:no\r\n")));
    rpc_fail(exchange, &call, RPC_UNAVAILABLE, "no", 1);
    CHECK_HAS(body(exchange), "\r\ngrpc-status-details-bin:CA4S");
}

TEST(rpc_speaks_base64_with_those_who_do)
{
    AUTO(donep)
    struct exchange *exchange =
        asked(HTTP_1_1, "/a.B/C", "application/grpc-web-text", SLICE("AAAAAAI=YWI=")); /* in two pieces */
    char bytes[64];
    struct rpc_call call;
    size_t len, bad_at;

    CHECK_EQ(rpc_open(exchange, &call), 0);
    CHECK_TEXT(call.message, "ab");
    rpc_answer(exchange, &call, SLICE("hi"));
    CHECK_TEXT(header(exchange, "content-type"), "application/grpc-web-text");
    CHECK(base64_decode(body(exchange), bytes, &len, &bad_at));
    CHECK(slice_equal(slice_of(bytes, len), BYTES("\0\0\0\0\2hi\x80\0\0\0\x0fgrpc-status:0\r\n")));
}

TEST(rpc_says_where_a_body_is_not_base64)
{
    AUTO(donep) struct exchange *exchange = asked(HTTP_1_1, "/a.B/C", "application/grpc-web-text", SLICE("AAAA!AAA"));
    char bytes[256];
    struct rpc_call call;
    size_t len, bad_at;

    CHECK_EQ(rpc_open(exchange, &call), -1);
    CHECK(base64_decode(body(exchange), bytes, &len, &bad_at));
    CHECK_HAS(slice_of(bytes, len), "grpc-status:13\r\n");
    CHECK_HAS(slice_of(bytes, len), "not base64 at offset 4 of 8");
}

/* --- failures of any request --- */

TEST(rpc_shapes_failures_of_plain_http_as_json)
{
    AUTO(donep) struct exchange *exchange = asked_connect("multipart/form-data", SLICE(""));

    exchange->route = &plain_route;
    rpc_shape_failure(exchange, 422, "damaged", 0);
    CHECK_EQ(exchange->response.status, 422);
    CHECK_TEXT(body(exchange), "{\"code\":\"invalid_argument\",\"message\":\"damaged\"}");
    rpc_shape_failure(exchange, 404, "no such profile", 0);
    CHECK_HAS(body(exchange), "\"not_found\"");
    rpc_shape_failure(exchange, 503, "later", 1);
    CHECK_TEXT(header(exchange, "retry-after"), "1");
    exchange->route = NULL;
    rpc_shape_failure(exchange, 404, "nothing is here", 0);
    CHECK_HAS(body(exchange), "\"unimplemented\"");
}

TEST(rpc_shapes_failures_of_grpc_for_those_who_throw_data_away)
{
    AUTO(donep) struct exchange *exchange = asked_grpc(SLICE(""));

    rpc_shape_failure(exchange, 429, "full", 0);
    CHECK_TEXT(trailer(exchange, "grpc-status"), "14");
    rpc_shape_failure(exchange, 429, "full", CLOCK_NS_PER_SECOND);
    CHECK_TEXT(trailer(exchange, "grpc-status"), "8");
    CHECK(trailer(exchange, "grpc-status-details-bin").ptr);
    exchange->route = NULL;
    rpc_shape_failure(exchange, 404, "nothing is here", 0);
    CHECK_EQ(exchange->response.status, 200);
    CHECK_TEXT(trailer(exchange, "grpc-status"), "12");
}

TEST(rpc_shapes_failures_of_otlp_in_the_encoding_of_the_request)
{
    AUTO(donep)
    struct exchange *proto = asked(HTTP_1_1, "/v1development/profiles", "application/x-protobuf", SLICE(""));
    AUTO(donep) struct exchange *json = asked(HTTP_1_1, "/v1development/profiles", "application/json", SLICE(""));
    AUTO(donep) struct exchange *other = asked(HTTP_1_1, "/v1development/profiles", "text/csv", SLICE(""));

    proto->route = json->route = other->route = &plain_route;
    rpc_shape_failure(proto, 400, "bad", 0);
    CHECK_EQ(proto->response.status, 400);
    CHECK_TEXT(header(proto, "content-type"), "application/x-protobuf");
    CHECK_TEXT(body(proto), "\x08\x03\x12\x03"
                            "bad");
    rpc_shape_failure(json, 503, "later", 2100000000);
    CHECK_TEXT(body(json), "{\"code\":14,\"message\":\"later\"}");
    CHECK_TEXT(header(json, "retry-after"), "3");
    rpc_shape_failure(other, 415, "what is this", 0);
    CHECK_TEXT(header(other, "content-type"), "text/plain; charset=utf-8");
    CHECK_TEXT(body(other), "what is this");
}

/* --- memory --- */

/* Each failure leaves an answer of the right status, whole or empty. */
static int answer_and_fail(void *context, struct error *err)
{
    static char message[3000];
    const char *type = context;
    AUTO(donep) struct exchange *exchange = asked(HTTP_2, "/a.B/C", type, SLICE("AAAAAAI=YWI="));
    struct rpc_call call = { .protocol = rpc_protocol_of(&exchange->request, true) };
    struct error failure;
    size_t plain_len;

    memset(message, 'm', sizeof(message));
    with(exchange, "accept-encoding", "gzip");
    with(exchange, "grpc-accept-encoding", "gzip");
    if (call.protocol == RPC_GRPC_WEB_TEXT && rpc_open(exchange, &call) < 0)
        return error_set(err, ERR_MEMORY, "not opened");
    rpc_answer(exchange, &call, slice_of(message, sizeof(message)));
    CHECK(exchange->response.status != 0);
    CHECK_OK(buffer_check(&exchange->response.body, &failure), &failure);
    plain_len = body(exchange).len;
    rpc_fail(exchange, &call, RPC_UNAVAILABLE, "later", CLOCK_NS_PER_SECOND);
    CHECK_OK(buffer_check(&exchange->response.body, &failure), &failure);
    if (exchange->response.headers.n == 0 || plain_len > 200 ||
        (call.protocol == RPC_GRPC ? exchange->response.trailers.n != 3 : body(exchange).len == 0))
        return error_set(err, ERR_MEMORY, "something is missing");
    return 0;
}

TEST(rpc_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(answer_and_fail, (void *)"application/grpc");
    test_each_allocation_failing(answer_and_fail, (void *)"application/grpc-web");
    test_each_allocation_failing(answer_and_fail, (void *)"application/grpc-web-text");
    test_each_allocation_failing(answer_and_fail, (void *)"application/proto");
}
