// SPDX-License-Identifier: Apache-2.0
/* Envelopes come off in rpc_open and go on in rpc_answer and rpc_fail:
 *
 *     gRPC       body = one message behind a prefix of five bytes; the outcome in trailers, so only over HTTP/2
 *     gRPC-Web   the same body with the outcome as a last frame in it, all of it in base64 if it is the text form
 *     Connect    body = the bare message; a failure is an HTTP status with JSON
 *
 *     prefix:  flags (1 = compressed, 0x80 = trailers) | length, 4 bytes, big-endian */
#include "net/rpc.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/json.h"
#include "net/route.h"
#include "pack/packer.h"
#include "pack/varint.h"

#include <stdarg.h>
#include <stdio.h>

#define PREFIX_BYTES      5
#define FLAG_COMPRESSED   0x01
#define FLAG_TRAILERS     0x80
#define MIN_PACKED_BYTES  1024 /* shorter answers are not worth compressing */
#define MAX_MESSAGE_BYTES 1024 /* of a failure: it travels in a header, and clients limit those */
#define GRPC_ENCODINGS    "identity,gzip,zstd,snappy"
#define RETRY_INFO        "google.rpc.RetryInfo"
#define RETRY_INFO_BYTES  (4 + 2 * VARINT_MAX_BYTES) /* at most */

/* --- codes --- */

static const struct {
    const char *name;
    int http_status;
} codes[RPC_CODE_COUNT] = {
    [RPC_OK] = { "ok", 200 },
    [RPC_CANCELLED] = { "canceled", 499 },
    [RPC_UNKNOWN] = { "unknown", 500 },
    [RPC_INVALID_ARGUMENT] = { "invalid_argument", 400 },
    [RPC_DEADLINE_EXCEEDED] = { "deadline_exceeded", 504 },
    [RPC_NOT_FOUND] = { "not_found", 404 },
    [RPC_ALREADY_EXISTS] = { "already_exists", 409 },
    [RPC_PERMISSION_DENIED] = { "permission_denied", 403 },
    [RPC_RESOURCE_EXHAUSTED] = { "resource_exhausted", 429 },
    [RPC_FAILED_PRECONDITION] = { "failed_precondition", 400 },
    [RPC_ABORTED] = { "aborted", 409 },
    [RPC_OUT_OF_RANGE] = { "out_of_range", 400 },
    [RPC_UNIMPLEMENTED] = { "unimplemented", 501 },
    [RPC_INTERNAL] = { "internal", 500 },
    [RPC_UNAVAILABLE] = { "unavailable", 503 },
    [RPC_DATA_LOSS] = { "data_loss", 500 },
    [RPC_UNAUTHENTICATED] = { "unauthenticated", 401 },
};

/* What a status says about the request. Our own errors come by way of their statuses (ERROR_CODES), so there is one
 * table of meanings. What is too large or damaged stays so however often it is sent: clients must not try it again. */
static const struct {
    int http_status;
    enum rpc_code code;
} meanings[] = {
    { 200, RPC_OK },
    { 400, RPC_INVALID_ARGUMENT },
    { 401, RPC_UNAUTHENTICATED },
    { 403, RPC_PERMISSION_DENIED },
    { 404, RPC_NOT_FOUND },
    { 405, RPC_UNIMPLEMENTED },
    { 408, RPC_DEADLINE_EXCEEDED },
    { 409, RPC_ALREADY_EXISTS },
    { 411, RPC_INVALID_ARGUMENT },
    { 412, RPC_FAILED_PRECONDITION },
    { 413, RPC_INVALID_ARGUMENT },
    { 414, RPC_INVALID_ARGUMENT },
    { 415, RPC_UNIMPLEMENTED },
    { 417, RPC_INVALID_ARGUMENT },
    { 422, RPC_INVALID_ARGUMENT },
    { 426, RPC_FAILED_PRECONDITION },
    { 429, RPC_RESOURCE_EXHAUSTED },
    { 431, RPC_INVALID_ARGUMENT },
    { 499, RPC_CANCELLED },
    { 500, RPC_INTERNAL },
    { 501, RPC_UNIMPLEMENTED },
    { 502, RPC_UNAVAILABLE },
    { 503, RPC_UNAVAILABLE },
    { 504, RPC_DEADLINE_EXCEEDED },
    { 505, RPC_UNIMPLEMENTED },
    { 507, RPC_RESOURCE_EXHAUSTED },
};

