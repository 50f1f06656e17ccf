// SPDX-License-Identifier: Apache-2.0
/* The profiles of a stream (bench_stream.c) as the requests that senders would make of them, on standard output.
 *
 *     stream -gzip 20 10 200 | requests [-start SECONDS] [-count N] [-tenant NAME] PROTOCOL >FILE
 *
 * The protocols:
 *
 *     ingest       POST /ingest, a form with gzip pprof in it, as pyroscope-go sends
 *     ingest-raw   POST /ingest?format=pprof, the gzip pprof itself, as @pyroscope/nodejs
 *     push         Push by Connect: one series, the pprof inside plain, gzip around all, as pyroscope-rs
 *     push-gzip    the same with gzip pprof inside, and nothing around
 *     otlp-http    OTLP by HTTP, protobuf in gzip, as the collector
 *     otlp-grpc    OTLP by gRPC: the message alone, in its envelope, in gzip; the sender makes the frames
 *
 * With -start the profiles are moved so that the first one begins then (seconds since 1970). In front of each request
 * stands its length (u32, little endian). All the converting and compressing is done here, so that who sends them
 * (bench_senders.c) takes little CPU and stands not in the way of what is measured. */
#include "fleet.h"
#include "intake/batchedit.h"
#include "pack/packer.h"
#include "wire/otlp.h"
#include "wire/protobuf.h"

#define BOUNDARY       "7d1c5b0e9a4f4d6f8a4b9f2f6b1d2c3e4f5a6b7c8d9e0f1a2b3c4d5e6f70"
#define MAX_NAME_BYTES 32

struct making {
    struct fleet fleet;
    struct packer *packer;
    int64_t start_ns; /* of the profile at hand */
    uint64_t number;  /* of it */
    char service[MAX_NAME_BYTES], instance[MAX_NAME_BYTES];
    const char *version;
    const char *tenant;
    struct buffer message, body, request;
};

static void die(const char *what)
{
    measure_die("requests", what);
}

static void pack(struct making *making, struct slice plain, struct buffer *out)
{
    struct error err;

    if (packer_pack(making->packer, PACK_GZIP, PACK_LEVEL_DEFAULT, plain, out, &err) < 0)
        die(err.text);
}

static void put_request(struct making *making, const char *target, const char *headers)
{
    buffer_printf(&making->request,
                  "POST %s HTTP/1.1\r\nHost: localhost\r\n%sX-Scope-OrgID: %s\r\nContent-Length: %zu\r\n\r\n", target,
                  headers, making->tenant, making->body.len);
    buffer_append_slice(&making->request, buffer_slice(&making->body));
}

/* --- /ingest --- */

static void put_ingest(struct making *making, const char *format, const char *spy, const char *headers)
{
    char target[512];
    int64_t start_ms = making->start_ns / 1000000;

    snprintf(target, sizeof(target),
             "/ingest?aggregationType=sum&%sfrom=%lld&name=%s%%7Binstance%%3D%s%%2Cversion%%3D%s%%7D&sampleRate=100"
             "&spyName=%s&units=samples&until=%lld",
             format, (long long)start_ms, making->service, making->instance, making->version, spy,
             (long long)start_ms + 10000);
    put_request(making, target, headers);
}

static void make_ingest(struct making *making)
{
    buffer_append_text(&making->body, "--" BOUNDARY "\r\n"
                                      "Content-Disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n"
                                      "Content-Type: application/octet-stream\r\n\r\n");
    buffer_append_slice(&making->body, making->fleet.packed);
    buffer_append_text(&making->body, "\r\n--" BOUNDARY "--\r\n");
    put_ingest(making, "", "gospy",
               "User-Agent: Go-http-client/1.1\r\nContent-Type: multipart/form-data; boundary=" BOUNDARY "\r\n");
}

static void make_ingest_raw(struct making *making)
{
    buffer_append_slice(&making->body, making->fleet.packed);
    put_ingest(making, "format=pprof&", "gospy", "User-Agent: node\r\nContent-Type: application/octet-stream\r\n");
}

/* --- Push --- */

static void put_push_label(struct buffer *out, const char *name, const char *value)
{
    size_t begin = protobuf_begin(out, 1);

    protobuf_put_bytes(out, 1, slice_from(name));
    protobuf_put_bytes(out, 2, slice_from(value));
    protobuf_end(out, begin);
}

