// SPDX-License-Identifier: Apache-2.0
/* Requests that bring profiles. Each protocol is a row: how its request becomes an upload, and how its sender wants to be
 * answered. What happens in between is the same for all. */
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "intake/ingest.h"
#include "net/rpc.h"
#include "server/server_internal.h"
#include "wire/protobuf.h"

#include <stdio.h>

#define RETRY_AFTER_NS (5 * CLOCK_NS_PER_SECOND)
#define TENANT_LANES   8
#define TOO_MANY       "there are more profiles than can be stored; this one is not kept, try again in some seconds"

struct receiver {
    /* Makes an upload of the request; false: it is answered already. */
    bool (*open)(struct exchange *exchange, struct upload *upload);
    /* Everything, or what the receipt says, is kept. The receipt is NULL where nobody has looked into the upload yet. */
    void (*accept)(struct exchange *exchange, const struct intake_receipt *receipt);
    void (*reject)(struct exchange *exchange, const struct error *err, int64_t retry_after_ns);
};

/* What an exchange remembers between its handlers. */
struct receiving {
    const struct receiver *receiver;
    struct rpc_call call;
    struct slice tenant;
    bool is_spilled; /* but not yet synced */
    bool is_counted; /* though it was not opened */
};

static struct server *server_of(const struct exchange *exchange)
{
    return exchange->context;
}

static struct receiving *receiving_of(const struct exchange *exchange)
{
    return exchange->state;
}

/* --- tenants --- */

static bool tenant_of(struct exchange *exchange, struct slice *ret_tenant)
{
    return answer_tenant(exchange, server_of(exchange)->options.is_multi_tenant, ret_tenant);
}

/* --- what protocols have in common --- */

/* The address of the machine that sent it, as far as proxies tell. */
static struct slice place_of(const struct request *request)
{
    struct slice list = http_header(&request->headers, "x-forwarded-for"), first;
    ptrdiff_t colon = slice_find_last_byte(request->peer, ':');

    if (list.len > 0 && slice_next_part(&list, ',', &first) && slice_trim(first).len > 0)
        return slice_trim(first);
    first = slice_trim(http_header(&request->headers, "x-real-ip"));
    if (first.len > 0)
        return first;
    return colon < 0 ? request->peer : slice_sub(request->peer, 0, (size_t)colon);
}

static bool begin(struct exchange *exchange, struct upload *upload)
{
    const struct http_headers *headers = &exchange->request.headers;
    struct receiving *receiving = receiving_of(exchange);

    if (!tenant_of(exchange, &receiving->tenant))
        return false;
    *upload = (struct upload){
        .tenant = receiving->tenant,
        .received_ns = exchange->request.received_ns,
        .weight = 1,
        .query = exchange->request.query,
        .content_type = http_header(headers, "content-type"),
        .content_encoding = http_header(headers, "content-encoding"),
        .user_agent = http_header(headers, "user-agent"),
        .profile_type = http_header(headers, "x-profile-type"),
        .profile_time = http_header(headers, "x-profile-timestamp"),
        .trace_id = http_header(headers, "x-trace-id"),
        .place = place_of(&exchange->request),
        .body = exchange->request.body,
    };
    return true;
}

/* The value of a parameter as it came, still encoded; a NULL pointer if it is not there. */
static struct slice parameter(struct slice query, const char *name)
{
    struct slice part, wanted = slice_from(name);

    while (slice_next_part(&query, '&', &part))
        if (slice_starts_with(part, wanted) && part.len > wanted.len && part.ptr[wanted.len] == '=')
            return slice_sub(part, wanted.len + 1, SIZE_MAX);
    return (struct slice){ NULL, 0 };
}

/* --- counting what nobody looked into --- */

static enum upload_kind kind_of(const struct exchange *exchange)
{
    const struct route *route = exchange->route;

    if (route->handler == receive_push)
        return UPLOAD_PUSH;
    if (route->handler == receive_otlp)
        return UPLOAD_OTLP;
    return parameter(exchange->request.query, "name").ptr ? UPLOAD_INGEST : UPLOAD_PLAIN;
}

/* What can be told of an upload by its head. */
static struct upload upload_of(const struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->request.headers;
    struct upload upload = { .kind = kind_of(exchange),
                             .tenant = SLICE(STORE_TENANT_DEFAULT),
                             .query = exchange->request.query,
                             .content_type = http_header(headers, "content-type"),
                             .body = exchange->request.body,
                             .user_agent = http_header(headers, "user-agent") };

    if (server_of(exchange)->options.is_multi_tenant)
        upload.tenant = http_header(headers, "x-scope-orgid");
    return upload;
}