const char *rpc_code_name(enum rpc_code code)
{
    return codes[code].name;
}

int rpc_code_http_status(enum rpc_code code)
{
    return codes[code].http_status;
}

enum rpc_code rpc_code_from_status(int http_status)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (meanings[i].http_status == http_status)
            return meanings[i].code;
    return RPC_UNKNOWN;
}

enum rpc_code rpc_code_from_error(enum error_code code)
{
    return rpc_code_from_status(error_code_http_status(code));
}

/* --- content types and encodings --- */

/* Of several with the same protocol and codec, answers have the first. */
static const struct media {
    const char *type;
    enum rpc_protocol protocol;
    enum rpc_codec codec;
} medias[] = {
    { "application/proto", RPC_CONNECT, RPC_PROTO },
    { "application/json", RPC_CONNECT, RPC_JSON },
    { "application/grpc", RPC_GRPC, RPC_PROTO },
    { "application/grpc+proto", RPC_GRPC, RPC_PROTO },
    { "application/grpc+json", RPC_GRPC, RPC_JSON },
    { "application/grpc-web", RPC_GRPC_WEB, RPC_PROTO },
    { "application/grpc-web+proto", RPC_GRPC_WEB, RPC_PROTO },
    { "application/grpc-web+json", RPC_GRPC_WEB, RPC_JSON },
    { "application/grpc-web-text", RPC_GRPC_WEB_TEXT, RPC_PROTO },
    { "application/grpc-web-text+proto", RPC_GRPC_WEB_TEXT, RPC_PROTO },
    { "application/grpc-web-text+json", RPC_GRPC_WEB_TEXT, RPC_JSON },
};

static struct slice request_type(const struct request *request)
{
    return http_media_type(http_header(&request->headers, "content-type"));
}

static const struct media *find_media(const struct request *request)
{
    struct slice type = request_type(request);

    for (size_t i = 0; i < ARRAY_LEN(medias); i++)
        if (slice_equal_nocase(type, slice_from(medias[i].type)))
            return &medias[i];
    return NULL;
}

static const char *answer_type(enum rpc_protocol protocol, enum rpc_codec codec)
{
    for (size_t i = 0; i < ARRAY_LEN(medias); i++)
        if (medias[i].protocol == protocol && medias[i].codec == codec)
            return medias[i].type;
    return codec == RPC_JSON ? "application/json" : "application/x-protobuf";
}

enum rpc_protocol rpc_protocol_of(const struct request *request, bool is_procedure)
{
    const struct media *media = find_media(request);

    return !media || (media->protocol == RPC_CONNECT && !is_procedure) ? RPC_NONE : media->protocol;
}

/* Ours of the same name; empty for none at all, a NULL pointer for one that we do not know. */
static struct slice find_encoding(struct slice name)
{
    static const char *const encodings[] = { "gzip", "zstd", "snappy" };

    if (name.len == 0 || slice_equal_nocase(name, SLICE("identity")))
        return SLICE("");
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
        if (slice_equal_nocase(name, slice_from(encodings[i])))
            return slice_from(encodings[i]);
    return (struct slice){ NULL, 0 };
}

/* --- opening a call --- */

static int refuse(struct exchange *exchange, const struct rpc_call *call, enum rpc_code code, const char *fmt, ...)
    PRINTF(4, 5);
static int refuse(struct exchange *exchange, const struct rpc_call *call, enum rpc_code code, const char *fmt, ...)
{
    char text[MAX_MESSAGE_BYTES];
    va_list arguments;

    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    rpc_fail(exchange, call, code, text, 0);
    return -1;
}

static int refuse_type(struct exchange *exchange)
{
    char types[512] = "";
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_LEN(medias); i++)
        len += (size_t)snprintf(types + len, sizeof(types) - len, "%s%s", i > 0 ? ", " : "", medias[i].type);
    exchange_fail_with(exchange, 415,
                       "Content-Type '%.*s' is not one of remote procedure calls; application/proto, application/json "
                       "and application/grpc are",
                       SLICE_ARG(slice_sub(http_header(&exchange->request.headers, "content-type"), 0, 100)));
    exchange_header_text(exchange, "accept-post", types);
    return -1;
}