static void put_push(struct making *making, struct slice pprof)
{
    struct buffer *out = &making->message;
    size_t series = protobuf_begin(out, 1), sample;
    char id[40];

    snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012llx", (unsigned long long)making->number + 1);
    put_push_label(out, "__name__", "process_cpu");
    put_push_label(out, "service_name", making->service);
    put_push_label(out, "instance", making->instance);
    put_push_label(out, "version", making->version);
    sample = protobuf_begin(out, 2);
    protobuf_put_bytes(out, 1, pprof);
    protobuf_put_bytes(out, 2, slice_from(id));
    protobuf_end(out, sample);
    protobuf_end(out, series);
}

/* The profile with the time that it is sent with, in place of its own. */
static void put_timed_pprof(struct making *making, struct buffer *out)
{
    struct protobuf_reader r = protobuf_reader_of(making->fleet.plain);
    const uint8_t *field = r.at;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        protobuf_skip(&r, tag);
        if (tag != PROTOBUF_TAG(9, PROTOBUF_VARINT))
            buffer_append(out, field, (size_t)(r.at - field));
        field = r.at;
    }
    protobuf_put_uint(out, 9, (uint64_t)making->start_ns);
}

#define PUSH_TARGET "/push.v1.PusherService/Push"

static void make_push(struct making *making)
{
    struct buffer pprof;

    buffer_init(&pprof, 0);
    put_timed_pprof(making, &pprof);
    put_push(making, buffer_slice(&pprof));
    buffer_done(&pprof);
    pack(making, buffer_slice(&making->message), &making->body);
    put_request(making, PUSH_TARGET,
                "User-Agent: pyroscope-rs/pyspy/1.4.0 reqwest\r\nContent-Type: application/proto\r\n"
                "Content-Encoding: gzip\r\n");
}

static void make_push_gzip(struct making *making)
{
    struct buffer pprof, packed;

    buffer_init(&pprof, 0);
    buffer_init(&packed, 0);
    put_timed_pprof(making, &pprof);
    pack(making, buffer_slice(&pprof), &packed);
    put_push(making, buffer_slice(&packed));
    buffer_done(&packed);
    buffer_done(&pprof);
    buffer_append_slice(&making->body, buffer_slice(&making->message));
    put_request(making, PUSH_TARGET, "User-Agent: connect-go/1.19.1\r\nContent-Type: application/proto\r\n");
}

/* --- OTLP --- */

/* A set of one more label than `set` has. */
static uint32_t add_label(struct batch *batch, uint32_t set, const char *name, const char *value)
{
    struct tables *t = &batch->tables;
    uint32_t start = t->label_set_starts[set], n = t->label_set_starts[set + 1] - start, key = 0;
    struct slice texts[] = { slice_from(name), slice_from(value) };
    struct error err;
    struct label *labels = ARENA_ARRAY(&batch->arena, struct label, t->n_labels + n + 1, &err);
    uint32_t *starts = ARENA_ARRAY(&batch->arena, uint32_t, t->n_label_sets + 2, &err);

    if (!labels || !starts || batchedit_add_strings(batch, texts, 2, &key, &err) < 0)
        die("no memory");
    memcpy(labels, t->labels, t->n_labels * sizeof(*labels));
    memcpy(labels + t->n_labels, t->labels + start, n * sizeof(*labels));
    memcpy(starts, t->label_set_starts, (t->n_label_sets + 1) * sizeof(*starts));
    labels[t->n_labels + n] = (struct label){ .key = key, .text = key + 1, .kind = LABEL_STRING };
    t->labels = labels;
    t->label_set_starts = starts;
    t->n_labels += n + 1;
    t->n_label_sets++;
    starts[t->n_label_sets] = t->n_labels;
    return t->n_label_sets - 1;
}

static void encode_otlp(struct making *making)
{
    struct format_write_options options = { .plain = true, .type = PROFILE_NO_TYPE };
    struct batch *batch = &making->fleet.batch;
    const char *const attributes[][2] = { { "service.name", making->service },
                                          { "service.instance.id", making->instance },
                                          { "service.version", making->version } };
    struct profile *profile = &batch->profiles[0];
    struct error err;

    profile->start_ns = making->start_ns;
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        profile->resource = add_label(batch, profile->resource, attributes[i][0], attributes[i][1]);
    if (otlp_encode(batch, &options, &making->message, &err) < 0)
        die(err.text);
}