/* Counts an upload whose profiles nobody has looked at, for the row that it would have counted for. */
static void count(struct exchange *exchange, const struct upload *upload, struct source_counts *counts,
                  const struct error *err)
{
    struct slice service = SLICE(SOURCES_UNKNOWN), spy = SLICE("");
    char sender[UPLOAD_SENDER_BYTES];

    if (upload->kind == UPLOAD_INGEST)
        IGNORE(ingest_peek(upload, &exchange->arena, &service, &spy), "without a name it is nobody's");
    counts->n_uploads = counts->n_seen = 1;
    sources_count(intake_sources(server_of(exchange)->intake), upload->tenant, service,
                  upload_sender(upload, spy.len > 0 ? spy : upload->user_agent, sender), clock_now_ns(), counts, err);
}

static void count_left_out(struct exchange *exchange, const struct upload *upload)
{
    count(exchange, upload, &(struct source_counts){ .n_downsampled = 1 }, NULL);
    servermetrics_count_overload(server_of(exchange), false);
}

static void count_refused(struct exchange *exchange, const struct upload *upload, const struct error *err)
{
    count(exchange, upload, &(struct source_counts){ .n_dropped = { [SOURCE_OVERLOAD] = 1 } }, err);
    servermetrics_count_overload(server_of(exchange), true);
}

/* Counts an upload that was answered before anybody looked into it: a content type or an envelope that nobody knows. Of one
 * without a good tenant nobody can say whose it was. */
static void count_unread(struct exchange *exchange, const char *why)
{
    struct upload upload = upload_of(exchange);
    struct error err;

    if (store_check_tenant(upload.tenant, &err) < 0)
        return;
    error_set(&err, ERR_INVALID, "%s", why);
    count(exchange, &upload, &(struct source_counts){ .n_dropped = { [SOURCE_INVALID] = 1 } }, &err);
}

/* --- before the body is read --- */

void receive_admit(struct exchange *exchange)
{
    struct slice ignored;

    IGNORE(tenant_of(exchange, &ignored), "an answer given there ends the request");
}

/* Version 1 is the layout that everybody sends who says something about it. Others are refused before they are misread. */
void receive_admit_otlp(struct exchange *exchange)
{
    static const char key[] = "otlp-profiles-development-version";
    const struct http_headers *headers = &exchange->request.headers;
    struct slice version = http_header(headers, key);

    receive_admit(exchange);
    if (exchange->response.status != 0 || !version.ptr ||
        (slice_is(version, "1") && http_header_count(headers, key) == 1))
        return;
    exchange_fail_with(exchange, 400,
                       "invalid or unsupported %s '%.*s'; this server speaks version 1: leave it out, or send it once "
                       "with the value 1",
                       key, SLICE_ARG(slice_sub(version, 0, 32)));
    count_unread(exchange, "its otlp-profiles-development-version is not 1");
}

/* --- Pyroscope's /ingest, and the plain exporter that posts to the same place without a name --- */

static bool open_ingest(struct exchange *exchange, struct upload *upload)
{
    if (!begin(exchange, upload))
        return false;
    upload->kind = parameter(upload->query, "name").ptr ? UPLOAD_INGEST : UPLOAD_PLAIN;
    return true;
}

static bool open_plain(struct exchange *exchange, struct upload *upload)
{
    if (!begin(exchange, upload))
        return false;
    upload->kind = UPLOAD_PLAIN;
    return true;
}

static void accept_plainly(struct exchange *exchange, const struct intake_receipt *receipt UNUSED)
{
    exchange_answer(exchange, 200, NULL, SLICE(""));
}

static void reject_plainly(struct exchange *exchange, const struct error *err, int64_t retry_after_ns)
{
    rpc_shape_failure(exchange, error_code_http_status(err->code), err->text, retry_after_ns);
}

/* --- push.v1 --- */

/* A caller whose time is over has gone, and is likely to send the same again: keeping this one too would count it twice. */
static bool is_overdue(struct exchange *exchange, const struct upload *upload)
{
    const struct rpc_call *call = &receiving_of(exchange)->call;
    int64_t taken_ns = clock_mono_ns() - exchange->request.begun_mono_ns;
    struct error err;

    if (call->timeout_ns == 0 || taken_ns < call->timeout_ns)
        return false;
    error_set(&err, ERR_TIMEOUT,
              "the call allows %lld ms, which were over after %lld ms, before its turn came; it is not kept",
              (long long)(call->timeout_ns / 1000000), (long long)(taken_ns / 1000000));
    count_refused(exchange, upload, &err);
    receiving_of(exchange)->is_counted = true;
    rpc_fail(exchange, call, RPC_DEADLINE_EXCEEDED, err.text, 0);
    return true;
}