/* "250m" of gRPC: up to eight digits and a unit. */
static bool parse_grpc_timeout(struct slice text, int64_t *ret_ns)
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = { { 'H', 3600 * CLOCK_NS_PER_SECOND },
                  { 'M', 60 * CLOCK_NS_PER_SECOND },
                  { 'S', CLOCK_NS_PER_SECOND },
                  { 'm', 1000000 },
                  { 'u', 1000 },
                  { 'n', 1 } };
    uint64_t number;

    if (text.len < 2 || text.len > 9 || !slice_to_u64(slice_sub(text, 0, text.len - 1), &number))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (units[i].unit == text.ptr[text.len - 1]) {
            if (__builtin_mul_overflow((int64_t)number, units[i].ns, ret_ns))
                *ret_ns = INT64_MAX;
            return true;
        }
    return false;
}

/* Milliseconds of Connect, up to ten digits. */
static bool parse_connect_timeout(struct slice text, int64_t *ret_ns)
{
    uint64_t number;

    if (text.len > 10 || !slice_to_u64(text, &number))
        return false;
    *ret_ns = (int64_t)number * 1000000;
    return true;
}

static int open_timeout(struct exchange *exchange, struct rpc_call *call)
{
    bool is_connect = call->protocol == RPC_CONNECT;
    const char *header = is_connect ? "connect-timeout-ms" : "grpc-timeout";
    struct slice text = http_header(&exchange->request.headers, header);

    if (!text.ptr)
        return 0;
    if (!(is_connect ? parse_connect_timeout : parse_grpc_timeout)(text, &call->timeout_ns))
        return refuse(exchange, call, RPC_INVALID_ARGUMENT, "%s '%.*s' is not a time: %s", header,
                      SLICE_ARG(slice_sub(text, 0, 100)),
                      is_connect ? "up to 10 digits, in milliseconds, as in 5000"
                                 : "up to 8 digits and one of H, M, S, m, u, n, as in 5S");
    if (call->timeout_ns == 0)
        return refuse(exchange, call, RPC_DEADLINE_EXCEEDED, "%s is %.*s: the call was to be over before it began",
                      header, SLICE_ARG(text));
    return 0;
}

static int open_encoding(struct exchange *exchange, struct rpc_call *call, const char *header)
{
    struct slice name = http_header(&exchange->request.headers, header);

    call->encoding = find_encoding(name);
    if (call->encoding.ptr)
        return 0;
    return refuse(exchange, call, RPC_UNIMPLEMENTED, "%s '%.*s' is not known here; identity, gzip, zstd and snappy are",
                  header, SLICE_ARG(slice_sub(name, 0, 100)));
}

static int open_connect(struct exchange *exchange, struct rpc_call *call)
{
    struct slice version = http_header(&exchange->request.headers, "connect-protocol-version");

    if (version.ptr && !slice_is(version, "1"))
        return refuse(exchange, call, RPC_INVALID_ARGUMENT,
                      "connect-protocol-version '%.*s' is not known here; leave it out, or send 1",
                      SLICE_ARG(slice_sub(version, 0, 100)));
    if (open_encoding(exchange, call, "content-encoding") < 0)
        return -1;
    call->message = exchange->request.body;
    if (call->message.len > 0)
        return 0;
    if (call->codec == RPC_JSON)
        return refuse(exchange, call, RPC_INVALID_ARGUMENT, "the body is empty; a message in JSON is {} at least");
    call->encoding = SLICE(""); /* an empty message is never compressed, whatever the header says */
    return 0;
}

/* The body of gRPC-Web as text, decoded. */
static int open_base64(struct exchange *exchange, const struct rpc_call *call, struct slice *ret_body)
{
    struct slice text = exchange->request.body;
    size_t len, bad_at;
    struct error err;
    char *bytes = arena_alloc(&exchange->arena, BASE64_DECODED_BYTES(text.len), &err);

    if (!bytes)
        return refuse(exchange, call, rpc_code_from_error(err.code), "decoding base64 of %zu bytes: %s", text.len,
                      err.text);
    if (!base64_decode(text, bytes, &len, &bad_at))
        return refuse(exchange, call, RPC_INTERNAL, "the body is not base64 at offset %zu of %zu", bad_at, text.len);
    *ret_body = slice_of(bytes, len);
    return 0;
}

/* Takes the one message out of its frame. The codes are those that gRPC gives: a broken frame is INTERNAL, another number
 * of messages than one is UNIMPLEMENTED. */