static void make_otlp_http(struct making *making)
{
    encode_otlp(making);
    pack(making, buffer_slice(&making->message), &making->body);
    put_request(making, "/v1development/profiles",
                "User-Agent: OpenTelemetry Collector/0.164.0\r\nContent-Type: application/x-protobuf\r\n"
                "Content-Encoding: gzip\r\n");
}

static void make_otlp_grpc(struct making *making)
{
    char envelope[5] = { 1 };

    encode_otlp(making);
    pack(making, buffer_slice(&making->message), &making->body);
    bytes_put_be32(envelope + 1, (uint32_t)making->body.len);
    buffer_append(&making->request, envelope, sizeof(envelope));
    buffer_append_slice(&making->request, buffer_slice(&making->body));
}

static const struct protocol {
    const char *name;
    void (*make)(struct making *making);
} protocols[] = {
    { "ingest", make_ingest },       { "ingest-raw", make_ingest_raw }, { "push", make_push },
    { "push-gzip", make_push_gzip }, { "otlp-http", make_otlp_http },   { "otlp-grpc", make_otlp_grpc },
};

static const struct protocol *find_protocol(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++)
        if (strcmp(protocols[i].name, name) == 0)
            return &protocols[i];
    die("the protocols are ingest, ingest-raw, push, push-gzip, otlp-http and otlp-grpc");
    return NULL;
}

static void write_request(struct making *making)
{
    char length[4];
    struct error err;

    if (buffer_check(&making->message, &err) < 0 || buffer_check(&making->body, &err) < 0 ||
        buffer_check(&making->request, &err) < 0)
        die(err.text);
    bytes_put_le32(length, (uint32_t)making->request.len);
    if (fwrite(length, 1, sizeof(length), stdout) != sizeof(length) ||
        fwrite(making->request.data, 1, making->request.len, stdout) != making->request.len)
        die("the requests cannot be written");
}

static void make_all(struct making *making, const struct protocol *protocol, int64_t first_ns, uint64_t count)
{
    struct fleet *fleet = &making->fleet;
    int64_t shift_ns = 0;

    for (; making->number < count && fleet_next(fleet); making->number++) {
        if (making->number == 0 && first_ns)
            shift_ns = first_ns - fleet->start_ns;
        making->start_ns = fleet->start_ns + shift_ns;
        snprintf(making->service, sizeof(making->service), "service-%02u", fleet->service);
        snprintf(making->instance, sizeof(making->instance), "instance-%03u", fleet->instance);
        making->version = fleet->instance % 2 ? "b" : "a";
        buffer_clear(&making->message);
        buffer_clear(&making->body);
        buffer_clear(&making->request);
        protocol->make(making);
        write_request(making);
    }
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: requests [-start SECONDS] [-count N] [-tenant NAME] PROTOCOL <STREAM >FILE";
    struct making making = { .tenant = "anonymous" };
    uint64_t count = UINT64_MAX;
    int64_t first_ns = 0;
    struct error err;

    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (strcmp(argv[1], "-start") == 0)
            first_ns = atoll(argv[2]) * CLOCK_NS_PER_SECOND;
        else if (strcmp(argv[1], "-count") == 0)
            count = strtoull(argv[2], NULL, 10);
        else if (strcmp(argv[1], "-tenant") == 0)
            making.tenant = argv[2];
        else
            die(usage);
    }
    if (argc != 2)
        die(usage);
    if (packer_new(&making.packer, &err) < 0)
        die(err.text);
    buffer_init(&making.message, 0);
    buffer_init(&making.body, 0);
    buffer_init(&making.request, 0);
    fleet_open(&making.fleet, "requests");
    make_all(&making, find_protocol(argv[1]), first_ns, count);
    fleet_close(&making.fleet);
    buffer_done(&making.message);
    buffer_done(&making.body);
    buffer_done(&making.request);
    packer_free(making.packer);
    if (fflush(stdout) != 0)
        die("the requests cannot be written");
    return 0;
}