static bool open_call(struct exchange *exchange, enum upload_kind kind, enum upload_kind json_kind,
                      struct upload *upload)
{
    struct rpc_call *call = &receiving_of(exchange)->call;

    if (rpc_open(exchange, call) < 0 || !begin(exchange, upload))
        return false;
    upload->kind = call->codec == RPC_JSON ? json_kind : kind;
    upload->body = call->message;
    upload->content_encoding = call->encoding;
    return !is_overdue(exchange, upload);
}

static bool open_push(struct exchange *exchange, struct upload *upload)
{
    return open_call(exchange, UPLOAD_PUSH, UPLOAD_PUSH_JSON, upload);
}

/* Part of it is kept. A failure is the only answer that SDKs show to people, as Pyroscope's server has it too; but none that
 * makes clients send all of it again. */
static void fail_partly(struct exchange *exchange, const struct rpc_call *call, const struct intake_receipt *receipt)
{
    bool has_failed = receipt->n_failed > 0;
    struct error err = has_failed ? receipt->failure : receipt->rejection;
    enum rpc_code code = has_failed ? RPC_ABORTED : rpc_code_from_error(err.code);

    error_wrap(&err, "%u of %u profiles not kept, the others are", receipt->n_rejected + receipt->n_failed,
               receipt->n_profiles);
    rpc_fail(exchange, call, code, err.text, 0);
}

static void accept_call(struct exchange *exchange, const struct intake_receipt *receipt)
{
    const struct rpc_call *call = &receiving_of(exchange)->call;

    if (receipt && receipt->n_rejected + receipt->n_failed > 0) {
        fail_partly(exchange, call, receipt);
        return;
    }
    rpc_answer(exchange, call, call->codec == RPC_JSON ? SLICE("{}") : SLICE(""));
}

static void reject_call(struct exchange *exchange, const struct error *err, int64_t retry_after_ns)
{
    rpc_fail(exchange, &receiving_of(exchange)->call, rpc_code_from_error(err->code), err->text, retry_after_ns);
}

/* --- OTLP --- */

/* Others than these would be read as what they are not. That lz4 is lz4 its first bytes say. */
static bool check_encoding(struct exchange *exchange, struct slice coding)
{
    static const char *const known[] = { "", "identity", "gzip", "x-gzip", "zstd", "snappy", "x-snappy-framed", "lz4" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_equal_nocase(slice_trim(coding), slice_from(known[i])))
            return true;
    exchange_fail_with(exchange, 415, "Content-Encoding '%.*s' is not known here; send gzip, zstd, snappy or none",
                       SLICE_ARG(slice_sub(coding, 0, 64)));
    exchange_header_text(exchange, "accept-encoding", "gzip, zstd, snappy");
    return false;
}

static bool open_otlp_http(struct exchange *exchange, struct upload *upload)
{
    struct slice type = http_media_type(http_header(&exchange->request.headers, "content-type"));

    if (!begin(exchange, upload))
        return false;
    if (slice_equal_nocase(type, SLICE("application/json"))) {
        upload->kind = UPLOAD_OTLP_JSON;
    } else if (slice_equal_nocase(type, SLICE("application/x-protobuf")) ||
               slice_equal_nocase(type, SLICE("application/protobuf"))) {
        upload->kind = UPLOAD_OTLP;
    } else {
        exchange_fail_with(exchange, 415,
                           "Content-Type '%.*s' is not known here; send application/x-protobuf or "
                           "application/json",
                           SLICE_ARG(slice_sub(type, 0, 64)));
        return false;
    }
    return check_encoding(exchange, upload->content_encoding);
}

static bool open_otlp(struct exchange *exchange, struct upload *upload)
{
    return exchange->route->is_procedure ? open_call(exchange, UPLOAD_OTLP, UPLOAD_OTLP_JSON, upload)
                                         : open_otlp_http(exchange, upload);
}