static int open_frame(struct exchange *exchange, struct rpc_call *call, struct slice body)
{
    uint8_t flags;
    uint32_t len;

    if (body.len == 0)
        return refuse(exchange, call, RPC_UNIMPLEMENTED, "the call has no message; this procedure takes one");
    if (body.len < PREFIX_BYTES)
        return refuse(exchange, call, RPC_INTERNAL, "the message is cut off in its prefix: %zu of %d bytes came",
                      body.len, PREFIX_BYTES);
    flags = (uint8_t)body.ptr[0];
    len = bytes_get_be32(body.ptr + 1);
    if (flags > FLAG_COMPRESSED)
        return refuse(exchange, call, RPC_INTERNAL, "the first byte of a message is 0x%02x; 0 and 1 are allowed",
                      flags);
    if (body.len - PREFIX_BYTES < len)
        return refuse(exchange, call, RPC_INTERNAL, "the message is cut off: its prefix says %u bytes, %zu came", len,
                      body.len - PREFIX_BYTES);
    if (body.len - PREFIX_BYTES > len)
        return refuse(exchange, call, RPC_UNIMPLEMENTED,
                      "the call has more than one message (%zu bytes behind the first); this procedure takes one",
                      body.len - PREFIX_BYTES - len);
    if (flags == FLAG_COMPRESSED && call->encoding.len == 0)
        return refuse(exchange, call, RPC_INTERNAL, "the message says that it is compressed, but no grpc-encoding how");
    if (flags == 0)
        call->encoding = SLICE("");
    call->message = slice_sub(body, PREFIX_BYTES, len);
    return 0;
}

static int open_grpc(struct exchange *exchange, struct rpc_call *call)
{
    struct slice body = exchange->request.body;

    if (open_encoding(exchange, call, "grpc-encoding") < 0)
        return -1;
    if (call->protocol == RPC_GRPC_WEB_TEXT && open_base64(exchange, call, &body) < 0)
        return -1;
    return open_frame(exchange, call, body);
}

int rpc_open(struct exchange *exchange, struct rpc_call *ret_call)
{
    const struct media *media = find_media(&exchange->request);
    struct rpc_call call = { .encoding = SLICE("") };

    if (!media)
        return refuse_type(exchange);
    call.protocol = media->protocol;
    call.codec = media->codec;
    if (call.protocol == RPC_GRPC && exchange->request.version == HTTP_1_0) {
        exchange_fail_with(
            exchange, 505,
            "gRPC needs HTTP/2 or HTTP/1.1, and this came by HTTP/1.0; a proxy between may have changed it");
        return -1;
    }
    if (open_timeout(exchange, &call) < 0)
        return -1;
    if ((call.protocol == RPC_CONNECT ? open_connect : open_grpc)(exchange, &call) < 0)
        return -1;
    *ret_call = call;
    return 0;
}

/* --- answering with a message --- */

/* Compresses the message to `packed` if the caller takes that and it gets shorter. */
static bool pack(const struct exchange *exchange, const char *accept_header, struct slice message,
                 struct buffer *packed)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    struct error ignored;

    if (message.len <= MIN_PACKED_BYTES || !http_header_has(&exchange->request.headers, accept_header, "gzip"))
        return false;
    if (packer_new(&packer, &ignored) < 0 ||
        packer_pack(packer, PACK_GZIP, PACK_LEVEL_DEFAULT, message, packed, &ignored) < 0)
        return false; /* without memory for it, the plain message will do */
    return packed->len < message.len;
}

static void append_frame(struct buffer *out, uint8_t flags, struct slice content)
{
    char prefix[PREFIX_BYTES];

    prefix[0] = (char)flags;
    bytes_put_be32(prefix + 1, (uint32_t)content.len);
    buffer_append(out, prefix, sizeof(prefix));
    buffer_append_slice(out, content);
}

/* What was made of a part that failed has failed too. */
static void inherit_failure(struct buffer *whole, const struct buffer *part)
{
    if (part->failure.code != ERR_OK)
        whole->failure = part->failure;
}

/* The frames of gRPC-Web as the body, in base64 if it is the text form. */
static void put_web_body(struct exchange *exchange, enum rpc_protocol protocol, const struct buffer *frames)
{
    if (protocol == RPC_GRPC_WEB_TEXT)
        base64_encode(buffer_slice(frames), true, &exchange->response.body);
    else
        buffer_append_slice(&exchange->response.body, buffer_slice(frames));
    inherit_failure(&exchange->response.body, frames);
}

