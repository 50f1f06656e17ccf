// SPDX-License-Identifier: Apache-2.0
/* What taking uploads costs: a stream of bench_stream.c, each profile as the body of Pyroscope's /ingest, as a form as its
 * clients of Go send it (-form), or by Push (-push). Compare with foreground_us of bench_store.c, which is decoding and
 * writing alone.
 *
 *     build/release/bench/stream -gzip 20 10 600 | build/release/bench/intake [-form | -push] DIR */
#include "base/clock.h"
#include "fleet.h"
#include "intake/intake.h"
#include "wire/protobuf.h"

enum how { BARE, FORM, PUSH };

static void die(const char *what)
{
    measure_die("intake", what);
}

static void put_label(struct buffer *out, const char *name, const char *value)
{
    size_t label = protobuf_begin(out, 1);

    protobuf_put_bytes(out, 1, slice_from(name));
    protobuf_put_bytes(out, 2, slice_from(value));
    protobuf_end(out, label);
}

static void make_push(const struct fleet *fleet, struct slice pprof, struct buffer *out)
{
    size_t series = protobuf_begin(out, 1), sample;
    char text[32];

    put_label(out, "__name__", "process_cpu");
    snprintf(text, sizeof(text), "service-%02u", fleet->service);
    put_label(out, "service_name", text);
    snprintf(text, sizeof(text), "instance-%03u", fleet->instance);
    put_label(out, "instance", text);
    put_label(out, "version", fleet->instance % 2 ? "b" : "a");
    sample = protobuf_begin(out, 2);
    protobuf_put_bytes(out, 1, pprof);
    protobuf_end(out, sample);
    protobuf_end(out, series);
}

static void make_form(struct slice pprof, struct buffer *out)
{
    buffer_append_text(out,
                       "--b\r\nContent-Disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n\r\n");
    buffer_append_slice(out, pprof);
    buffer_append_text(out, "\r\n--b--\r\n");
}

static struct upload upload_of(const struct fleet *fleet, enum how how, struct slice pprof, struct buffer *body,
                               char *query, size_t query_bytes)
{
    struct upload upload = { .kind = how == PUSH ? UPLOAD_PUSH : UPLOAD_INGEST,
                             .received_ns = fleet->start_ns + 10 * CLOCK_NS_PER_SECOND,
                             .weight = 1,
                             .body = pprof };

    buffer_clear(body);
    snprintf(query, query_bytes,
             "name=service-%02u%%7Binstance%%3Dinstance-%03u%%2Cversion%%3D%s%%7D&spyName=gospy"
             "&from=%lld&until=%lld%s",
             fleet->service, fleet->instance, fleet->instance % 2 ? "b" : "a", (long long)fleet->start_ns,
             (long long)upload.received_ns, how == BARE ? "&format=pprof" : "");
    upload.query = slice_from(query);
    if (how == BARE)
        return upload;
    if (how == FORM) {
        make_form(pprof, body);
        upload.content_type = SLICE("multipart/form-data; boundary=b");
    } else {
        make_push(fleet, pprof, body);
    }
    upload.body = buffer_slice(body);
    return upload;
}

int main(int argc, char **argv)
{
    const int64_t year_ns = 366 * 86400 * CLOCK_NS_PER_SECOND;
    struct store_options options = { .retention_ns = 100 * year_ns,
                                     .max_ahead_ns = 100 * year_ns,
                                     .wal_sync = STORE_SYNC_EACH_SECOND,
                                     .has_background = true,
                                     .close_delay_ns = 7200 * CLOCK_NS_PER_SECOND };
    struct intake_options intake_options = { 0 };
    enum how how = BARE;
    struct intake_receipt receipt;
    struct intake_worker *worker;
    struct intake *intake;
    struct buffer body;
    struct fleet fleet;
    struct slice pprof;
    struct error err;
    int64_t cpu_ns = 0;
    uint64_t n = 0, n_samples = 0;
    char query[512];

    memory_use_few_pools();
    if (argc == 3)
        how = strcmp(argv[1], "-form") == 0 ? FORM : PUSH;
    if (argc < 2)
        die("usage: intake [-form | -push] DIR");
    options.data_dir = argv[argc - 1];
    buffer_init(&body, 0);
    fleet_open(&fleet, "intake");
    if (store_open(&options, &intake_options.store, &err) < 0 || intake_new(&intake_options, &intake, &err) < 0 ||
        intake_worker_new(intake, &worker, &err) < 0)
        die(err.text);
    while ((pprof = fleet_next_body(&fleet)).len > 0) {
        struct upload upload = upload_of(&fleet, how, pprof, &body, query, sizeof(query));
        int64_t begun_ns;

        clock_fake_set(upload.received_ns);
        begun_ns = measure_thread_cpu_ns();
        if (intake_take(worker, &upload, &receipt, &err) < 0)
            die(err.text);
        cpu_ns += measure_thread_cpu_ns() - begun_ns;
        n += receipt.n_stored;
        n_samples += receipt.n_samples;
    }
    printf("profiles %llu\nsamples %llu\nforeground_us %.1f\nhwm_mb %.1f\n", (unsigned long long)n,
           (unsigned long long)n_samples, n ? (double)cpu_ns / 1e3 / (double)n : 0, measure_status_mb("VmHWM"));
    intake_worker_free(worker);
    intake_free(intake);
    store_close(intake_options.store);
    fleet_close(&fleet);
    buffer_done(&body);
    return 0;
}
