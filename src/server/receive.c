// SPDX-License-Identifier: Apache-2.0
/* Requests that bring profiles. Each protocol is a row: how its request becomes an upload, and how its sender wants to be
 * answered. What happens in between is the same for all. */
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "net/rpc.h"
#include "server/server_internal.h"
#include "wire/protobuf.h"

#include <stdio.h>

#define RETRY_AFTER_NS (5 * CLOCK_NS_PER_SECOND)

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

bool tenant_of(struct exchange *exchange, struct slice *ret_tenant)
{
    struct slice given = http_header(&exchange->request.headers, "x-scope-orgid");
    struct error err;

    *ret_tenant = SLICE(STORE_TENANT_DEFAULT);
    if (!server_of(exchange)->options.is_multi_tenant)
        return true;
    if (given.len == 0) {
        exchange_fail_with(exchange, 401, "no org id");
        return false;
    }
    if (store_check_tenant(given, &err) < 0) {
        exchange_fail_with(exchange, 400, "X-Scope-OrgID: %s", err.text);
        return false;
    }
    *ret_tenant = given;
    return true;
}

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
    if (exchange->response.status == 0 && version.ptr &&
        (!slice_is(version, "1") || http_header_count(headers, key) > 1))
        exchange_fail_with(
            exchange, 400,
            "invalid or unsupported %s '%.*s'; this server speaks version 1: leave it out, or send it once "
            "with the value 1",
            key, SLICE_ARG(slice_sub(version, 0, 32)));
}

/* --- what protocols have in common --- */

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
        .body = exchange->request.body,
    };
    return true;
}

/* Whether the same upload may be stored later: the store has a trouble of its own. */
static bool is_passing(enum error_code code)
{
    return code == ERR_BUSY || code == ERR_IO || code == ERR_FULL || code == ERR_MEMORY || code == ERR_CLOSED;
}

static bool has_parameter(struct slice query, const char *name)
{
    struct slice part, wanted = slice_from(name);

    while (slice_next_part(&query, '&', &part))
        if (slice_starts_with(part, wanted) && part.len > wanted.len && part.ptr[wanted.len] == '=')
            return true;
    return false;
}

/* --- Pyroscope's /ingest, and the plain exporter that posts to the same place without a name --- */