static void answer_connect(struct exchange *exchange, struct slice message)
{
    AUTO(buffer_done) struct buffer packed;
    bool is_packed;

    buffer_init(&packed, 0);
    is_packed = pack(exchange, "accept-encoding", message, &packed);
    if (is_packed)
        exchange_header_text(exchange, "content-encoding", "gzip");
    buffer_append_slice(&exchange->response.body, is_packed ? buffer_slice(&packed) : message);
}

static void answer_grpc(struct exchange *exchange, enum rpc_protocol protocol, struct slice message)
{
    AUTO(buffer_done) struct buffer packed, frames;
    bool is_packed;

    buffer_init(&packed, 0);
    buffer_init(&frames, 0);
    is_packed = pack(exchange, "grpc-accept-encoding", message, &packed);
    if (is_packed)
        exchange_header_text(exchange, "grpc-encoding", "gzip");
    exchange_header_text(exchange, "grpc-accept-encoding", GRPC_ENCODINGS);
    if (is_packed)
        message = buffer_slice(&packed);
    if (protocol == RPC_GRPC) {
        append_frame(&exchange->response.body, is_packed, message);
        exchange_trailer(exchange, "grpc-status", SLICE("0"));
        return;
    }
    append_frame(&frames, is_packed, message);
    append_frame(&frames, FLAG_TRAILERS, SLICE("grpc-status:0\r\n"));
    put_web_body(exchange, protocol, &frames);
}

void rpc_answer(struct exchange *exchange, const struct rpc_call *call, struct slice message)
{
    struct error err;

    exchange_answer(exchange, 200, answer_type(call->protocol, call->codec), SLICE(""));
    switch (call->protocol) {
    case RPC_NONE:
    case RPC_CONNECT: answer_connect(exchange, message); break;
    case RPC_GRPC:
    case RPC_GRPC_WEB:
    case RPC_GRPC_WEB_TEXT: answer_grpc(exchange, call->protocol, message); break;
    }
    if (buffer_check(&exchange->response.body, &err) < 0)
        IGNORE(refuse(exchange, call, RPC_UNAVAILABLE, "no room for an answer of %zu bytes: %s", message.len, err.text),
               "it always fails");
}

/* --- failing --- */

struct failure {
    int http_status;
    enum rpc_code code;
    struct slice message; /* UTF-8 */
    int64_t retry_after_ns;
};

/* Cuts `text` to what fits `to`, with U+FFFD for each byte that is not UTF-8. */
static struct slice clean_message(const char *text, char to[static MAX_MESSAGE_BYTES])
{
    struct slice rest = slice_from(text);
    size_t len = 0;

    while (rest.len > 0) {
        size_t n = slice_utf8_len(rest);
        struct slice piece = n > 0 ? slice_sub(rest, 0, n) : SLICE("\xef\xbf\xbd");

        if (len + piece.len > MAX_MESSAGE_BYTES)
            break;
        memcpy(to + len, piece.ptr, piece.len);
        len += piece.len;
        rest = slice_sub(rest, MAX(n, 1), SIZE_MAX);
    }
    return slice_of(to, len);
}

static void append_bytes_field(struct buffer *out, uint32_t number, struct slice bytes)
{
    varint_append(out, number << 3 | 2);
    varint_append(out, bytes.len);
    buffer_append_slice(out, bytes);
}

/* google.rpc.RetryInfo: field 1 is a Duration, whose fields 1 and 2 are seconds and nanoseconds. */
static struct slice put_retry_info(char to[static RETRY_INFO_BYTES], int64_t retry_after_ns)
{
    char *at = to + 2;

    *at++ = 1 << 3;
    at = varint_put(at, (uint64_t)(retry_after_ns / CLOCK_NS_PER_SECOND));
    *at++ = 2 << 3;
    at = varint_put(at, (uint64_t)(retry_after_ns % CLOCK_NS_PER_SECOND));
    to[0] = 1 << 3 | 2;
    to[1] = (char)(at - to - 2);
    return slice_of(to, (size_t)(at - to));
}

