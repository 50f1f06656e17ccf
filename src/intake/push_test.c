// SPDX-License-Identifier: Apache-2.0
#include "intake/push.h"

#include "intake/intake_sample_test.h"
#include "wire/protobuf.h"

/* Appends a series: labels "a=1;b=2", then samples. */
struct sample_bytes {
    struct slice profile;
    const char *id;
};

static void add_series(struct buffer *out, const char *labels, const struct sample_bytes *samples, size_t n)
{
    size_t series = protobuf_begin(out, 1);
    struct slice rest = slice_from(labels), pair;

    while (rest.len && slice_next_part(&rest, ';', &pair)) {
        size_t equals = (size_t)slice_find_byte(pair, '='), label = protobuf_begin(out, 1);

        protobuf_put_bytes(out, 1, slice_sub(pair, 0, equals));
        protobuf_put_bytes(out, 2, slice_sub(pair, equals + 1, SIZE_MAX));
        protobuf_end(out, label);
    }
    for (size_t i = 0; i < n; i++) {
        size_t sample = protobuf_begin(out, 2);

        protobuf_put_bytes(out, 1, samples[i].profile);
        protobuf_put_bytes(out, 2, slice_from(samples[i].id));
        protobuf_end(out, sample);
    }
    protobuf_end(out, series);
}

static struct upload push(enum upload_kind kind, struct slice body)
{
    return (struct upload){ .kind = kind, .body = body, .user_agent = SLICE("pyroscope-rs/pyspy/1.4.0") };
}

TEST(push_takes_several_series_of_several_profiles)
{
    struct intake_sample sample;
    struct buffer body, cpu;

    intake_sample_begin(&sample);
    buffer_init(&body, 0);
    buffer_init(&cpu, 0);
    buffer_append_slice(&cpu, INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "main 1 10"));
    add_series(&body, "__name__=process_cpu;service_name=api;__session_id__=77",
               (struct sample_bytes[]){ { buffer_slice(&cpu), "7c9e6679-7425-40de-944b-e07fc1f90ae7" },
                                        { buffer_slice(&cpu), "" } },
               2);
    add_series(&body, "__name__=memory;service_name=web",
               (struct sample_bytes[]){
                   { intake_sample_pprof(&sample,
                                         &(struct store_sample_profile){
                                             .at = "15T10:00", .types = "inuse_space/bytes", .samples = "main 5" },
                                         true),
                     NULL } },
               1);
    intake_sample_take(&sample, push(UPLOAD_PUSH, buffer_slice(&body)));
    CHECK_EQ(sample.receipt.n_stored, 3);
    CHECK_HAS(intake_sample_rows(&sample),
              "{__name__=\"memory\", service_name=\"web\"} [memory:inuse_space:bytes::] main 5");
    CHECK_TEXT(intake_sample_sources(&sample), "|api|push pyroscope-rs/pyspy/1.4.0 uploads 1 seen 2 stored 2\n"
                                               "|web|push pyroscope-rs/pyspy/1.4.0 uploads 0 seen 1 stored 1\n");
    /* The first has an id, so it is kept once however often it is sent; the others are not known again. */
    intake_sample_take(&sample, push(UPLOAD_PUSH, buffer_slice(&body)));
    CHECK_HAS(STORE_SAMPLE_SUMS(&sample.store, .selector = "{service_name=\"api\"}"), "main 3 30\n");
    buffer_done(&cpu);
    buffer_done(&body);
    intake_sample_end(&sample);
}

TEST(push_skips_bad_profiles_and_tells)
{
    struct intake_sample sample;
    struct buffer body;
    struct error err;

    intake_sample_begin(&sample);
    buffer_init(&body, 0);
    add_series(
        &body, "service_name=api",
        (struct sample_bytes[]){ { SLICE("rubbish"), "" },
                                 { INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "main 1 10"), "" } },
        2);
    intake_sample_take(&sample, push(UPLOAD_PUSH, buffer_slice(&body)));
    CHECK_EQ(sample.receipt.n_profiles, 2);
    CHECK_EQ(sample.receipt.n_stored, 1);
    CHECK_EQ(sample.receipt.n_rejected, 1);
    CHECK_HAS(sample.receipt.rejection.text, "pprof");
    buffer_clear(&body);
    add_series(&body, "service_name=api", (struct sample_bytes[]){ { SLICE("rubbish"), "" } }, 1);
    CHECK_ERROR(intake_sample_try(&sample, push(UPLOAD_PUSH, buffer_slice(&body)), &err), &err, ERR_CORRUPT);
    buffer_done(&body);
    intake_sample_end(&sample);
}

/* A store whose second write fails. */
static const struct store_ops *good_ops;
static unsigned n_writes;

static int write_once(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                      struct error *err)
{
    if (++n_writes > 1)
        return error_set(err, ERR_IO, "the disk has gone");
    return good_ops->write(store, write, ret_receipt, err);
}

