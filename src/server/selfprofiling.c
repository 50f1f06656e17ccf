// SPDX-License-Identifier: Apache-2.0
/* What the server itself is doing: it stores its own CPU profile as the service "hearth", through the intake like any other
 * upload, and shows one to whoever asks at /debug/pprof/, as programs in Go do. */
#include "base/fs.h"
#include "base/log.h"
#include "base/urlquery.h"
#include "base/version.h"
#include "server/server_internal.h"
#include "unwind/framewalk.h"
#include "wire/format.h"
#include "wire/pprof.h"

#include <stdio.h>
#include <time.h>

#define SERVICE         "hearth"
#define DEFAULT_SECONDS 30
#define MAX_SECONDS     300
#define LOOK_NS         (CLOCK_NS_PER_SECOND / 20) /* how often a request that records looks whether it is still wanted */
#define MAX_COMMAND     65536

/* --- into the store --- */

static int store_profile(struct server *server, const struct batch *batch, struct error *err)
{
    struct format_write_options plain = { .plain = true, .type = PROFILE_NO_TYPE };
    char labels[256];
    struct upload upload = { .kind = UPLOAD_SCRAPED,
                             .tenant = SLICE(STORE_TENANT_DEFAULT),
                             .received_ns = clock_now_ns(),
                             .user_agent = SLICE(SERVICE) };
    struct intake_receipt receipt;
    struct buffer body;
    int result;

    snprintf(labels, sizeof(labels), "__name__=process_cpu\nservice_name=%s\nversion=%s", SERVICE, version_text());
    upload.query = slice_from(labels);
    buffer_init(&body, server->options.max_body_bytes);
    result = pprof_encode(batch, &plain, &body, err);
    if (result == 0) {
        upload.body = buffer_slice(&body);
        result = intake_take(server->self_worker, &upload, &receipt, err);
        if (result < 0)
            intake_give_up(server->self_worker, &upload);
    }
    buffer_done(&body);
    return result;
}

/* Records one window and stores it. A failure costs that window and nothing else. */
static void profile_window(struct server *server, struct thread *thread)
{
    struct selfprofile_recording *recording;
    struct batch batch;
    struct error err;

    if (selfprofile_begin(server->self_profile, &recording, &err) < 0) {
        LOG_EVERY(600, LOG_WARN, "server", "the server's own profile cannot be recorded: %s", err.text);
        IGNORE(thread_sleep(thread, server->options.self_profile_ns), "the caller looks whether to stop");
        return;
    }
    if (!thread_sleep(thread, server->options.self_profile_ns)) {
        selfprofile_cancel(server->self_profile, recording);
        return;
    }
    batch_init(&batch, NULL);
    if (selfprofile_end(server->self_profile, recording, &batch, &err) < 0 ||
        (batch.profiles[0].n_samples > 0 && store_profile(server, &batch, &err) < 0))
        LOG_EVERY(600, LOG_WARN, "server", "a profile of the server itself was not stored: %s", err.text);
    batch_done(&batch);
}

void selfprofiling_run(struct thread *thread, void *context)
{
    if (!framewalk_is_possible())
        log_warn("server", "the server's own profile has no callers, since the system forbids process_vm_readv");
    while (!thread_is_stopping(thread))
        profile_window(context, thread);
}

int selfprofiling_open(struct server *server, struct error *err)
{
    return selfprofile_new(&(struct selfprofile_options){ 0 }, &server->self_profile, err);
}

int selfprofiling_start(struct server *server, struct error *err)
{
    if (server->options.self_profile_ns == 0)
        return 0;
    if (intake_worker_new(server->intake, &server->self_worker, err) < 0)
        return -1;
    return thread_start(&server->self_profiler, "self-store", selfprofiling_run, server, err);
}

void selfprofiling_close(struct server *server)
{
    intake_worker_free(server->self_worker);
    selfprofile_free(server->self_profile);
}

/* --- to those who ask --- */