/* google.rpc.Status: code, message, and details, each an Any of a type and a value. */
static void append_status(struct buffer *out, const struct failure *failure)
{
    struct slice type = SLICE("type.googleapis.com/" RETRY_INFO), info;
    char bytes[RETRY_INFO_BYTES];

    varint_append(out, 1 << 3);
    varint_append(out, failure->code);
    append_bytes_field(out, 2, failure->message);
    if (failure->retry_after_ns <= 0)
        return;
    info = put_retry_info(bytes, failure->retry_after_ns);
    varint_append(out, 3 << 3 | 2);
    varint_append(out, 2 + type.len + 2 + info.len); /* both lengths take one byte */
    append_bytes_field(out, 1, type);
    append_bytes_field(out, 2, info);
}

/* As grpc-message wants it: %XX for what is not printable ASCII, and for the percent sign. */
static void append_percent_encoded(struct buffer *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c < 0x20 || c > 0x7e || c == '%')
            buffer_printf(out, "%%%02X", c);
        else
            buffer_append_byte(out, (char)c);
    }
}

static void append_status_base64(struct buffer *out, const struct failure *failure)
{
    AUTO(buffer_done) struct buffer status;

    buffer_init(&status, 0);
    append_status(&status, failure);
    base64_encode(buffer_slice(&status), false, out);
    inherit_failure(out, &status);
}

static void add_trailer(struct exchange *exchange, const char *name, const struct buffer *value)
{
    struct error ignored;

    if (buffer_check(value, &ignored) == 0)
        exchange_trailer(exchange, name, buffer_slice(value));
}

/* A failure of gRPC is trailers alone; without memory, the number comes first. */
static void fail_grpc(struct exchange *exchange, enum rpc_codec codec, const struct failure *failure)
{
    AUTO(buffer_done) struct buffer message, details;
    char number[16];

    buffer_init(&message, 0);
    buffer_init(&details, 0);
    snprintf(number, sizeof(number), "%d", (int)failure->code);
    exchange_answer(exchange, 200, answer_type(RPC_GRPC, codec), SLICE(""));
    exchange_trailer(exchange, "grpc-status", slice_from(number));
    exchange_header_text(exchange, "grpc-accept-encoding", GRPC_ENCODINGS);
    append_percent_encoded(&message, failure->message);
    add_trailer(exchange, "grpc-message", &message);
    if (failure->retry_after_ns <= 0)
        return;
    append_status_base64(&details, failure);
    add_trailer(exchange, "grpc-status-details-bin", &details);
}

static void fail_grpc_web(struct exchange *exchange, enum rpc_protocol protocol, enum rpc_codec codec,
                          const struct failure *failure)
{
    AUTO(buffer_done) struct buffer trailers, frames;

    buffer_init(&trailers, 0);
    buffer_init(&frames, 0);
    exchange_answer(exchange, 200, answer_type(protocol, codec), SLICE(""));
    exchange_header_text(exchange, "grpc-accept-encoding", GRPC_ENCODINGS);
    buffer_printf(&trailers, "grpc-status:%d\r\ngrpc-message:", (int)failure->code);
    append_percent_encoded(&trailers, failure->message);
    if (failure->retry_after_ns > 0) {
        buffer_append_text(&trailers, "\r\ngrpc-status-details-bin:");
        append_status_base64(&trailers, failure);
    }
    buffer_append_text(&trailers, "\r\n");
    append_frame(&frames, FLAG_TRAILERS, buffer_slice(&trailers));
    inherit_failure(&frames, &trailers);
    put_web_body(exchange, protocol, &frames);
}

static void add_retry_after(struct exchange *exchange, int64_t retry_after_ns)
{
    char seconds[24];

    if (retry_after_ns <= 0)
        return;
    snprintf(seconds, sizeof(seconds), "%lld",
             (long long)(retry_after_ns / CLOCK_NS_PER_SECOND + (retry_after_ns % CLOCK_NS_PER_SECOND > 0)));
    exchange_header_text(exchange, "retry-after", seconds);
}

static void put_details(struct json *json, int64_t retry_after_ns)
{
    AUTO(buffer_done) struct buffer text;
    char bytes[RETRY_INFO_BYTES];

    buffer_init(&text, 0);
    base64_encode(put_retry_info(bytes, retry_after_ns), false, &text);
    json_key(json, "details");
    json_array_begin(json);
    json_object_begin(json);
    json_key(json, "type");
    json_text(json, RETRY_INFO);
    json_key(json, "value");
    json_string(json, buffer_slice(&text));
    json_object_end(json);
    json_array_end(json);
    inherit_failure(json->buffer, &text);
}

