// SPDX-License-Identifier: Apache-2.0
/* Requests that bring profiles. Each protocol is a row: how its request becomes an upload, and how its sender wants to be
 * answered. What happens in between is the same for all. */
#include "base/hash.h"
#include "base/log.h"
#include "intake/ingest.h"
#include "server/otlpcall.h"
#include "server/server_internal.h"

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

static bool open_push(struct exchange *exchange, struct upload *upload)
{
    struct rpc_call *call = &receiving_of(exchange)->call;

    if (rpc_open(exchange, call) < 0 || !begin(exchange, upload))
        return false;
    upload->kind = call->codec == RPC_JSON ? UPLOAD_PUSH_JSON : UPLOAD_PUSH;
    upload->body = call->message;
    upload->content_encoding = call->encoding;
    return !is_overdue(exchange, upload);
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

static bool open_otlp(struct exchange *exchange, struct upload *upload)
{
    struct rpc_call *call = &receiving_of(exchange)->call;

    if (!otlpcall_open(exchange, call) || !begin(exchange, upload))
        return false;
    upload->kind = call->codec == RPC_JSON ? UPLOAD_OTLP_JSON : UPLOAD_OTLP;
    upload->body = call->message;
    upload->content_encoding = call->encoding;
    return !is_overdue(exchange, upload);
}

static void accept_otlp(struct exchange *exchange, const struct intake_receipt *receipt)
{
    struct otlpcall_rejected rejected = { .name = "rejectedProfiles" };

    if (receipt) {
        rejected.n = receipt->n_rejected + receipt->n_failed;
        rejected.why = receipt->n_failed ? receipt->failure.text : receipt->rejection.text;
    }
    otlpcall_accept(exchange, &receiving_of(exchange)->call, &rejected);
}

static void reject_otlp(struct exchange *exchange, const struct error *err, int64_t retry_after_ns)
{
    otlpcall_reject(exchange, &receiving_of(exchange)->call, err, retry_after_ns);
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