/* ExportProfilesServiceResponse: partial_success is there, and empty if all went well, as the collector does it. */
static void write_otlp_answer(const struct intake_receipt *receipt, bool is_json, struct buffer *out)
{
    uint32_t n_lost = receipt ? receipt->n_rejected + receipt->n_failed : 0;
    const char *why = !receipt ? "" : receipt->n_failed ? receipt->failure.text : receipt->rejection.text;

    if (is_json) {
        struct json json;

        json_init(&json, out, JSON_COMPACT);
        json_object_begin(&json);
        json_key(&json, "partialSuccess");
        json_object_begin(&json);
        if (n_lost > 0) {
            char text[24];

            snprintf(text, sizeof(text), "%u", n_lost);
            json_key(&json, "rejectedProfiles");
            json_text(&json, text);
            json_key(&json, "errorMessage");
            json_text(&json, why);
        }
        json_object_end(&json);
        json_object_end(&json);
        json_done(&json);
        return;
    }
    if (n_lost > 0) {
        size_t start = protobuf_begin(out, 1);

        protobuf_put_uint(out, 1, n_lost);
        protobuf_put_bytes(out, 2, slice_from(why));
        protobuf_end(out, start);
    } else {
        protobuf_put_bytes_always(out, 1, SLICE(""));
    }
}

static void accept_otlp(struct exchange *exchange, const struct intake_receipt *receipt)
{
    const struct rpc_call *call = &receiving_of(exchange)->call;
    bool is_call = exchange->route->is_procedure, is_json;
    struct buffer out;

    is_json = is_call ? call->codec == RPC_JSON
                      : slice_equal_nocase(http_media_type(http_header(&exchange->request.headers, "content-type")),
                                           SLICE("application/json"));
    buffer_init(&out, 0);
    write_otlp_answer(receipt, is_json, &out);
    if (is_call)
        rpc_answer(exchange, call, buffer_slice(&out));
    else
        exchange_answer(exchange, 200, is_json ? "application/json" : "application/x-protobuf", buffer_slice(&out));
    buffer_done(&out);
}

/* The collector comes back after UNAVAILABLE and 503 only; to any other failure it drops what it has. */
static void reject_otlp(struct exchange *exchange, const struct error *err, int64_t retry_after_ns)
{
    bool is_passing = retry_after_ns > 0;
    int status = error_code_http_status(err->code);

    if (exchange->route->is_procedure)
        rpc_fail(exchange, &receiving_of(exchange)->call, is_passing ? RPC_UNAVAILABLE : rpc_code_from_error(err->code),
                 err->text, retry_after_ns);
    else
        rpc_shape_failure(exchange, is_passing ? 503 : status == 422 ? 400 : status, err->text, retry_after_ns);
}

static const struct receiver ingest = { open_ingest, accept_plainly, reject_plainly };
static const struct receiver plain = { open_plain, accept_plainly, reject_plainly };
static const struct receiver push = { open_push, accept_call, reject_call };
static const struct receiver otlp = { open_otlp, accept_otlp, reject_otlp };

/* --- taking --- */

static bool open_exchange(struct exchange *exchange, const struct receiver *receiver, struct upload *upload)
{
    struct receiving *receiving;
    struct error err;

    receiving = ARENA_NEW(&exchange->arena, struct receiving, &err);
    if (!receiving) {
        exchange_fail(exchange, &err);
        return false;
    }
    receiving->receiver = receiver;
    exchange->state = receiving;
    if (receiver->open(exchange, upload))
        return true;
    if (!receiving->is_counted)
        count_unread(exchange, "its content type, encoding or envelope is not one that is taken there");
    return false;
}

/* What failed of an upload goes into the spill file, durably, if it may be stored later. Else it is given up. */
static bool put_aside(struct server *server, struct intake_worker *worker, struct upload *upload,
                      struct intake_receipt *receipt)
{
    enum error_code code = receipt->failure.code;
    struct error err;

    upload->progress = receipt->progress;
    if (code == ERR_BUSY || code == ERR_IO) {
        if (spill_append(server->spill, upload, &err) == 0 && spill_sync(server->spill, &err) == 0) {
            receipt->n_failed = 0;
            return true;
        }
        LOG_EVERY(10, LOG_WARN, "server", "an upload could be put neither into the store nor aside: %s", err.text);
    }
    intake_give_up(worker, upload);
    return false;
}

static void receive(struct exchange *exchange, const struct receiver *receiver)
{
    struct server *server = server_of(exchange);
    struct intake_worker *worker = server->workers[exchange->worker];
    struct intake_receipt receipt;
    struct upload upload;
    struct error err;
    bool is_kept;

    if (!open_exchange(exchange, receiver, &upload))
        return;
    is_kept = intake_take(worker, &upload, &receipt, &err) == 0;
    if (receipt.n_failed > 0) {
        is_kept = put_aside(server, worker, &upload, &receipt) || is_kept;
        if (receipt.n_failed > 0)
            LOG_EVERY(10, LOG_WARN, "server", "an upload from %.*s could not be stored: %s",
                      SLICE_ARG(exchange->request.peer), receipt.failure.text);
    }
    if (is_kept)
        receiver->accept(exchange, &receipt);
    else
        receiver->reject(exchange, &err, receipt.n_failed > 0 ? RETRY_AFTER_NS : 0);
}