/* Connect and plain HTTP name the code and may have details; OTLP has its number and none. */
static void fail_json(struct exchange *exchange, const struct failure *failure, bool is_otlp)
{
    struct json json;

    exchange_answer(exchange, failure->http_status, "application/json", SLICE(""));
    add_retry_after(exchange, failure->retry_after_ns);
    json_init(&json, &exchange->response.body, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "code");
    if (is_otlp)
        json_int(&json, failure->code);
    else
        json_text(&json, codes[failure->code].name);
    json_key(&json, "message");
    json_string(&json, failure->message);
    if (!is_otlp && failure->retry_after_ns > 0)
        put_details(&json, failure->retry_after_ns);
    json_object_end(&json);
    json_done(&json);
}

/* OTLP/HTTP: a google.rpc.Status in the encoding of the request; a sentence where that is neither of the two. */
static void fail_otlp(struct exchange *exchange, const struct failure *failure)
{
    struct slice type = request_type(&exchange->request);

    if (slice_equal_nocase(type, SLICE("application/json"))) {
        fail_json(exchange, failure, true);
    } else if (slice_equal_nocase(type, SLICE("application/x-protobuf"))) {
        exchange_answer(exchange, failure->http_status, "application/x-protobuf", SLICE(""));
        add_retry_after(exchange, failure->retry_after_ns);
        append_status(&exchange->response.body, failure);
    } else {
        exchange_answer(exchange, failure->http_status, "text/plain; charset=utf-8", failure->message);
        add_retry_after(exchange, failure->retry_after_ns);
    }
}

static void fail(struct exchange *exchange, enum rpc_protocol protocol, enum rpc_codec codec,
                 const struct failure *failure)
{
    struct error ignored;

    switch (protocol) {
    case RPC_GRPC: fail_grpc(exchange, codec, failure); break;
    case RPC_GRPC_WEB:
    case RPC_GRPC_WEB_TEXT: fail_grpc_web(exchange, protocol, codec, failure); break;
    case RPC_CONNECT: fail_json(exchange, failure, false); break;
    case RPC_NONE:
        if (slice_starts_with(exchange->request.path, SLICE("/v1")))
            fail_otlp(exchange, failure);
        else
            fail_json(exchange, failure, false);
        break;
    }
    if (buffer_check(&exchange->response.body, &ignored) < 0)
        buffer_clear(&exchange->response.body); /* without memory for a sentence, the status alone says it */
}

/* HTTP/1.0 has no trailers, and so no gRPC: there a failure is one of plain HTTP. */
static enum rpc_protocol failing_protocol(const struct exchange *exchange, enum rpc_protocol protocol)
{
    return protocol == RPC_GRPC && exchange->request.version == HTTP_1_0 ? RPC_NONE : protocol;
}

void rpc_fail(struct exchange *exchange, const struct rpc_call *call, enum rpc_code code, const char *message,
              int64_t retry_after_ns)
{
    char clean[MAX_MESSAGE_BYTES];
    struct failure failure = { codes[code].http_status, code, clean_message(message, clean), retry_after_ns };

    fail(exchange, failing_protocol(exchange, call->protocol), call->codec, &failure);
}

/* Of a path that nobody answers gRPC says that the procedure is not implemented. And clients of OTLP throw away what was
 * refused for want of room, unless they are told when to come again. */
static enum rpc_code failing_code(const struct exchange *exchange, enum rpc_protocol protocol, int status,
                                  int64_t retry_after_ns)
{
    enum rpc_code code = rpc_code_from_status(status);

    if (status == 404 && !exchange->route)
        return RPC_UNIMPLEMENTED;
    if (code == RPC_RESOURCE_EXHAUSTED && retry_after_ns <= 0 && protocol == RPC_GRPC)
        return RPC_UNAVAILABLE;
    return code;
}

void rpc_shape_failure(struct exchange *exchange, int status, const char *message, int64_t retry_after_ns)
{
    const struct media *media = find_media(&exchange->request);
    bool is_procedure = exchange->route && exchange->route->is_procedure;
    enum rpc_protocol protocol = failing_protocol(exchange, rpc_protocol_of(&exchange->request, is_procedure));
    char clean[MAX_MESSAGE_BYTES];
    struct failure failure = { status, failing_code(exchange, protocol, status, retry_after_ns),
                               clean_message(message, clean), retry_after_ns };

    fail(exchange, protocol, media ? media->codec : RPC_PROTO, &failure);
}