static bool open_ingest(struct exchange *exchange, struct upload *upload)
{
    if (!begin(exchange, upload))
        return false;
    upload->kind = has_parameter(upload->query, "name") ? UPLOAD_INGEST : UPLOAD_PLAIN;
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

static bool open_push(struct exchange *exchange, struct upload *upload)
{
    struct rpc_call *call = &receiving_of(exchange)->call;

    if (rpc_open(exchange, call) < 0 || !begin(exchange, upload))
        return false;
    upload->kind = call->codec == RPC_JSON ? UPLOAD_PUSH_JSON : UPLOAD_PUSH;
    upload->body = call->message;
    upload->content_encoding = call->encoding;
    return true;
}

/* Part of it is kept. A failure is the only answer that SDKs show to people, as Pyroscope's server has it too; but none that
 * makes clients send all of it again. */
static void fail_partly(struct exchange *exchange, const struct rpc_call *call, const struct intake_receipt *receipt)
{
    enum error_code code = receipt->rejection.code;
    struct error err = receipt->rejection;

    error_wrap(&err, "%u of %u profiles not kept, the others are", receipt->n_rejected, receipt->n_profiles);
    rpc_fail(exchange, call, is_passing(code) ? RPC_ABORTED : rpc_code_from_error(code), err.text, 0);
}

static void accept_call(struct exchange *exchange, const struct intake_receipt *receipt)
{
    const struct rpc_call *call = &receiving_of(exchange)->call;

    if (receipt && receipt->n_rejected > 0) {
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
    return true;
}

static bool open_otlp(struct exchange *exchange, struct upload *upload)
{
    struct receiving *receiving = receiving_of(exchange);

    if (!exchange->route->is_procedure)
        return open_otlp_http(exchange, upload);
    if (rpc_open(exchange, &receiving->call) < 0 || !begin(exchange, upload))
        return false;
    upload->kind = receiving->call.codec == RPC_JSON ? UPLOAD_OTLP_JSON : UPLOAD_OTLP;
    upload->body = receiving->call.message;
    upload->content_encoding = receiving->call.encoding;
    return true;
}

/* ExportProfilesServiceResponse: partial_success is there, and empty if all went well, as the collector does it. */
static void write_otlp_answer(const struct intake_receipt *receipt, bool is_json, struct buffer *out)
{
    bool is_partial = receipt && receipt->n_rejected > 0;

    if (is_json) {
        struct json json;

        json_init(&json, out, JSON_COMPACT);
        json_object_begin(&json);
        json_key(&json, "partialSuccess");
        json_object_begin(&json);
        if (is_partial) {
            char text[24];

            snprintf(text, sizeof(text), "%u", receipt->n_rejected);
            json_key(&json, "rejectedProfiles");
            json_text(&json, text);
            json_key(&json, "errorMessage");
            json_text(&json, receipt->rejection.text);
        }
        json_object_end(&json);
        json_object_end(&json);
        json_done(&json);
        return;
    }
    if (is_partial) {
        size_t start = protobuf_begin(out, 1);

        protobuf_put_uint(out, 1, receipt->n_rejected);
        protobuf_put_bytes(out, 2, slice_from(receipt->rejection.text));
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
    return receiver->open(exchange, upload);
}

/* Into the spill file, durably. */
static bool put_aside(struct server *server, const struct upload *upload)
{
    struct error err;

    if (spill_append(server->spill, upload, &err) == 0 && spill_sync(server->spill, &err) == 0)
        return true;
    LOG_EVERY(10, LOG_WARN, "server", "an upload could be put neither into the store nor aside: %s", err.text);
    return false;
}

static void receive(struct exchange *exchange, const struct receiver *receiver)
{
    struct server *server = server_of(exchange);
    struct intake_worker *worker = server->workers[exchange->worker];
    struct intake_receipt receipt;
    struct upload upload;
    struct error err;

    if (!open_exchange(exchange, receiver, &upload))
        return;
    if (intake_take(worker, &upload, &receipt, &err) == 0) {
        receiver->accept(exchange, &receipt);
    } else if (!is_passing(err.code)) {
        intake_give_up(worker, &upload);
        receiver->reject(exchange, &err, 0);
    } else if ((err.code == ERR_BUSY || err.code == ERR_IO) && put_aside(server, &upload)) {
        receiver->accept(exchange, NULL);
    } else {
        LOG_EVERY(10, LOG_WARN, "server", "an upload from %.*s could not be stored: %s",
                  SLICE_ARG(exchange->request.peer), err.text);
        intake_give_up(worker, &upload);
        receiver->reject(exchange, &err, RETRY_AFTER_NS);
    }
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
    struct intake_receipt receipt;

    if (intake_take(worker, upload, &receipt, err) == 0 ||
        ((err->code == ERR_BUSY || err->code == ERR_IO) && put_aside(server, upload)))
        return 0;
    intake_give_up(worker, upload);
    return -1;
}

/* --- when there is more than can be taken --- */

/* Whose upload it is, as far as that can be told without looking into it. */
static struct slice service_of(const struct upload *upload)
{
    struct slice query = upload->query, part;

    if (upload->kind != UPLOAD_INGEST)
        return SLICE("");
    while (slice_next_part(&query, '&', &part)) {
        size_t end = 5;

        if (!slice_starts_with(part, SLICE("name=")))
            continue;
        while (end < part.len && part.ptr[end] != '{' && part.ptr[end] != '%')
            end++;
        return slice_sub(part, 5, end - 5);
    }
    return SLICE("");
}

uint64_t receive_lane(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct slice tenant = http_header(&request->headers, "x-scope-orgid");
    ptrdiff_t colon = slice_find_last_byte(request->peer, ':');
    struct slice query = request->query, part;
    uint64_t lane = hash_bytes64(tenant.ptr ? tenant : SLICE(""), 1);

    while (slice_next_part(&query, '&', &part))
        if (slice_starts_with(part, SLICE("name=")))
            return hash_bytes64(part, lane);
    return hash_bytes64(colon < 0 ? request->peer : slice_sub(request->peer, 0, (size_t)colon), lane);
}

static void count(struct server *server, const struct upload *upload, const struct source_counts *counts,
                  const struct error *err)
{
    sources_count(intake_sources(server->intake), upload->tenant, service_of(upload),
                  slice_from(upload_kind_name(upload->kind)), clock_now_ns(), counts, err);
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
        count(server, &upload, &(struct source_counts){ .n_uploads = 1, .n_seen = 1, .n_downsampled = 1 }, NULL);
        receiver->accept(exchange, NULL);
        return;
    }
    if (spill_append(server->spill, &upload, &err) == 0) {
        receiving_of(exchange)->is_spilled = true;
        receiver->accept(exchange, NULL);
        return;
    }
    LOG_EVERY(10, LOG_WARN, "server", "profiles are refused, since there are more than can be stored: %s", err.text);
    err.code = ERR_BUSY;
    count(server, &upload,
          &(struct source_counts){ .n_uploads = 1, .n_seen = 1, .n_dropped = { [SOURCE_OVERLOAD] = 1 } }, &err);
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
    struct source_counts counts = { .n_uploads = 1, .n_seen = 1, .n_dropped = { [SOURCE_OVERLOAD] = 1 } };
    struct upload upload = { .kind = UPLOAD_PLAIN, .query = exchange->request.query };
    struct error err;

    error_set(&err, ERR_BUSY,
              "there are more profiles than can be stored; this one is not kept, try again in some seconds");
    upload.tenant = server_of(exchange)->options.is_multi_tenant
                        ? http_header(&exchange->request.headers, "x-scope-orgid")
                        : SLICE(STORE_TENANT_DEFAULT);
    count(server_of(exchange), &upload, &counts, &err);
    rpc_shape_failure(exchange, exchange->route->is_procedure ? 503 : 429, err.text, RETRY_AFTER_NS);
}