void receive_ingest(struct exchange *exchange)
{
    receive(exchange, &ingest);
}

void receive_plain(struct exchange *exchange)
{
    receive(exchange, &plain);
}

void receive_push(struct exchange *exchange)
{
    receive(exchange, &push);
}

void receive_otlp(struct exchange *exchange)
{
    receive(exchange, &otlp);
}

int receive_scraped(void *context, const struct upload *upload, struct error *err)
{
    struct server *server = context;
    struct intake_worker *worker = server->workers[server->n_workers + 1];
    struct upload again = *upload;
    struct intake_receipt receipt;
    int result = intake_take(worker, upload, &receipt, err);

    if (receipt.n_failed > 0 && put_aside(server, worker, &again, &receipt))
        result = 0;
    return result;
}

/* --- when there is more than can be taken --- */

/* The series, as far as it is told, else the machine. Of a tenant they share a few lanes, so that one with very many does
 * not take the turns of the others. */
uint64_t receive_lane(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct slice name = parameter(request->query, "name");
    uint64_t lane;

    if (!name.ptr)
        name = place_of(request);
    lane = hash_bytes64(name, 1);
    if (!server_of(exchange)->options.is_multi_tenant)
        return lane;
    return hash_bytes64(http_header(&request->headers, "x-scope-orgid"), lane % TENANT_LANES);
}

static void overflow(struct exchange *exchange, const struct receiver *receiver)
{
    struct server *server = server_of(exchange);
    struct spill_counts spill = spill_counts(server->spill);
    struct upload upload;
    struct error err;

    if (!open_exchange(exchange, receiver, &upload))
        return;
    upload.weight = thinning_weigh(&server->thinning, exchange->lane, upload.body.len, spill.bytes, spill.max_bytes,
                                   clock_mono_ns());
    if (upload.weight == 0) {
        count_left_out(exchange, &upload);
        receiver->accept(exchange, NULL);
        return;
    }
    if (spill_append(server->spill, &upload, &err) == 0) {
        receiving_of(exchange)->is_spilled = true;
        receiver->accept(exchange, NULL);
        return;
    }
    LOG_EVERY(10, LOG_WARN, "server", "profiles are refused, since there are more than can be stored: %s", err.text);
    error_set(&err, ERR_BUSY, TOO_MANY);
    count_refused(exchange, &upload, &err);
    receiver->reject(exchange, &err, RETRY_AFTER_NS);
}

void receive_ingest_overflow(struct exchange *exchange)
{
    overflow(exchange, &ingest);
}

void receive_plain_overflow(struct exchange *exchange)
{
    overflow(exchange, &plain);
}

void receive_push_overflow(struct exchange *exchange)
{
    overflow(exchange, &push);
}

void receive_otlp_overflow(struct exchange *exchange)
{
    overflow(exchange, &otlp);
}

void receive_settle(void *context, struct exchange **exchanges, size_t n)
{
    struct server *server = context;
    struct error err;

    if (spill_sync(server->spill, &err) == 0)
        return;
    log_error("server", "the spill file cannot be synced: %s", err.text);
    for (size_t i = 0; i < n; i++) {
        const struct receiving *receiving = receiving_of(exchanges[i]);

        if (receiving && receiving->is_spilled)
            receiving->receiver->reject(exchanges[i], &err, RETRY_AFTER_NS);
    }
}

/* On the loop, when neither workers nor spill file have room: no work at all but the answer. */
void receive_refuse(struct exchange *exchange)
{
    struct upload upload = upload_of(exchange);
    struct error err;

    error_set(&err, ERR_BUSY, TOO_MANY);
    count_refused(exchange, &upload, &err);
    rpc_shape_failure(exchange, exchange->route->is_procedure ? 503 : 429, err.text, RETRY_AFTER_NS);
}

/* Nobody has looked at the tenant yet. */
void receive_too_large(struct exchange *exchange)
{
    struct upload upload = upload_of(exchange);
    struct error err;

    if (store_check_tenant(upload.tenant, &err) < 0)
        return;
    error_set(&err, ERR_LIMIT, "the body is larger than --max-body-size, %llu bytes",
              (unsigned long long)exchange->max_body_bytes);
    count(exchange, &upload, &(struct source_counts){ .n_dropped = { [SOURCE_LIMIT] = 1 } }, &err);
}