void selfprofiling_index(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/html; charset=utf-8",
                    SLICE("<!DOCTYPE html>\n<html><head><title>/debug/pprof/</title></head><body>\n"
                          "<h1>/debug/pprof/</h1>\n<p>What this server itself is doing.</p>\n<ul>\n"
                          "<li><a href=\"profile?seconds=30\">profile</a>: its CPU profile as pprof, of the next "
                          "<code>seconds</code> (30, at most 300)</li>\n"
                          "<li><a href=\"cmdline\">cmdline</a>: its command line, words separated by NUL</li>\n"
                          "</ul>\n</body></html>\n"));
}

void selfprofiling_cmdline(struct exchange *exchange)
{
    struct buffer text;
    struct error err;

    buffer_init(&text, 0);
    if (fs_read_file("/proc/self/cmdline", MAX_COMMAND, &text, &err) < 0)
        exchange_fail(exchange, &err);
    else /* the last word needs no end */
        exchange_answer(exchange, 200, "text/plain; charset=utf-8",
                        slice_sub(buffer_slice(&text), 0, text.len > 0 ? text.len - 1 : 0));
    buffer_done(&text);
}

/* False: it is answered. */
static bool read_seconds(struct exchange *exchange, uint64_t *ret_seconds)
{
    struct urlquery query;
    struct slice text;
    struct error err;

    if (urlquery_parse(exchange->request.query, &exchange->arena, &query, &err) < 0) {
        exchange_fail(exchange, &err);
        return false;
    }
    text = urlquery_get(&query, "seconds");
    *ret_seconds = DEFAULT_SECONDS;
    if (text.len == 0 || (slice_to_u64(text, ret_seconds) && *ret_seconds >= 1 && *ret_seconds <= MAX_SECONDS))
        return true;
    exchange_fail_with(exchange, 400, "seconds '%.*s': give a whole number from 1 to %d",
                       SLICE_ARG(slice_sub(text, 0, 32)), MAX_SECONDS);
    return false;
}

/* Lets the time pass; it ends sooner when the asker has gone or the server stops. False: nobody wants it any more. */
static bool wait_for(const struct exchange *exchange, uint64_t seconds)
{
    const struct server *server = exchange->context;
    int64_t end_ns = clock_mono_ns() + (int64_t)seconds * CLOCK_NS_PER_SECOND;

    while (clock_mono_ns() < end_ns && !atomic_load(&server->is_draining)) {
        if (atomic_load(&exchange->is_gone))
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
    }
    return !atomic_load(&exchange->is_gone);
}

static void answer_profile(struct exchange *exchange, const struct batch *batch)
{
    struct format_write_options packed = { .type = PROFILE_NO_TYPE };
    struct buffer body;
    struct error err;

    buffer_init(&body, 0);
    if (pprof_encode(batch, &packed, &body, &err) < 0) {
        exchange_fail(exchange, &err);
    } else {
        exchange_answer(exchange, 200, "application/octet-stream", buffer_slice(&body));
        exchange_header_text(exchange, "content-disposition", "attachment; filename=\"profile\"");
        exchange_header_text(exchange, "x-content-type-options", "nosniff");
    }
    buffer_done(&body);
}

static void record_profile(struct exchange *exchange, uint64_t seconds)
{
    struct server *server = exchange->context;
    struct selfprofile_recording *recording;
    struct batch batch;
    struct error err;

    if (selfprofile_begin(server->self_profile, &recording, &err) < 0) {
        exchange_fail(exchange, &err);
        return;
    }
    if (!wait_for(exchange, seconds)) {
        selfprofile_cancel(server->self_profile, recording);
        error_set(&err, ERR_CANCELLED, "the asker has gone");
        exchange_fail(exchange, &err);
        return;
    }
    batch_init(&batch, NULL);
    if (selfprofile_end(server->self_profile, recording, &batch, &err) < 0)
        exchange_fail(exchange, &err);
    else
        answer_profile(exchange, &batch);
    batch_done(&batch);
}

/* It holds the thread that runs it, so there is one at a time. */
void selfprofiling_profile(struct exchange *exchange)
{
    struct server *server = exchange->context;
    uint64_t seconds;

    if (!read_seconds(exchange, &seconds))
        return;
    if (atomic_exchange(&server->is_profiled, true)) {
        exchange_fail_with(exchange, 429, "somebody else is recording a CPU profile of this server; try again later");
        return;
    }
    record_profile(exchange, seconds);
    atomic_store(&server->is_profiled, false);
}