TEST(push_of_which_the_store_took_a_part_goes_on_where_it_ended)
{
    static const char *const samples[] = { "main 1 10", "main 2 20", "main 4 40" };
    struct intake_sample sample;
    struct store_ops bad_ops;
    struct upload upload;
    struct buffer body;

    intake_sample_begin(&sample);
    buffer_init(&body, 0);
    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        add_series(
            &body, "service_name=api",
            (struct sample_bytes[]){ { INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = samples[i]), "" },
                                     { SLICE("rubbish"), "" } },
            i == 1 ? 2 : 1);
    good_ops = sample.store.store->ops;
    bad_ops = *good_ops;
    bad_ops.write = write_once;
    n_writes = 0;
    sample.store.store->ops = &bad_ops;
    upload = push(UPLOAD_PUSH, buffer_slice(&body));
    intake_sample_take(&sample, upload);
    CHECK_EQ(n_writes, 2); /* nothing is tried behind the first that fails */
    CHECK_EQ(sample.receipt.n_stored, 1);
    CHECK_EQ(sample.receipt.n_rejected, 1);
    CHECK_EQ(sample.receipt.n_failed, 2);
    CHECK_HAS(sample.receipt.failure.text, "the disk has gone");
    CHECK_HAS(intake_sample_sources(&sample), "uploads 1 seen 2 stored 1 ");

    sample.store.store->ops = good_ops;
    upload.progress = sample.receipt.progress;
    intake_sample_take(&sample, upload);
    CHECK_EQ(sample.receipt.n_stored, 2);
    CHECK_EQ(sample.receipt.n_failed, 0);
    CHECK_HAS(intake_sample_sources(&sample), "uploads 1 seen 4 stored 3 ");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .selector = "{service_name=\"api\"}"), "main 7 70\n");
    buffer_done(&body);
    intake_sample_end(&sample);
}

TEST(push_without_profiles_is_refused)
{
    struct intake_sample sample;
    struct error err;

    intake_sample_begin(&sample);
    CHECK_ERROR(intake_sample_try(&sample, push(UPLOAD_PUSH, SLICE("")), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "no profiles");
    CHECK_ERROR(intake_sample_try(&sample, push(UPLOAD_PUSH, SLICE("\n\5\n")), &err), &err, ERR_CORRUPT);
    intake_sample_end(&sample);
}

/* A heap profile that covers no window, with a label or without. */
static void take_heap(struct intake_sample *sample, const char *labels, const char *at, const char *samples)
{
    struct store_sample_profile heap = {
        .at = at, .duration_ns = -1, .types = "alloc_space/bytes inuse_space/bytes", .samples = samples
    };
    struct buffer body;

    buffer_init(&body, 0);
    add_series(&body, labels, (struct sample_bytes[]){ { intake_sample_pprof(sample, &heap, true), NULL } }, 1);
    intake_sample_take(sample, push(UPLOAD_PUSH, buffer_slice(&body)));
    buffer_done(&body);
}

TEST(push_makes_deltas_unless_the_sender_did)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    take_heap(&sample, "__name__=memory;service_name=a", "15T10:00", "x 100 7");
    take_heap(&sample, "__name__=memory;service_name=a", "15T10:01", "x 130 8");
    take_heap(&sample, "__name__=memory;service_name=b;__delta__=false", "15T10:00", "x 100 7");
    take_heap(&sample, "__name__=godeltaprof_memory;service_name=c", "15T10:00", "x 100 7");
    CHECK_HAS(intake_sample_rows(&sample), "15T10:00:00+0s every 10000000 {__name__=\"memory\", service_name=\"a\"}");
    CHECK_HAS(intake_sample_rows(&sample), "15T10:00:00+60s every 10000000 {__name__=\"memory\", service_name=\"a\"}");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .selector = "{service_name=\"a\"}"),
               "[alloc_space/bytes inuse_space/bytes] x 30 15\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .selector = "{service_name=~\"b|c\", __name__=\"memory\"}"),
               "[alloc_space/bytes inuse_space/bytes] x 200 14\n");
    intake_sample_end(&sample);
}

TEST(push_takes_json)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct intake_sample sample;
    struct buffer body;
    struct slice pprof;

    intake_sample_begin(&sample);
    pprof = INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "main 1 10");
    buffer_init(&body, 0);
    buffer_append_text(&body,
                       "{\"unknown\":[1],\"series\":[{\"labels\":[{\"name\":\"service_name\",\"value\":\"api\"}],"
                       "\"samples\":[{\"ID\":null,\"rawProfile\":\"");
    for (size_t i = 0; i < pprof.len; i += 3) {
        const uint8_t *at = (const uint8_t *)pprof.ptr + i;
        size_t n = MIN(pprof.len - i, (size_t)3);
        uint32_t bits = (uint32_t)at[0] << 16 | (n > 1 ? (uint32_t)at[1] << 8 : 0) | (n > 2 ? at[2] : 0);

        for (size_t k = 0; k < 4; k++)
            buffer_append_byte(&body, k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
    buffer_append_text(&body, "\"}]}]}");
    intake_sample_take(&sample, push(UPLOAD_PUSH_JSON, buffer_slice(&body)));
    CHECK_HAS(intake_sample_rows(&sample), "service_name=\"api\"");
    buffer_done(&body);
    intake_sample_end(&sample);
}
